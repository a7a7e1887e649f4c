"""Typed errors: what went wrong, where, and what to do about it.

Everything that can reach a user derives from `PerSimChatError`; its `str()` is one line. Programming errors stay
ordinary Python exceptions.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Self

from .plain_text import capitalised
from .secrets import without_secrets


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
        what, where, remedy = map(without_secrets, (what, where, remedy))
        self.what = what
        self.where = where
        self.remedy = remedy
        message = f"{what} ({where})" if where else what
        super().__init__(" ".join((f"{message}. {remedy}" if remedy else message).split()))

    @property
    def sentence(self) -> str:
        """What went wrong and what to do, as sentences; without the place, for where it is marked."""
        return capitalised(" ".join(f"{self.what}. {self.remedy}".split()))

    def model_dump(self) -> dict[str, str]:
        """The error as plain data: LangGraph's server shows its clients no more of an error than this."""
        return {"error": type(self).__name__, "message": str(self)}


class InputError(PerSimChatError):
    """Something the user gave is wrong: a file, a setting, a name, an argument."""

    exit_code = 2


class MissingExtraError(InputError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, what: str, extra: str, *, otherwise: str = "") -> None:
        install = f"Install it with: pip install 'persimchat[{extra}]'"
        super().__init__(
            f"{what} needs an optional part that is not installed",
            remedy=f"{install}, or {otherwise}" if otherwise else install,
        )


class ModelError(PerSimChatError):
    """A language or embedding model failed permanently, or gave an invalid answer twice.

    Args:
        what: what went wrong.
        agent: the agent whose module asked the model; empty if no agent did.
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


_RESUME: Final = "Then resume it: "


class MachineError(PerSimChatError):
    """The machine failed during a run: a full disk, a lost permission to write, a database or server that is gone.

    The run keeps everything done before. The same failure before a run begins is an `InputError`.
    """

    exit_code = 4

    @classmethod
    def caused_by(cls, error: OSError, what: str, where: str, *, remedy: str = "") -> Self:
        """The error for an operation that the operating system refused.

        Args:
            error: the operating system's error.
            what: what could not be done.
            where: the file or folder, in case `error` names none.
            remedy: what to do about it; if empty, to check free space and permissions.
        """
        why = error.strerror or type(error).__name__
        return cls(
            f"{what}: {why}", where=str(error.filename or where), remedy=remedy or "Check free space and permissions."
        )

    def before_the_start(self) -> InputError:
        """The same failure as an error of the user's input, because nothing had begun."""
        return InputError(self.what, where=self.where, remedy=self.remedy)

    def resumable(self, folder: Path) -> Self:
        """The same error; its remedy also gives the command that resumes the run.

        Args:
            folder: the run's folder.
        """
        return self.going_on(f"{_RESUME}persimchat resume {shlex.quote(str(folder))}")

    def going_on(self, how: str) -> Self:
        """The same error; its remedy also says how to go on, in place of resuming one run."""
        remedy = f"{self.remedy.partition(_RESUME)[0].strip()} {how}"
        return type(self)(self.what, where=self.where, remedy=remedy.strip())


class PromptTooLong(ModelError):
    """A prompt does not fit the model's context and must not, or cannot, be shortened; no request was made.

    The message begins with "too long".
    """


def nearest_word(word: str, valid: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The valid word most similar to `word`, or None if none is similar enough.

    Args:
        word: the word that the user wrote.
        valid: the words to choose from.
        cutoff: the least similarity, 0 (any word) to 1 (the same word).
    """
    by_lower_case = {choice.casefold(): choice for choice in valid}
    near = get_close_matches(word.casefold(), list(by_lower_case), n=1, cutoff=cutoff)
    return by_lower_case[near[0]] if near else None


def suggestion(word: str, valid: Iterable[str], *, otherwise: str = "") -> str:
    """A remedy sentence with the valid word nearest to `word`; if none is near, `otherwise` or all valid words."""
    choices = list(valid)
    near = nearest_word(word, choices)
    if near is not None:
        return f"Did you mean {near!r}?"
    return otherwise or f"Choose one of: {', '.join(choices)}."


class BudgetExhausted(PerSimChatError):
    """The next request to a model would exceed a budget, so it was not made.

    The message is a whole sentence for users.

    Args:
        budget: the setting's name, one of `state.settings.BUDGETS`.
        limit: calls, tokens or US dollars that the setting allows.
        spent: how much of it is used, without the share reserved for requests under way.
        needed: the estimate for the next request and those under way; 0 for `budget_calls`.
    """

    def __init__(self, budget: str, limit: float, spent: float, needed: float = 0.0) -> None:
        self.budget, self.limit, self.spent = budget, limit, spent
        unit = {"budget_calls": "calls", "budget_tokens": "tokens", "budget_usd": "US dollars"}[budget]
        if needed:
            about = f"about {_figure(needed)}"
            rest = f"used; the next call, with those under way, would have taken {about} and was not made"
        else:
            rest = "made and the next one was not"
        super().__init__(f"The budget of {_figure(limit)} {unit} is used up: {_figure(spent)} were {rest}.")


class DayBudgetExhausted(PerSimChatError):
    """A world's requests of one day are used up, so the next one was not made.

    Args:
        limit: requests that the setting `companion.calls_a_day` allows.
        until: when the day ends, ISO local time.
        where: the world.
    """

    exit_code = 3

    def __init__(self, limit: int, until: str, *, where: str = "") -> None:
        self.limit, self.until = limit, until
        super().__init__(
            f"the {limit:,} requests to models that this world may make in a day are used up until {until}",
            where=where,
            remedy="Wait until then, or allow more with --set companion.calls_a_day=N.",
        )


def _figure(value: float) -> str:
    """A number as text: whole numbers without decimals, others to six digits."""
    return f"{int(value):,}" if value == int(value) else f"{value:,.6g}"
