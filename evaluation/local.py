"""A conversation as a function that can be evaluated, and evaluation without an account, on this machine alone.

Targets and evaluators are the same as for `langsmith.evaluate`.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Final

from langsmith.run_helpers import tracing_context
from langsmith.utils import tracing_is_enabled

from ..graph.node import wait_for
from ..personas.scenario import default_participants, make_scenario
from ..runs.api import collected
from ..runs.run.simulation import run_simulation
from ..state.configuration import load_settings
from ..state.errors import InputError, PerSimChatError

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
