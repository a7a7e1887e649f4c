"""Small parts, colours and faces that all panels share. Labels take text of people and models, never as markup."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from nicegui import context, ui

from ...models.waiting import Waiting, waits_told
from ...reports.palette import BLOCK_STYLES, EMOTION_STYLES, PART_STYLES, initials, person_style, preferred
from ...state.errors import PerSimChatError
from ...state.minds.emotion import EMOTIONS
from ...state.plain_text import capitalised
from .words import t

SEGMENTS: Final = 'no-caps unelevated toggle-color=primary color=transparent text-color=grey-7 padding="3px 10px"'
"""Properties of a toggle whose choices stand side by side, with the classes `seg surface`."""

FIELD: Final = "outlined dense"
"""Properties of every field."""
for _kind in (ui.input, ui.textarea, ui.number, ui.select):
    _kind.default_props(FIELD)
ui.button.default_props("no-caps")


def named(element: ui.element, name: str) -> ui.element:
    """Give an element its name for screen readers; the property is set, as text in `.props()` would be read as code."""
    element.props["aria-label"] = name
    return element


def reached(address: str) -> str:
    """An address of this server as the browser reaches it: behind a proxy that serves it under a path, with the path.

    `ui.link` and `ui.navigate.to` add it themselves.
    """
    request = context.client.request
    return (request.headers.get("x-forwarded-prefix", "") if request is not None else "") + address


def avatar(name: str, colour: str, size: str = "36px", *, human: bool = False) -> None:
    """A participant's initials in their colour; decoration, as the name stands beside it."""
    with (
        ui.avatar(color=None, size=size)
        .classes("font-semibold shrink-0")
        .props("aria-hidden=true")
        .style(f"background:{colour}; color:var(--on)")
    ):
        if human:
            ui.icon("person")
        else:
            ui.label(initials(name)).style("font-size:.76em; letter-spacing:.03em")


def icon_button(icon: str, name: str, on_click: Callable[..., Any] | None = None) -> ui.button:
    """A round button with a picture; its name is its tooltip, also for screen readers."""
    button = ui.button(icon=icon, on_click=on_click).props("flat round dense color=grey-7").tooltip(name)
    named(button, name)
    return button


def title(text: str) -> None:
    """The small heading of a section of a panel."""
    ui.label(text).classes("panel-title").props("role=heading aria-level=2")


@contextmanager
def card(text: str = "", look: str = "") -> Iterator[ui.column]:
    """A framed section of a panel, with an optional heading, and further classes."""
    with ui.column().classes(f"surface w-full gap-2 p-3 {look}") as box:
        if text:
            ui.label(text).classes("text-sm font-semibold").props("role=heading aria-level=3")
        yield box


def chip(text: str, colour: str = "") -> ui.label:
    """A short text on a tint of a colour."""
    label = ui.label(text).classes("tint text-xs whitespace-nowrap")
    if colour:
        label.style(f"--c:{colour}")
    return label


@contextmanager
def menu(icon: str, name: str) -> Iterator[ui.button]:
    """A round button that opens a menu; its name is not a tooltip, which would cover the menu."""
    button = ui.button(icon=icon).props("flat round dense color=grey-7 aria-haspopup=menu")
    named(button, name).props["title"] = name
    with button, ui.menu().props("role=menu"):
        yield button


def text_button(
    text: str, on_click: Callable[..., Any] | None = None, *, icon: str = "", look: str = "flat", href: str = ""
) -> ui.button:
    """A button with words.

    Args:
        text: the words.
        on_click: the action.
        icon: a picture before them.
        look: Quasar's `flat`, `outline` or, for what a place is for, `unelevated`; and further properties.
        href: in place of the action, an address of this server, which the user can also open in another tab.
    """
    button = ui.button(text, icon=icon or None, on_click=on_click).props(look)
    if href:
        button.props["href"] = reached(href)
    return button


def plain_button(text: str, on_click: Callable[..., Any] | None = None) -> ui.button:
    """Words that can be pressed, in the colour of the text around them."""
    return ui.button(text, on_click=on_click, color=None).props("flat dense")


