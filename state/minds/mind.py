"""One agent's mind: an entry of the conversation's `agents`, and during a step the state of the mind's graphs.

It holds plain values only, because checkpoints store it with msgpack. Chroma holds the memories; the mind knows which
of them are alive, when each was last recalled, and how the last retrieval scored them.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NotRequired, cast

from typing_extensions import TypedDict

from ..companion import CompanionMind, CompanionSituation
from ..outcomes import Judged, Outcome, Weak
from ..person_answer import PositionQuestion, Put, StoryQuestion
from ..stories.support import StoryMind, StorySituation
from .listening import Listening


class Utterance(TypedDict):
    """One message of one speaker, to all participants or (a whisper) to those in `heard_by`."""

    turn: int
    """Its number: 1 for the first utterance of a conversation."""
    speaker: str
    text: str
    addressees: list[str]
    """The participants that it addresses by name; empty means the whole group."""
    emotion: dict[str, int]
    """The speaker's emotional state, six emotions 0–10."""
    need_to_talk: dict[str, int]
    """Each participant's need to talk, 0–10, when the speaker was chosen."""
    response_time_s: float
    """Seconds until the utterance was complete, as the model reports them, else measured."""
    tokens: dict[str, int]
    """`input` and `output` tokens of the call that worded it."""
    corrections: list[str]
    """Corrections made to the first wording, from `state.speech.CORRECTIONS`; often empty."""
    heard_by: NotRequired[list[str]]
    """The hearers of a whisper, without its speaker (state/visibility.py); missing if all participants hear it."""
    edited_by: NotRequired[str]
    """Who wrote the words in place of the speaker: "branch" or "moderator"; missing if they are the speaker's own."""
    question: NotRequired[int]
    """The number of the guide's question that it puts, from 1; missing on all other utterances."""
    answer: NotRequired[str]
    """Debate baselines: the answer that it gives, in the debate's form."""
    conditional: NotRequired[str]
    """Debate baselines: the conditions of that answer; missing if it names none."""
    confidence: NotRequired[float]
    """Debate baselines with confidence: how sure the speaker is of it, 0–1."""


class GuideSituation(TypedDict):
    """A focus group's guide as everybody sees it."""

    moderator: str
    number: int
    """Of the question put last, from 1; 0 before the first."""
    of: int
    """How many questions there are."""
    put: str
    """The words with which it was put; empty before the first."""
    stimulus: NotRequired[dict[str, str]]
    """What everybody is shown: `title`, `text`, `image`; missing while nothing is."""


class Situation(TypedDict):
    """The conversation as one agent sees it in one step; never stored in its mind."""

    simulation: str
    topic: str
    turn: int
    """Utterances so far."""
    max_messages: int
    present: list[str]
    """All participants' names, in order of listing, the agent's own included."""
    called: NotRequired[dict[str, list[str]]]
    """Other forms of these names, as their personas list them."""
    rules: list[str]
    relationships: list[dict[str, str]]
    """This agent's relationships: `to`, `type`, `side` ("from" or "to"), `note`."""
    recent: list[Utterance]
    """The last utterances, oldest first."""
    debate: dict[str, Any] | None
    """The form of a debate's answer: `format` (state/debates/answers.py) and `choices`; None in discussions."""
    closing: bool
    """Whether the end is near, so that it is time to take leave."""
    language: NotRequired[str]
    """In which all speak, by its tag; missing for English."""
    brief: NotRequired[dict[str, bool]]
    """How prompts say briefly how a mind stands, the arguments of `prompts.blocks.brief`; missing if they do not."""
    story: NotRequired[StorySituation]
    """In a story: the story as this character sees it."""
    companion: NotRequired[CompanionSituation]
    """Of a companion: the talk as the agent sees it."""
    guide: NotRequired[GuideSituation]
    """In a focus group with a guide: the question put last, and what is shown."""


class Recalled(TypedDict):
    """A recalled memory and why: the weighted components of its score (each 0 to its weight)."""

    id: str
    focal_point: int
    """Index of the focal point for which it scored highest."""
    score: float
    recency: float
    importance: float
    relevance: float
    emotional: float
    stm_relevance: float


class Call(TypedDict):
    """One question put to a model, for accounting: tokens are the server's figures, or estimates."""

    agent: str
    module: str
    model: str
    turn: int
    calls: int
    """Requests made: 1, or 2 if the answer was asked for again; more if the server refused a form of answer."""
    input_tokens: int
    output_tokens: int
    cached_tokens: NotRequired[int]
    """The part of `input_tokens` that the server took from its cache; missing if there is none."""
    estimated: bool
    """Whether the token counts are estimates."""
    cost_usd: float | None
    """None if the model's price is not known."""
    outcome: NotRequired[Outcome]
    """The outcome of a mind's own judgement; missing for all other questions."""
    outcomes: NotRequired[dict[str, Outcome]]
    """Outcomes by module, in place of `outcome`, if one answer combines several judgements."""


