"""The course of a story from its records: stages, rooms, where characters stand, ballots; as all or as one know it.

Pure functions. What a character does not know is left out before anything else is reckoned, so nothing follows from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from ..personas.names import full_name
from ..runs.events import Happened, StoryOutcome, Uttered
from ..runs.folder.lines import BALLOTS
from ..runs.folder.manifest import Manifest
from ..runs.folder.reading import Record
from ..runs.folder.validation import checked
from ..state.errors import InputError
from ..state.settings import Settings
from ..state.stories.story import Story
from ..state.visibility import is_heard

AWAKENING: Final = "awakening"
SETTLEMENT: Final = "settlement"
"""What stands for a stage before the first and after the last one."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)


class CastMember(_Part):
    """A character as everybody knows it."""

    name: str
    main: bool = Field(description="whether it chooses whom to talk to, and can be voted for")
    known_as: str = Field(description="what everybody knows of it")


class StageCourse(_Part):
    """A stage that has begun."""

    round: int = Field(description="from 1; in the vote, one more than there are rounds")
    stage: str = Field(description="its kind: private, confidential, group …; settlement for the vote")
    place: int = Field(description="its place in the round, from 0")
    turn: int = Field(description="utterances when it began")
    rooms: list[str] = Field(description="the rooms opened in it, by id")
    said: list[int] = Field(description="the utterances outside rooms, by number")
    reviews: dict[str, str] = Field(description="by name: what the character thought when the round was over")
    left_out: dict[str, int] = Field(
        default={}, description="hosts whom a branch let meet nobody, with the utterances until then"
    )


class RoomCourse(_Part):
    """A room."""

    room: str = Field(description="its id: round, place of the stage, number, as in 2.1.3")
    round: int
    stage: str = Field(description="the kind of its stage")
    members: list[str] = Field(description="the host first")
    public: bool = Field(description="whether everybody knows that they meet")
    heard: bool = Field(description="whether the words are shown: a character hears those of its own rooms only")
    open: bool = Field(description="whether they may still be talking")
    turn: int = Field(description="utterances when it opened")
    said: list[int] = Field(description="its utterances, by number")
    why: str = Field(default="", description="why the host has chosen the others")
    chosen_by: str = Field(default="", description="branch, if a branch chose the partner and not the host")
    kept: dict[str, str] = Field(default={}, description="by name: what the member takes from the talk")


class BeliefNow(_Part):
    """A belief after an update."""

    text: str
    score: int = Field(description="0–100")
    favours: str = Field(alias="for", description="for whom it is; empty for nobody")


class CharacterNow(_Part):
    """Where a character stands after an update."""

    name: str
    beliefs: list[BeliefNow]
    closeness: dict[str, int] = Field(description="to each of the others, 0–100")
    supports: str = Field(description="the main character whom it supports; empty for nobody")
    influence: int


class Update(_Part):
    """Where those stand who may be seen, after one update."""

    round: int = Field(description="0 after the awakening")
    turn: int = Field(description="utterances so far")
    characters: list[CharacterNow]


class Owned(_Part):
    """A resource; everybody knows all of it."""

    resource: str
    owner: str = Field(description="empty for nobody")
    influence: int = Field(description="the weight that it gives its owner")
    topics: list[str]
    description: str


class VoterBallots(_Part):
    """What a voter has put on its ballots; null for what it has not."""

    voter: str
    guess: str | None = Field(default=None, description="whom it expects to win")
    open: str | None = None
    closed: str | None = Field(default=None, description="on which nobody names itself")


class StoryCourse(_Part):
    """The course of a story, as everybody or as one character knows it."""

    seen_by: str | None = Field(description="the character whose knowledge it is; null for all that happened")
    turn: int = Field(description="up to and with this utterance")
    round: int = Field(description="0 before the first one; in the vote, one more than there are rounds")
    rounds: int
    stage: str = Field(description="the kind of the present stage; awakening before the first, settlement in the vote")
    plan: list[str] = Field(description="the kinds of stages of each round, in order")
    votes: bool = Field(description="whether there is a vote after the last round")
    support: int = Field(description="closeness from which a character who is no main one supports a main one")
    decider: str = Field(description="who decides in the vote; empty for nobody")
    cast: list[CastMember]
    stages: list[StageCourse]
    rooms: list[RoomCourse]
    standings: list[Update]
    owners: list[Owned]
    ballots: list[VoterBallots]
    outcome: StoryOutcome | None = Field(
        description="the result of the vote; null before it. For one character, what all are told of it"
    )

    def room(self, room: str) -> RoomCourse:
        """The room of an id; raises KeyError if there is none."""
        return {one.room: one for one in self.rooms}[room]


