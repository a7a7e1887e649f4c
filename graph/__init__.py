"""Wiring only: the conversation, hearing, thinking, and who speaks next."""

from persimchat.graph.conversation import build_conversation

__all__ = ["build_conversation"]
