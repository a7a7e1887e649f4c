"""What pages and the REST API must know of a run: its story and whether that is secret, its budgets, its pace."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from ....reports.story_course import StoryCourse, character, course, rounds_of, story_of
from ....runs.control import Control
from ....runs.events import OWN_ENDS, Totals
from ....runs.folder.listing import ListedRun
from ....runs.folder.manifest import Manifest
from ....runs.folder.parts import UNKNOWN
from ....runs.folder.reading import Record, read_manifest, read_run
from ....state.configuration import load_settings
from ....state.errors import InputError
from ....state.settings import BUDGETS
from ....state.stories.story import Story
from ..board import Board
from ..words import t

if TYPE_CHECKING:
    from ....evaluation.themes import ToAsk


@dataclass(frozen=True)
class Part:
    """What a character knows of itself alone.

    Attributes:
        description: who it is.
        goals: what it wants.
    """

    description: str
    goals: Sequence[str]


@dataclass(frozen=True)
class StoryPlan:
    """What is settled before a story begins.

    Attributes:
        story: the section of its scenario.
        rounds: how many rounds it has.
        rules: what everybody keeps to.
        parts: by character.
    """

    story: Story
    rounds: int
    rules: Sequence[str]
    parts: Mapping[str, Part]

    def character(self, wanted: str, where: str) -> str:
        """The full name of the character that a name means; raises InputError, which names the nearest one."""
        return character(wanted, self.story, where)

    def course(self, board: Board, *, seen_by: str | None = None, turn: int | None = None) -> StoryCourse:
        """The course of the story on a board.

        Args:
            board: the run's.
            seen_by: the full name of the character whose knowledge is wanted; None for all that happened.
            turn: up to and with this utterance; None for everything.
        """
        outcome = board.stopped.outcome if board.stopped is not None else None
        return course(
            self.story,
            board.happenings,
            board.utterances,
            rounds=self.rounds,
            outcome=outcome,
            seen_by=seen_by,
            turn=turn,
        )


def is_played(people: Sequence[str], ended: str | None) -> bool:
    """Whether people play a story and it is not over, so that its pages must keep secrets.

    Args:
        people: the participants who are people.
        ended: why it stopped; None if it has not.
    """
    return bool(people) and ended not in OWN_ENDS


def closed(folder: Path) -> bool:
    """Whether pages may not tell of a run what its players do not hear: one of the story's own shows that. Blocks.

    Raises:
        InputError: the folder is damaged.
    """
    manifest = read_manifest(folder)
    return manifest.settings.mode == "story" and is_played(manifest.people, manifest.stop_reason)


def closed_runs(runs: Iterable[ListedRun]) -> frozenset[str]:
    """The folders of the runs that are closed, or that cannot be read any more. Blocks."""

    def shut(listed: ListedRun) -> bool:
        try:
            return closed(Path(listed.folder))
        except InputError:
            return True

    return frozenset(one.folder for one in runs if one.mode == "story" and one.ended not in OWN_ENDS and shut(one))


def read_plan(folder: Path) -> StoryPlan | None:
    """The plan of a run; None if it is no story. Blocks.

    Raises:
        InputError: the folder is damaged.
    """
    manifest = read_manifest(folder)
    if manifest.settings.mode != "story":
        return None
    given = manifest.scenario.given
    goals = given.get("social_goals") or {}
    parts = {}
    for one in given["participants"]:
        own = [*(one.get("social_goals") or ()), *(goals.get(one["name"]) or ())]
        parts[one["name"]] = Part(str(one.get("description", "")), own)
    return StoryPlan(story_of(manifest), rounds_of(manifest), given.get("rules") or (), parts)


Scored = Literal["attention", "embedding", "length", "random"]
"""The methods that can be asked about."""


class ClosedError(InputError):
    """People play the story, so its prompts are not told."""


def open_record(folder: Path) -> Record:
    """A run whose prompts may be told. Blocks.

    Raises:
        ClosedError: people play it.
        InputError: the folder is damaged.
    """
    if closed(folder):
        raise ClosedError(
            "people play this story, so nothing of its prompts is told",
            where=folder.name,
            remedy="Let them play it to its end.",
        )
    return read_run(folder)


# Budgets, and what is left of them at a turn


@dataclass(frozen=True)
class Budget:
    """One budget.

    Attributes:
        name: of `BUDGETS`.
        limit: calls, tokens or US dollars.
        used: use up to the turn; None if it is not known.
    """

    name: str
    limit: float
    used: float | None

    @property
    def left(self) -> float | None:
        """The rest of the limit, at least 0; None if it is not known."""
        return None if self.used is None else max(0.0, self.limit - self.used)


def budgets(limits: dict[str, float], totals: Totals) -> list[Budget]:
    """The budgets that are set, and what is left of each.

    Args:
        limits: by name.
        totals: calls, tokens and cost so far.
    """
    known = totals != UNKNOWN
    used = {
        "budget_calls": totals.calls if known else None,
        "budget_tokens": totals.input_tokens + totals.output_tokens if known else None,
        "budget_usd": totals.cost_usd,
    }
    return [Budget(name, limit, used[name]) for name, limit in limits.items()]


def limits_of(manifest: Manifest | None) -> dict[str, float]:
    """The budgets of a run, by name; those that were not set are left out, and all of a run that cannot be read."""
    settings = manifest.settings.model_dump() if manifest is not None else {}
    return {name: settings[name] for name in BUDGETS if isinstance(settings.get(name), int | float)}


# How fast a conversation goes


Pace = int | Literal["one"]
"""Seconds from message to message at least, 0 as fast as the models answer; "one": one message, then a pause."""
ONE: Final = "one"
SECONDS: Final = (0, 2, 5, 10, 30)
"""The seconds that are offered."""
WITH_PEOPLE_S: Final = 5
"""The pace of a run in which people take part, unless another is chosen: they read before they can raise a hand."""


def usual_pace(*, with_people: bool) -> Pace:
    """The pace of a run for which none was chosen."""
    return WITH_PEOPLE_S if with_people else 0


def begin_at(control: Control, pace: Pace) -> None:
    """Let a run go at a pace."""
    if pace == ONE:
        control.one_turn()
    else:
        control.pace(pace)


def pace_words(pace: Pace) -> str:
    """A pace in words."""
    if pace == ONE:
        return t("common.pace_one")
    return t("common.pace_each", n=pace) if pace else t("common.pace_none")


# Asking about a focus group; what asks models is loaded when somebody does


async def questions_about(folder: Path, *, by: str, positions: bool, with_people: bool) -> list[ToAsk]:
    """What would be asked; raises as `to_ask`, or InputError if the model cannot judge.

    Args:
        folder: of the run.
        by: the model that finds themes; empty for none.
        positions: whether everybody is asked where they stood.
        with_people: whether the model may read words of people who took part.
    """
    from ....evaluation.asking import MODULE, Judge
    from ....evaluation.themes import to_ask

    named: dict[str, Any] = {f"module_models.{MODULE}": by}
    judge = Judge(await asyncio.to_thread(lambda: load_settings(**named))) if by else None
    return await to_ask(folder, judge=judge, positions=positions, with_people=with_people)


async def asked_about(folder: Path, *, by: str, positions: bool, with_people: bool) -> list[str]:
    """Ask what has no answer yet; what a reader must know. Arguments and errors as `questions_about` and `ask`."""
    from ....evaluation.themes import ask

    return await ask(await questions_about(folder, by=by, positions=positions, with_people=with_people))
