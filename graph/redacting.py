"""Makes LangSmith traces short, and removes what looks like a key.

LangChain's tracer reports the input and the output of every step twice: with 24 steps of minds per turn, that is 2 MB
per utterance. This tracer reports a summary of each step (`graph/telling.py`) once: as soon as a step inside it begins,
or when it is over. It reports requests to models in full when they are answered.

Servers often repeat a wrong key in their refusal. PerSimChat's errors hide it, but LangChain's tracer reports the error
of a request as the server's client raised it.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.langchain import LangChainTracer
from langchain_core.tracers.schemas import Run

from persimchat.graph.langgraph_compat import Tracer
from persimchat.graph.telling import answer_in_short, metadata_in_short, told_input, told_output
from persimchat.models.redaction import redact, scrub

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
