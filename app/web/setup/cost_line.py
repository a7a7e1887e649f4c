"""What the conversation will take, told before it is started, and told anew when somebody has stopped writing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from nicegui import ui

from persimchat.app.web.setup.checking import TOPIC
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.setting_field import label_of
from persimchat.app.web.widgets import explained
from persimchat.app.web.words import number, t
from persimchat.models.naming import OFFLINE
from persimchat.runs.estimate import Estimate, estimate
from persimchat.state.errors import PerSimChatError
from persimchat.state.settings import Settings

WAIT_S: Final = 0.5
"""The draft has to stay as it is for so long before it is estimated."""


_DIGITS: Final = 3


class CostLine:
    """The line, and below it the budgets that would be reached."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._seen = self._told = -1
        self._working = False
        with ui.row().classes("w-full items-center gap-1 no-wrap"):
            ui.icon("calculate", size="18px").classes("muted").props("aria-hidden=true")
            self._line = ui.label(t("setup.estimating")).classes("text-xs muted grow").props("aria-live=polite")
            self._line.mark("estimate")
            explained(t("setup.estimate_help"))
        self._warning = ui.label().classes("text-xs text-negative").props("role=alert").mark("over-budget")
        self._warning.set_visibility(False)
        ui.timer(WAIT_S, self.look)

    async def look(self) -> None:
        """Estimate where there is something new that has stayed for a while."""
        revision = self._form.revision
        if self._working or revision == self._told or revision != self._seen:
            self._seen = revision
            return
        self._working = True
        try:
            self._show(*await asyncio.to_thread(self._estimated, t("setup.demo_topic")))
            self._told = revision
        finally:
            self._working = False

    def _estimated(self, example: str) -> tuple[Estimate, Settings] | tuple[None, str]:
        """The estimate, or why there is none; an example stands for a topic that is still to be written."""
        if set(self._form.wrong) - {TOPIC}:
            return None, ""
        draft = self._form.draft
        try:
            scenario, settings = replace(draft, topic=draft.topic.strip() or example).simulation()
            return estimate(scenario, settings), settings
        except PerSimChatError as error:
            return None, error.what

    def _show(self, found: Estimate | None, settings: Settings | str) -> None:
        if found is None or isinstance(settings, str):
            why = t("setup.no_estimate") if not settings else t("setup.no_estimate_because", why=settings)
            self._line.set_text(why)
            self._warning.set_visibility(False)
            return
        total = found.total
        key = "setup.estimate_debate" if settings.mode == "debate" else "setup.estimate"
        self._line.set_text(
            t(
                key,
                calls=number(_about(total.calls)),
                tokens=number(_about(total.input_tokens + total.output_tokens)),
                cost=_cost(found),
            )
        )
        reached = [label_of(name) for name in found.exceeded(settings)]
        self._warning.set_text(t("setup.over_budget", budgets=", ".join(reached)) if reached else "")
        self._warning.set_visibility(bool(reached))


def _about(counted: int) -> int:
    """A whole number with three digits that say something; an estimate knows no more."""
    return round(counted, min(0, _DIGITS - len(str(counted))))


def _cost(found: Estimate) -> str:
    """What is paid, in words."""
    if found.unpriced():
        return t("setup.price_unknown", models=", ".join(found.unpriced()))
    if set(found.by("model")) <= {OFFLINE}:
        return t("setup.free")
    return t("setup.price", usd=number(found.total.cost_usd or 0, 4))
