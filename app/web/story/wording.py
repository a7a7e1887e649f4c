"""The words for stages, rooms and the outcome of a story."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from persimchat.app.web.shared.formats import listed
from persimchat.app.web.words import catalogue, t
from persimchat.runs.events import StoryOutcome
from persimchat.runs.reports.story_course import AWAKENING, RoomCourse, StageCourse, StoryCourse
from persimchat.state.plain_text import one_line
from persimchat.state.settlement import most

ROOMS: Final = "rooms"
"""The kind of a stage that splits everybody into rooms."""
LOCK: Final = "lock"
DOOR: Final = "meeting_room"
ICONS: Final = {
    "private": LOCK,
    "confidential": DOOR,
    "group": "groups",
    ROOMS: DOOR,
    "plenary": "groups",
    "settlement": "how_to_vote",
}
"""Pictures of stages, by kind; a word always stands beside one."""


def icon_of(stage: str) -> str:
    """The picture of a kind of stage."""
    return ICONS.get(stage, "forum")


def stage_name(stage: str) -> str:
    """A kind of stage in words; an unknown one as it is."""
    key = f"story.stage_{stage}"
    return t(key) if key in catalogue() else one_line(stage)


def heading(stage: StageCourse, course: StoryCourse) -> str:
    """The heading of a stage."""
    if stage.stage == AWAKENING or stage.round > course.rounds:
        return stage_name(stage.stage)
    return t("story.heading", round=stage.round, of=course.rounds, stage=stage_name(stage.stage))


def room_name(room: RoomCourse, cast: Sequence[str]) -> str:
    """Who is in a room.

    Args:
        room: the room.
        cast: the names of all characters.
    """
    if room.stage == ROOMS:
        short = short_names(cast)
        members = ", ".join(short.get(name, one_line(name)) for name in room.members)
        return t("story.room_numbered", n=room.room.rpartition(".")[2], members=members)
    host, others = room.members[0], listed(room.members[1:])
    return t("story.room_with", host=one_line(host), others=others)


def room_known(room: RoomCourse) -> str:
    """Who knows of a room."""
    if room.stage == ROOMS:
        return t("story.room_split")
    return t("story.room_public" if room.public else "story.room_private")


def short_names(names: Sequence[str]) -> dict[str, str]:
    """First names where they tell all apart, else full names; by full name."""
    plain = {name: one_line(name) for name in names}
    first = {name: text.split(" ")[0] for name, text in plain.items()}
    return first if len(set(first.values())) == len(plain) and all(first.values()) else plain


def counted(votes: dict[str, int]) -> str:
    """Ballots by candidate."""
    return ", ".join(f"{one_line(name)} {number}" for name, number in votes.items()) or t("story.no_ballots")


def outcome_sentence(outcome: StoryOutcome, decider: str) -> str:
    """The result of a vote, one sentence; the words of `state.settlement.outcome_in_words`."""
    votes = counted(outcome.open)
    if outcome.decided:
        return t("story.decided", decider=one_line(decider), choice=one_line(outcome.decided), votes=votes)
    if outcome.ceded:
        return t("story.ceded", decider=one_line(decider), choice=one_line(outcome.ceded), votes=votes)
    if not outcome.winners:
        return t("story.nobody_won")
    if len(outcome.winners) > 1:
        return t("story.draw", names=listed(outcome.winners), votes=votes)
    tied = len(most(outcome.open, list(outcome.open))) > 1
    return t("story.elected_after_tie" if tied else "story.elected", name=one_line(outcome.winners[0]), votes=votes)
