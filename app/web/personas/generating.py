"""The dialog that generates a group: the request, the progress, and which personas to keep."""

from __future__ import annotations

import asyncio
import json
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

from nicegui import ui

from persimchat.app.views.generated import notes
from persimchat.app.web.live_runs import refuse_model_files
from persimchat.app.web.personas.library import Library
from persimchat.app.web.personas.picks import Pick, Picks, keep_chosen
from persimchat.app.web.personas.uploads import for_the_page
from persimchat.app.web.personas.window import Window
from persimchat.app.web.widgets import FIELD, explained, icon_button, notify_error
from persimchat.app.web.words import t
from persimchat.models.naming import default_model_name
from persimchat.personas.generation.generation import MOST, Generated, check_request, generate
from persimchat.personas.generation.quotas import Quotas, load_quotas, share_of, shown
from persimchat.runs.events import Totals
from persimchat.runs.folder.totals import totals
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.persona import Persona
from persimchat.state.plain_text import one_line
from persimchat.state.settings import Settings

EXAMPLES: Final = {
    "gender": {"woman": "50%", "man": "50%"},
    "age": {"18-29": "30%", "30-64": "50%", "65+": "20%"},
    "education": {"primary school": "20%", "secondary school": "50%", "university": "30%"},
}
"""The suggested divisions; their words are for the model and stay English."""


@dataclass(eq=False)
class _Share:
    value: ui.input
    share: ui.input
    line: ui.row


@dataclass(eq=False)
class _Division:
    name: ui.input
    box: ui.column
    shares: list[_Share] = field(default_factory=list)
    sum: ui.label | None = None


class QuotaForm:
    """Divisions of the group by one characteristic each."""

    def __init__(self) -> None:
        self.divisions: list[_Division] = []
        self.box = ui.column().classes("w-full gap-2")
        with ui.row().classes("gap-1 items-center"):
            for name in EXAMPLES:
                ui.button(name, icon="add", on_click=partial(self.add, name)).props("flat dense no-caps size=sm")
            ui.button(t("personas.quota_other"), icon="add", on_click=partial(self.add, "")).props(
                "flat dense no-caps size=sm"
            )

    def add(self, name: str) -> None:
        """Add a division by a characteristic, with the shares of the example of that name."""
        with self.box, ui.column().classes("surface w-full gap-2 p-3") as box:
            with ui.row().classes("w-full items-center gap-2 no-wrap"):
                head = ui.input(t("personas.characteristic"), value=name).props(FIELD).classes("grow min-w-0")
                division = _Division(head, ui.column().classes("w-full gap-2"))
                icon_button("delete_outline", t("personas.remove_quota"), lambda: self._remove(division, box))
            division.box.move(box)
            with ui.row().classes("w-full items-center justify-between no-wrap"):
                ui.button(
                    t("personas.add_share"), icon="add", on_click=lambda: self._add_share(division, "", "")
                ).props("flat dense no-caps size=sm")
                division.sum = ui.label().classes("text-xs muted").props("aria-live=polite")
        self.divisions.append(division)
        for value, share in EXAMPLES.get(name, {"": ""}).items():
            self._add_share(division, value, share)

    async def quotas(self) -> Quotas | None:
        """The quotas; None if there are no divisions.

        Raises:
            InputError: shares are no numbers or do not sum to one, ages overlap, a value is given twice.
        """
        if not self.divisions:
            return None
        text = self._text()
        return await asyncio.to_thread(_read, text)

    def _add_share(self, division: _Division, value: str, share: str) -> None:
        with division.box, ui.row().classes("w-full gap-2 no-wrap items-start") as line:
            change = partial(self._sum, division)
            value_field = ui.input(t("personas.value"), value=value).props(FIELD).classes("grow min-w-0")
            share_field = ui.input(t("personas.share"), value=share, on_change=change, validation=_wrong_share)
            share_field.props(f"{FIELD} hide-bottom-space").classes("w-24")
            row = _Share(value_field, share_field, line)
            icon_button("remove_circle_outline", t("personas.remove_row"), lambda: self._remove_share(division, row))
        division.shares.append(row)
        self._sum(division)

    def _remove_share(self, division: _Division, row: _Share) -> None:
        division.shares.remove(row)
        row.line.delete()
        self._sum(division)

    def _remove(self, division: _Division, box: ui.column) -> None:
        self.divisions.remove(division)
        box.delete()

    def _sum(self, division: _Division) -> None:
        """Show the sum of the shares."""
        shares = [_share(row.share.value) for row in division.shares]
        total = sum((share for share in shares if share is not None), Fraction())
        if division.sum is not None:
            whole = "personas.sum_whole" if total == 1 else "personas.sum_off"
            division.sum.set_text(t(whole, sum=shown(total * 100)))

    def _text(self) -> str:
        """The quotas as YAML, so that the checks of quota files apply, also to duplicates."""
        lines = ["quotas:"]
        for division in self.divisions:
            lines.append(f"  {_scalar(division.name.value)}:")
            lines += [f"    {_scalar(row.value.value)}: {_scalar(row.share.value)}" for row in division.shares]
        return "\n".join(lines)


