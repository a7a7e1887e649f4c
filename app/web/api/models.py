"""The request and response models of the REST API, except those of events and settings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ....experiments.axes import Label
from ....models.offers import Key
from ....runs.control import LONGEST_PACE_S
from ....runs.events import Asked, StopReason, Totals
from ....runs.folder.answers import Number
from ....state.assessment import LONGEST_QUESTION
from ....state.intervention import LONGEST_WORDS
from ....state.persona import Persona, Relationship
from ....state.scenario import LONGEST_LINE, LONGEST_TOPIC
from ..background import State
from ..board import Status
from ..watching import Status as CellStatus

Name = Annotated[str, Field(min_length=1, max_length=300)]
Words = Annotated[str, Field(min_length=1, max_length=LONGEST_WORDS)]
Sentence = Annotated[str, Field(min_length=1, max_length=LONGEST_LINE)]
Turn = Annotated[int, Field(ge=0, le=10_000_000)]


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Conversation(_Given):
    """A conversation to be held, or to be estimated: the fields of a scenario file."""

    topic: Annotated[str, Field(min_length=1, max_length=LONGEST_TOPIC, description="what the conversation is about")]
    participants: list[Name | Persona] = Field(
        default=[],
        max_length=100,
        description="names of personas, shipped or the library's, or personas written out; four shipped ones if empty",
    )
    relationships: list[Relationship] = Field(default=[], max_length=10_000)
    social_goals: dict[str, list[Sentence]] = Field(default={}, description="participant's name: goals")
    rules: list[Sentence] = Field(default=[], max_length=100)
    settings: dict[str, Any] = Field(default={}, description="see /api/settings; what is left out has its default")
    guide: dict[str, Any] = Field(
        default={}, description="of a focus group: moderator, questions, stimulus (docs/focus_groups.md); else empty"
    )
    story: dict[str, Any] = Field(
        default={}, description="of a story: characters, resources, stages, settlement (docs/stories.md); else empty"
    )


class Changes(_Given):
    """Changes of a run that continues."""

    settings: dict[str, Any] = Field(default={}, description="settings that change from there on")


class Line(_Given):
    """An utterance and its speaker."""

    speaker: Name = Field(description="a participant, or Moderator")
    text: Words


class Choice(_Given):
    """The choice of a story's host."""

    host: Name = Field(description="a main character")
    partner: Name = Field(description="whom it talks to, or nobody")


class Branch(Changes):
    """The point at which a branch begins."""

    turn: Turn | None = Field(
        default=None,
        description="number of shared utterances; with `choose`, at least so many, or null for the host's last choice",
    )
    say: Line | None = Field(default=None, description="an utterance that replaces the next one")
    choose: Choice | None = Field(default=None, description="of a story: a choice that replaces the host's own")


class Regeneration(Changes):
    """The utterance that is worded again."""

    turn: Annotated[int, Field(ge=1, le=10_000_000, description="number of the utterance")]


class Say(_Given):
    """Say something next, or answer if the speaker is asked."""

    do: Literal["say"]
    text: Words
    speaker: str = Field(default="", max_length=300, description="a participant; empty for the moderator")
    heard_by: list[Name] | None = Field(default=None, description="who hears it; null for all")


class Topic(_Given):
    """Change the topic."""

    do: Literal["topic"]
    topic: Annotated[str, Field(min_length=1, max_length=LONGEST_TOPIC)]


class Hand(_Given):
    """Raise or lower a person's hand."""

    do: Literal["hand"]
    agent: Name
    raised: bool = True


class Floor(_Given):
    """Let a participant speak next."""

    do: Literal["floor"]
    agent: Name


