"""Who spoke for what and when, as far as a prompt tells it: in what is remembered, just heard, or said last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from persimchat.models.offline.positions import place_in
from persimchat.models.offline.prompt import MemoryLine, Prompt
from persimchat.models.offline.topics import Topic
from persimchat.state.intervention import MODERATOR


@dataclass(frozen=True)
class Told:
    """An utterance as far as it is known.

    Attributes:
        turn: its number.
        speaker: who made it; empty where a memory does not say.
        text: its words, or what is remembered of them.
        place: where on the line of opinions it stands, 0 to 1.
    """

    turn: int
    speaker: str
    text: str
    place: float


def utterances_known(prompt: Prompt) -> list[tuple[int, str, str]]:
    """Turn, speaker and text of what was said, oldest first: word by word where that is known, else as remembered."""
    names = (*prompt.participants, MODERATOR)
    known: dict[int, tuple[str, str]] = {}
    for memory in (*prompt.memories, *([prompt.stm] if prompt.stm else [])):
        if memory.kind == "perception":
            known[memory.turn] = (_speaker(memory, names), memory.theme)
    if prompt.heard:
        known[prompt.turn] = (prompt.heard.speaker, prompt.heard.words)
    for turn, said in enumerate(prompt.recent, start=prompt.turn - len(prompt.recent) + 1):
        known[turn] = (said.speaker, said.words)
    return [(turn, *known[turn]) for turn in sorted(known)]


def timeline(prompt: Prompt, topic: Topic) -> list[Told]:
    """Those utterances that tell a position, oldest first; a moderator asks about positions and holds none."""
    return [
        Told(turn, speaker, text, place)
        for turn, speaker, text in utterances_known(prompt)
        if not prompt.leads(speaker) and (place := place_in(text, topic)) is not None
    ]


def last_places(told: Sequence[Told]) -> dict[str, Told]:
    """Where everybody stood when they last said so."""
    return {t.speaker: t for t in told if t.speaker}


def _speaker(memory: MemoryLine, names: Sequence[str]) -> str:
    """Who is remembered to have spoken: a theme begins with their name, or names nobody else."""
    for name in sorted(names, key=len, reverse=True):
        if memory.theme.startswith(name[:60].strip()):
            return name
    found = [name for name in names if name in memory.theme]
    return found[0] if len(found) == 1 else ""