def _share(value: str | None) -> Fraction | None:
    """The value of a written share; None if it is invalid."""
    try:
        return share_of(value or "", "")
    except InputError:
        return None


def _wrong_share(value: str | None) -> str | None:
    """The error of a written share."""
    return t("personas.wrong_share") if value and _share(value) is None else None


def _scalar(value: str | None) -> str:
    """A text as YAML; every JSON text is also YAML."""
    return json.dumps(one_line(value or ""), ensure_ascii=False)


def _read(text: str) -> Quotas:
    with tempfile.TemporaryDirectory(prefix="persimchat-") as folder:
        path = Path(folder) / "quotas.yaml"
        path.write_text(text, encoding="utf-8")
        try:
            return load_quotas(path)
        except PerSimChatError as error:
            place = error.where.partition("field ")[2].removeprefix("quotas.")  # line numbers mean nothing on the page
            raise InputError(error.what, where=place, remedy=error.remedy) from error


_NUMBER: Final = 5
_FROM_PAGE: Final = Path("as given in the page")


class GenerateDialog:
    """The dialog, in three parts of which one is visible: the request, the progress, the result.

    Args:
        library: keeps the personas that the user selects.

    Attributes:
        kept: the personas that were kept.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.people: list[Generated] = []
        self.request: tuple[Settings, str, Quotas | None] | None = None
        self.window = Window(t("personas.generate_heading"), unsaved=lambda: bool(self.people) or self._busy)
        self.work: asyncio.Task[list[Generated]] | None = None
        self.picks = Picks()
        self.kept: list[Persona] = []

    @property
    def _busy(self) -> bool:
        return self.work is not None and not self.work.done()

    async def run(self) -> int:
        """Show the dialog; returns how many personas were kept."""
        model = (await asyncio.to_thread(load_settings)).model
        self._draw_form(default_model_name(model)[0])
        try:
            kept = await self.window.closed()
        finally:
            if self.work is not None:
                self.work.cancel()  # the dialog is closed
        return int(kept or 0)

    def _draw_form(self, model: str) -> None:
        with self.window.body:
            self.form = ui.column().classes("w-full gap-3")
            self.outcome = ui.column().classes("w-full gap-3")
        with self.form:
            ui.label(t("personas.generate_explained")).classes("text-sm muted")
            with ui.row().classes("w-full no-wrap items-start gap-1"):
                self.about = ui.textarea(t("personas.about"), placeholder=t("personas.about_example"))
                self.about.props(f"{FIELD} autogrow").classes("grow min-w-0")
                explained(t("personas.about_explained"))
            with ui.row().classes("w-full items-start gap-2"):
                self.number = ui.number(t("personas.how_many"), value=_NUMBER, min=1, max=MOST, precision=0)
                self.number.props(FIELD).classes("w-28")
                self.seed = ui.number(t("personas.seed"), value=0, min=0, precision=0).props(FIELD).classes("w-28")
                explained(t("personas.seed_explained"))
                self.model = ui.input(t("personas.model"), placeholder=model, autocomplete=["offline", model])
                self.model.props(f"{FIELD} stack-label").classes("grow min-w-40")
                explained(t("personas.model_explained"))
            with ui.row().classes("items-center gap-1"):
                ui.label(t("personas.quotas")).classes("text-sm font-semibold").props("role=heading aria-level=3")
                explained(t("personas.quotas_explained"))
            self.quotas = QuotaForm()
        self._buttons_of_form()

    def _buttons_of_form(self) -> None:
        with self.window.other_buttons():
            ui.button(t("common.cancel"), on_click=self.window.leave).props("flat no-caps")
            ui.button(t("personas.generate"), icon="auto_awesome", on_click=self.make).props("unelevated no-caps")

    def back(self) -> None:
        """Go back to the request; personas that were not kept are dropped."""
        self.people = []
        self.outcome.clear()
        self.form.set_visibility(True)
        self._buttons_of_form()

    async def make(self) -> None:
        """Make the group, and show it as it grows."""
        if self._busy:
            return
        about = one_line(self.about.value or "")
        number = int(self.number.value or 0)
        try:
            check_request(number, about)
            quotas = await self.quotas.quotas()
            arguments = {"seed": int(self.seed.value or 0), "model": one_line(self.model.value or "") or None}
            given: dict[str, Any] = {key: value for key, value in arguments.items() if value is not None}
            settings = await asyncio.to_thread(lambda: load_settings(**given))
            refuse_model_files(settings.model_dump())
        except PerSimChatError as error:
            notify_error(for_the_page(error, ""))
            return
        self.request = (settings, about, quotas)
        self._draw_progress(number)
        self.work = asyncio.create_task(generate(number, settings, about=about, quotas=quotas, made=self._made))
        await asyncio.wait({self.work})
        if self.window.dialog.is_deleted or self.work.cancelled():
            return
        failed = self.work.exception()
        if isinstance(failed, PerSimChatError):
            self.back()
            notify_error(for_the_page(failed, ""))
            return
        self.people = self.work.result()
        self._draw_result()

    def stop(self) -> None:
        """Stop making them; those made so far are dropped, as a quota holds for the whole group only."""
        if self.work is not None:
            self.work.cancel()
        self.back()

    def _draw_progress(self, number: int) -> None:
        self.form.set_visibility(False)
        self.outcome.clear()
        self.total, self.done = number, 0
        with self.outcome:
            self.bar = ui.linear_progress(0, show_value=False).props("rounded")
            self.bar.props["aria-label"] = t("personas.making")
            self.told_of = ui.label(t("personas.making_first", n=number)).classes("text-sm").props("aria-live=polite")
        with self.window.other_buttons():
            ui.button(t("personas.stop"), on_click=self.stop).props("flat no-caps")

    def _made(self, persona: Persona) -> None:
        if self.window.dialog.is_deleted:
            return
        self.done += 1
        self.bar.set_value(self.done / self.total)
        name = one_line(persona.name)
        self.told_of.set_text(t("personas.making_one", done=self.done, total=self.total, name=name))

    def _draw_result(self) -> None:
        self.outcome.clear()
        self.picks = Picks()
        used = totals(dict(call) for one in self.people for call in one.calls)
        with self.outcome:
            ui.label(t("personas.made", n=len(self.people))).classes("text-sm muted").props("role=status")
            ui.label(_used(used)).classes("text-xs muted")
            for one in self.people:
                self.picks.add(Pick(one.persona), ticked=True)
        with self.window.other_buttons():
            ui.button(t("personas.again"), icon="refresh", on_click=self.back).props("flat no-caps")
            ui.button(t("personas.keep"), icon="check", on_click=self.keep).props("unelevated no-caps")

    async def keep(self) -> None:
        """Keep the ticked personas."""
        assert self.request is not None
        settings, about, quotas = self.request
        given = _FROM_PAGE if quotas is not None else None
        chosen = [(self.people[n].persona, notes(self.people, n, settings, about, given)) for n in self.picks.chosen()]
        if await keep_chosen(self.library, chosen):
            self.kept = [persona for persona, _ in chosen]
            self.window.submit(len(chosen))


def _used(used: Totals) -> str:
    """Calls, tokens and cost on one line."""
    tokens = f"{used.input_tokens + used.output_tokens:,}"
    if used.cost_usd is None:
        return t("personas.used_unknown", calls=used.calls, tokens=tokens)
    if used.cost_usd == 0:
        return t("personas.used_free", calls=used.calls, tokens=tokens)
    return t("personas.used", calls=used.calls, tokens=tokens, cost=f"{used.cost_usd:,.4f}")