class Silence(TypedDict):
    """Why a participant is silent for a turn."""

    turn: int
    """Number of the utterance that it did not hear or did not make."""
    step: str
    """"awaken", "hear", "think" or "speak"."""
    why: str
    """The message of its model's error; "passed" for a person who passed."""
    act: NotRequired[int]
    """In a story: the number of the act in which its model failed."""


class Mind(TypedDict, total=False):
    """Everything that one agent carries from turn to turn."""

    name: str
    role: Literal["judge", "companion"]
    """"judge" for the persona judge, which hears and thinks but never speaks; "companion" for an agent in a talk with
    one person; missing for participants."""
    persona: dict[str, Any]
    goals: list[str]
    emotion: dict[str, int]
    need_to_talk: int
    need_reasoning: str
    openness: int
    """Openness to consensus, 0–10; debates only."""
    openness_reasoning: str
    own: Annotated[dict[str, dict[str, Any]], operator.or_]
    """What modules of installed packages judged last, by module: the fields of their answers."""
    action: str
    """"reflect" or "plan": what it chose to do while another participant speaks."""
    plan: dict[str, Any] | None
    """The last plan made (fields of judgement.Plan)."""
    stm: dict[str, Any] | None
    """The one memory in short-term memory."""
    alive: dict[str, int]
    """Long-term memory: id → turn of last access, in order of arrival."""
    pinned: list[str]
    """Ids of profile, topic and social goals, which are never pruned."""
    unsaved: list[dict[str, Any]]
    """Full copies of the memories that Chroma has not confirmed yet."""
    percept: dict[str, Any] | None
    focal_points: list[str]
    recalled: list[Recalled]
    """Best first."""
    insights: list[dict[str, Any]]
    """The last reflection's insights."""
    planned: int
    """With lean cognition: the utterance whose hearing changed the plan last."""
    undigested: int
    """With lean cognition: importance of what it has perceived since its last reflection."""
    utterances: int
    last_spoke: int
    """Turn of its last utterance, 0 if it has not spoken."""
    did: str
    """What it did during the last utterance: "speak", "reflect", "plan" or ""."""
    thought: int
    """Number of the utterance during which it last reflected or planned."""
    weak: Weak | None
    """The failed and the corrected judgements of the last turn that had any."""
    silent: Silence | None
    """Why it is silent for a turn: its model failed, or a person passed; None while it is not."""
    listening: Listening
    """The record of its listening, kept if the setting `listeners` is a number."""
    human: bool
    """Whether a person takes this part: the program asks the person for words, and no model thinks for them."""
    hand: bool
    """Whether a person has raised a hand."""
    passed: int
    """The turn at which a person last passed, 0 if never."""
    pruned: dict[str, Any]
    """What the prompt of its last utterance lacked (state/minds/pruning.py, `Pruned`), if something may be left out."""
    story: StoryMind
    """In a story: beliefs, closeness, support, and what it has in mind."""
    companion: CompanionMind
    """Of a companion: its clock, its day, and who may hear of its memories."""


class Step(Mind, total=False):
    """A mind during one step, with the step's input and what its modules pass to each other; these are not stored."""

    situation: Situation
    heard: Utterance
    needs: dict[str, int]
    """For the speaker: each participant's need to talk, which the utterance records."""
    asked: str
    """For a module of an installed package: its name."""
    said: list[str]
    """For the speaker: texts of the last utterances, oldest first, to check the new one for repetition."""
    avoid: list[str]
    """For the speaker: texts that it must not repeat."""
    puts: Put
    """For the moderator of a focus group: the question of the guide that it puts."""
    positions: list[PositionQuestion]
    """For a person in a focus group: where they are asked to stand."""
    required: bool
    """Whether a failure of the model ends the run: the models of all participants have failed before."""
    beside: bool
    """For the judge's mind: whether agents take the same step; if so, their tasks choose the next node."""
    keep: bool
    """Whether the memory leaving short-term memory is kept (set by memory filtering)."""
    arriving: list[dict[str, Any]]
    """Full copies of the new memories on their way through short-term memory."""
    act: int
    """In a story: the number of the act."""
    asks: str
    """In a story: what a ballot asks for, "guess" or "vote"."""
    question: StoryQuestion
    """In a story, for a person: what their character knows, and what may be answered."""
    trust_change: dict[str, Any] | None
    """Of a companion: how the words change its trust (companion_judgement.TrustChange); None if that is not known."""
    outcomes: Annotated[list[Judged], operator.add]
    """The outcomes of its own judgements, of all modules that were asked."""


def in_step(mind: Mapping[str, Any], **given: Any) -> Step:
    """A mind during one step.

    Args:
        mind: the mind, or those of its keys that the step needs.
        **given: the step's input.
    """
    return cast(Step, {**mind, **given})  # type checkers do not follow ** into a TypedDict


def is_awake(mind: Mapping[str, Any]) -> bool:
    """Whether a mind has awoken; people never do, as no model thinks for them."""
    return bool(mind.get("alive")) or "story" in mind


STORED: Final = frozenset(Mind.__annotations__)
"""Keys of a mind that the conversation keeps."""
