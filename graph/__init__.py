"""Wiring only: the conversation, hearing, thinking, and who speaks next."""

from typing import TYPE_CHECKING

from ..state.public_names import loader

if TYPE_CHECKING:
    from .conversation import build_conversation

__all__ = ["build_conversation"]

__getattr__ = loader(
    __name__,
    {
        "build_conversation": "graph.conversation",
    },
)
