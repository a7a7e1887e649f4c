"""What is asked of OpenAI's client where it is in use; loading it takes most of a second, and few need it at once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from langchain_openai.chat_models.base import BaseChatOpenAI


def is_openai(model: Any) -> TypeGuard[BaseChatOpenAI]:
    """Whether a model is a client of OpenAI's protocol; where the library is not loaded, none is."""
    if "langchain_openai" not in sys.modules:
        return False
    from langchain_openai.chat_models.base import BaseChatOpenAI

    return isinstance(model, BaseChatOpenAI)
