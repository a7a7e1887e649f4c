"""What an experiment is expected to need: calls and tokens, room on the disk, and tasks enough to find something."""

from __future__ import annotations

import json
import shutil
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..evaluation.statistics.significance import decided_pairs_needed, share_found
from ..graph.calls import utterances_at_most
from ..models.limits import ModelLimit
from ..models.naming import parse_model_name
from ..reports.estimate import Estimate, estimate
from ..runs.events import Totals
from ..state.errors import InputError, suggestion
from ..state.settings import AFTERWARDS, BUDGETS, modules
from .comparing import OF_THE_TASK
from .file import Compare, Limits
from .plan import Plan, Planned, canonical

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
_COUNTED: Final = ("calls", "input_tokens", "cached_tokens", "output_tokens", "cost_usd", "least_usd")


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
        asked = [module for module in modules() if module not in AFTERWARDS]
        found |= {planned.settings.model_for(name, module) or "" for name in names for module in asked}
    return found - {""}


_RUN, _AGENT, _HEARD = 230_000, 240_000, 15_000
_BASELINE, _SAID = 300_000, 5_000
"""Bytes of a run's folder, fitted to those of 16 runs of 2 to 5 agents and 2 to 40 utterances: in a conversation of
minds, of the run, of each agent, and of each utterance that an agent hears; in a baseline, of the run and of each
utterance. Most of it is the memories' database. The fit is within 10 %; long answers of a real model take more."""

TRUE_SHARE: Final = 0.6
"""The share of tasks in which one level is better, for which the number of tasks is said."""


def disk_bytes(cells: Iterable[Planned]) -> int:
    """The room that the folders of cells are expected to take."""
    return sum(map(_bytes_of, cells))


def _bytes_of(planned: Planned) -> int:
    agents, story = len(planned.scenario.participants), planned.scenario.story
    if story is not None:
        utterances = story.most_said(planned.settings.rounds)
    else:
        utterances = utterances_at_most(agents, planned.settings)
    if planned.settings.baseline is not None:
        return _BASELINE + _SAID * utterances
    return _RUN + _AGENT * agents + _HEARD * agents * utterances


def disk_free(folder: Path) -> int:
    """The free bytes where a folder is or will be."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free


@dataclass(frozen=True)
class Foreseen:
    """How much one comparison of the file can find.

    Attributes:
        wanted: the comparison.
        tasks: its units of analysis.
        needed: how many tasks would find a level that is better in `TRUE_SHARE` of them.
        share: the share of tasks, 0.5–1, in which a level must be better to be found with the tasks there are; None if
            no share suffices.
    """

    wanted: Compare
    tasks: int
    needed: int | None
    share: float | None


def foreseen(plan: Plan) -> list[Foreseen]:
    """What the comparisons of a file and its pairs can find, at a power of 0.8, by the exact sign test at 0.05.

    The report's test is Wilcoxon's, which weighs differences by their size and finds as much or somewhat more.

    Raises:
        MissingExtraError: the extra `evaluation` is not installed.
    """
    compared, pairs = [*plan.experiment.compare], plan.experiment.measures.pairs
    if pairs is not None and all((one.by, one.within) != (pairs.axis, pairs.within) for one in compared):
        compared.append(Compare(by=pairs.axis, within=pairs.within))
    numbers = [(wanted, _tasks(plan, wanted)) for wanted in compared]
    needed = decided_pairs_needed(TRUE_SHARE) if numbers else None
    return [Foreseen(wanted, tasks, needed, share_found(tasks)) for wanted, tasks in numbers]


def _tasks(plan: Plan, wanted: Compare) -> int:
    """The tasks over which levels are compared, as `experiments.comparing` pairs them."""
    units: set[tuple[str, ...]] = set()
    for cell in (planned.cell for planned in plan.cells):
        for axes in (cell.axes, *cell.also):
            if all(axes[name] == label for name, label in wanted.within.items()):
                own = [json.dumps(axes[name]) for name in OF_THE_TASK if name in axes and name != wanted.by]
                units.add((cell.task, str(cell.round), *own))
    return len(units)
