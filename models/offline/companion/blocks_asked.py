"""Answers to what somebody asks about the agent, the place, the time and their acquaintance, from the blocks."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final, Protocol

from persimchat.models.offline.companion.claims import base_form, first_person
from persimchat.models.offline.companion.known import Known
from persimchat.models.offline.companion.nouns import FILE, one_word
from persimchat.models.offline.grammar import capitalised
from persimchat.models.offline.lexicon import read
from persimchat.models.offline.persona_facts import facts_of
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.words import listed


class Pick(Protocol):
    """Draws a phrase and fills it."""

    def __call__(self, *keys: str, **values: str) -> str:
        """A phrase of the deck at these keys."""


_Answer = Callable[[Prompt, Known, Pick], str]


def _who(prompt: Prompt, known: Known, pick: Pick) -> str:
    work = facts_of(prompt).as_noun
    return f"I am {prompt.name}{', ' + work if work else ''}."


def _age(prompt: Prompt, known: Known, pick: Pick) -> str:
    age = facts_of(prompt).age
    return f"I am {age}." if age is not None else "My age I keep to myself."


def _work(prompt: Prompt, known: Known, pick: Pick) -> str:
    work = facts_of(prompt).as_noun
    given = prompt.characteristics.get("occupation", "")
    return f"I am {work}." if work else f"My work: {given}." if given else "This and that."


def _where(prompt: Prompt, known: Known, pick: Pick) -> str:
    *around, here = [part.strip() for part in known.where.split(",")]
    return f"Here, at {here}{' (' + ', '.join(around[::-1]) + ')' if around else ''}." if here else "Right here."


def _home(prompt: Prompt, known: Known, pick: Pick) -> str:
    home = prompt.characteristics.get("residence", "")
    return f"My home is {home}." if home else "Not far from here."


def _time(prompt: Prompt, known: Known, pick: Pick) -> str:
    return f"It is {known.time}." if known.time else "I have no clock here."


def _day(prompt: Prompt, known: Known, pick: Pick) -> str:
    return f"It is {known.day}." if known.day else "I have lost count of the days."


def _doing(prompt: Prompt, known: Known, pick: Pick) -> str:
    if not known.activity:
        return f"Nothing much: {known.occasion}." if known.occasion else "Nothing much."
    first, _, rest = known.activity.partition(" ")
    if first.endswith("ing"):
        return f"I am {known.activity}."
    verb = base_form(first)
    return f"I {verb} {rest}.".replace(" .", ".") if verb != first else f"Right now it is {known.activity}."


def _sees(prompt: Prompt, known: Known, pick: Pick) -> str:
    things = [_thing(one.name) + (f" ({one.state})" if one.state not in ("", "idle") else "") for one in known.things]
    seen = [*things[:4], *_people(known)[:2]]
    return f"I see {listed(seen)}." if seen else "Nothing that is worth a word."


def _thing(name: str) -> str:
    return name if name.casefold().startswith(("the ", "a ", "an ")) else f"the {name}"


def _people(known: Known) -> list[str]:
    return [f"{other.name} ({other.state})" if other.state else other.name for other in known.others]


def _here(prompt: Prompt, known: Known, pick: Pick) -> str:
    people = _people(known)
    return f"Besides us, {listed(people[:3])}." if people else "Nobody but the two of us."


def _mood(prompt: Prompt, known: Known, pick: Pick) -> str:
    label = "sad" if known.label in ("sadness", "sad") else known.label
    return pick("moods", label if label in _MOODS else "neutral")


def _met(prompt: Prompt, known: Known, pick: Pick) -> str:
    if not known.talks:
        return "We have never talked before." if not known.introduced else "This is our first talk."
    times = "once" if known.talks == 1 else f"{known.talks} times"
    return f"We have talked {times}{', the last time ' + known.last_met if known.last_met else ''}."


def _last_talk(prompt: Prompt, known: Known, pick: Pick) -> str:
    if not known.summary:
        return _met(prompt, known, pick)
    return f"The last time {known.last_met}: {known.summary}" if known.last_met else known.summary


def _promised(prompt: Prompt, known: Known, pick: Pick) -> str:
    return f"I promised this: {known.promises[-1]}" if known.promises else "I have promised nothing."


def _event(prompt: Prompt, known: Known, pick: Pick) -> str:
    remembered = [memory for memory in prompt.memories if memory.kind == "event"]
    if not known.events and not remembered:
        return "Nothing that I noticed."
    last = list(known.events.values())[-1] if known.events else remembered[0].theme
    text = last.rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def _confides(prompt: Prompt, known: Known, pick: Pick) -> str:
    return (
        pick("confides", told=first_person_of(first_person(known.confided[-1], prompt.name)))
        if known.confided
        else pick("silent_on")
    )


def _simulated(prompt: Prompt, known: Known, pick: Pick) -> str:
    return pick("simulated" if known.ticked("candour") else "stays")


def _trusts(prompt: Prompt, known: Known, pick: Pick) -> str:
    return {
        "curt": "No.", "guarded": "Not much, so far.", "polite": "As far as I know you, yes.",
        "warm": "Yes, I do.", "open": "With all I have.",
    }.get(known.manner, "We shall see.")  # fmt: skip


_MOODS: Final = ("happy", "sad", "angry", "fear", "disgust", "surprised", "neutral")
_ANSWERS: Final[dict[str, _Answer]] = {
    "simulated": _simulated, "secret": _confides, "who": _who, "age": _age, "work": _work, "home": _home,
    "where": _where, "time": _time, "day": _day, "doing": _doing, "here": _here, "sees": _sees, "mood": _mood,
    "trusts": _trusts, "met": _met, "last_talk": _last_talk, "promised": _promised, "event": _event,
}  # fmt: skip
"""What answers each kind of question; the patterns are in the file of words, the first that fits counts."""
_TOPICS: Final = {
    "simulated": "what {me} is", "secret": "a secret", "who": "who {me} is", "age": "{me}'s age", "work": "{me}'s work",
    "home": "{me}'s home", "where": "this place", "time": "the time", "day": "the date", "doing": "{me}'s day",
    "here": "who is here", "sees": "what is to be seen", "mood": "{me}'s mood", "trusts": "{me}'s trust",
    "met": "earlier talks", "last_talk": "the last talk", "promised": "promises", "event": "what has happened",
}  # fmt: skip
"""What each kind of question is about; {me} is the agent."""
_OWN: Final = re.compile(r"what(?:\s+is|['’]s|\s+are) your (?P<x>[\w -]+?)\s*\?", re.IGNORECASE)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    asked = read(FILE)["asked"]
    return {kind: re.compile(rf"(?<!\w)(?:{asked[kind]})(?!\w)", re.IGNORECASE) for kind in _ANSWERS}


def topic_of(heard: str, me: str) -> str:
    """What a question to an agent is about, in a few words; empty for none of those that blocks answer."""
    kind = next((kind for kind, pattern in _patterns().items() if pattern.search(heard)), "")
    return _TOPICS.get(kind, "").format(me=me)


def from_blocks(heard: str, prompt: Prompt, known: Known, pick: Pick) -> list[str]:
    """The answer to a question about agent, place, time or acquaintance; empty if none of these is asked."""
    for kind, pattern in _patterns().items():
        if pattern.search(heard):
            return [_ANSWERS[kind](prompt, known, pick)]
    own = _OWN.search(heard)
    if own and (value := prompt.characteristics.get(own["x"].casefold())):
        return [f"My {own['x']}: {value}."]
    return []


def from_place(heard: str, known: Known) -> list[str]:
    """The state of a thing, or the doing of somebody here, that a question names."""
    if "?" not in heard:
        return []
    words = {one_word(word) for word in re.findall(r"[^\W\d_]{3,}", heard)}
    for thing in (*known.others, *known.things):
        named = {one_word(word) for word in re.findall(r"[^\W\d_]{3,}", thing.name)} - {"the"}
        told = {one_word(word) for word in re.findall(r"[^\W\d_]{4,}", thing.state)}
        if words & named or words & told:
            name = thing.name if thing in known.others else _thing(thing.name)
            return [f"{capitalised(name)} is {thing.state or 'here, as always'}."]
    return []


def first_person_of(text: str) -> str:
    """What a file says of an agent, as the agent says it: "She has applied." as "I have applied."."""

    def verb(found: re.Match[str]) -> str:
        word = found["verb"]
        return f"I {found['adverb'] or ''}{'am' if word == 'is' else base_form(word) if word != 'was' else word}"

    start = r"\b(?:She|He|she|he)\s+(?P<adverb>(?:once|still|never|also|often|always|only)\s+)?(?P<verb>[a-z]+)"
    told = re.sub(start, verb, text)
    own = {"her": "my", "his": "my", "him": "me", "herself": "myself", "himself": "myself"}
    return re.sub(r"\b(?:her|his|him|herself|himself)\b", lambda found: own[found.group()], told)
