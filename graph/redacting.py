"""What LangSmith is told of errors: not what looks like a key, wherever a conversation is held.

Servers like to repeat a wrong key in their refusal. Our own errors hide it, but LangChain's tracer tells the error of a
request as the server's client raised it.
"""

from __future__ import annotations

from copy import copy
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.langchain import LangChainTracer

from persimchat.models.redaction import redact, scrub


class Redacting(LangChainTracer):
    """LangChain's tracer; what looks like a key in an error's text is left out, and what was told is not kept."""

    @staticmethod
    def _add_child_run(parent_run: Any, child_run: Any) -> None:
        """Else the root would keep every state of the conversation in memory until its end."""

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **given: Any) -> Any:
        """What was said until then is told; the server's refusal, which may repeat the key, only as the error."""
        response: LLMResult | None = given.get("response")
        for generation in (one for several in response.generations for one in several) if response else ():
            if isinstance(generation, ChatGeneration):
                generation.message = generation.message.model_copy(update={"response_metadata": {}})
        return super().on_llm_error(error, run_id=run_id, **given)

    @staticmethod
    def _get_stacktrace(error: BaseException) -> str:
        scrub(error)  # the traceback prints what the error was raised from, too
        return redact(LangChainTracer._get_stacktrace(error))


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