def story_of(manifest: Manifest) -> Story:
    """The section `story` of a run's scenario.

    Raises:
        InputError: the run is no story, or the section does not fit this version.
    """
    section = manifest.scenario.given.get("story")
    if not section:
        raise InputError("the run is no story", where=manifest.run, remedy="Choose a run whose mode is story.")
    return checked(Story, section, f"run {manifest.run}, field scenario.story")


def rounds_of(manifest: Manifest) -> int:
    """How many rounds a story has."""
    given = manifest.settings.given.get("rounds")
    return given if isinstance(given, int) else Settings(mode="story").rounds


def character(wanted: str, story: Story, where: str) -> str:
    """The full name of the character that a name means.

    Raises:
        InputError: no character has the name, or several may be meant; names the nearest one.
    """
    return full_name(wanted, list(story.characters), what="character", where=where)


def recorded_course(record: Record, *, seen_by: str | None = None, turn: int | None = None) -> StoryCourse:
    """The course of a story from its folder; see `course`.

    Raises:
        InputError: the run is no story, or has no such character.
    """
    manifest = record.manifest
    story = story_of(manifest)
    eyes = None if seen_by is None else character(seen_by, story, manifest.run)
    return course(
        story,
        record.happenings,
        record.utterances,
        rounds=rounds_of(manifest),
        outcome=manifest.outcome,
        seen_by=eyes,
        turn=turn,
    )


def course(
    story: Story,
    happenings: Iterable[Happened],
    utterances: Sequence[Uttered],
    *,
    rounds: int,
    outcome: StoryOutcome | None = None,
    seen_by: str | None = None,
    turn: int | None = None,
) -> StoryCourse:
    """The course of a story.

    Args:
        story: the section of its scenario.
        happenings: what happened beside words, in order.
        utterances: what was said, in order.
        rounds: how many rounds the story has.
        outcome: of the vote, if it is over.
        seen_by: the full name of the character whose knowledge is wanted; None for all that happened.
        turn: up to and with this utterance and all that happened before the next one; None for everything.
    """

    def known(of: int, speaker: str, heard_by: list[str] | None) -> bool:
        heard = seen_by is None or is_heard({"speaker": speaker, "heard_by": heard_by}, seen_by)
        return heard and (turn is None or of <= turn)

    found = _Course(story, rounds, seen_by)
    said = [one for one in utterances if known(one.turn, one.speaker, one.heard_by)]
    happened = [one for one in happenings if known(one.turn, one.speaker, one.heard_by)]
    for one in happened:
        found.take(one)
    for word in said:
        found.hear(word)
    last = max((*(one.turn for one in said), *(one.turn for one in happened)), default=0)
    return found.made(last if turn is None else turn, outcome)


