"""What the cells of an experiment are expected to use, estimated without asking a model."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from persimchat.experiments.file import Limits
from persimchat.experiments.plan import Plan, Planned, canonical
from persimchat.models.limits import ModelLimit
from persimchat.models.naming import parse_model_name
from persimchat.runs.events import Totals
from persimchat.runs.reports.estimate import Estimate, estimate
from persimchat.state.errors import InputError, suggestion
from persimchat.state.settings import AFTERWARDS, BUDGETS, MODULES

ESTIMATED_AS_ONE: Final = ("seed", "prompt_order", "model_temperature")
"""Settings that change no estimate."""
STEP: Final = 100
"""Characters of a topic within which cells are estimated as one: some 25 tokens of a prompt."""


def estimates(plan: Plan) -> dict[str, Estimate]:
    """The estimate of every cell, by its id.

    Cells that differ in their seed alone, or in how much is left out of prompts, are estimated once; so are those whose
    topics and choices differ, but hardly in length, because many tasks would take long otherwise.

    Raises:
        InputError: a cell cannot be held: its message limit leaves no room for a round.
    """
    known: dict[bytes, Estimate] = {}
    found: dict[str, Estimate] = {}
    for planned in plan.cells:
        turn = planned.origin.turn if planned.origin is not None else 0
        settings = {**planned.cell.settings, **dict.fromkeys(ESTIMATED_AS_ONE)}
        pruning = planned.settings.pruning  # what is left out is not known before, and counts in full
        settings["pruning"] = [pruning.asks_first, pruning.checks]
        if "choices" in settings:
            settings["choices"] = [len(settings["choices"]), _length(" ".join(settings["choices"]))]
        scenario = planned.scenario.model_dump(mode="json", by_alias=True)
        key = canonical([settings, {**scenario, "topic": _length(scenario["topic"])}, turn])
        if key not in known:
            known[key] = _estimated(planned, turn)
        found[planned.cell.id] = known[key]
    return found


def _estimated(planned: Planned, turn: int) -> Estimate:
    """The estimate of a cell; of a branch, what the whole conversation takes less the part that it shares."""
    whole = estimate(planned.scenario, planned.settings)
    if not turn:
        return whole
    if planned.scenario.story is not None:  # its acts differ: the share of utterances that are left stands for all
        left = max(0, whole.utterances - turn)
        return Estimate(left, [_scaled(row, left / whole.utterances) for row in whole.rows])
    shared = estimate(planned.scenario, planned.settings, utterances=turn)
    before = {tuple(row[name] for name in _ROW): row for row in shared.rows}
    rows = [_less(row, before.get(tuple(row[name] for name in _ROW), {})) for row in whole.rows]
    return Estimate(whole.utterances - turn, rows)


_ROW: Final = ("agent", "module", "model")
_COUNTED: Final = ("calls", "input_tokens", "output_tokens", "cost_usd")


def _less(row: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: row[name] for name in _COUNTED if row[name] is not None}
    return {**row, **{name: max(0.0, value - (before.get(name) or 0.0)) for name, value in known.items()}}


def _scaled(row: Mapping[str, Any], by: float) -> dict[str, Any]:
    return {**row, **{name: row[name] * by for name in _COUNTED if row[name] is not None}}


def _length(text: str) -> int:
    """The length of a text in steps of `STEP`."""
    return -(-len(text) // STEP)


def amounts(totals: Totals) -> dict[str, float]:
    """What was or will be used, by the name of its budget; an unknown price counts as nothing."""
    return dict(
        zip(
            BUDGETS,
            (totals.calls, totals.input_tokens + totals.output_tokens, totals.cost_usd or 0.0),
            strict=True,
        )
    )


def budget_of(limits: Limits) -> dict[str, float]:
    """The budgets that are set, by name."""
    given = {name: getattr(limits, name) for name in BUDGETS}
    return {name: float(value) for name, value in given.items() if value is not None}


def check_budget(plan: Plan, found: Mapping[str, Estimate]) -> None:
    """Refuse a budget that admits no cell, or that cannot be counted.

    Raises:
        InputError: it is below the smallest estimate, or a price is not known.
    """
    limits, where = plan.experiment.limits, plan.experiment.where("limits")
    unpriced = sorted({name for each in found.values() for name in each.unpriced()})
    if limits.budget_usd is not None and unpriced:
        raise InputError(
            f"budget_usd is set, and the price of {unpriced[0]} is not known",
            where=where,
            remedy="Give it with the setting prices, or limit budget_tokens.",
        )
    for name, limit in budget_of(limits).items():
        least = min(amounts(each.total)[name] for each in found.values())
        if limit < least:
            raise InputError(
                f"{name}={limit:g} is below what the smallest cell is expected to use, {least:,.6g}",
                where=where,
                remedy="Raise it, or make the conversations shorter.",
            )


def summed(found: Iterable[Totals]) -> Totals:
    """The sum of totals; the cost is unknown as soon as one part of it is."""
    each: Sequence[Totals] = list(found)
    costs = [one.cost_usd for one in each]
    return Totals(
        calls=sum(one.calls for one in each),
        input_tokens=sum(one.input_tokens for one in each),
        output_tokens=sum(one.output_tokens for one in each),
        estimated=any(one.estimated for one in each),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


def by_model(plan: Plan, found: Mapping[str, Estimate], cells: Iterable[Planned] | None = None) -> dict[str, Totals]:
    """The expected sums of cells by model.

    Args:
        plan: of the experiment.
        found: the estimates.
        cells: those that count; None for all.
    """
    groups: dict[str, list[Totals]] = {}
    for planned in plan.cells if cells is None else cells:
        for model, total in found[planned.cell.id].by("model").items():
            groups.setdefault(model, []).append(total)
    return {model: summed(groups[model]) for model in sorted(groups)}


def model_limits(plan: Plan, also: Iterable[str] = ()) -> dict[Hashable, ModelLimit]:
    """The limits by model that the file sets for all cells together, as `models.limits.limited` takes them.

    Args:
        plan: of the experiment.
        also: further models that are asked, for example judges.

    Raises:
        InputError: no cell asks a model that is limited.
    """
    limits = plan.experiment.limits
    if not limits.requests_per_second and not limits.slots:
        return {}
    asked = {*models_of(plan), *also}
    for field in ("requests_per_second", "slots"):
        for name in getattr(limits, field):
            if name not in asked:
                raise InputError(
                    f"no conversation asks the model {name!r}",
                    where=plan.experiment.where("limits", field, name),
                    remedy=suggestion(name, sorted(asked)),
                )
    return {
        parse_model_name(name).key: ModelLimit(limits.requests_per_second.get(name), limits.slots.get(name))
        for name in {**limits.requests_per_second, **limits.slots}
    }


def models_of(plan: Plan) -> set[str]:
    """The names of all models that cells ask."""
    found: set[str] = set()
    for planned in plan.cells:
        names = ["", *(persona.name for persona in planned.scenario.participants)]
        modules = [module for module in MODULES if module not in AFTERWARDS]
        found |= {planned.settings.model_for(name, module) or "" for name in names for module in modules}
    return found - {""}
