"""What a trace is told of our own steps: who did what and what changed, in place of whole minds and conversations.

Pure functions of what LangChain's tracer has of a run. What the requests to models say and are answered stands whole
in runs of their own; a mind's memories are in the run's files.
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
"""What is the same at every step, or stands in the requests to models."""
_SHOWN: Final = ("name", "emotion", "need_to_talk", "openness", "action", "did", "silent", "hand")
"""What is told of a mind where others tell the rest."""
_OF_LANGGRAPH: Final = ("langgraph_", "checkpoint_ns")
"""Metadata in which LangGraph says how it came to a step; names, tags and the tree say that, too."""
_BEST: Final = 5
"""Recalled memories that are told with their scores; of the others, how many there are."""
_LONGEST: Final = 500
"""Signs of a text that are told where it is no utterance."""


def told_input(given: Any, turn: int | None = None) -> dict[str, Any]:
    """What a step was given, in short.

    Args:
        given: a mind, the conversation, or what begins one.
        turn: number of the utterance that is made; what was said before it is not told.
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
    """What a step has changed, in short.

    Args:
        given: what the step was given.
        made: what it made of that: an update, also one that says where it leads, or the whole mind or conversation
            afterwards.
        turn: number of the utterance that is made; what was said before it is not told.
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
    """A run's metadata without what says how LangGraph came to it, and without what its request has, too.

    Args:
        metadata: of the run, or what LangChain adds to it.
        asked: a request's parameters (`invocation_params`); None for other runs.
    """
    again = {
        key for key, value in (metadata or {}).items() if isinstance(value, dict) and value == (asked or {}).get(key)
    }
    return {k: v for k, v in (metadata or {}).items() if k not in again and not k.startswith(_OF_LANGGRAPH)}


def answer_in_short(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """What a model answered, without what LangChain writes beside it a second time (`llm_output`)."""
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
    """Whose step it is, and of which utterance."""
    told = {"agent": mind.get("name", "")}
    match mind.get("situation"):
        case {"turn": turn}:
            told["turn"] = turn
    match mind.get("heard"):
        case {"speaker": speaker, "text": text}:
            told["heard"] = _cut(_line(speaker, text))
    return told


def _told(key: str, value: Any, turn: int | None) -> Any:
    """One value in short; what is not as it should be is nobody's mind, and is told as it is."""
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
    """What has changed of a mind: levels and choices; of the rest, which. The steps below tell what that is."""
    told = {key: value for key, value in mind.items() if key in _SHOWN and value not in (None, "")}
    rest = sorted(key for key, value in mind.items() if key not in told and _says(key, value))
    return {**told, **({"also": rest} if rest else {})}


def _memory(memory: Any) -> str:
    match memory:
        case {"kind": kind, "theme": theme}:
            return _cut(f"{kind}: {theme}")
    return _cut(str(memory))


def _lines(messages: Any, turn: int | None) -> list[str]:
    """Utterances, one a line; of messages that are none, their text."""
    lines = []
    for message in messages if isinstance(messages, list) else [messages]:
        said = _utterance(message)
        if said and (turn is None or said["turn"] >= turn):
            lines.append(_line(said["speaker"], said["text"]))
        elif not said and turn is None:
            lines.append(_cut(str(getattr(message, "text", message))))
    return lines


def _utterance(message: Any) -> Utterance | None:
    """The utterance that a message holds, if it does."""
    return message.additional_kwargs.get("utterance") if isinstance(message, BaseMessage) else None


def _line(speaker: str, text: str) -> str:
    return f"{speaker}: {text}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