class _Course:
    """Collects what is known of a story."""

    def __init__(self, story: Story, rounds: int, seen_by: str | None) -> None:
        self._story, self._rounds, self._seen_by = story, rounds, seen_by
        self._stages: list[StageCourse] = []
        self._rooms: dict[str, RoomCourse] = {}
        self._updates: dict[int, Update] = {}
        self._ballots: dict[str, dict[str, str]] = {}
        self._choices: dict[str, Happened] = {}
        self._over = False

    def take(self, one: Happened) -> None:
        """Something has happened."""
        match one.do:
            case "stage":
                self._begin(one.round, one.stage, self._place(one), one.turn)
            case "choice" if one.room:
                self._choices[one.room] = one
            case "choice" if self._stages and one.chosen_by is not None:
                self._stages[-1].left_out[one.speaker] = one.turn
            case "met":
                self._meet(one)
            case "summary" if one.room in self._rooms:
                room = self._rooms[one.room]
                self._rooms[one.room] = room.model_copy(
                    update={"kept": {**room.kept, one.speaker: one.text}, "open": False}
                )
            case "review" if self._stages:
                self._stages[-1].reviews[one.speaker] = one.text
            case "standing":
                self._stand(one)
            case do if do in BALLOTS:
                self._ballots.setdefault(one.speaker, {})[BALLOTS[do]] = one.choice
            case "outcome":
                self._over = True

    def hear(self, said: Uttered) -> None:
        """Somebody has said something."""
        among = {said.speaker, *(said.heard_by or ())}
        rooms = [
            room
            for room in self._rooms.values()
            if said.heard_by is not None and room.turn < said.turn and set(room.members) == among
        ]
        if rooms:
            rooms[-1].said.append(said.turn)
            return
        stages = [stage for stage in self._stages if stage.turn < said.turn]
        if not stages:  # the moderator has spoken before the first stage
            stages = [self._begin(0, AWAKENING, -1, -1, first=True)]
        stages[-1].said.append(said.turn)

    def made(self, turn: int, outcome: StoryOutcome | None) -> StoryCourse:
        """The course."""
        now = self._stages[-1] if self._stages else None
        return StoryCourse(
            seen_by=self._seen_by,
            turn=turn,
            round=now.round if now else 0,
            rounds=self._rounds,
            stage=now.stage if now else AWAKENING,
            plan=[stage.kind for stage in self._story.stages],
            votes=self._story.settlement is not None,
            support=self._story.limits.support,
            decider=self._story.settlement.decider if self._story.settlement is not None else "",
            cast=[
                CastMember(name=name, main=one.main, known_as=one.known_as)
                for name, one in self._story.characters.items()
            ],
            stages=self._stages,
            rooms=list(self._rooms.values()),
            standings=list(self._updates.values()),
            owners=[
                Owned(
                    resource=one.name,
                    owner=one.owner,
                    influence=one.influence,
                    topics=one.topics,
                    description=one.description,
                )
                for one in self._story.resources
            ],
            ballots=[
                VoterBallots(voter=name, **self._ballots[name])
                for name in self._story.characters
                if name in self._ballots
            ],
            outcome=self._told(outcome) if self._over and outcome is not None else None,
        )

    def _told(self, outcome: StoryOutcome) -> StoryOutcome:
        """What all are told of the outcome, if it is one character's knowledge: nothing of the closed ballots."""
        if self._seen_by is None:
            return outcome
        final = outcome.decided or outcome.ceded
        elected = [] if final else outcome.winners
        return outcome.model_copy(update={"appointed": "", "closed": {}, "elected": elected})

    def _place(self, one: Happened) -> int:
        """The place of a stage that begins: the first of its kind after those of its round that have begun."""
        begun = [stage.place for stage in self._stages if stage.round == one.round]
        first = max(begun, default=-1) + 1
        kinds = [stage.kind for stage in self._story.stages]
        return next((place for place in range(first, len(kinds)) if kinds[place] == one.stage), first)

    def _begin(self, round_: int, stage: str, place: int, turn: int, *, first: bool = False) -> StageCourse:
        made = StageCourse(
            round=round_, stage=stage, place=place, turn=turn, rooms=[], said=[], reviews={}, left_out={}
        )
        self._stages.insert(0 if first else len(self._stages), made)
        self._close(turn)
        return made

    def _meet(self, one: Happened) -> None:
        self._close(one.turn)
        members = [one.speaker, *one.others]
        choice = self._choices.get(one.room)
        self._rooms[one.room] = RoomCourse(
            room=one.room,
            round=one.round,
            stage=one.stage,
            members=members,
            public=one.heard_by is None,
            heard=self._seen_by is None or self._seen_by in members,
            open=True,
            turn=one.turn,
            said=[],
            why=choice.text if choice is not None else "",
            chosen_by=(choice.chosen_by or "") if choice is not None else "",
            kept={},
        )
        if self._stages:
            self._stages[-1].rooms.append(one.room)

    def _close(self, turn: int) -> None:
        """Close the rooms that were opened before a turn: something else has begun since."""
        for key, room in self._rooms.items():
            if room.open and room.turn < turn:
                self._rooms[key] = room.model_copy(update={"open": False})

    def _stand(self, one: Happened) -> None:
        self._close(one.turn)
        update = self._updates.setdefault(one.round, Update(round=one.round, turn=one.turn, characters=[]))
        beliefs = self._story.characters[one.speaker].beliefs
        update.characters.append(
            CharacterNow(
                name=one.speaker,
                beliefs=[
                    BeliefNow(text=belief.text, score=score, favours=belief.favours or "")
                    for belief, score in zip(beliefs, one.beliefs, strict=False)
                ],
                closeness=one.closeness,
                supports=one.supports or "",
                influence=one.influence or 0,
            )
        )
        last = one.round == self._rounds and self._story.settlement is not None
        if last and (not self._stages or self._stages[-1].stage != SETTLEMENT):
            self._begin(self._rounds + 1, SETTLEMENT, 0, one.turn)
