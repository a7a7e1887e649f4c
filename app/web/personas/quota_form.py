"""Quotas in the page: a characteristic, and the shares of its values."""

from __future__ import annotations

import asyncio
import json
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Final

from nicegui import ui

from persimchat.app.web.widgets import FIELD, icon_button
from persimchat.app.web.words import t
from persimchat.personas.generation.quotas import Quotas, load_quotas, share_of, shown
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.plain_text import one_line

EXAMPLES: Final = {
    "gender": {"woman": "50%", "man": "50%"},
    "age": {"18-29": "30%", "30-64": "50%", "65+": "20%"},
    "education": {"primary school": "20%", "secondary school": "50%", "university": "30%"},
}
"""Divisions that are offered to begin with; their words are for the model and stay English."""


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
        """The quotas; None where there are no divisions.

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
        """Show what the shares come to."""
        shares = [_share(row.share.value) for row in division.shares]
        total = sum((share for share in shares if share is not None), Fraction())
        if division.sum is not None:
            whole = "personas.sum_whole" if total == 1 else "personas.sum_off"
            division.sum.set_text(t(whole, sum=shown(total * 100)))

    def _text(self) -> str:
        """The quotas as a file would have them; the reader's checks are the same for both, also of what is twice."""
        lines = ["quotas:"]
        for division in self.divisions:
            lines.append(f"  {_scalar(division.name.value)}:")
            lines += [f"    {_scalar(row.value.value)}: {_scalar(row.share.value)}" for row in division.shares]
        return "\n".join(lines)


def _share(value: str | None) -> Fraction | None:
    """A share as it is written; None where it is none."""
    try:
        return share_of(value or "", "")
    except InputError:
        return None


def _wrong_share(value: str | None) -> str | None:
    """What is wrong with a share that has been written."""
    return t("personas.wrong_share") if value and _share(value) is None else None


def _scalar(value: str | None) -> str:
    """A text as YAML; of JSON's texts every one is also YAML."""
    return json.dumps(one_line(value or ""), ensure_ascii=False)


def _read(text: str) -> Quotas:
    with tempfile.TemporaryDirectory(prefix="persimchat-") as folder:
        path = Path(folder) / "quotas.yaml"
        path.write_text(text, encoding="utf-8")
        try:
            return load_quotas(path)
        except PerSimChatError as error:
            place = error.where.partition("field ")[2].removeprefix("quotas.")  # the page has no lines
            raise InputError(error.what, where=place, remedy=error.remedy) from error
