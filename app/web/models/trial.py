"""Is a model good enough: a few questions of every module, and what the answers were like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nicegui import ui

from persimchat.app.web.live_runs import refuse_model_files
from persimchat.app.web.words import number, t
from persimchat.models.reaching import reach
from persimchat.runs.reports.words import spaced
from persimchat.runs.trying import Trial, recorded_questions, try_model, verdict
from persimchat.state.errors import PerSimChatError
from persimchat.state.settings import Settings

_QUESTIONS: Final = 1
"""Questions of each module."""


def trial_part(model: Callable[[], str]) -> None:
    """Draw the button that asks a model questions of every module, and the place of the results.

    Args:
        model: gives the model's name.
    """
    with ui.row().classes("w-full items-center gap-3"):
        ui.label(t("models.trial_about")).classes("text-xs muted grow basis-60")
        button = ui.button(t("models.trial"), icon="fact_check").props("flat no-caps").mark("trial")
    place = ui.column().classes("w-full gap-2")

    async def ask() -> None:
        name = model()
        button.props(add="loading").disable()
        place.clear()
        try:
            refuse_model_files({"model": name})
            settings = Settings(timeout_s=60)
            await reach(name, settings)
            trial = await try_model(name, settings, await recorded_questions(_QUESTIONS))
        except PerSimChatError as error:
            with place:
                ui.label(error.sentence).classes("text-sm text-negative").props("role=alert")
        else:
            with place:
                _results(trial)
        finally:
            button.props(remove="loading").enable()

    button.on_click(ask)


def _results(trial: Trial) -> None:
    ui.label(verdict(trial)).classes("text-sm font-semibold").props("role=status").mark("verdict")
    columns = ("module", "asked", "valid", "again", "corrected", "failed", "seconds")
    with ui.element("div").classes("w-full overflow-x-auto"), ui.element("table").classes("w-full text-sm"):
        with ui.element("thead"), ui.element("tr"):
            for name in columns:
                with ui.element("th").props("scope=col").classes("muted font-normal " + _side(name)):
                    ui.label(t(f"models.column_{name}")).classes("text-xs")
        with ui.element("tbody"):
            for row in trial.rows:
                values = [row.asked, row.valid, row.again, row.corrected, row.failed]
                cells = [spaced(row.module), *map(str, values), number(row.seconds / max(1, row.asked), 1)]
                with ui.element("tr"):
                    for name, cell in zip(columns, cells, strict=True):
                        with ui.element("td").classes("border-t py-1 tabular-nums " + _side(name)):
                            ui.label(cell)


def _side(column: str) -> str:
    return "text-left" if column == "module" else "text-right pl-3"