class Answer(_Given):
    """Answer for the person who is asked: words, a need to talk, a choice, or a position, as `asked.what` says."""

    do: Literal["answer"]
    text: Words | None = Field(default=None, description='words, for "utterance"')
    need_to_talk: Annotated[int, Field(ge=0, le=10)] | None = None
    choice: Annotated[str, Field(max_length=300)] | int | None = Field(
        default=None,
        description='a name from `asked.story.candidates`, or its number from 1, for "choice" and "ballot"',
    )
    position: Annotated[str, Field(max_length=300)] | int | None = Field(
        default=None, description='an answer in the form of `asked.position`, for "position"'
    )
    heard_by: list[Name] | None = None


class Pace(_Given):
    """Let at least so many seconds pass from turn to turn."""

    do: Literal["pace"]
    seconds: Annotated[float, Field(ge=0, le=LONGEST_PACE_S, description="0: as fast as the models answer")]


class Plain(_Given):
    """Controls without arguments: `pass` for the person who is asked; pause, go on, one turn and a pause, stop.

    `next_question` has the next question of a focus group's guide put before it is due.
    """

    do: Literal["pass", "pause", "go_on", "one_turn", "next_question", "stop"]


Intervention = Annotated[Say | Topic | Hand | Floor | Answer | Pace | Plain, Field(discriminator="do")]
"""A control of a run."""


class InterviewQuestion(_Given):
    """A question to one agent, in private."""

    agent: Name = Field(description="a participant")
    question: Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
    interview: Number | None = Field(default=None, description="the interview that goes on; null for a new one")
    turn: Turn | None = Field(default=None, description="as it was after so many utterances; null for the end")
    by: str = Field(default="", max_length=300, description="the model that answers; empty for the agent's own")
    settings: dict[str, Any] = Field(default={}, description="others than in the run; budgets are of this question")
    with_people: bool = Field(
        default=False, description="with `by`: whether that model may read words of people who took part"
    )


class Asking(_Given):
    """What is asked about a focus group."""

    by: str = Field(default="", max_length=300, description="the model that finds themes; empty for none")
    positions: bool = Field(default=True, description="whether everybody is asked where they stood")
    with_people: bool = Field(default=False, description="whether the model may read words of people")


class Accepted(BaseModel):
    """The request was accepted; the run carries it out as soon as possible."""

    accepted: Literal[True] = True


class RunInfo(BaseModel):
    """A run in short."""

    run: str = Field(description="its id")
    status: Status
    active: bool = Field(description="it is active, in this server or in another program")
    mode: str = Field(description="discussion, debate, story, or what a package adds")
    baseline: str | None
    topic: str
    participants: list[str]
    people: list[str]
    utterances: int
    max_messages: int
    asked: Asked | None = Field(description="the person who is asked, if one is")
    reason: StopReason | None = Field(description="why it has ended; null if it has not")
    detail: str = Field(description="the same in words")
    error: str = Field(description="the error with which it failed; empty if it has not")
    totals: Totals = Field(description="calls, tokens and cost so far")


class NewLabels(_Given):
    """A run's name and tags, which are its user's notes."""

    name: str = Field(default="", max_length=1000, description="what to call it; empty for no name")
    tags: list[Annotated[str, Field(max_length=1000)]] = Field(default=[], max_length=1000, description="its tags")


class ListedInfo(BaseModel):
    """A run of the list."""

    run: str
    started: str = Field(description="ISO 8601")
    mode: str
    baseline: str | None
    topic: str
    participants: list[str]
    model: str | None
    utterances: int
    ended: str = Field(description="why it has ended, or unfinished")
    cost_usd: float | None = Field(description="null if it is not known")
    active: bool = Field(description="it is active")
    branch_of: str | None = Field(description="a branch: its original run; null if it is not a branch")
    branch_turn: int | None = Field(default=None, description="how many utterances it shares; null if it is no branch")
    name: str = Field(default="", description="what its user calls it; empty without a name")
    tags: list[str] = Field(default=[], description="its user's tags")


