"""Focus groups as they lie on disk, made up: for tests of what reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from run_folders import PEOPLE, given, utterance, write_run

MODERATOR = "Mira Solheim"
NAMES = (MODERATOR, *PEOPLE)
LIKELY = {"ask": "How likely is it that you use it?", "answer": "scale:1-5", "named": "likely"}
GUIDE: dict[str, Any] = {
    "moderator": MODERATOR,
    "questions": [
        {"ask": "When did you last borrow a tool?"},
        {"ask": "What would keep you from the app?"},
        {"ask": "What would you change first?"},
    ],
    "positions": [LIKELY],
}
WORDS = (
    (PEOPLE[0], "Before anything else: hello."),
    (MODERATOR, "When did you last borrow a tool?"),
    (PEOPLE[0], "A drill, from my neighbour’s shed. He was slow to lend it."),
    (PEOPLE[1], "My brother’s drill! I still have it."),
    (MODERATOR, "What would keep you from the app?"),
    (PEOPLE[1], "The deposit. Nobody gives me 50 euros back."),
    (PEOPLE[0], "I dislike a deposit, too; and strangers in the shed."),
    (PEOPLE[1], "Strangers I don't mind."),
)


def write_group(out: Path, guide: dict[str, Any] | None = None, **about: Any) -> Path:
    """Write the folder of a focus group whose moderator has put the first two questions, in turns 2 and 5."""
    lines = []
    for turn, (speaker, text) in enumerate(WORDS, start=1):
        if speaker == MODERATOR:
            lines.append(given(turn, speaker, text, question=1 if turn == 2 else 2))
        else:
            lines.append(utterance(turn, speaker, text))
    people = [{"name": name, "description": "Somebody."} for name in NAMES]
    scenario = {"topic": "A lending app", "participants": people, "guide": guide or GUIDE}
    return write_run(out, lines, scenario=scenario, **about)
