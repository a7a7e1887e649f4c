"""One agent's mind: one entry of the conversation's `agents`, and in a step the state of the mind's graphs.

Plain values only (they are checkpointed with msgpack). What Chroma holds is not here: a mind knows which of its
memories are alive, when each was last recalled, and how the last retrieval scored them.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NotRequired, cast

from typing_extensions import TypedDict

from persimchat.state.listening import Listening
from persimchat.state.outcomes import Judged, Outcome, Weak


class Utterance(TypedDict):
    """One message to the whole group, or to those who are named in it."""

    turn: int
    """Its number: 1 for the first utterance of a conversation."""
    speaker: str
    text: str
    addressees: list[str]
    """Agents it speaks to by name; empty means the whole group."""
    emotion: dict[str, int]
    """The speaker's emotional state, six emotions 0–10."""
    need_to_talk: dict[str, int]
    """Everybody's need to talk, 0–10, when the speaker was chosen."""
    response_time_s: float
    """Seconds until the utterance was complete, as reported by the model where it reports one, else measured."""
    tokens: dict[str, int]
    """`input` and `output` tokens of the call that worded it."""
    corrections: list[str]
    """What was wrong with the first wording and what became of it, of `state.repetition.CORRECTIONS`; often empty."""
    heard_by: NotRequired[list[str]]
    """A whisper: who hears it beside its speaker (state/visibility.py); everybody where it is missing."""
    edited_by: NotRequired[str]
    """Who put the words into the speaker's mouth: "branch" or "moderator"; missing where they are the speaker's own."""
    answer: NotRequired[str]
    """Debate baselines: the answer that it gives, in the form that was asked for."""
    conditional: NotRequired[str]
    """Debate baselines: the conditions under which it gives that answer; missing where it names none."""
    confidence: NotRequired[float]
    """Debate baselines with confidence: how sure the speaker is of it, 0–1."""


class Situation(TypedDict):
    """What an agent is given of the conversation for one step; never stored in its mind."""

    simulation: str
    topic: str
    turn: int
    """Utterances so far."""
    max_messages: int
    present: list[str]
    """Everybody's names, in order of listing, the agent's own included."""
    rules: list[str]
    relationships: list[dict[str, str]]
    """This agent's relationships: `to`, `type`, `side` ("from" or "to"), `note`."""
    recent: list[Utterance]
    """The last utterances, oldest first."""
    debate: dict[str, Any] | None
    """The answer that a debate is to come to: `format` (state/answer_format.py) and `choices`; None in discussions."""
    closing: bool
    """Whether the end is near, so that it is time to take leave."""


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
    """Requests made: 1, or 2 where the answer had to be asked again; more where the server refused a form of answer."""
    input_tokens: int
    output_tokens: int
    cached_tokens: NotRequired[int]
    """Of `input_tokens` those that the server took from its cache; missing where there were none."""
    estimated: bool
    """True where the token counts are estimates."""
    cost_usd: float | None
    """None where the model's price is not known."""
    outcome: NotRequired[Outcome]
    """How a mind's own judgement came out; missing where something else was asked for."""
    outcomes: NotRequired[dict[str, Outcome]]
    """The same by module, in place of `outcome`, where one answer has the judgements of several."""


class Silence(TypedDict):
    """Why an agent is silent for a turn."""

    turn: int
    """Number of the utterance that it did not hear or did not make."""
    step: str
    """"awaken", "hear", "think" or "speak"."""
    why: str
    """What its model's error says; "passed" for a person who passed."""


class Mind(TypedDict, total=False):
    """Everything that one agent carries from turn to turn."""

    name: str
    role: Literal["judge"]
    """What it is there for where it takes no part: the persona judge, which hears and thinks and never speaks."""
    persona: dict[str, Any]
    goals: list[str]
    emotion: dict[str, int]
    need_to_talk: int
    need_reasoning: str
    openness: int
    """Openness to consensus, 0–10; debates only."""
    openness_reasoning: str
    action: str
    """"reflect" or "plan": what it chose to do while somebody else speaks."""
    plan: dict[str, Any] | None
    """The last plan made (fields of judgement.Plan)."""
    stm: dict[str, Any] | None
    """The one memory in short-term memory."""
    alive: dict[str, int]
    """Long-term memory: id → turn of last access, in order of arrival."""
    pinned: list[str]
    """Ids of profile, topic and social goals, which are never pruned."""
    unsaved: list[dict[str, Any]]
    """Memories that Chroma has not confirmed yet, whole."""
    percept: dict[str, Any] | None
    focal_points: list[str]
    recalled: list[Recalled]
    """Best first."""
    insights: list[dict[str, Any]]
    """The last reflection's insights."""
    utterances: int
    last_spoke: int
    """Turn of its last utterance, 0 if it has not spoken."""
    did: str
    """What it did while the last utterance was made: "speak", "reflect", "plan" or ""."""
    thought: int
    """Number of the utterance during which it reflected or planned last."""
    weak: Weak | None
    """What was wrong with its judgements in the last turn in which anything was."""
    silent: Silence | None
    """Since its model failed it is silent for a turn; None while it is not."""
    listening: Listening
    """What it keeps of its listening, where the setting `listeners` is a number."""
    human: bool
    """A person takes this part: they are asked for their words, and no model thinks for them."""
    hand: bool
    """A person's raised hand."""
    passed: int
    """Turn at which a person was asked last and passed, 0 if never."""


class Step(Mind, total=False):
    """A mind in one step: what it is given for it, and what its modules hand on to each other; stored nowhere."""

    situation: Situation
    heard: Utterance
    needs: dict[str, int]
    """Everybody's need to talk, given to the speaker, whose utterance carries it."""
    said: list[str]
    """Texts of the last utterances, oldest first, given to the speaker, whose words are compared with them."""
    avoid: list[str]
    """What the speaker is not to say again."""
    required: bool
    """Whether a failing model is an error now: everybody's has failed."""
    beside: bool
    """Given to the judge's mind: whether others take the same step, who lead the conversation on."""
    keep: bool
    """Whether the memory leaving short-term memory is kept (set by memory filtering)."""
    arriving: list[dict[str, Any]]
    """New memories on their way through short-term memory, whole."""
    outcomes: Annotated[list[Judged], operator.add]
    """How its own judgements came out, of all modules that were asked."""


def in_step(mind: Mapping[str, Any], **given: Any) -> Step:
    """A mind in one step.

    Args:
        mind: what it carries, or what of that the step needs.
        **given: what it is given for the step.
    """
    return cast(Step, {**mind, **given})


STORED: Final = frozenset(Mind.__annotations__)
"""Keys of a mind that the conversation keeps."""
