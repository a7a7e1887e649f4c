"""Evaluation without an account: the same targets and evaluators as for `langsmith.evaluate`, on this machine alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from persimchat.evaluation.target import Target
from persimchat.state.errors import InputError, PerSimChatError

_GIVEN: Final = ("inputs", "outputs", "reference_outputs")
Evaluator = Callable[..., dict[str, Any]]
Row = dict[str, Any]


def evaluate_locally(
    dataset: Iterable[Mapping[str, Any]], target: Target, evaluators: Sequence[Evaluator]
) -> list[Row]:
    """Run a target on every example and score its outputs.

    Args:
        dataset: examples: `inputs`, and `outputs` if there is a reference, as in LangSmith's datasets.
        target: a function of an example's inputs.
        evaluators: functions of any of `outputs`, `inputs` and `reference_outputs` that return `key`, `score` and
            optionally `comment`.

    Returns:
        One row per example: `inputs`, `outputs`, `reference_outputs`, `feedback` (key: what the evaluator returned) and
        `error`, which is None or says why the target failed; then there is no feedback.

    Raises:
        InputError: an example has no inputs, or an evaluator has an unknown parameter or returns no score.
    """
    wanted = [(evaluator, _wanted(evaluator)) for evaluator in evaluators]
    rows: list[Row] = []
    for number, example in enumerate(dataset):
        row: Row = _example(example, number)
        try:
            outputs, error = target(dict(row["inputs"])), None
        except PerSimChatError as failed:
            outputs, error = None, str(failed)
        row |= {"outputs": outputs, "error": error, "feedback": {}}
        if error is None:
            for evaluator, names in wanted:
                found = _feedback(evaluator, evaluator(**{name: row[name] for name in names}))
                row["feedback"][found["key"]] = found
        rows.append(row)
    return rows


def table(rows: Sequence[Row]) -> str:
    """The scores as a Markdown table: one line per example, then their means; a dash if a score does not apply."""
    keys = list(dict.fromkeys(key for row in rows for key in row["feedback"]))
    lines = [_line(["topic", *keys]), _line(["---"] * (len(keys) + 1))]
    for row in rows:
        scores = [row["feedback"].get(key, {}).get("score") for key in keys]
        topic = " ".join(str(row["inputs"].get("topic")).replace("|", "\\|").split())
        lines.append(_line([f"{topic} (failed)" if row["error"] else topic, *map(_shown, scores)]))
    return "\n".join([*lines, _line(["mean", *(_shown(value) for value in means(rows).values())])])


def means(rows: Sequence[Row]) -> dict[str, float | None]:
    """The mean score of every evaluator over the examples to which it applies; None if there are none."""
    scores: dict[str, list[float]] = {}
    for row in rows:
        for key, found in row["feedback"].items():
            scores.setdefault(key, []).extend([] if found["score"] is None else [float(found["score"])])
    return {key: sum(values) / len(values) if values else None for key, values in scores.items()}


def _example(given: Any, number: int) -> Row:
    """An example's inputs and reference."""
    place = f"dataset[{number}]"
    if not isinstance(given, Mapping) or not isinstance(given.get("inputs"), Mapping):
        raise InputError("an example has no inputs", where=place, remedy='Write {"inputs": {"topic": "…"}}.')
    reference = given.get("outputs") or {}
    if not isinstance(reference, Mapping):
        remedy = 'Write {"inputs": {…}, "outputs": {"answer": "…"}}, or leave them out.'
        raise InputError("an example's outputs are not a mapping", where=place, remedy=remedy)
    return {"inputs": dict(given["inputs"]), "reference_outputs": dict(reference)}


def _feedback(evaluator: Evaluator, found: Any) -> dict[str, Any]:
    """What an evaluator returned, checked."""
    score = found.get("score") if isinstance(found, Mapping) else found
    if not isinstance(found, Mapping) or "key" not in found or not isinstance(score, int | float | None):
        raise InputError(
            "the evaluator returns no key and score",
            where=_name(evaluator),
            remedy='Return {"key": "…", "score": a number or None}.',
        )
    return dict(found)


def _name(evaluator: object) -> str:
    return str(getattr(evaluator, "__name__", repr(evaluator)))


def _wanted(evaluator: Evaluator) -> list[str]:
    if not callable(evaluator):
        raise InputError(
            "an evaluator must be a function", where=_name(evaluator), remedy="Give a function of outputs."
        )
    parameters = inspect.signature(evaluator).parameters.values()
    for parameter in parameters:
        if parameter.name not in _GIVEN and parameter.default is parameter.empty:
            raise InputError(
                f"the evaluator has an unknown parameter {parameter.name!r}",
                where=_name(evaluator),
                remedy=f"Known parameters: {', '.join(_GIVEN)}.",
            )
    return [parameter.name for parameter in parameters if parameter.name in _GIVEN]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(score: float | None) -> str:
    return "–" if score is None else f"{score:.2f}"
