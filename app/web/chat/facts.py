"""What is known of an utterance beside its words: what the speaker felt anew, why they spoke, how it was scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from persimchat.app.web.board import Board
from persimchat.app.web.shared.formats import listed
from persimchat.app.web.words import number, t
from persimchat.models.naming import OFFLINE
from persimchat.runs.events import Analysed, Started, Uttered
from persimchat.state.emotion import EMOTIONS
from persimchat.state.plain_text import one_line


@dataclass(frozen=True)
class Change:
    """The emotion that changed most.

    Attributes:
        emotion: its name.
        before: its level when the speaker spoke last, or awoke; 0–10.
        now: its level; 0–10.
    """

    emotion: str
    before: int
    now: int


def strongest_change(before: Mapping[str, int], now: Mapping[str, int]) -> Change | None:
    """The emotion that changed most, the first one of several alike; None if none did, or if they are not known."""
    if not before or not now:
        return None
    changes = [Change(name, before.get(name, 0), now.get(name, 0)) for name in EMOTIONS]
    most = max(changes, key=lambda change: abs(change.now - change.before))
    return most if most.now != most.before else None


def felt_before(board: Board, said: Uttered) -> Mapping[str, int]:
    """The speaker's emotions at their utterance before this one, or at their awakening; empty if they are not known."""
    for earlier in reversed(board.utterances[: said.turn - 1]):
        if earlier.speaker == said.speaker and earlier.emotion:
            return earlier.emotion
    return board.emotions.get(0, {}).get(said.speaker, {})


def response_time(value: float) -> str:
    """Seconds with one decimal; below one second, with two."""
    return f"{number(value, 1 if value >= 1 else 2)} s"


def head(said: Uttered, started: Started) -> str:
    """An utterance's number, and how long its model took; the offline model's seconds are made up and left out."""
    turn = t("chat.turn", n=said.turn)
    measured = said.response_time_s and started.models.get(said.speaker) != OFFLINE
    return f"{turn} · {response_time(said.response_time_s)}" if measured else turn


def reasons(said: Uttered, before: Uttered | None) -> list[str]:
    """To whom an utterance is, and why its speaker spoke: their need to talk, and whether they were addressed.

    Args:
        said: the utterance.
        before: the utterance before it; None for the first.
    """
    found = []
    if said.addressees and said.heard_by is None:
        found.append(t("chat.to", who=listed(said.addressees)))
    if said.edited_by is not None:
        return found  # somebody else decided that these words come here
    if said.speaker in said.need_to_talk:
        found.append(t("chat.need_was", n=said.need_to_talk[said.speaker]))
    if before is not None and said.speaker in before.addressees and before.heard_by is None:
        found.append(t("chat.was_addressed", who=one_line(before.speaker)))
    return found


def needs(said: Uttered) -> str:
    """How much everybody needed to talk when the speaker was chosen, most first; empty if it is not known."""
    ordered = sorted(said.need_to_talk.items(), key=lambda one: -one[1])
    return " · ".join(f"{one_line(name)} {need}" for name, need in ordered) if len(ordered) > 1 else ""


def scored(score: Analysed) -> str:
    """An utterance's scores in words."""
    if not score.is_scored:
        return t("chat.not_scored", why=one_line(score.failed))
    shown = {name: number(getattr(score, name), 1) for name in ("coherence", "sentiment", "engagement")}
    return t("chat.scored", **shown)
