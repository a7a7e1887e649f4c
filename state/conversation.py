"""The conversation's channels and their reducers: what the outer graph keeps from turn to turn."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, convert_to_messages
from langgraph.channels.delta import DeltaChannel
from pydantic import Field, TypeAdapter
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

from .debates.verdict import Conclusion, VerdictRecord
from .minds.addressing import addressees
from .minds.mind import Mind, Utterance
from .outcomes import Streak, add_outcomes, add_to_streaks
from .persona import RELATIONSHIP_TYPES, Persona, Relationship


def append_messages(messages: Sequence[Any], writes: Sequence[Any]) -> list[AnyMessage]:
    """Reducer of `messages`: append, replacing a message that has the same id (a retried or resumed node).

    Args:
        messages: the channel's value so far; not changed.
        writes: lists of messages (or single ones), oldest first; also in the other forms that LangChain accepts:
            mappings as the LangGraph server sends and stores them, pairs of role and text, plain text.
    """
    result = _messages(messages)
    index = {m.id: i for i, m in enumerate(result) if m.id is not None}
    for write in writes:
        for message in _messages(write if isinstance(write, list) else [write]):
            if message.id is not None and message.id in index:
                result[index[message.id]] = message
            else:
                if message.id is not None:
                    index[message.id] = len(result)
                result.append(message)
    return result


_STORED: Final[TypeAdapter[AnyMessage]] = TypeAdapter(AnyMessage)


def _messages(given: Sequence[Any]) -> list[AnyMessage]:
    return [_message(message) for message in given]


def _message(given: Any) -> AnyMessage:
    if isinstance(given, BaseMessage):
        return cast(AnyMessage, given)  # AnyMessage is the union of LangChain's subclasses of BaseMessage
    if isinstance(given, dict) and "type" in given and "role" not in given:
        return _STORED.validate_python(given)  # as `model_dump()` gives it, every field in its place
    return cast(AnyMessage, convert_to_messages([given])[0])


def merge_minds(minds: dict[str, Any], writes: Sequence[Any]) -> dict[str, Any]:
    """Reducer of `agents`: a write replaces only the keys that it names, of the minds that it names.

    Args:
        minds: by name; not changed.
        writes: updates by name, or lists of them, oldest first. None in place of a mind removes the agent.
    """
    result = dict(minds)
    for write in writes:
        for update in write if isinstance(write, list) else [write]:
            for name, mind in update.items():
                if mind is None:
                    result.pop(name, None)
                else:
                    result[name] = {**result.get(name, {}), **mind}
    return result


def latest_usage(usage: dict[str, dict[str, Any]], writes: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Reducer of `usage`: of each row, keep the version that counts the most requests.

    So parallel steps may write in any order.

    Args:
        usage: rows by "module|agent|model"; not changed.
        writes: rows in the same form. Lists, which an earlier version wrote, are ignored: its runs have own records.
    """
    result = dict(usage)
    for write in writes:
        for key, row in write.items() if isinstance(write, dict) else ():
            if key not in result or row["calls"] >= result[key]["calls"]:
                result[key] = row
    return result


def by_turn(records: Sequence[Any], writes: Sequence[Any]) -> list[dict[str, Any]]:
    """Reducer of records that carry a `turn`: append, replacing the one of the same turn; in order of turns.

    Args:
        records: the channel's value so far; not changed.
        writes: lists of records, oldest first. None empties the channel.
    """
    result = {record["turn"]: record for record in records}
    for write in writes:
        result = {} if write is None else {**result, **{record["turn"]: record for record in write}}
    return [result[turn] for turn in sorted(result)]


def append_records(records: Sequence[Any], writes: Sequence[Any]) -> list[dict[str, Any]]:
    """Reducer of records in order: append. None empties the channel.

    Args:
        records: the channel's value so far; not changed.
        writes: lists of records, oldest first.
    """
    result = list(records)
    for write in writes:
        result = [] if write is None else [*result, *write]
    return result


