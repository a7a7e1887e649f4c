"""A story's channels and records: what its graph keeps beside those of a conversation."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from langgraph.channels.delta import DeltaChannel
from pydantic import Field
from typing_extensions import TypedDict

from ..conversation import SNAPSHOT, Conversation, ConversationInput, append_records
from .support import Outcome

Do = Literal["awaken", "stocktake", "choose", "speak", "summarise", "address", "review", "ballot", "end"]
"""What is done in one act."""


class Act(TypedDict):
    """What is being done."""

    n: int
    """Its number, from 1: a mind that has done its part of an act keeps the number."""
    do: Do
    who: list[str]
    """Who does it; several do it at once."""
    stage: int
    """The stage's place in its round, from 0; -1 outside the stages."""
    host: str
    """Who has chosen the partner; empty outside rooms."""
    rest: list[str]
    """The hosts of this stage that have not had their turn; or who reports, or has a last speech, afterwards."""
    left: int
    """Utterances left in a room or a talk in turn, or chat rounds left in the group, this one included."""
    room: str
    """The open room; empty outside rooms."""
    asks: NotRequired[str]
    """For ballots: "guess" or "vote"; for words in turn: "report" of a room, or last "speech"."""
    since: NotRequired[int]
    """In a talk of several who speak in turn: utterances made before the act."""
    partner: NotRequired[str]
    """Whom a branch has chosen for the host, from its stocktaking to its choice; empty for nobody."""
    again: NotRequired[bool]
    """Whether the models of all have failed in the same act before, so that another failure ends the run."""


class Room(TypedDict):
    """A talk of two, or one of the rooms into which the group has split."""

    members: list[str]
    """The host first; in a split group, in order of listing."""
    round: int
    stage: int
    public: bool
    """Whether all know that they meet."""
    opened: int
    """Utterances made when it opened."""
    open: bool
    passed: NotRequired[int]
    """How many turns people have passed in it; missing if none."""


class Happening(TypedDict):
    """Something that happened in a story beside words; who hears of it is decided as for utterances."""

    turn: int
    """Utterances so far."""
    round: int
    """0 before the first round, the number of rounds plus 1 in the settlement."""
    stage: str
    """The kind of stage; empty outside the stages."""
    do: str
    """What: "stage" (begins), "stock", "choice", "met", "summary", "review", "standing", "guess", "ballot",
    "closed_ballot", "outcome"."""
    speaker: str
    """Whose doing it is; empty for the story's own."""
    heard_by: NotRequired[list[str]]
    """Who knows of it besides `speaker`; missing if all do."""
    room: NotRequired[str]
    others: NotRequired[list[str]]
    """With whom."""
    text: NotRequired[str]
    lines: NotRequired[list[str]]
    """The next steps of a stock, or the plan of a choice."""
    choice: NotRequired[str]
    """Who or what was chosen."""
    chosen_by: NotRequired[str]
    """"branch" if a branch made the choice; missing if the character did."""
    closeness: NotRequired[dict[str, int]]
    """Of a review, the changes that were answered; of a standing, the values."""
    beliefs: NotRequired[list[int]]
    """The same of beliefs, in their order."""
    supports: NotRequired[str]
    influence: NotRequired[int]


Happenings = Annotated[list[Happening], DeltaChannel(append_records, snapshot_frequency=SNAPSHOT)]


class StoryInput(ConversationInput, total=False):
    """What starts a story: the fields of a scenario, the section `story` among them; all of a small one if empty."""

    story: Annotated[
        dict[str, Any],
        Field(
            description="characters, resources, stages and settlement (docs/stories.md); if empty, a small story",
            json_schema_extra={"default": {}},
        ),
    ]


class StoryState(Conversation, total=False):
    """The channels of a story."""

    story: dict[str, Any]
    """The section of the scenario, with full names; it never changes."""
    round: int
    """0 while all awaken, then the round, and the number of rounds plus 1 in the settlement."""
    act: Act
    rooms: dict[str, Room]
    """By id: round, place of the stage, number of the room, as in "2.1.3"."""
    happenings: Happenings
    owners: dict[str, str]
    """Each resource's owner now; empty for nobody."""
    outcome: Outcome | None
    """The result of the vote; None until there is one."""


class StoryOutput(TypedDict, total=False):
    """What a finished story returns to its caller."""

    messages: Any
    turn: int
    stop_reason: str
    stop_source: str
    stop_detail: str
    happenings: list[Happening]
    outcome: Outcome | None
    usage: Any
