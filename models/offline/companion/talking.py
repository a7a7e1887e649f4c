"""The words of a companion: the first rule that applies, from leave-taking to small talk."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from persimchat.models.offline.companion.asked import Asked, Told, answers_to, asked_in, spoken_of, told_by
from persimchat.models.offline.companion.blocks_asked import from_blocks, from_place
from persimchat.models.offline.companion.claims import Claim, claims_in, is_of_kin
from persimchat.models.offline.companion.happening import focus_of
from persimchat.models.offline.companion.keeping import FILE
from persimchat.models.offline.companion.known import Known
from persimchat.models.offline.companion.nouns import is_beast
from persimchat.models.offline.companion.tones import HOSTILE, greets, grieves, tone_of
from persimchat.models.offline.grammar import Decks, slots
from persimchat.models.offline.leaving import took_leave
from persimchat.models.offline.lexicon import deck
from persimchat.models.offline.persona_facts import address, facts_of, life_lines
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.utterance import spoken
from persimchat.models.offline.words import count, normalised, short_name

_OF_THEMSELVES: Final = re.compile(
    r"\b(?:what|when|who|which|where|how (?:old|many|much|long|often))\b.{0,60}\b(?:(?:did|was|am|have) i|my)\b",
    re.IGNORECASE,
)
_LONG_AGO: Final = re.compile(r"\b(?:days?|weeks?|months?|years?)\b")
_EARLY: Final = 4
"""Messages of a person to whose small talk the agent adds a question."""
_SHY: Final = ("curt", "guarded")
_ASKED_AT_LEAST: Final = 12
"""Words of an answer that has room for a question."""


@dataclass(frozen=True)
class Talk:
    """What the next words depend on."""

    prompt: Prompt
    known: Known
    seed: int

    @cached_property
    def heard(self) -> str:
        """The words to answer; empty if nobody has spoken."""
        heard = self.prompt.heard
        if heard is not None:
            return heard.words
        last = self.known.lines[-1] if self.known.lines else None
        return last.text if last is not None and not last.own else ""

    @cached_property
    def told(self) -> list[Told]:
        """All that the person has told."""
        return told_by(self.known)

    @cached_property
    def new(self) -> list[Claim]:
        """What the person has just told."""
        *before, last = self.known.lines or (None,)
        if last is None or last.own:
            return []
        known = [one.claim for one in told_by(_without_last(self.known))]
        return claims_in(last.text, known, spoken_of(self.known))

    @cached_property
    def shy(self) -> bool:
        """Whether trust keeps the agent short."""
        return self.known.manner in _SHY

    @cached_property
    def name(self) -> str:
        """How the agent addresses the person; empty for strangers."""
        if not self.known.introduced:
            return ""
        return address(self.known.person, (self.prompt.name, self.known.person))

    @cached_property
    def decks(self) -> Decks:
        """The phrases, without those said lately."""
        lately = (*(line.text for line in self.known.lines if line.own), *self.prompt.avoid, *self.prompt.later)
        said = " | ".join(map(normalised, lately))
        return Decks(self.seed, f"{self.prompt.name} {self.known.person}", self.prompt.register, said)

    @cached_property
    def step(self) -> int:
        """A number that grows with the talk and with what must not be said again."""
        return len(self.known.lines) // 2 + self.known.talks + 7 * len(self.prompt.avoid + self.prompt.later)

    def pick(self, *keys: str, **values: str) -> str:
        """A phrase, filled."""
        who = {"name": f", {self.name}" if self.name else " ", "me": short_name(self.prompt.name)}
        return self.decks.pick(" ".join(keys), deck(FILE, *keys), self.step, {**who, **values}).replace(" .", ".")


def _without_last(known: Known) -> Known:
    return Known(**{**known.__dict__, "lines": known.lines[:-1]})


def companion_words(prompt: Prompt, seed: int) -> str:
    """The agent's next words."""
    assert prompt.companion is not None  # the task is one of a companion
    talk = Talk(prompt, prompt.companion, seed)
    parts = next(found for rule in _RULES if (found := rule(talk)))
    return spoken(_fitting(parts, prompt.words), prompt.register)


def _fitting(parts: Sequence[str], words: int) -> list[str]:
    """The first part, and of the others those that fit."""
    kept = list(parts[:1])
    for part in parts[1:]:
        if part and count(" ".join((*kept, part))) <= words:
            kept.append(part)
    return kept


def _ends(talk: Talk) -> list[str]:
    if talk.known.ticked("hostile_end"):
        return [talk.pick("walks_off")]
    if talk.known.ticked("closing"):
        return [talk.pick("leaves_cold" if talk.shy else "leaves")]
    return []


def _happens(talk: Talk) -> list[str]:
    """Words about an event, if nobody has spoken."""
    if not talk.known.ticked("unasked") or not talk.known.events:
        return []
    event = focus_of(talk.known).rstrip(".!?")
    return [talk.pick("happens", event=event)]


