"""The story that a run is: what its file says, and its course on a board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from persimchat.app.web.board import Board
from persimchat.runs.events import OWN_ENDS
from persimchat.runs.folder.listing import ListedRun
from persimchat.runs.folder.reading import read_manifest
from persimchat.runs.reports.story_course import StoryCourse, character, course, rounds_of, story_of
from persimchat.state.errors import InputError
from persimchat.state.story import Story


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
    parts = {
        one["name"]: Part(
            str(one.get("description", "")), [*(one.get("social_goals") or ()), *(goals.get(one["name"]) or ())]
        )
        for one in given["participants"]
    }
    return StoryPlan(story_of(manifest), rounds_of(manifest), given.get("rules") or (), parts)