def word_button(text: str, name: str, on_click: Callable[..., Any] | None = None, *, icon: str = "") -> ui.button:
    """A quiet button with a word; its longer name, which has the word in it, is for screen readers and as a tooltip."""
    button = ui.button(text, on_click=on_click, icon=icon or None, color=None).props("flat dense no-wrap")
    named(button.classes("word"), name).props["title"] = name
    return button


def brief_button(text: str, name: str, on_click: Callable[..., Any] | None = None, *, icon: str) -> ui.button:
    """A `word_button` of which only the picture is left where there is little room."""
    return word_button(text, name, on_click, icon=icon).classes("brief")


@contextmanager
def word_menu(text: str, name: str = "", *, icon: str = "") -> Iterator[ui.button]:
    """A quiet button with a word that opens a menu; where there is little room, a picture stands for the word.

    Args:
        text: the word.
        name: for screen readers, with the word in it; the word itself if it is empty.
        icon: the picture, which stands beside the word otherwise; three dots alone if it is empty.
    """
    with word_button(text, name or text, icon=icon).props("aria-haspopup=menu") as button:
        if icon:
            button.classes("brief")
        else:
            button.props("icon-right=expand_more")
            ui.icon("more_vert").classes("word-narrow").props("aria-hidden=true")
        with ui.menu().props("role=menu"):
            yield button


def item(
    icon: str, text: str, on_click: Callable[[], Any] | None = None, *, href: str = "", target: str = ""
) -> ui.menu_item:
    """A line of a menu: an action, or a link, which the user can also open in another tab.

    Args:
        icon: its picture.
        text: its text.
        on_click: the action.
        href: in place of the action, an address of this server.
        target: the window in which the address opens.
    """
    line = ui.menu_item(on_click=on_click).props("role=menuitem dense").classes("items-center gap-3 min-h-[40px]")
    with line:
        ui.icon(icon, size="20px").classes("muted").props("aria-hidden=true")
        ui.label(text).classes("text-sm grow")
    if href:
        line.props["href"] = reached(href)
    if target:
        line.props["target"] = target
    return line


def explained(text: str) -> None:
    """A small question mark that explains the field beside it; it works with a keyboard and on a touch screen, too."""
    with ui.button(icon="help_outline").props("flat round dense size=xs color=grey-7") as button:
        named(button, t("common.explain"))
        with ui.menu().props("max-width=320px"):
            ui.label(text).classes("text-sm p-3 whitespace-pre-line")


def hint(text: str, field: ui.element | None = None) -> ui.label:
    """A grey line under a field that explains it; a screen reader reads it with the field."""
    label = ui.label(text).classes("hint")
    if field is not None:
        field.props["aria-describedby"] = label.html_id
    return label


@contextmanager
def anew(box: ui.element) -> Iterator[None]:
    """Fill a box anew: what was in it is gone."""
    box.clear()
    with box:
        yield


def say_in(label: ui.label, text: str) -> None:
    """Show a text in a label, which is hidden while there is nothing to say."""
    label.set_text(text)
    label.set_visibility(bool(text))


async def answered(dialog: ui.dialog) -> Any:
    """Show a dialog until it is closed, and remove it; returns its result, None if the page is gone."""
    answer = await dialog
    if not dialog.is_deleted:
        dialog.delete()
    return answer


def nothing_yet(icon: str, heading: str, why: str, begin: str) -> None:
    """Say that there is nothing to show yet, and what to do; the button leads to a new conversation.

    Args:
        icon: a picture.
        heading: in a few words.
        why: what would be here, and how it comes.
        begin: the word of the button.
    """
    with ui.column().classes("w-full items-center gap-3 py-16 text-center"):
        ui.icon(icon, size="72px", color="primary").props("aria-hidden=true")
        ui.label(heading).classes("text-xl font-semibold").props("role=heading aria-level=2")
        ui.label(why).classes("muted max-w-[46ch]")
        text_button(begin, lambda: ui.navigate.to("/"), icon="add", look="unelevated")


