"""The dialog of the page: a heading, a part that scrolls, buttons below; it asks before anything is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from nicegui import ui

from ....state.plain_text import capitalised
from ..widgets import anew, answered, icon_button, named, say_in, text_button
from ..words import t

WIDTHS: Final = {"small": "440px", "middle": "680px", "wide": "960px"}

_ESCAPE: Final = "(event) => { if (!document.querySelector('.q-menu')) emit() }"
"""If a menu is open, Escape closes only the menu."""


class Window:
    """A dialog; `closed` shows it.

    Args:
        heading: what it is about.
        width: one of `WIDTHS`; on a phone it is as wide as the screen.
        unsaved: whether closing it would lose something; then the user is asked. None: it never does.

    Attributes:
        body: its contents.
        buttons: the row of buttons below.

    A line above the buttons says what went wrong; it stays until the user tries again.
    """

    def __init__(self, heading: str, *, width: str = "middle", unsaved: Callable[[], bool] | None = None) -> None:
        self.unsaved = unsaved
        self.dialog = ui.dialog()
        named(self.dialog, heading)
        if unsaved is not None:
            self.dialog.props("persistent no-shake").on("keydown.escape", self.leave, js_handler=_ESCAPE)
        self._asking = False
        with self.dialog, ui.card().classes("surface w-full p-0 gap-0 no-wrap").props("tabindex=-1") as self._card:
            self._card.style(f"max-width:min({WIDTHS[width]},96vw); outline:0")
            with ui.row().classes("w-full items-center justify-between no-wrap pl-5 pr-3 py-3"):
                label = ui.label(heading).classes("text-lg font-semibold min-w-0 break-words")
                label.props("role=heading aria-level=2")
                icon_button("close", t("common.close"), self.leave)
            self.body = ui.column().classes("scroll w-full gap-3 px-5 pb-4 pt-1 no-wrap").style("min-height:0")
            self._fault = ui.label().classes("text-sm text-negative px-5 py-2 break-words").props("role=alert")
            self._fault.mark("window-fault").set_visibility(False)
            self.buttons = ui.row().classes("w-full items-center justify-end gap-2 px-5 py-3 persona-foot")

    async def leave(self) -> None:
        """Close it; ask first if something would be lost."""
        if self._asking:
            return
        if self.unsaved is not None and self.unsaved():
            self._asking = True
            sure = await agreed(t("personas.discard_question"), t("personas.discard"), stay=t("personas.go_on"))
            self._asking = False
            if not sure:
                return
        self.dialog.submit(None)

    def complain(self, told: str = "") -> None:
        """Say what went wrong, above the buttons; nothing if it is empty."""
        say_in(self._fault, capitalised(told))

    @contextmanager
    def other_buttons(self) -> Iterator[None]:
        """Replace the buttons below; the keyboard's focus stays in the dialog."""
        self.dialog.client.run_javascript(f"getHtmlElement({self._card.id})?.focus()")
        with anew(self.buttons):
            yield

    def offer(self, does: str, act: Callable[[], Any], icon: str = "") -> ui.button:
        """Draw the usual buttons below: to cancel, and to do what the dialog is for, which is returned."""
        with self.buttons:
            text_button(t("common.cancel"), self.leave)
            return text_button(does, act, icon=icon, look="unelevated")

    def submit(self, result: object) -> None:
        """Close it with a result."""
        self.dialog.submit(result)

    async def closed(self) -> Any:
        """Show it until it is closed; returns its result, None if the user has cancelled."""
        return await answered(self.dialog)


async def agreed(
    question: str,
    yes: str,
    *,
    stay: str = "",
    draw: Callable[[], object] = lambda: None,
    colour: str = "negative",
) -> bool:
    """Ask for confirmation of what cannot be undone; Escape means no.

    Args:
        question: the question, which names what would be lost.
        yes: the label of the button that confirms.
        stay: the label of the other button; "Cancel" if empty.
        draw: draws what is below the question.
        colour: of the button that confirms.
    """
    with ui.dialog() as dialog, ui.card().classes("surface gap-4 p-5").style("max-width:min(480px,94vw)"):
        named(dialog, question)
        ui.label(question).classes("whitespace-pre-line break-words font-semibold").props("role=heading aria-level=2")
        draw()
        with ui.row().classes("w-full justify-end gap-2"):
            text_button(stay or t("common.cancel"), lambda: dialog.submit(False), look="flat autofocus")
            text_button(yes, lambda: dialog.submit(True), look=f"unelevated color={colour}").mark("agree")
    return bool(await answered(dialog))
