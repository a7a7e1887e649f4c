"""Whether a model is a client of OpenAI's protocol, without loading OpenAI's library, which takes most of a second."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from langchain_openai.chat_models.base import BaseChatOpenAI


def is_openai(model: Any) -> TypeGuard[BaseChatOpenAI]:
    """Whether a model is a client of OpenAI's protocol; no model is while the library is not loaded."""
    if "langchain_openai" not in sys.modules:
        return False
    from langchain_openai.chat_models.base import BaseChatOpenAI

    return isinstance(model, BaseChatOpenAI)
