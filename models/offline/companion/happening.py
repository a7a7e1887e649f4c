"""Events: how important they are by lists of words, and what an agent does about them."""

from __future__ import annotations

from typing import Any, Final

from persimchat.models.offline.companion.known import Known
from persimchat.models.offline.companion.tones import pattern
from persimchat.models.offline.prompt import Prompt
from persimchat.state.trust import START

_RATED: Final = (("idle", 0), ("grave", 9), ("serious", 6), ("arriving", 4), ("leaving", 3))
"""Lists of words and how important an event is with one of them, the first that fits."""
_ELSE: Final = 2
_COMMENTS: Final = 5
_BEGINS: Final = 4
"""Trust from which an agent begins a talk with somebody who arrives."""


def importance_of(event: str) -> int:
    """How important an event is, 0 to 10, by its words."""
    return next((importance for name, importance in _RATED if pattern(name).search(event)), _ELSE)


def focus_of(known: Known) -> str:
    """The event that matters most, the first of equals; empty if there is none."""
    return max(known.events.values(), key=importance_of, default="")


def _sentence(event: str) -> str:
    return f"{event[:1].upper()}{event[1:290].rstrip('.!?')}."


def events(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`RatedEvents`: each event's importance by lists of words, and the event in a sentence."""
    known = prompt.companion
    assert known is not None  # the task is one of a companion
    prompt.need_section(known.events, "events")
    return {
        "events": [
            {"number": number, "importance": importance_of(text), "sentence": _sentence(text)}
            for number, text in list(known.events.items())[:20]
        ]
    }


def reacting(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Reaction`: interrupt for what is grave, greet those who arrive, comment on what is serious, else nothing.

    In a talk only what is grave is shown at all, so what is shown interrupts it.
    """
    known = prompt.companion
    assert known is not None  # the task is one of a companion
    prompt.need_section(known.events, "events")
    event = focus_of(known)
    importance = importance_of(event)
    if "interrupt" in known.words.get("may", ()):
        react, why = "interrupt", "It cannot wait."
    elif pattern("arriving").search(event) and importance < _COMMENTS:
        greets = (START if known.trust is None else known.trust) >= _BEGINS
        react, why = ("start_talk", "I am glad to see somebody.") if greets else ("none", "I would rather be alone.")
    elif importance >= _COMMENTS:
        react, why = "comment", "It is worth a word."
    else:
        react, why = "none", "It needs no words."
    return {"reasoning": why, "react": react, "words_about": "" if react == "none" else _sentence(event)}
