"""What transcript.md says of the events of a run, as pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from ...state.plain_text import clean, one_line
from ...state.poll import Guide
from ..events import Concluded, Happened, Silenced, Uttered
from .parts import Turn

DISCLAIMER: Final = (
    "This is a simulation. Nobody in it is a real person, and what simulated people say is no evidence of what real "
    "people would say."
)

_NO_CONSENSUS: Final = {"mad_judge": "The judge's decision", "reconcile": "The weighted vote"}
"""Heading of an answer without consensus, by who gave it; otherwise it is the majority's position."""

CONDITION: Final = "Conditions"
"""Heading of a conclusion's conditions."""

_SILENT: Final = {
    "speak": "is silent",
    "awaken": "begins without a first feeling",
    "hear": "did not hear this",
    "think": "had no thoughts meanwhile",
    "stocktake": "could not take stock",
    "choose": "chose nobody to talk to",
    "address": "is silent before the group",
    "summarise": "kept nothing of the talk",
    "review": "did not look back on the round",
    "ballot": "did not vote",
}
"""Words about an agent whose model failed, by step."""

_EDITED: Final = {"branch": "words put in for a branch", "moderator": "words put in by the moderator"}
"""Note on an utterance whose words are not the speaker's own, by its `edited_by`."""

STANDING: Final = "standing"
"""The happening of a story that says where a character stands after an update."""

BALLOTS: Final = {"guess": "guess", "ballot": "open", "closed_ballot": "closed"}
"""The happenings of a story's vote, in order, and which ballot each is."""

PASSED: Final = "passed"
"""Reason of the silence of a person who passes."""


class RecordedIntervention(BaseModel):
    """An intervention with its details, as they are: a replay tells it from others by all of them."""

    model_config = ConfigDict(frozen=True, extra="allow")

    turn: Turn
    do: str

    @property
    def more(self) -> dict[str, Any]:
        """Its details: all fields but `turn` and `do`."""
        return dict(self.model_extra or {})


def head(topic: str, participants: Iterable[str], guide: Guide | None = None) -> str:
    """The head of transcript.md; of a focus group with what it is shown."""
    begin = f"# {text(' '.join(topic.split()))}\n\n{text(', '.join(participants))}\n\n> {DISCLAIMER}\n\n"
    if guide is None or guide.stimulus is None:
        return begin
    first = guide.shown_with
    when = f"with question {first}" if first else "from the beginning"
    return f"{begin}*Everybody is shown this, {when}:*\n\n{text(guide.stimulus.words)}\n\n"


def spoken(uttered: Uttered) -> str:
    """An utterance in transcript.md, with the hearers of a whisper, and a note if the words are not the speaker's.

    One that puts a question of a guide has its number as a heading.
    """
    heading = "" if uttered.question is None else f"## Question {uttered.question}\n\n"
    whispered = "" if uttered.heard_by is None else f"*(to {_listed(uttered.heard_by)} only)* "
    put_in = edited(uttered.edited_by)
    marked = f"*({text(put_in)})* " if put_in else ""
    return f"{heading}**{text(uttered.speaker)}:** {whispered}{marked}{text(uttered.text)}\n\n"


def edited(by: str | None) -> str:
    """The note that an utterance's words are not its speaker's own, by its `edited_by`; empty if they are."""
    return "" if by is None else _EDITED.get(by, f"words put in by {by}")


def silence(silenced: Silenced) -> str:
    """A silence and its reason in transcript.md."""
    if silenced.why == PASSED:
        return f"*{text(silenced.agent)} passes.*\n\n"
    why = text(" ".join(silenced.why.split()))
    return f"*{text(silenced.agent)} {_SILENT[silenced.step]}: {why}*\n\n"


def happening(happened: Happened) -> str:
    """What happened in a story, in transcript.md: stages as headings, meetings, standings and ballots; else empty.

    The result is left out: the last line says it.
    """
    words = happening_in_words(happened)
    if not words or happened.do == "outcome":
        return ""
    return f"## {text(words)}\n\n" if happened.do == "stage" else f"*{text(one_line(words))}*\n\n"