SNAPSHOT = 16
"""Every so many changes, a checkpoint holds the whole channel; the checkpoints in between hold only what changed."""

Messages = Annotated[
    list[AnyMessage],
    Field(description="the utterances, oldest first; a human message before the first one is the topic"),
    DeltaChannel(append_messages, snapshot_frequency=SNAPSHOT),
]
Minds = Annotated[dict[str, Mind], DeltaChannel(merge_minds, snapshot_frequency=SNAPSHOT)]
Verdicts = Annotated[list[VerdictRecord], DeltaChannel(by_turn, snapshot_frequency=SNAPSHOT)]
Scores = Annotated[list[dict[str, Any]], DeltaChannel(by_turn, snapshot_frequency=SNAPSHOT)]
CarriedOut = Annotated[list[dict[str, Any]], DeltaChannel(append_records, snapshot_frequency=SNAPSHOT)]
Judgements = Annotated[dict[str, dict[str, int]], DeltaChannel(add_outcomes, snapshot_frequency=SNAPSHOT)]
Streaks = Annotated[dict[str, Streak], DeltaChannel(add_to_streaks, snapshot_frequency=SNAPSHOT)]
Usage = Annotated[dict[str, dict[str, Any]], DeltaChannel(latest_usage, snapshot_frequency=SNAPSHOT)]


# Studio makes its form from these schemas. They check nothing: `assemble` validates a conversation's input.
_RELATIONSHIP: Final[dict[str, Any]] = Relationship.model_json_schema()
_RELATIONSHIP["properties"]["type"]["enum"] = list(RELATIONSHIP_TYPES)
_PARTICIPANT: Final[dict[str, Any]] = {
    "anyOf": [{"type": "string"}, {**Persona.model_json_schema(), "required": ["name"]}]
}


class ConversationInput(TypedDict, total=False):
    """What starts a conversation. Only a topic (or a message that holds it) and participants are needed."""

    topic: Annotated[
        str, Field(max_length=8000, description="what the conversation is about; if empty, the last human message")
    ]
    messages: Messages
    participants: Annotated[
        list[Any],
        Field(
            max_length=100,
            description="who takes part, in order of listing: names of shipped personas, or personas written out; if "
            "empty, the first four shipped ones",
            json_schema_extra={"default": [], "items": _PARTICIPANT},
        ),
    ]
    relationships: Annotated[
        list[dict[str, Any]],
        Field(description="between pairs of participants", json_schema_extra={"default": [], "items": _RELATIONSHIP}),
    ]
    social_goals: Annotated[
        dict[str, list[str]],
        Field(
            description="participant's name: goals for this conversation, beside the persona's own",
            json_schema_extra={"default": {}},
        ),
    ]
    rules: Annotated[
        list[str],
        Field(description="rules of the conversation that all participants know", json_schema_extra={"default": []}),
    ]
    guide: Annotated[
        dict[str, Any],
        Field(
            description="a focus group's guide: moderator, questions, stimulus, positions",
            json_schema_extra={"default": None},
        ),
    ]
    simulation: Annotated[str, SkipJsonSchema()]
    """The run's id, which also names its collections of memories; if missing, it is made from the thread's id."""


