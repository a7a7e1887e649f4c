"""The line with the estimate of calls, tokens and cost, and below it the budgets that would be used up."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from nicegui import ui

from persimchat.app.web.setup.checking import TOPIC
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.setting_field import label_of
from persimchat.app.web.words import number, t
from persimchat.models.naming import OFFLINE
from persimchat.state.errors import PerSimChatError
from persimchat.state.settings import Settings

if TYPE_CHECKING:
    from persimchat.runs.reports.estimate import Estimate

WAIT_S: Final = 0.04
"""Seconds without a change of the draft before it is estimated."""
_DIGITS: Final = 3


@dataclass(frozen=True)
class Reckoned:
    """What a draft would take.

    Attributes:
        settings: of the run.
        least: the estimate; people have no calls of their own.
        most: with people, as if agents took their parts: what people do to a conversation is not known beforehand.
    """

    settings: Settings
    least: Estimate
    most: Estimate


class CostLine:
    """The line. It is grey from a change until the new estimate is there.

    Args:
        form: whose draft it estimates.
    """

    def __init__(self, form: Form) -> None:
        self._form = form
        self._seen = self._told = -1
        self._working = False
        with ui.column().classes("gap-0 grow basis-60 min-w-0"):
            self._line = ui.label(t("setup.estimating")).classes("text-sm reckoning").mark("estimate")
            self._line.props("aria-live=polite")
            self._warning = ui.label().classes("text-xs text-negative").props("role=alert").mark("over-budget")
        self._warning.set_visibility(False)
        self._timer = ui.timer(WAIT_S, self.look)
        form.follow(self._changed)

    def _changed(self) -> None:
        self._line.classes(add="reckoning").props("aria-busy=true")
        self._timer.active = True

    async def look(self) -> None:
        """Estimate the draft if it has changed and then stayed the same for a while."""
        revision = self._form.revision
        if self._working or revision != self._seen:
            self._seen = revision
            return
        if revision == self._told:
            self._timer.active = False
            return
        self._working = True
        try:
            found = await asyncio.to_thread(self._reckon, t("setup.example_cars_topic"))
        finally:
            self._working = False
        self._told = revision
        if revision == self._form.revision:
            self._line.classes(remove="reckoning").props("aria-busy=false")
        self._show(found)

    def _reckon(self, example: str) -> Reckoned | str:
        """The estimate, or why there is none; an example replaces a missing topic."""
        from persimchat.runs.reports.estimate import estimate  # in a thread: it takes long to load

        if set(self._form.wrong) - {TOPIC}:
            return ""
        draft = self._form.draft
        try:
            scenario, settings = replace(draft, topic=draft.topic.strip() or example).simulation()
            least = estimate(scenario, settings)
            if not any(persona.human for persona in scenario.participants):
                return Reckoned(settings, least, least)
            agents = [persona.model_copy(update={"human": False}) for persona in scenario.participants]
            most = estimate(scenario.model_copy(update={"participants": agents}), settings)
            return Reckoned(settings, least, most)
        except PerSimChatError as error:
            return error.what

    def _show(self, found: Reckoned | str) -> None:
        if isinstance(found, str):
            self._line.set_text(t("setup.no_estimate_because", why=found) if found else t("setup.no_estimate"))
            self._warning.set_visibility(False)
            return
        key = "setup.estimate_debate" if found.settings.mode == "debate" else "setup.estimate"
        ends = [found.least.total, found.most.total]
        calls = _between([_about(end.calls) for end in ends])
        tokens = _between([_about(end.input_tokens + end.output_tokens) for end in ends])
        self._line.set_text(t(key, calls=calls, tokens=tokens, cost=_cost(found)))
        reached = [label_of(name) for name in found.most.exceeded(found.settings)]
        self._warning.set_text(t("setup.over_budget", budgets=", ".join(reached)) if reached else "")
        self._warning.set_visibility(bool(reached))


def _between(ends: list[int]) -> str:
    """A number, or a range where the ends differ."""
    low, high = sorted(ends)
    return number(low) if low == high else t("setup.range", low=number(low), high=number(high))


def _about(counted: int) -> int:
    """A whole number with three significant digits, which is as exact as an estimate is."""
    return round(counted, min(0, _DIGITS - len(str(counted))))


def _cost(found: Reckoned) -> str:
    """The cost in words."""
    if found.most.unpriced():
        return t("setup.price_unknown", models=", ".join(found.most.unpriced()))
    if set(found.most.by("model")) <= {OFFLINE}:
        return t("setup.free")
    low, high = sorted(number(one.total.cost_usd or 0, 4) for one in (found.least, found.most))
    return t("setup.price", usd=low) if low == high else t("setup.price", usd=t("setup.range", low=low, high=high))
