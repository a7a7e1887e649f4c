"""What happened between utterances, in words: somebody was silent, a person did something to the conversation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from persimchat.runs.events import Silenced
from persimchat.runs.reading import Record
from persimchat.runs.recorded import RecordedIntervention
from persimchat.runs.report_words import compact, spaced

_SPOKEN: Final = ("say", "answer")
"""What has its utterance in the transcript, and needs no second mention."""

_NOT_DONE: Final = {
    "awaken": "begins without a first feeling",
    "hear": "did not hear this",
    "think": "had no thoughts meanwhile",
    "speak": "is silent",
}


@dataclass(frozen=True)
class Aside:
    """Something between two utterances.

    Attributes:
        turn: utterances made by then; it stands after this one.
        kind: "silence" or "intervention".
        words: what happened.
    """

    turn: int
    kind: str
    words: str


def asides(record: Record) -> list[Aside]:
    """Everything that happened between utterances, in order of places."""
    silent = [_silence(silence) for silence in record.silences]
    done = [_intervention(done) for done in record.interventions if done.do not in _SPOKEN]
    return sorted([*silent, *done], key=lambda aside: aside.turn)


def _silence(silence: Silenced) -> Aside:
    turn = silence.turn if silence.step != "speak" else max(0, silence.turn - 1)  # as in transcript.md
    if silence.why == "passed":
        return Aside(turn, "silence", f"{silence.agent} passes.")
    not_done = _NOT_DONE.get(silence.step, "is silent")
    return Aside(turn, "silence", f"{silence.agent} {not_done}{f': {silence.why}' if silence.why else '.'}")


def _who(more: dict[str, Any]) -> str:
    return compact(more.get("agent", "Somebody"))


_WORDS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "topic": lambda more: f"The topic is now: {compact(more.get('topic', ''))}",
    "hand": lambda more: (
        f"{more.get('agent', 'Somebody')} {'raised' if more.get('raised', True) else 'lowered'} a hand."
    ),
    "floor": lambda more: f"{_who(more)} was given the floor.",
    "stop": lambda more: "The conversation was stopped.",
    "pause": lambda more: "The conversation was paused.",
}


def _intervention(done: RecordedIntervention) -> Aside:
    known = _WORDS.get(done.do)
    more = {key: value for key, value in done.more.items() if value is not None}
    words = known(more) if known else f"{spaced(done.do)}{f': {compact(more)}' if more else ''}"
    return Aside(done.turn, "intervention", words)
