"""What the commands that ask a judge have in common: the judge, what it will cost, somebody's consent, the asking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from ...evaluation.asking import MODULE, Cost, Judge, Questions, Respondent, judge_all
from ...evaluation.statistics.intervals import stats
from ...reports.words import count
from ...state.errors import InputError
from ..output import Interrupted, on_terminal, warn
from ..refusals import refusals_told
from .foreground import run_with_models
from .option_groups import Wanted, WantedAsking
from .request import settings_of


def judge_of(by: str | None, asking: WantedAsking) -> Judge:
    """The judge that --by names, or the setting module_models.

    Raises:
        InputError: no model is named, it cannot judge, or a setting is wrong.
        MissingExtraError: scipy is not installed, without which nothing could be said of the scores.
    """
    stats()
    named = {f"module_models.{MODULE}": by, **asking.budgets}
    return Judge(settings_of(Wanted(arguments=named, settings=asking.settings, assignments=asking.assignments)))


def made(folder: Path) -> Path:
    """A folder, made if it is missing.

    Raises:
        InputError: it cannot be made.
    """
    with refusals_told("the folder cannot be made", folder, "Choose another with --out."):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


class Plan:
    """Questions to a judge, and what they will cost.

    Attributes:
        judge: who is asked.
        already: questions that have an answer.
        asked: questions that have none.
        answered: those of them that have one now.

    Args:
        judge: who is asked.
        parts: the questions, by the file of their answers.
        what: what they are about, in words.
        command: whose questions they are, for errors.
    """

    def __init__(
        self, judge: Respondent, parts: Sequence[Questions[Any]], what: str, *, command: str = "persimchat evaluate"
    ) -> None:
        self.judge, self._parts, self._what, self._command = judge, parts, what, command
        self._left = [(part, part.left(judge.name, part.rows())) for part in parts]
        self.asked = sum(len(left) for _, left in self._left)
        self.answered = 0
        self.already = sum(len(part.units) for part in parts) - self.asked
        self.cost: Cost = judge.cost_of(unit.asked for _, left in self._left for unit in left)

    def carry_out(self, *, yes: bool) -> list[str]:
        """Say what it will cost, let somebody agree if that is needed, and ask.

        Returns:
            What a reader must know: that a budget ended it.

        Raises:
            InputError: somebody has to agree, and there is no terminal; or the model cannot be asked.
            Interrupted: somebody did not agree.
            ModelError, MachineError: the judge failed, or an answer could not be written; what was answered is kept.
        """
        warn(f"persimchat: {self._in_words()}")
        if not self.asked:
            return []
        if self.cost.must_be_agreed and not yes:
            agree()
        with progress(self.asked) as told:

            def count_one() -> None:
                self.answered += 1
                told()

            left = [part for part, left in self._left if left]
            asking = run_with_models(judge_all(self.judge, left, told=count_one))
        if not asking.exhausted:
            return []
        return [f"{asking.exhausted} The same command with a higher budget asks what is left."]

    @property
    def data(self) -> dict[str, Any]:
        """Who was asked, and how many questions, for --json."""
        return {"judge": self.judge.name, "asked": self.answered, "already": self.already}

    def _in_words(self) -> str:
        questions = count(self.asked + self.already, "question")
        before = f", {self.already:,} answered before" if self.already else ""
        head = f"{self._what}, {questions}{before}."
        if not self.asked:
            return f"{head} Nothing is asked."
        cost, usd = self.cost, self.cost.cost_usd
        price = "price unknown" if usd is None else f"about ${usd:,.2f}" if usd else "without a price"
        tokens = f"about {cost.input_tokens:,} tokens in and {cost.output_tokens:,} out"
        return f"{head} {count(cost.calls, 'call')} to {self.judge.name}, {tokens}, {price}."


def agree() -> None:
    """Let somebody agree to calls before they are made.

    Raises:
        InputError: there is no terminal.
        Interrupted: somebody did not agree.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        raise InputError(
            "there is no terminal on which to ask whether to start",
            where="standard input",
            remedy="Add --yes. A budget limits what it may take.",
        )
    if not typer.confirm("Start?", err=True):
        raise Interrupted


@contextmanager
def progress(questions: int) -> Iterator[Callable[[], None]]:
    """Show on a terminal how many of so many questions have an answer."""
    if not questions or not on_terminal():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=questions)
        yield lambda: bar.advance(task)