class Conversation(ConversationInput, total=False):
    """The outer graph's channels. They hold plain values and LangChain messages only."""

    agents: Minds
    """Minds by agent's name, in order of listing (state/minds/mind.py); in debates a persona judge's comes last."""
    turn: int
    """Utterances so far: the simulation's clock."""
    stop_reason: str
    """Why the conversation ended; empty until then."""
    stop_source: str
    """The rule that ended it: "message_limit", "closing", "guide", "judge", a baseline's name; empty until then."""
    stop_detail: str
    """The rule's explanation, one sentence; empty until the end."""
    verdicts: Verdicts
    """The judge's verdicts, one per utterance judged (state/debates/verdict.py)."""
    conclusion: Conclusion | None
    """The conclusion of a debate; None until its end, and in discussions."""
    closing: str
    """Why it is time to take leave, "near_limit" or "low_needs"; empty while it is not."""
    closing_since: int
    """The turn at which that began."""
    quiet: int
    """The number of last utterances in a row after which no need to talk was above `closing_need`."""
    checked: int
    """The turn of the last end check."""
    selected: dict[str, Any]
    """pattern=selector: `speaker`, `reasoning`, and the `turn` for which the selector named the speaker."""
    scores: Scores
    """Analysis: `turn`, `speaker`, `reasoning`, `coherence`, `sentiment`, `engagement`, one record per utterance."""
    carried_out: CarriedOut
    """The interventions carried out and the answers of people, each with the `turn` at which it took effect."""
    interventions: list[dict[str, Any]]
    """The interventions that are still to be carried out, in order (state/intervention.py)."""
    usage: Usage
    """Requests, tokens and cost so far, by "module|agent|model"; empty if a run's ledger records them."""
    judgements: Judgements
    """The outcomes of the minds' judgements, counted by "module|model" (state/outcomes.py)."""
    streaks: Streaks
    """By module: how long it has failed for all participants."""


class ConversationOutput(TypedDict, total=False):
    """What a finished conversation returns to its caller."""

    messages: Messages
    turn: int
    stop_reason: str
    stop_source: str
    stop_detail: str
    conclusion: Conclusion | None
    verdicts: Verdicts
    scores: Scores
    usage: Usage


def participants(state: Mapping[str, Any]) -> dict[str, Mind]:
    """The participants' minds by name, in order of listing; without the persona judge's."""
    return {name: mind for name, mind in state.get("agents", {}).items() if mind.get("role") != "judge"}


def judge_mind(state: Mapping[str, Any]) -> Mind | None:
    """The persona judge's mind; None with other judges and in discussions."""
    return next((mind for mind in state.get("agents", {}).values() if mind.get("role") == "judge"), None)


def new_utterance(
    turn: int,
    speaker: str,
    text: str,
    present: Sequence[str],
    *,
    called: Mapping[str, Sequence[str]] | None = None,
    addressing: str | None = None,
    **more: Any,
) -> Utterance:
    """An utterance; what is not given is as of words that no model was asked for.

    Args:
        turn: its number.
        speaker: who says it.
        text: the words.
        present: all participants' names.
        called: other forms of their names.
        addressing: the words that may name others, if these are not all of them.
        **more: further fields of `Utterance`; those that are None are missing.
    """
    made = {
        "turn": turn,
        "speaker": speaker,
        "text": text,
        "addressees": addressees(text if addressing is None else addressing, speaker, present, called),
        "emotion": {},
        "need_to_talk": {},
        "response_time_s": 0.0,
        "tokens": {"input": 0, "output": 0},
        "corrections": [],
        **{name: value for name, value in more.items() if value is not None},
    }
    return cast(Utterance, made)


def as_message(utterance: Utterance, message_id: str, *, by_person: bool = False) -> AIMessage | HumanMessage:
    """An utterance as the LangChain message that the `messages` channel keeps: `name` is the speaker."""
    kind = HumanMessage if by_person else AIMessage
    return kind(
        content=utterance["text"],
        name=utterance["speaker"],
        id=message_id,
        additional_kwargs={"utterance": dict(utterance)},
    )


_UTTERANCES: Final = uuid.UUID("6f0c1d1e-8a53-4c0e-9b0e-5a1f6a0f7f55")


def utterance_id(simulation: str, turn: int) -> str:
    """The id of the message that holds a simulation's utterance of this number: the same in every repetition."""
    return str(uuid.uuid5(_UTTERANCES, f"{simulation}/{turn}"))


def utterances(messages: Iterable[AnyMessage]) -> list[Utterance]:
    """The utterances among a conversation's messages, in their order."""
    return list(each_utterance(messages))


def each_utterance(messages: Iterable[AnyMessage]) -> Iterator[Utterance]:
    """The utterances among a conversation's messages, one by one, lazily."""
    return (m.additional_kwargs["utterance"] for m in messages if "utterance" in m.additional_kwargs)
