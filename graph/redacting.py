"""What LangSmith is told of a conversation, wherever it is held: in short, and nothing that looks like a key.

LangChain's tracer tells what every step was given and made, twice: with 24 steps of minds a turn that is 2 MB an
utterance. Here a step is told in short (`graph/telling.py`), and once: as soon as something in it begins or it is over.
Requests to models are told whole, when they are answered.

Servers like to repeat a wrong key in their refusal. Our own errors hide it, but LangChain's tracer tells the error of a
request as the server's client raised it.
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
"""Mark of a run that is not told yet; it never leaves the process."""
_ASKED: Final = "asked"
"""The mark of one that has asked a model meanwhile."""
_FORM: Final = "ls_structured_output_format"
"""The form of the answer that is asked for, which the request's own parameters have, too."""
_TIMES: Final = ("start", "end")
"""Events that say what a run's own times say."""


class Redacting(Tracer):
    """LangChain's tracer; what looks like a key in an error's text is left out, and what was told is not kept.

    A step is told when a step in it begins, else when it is over; one that changed nothing and asked no model is not
    told at all.
    """

    def nested(self, run: Run) -> None:
        """Tell the step around a run, or note that it asks a model."""
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
        """Wait for what happens in it; the root is told at once."""
        run.extra[_WAITS] = True
        if run.parent_run_id is None:
            run.reference_example_id = self.example_id
            self._tell(run)

    def step_over(self, run: Run) -> None:
        """Tell a step that changed something, failed, asked a model or was told before."""
        run.outputs = told_output(run.inputs, run.outputs, _turn(run))
        if run.outputs or run.error or run.extra.get(_WAITS) in (None, _ASKED):
            self.ended(run)

    def _tell(self, run: Run) -> None:
        """Tell a run, as far as it is known."""
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
                run.serialized = None  # says only that it says nothing
        else:
            run.inputs = told_input(whole, _turn(run))
        try:
            self.tell(run)
        finally:
            run.inputs = whole  # what has changed is found out at its end

    def ended(self, run: Run) -> None:
        """Tell what was not told before."""
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
        """What was said until then is told; the server's refusal, which may repeat the key, only as the error."""
        response: LLMResult | None = given.get("response")
        for generation in (one for several in response.generations for one in several) if response else ():
            if isinstance(generation, ChatGeneration):
                generation.message = generation.message.model_copy(update={"response_metadata": {}})
        return super().on_llm_error(error, run_id=run_id, **given)

    def error_text(self, error: BaseException) -> str:
        """An error without what looks like a key."""
        scrub(error)  # the traceback prints what the error was raised from, too
        return redact(super().error_text(error))


def redact_told(manager: BaseCallbackManager) -> bool:
    """Put tracers that redact in place of LangChain's own, with their place in a tree that is there already.

    Args:
        manager: whose handlers are replaced, in place.

    Returns:
        Whether it has such a tracer at all.
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
    """The turn that a run belongs to, where it is told turn by turn."""
    turn = (run.extra.get("metadata") or {}).get("turn")
    return turn if isinstance(turn, int) else None
