"""Summaries of PerSimChat's own steps for traces: who did what and what changed, not whole minds and conversations.

Pure functions of the data that LangChain's tracer has of a run. Requests to models and their answers are traced in
full, in runs of their own; the run's files have the memories of minds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from langchain_core.messages import BaseMessage
from langgraph.types import Command

from persimchat.state.mind import Utterance

_LEFT_OUT: Final = frozenset(
    {
        "persona",
        "goals",
        "pinned",
        "situation",
        "needs",
        "said",
        "outcomes",
        "usage",
        "judgements",
        "streaks",
        "simulation",
    }
    | {"keep", "required", "beside", "role"}
)
"""Keys that are the same at every step, or are in the requests to models."""
_SHOWN: Final = ("name", "emotion", "need_to_talk", "openness", "action", "did", "silent", "hand")
"""Keys of a mind whose values a step's summary contains; of other keys, only the names."""
_OF_LANGGRAPH: Final = ("langgraph_", "checkpoint_ns")
"""Prefixes of metadata about LangGraph's path to a step, which names, tags and the tree of runs also show."""
_BEST: Final = 5
"""The number of recalled memories with scores in a summary; of the others, only the number."""
_LONGEST: Final = 500
"""The most characters of a text in a summary, unless it is an utterance."""


def told_input(given: Any, turn: int | None = None) -> dict[str, Any]:
    """A summary of a step's input.

    Args:
        given: a mind, a conversation, or a conversation's input.
        turn: number of the utterance being made; earlier ones are left out.
    """
    if not isinstance(given, Mapping):
        return {}
    if "persona" in given:
        return _step_of(given)
    if not given.get("agents"):
        return {key: _told(key, value, turn) for key, value in given.items() if _says(key, value)}
    messages = given.get("messages")
    said = _utterance(messages[-1]) if isinstance(messages, list) and messages else None
    shown = ("turn", "closing", "stop_reason", "interventions", "selected")
    return {
        **{key: given[key] for key in shown if given.get(key)},
        **({"said": _line(said["speaker"], said["text"])} if said else {}),
    }


def told_output(given: Any, made: Any, turn: int | None = None) -> dict[str, Any]:
    """A summary of a step's changes.

    Args:
        given: the step's input.
        made: the step's output: an update, a `Command` with an update, or the whole mind or conversation afterwards.
        turn: number of the utterance being made; earlier ones are left out.
    """
    match made:
        case {"output": Command(update=update)}:
            made = update
    if not isinstance(made, Mapping):
        return {}
    if isinstance(given, Mapping) and "persona" in given and "persona" in made:
        return _change({key: value for key, value in made.items() if key not in given or given[key] != value})
    told = {key: _told(key, value, turn) for key, value in made.items() if _says(key, value)}
    return {key: value for key, value in told.items() if value not in ({}, [])}


def metadata_in_short(metadata: Mapping[str, Any] | None, asked: Mapping[str, Any] | None) -> dict[str, Any]:
    """A run's metadata without LangGraph's path to it, and without values that its request also has.

    Args:
        metadata: of the run, or added to it by LangChain.
        asked: a request's parameters (`invocation_params`); None for other runs.
    """
    again = {
        key for key, value in (metadata or {}).items() if isinstance(value, dict) and value == (asked or {}).get(key)
    }
    return {k: v for k, v in (metadata or {}).items() if k not in again and not k.startswith(_OF_LANGGRAPH)}


def answer_in_short(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """A model's answer without `llm_output`, if that repeats the metadata of the answer."""
    told = dict(outputs)
    beside = told.get("llm_output") or {}
    for generation in (one for several in told.get("generations") or () for one in several):
        known = generation.get("message", {}).get("kwargs", {}).get("response_metadata", {})
        if all(known.get(key) == value for key, value in beside.items()):
            told["llm_output"] = None
    return told


def _says(key: str, value: Any) -> bool:
    return key not in _LEFT_OUT and value is not None and value != [] and value != {}


def _step_of(mind: Mapping[str, Any]) -> dict[str, Any]:
    """The agent of a step, its turn, and the utterance that it heard."""
    told = {"agent": mind.get("name", "")}
    match mind.get("situation"):
        case {"turn": turn}:
            told["turn"] = turn
    match mind.get("heard"):
        case {"speaker": speaker, "text": text}:
            told["heard"] = _cut(_line(speaker, text))
    return told


def _told(key: str, value: Any, turn: int | None) -> Any:
    """A summary of one value; a value of an unexpected form is not summarised."""
    match key, value:
        case "messages", _:
            return _lines(value, turn)
        case "agents", {}:
            return {name: _change(mind) for name, mind in value.items() if isinstance(mind, Mapping)}
        case "participants", [*people]:
            return [who.get("name", "") if isinstance(who, Mapping) else _cut(str(who)) for who in people]
        case "alive", {}:
            return len(value)
        case "unsaved" | "arriving", [*memories]:
            return [_memory(one) for one in memories]
        case "stm", {}:
            return _memory(value)
        case "recalled", [{"id": _, "score": _}, *_]:
            best = [{"id": one.get("id"), "score": one.get("score")} for one in value[:_BEST]]
            return {"memories": len(value), "best": best}
    return _cut(value) if isinstance(value, str) else value


def _change(mind: Mapping[str, Any]) -> dict[str, Any]:
    """The changes of a mind: values of levels and choices, names of other keys, whose values the inner steps report."""
    told = {key: value for key, value in mind.items() if key in _SHOWN and value not in (None, "")}
    rest = sorted(key for key, value in mind.items() if key not in told and _says(key, value))
    return {**told, **({"also": rest} if rest else {})}


def _memory(memory: Any) -> str:
    match memory:
        case {"kind": kind, "theme": theme}:
            return _cut(f"{kind}: {theme}")
    return _cut(str(memory))


def _lines(messages: Any, turn: int | None) -> list[str]:
    """Utterances, one per line, and the text of other messages."""
    lines = []
    for message in messages if isinstance(messages, list) else [messages]:
        said = _utterance(message)
        if said and (turn is None or said["turn"] >= turn):
            lines.append(_line(said["speaker"], said["text"]))
        elif not said and turn is None:
            lines.append(_cut(str(getattr(message, "text", message))))
    return lines


def _utterance(message: Any) -> Utterance | None:
    """The utterance in a message; None if it has none."""
    return message.additional_kwargs.get("utterance") if isinstance(message, BaseMessage) else None


def _line(speaker: str, text: str) -> str:
    return f"{speaker}: {text}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
