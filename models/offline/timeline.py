"""Who supported which position and when, from the memories and the last utterances of a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from persimchat.models.offline.positions import place_in
from persimchat.models.offline.prompt import MemoryLine, Prompt
from persimchat.models.offline.topics import Topic
from persimchat.state.intervention import MODERATOR


@dataclass(frozen=True)
class Told:
    """An utterance, as far as the prompt shows it.

    Attributes:
        turn: its number.
        speaker: its speaker; empty if a memory does not name them.
        text: its words, or the memory of them.
        place: its place on the line of opinions, 0 to 1.
    """

    turn: int
    speaker: str
    text: str
    place: float


def utterances_known(prompt: Prompt) -> list[tuple[int, str, str]]:
    """Turn, speaker and text of each utterance, oldest first: word by word if known, else as remembered."""
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
    """The utterances that state a position, oldest first; a moderator asks about positions and holds none."""
    return [
        Told(turn, speaker, text, place)
        for turn, speaker, text in utterances_known(prompt)
        if not prompt.leads(speaker) and (place := place_in(text, topic)) is not None
    ]


def last_places(told: Sequence[Told]) -> dict[str, Told]:
    """The place of each speaker's last stated position."""
    return {t.speaker: t for t in told if t.speaker}


def _speaker(memory: MemoryLine, names: Sequence[str]) -> str:
    """The speaker of a remembered utterance: its theme begins with their name, or names nobody else."""
    for name in sorted(names, key=len, reverse=True):
        if memory.theme.startswith(name[:60].strip()):
            return name
    found = [name for name in names if name in memory.theme]
    return found[0] if len(found) == 1 else ""
