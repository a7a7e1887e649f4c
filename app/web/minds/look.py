"""A look into one mind at one turn: what its record says, and what it still holds of earlier turns. Nothing later."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

from persimchat.app.web.board import Board
from persimchat.app.web.minds.mind_file import MindFile, Thinking
from persimchat.app.web.minds.records import SeenMind, SeenThought
from persimchat.app.web.minds.tree import Node, Tree
from persimchat.app.web.viewing import Viewing
from persimchat.runs.folder import JUDGE_MIND, MINDS
from persimchat.state.emotion import EMOTIONS

MOST_REFLECTIONS: Final = 12
"""Earlier reflections that are pointed to."""


@dataclass(frozen=True)
class Look:
    """What is to be seen of a mind at a turn.

    Attributes:
        mind: as it was recorded at the turn.
        before: as it was recorded last before; None at its first record.
        plan: the last plan made so far; None without one.
        planned: the turn at which it was made.
        tree: of the last reflection so far; empty without one.
        reflected: the turn at which that was.
        reflections: turns of reflections before it, the latest first.
    """

    mind: SeenMind
    before: SeenMind | None
    plan: SeenThought | None
    planned: int
    tree: list[Node]
    reflected: int
    reflections: list[int]


def look(file: MindFile, agent: str, turn: int) -> Look | None:
    """Look into a mind; blocks. None where nothing is recorded of it at this turn.

    Raises:
        InputError: the file is damaged.
    """
    mind = file.read(agent, turn)
    if mind is None:
        return None
    planning = _last(file, agent, turn, "plan")
    reflecting = _last(file, agent, turn, "insights")
    earlier = file.thoughts(agent, reflecting.turn - 1, "insights") if reflecting else iter(())
    return Look(
        mind=mind,
        before=file.before(agent, turn),
        plan=planning.plan if planning else None,
        planned=planning.turn if planning else 0,
        tree=Tree(file, agent).of(reflecting) if reflecting else [],
        reflected=reflecting.turn if reflecting else 0,
        reflections=list(islice(earlier, MOST_REFLECTIONS)),
    )


def _last(file: MindFile, agent: str, turn: int, what: Thinking) -> SeenMind | None:
    for at in file.thoughts(agent, turn, what):
        mind = file.read(agent, at)
        if mind is not None and (mind.plan if what == "plan" else mind.insights):
            return mind
    return None


def felt(now: SeenMind, before: SeenMind | None) -> list[tuple[str, int, int | None]]:
    """Emotions in the order of `EMOTIONS`: name, level, and change since the record before (None where not known).

    Empty where nothing is known of what the mind felt.
    """
    if not now.emotion:
        return []
    known = before.emotion if before else {}
    return [
        (name, now.emotion.get(name, 0), now.emotion.get(name, 0) - known.get(name, 0) if known else None)
        for name in EMOTIONS
    ]


@dataclass(frozen=True)
class Minds:
    """The files of a run's minds."""

    participants: MindFile
    judge: MindFile


_minds: WeakKeyDictionary[Board, Minds] = WeakKeyDictionary()


async def minds_of(viewing: Viewing) -> Minds:
    """The minds of a run, the same for everybody who looks at it.

    Raises:
        InputError: the run's folder is gone.
    """
    if viewing.board not in _minds:
        folder: Path = await asyncio.to_thread(viewing.place.runs.folder, viewing.run)
        _minds.setdefault(viewing.board, Minds(MindFile(folder / MINDS), MindFile(folder / JUDGE_MIND)))
    return _minds[viewing.board]
