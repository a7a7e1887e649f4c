"""What the views of a run share: what every view can do, and the present state."""

from __future__ import annotations

from typing import Protocol

from ...runs.events import (
    Continued,
    Event,
    Judged,
    MindChanged,
    Paused,
    Silenced,
    Speaking,
    Started,
    Token,
    Totals,
    TurnEnded,
    Uttered,
)


class View(Protocol):
    """Shows the events of one run; the caller calls `close` at the end, also after an error."""

    def show(self, event: Event) -> None:
        """Show one event.

        Raises:
            OutputClosed: the reader has closed standard output.
        """

    def close(self) -> None:
        """Restore the terminal."""


class NotingView(View, Protocol):
    """A view that can also show a line that is no event."""

    def note(self, line: str) -> None:
        """Show a line."""


class Picture:
    """The present state of a run.

    Attributes:
        needs: need to talk by participant; empty before the awakening, and in baselines.
        speaker: who is speaking; empty if nobody is.
        words: what the speaker has said so far.
        said: number of complete utterances.
        turn: number of utterances that all participants have heard.
        limit: the message limit; 0 where none is shown.
        totals: calls, tokens and cost up to that turn.
        verdict: the judge's last one.
        paused: whether the run is paused.
    """

    def __init__(self) -> None:
        self.needs: dict[str, int] = {}
        self.speaker, self.words = "", ""
        self.said = self.turn = self.limit = 0
        self.totals = Totals()
        self.verdict: Judged | None = None
        self.paused = False

    def take(self, event: Event) -> None:
        """Update the state with an event."""
        match event:
            case Started():
                self.limit = event.max_messages
            case Speaking():
                self.speaker, self.words, self.needs = event.speaker, "", dict(event.need_to_talk)
            case Token():
                self.words += event.text
            case Uttered():
                self.speaker, self.words, self.said = "", "", event.turn
                self.needs = dict(event.need_to_talk) or self.needs
            case Silenced() if event.step == "speak":  # what the speaker has said so far is dropped
                self.speaker, self.words = "", ""
            case MindChanged() if event.record.need_to_talk is not None:
                self.needs = {**self.needs, event.record.agent: event.record.need_to_talk}
            case Paused() | Continued():
                self.paused = isinstance(event, Paused)
            case Judged():
                self.verdict = event
            case TurnEnded():
                self.turn, self.totals = event.turn, event.totals
            case _:
                pass

    @property
    def agreement(self) -> str:
        """How many participants agree by the last verdict, "2 of 3 agree"; empty before the first verdict."""
        if self.verdict is None:
            return ""
        agree = sum(position.agrees for position in self.verdict.positions)
        return f"{agree} of {len(self.verdict.positions)} agree"
