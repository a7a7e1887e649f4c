"""A companion's words: set phrases around what it has been told, and around what its prompt shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from . import companion_facts as facts
from .companion_facts import Claim, base_form, first_person, one_word
from .companion_judging import FILE, HOSTILE, asked_of_agent, events_in, gravest, greets, pattern, tone_of
from .material import (
    Decks,
    capitalised,
    count,
    deck,
    filled,
    listed,
    normalised,
    read,
    short_name,
    slots,
    spoken,
    substituted,
    took_leave,
)
from .persona_facts import address, facts_of, life_lines
from .prompt import Prompt, Thing

_EARLY: Final = 4
"""Messages of a person to whose small talk the agent adds a question."""


class _Talk:
    """What the next words depend on."""

    def __init__(self, prompt: Prompt) -> None:
        self.prompt, self.known = prompt, prompt.known
        last = self.known.lines[-1:]
        self.heard = prompt.heard.text if prompt.heard else last[0].text if last and not last[0].own else ""
        """The words to answer; empty if nobody has spoken."""
        self.shy = self.known.manner in ("curt", "guarded")
        """Whether trust keeps the agent short."""
        again = (*prompt.avoid, *prompt.later)
        said = " | ".join(map(normalised, (*(line.text for line in self.known.lines if line.own), *again)))
        self.decks = Decks(prompt.seed, f"{prompt.name} {self.known.person}", prompt.register, said)
        """The phrases, without those said lately."""
        self.step = len(self.known.lines) // 2 + self.known.talks + 7 * len(again)
        """A number that grows with the talk and with what must not be said again."""
        named = address(self.known.person, (prompt.name, self.known.person)) if self.known.introduced else ""
        self.names = {"name": f", {named}" if named else " ", "me": short_name(prompt.name)}

    def pick(self, *keys: str, **values: str) -> str:
        """A phrase, filled; it addresses a person by name who is introduced."""
        found = self.decks.pick(" ".join(keys), deck(FILE, *keys), self.step, {**self.names, **values})
        return found.replace(" .", ".")


def companion_words(prompt: Prompt) -> str:
    """The agent's next words."""
    first, *more = _parts(_Talk(prompt))
    kept = [first]
    for part in more:
        if part and count(" ".join((*kept, part))) <= prompt.words:
            kept.append(part)
    return spoken(kept, prompt.register)


def _parts(talk: _Talk) -> list[str]:
    """The sentences by the first rule that applies, from the end of the talk to small talk."""
    known, heard, tone, leaves = talk.known, talk.heard, tone_of(talk.heard), "leaves_cold" if talk.shy else "leaves"
    values, answers = talk.prompt.values, read(FILE)["deck_for"]
    if values.get("hostile_end"):
        return [talk.pick("walks_off")]
    if values.get("closing"):
        return [talk.pick(leaves)]
    if values.get("unasked") and events_in(talk.prompt):  # nobody has spoken
        return [talk.pick("happens", event=gravest(talk.prompt).rstrip(".!?"))]
    if tone in HOSTILE:
        return [talk.pick("cold" if talk.shy else "cool")]
    if told := _recalls(talk) or _from_blocks(talk):
        return told
    if pattern("sorrow").search(heard) and "?" not in heard and not talk.shy:
        return [talk.pick("comforts")]
    if noted := _notes(talk):
        return noted
    if tone in answers:
        return [talk.pick(answers[tone])]
    if greets(heard):
        return _greets(talk)
    if took_leave(heard):
        return [talk.pick(leaves)]
    if seen := _looks_around(talk):
        return seen
    if talk.shy:
        return [talk.pick("short")]
    if "?" in heard:
        return [talk.pick("untold_plain" if pattern("of_themselves").search(heard) else "unsure")]
    early = known.manner in ("warm", "open") and len(known.said) <= _EARLY
    return [talk.pick("hears"), _life(talk), talk.pick("asks_back") if early else ""]


def _recalls(talk: _Talk) -> list[str]:
    """What was told before, said back with its value; what was not, is not known."""
    asked = facts.asked_in(talk.heard, facts.spoken_of(talk.known))
    told = facts.told_by(talk.known) if asked else []
    return list(dict.fromkeys(part for one in asked for part in _recalled(talk, one, told)))


def _recalled(talk: _Talk, asked: facts.Asked, told: Sequence[tuple[Claim, str]]) -> list[str]:
    found = facts.answers_to(asked, told, talk.known.person)
    if not found:
        if asked.form == "name" and talk.known.introduced:
            return [f"You are {talk.known.person}."]
        if asked.name:
            return _from_blocks(talk) or [talk.pick("untold_plain")]
        return [talk.pick("untold", subject=asked.path[-1]) if len(asked.path) == 1 else talk.pick("untold_plain")]
    if asked.when:
        claim, when = found[-1]
        return [talk.pick("recalled_when" if when else "recalled_now", said=claim.told_back(), when=when or "just now")]
    several = found[-3:] if asked.form in ("all", "likes", "dislikes") else found[-1:]
    first, *more = [claim.told_back() for claim, _ in several]
    return [talk.pick("recalled", said=first), *(f"{said[:1].upper()}{said[1:]}." for said in more)]


def _notes(talk: _Talk) -> list[str]:
    """What was just told, said back, and one question about it."""
    *before, last = talk.known.lines or (None,)
    if last is None or last.own:
        return []
    earlier = [claim for claim, _ in facts.told_by(replace(talk.known, lines=tuple(talk.known.lines[:-1])))]
    claims = facts.claims_in(last.text, earlier, facts.spoken_of(talk.known))
    if not claims:
        return []
    claim = claims[-1]
    if claim.form == "name":
        return [talk.pick("named", name_told=claim.value)]
    noted = talk.pick("corrected" if claim.correction else "noted", said=claim.told_back())
    asks = read(FILE)["asks_about"].get(claim.form, "other")
    if claim.form == "called" and claim.path:
        asks = "beast" if facts.is_beast(claim.path[-1]) else "kin" if facts.is_kin(claim.path[-1]) else "other"
    return [noted] if talk.shy else [noted, talk.pick("asks", asks)]


