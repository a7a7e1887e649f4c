"""A tab's view of a story: whose knowledge it shows, and the course of the story as far as that one knows it."""

from __future__ import annotations

from collections.abc import Hashable

from persimchat.app.web.context import Viewing
from persimchat.app.web.shared.stories import StoryPlan, is_played
from persimchat.runs.reports.story_course import StoryCourse


class StoryView:
    """What every part of the page of a story draws from.

    While a person plays, the page shows what that person's character knows, and nothing else; once the story is over,
    it opens to all.

    Args:
        viewing: the tab's view of the run.
        plan: the story.

    Attributes:
        names: of all characters.
    """

    def __init__(self, viewing: Viewing, plan: StoryPlan) -> None:
        self.viewing, self.plan = viewing, plan
        self._chosen: str | None = None
        self.names = list(plan.story.characters)
        self._known: tuple[Hashable, StoryCourse] | None = None
        if self.played:
            viewing.go_to(None)

    @property
    def played(self) -> bool:
        """Whether people play and the story is not over, so that the page must keep secrets."""
        board = self.viewing.board
        return is_played(board.people, board.stopped.reason if board.stopped is not None else None)

    @property
    def choices(self) -> list[str]:
        """The characters whose eyes may be chosen: all of them, or, while people play, theirs."""
        return self.viewing.board.people if self.played else self.names

    @property
    def eyes(self) -> str | None:
        """The character whose knowledge is shown; None for the researcher, who sees everything."""
        if self.played and self._chosen not in self.choices:
            return self.choices[0]
        return self._chosen

    @property
    def minds(self) -> list[str]:
        """The characters whose minds may be shown: all of them, or the one whose eyes were chosen."""
        return self.names if self.eyes is None else [self.eyes]

    def choose(self, name: str | None) -> None:
        """Show what a character knows; None for everything."""
        self._chosen = name

    @property
    def revision(self) -> Hashable:
        """A value that changes when the course does; single words of an utterance in progress do not change it."""
        viewing, board = self.viewing, self.viewing.board
        return (viewing.at, self.eyes, self.played, len(board.happenings), board.turn, board.stopped is None)

    @property
    def course(self) -> StoryCourse:
        """The story up to the shown turn, as far as it may be seen."""
        now = self.revision
        if self._known is None or self._known[0] != now:
            viewing = self.viewing
            made = self.plan.course(viewing.board, seen_by=self.eyes, turn=None if viewing.newest else viewing.turn)
            self._known = (now, made)
        return self._known[1]

    def sees(self, speaker: str) -> bool:
        """Whether the words that a speaker is just saying may be shown."""
        if self.eyes is None:
            return True
        return any(room.open and {speaker, self.eyes} <= set(room.members) for room in self.course.rooms)
