"""What is going on in a run just now, as far as its events tell: what the views draw from."""

from __future__ import annotations

from persimchat.runs.events import (
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


class Picture:
    """Keeps up with a run.

    Attributes:
        needs: everybody's need to talk, by name; empty before they have awoken, and in baselines.
        speaker: who is speaking; empty while nobody is.
        words: what they have said so far.
        said: utterances made.
        turn: utterances that everybody has heard.
        limit: the message limit.
        totals: what was used up to then.
        verdict: the judge's last one.
        paused: whether people have paused the run.
    """

    def __init__(self) -> None:
        self.needs: dict[str, int] = {}
        self.speaker, self.words = "", ""
        self.said = self.turn = self.limit = 0
        self.totals = Totals()
        self.verdict: Judged | None = None
        self.paused = False

    def take(self, event: Event) -> None:
        """Take one event into the picture."""
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
            case Silenced() if event.step == "speak":  # what was said so far is no utterance
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
        """How many agree as the judge sees it, "2 of 3 agree"; empty before the first verdict."""
        if self.verdict is None:
            return ""
        agree = sum(position.agrees for position in self.verdict.positions)
        return f"{agree} of {len(self.verdict.positions)} agree"
