"""Makes LangSmith traces short, and removes what looks like a key.

LangChain's tracer reports the input and the output of every step twice: with 24 steps of minds per turn, that is 2 MB
per utterance. This tracer reports a summary of each step once: as soon as a step inside it begins, or when it is over.
It reports requests to models in full when they are answered.

Servers often repeat a wrong key in their refusal. PerSimChat's errors hide it, but LangChain's tracer reports the error
of a request as the server's client raised it.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.langchain import LangChainTracer
from langchain_core.tracers.schemas import Run
from langgraph.types import Command

from ..models.redaction import redact, scrub
from ..state.minds.mind import Utterance
from .langgraph_compat import Tracer

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


_WAITS: Final = "__persimchat_waits"
"""Mark of a run that is not reported yet; it never leaves the process."""
_ASKED: Final = "asked"
"""Value of the mark for a run that has asked a model."""
_FORM: Final = "ls_structured_output_format"
"""The requested form of answer, which the request's own parameters also have."""
_TIMES: Final = ("start", "end")
"""Events that repeat a run's start and end times."""


class Redacting(Tracer):
    """LangChain's tracer, which removes what looks like a key from errors, and does not keep what it has reported.

    It reports a step when a step inside it begins, or else when it is over. It does not report a step that changed
    nothing and asked no model.
    """

    def nested(self, run: Run) -> None:
        """Report the parent of a run, or mark it as having asked a model."""
        parent = self._waiting_parent(run)
        if parent is not None and run.run_type == "llm":
            parent.extra[_WAITS] = _ASKED
        elif parent is not None:
            self._tell(parent)

    def _waiting_parent(self, run: Run) -> Run | None:
        parent = self.parent_of(run)
        return parent if parent is not None and parent.extra.get(_WAITS) else None

    def model_began(self, run: Run) -> None:
        """Wait for the answer."""
        run.extra[_WAITS] = True

    def step_began(self, run: Run) -> None:
        """Wait for the steps inside; report the root at once."""
        run.extra[_WAITS] = True
        if run.parent_run_id is None:
            run.reference_example_id = self.example_id
            self._tell(run)

    def step_over(self, run: Run) -> None:
        """Report a step that changed something, failed, asked a model or was reported before."""
        run.outputs = told_output(run.inputs, run.outputs, _turn(run))
        if run.outputs or run.error or run.extra.get(_WAITS) in (None, _ASKED):
            self.ended(run)

    def _tell(self, run: Run) -> None:
        """Report a run as far as it is known."""
        del run.extra[_WAITS]
        whole = run.inputs
        asked = run.extra.get("invocation_params")
        run.extra["metadata"] = metadata_in_short(run.extra.get("metadata"), asked)
        self.tracing_metadata = metadata_in_short(self.tracing_metadata, asked)
        run.events = [event for event in run.events or () if event.get("name") not in _TIMES]
        if run.run_type == "llm":
            parent = self._waiting_parent(run)
            if parent is not None and getattr(self.client, "tracing_mode", "otel") != "langsmith":
                self._tell(parent)  # exporters to OpenTelemetry need parents first
            run.extra["options"] = {k: v for k, v in (run.extra.get("options") or {}).items() if k != _FORM}
            run.outputs = answer_in_short(run.outputs or {})
            if (run.serialized or {}).get("type") == "not_implemented":
                run.serialized = None  # it holds no information
        else:
            run.inputs = told_input(whole, _turn(run))
        try:
            self.tell(run)
        finally:
            run.inputs = whole  # `step_over` compares them with the outputs

    def ended(self, run: Run) -> None:
        """Report what was not reported before."""
        if run.extra.get(_WAITS):
            self._tell(run)
            return
        if run.extra.get("__disabled"):
            return
        whole = run.extra
        run.extra, run.events = None, []  # type: ignore[assignment]
        try:
            run.patch(exclude_inputs=True)
        finally:
            run.extra = whole

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **given: Any) -> Any:
        """Report the words until the error, without the server's refusal, which may repeat the key."""
        response: LLMResult | None = given.get("response")
        for generation in (one for several in response.generations for one in several) if response else ():
            if isinstance(generation, ChatGeneration):
                generation.message = generation.message.model_copy(update={"response_metadata": {}})
        return super().on_llm_error(error, run_id=run_id, **given)

    def error_text(self, error: BaseException) -> str:
        """An error's text without what looks like a key."""
        scrub(error)  # the traceback also prints the causes of the error
        return redact(super().error_text(error))


def redact_told(manager: BaseCallbackManager) -> bool:
    """Replace LangChain's tracers by tracers that redact; they keep their place in an existing tree of runs.

    Args:
        manager: its handlers are replaced in place.

    Returns:
        Whether it has any tracer.
    """
    new = {id(handler): _redacting(handler) for handler in manager.handlers}
    inherited = {id(handler) for handler in manager.inheritable_handlers}
    found = [handler for handler in new.values() if isinstance(handler, Redacting)]
    manager.inheritable_handlers = [h for key, h in new.items() if key in inherited or h in found]
    manager.handlers = list(new.values())
    return bool(found)


def _redacting(handler: Any) -> Any:
    if not isinstance(handler, LangChainTracer) or isinstance(handler, Redacting):
        return handler
    changed = copy(handler)
    changed.__class__ = Redacting
    return changed


def _turn(run: Run) -> int | None:
    """The turn of a run that is traced turn by turn; else None."""
    turn = (run.extra.get("metadata") or {}).get("turn")
    return turn if isinstance(turn, int) else None