def _hostile(talk: Talk) -> list[str]:
    return [talk.pick("cold" if talk.shy else "cool")] if tone_of(talk.heard) in HOSTILE else []


def _recalls(talk: Talk) -> list[str]:
    """What was told before, said back with its value; what was not, is not known."""
    asked = asked_in(talk.heard, spoken_of(talk.known))
    return list(dict.fromkeys(part for one in asked for part in _recalled(talk, one)))


def _recalled(talk: Talk, asked: Asked) -> list[str]:
    found = answers_to(asked, talk.told, talk.known.person)
    if not found:
        if asked.form == "name" and talk.known.introduced:
            return [f"You are {talk.known.person}."]
        if asked.name:
            return _from_blocks(talk) or [talk.pick("untold_plain")]
        return [talk.pick("untold", subject=asked.path[-1]) if len(asked.path) == 1 else talk.pick("untold_plain")]
    told = found[-3:] if asked.form in ("all", "likes", "dislikes") else found[-1:]
    if asked.when:
        last = told[-1]
        if not last.when:
            return [talk.pick("recalled_now", said=last.claim.told_back())]
        return [talk.pick("recalled_when", said=last.claim.told_back(), when=last.when)]
    first, *more = [one.claim.told_back() for one in told]
    return [talk.pick("recalled", said=first), *(f"{said[:1].upper()}{said[1:]}." for said in more)]


def _from_blocks(talk: Talk) -> list[str]:
    return from_blocks(talk.heard, talk.prompt, talk.known, talk.pick)


def _notes(talk: Talk) -> list[str]:
    """What was just told, said back, and one question about it."""
    claims = [claim for claim in talk.new if claim.form != "told"]
    if not claims:
        return []
    claim = claims[-1]
    if claim.form == "name":
        return [talk.pick("named", name_told=claim.value)]
    noted = talk.pick("corrected" if claim.correction else "noted", said=claim.told_back())
    asks = {"works": "job"}.get(claim.form, claim.form)
    asks = asks if asks in ("home", "job", "likes", "dislikes") else "other"
    if claim.form == "called" and claim.path:
        asks = "beast" if is_beast(claim.path[-1]) else "kin" if is_of_kin(claim) else "other"
    return [noted] if talk.shy else [noted, talk.pick("asks", asks)]


def _comforts(talk: Talk) -> list[str]:
    """Words to somebody who tells of a loss, or of being unwell."""
    return [talk.pick("comforts")] if grieves(talk.heard) and not talk.shy else []


def _answers_tone(talk: Talk) -> list[str]:
    kind = {"apology": "forgives", "thanks": "thanked", "praise": "praised", "presses": "pressed"}
    tone = tone_of(talk.heard)
    return [talk.pick(kind[tone])] if tone in kind else []


def _greets(talk: Talk) -> list[str]:
    heard = talk.heard
    if not greets(heard):
        return []
    known = talk.known
    if not known.introduced and not known.talks:
        return [talk.pick("greets_stranger")]
    new = not any(line.own for line in known.lines[-2:])
    away = new and known.talks > 0 and _LONG_AGO.search(known.last_met)
    parts = [talk.pick("greets"), talk.pick("absence", when=known.last_met) if away else ""]
    return [*parts, "" if talk.shy else talk.pick("asks_back")]


def _leaves(talk: Talk) -> list[str]:
    return [talk.pick("leaves_cold" if talk.shy else "leaves")] if took_leave(talk.heard) else []


def _looks_around(talk: Talk) -> list[str]:
    return from_place(talk.heard, talk.known)


def _asks(talk: Talk) -> bool:
    """Whether it is early enough in the talk for a question in return."""
    return talk.known.manner in ("warm", "open") and len(talk.known.said) <= _EARLY


def _small_talk(talk: Talk) -> list[str]:
    """A few words, and something from the agent's own life."""
    if talk.shy:
        return [talk.pick("short")]
    if "?" in talk.heard:
        return [talk.pick("untold_plain" if _OF_THEMSELVES.search(talk.heard) else "unsure")]
    return [talk.pick("hears"), _life(talk), talk.pick("asks_back") if _asks(talk) else ""]


def _life(talk: Talk) -> str:
    """Something from the agent's life that was not told lately; empty if nothing is left."""
    facts = facts_of(talk.prompt)
    values = {"job": facts.as_noun, "place": facts.place, "pastime": facts.pastime}
    told = [line.partition("|")[0].strip() for line in life_lines(facts, talk.seed, talk.known.person)]
    own = [line for line in told if slots(line)]  # others speak of the topic of a conversation
    usable = [line for line in own if all(values.get(slot) for slot in slots(line)) and talk.decks.fresh(line)]
    return talk.decks.pick("life", usable, talk.step, values) if usable else ""


_RULES: Final[tuple[Callable[[Talk], list[str]], ...]] = (
    _ends, _happens, _hostile, _recalls, _from_blocks, _comforts, _notes, _answers_tone, _greets, _leaves,
    _looks_around, _small_talk,
)  # fmt: skip
"""The rules in their order; the last one always applies."""
