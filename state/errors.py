"""Typed errors: what went wrong, where, and what to do about it.

Everything that can reach a user derives from `PerSimChatError`; its `str()` is one line. Programming errors stay
ordinary Python exceptions.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class PerSimChatError(Exception):
    """Any failure that PerSimChat reports to its user.

    Args:
        what: what went wrong, a clause without a full stop.
        where: where it went wrong (file and line, field, agent, module, model, turn); may be empty.
        remedy: what to do about it, a sentence; may be empty.
    """

    exit_code = 1
    """The command line's exit code for this kind of failure."""

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        message = f"{what} ({where})" if where else what
        super().__init__(" ".join((f"{message}. {remedy}" if remedy else message).split()))


class InputError(PerSimChatError):
    """Something the user gave is wrong: a file, a setting, a name, an argument."""

    exit_code = 2


class MissingExtraError(InputError):
    """Something was asked for that needs an optional dependency which is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs an optional part that is not installed",
            remedy=f"Install it with: pip install 'persimchat[{extra}]'",
        )


class ModelError(PerSimChatError):
    """A language or embedding model failed for good, or answered wrongly twice.

    Args:
        what: what went wrong.
        agent: the agent on whose behalf the model was asked; empty where there is none.
        module: the cognitive module that asked.
        model: the model's name, as the user wrote it.
        turn: the number of utterances so far.
        remedy: what to do about it.
    """

    exit_code = 3

    def __init__(
        self, what: str, *, model: str, agent: str = "", module: str = "", turn: int | None = None, remedy: str = ""
    ) -> None:
        self.agent, self.module, self.model, self.turn = agent, module, model, turn
        parts = {"agent": agent, "module": module, "model": model, "turn": "" if turn is None else str(turn)}
        super().__init__(what, where=", ".join(f"{k} {v}" for k, v in parts.items() if v), remedy=remedy)


def suggestion(word: str, valid: Iterable[str]) -> str:
    """A remedy sentence naming the valid word nearest to `word`, or all valid words where none is near."""
    choices = list(valid)
    near = get_close_matches(word, choices, n=1, cutoff=0.6)
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"Choose one of: {', '.join(choices)}."