COPYING_S: Final = 60.0
"""How long a browser may take to copy: it may ask its user first."""


def notify_error(error: Exception) -> None:
    """Show an error as a notification, as plain text."""
    close = {"label": t("common.close"), "color": "white"}
    ui.notify(capitalised(str(error)), type="negative", position="top", multi_line=True, timeout=8000, actions=[close])


def bar(share: float, colour: str) -> ui.element:
    """A bar, as decoration beside its number.

    Args:
        share: of the whole, 0–1.
        colour: of the palette.

    Returns:
        The bar, for `fill`.
    """
    with ui.element("div").classes("meter grow").props("aria-hidden=true"):
        inner = ui.element("div").style(f"background:{colour}")
    fill(inner, share)
    return inner


def fill(inner: ui.element, share: float) -> None:
    """Set a bar's share, 0–1."""
    inner.style(f"width:{min(max(share, 0.0), 1.0):.1%}")


def whole_number(value: Any) -> int | None:
    """The whole number in a field; None if there is none."""
    return int(value) if isinstance(value, int | float) and value == value // 1 else None


MODERATOR: Final = "var(--neutral)"

EMOTION_COLOURS: Final = EMOTION_STYLES

EMOTION_FACES: Final = dict(zip(EMOTIONS, ("😊", "😔", "😠", "😨", "🤢", "😮"), strict=True))
CALM: Final = "😌"

PART_COLOURS: Final = PART_STYLES
"""Of the five parts of a memory's score."""

BLOCK_COLOURS: Final = BLOCK_STYLES
"""Of the blocks of an utterance's prompt, by tag; stories have further ones."""


def colour(name: str, participants: Sequence[str]) -> str:
    """The colour of a speaker in the company of a run; slate for those who are not participants."""
    return person_style(name, participants)


def own_colour(name: str) -> str:
    """The colour of a persona in no company, as in the library."""
    return f"var(--p{preferred(name)})"


# Dialogs, tables and menus that are filled by those who open them


@contextmanager
def dialog(heading: str, width: str = "w-96") -> Iterator[ui.dialog]:
    """An open dialog with a heading, to be filled; it is removed when it closes."""
    with ui.dialog(value=True) as box, ui.card().classes(f"surface {width} max-w-full gap-3"):
        named(box, heading)
        ui.label(heading).classes("text-lg font-semibold").props("role=heading aria-level=2")
        yield box
    box.on("hide", box.delete)


@contextmanager
def tall_dialog(heading: str, mark: str) -> Iterator[ui.dialog]:
    """An open dialog with much in it, to be filled: it scrolls below its heading, and is removed when it closes."""
    with ui.dialog(value=True) as box, ui.element("div").classes("surface would-go").mark(mark):
        named(box, heading)
        with ui.row().classes("w-full items-center gap-2 no-wrap px-3 py-2 bar"):
            ui.label(heading).classes("text-sm font-semibold grow min-w-0 words").props("role=heading aria-level=2")
            icon_button("close", t("common.close"), box.close)
        with ui.element("div").classes("scroll would-body").props("tabindex=0") as body:
            named(body, heading)
            yield box
    box.on("hide", box.delete)


def dialog_buttons(box: ui.dialog, text: str, on_click: Callable[[], Any], *, icon: str = "") -> ui.button:
    """The last line of a dialog: leave it, or do what it is for; returns the button that does."""
    with ui.row().classes("w-full justify-end gap-2"):
        text_button(t("common.cancel"), box.close)
        return text_button(text, on_click, icon=icon, look="unelevated")


