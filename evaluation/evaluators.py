"""A judged dimension as an evaluator of the shape that `langsmith.evaluate` and `evaluate_locally` take."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from typing import Any

from persimchat.evaluation.dimensions import Dimension, Unit, chosen, judged
from persimchat.evaluation.judging import MODULE, Asking, Judge, judge_all
from persimchat.evaluation.transcripts import Conversation, of_outputs
from persimchat.graph.node import wait_for
from persimchat.models.ledger import Ledger
from persimchat.runs.folder.judgements import RecordedJudgement
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError

Feedback = dict[str, Any]


def dimension(key: str, *, by: str, repeats: int = 1, **settings: Any) -> Callable[[dict[str, Any]], Feedback]:
    """An evaluator that lets a model judge a conversation on one dimension.

    Args:
        key: of the dimension, one of `DIMENSIONS`.
        by: the model that judges.
        repeats: independent scores, of which the mean is taken.
        **settings: `budget_calls`, `prices` and so on. A budget holds for all calls of the evaluator together.

    Returns:
        A function of a target's outputs. Its score is None if the dimension does not apply, or no answer is valid; the
        comment then says why, and else has the judge's reasons.

    Raises:
        InputError: there is no such dimension, the model cannot judge, or a setting is wrong.
    """
    if repeats < 1:
        raise InputError(f"repeats is {repeats}", where="argument repeats", remedy="Give 1 or more.")
    (wanted,) = chosen([key])
    named: dict[str, Any] = {f"module_models.{MODULE}": by, **settings}
    judge, ledger = Judge(load_settings(**named)), Ledger()

    def evaluator(outputs: dict[str, Any]) -> Feedback:
        conversation = of_outputs(outputs)
        if not wanted.fits(conversation):
            return {"key": wanted.key, "score": None, "comment": "the dimension does not apply"}
        part = _Kept(wanted, conversation, repeats)
        asking = wait_for(judge_all(judge, [part], ledger=ledger))
        scores = [row.score for row in part.rows if row.score is not None]
        reasons = [row.reasoning or row.missing for row in part.rows]
        comment = " | ".join([*reasons, *([asking.exhausted] if asking.exhausted else [])])
        return {"key": wanted.key, "score": fmean(scores) if scores else None, "comment": comment}

    evaluator.__name__ = wanted.key
    evaluator.__doc__ = f"{wanted.name}, {wanted.low} to {wanted.high}, judged by {judge.name}."
    return evaluator


class _Kept:
    """The questions about a conversation that is in no folder; their answers are kept in memory."""

    def __init__(self, wanted: Dimension, conversation: Conversation, repeats: int) -> None:
        asked = wanted.asked(conversation)
        self.rows: list[RecordedJudgement] = []
        self._run, self._units = conversation.run, [Unit(wanted, asked, n) for n in range(1, repeats + 1)]

    async def judged(self, asking: Asking) -> None:
        """Ask all of them, one after another."""
        for unit in self._units:
            row = await judged(unit, asking, self._run)
            self.rows += [] if row is None else [row]