class ExperimentInfo(BaseModel):
    """An experiment in short."""

    experiment: str = Field(description="its name, which is its folder's")
    driven: bool = Field(description="a process holds its conversations now")
    cells: int = Field(description="all conversations")
    planned: int = Field(default=0, description="those that have not begun")
    running: int = 0
    begun: int = Field(default=0, description="those that were interrupted")
    done: int = Field(default=0, description="those that are complete")
    failed: int = Field(default=0, description="those that failed for good")
    budget: int = Field(default=0, description="those that have used up their budgets")
    spent: Totals = Field(description="calls, tokens and cost of all conversations so far")
    seconds_left: float | None = Field(description="until the end at the pace so far; null if it is not known")
    touched: str = Field(description="when something was last written (ISO 8601)")


class CellInfo(BaseModel):
    """A conversation of an experiment."""

    cell: str = Field(description="its id")
    axes: dict[str, Label] = Field(description="the label of its level on each axis")
    task: str = Field(description="the id of its task; empty if the experiment has one topic")
    category: str = Field(description="the category of its task")
    round: int = Field(description="the draw of tasks to which it belongs")
    topic: str
    status: CellStatus
    why: str = Field(description="why it failed; empty if it has not")
    run: str | None = Field(description="the id of its run for /api/runs/{run}; null if it has not begun")
    utterances: int | None
    spent: Totals | None = Field(description="null if it is not known yet")


class ExperimentDetail(ExperimentInfo):
    """An experiment with its conversations."""

    axes: dict[str, list[Label]] = Field(description="what is varied, with the labels of the levels")
    conversations: list[CellInfo] = Field(description="all of them, in the order of the grid")
    tables: list[str] = Field(description="file names of tables and codebook; empty before there are any")
    report: bool = Field(description="the report has been written")


class EstimateInfo(BaseModel):
    """The estimate of a conversation."""

    utterances: int
    totals: Totals
    exceeded: list[str] = Field(description="budgets that would be used up, one sentence each")
    unpriced: list[str] = Field(description="models whose price is not known")


class PersonaInfo(BaseModel):
    """A persona that can take part by name."""

    persona: Persona
    own: bool = Field(description="the library's; shipped otherwise")


# Models, and the files of this machine


class ProviderInfo(BaseModel):
    """A provider of the fixed list. Of its key only the status is known."""

    id: str = Field(description="the beginning of its models' names; file and server stand for other forms")
    name: str
    key: Key
    variables: list[str] = Field(description="environment variables that the status is about")
    missing_packages: list[str] = Field(description="what pip would have to install")


class FileInfo(BaseModel):
    """A model file of this machine."""

    name: str
    size: int = Field(description="bytes")
    licence: str
    source: str


class DownloadInfo(BaseModel):
    """A download since the server's start."""

    name: str
    state: State
    done: int = Field(description="bytes")
    total: int | None
    error: str


class WaitingInfo(BaseModel):
    """A model's server, by its address, or a model, by its name, that has said nothing for so many seconds."""

    whom: str
    seconds: int


class ModelsInfo(BaseModel):
    """Providers, files, downloads, and what is waited for."""

    providers: list[ProviderInfo]
    files: list[FileInfo]
    downloads: list[DownloadInfo]
    waiting: list[WaitingInfo]


class ServedInfo(BaseModel):
    """The models that a server lists."""

    address: str
    models: list[str]


class TestedInfo(BaseModel):
    """A model that answered."""

    model: str
    seconds: float


class AnnouncedInfo(BaseModel):
    """What a download would be."""

    name: str
    source: str
    size: int | None = Field(description="bytes; null if the source does not say")
    licence: str
    there: bool = Field(description="whether this machine has it")


class ModelGiven(_Given):
    """A model to be tested."""

    model: Name


class ServerGiven(_Given):
    """A server to be asked for its models."""

    address: Name


class DownloadGiven(_Given):
    """A download, with consent to its size."""

    name: Name
    size: int | None = Field(description="the size that GET /api/models/announced gave: consent to it")
