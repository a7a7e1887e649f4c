"""A conversation as a function that can be evaluated, and evaluation without an account, on this machine alone.

Targets and evaluators are the same as for `langsmith.evaluate`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from langsmith.evaluation import EvaluationResult, RunEvaluator, run_evaluator
from langsmith.run_helpers import tracing_context
from langsmith.schemas import Example, Run
from langsmith.utils import tracing_is_enabled

from ..graph.node import wait_for
from ..personas.scenario import default_participants, make_scenario
from ..runs.api import collected
from ..runs.run.simulation import run_simulation
from ..state.configuration import load_settings
from ..state.errors import InputError, PerSimChatError
from ..state.plain_text import shortened

_LONGEST: Final = 500
"""Characters of a reason."""

Evaluator = Callable[..., Any]
Row = dict[str, Any]


def evaluate_locally(
    dataset: Iterable[Mapping[str, Any]], target: Target, evaluators: Sequence[Evaluator]
) -> list[Row]:
    """Run a target on every example and score its outputs; whatever fails later, what was made before is returned.

    Args:
        dataset: examples: `inputs`, and `outputs` if there is a reference, as in LangSmith's datasets.
        target: a function of an example's inputs.
        evaluators: whatever `langsmith.evaluate` takes: functions, also async, of any of `outputs`, `inputs` and
            `reference_outputs`, or of `(run, example)`. They return a number or a truth value, `key`, `score` and
            `comment`, or several of these, as a list or as `results`.

    Returns:
        One row per example: `inputs`, `outputs`, `reference_outputs`, `feedback` (key: what the evaluator returned) and
        `error`, which is None or says why the target failed; then there is no feedback. The score of an evaluator that
        failed, or whose score is not finite, is None, and its `comment` says why.

    Raises:
        InputError: before the first example: one has no inputs, or an evaluator is none.
    """
    wanted = [(_name(evaluator), _evaluator(evaluator)) for evaluator in evaluators]
    rows = [_example(example, number) for number, example in enumerate(dataset)]
    for row in rows:
        outputs, error = None, None
        try:
            outputs = target(dict(row["inputs"]))
        except PerSimChatError as failed:
            error = str(failed)
        except Exception as failed:  # noqa: BLE001  # the rows before it are paid for
            error = _reason(failed)
        row |= {"outputs": outputs, "error": error, "feedback": {}}
        if error is None:
            row["feedback"] = {found["key"]: found for name, one in wanted for found in _feedback(name, one, row)}
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
            score = found.get("score")
            scores.setdefault(key, []).extend([] if score is None else [float(score)])
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


def _feedback(name: str, evaluator: RunEvaluator, row: Row) -> list[dict[str, Any]]:
    """What an evaluator returns of a row, each with a key and a score that is finite or None."""
    now = datetime.now(UTC)
    run = Run(id=uuid4(), trace_id=uuid4(), name=name, start_time=now, run_type="chain", inputs=row["inputs"])
    run.outputs = row["outputs"]
    example = Example(id=uuid4(), created_at=now, inputs=row["inputs"], outputs=row["reference_outputs"])
    try:
        with tracing_context(enabled=False):
            if getattr(evaluator, "is_async", False):
                returned = wait_for(evaluator.aevaluate_run(run, example))
            else:
                returned = evaluator.evaluate_run(run, example)
    except Exception as failed:  # noqa: BLE001  # the conversation is paid for
        return [{"key": name, "score": None, "comment": f"the evaluator failed: {_reason(failed)}"}]
    found = []
    for one in [returned] if isinstance(returned, EvaluationResult) else returned["results"]:
        told = {"score": None, **one.model_dump(exclude_defaults=True, exclude={"source_run_id"})}
        if told["score"] is not None and not math.isfinite(told["score"]):
            told |= {"score": None, "comment": f"the score is {told['score']}, which is no number"}
        found.append(told)
    return found


def _reason(failed: Exception) -> str:
    return shortened(f"{type(failed).__name__}: {failed}", _LONGEST)


def _name(evaluator: object) -> str:
    return str(getattr(evaluator, "__name__", repr(evaluator)))


def _evaluator(given: Evaluator | RunEvaluator) -> RunEvaluator:
    """An evaluator in LangSmith's form.

    Raises:
        InputError: it is no function, or not of what there is.
    """
    if isinstance(given, RunEvaluator):
        return given
    if not callable(given):
        raise InputError("an evaluator must be a function", where=_name(given), remedy="Give a function of outputs.")
    try:
        found: RunEvaluator = run_evaluator(given)
    except ValueError as error:
        known = "outputs, inputs, reference_outputs, or run and example"
        parameters = ", ".join(inspect.signature(given).parameters) or "nothing"
        what = f"the evaluator is a function of {parameters}"
        raise InputError(what, where=_name(given), remedy=f"Known parameters: {known}.") from error
    return found


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(score: float | None) -> str:
    return "–" if score is None else f"{score:.2f}"


_INPUTS: Final = ("topic", "participants", "settings")
TOLD: Final = (
    "mode", "pattern", "baseline", "max_messages", "utterance_words", "answer_format", "choices", "seed",
    "social_goals", "relationships",
)  # fmt: skip
"""Settings in the outputs, for evaluators."""

Target = Callable[[dict[str, Any]], dict[str, Any]]
ATarget = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


def make_atarget(**defaults: Any) -> ATarget:
    """A target for `langsmith.aevaluate`.

    Args:
        **defaults: settings of every conversation (`model="offline"`, `max_messages=10`, …); those of an example
            override them.

    Returns:
        A function of an example's inputs: `topic`; `participants`, as `persimchat.simulate` takes them (default: the
        shipped ones); `settings`. Its outputs: `transcript` (a text), `utterances` (as in the table utterances),
        `participants` (names), `scenario` (topic and participants in full), `settings` (those that evaluators use),
        `stop_reason`, `conclusion`, `totals`, `run`.
    """

    async def conversation(inputs: dict[str, Any]) -> dict[str, Any]:
        """A conversation about the example's topic."""
        _check(inputs)
        given = inputs.get("participants")
        people = default_participants(given) if isinstance(given, int) else given or default_participants()
        scenario = make_scenario(inputs["topic"], people)
        settings = load_settings(scenario=scenario.settings, **{**defaults, **(inputs.get("settings") or {})})
        # LangSmith's `upload_results=False` means "local", which LangChain's tracer ignores.
        with tracing_context(enabled=False) if tracing_is_enabled() == "local" else nullcontext():
            result = await collected(run_simulation(scenario, settings))
        told = settings.model_dump(mode="json", include=set(TOLD))
        return {
            "transcript": result.transcript(),
            "utterances": [u.model_dump(mode="json", exclude={"version", "event"}) for u in result.utterances],
            "participants": [person.name for person in scenario.participants],
            "scenario": scenario.model_dump(mode="json", by_alias=True, exclude={"settings"}),
            "settings": told,
            "stop_reason": result.stop_reason,
            "conclusion": result.conclusion.model_dump(mode="json") if result.conclusion else None,
            "totals": result.totals.model_dump(mode="json"),
            "run": result.run,
        }

    return conversation


def make_target(**defaults: Any) -> Target:
    """A target for `langsmith.evaluate` and `evaluate_locally`. Arguments and outputs as for `make_atarget`."""
    talk = make_atarget(**defaults)

    def conversation(inputs: dict[str, Any]) -> dict[str, Any]:
        """A conversation about the example's topic."""

        async def talked() -> dict[str, Any]:
            return await talk(inputs)

        return wait_for(talked())

    return conversation


def _check(inputs: Any) -> None:
    if not isinstance(inputs, Mapping) or not isinstance(inputs.get("topic"), str):
        raise InputError("the example has no topic", where="inputs", remedy='Write {"topic": "Tea or coffee?"}.')
    if unknown := sorted(set(inputs) - set(_INPUTS)):
        raise InputError(
            f"the example has an unknown input {unknown[0]!r}", where="inputs", remedy=f"Known: {', '.join(_INPUTS)}."
        )
    if not isinstance(inputs.get("settings") or {}, Mapping):
        raise InputError(
            "the example's settings are not a mapping",
            where="inputs",
            remedy='Write {"max_messages": 10}, for example.',
        )
