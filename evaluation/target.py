"""The target of an evaluation: a conversation, as a function from an example's inputs to outputs of plain values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from typing import Any, Final

from langsmith.run_helpers import tracing_context
from langsmith.utils import tracing_is_enabled

from persimchat.graph.node import wait_for
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.result import collected
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError

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
        shipped ones); `settings`. Its outputs: `transcript` (a text), `utterances` (as transcript.jsonl has them),
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
