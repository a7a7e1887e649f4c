"""The dialog that generates a group: the request with its quotas, the progress, and which personas to keep."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

from nicegui import ui

from ....personas.generation import MOST, Generated, check_request, generate
from ....personas.quotas import Quotas, load_quotas, share_of, shown
from ....runs.folder.parts import totals
from ....state.configuration import load_settings
from ....state.errors import InputError, PerSimChatError
from ....state.persona import Persona
from ....state.plain_text import one_line
from ....state.settings import Settings
from ...views.personas_view import notes
from ..live_runs import refuse_model_files
from ..shared.lists import Field, Rows
from ..widgets import explained, icon_button, text_button
from ..words import t
from .making import MakingDialog
from .persona_lists import Pick

EXAMPLES: Final = {
    "gender": {"woman": "50%", "man": "50%"},
    "age": {"18-29": "30%", "30-64": "50%", "65+": "20%"},
    "education": {"primary school": "20%", "secondary school": "50%", "university": "30%"},
}
"""The suggested divisions; their words are for the model and stay English."""


@dataclass(eq=False)
class _Division:
    name: ui.input
    shares: Rows
    sum: ui.label


class QuotaForm:
    """Divisions of the group by one characteristic each."""

    def __init__(self) -> None:
        self.divisions: list[_Division] = []
        self.box = ui.column().classes("w-full gap-2")
        with ui.row().classes("gap-1 items-center"):
            for name in (*EXAMPLES, ""):
                label = name or t("personas.quota_other")
                text_button(label, partial(self.add, name), icon="add", look="flat dense size=sm")

    def add(self, name: str) -> None:
        """Add a division by a characteristic, with the shares of the example of that name."""
        with self.box, ui.column().classes("surface w-full gap-2 p-3") as box:
            with ui.row().classes("w-full items-center gap-2 no-wrap"):
                head = ui.input(t("personas.characteristic"), value=name).classes("grow min-w-0")
                icon_button("delete_outline", t("personas.remove_quota"), lambda: self._remove(division, box))
            shares = Rows(_value, lambda _, share: self._share(division, share), lambda: self._sum(division))
            with ui.row().classes("w-full items-center justify-between no-wrap"):
                shares.button(t("personas.add_share"))
                division = _Division(head, shares, ui.label().classes("text-xs muted").props("aria-live=polite"))
        self.divisions.append(division)
        shares.fill(EXAMPLES.get(name, {"": ""}))
        self._sum(division)

    async def quotas(self) -> Quotas | None:
        """The quotas; None if there are no divisions.

        Raises:
            InputError: shares are no numbers or do not sum to one, ages overlap, a value is given twice.
        """
        if not self.divisions:
            return None
        lines = ["quotas:"]  # YAML, so that the checks of quota files apply, also to duplicates
        for division in self.divisions:
            lines.append(f"  {_scalar(division.name.value)}:")
            lines += [f"    {_scalar(row.named)}: {_scalar(row.value.value)}" for row in division.shares.rows]
        return await asyncio.to_thread(_read, "\n".join(lines))

    def _share(self, division: _Division, share: Any) -> Field:
        field = ui.input(t("personas.share"), value=share or "", validation=_wrong_share)
        field.on_value_change(lambda: self._sum(division))
        return field.props("hide-bottom-space").classes("w-24")

    def _remove(self, division: _Division, box: ui.column) -> None:
        self.divisions.remove(division)
        box.delete()

    def _sum(self, division: _Division) -> None:
        """Show the sum of the shares."""
        total = sum((_fraction(row.value.value) or Fraction() for row in division.shares.rows), Fraction())
        division.sum.set_text(t("personas.sum_whole" if total == 1 else "personas.sum_off", sum=shown(total * 100)))


def _value(name: str) -> Field:
    return ui.input(t("personas.value"), value=name).classes("grow min-w-0")


def _fraction(value: str | None) -> Fraction | None:
    """The value of a written share; None if it is invalid."""
    try:
        return share_of(value or "", "")
    except InputError:
        return None


def _wrong_share(value: str | None) -> str | None:
    """The error of a written share."""
    return t("personas.wrong_share") if value and _fraction(value) is None else None


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


class GenerateDialog(MakingDialog[list[Generated]]):
    """The dialog."""

    heading, width, does, again = "personas.generate_heading", "middle", "personas.generate", "personas.again"
    icons = ("auto_awesome", "refresh")

    async def draw_form(self) -> None:
        """Draw the request."""
        ui.label(t("personas.generate_explained")).classes("text-sm muted")
        with ui.row().classes("w-full no-wrap items-start gap-1"):
            self.about = ui.textarea(t("personas.about"), placeholder=t("personas.about_example"))
            self.about.props("autogrow").classes("grow min-w-0")
            explained(t("personas.about_explained"))
        with ui.row().classes("w-full items-start gap-2"):
            self.number = ui.number(t("personas.how_many"), value=5, min=1, max=MOST, precision=0).classes("w-28")
            self.seed = ui.number(t("personas.seed"), value=0, min=0, precision=0).classes("w-28")
            explained(t("personas.seed_explained"))
            self.draw_model()
        with ui.row().classes("items-center gap-1"):
            ui.label(t("personas.quotas")).classes("text-sm font-semibold").props("role=heading aria-level=3")
            explained(t("personas.quotas_explained"))
        self.quotas = QuotaForm()

    async def asked(self) -> Coroutine[object, object, list[Generated]]:
        """The request, checked."""
        about, self.total = one_line(self.about.value or ""), int(self.number.value or 0)
        check_request(self.total, about)
        quotas = await self.quotas.quotas()
        model = {"model": name} if (name := one_line(self.model.value or "")) else {}
        given: dict[str, Any] = {"seed": int(self.seed.value or 0), **model}
        settings = await asyncio.to_thread(lambda: load_settings(**given))
        refuse_model_files(settings.model_dump())
        self.request: tuple[Settings, str, Path | None] = (
            settings,
            about,
            Path("as given in the page") if quotas else None,
        )
        return generate(self.total, settings, about=about, quotas=quotas, made=self._made)

    def draw_waiting(self) -> None:
        """Draw how many are made so far; if it is stopped, these are dropped: a quota holds for the whole group."""
        self.done = 0
        self.bar = ui.linear_progress(0, show_value=False).props("rounded")
        self.bar.props["aria-label"] = t("personas.making")
        self.told_of = ui.label(t("personas.making_first", n=self.total)).classes("text-sm").props("aria-live=polite")

    def _made(self, persona: Persona) -> None:
        if not self.window.dialog.is_deleted:
            self.done += 1
            self.bar.set_value(self.done / self.total)
            name = one_line(persona.name)
            self.told_of.set_text(t("personas.making_one", done=self.done, total=self.total, name=name))

    def draw_made(self, made: list[Generated]) -> None:
        """Draw how many were made, and with what they took: calls, tokens and cost."""
        ui.label(t("personas.made", n=len(made))).classes("text-sm muted").props("role=status")
        used = totals(dict(call) for one in made for call in one.calls)
        key = "used_unknown" if used.cost_usd is None else "used" if used.cost_usd else "used_free"
        tokens = f"{used.input_tokens + used.output_tokens:,}"
        told = t(f"personas.{key}", calls=used.calls, tokens=tokens, cost=f"{used.cost_usd or 0:,.4f}")
        ui.label(told).classes("text-xs muted")

    def listed(self, made: list[Generated]) -> Sequence[Pick]:
        """Everybody."""
        return [Pick(one.persona) for one in made]

    async def chosen(self, made: list[Generated], numbers: Sequence[int]) -> list[tuple[Persona, Sequence[str]]]:
        """Each with how it was invented."""
        return [(made[number].persona, notes(made, number, *self.request)) for number in numbers]