def happening_in_words(happened: Happened) -> str:
    """What happened in a story, in a sentence; empty for what only its owner has in mind."""
    who, others, number = happened.speaker, " and ".join(happened.others), happened.round
    match happened.do:
        case "stage":
            return f"Round {number}, {happened.stage}"
        case "met" if happened.stage == "rooms":
            first = ", ".join([who, *happened.others[:-1]])
            return f"Room {happened.room.rpartition('.')[2]}: {first} and {happened.others[-1]}."
        case "choice" if happened.chosen_by is not None:
            return f"{who} is to talk to {happened.choice or 'nobody'}: chosen by the {happened.chosen_by}."
        case "met":
            known = "everybody knows" if happened.heard_by is None else "nobody else knows"
            return f"{who} and {others} meet alone; {known}."
        case "standing":
            beliefs = ", ".join(map(str, happened.beliefs))
            behind = f"behind {happened.supports}" if happened.supports else "behind nobody"
            mind = f"beliefs {beliefs}, " if beliefs else ""
            return f"{who} stands {behind}: {mind}influence {happened.influence}."
        case "guess":
            return f"{who} expects {happened.choice} to win."
        case "ballot":
            return f"{who} votes for {happened.choice}."
        case "closed_ballot":
            return f"{who}'s closed ballot is for {happened.choice}."
        case "outcome":
            return happened.text
        case _:
            return ""


def conclusion(came_to: Concluded) -> str:
    """The conclusion of a debate in transcript.md."""
    heading = conclusion_heading(came_to.consensus, came_to.by)  # conditions have a line of their own
    held = f" (held by {', '.join(map(text, came_to.supporters))})" if came_to.supporters else ""
    said = f"**{heading}:** {text(came_to.answer)}{held}\n\n"
    if not came_to.conditional:
        return said
    stands = (
        f"- {text(one.agent)}: {text(one_line(one.position))} “{text(one_line(one.words))}”\n"
        for one in came_to.positions
    )
    condition = f"**{CONDITION}:** {text(one_line(came_to.conditional))}\n\n"
    return "".join([said, condition, *stands, "\n" if came_to.positions else ""])


def conclusion_heading(consensus: bool, by: str, *, conditional: bool = False) -> str:
    """The heading of a debate's answer.

    Args:
        consensus: whether all participants agree.
        by: who drew the conclusion (`Conclusion.by`).
        conditional: whether the answer holds under conditions, which is an outcome of its own.
    """
    found = "Consensus" if consensus else "No consensus. " + _NO_CONSENSUS.get(by, "The majority's position")
    return f"{found}, under conditions" if conditional else found


def text(given: str) -> str:
    """Text escaped for Markdown: nothing in it is markup, not even at the start of a line."""
    escaped = re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", clean(given))
    return re.sub(r"^([^\S\n]*\d*)([-=+.)])", r"\1\\\2", escaped, flags=re.MULTILINE)


def _listed(names: list[str]) -> str:
    shown = [text(name) for name in names]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]])) if shown else "nobody"


class Transcript:
    """The text of transcript.md, as it grows with the events of a run.

    Several things may happen between two utterances, in different steps. Their order is fixed, so it does not depend on
    when they are reported: after an utterance, the agents that did not hear it or had no thoughts meanwhile; then new
    topics; then what happened in a story; then the agents that failed to make the next utterance. So lines between
    utterances are held back until their place is certain.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, str]] = []

    def after(self, event: Any) -> str:
        """What an event adds; what happened between two utterances comes before the next one."""
        match event:
            case Uttered():
                return "".join([*self._taken((event.turn, 0)), spoken(event)])
            case Silenced():
                self._waiting.append((event.turn, -1 if event.step == "speak" else 1, silence(event)))
            case RecordedIntervention(do="topic"):
                topic = text(" ".join(str(event.more["topic"]).split()))
                self._waiting.append((event.turn, 2, f"*The topic is now: {topic}*\n\n"))
            case Happened() if line := happening(event):
                self._waiting.append((event.turn, 3, line))
        return ""

    def end(self, came_to: Concluded | None, why: str) -> str:
        """The end of the text: what is still to be said, the conclusion of a debate, and why the run ended."""
        return "".join([*self._taken(None), conclusion(came_to) if came_to else "", f"*{text(why)}*\n"])

    def _taken(self, upto: tuple[int, int] | None) -> list[str]:
        ordered = sorted(self._waiting, key=lambda aside: aside[:2])  # stable: equal keys keep their order
        taken = [aside for aside in ordered if upto is None or aside[:2] < upto]
        self._waiting = ordered[len(taken) :]
        return [line for _, _, line in taken]
