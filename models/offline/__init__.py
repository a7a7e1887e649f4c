"""The offline model: a small stochastic model of conversation, not a language model."""

from .chat_model import NOTICE, OfflineChatModel

__all__ = ["NOTICE", "OfflineChatModel"]