_LONG: Final = 240
"""The longest text, in characters, that a table shows whole; a longer one scrolls."""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table of texts; the first text of a row is its name."""
    box = ui.element("div").classes("w-full overflow-x-auto").props("tabindex=0")
    with box, ui.element("table").classes("facts w-full text-sm"):
        with ui.element("thead"), ui.element("tr"):
            for text in heads:
                with ui.element("th").props("scope=col"):
                    ui.label(text)
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for place, text in enumerate(row):
                        with ui.element("td") if place else ui.element("th").props("scope=row"):
                            ui.label(text).classes("max-h-40 scroll" if len(text) > _LONG else "")


def menu_made_anew(button: ui.button, fill: Callable[[], Any]) -> None:
    """Let a button open a menu that is filled each time, because what is in it changes."""

    def show() -> None:
        with anew(button), ui.menu().props("max-width=420px") as opened:
            fill()
        opened.open()

    button.on_click(show)


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show an error of what is done within as a notification; the rest of it is left out."""
    try:
        yield
    except PerSimChatError as error:
        notify_error(error)


_Result = TypeVar("_Result")


async def with_waits(work: Coroutine[Any, Any, _Result]) -> _Result | None:
    """Do work that may wait for a model's server; while one is silent, a dialog says so, and can end the work.

    Args:
        work: it draws nothing on the page.

    Returns:
        Its result; None if the user has ended it.
    """
    with context.client.content, ui.dialog().props("persistent") as box, ui.card().classes("surface gap-3 max-w-full"):
        named(box, t("models.waiting_title"))
        ui.label(t("models.waiting_title")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        with ui.row().classes("items-center gap-2 no-wrap text-sm"):
            ui.spinner(size="20px").props("aria-hidden=true")
            whom = ui.label().classes("[overflow-wrap:anywhere]").props("role=status").mark("waiting")
            seconds = ui.label().classes("shrink-0").props("aria-hidden=true")
        with ui.row().classes("w-full justify-end"):
            text_button(t("common.cancel"), lambda: doing.cancel()).mark("stop-waiting")

    def show(waits: list[Waiting]) -> None:
        box.set_value(bool(waits))
        if waits:
            with box:
                whom.set_text(silent(waits))
                seconds.set_text(f"({max(one.seconds for one in waits)} s)")

    with waits_told(show):
        doing: asyncio.Task[_Result] = asyncio.create_task(work)
    try:
        await asyncio.wait([doing])
    finally:
        doing.cancel()
        if not box.is_deleted:  # with the page
            box.delete()
    return None if doing.cancelled() else doing.result()


def silent(waits: Sequence[Waiting]) -> str:
    """Which servers say nothing yet, as a sentence."""
    return t("models.waiting", servers=", ".join(one.whom for one in waits))


def centred(icon: str, text: str, *, size: str = "64px") -> ui.column:
    """A picture and a sentence in the middle of a place that has nothing else; the caller may add to it."""
    with ui.column().classes("m-auto items-center gap-3 p-6 text-center") as box:
        ui.icon(icon, size=size, color="primary").props("aria-hidden=true")
        ui.label(text).classes("text-xl font-semibold words").props("role=heading aria-level=1")
    return box


_ENTER: Final = """(e) => {
  if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) { e.preventDefault(); emit(); }
}"""


def sent_with_enter(field: ui.element, send: Callable[[], Any]) -> None:
    """Let Enter send what is in a field; with Shift it begins a new line."""
    field.on("keydown", send, js_handler=_ENTER)


_POLL_S: Final = 0.15


def follow(draw: Callable[[], Any]) -> ui.timer:
    """Draw now and as long as the page is open; whoever draws looks whether there is anything new."""
    draw()
    return ui.timer(_POLL_S, draw)


# Browsers allow the clipboard only on pages of this machine and of https.
_COPY: Final = "try {{ await navigator.clipboard.writeText({text}); return true; }} catch {{ return false; }}"


def command(text: str) -> None:
    """Draw a command with a button that copies it."""

    async def copy() -> None:
        copied = await ui.run_javascript(_COPY.format(text=json.dumps(text)), timeout=COPYING_S)
        ui.notify(
            t("experiments.copied" if copied else "experiments.not_copied"), type="positive" if copied else "info"
        )

    with ui.row().classes("command w-full items-center gap-1 no-wrap pl-3 pr-1 py-1"):
        ui.label(text).classes("font-mono text-sm grow min-w-0 [overflow-wrap:anywhere]")
        icon_button("content_copy", t("experiments.copy"), copy)