def _greets(talk: _Talk) -> list[str]:
    known = talk.known
    if not known.introduced and not known.talks:
        return [talk.pick("greets_stranger")]
    new = known.talks > 0 and not any(line.own for line in known.lines[-2:])
    away = new and re.search(r"\b(?:days?|weeks?|months?|years?)\b", known.last_met)
    absence = talk.pick("absence", when=known.last_met) if away else ""
    return [talk.pick("greets"), absence, "" if talk.shy else talk.pick("asks_back")]


def _life(talk: _Talk) -> str:
    """Something from the agent's life that was not told lately; empty if nothing is left."""
    about = facts_of(talk.prompt)
    told = [line.partition("|")[0].strip() for line in life_lines(about, talk.prompt.seed, talk.known.person)]
    # Lines without slots speak of the topic of a conversation.
    own = [line for line in told if slots(line) and all(about.slots.get(slot) for slot in slots(line))]
    return talk.decks.pick("life", [line for line in own if talk.decks.fresh(line)], talk.step, about.slots)


def _from_blocks(talk: _Talk) -> list[str]:
    """The answer to a question about agent, place, time or acquaintance; empty if none of these is asked.

    Of the answers to a question the first whose slots have values.
    """
    kind = asked_of_agent(talk.heard)
    if kind == "simulated":
        return [talk.pick("simulated" if talk.prompt.values.get("candour") else "stays")]
    if kind == "secret":
        confided = talk.prompt.items.texts("confided")
        return [talk.pick("confides", told=_of_oneself(talk, confided[-1])) if confided else talk.pick("silent_on")]
    if kind:
        known = {slot: value for slot, value in _told_by_blocks(talk).items() if value}
        return [filled(next(a for a in deck(FILE, "answers", kind) if slots(a) <= known.keys()), known)]
    own = re.search(r"what(?:\s+is|['’]s|\s+are) your (?P<x>[\w -]+?)\s*\?", talk.heard, re.IGNORECASE)
    value = talk.prompt.characteristics.get(own["x"].casefold()) if own else None
    return [f"My {own['x']}: {value}."] if own and value else []


def _told_by_blocks(talk: _Talk) -> dict[str, str]:
    """What the slots of the answers are filled with; empty where the prompt does not tell it."""
    known, prompt, about = talk.known, talk.prompt, facts_of(talk.prompt)
    *around, here = [part.strip() for part in known.address.split(",")]
    people = [_with_state(other.name, other) for other in known.others]
    things = [_with_state(_the(one.name), one) for one in known.things]
    first, _, rest = known.activity.partition(" ")
    does = f"{base_form(first)} {rest}".strip() if base_form(first) != first else ""
    happened = [memory.theme for memory in prompt.memories if memory.kind == "event"]
    moods = read(FILE)["moods"]
    return {
        **{name: getattr(known, name) for name in ("time", "day", "activity", "occasion", "last_met", "summary")},
        "agent": prompt.name,
        "work": about.as_noun,
        "occupation": prompt.characteristics.get("occupation", ""),
        "age": str(about.age or ""),
        "home": prompt.characteristics.get("residence", ""),
        "here": here,
        "around": ", ".join(around[::-1]),
        "doing": known.activity if first.endswith("ing") else "",
        "does": "" if first.endswith("ing") else does,
        "people": listed(people[:3]),
        "seen": listed([*things[:4], *people[:2]]),
        "mood": moods.get(known.emotion, moods["neutral"]),
        "trusts": read(FILE)["trusts"].get(known.manner, ""),
        "times": "once" if known.talks == 1 else f"{known.talks} times" if known.talks else "",
        "introduced": "our" * known.introduced,
        "promise": ("", *prompt.items.texts("promise"))[-1],
        "event": ([*happened[:1], *events_in(prompt)] or [""])[-1].rstrip("."),
    }


def _looks_around(talk: _Talk) -> list[str]:
    """The state of a thing, or the doing of somebody here, that a question names."""

    def nouns(text: str, least: int = 3) -> set[str]:
        return {one_word(word) for word in re.findall(rf"[^\W\d_]{{{least},}}", text)} - {"the"}

    asked = nouns(talk.heard) if "?" in talk.heard else set()
    for thing in (*talk.known.others, *talk.known.things):
        if asked & (nouns(thing.name) | nouns(thing.state, 4)):
            name = thing.name if thing in talk.known.others else _the(thing.name)
            return [f"{capitalised(name)} is {thing.state or 'here, as always'}."]
    return []


def _the(name: str) -> str:
    return name if name.casefold().startswith(("the ", "a ", "an ")) else f"the {name}"


def _with_state(name: str, thing: Thing) -> str:
    return f"{name} ({thing.state})" if thing.state not in ("", "idle") else name


def _of_oneself(talk: _Talk, told: str) -> str:
    """What a file says of an agent, as the agent says it: "She has applied." as "I have applied."."""

    def verb(found: re.Match[str]) -> str:
        return f"I {found[1] or ''}{ {'is': 'am', 'was': 'was'}.get(found[2]) or base_form(found[2]) }"

    told = first_person(told, talk.prompt.name)
    told = re.sub(r"\b(?:She|He|she|he)\s+((?:once|still|never|also|often|always|only)\s+)?([a-z]+)", verb, told)
    return substituted(told, FILE, "of_oneself")
