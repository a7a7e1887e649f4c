"""The field of a setting: drawn by its kind, bound to the form, with explanation, suggestions and error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, cast, get_args

from nicegui import ui
from nicegui.elements.mixins.value_element import ValueElement

from ....reports.words import module_name, spaced
from ....state.errors import PerSimChatError
from ....state.kinds import is_open
from ....state.kinds.groups import joinable, names_in
from ....state.minds.ablation import ABLATED
from ....state.minds.pruning import REMOVABLE, Fill, Method, Query, letters_of
from ....state.packages import ADDED
from ....state.setting import RetrievalWeights, modules
from ....state.settings import ABOUT
from ..live_runs import scorer_missing
from ..shared.lists import Field, Row, Rows
from ..widgets import SEGMENTS, anew, hint, named, say_in, whole_number
from ..words import number, t, t_or
from .form import Form, Mark, Spec, offered, read_number, specs

EMBEDDINGS: Final = ("lexical", "minilm", "openai:text-embedding-3-small", "bge-m3@http://localhost:8000/v1")
"""Embeddings."""

_FIELD: Final = "hide-bottom-space"
_SIDE_BY_SIDE: Final = 2
"""The most options shown side by side; more become a list."""


def bound(
    form: Form,
    name: str,
    element: ValueElement[Any],
    *,
    read: Callable[[Any], Any] = lambda value: value,
    write: Callable[[Any], Any] = lambda value: value,
    offer: Callable[[], None] | None = None,
    give: Callable[[Any], None] | None = None,
) -> None:
    """Let a field show a setting, or a part of a group of settings, and write into it.

    Args:
        form: the form of the setting.
        name: the setting's; with the part's after a dot.
        element: the field.
        read: turns the field's content into a value; raises ValueError if that is impossible.
        write: turns a value into the field's content.
        offer: brings the options up to date; None if they never change.
        give: takes a new value; None writes it into the form.
    """
    showing = in_use = False

    def show() -> None:
        nonlocal showing
        showing = True
        try:
            if offer is not None:
                offer()
            element.set_value(write(form.value(name)))
        finally:
            showing = False

    def given() -> None:
        if showing:
            return
        form.unread.pop(name, None)
        try:
            value = read(element.value)
        except ValueError as error:
            form.unread[name] = str(error)
            form.changed()
        else:
            if "." not in name or value != form.value(name):
                (give or partial(form.set, name))(value)

    def use(used: bool) -> None:
        nonlocal in_use
        in_use = used
        follow()

    def says() -> bool:
        try:
            return bool(read(element.value) == form.value(name)) and element.value not in ("", None)
        except ValueError:
            return False

    def follow() -> None:
        """Offer what the draft can have; show the value in a field that is not in use and says another."""
        if offer is not None or not (in_use or name in form.unread or says()):
            show()

    form.redraw(show)
    form.follow(follow)
    show()
    element.on_value_change(given)
    element.on("focus", lambda: use(True))
    element.on("blur", lambda: use(False))


def label_of(name: str) -> str:
    """The label of a setting; its name if the catalogue has none yet."""
    return _text(name, spaced(name).capitalize())


def explanation_of(name: str) -> str:
    """The help of a setting; the description in `Settings` if the catalogue has none yet."""
    return _text(f"{name}.help", specs()[name].description)


def option_of(name: str, value: str) -> str:
    """The label of one of a setting's options."""
    return _text(f"{name}.{value}", spaced(value))


def _text(key: str, otherwise: str) -> str:
    return t_or(f"settings.{key}", otherwise)


def setting_field(form: Form, name: str, suggestions: Sequence[str] = (), *, hinted: bool = True) -> None:
    """Draw a setting.

    Args:
        form: into which it writes.
        name: the setting's.
        suggestions: values that are suggested beside a text field.
        hinted: whether a line under it explains it.
    """
    spec = specs()[name]
    if name == "pruning":
        _Pruning(form)
        return
    with ui.column().classes("w-full gap-1 min-w-0") as row:
        if spec.kind == "switch":
            field: ui.element = ui.switch(label_of(name), value=bool(form.value(name))).props("dense")
            field.classes("py-1 text-sm").mark(f"setting-{name}")
            form.fault(name)
            bound(form, name, cast(ui.switch, field), read=lambda value: value is True, write=bool)
        elif spec.kind == "choice":
            field = _choice(form, spec)
        elif name in _SEVERAL:
            field = _several(form, spec)
        elif name in _NAMES:
            field = _NamedValues(form, name).group
        else:
            field = _text_field(form, spec, suggestions)
        if hinted:
            hint(explanation_of(name), field)
    form.follow(lambda: row.set_visibility(is_seen(form, name)))


def is_seen(form: Form, name: str) -> bool:
    """Whether a setting counts for the draft, or is wrong."""
    if name in form.wrong:
        return True
    chosen = {other: form.value(other) for other in ("mode", "baseline", "cognition")}
    if form.draft.story is not None:
        chosen["mode"] = "story"
    if name in _SEVERAL and not (form.value(name) or _SEVERAL[name]()):
        return False
    return is_open(name, chosen) and all(form.value(other) in values for other, values in ABOUT[name].needs.items())


def _choice(form: Form, spec: Spec) -> ui.element:
    label = label_of(spec.name)

    def named_options(values: Sequence[str]) -> dict[str, str]:
        none = {"": option_of(spec.name, "none")} if spec.optional else {}
        return none | {value: option_of(spec.name, value) for value in values}

    options = named_options(spec.options)
    element: ui.toggle | ui.select
    if len(options) <= _SIDE_BY_SIDE:
        ui.label(label).classes("text-xs muted").props("aria-hidden=true")
        element = ui.toggle(options).props(f"{SEGMENTS} spread role=group size=12px").classes("seg surface w-full")
        named(element, label)
        form.fault(spec.name)
    else:
        element = ui.select(options, label=label).props(f"{_FIELD} options-dense").classes("w-full")
        form.mark(spec.name, error_of(element))
    element.mark(f"setting-{spec.name}")

    def written(value: Any) -> Any:
        return (value or "") if (value or "") in element.options else None

    def offer() -> None:
        _set_options(element, named_options(offered(form.draft, spec)))

    bound(form, spec.name, element, read=lambda value: value or None, write=written, offer=offer)
    return element


def _set_options(element: ui.toggle | ui.select, options: dict[str, str]) -> None:
    """Offer other options than now; the same ones are not sent again."""
    if options != element.options:
        element.set_options(options)


_SEVERAL: Final[dict[str, Callable[[], Sequence[str]]]] = {
    "ablation": lambda: ABLATED,
    "modules": lambda: tuple(ADDED["module"]),
    "joined": joinable,
}
"""Settings that are some of these modules."""


def _several(form: Form, spec: Spec) -> ui.element:
    name = spec.name
    element = ui.select({}, label=label_of(name), multiple=True).props(f"{_FIELD} options-dense use-chips")
    form.mark(name, error_of(element.classes("w-full").mark(f"setting-{name}")))

    def offer() -> None:
        able = [module for module in _SEVERAL[name]() if module != "openness" or form.value("mode") == "debate"]
        chosen = names_in(form.value(name))
        _set_options(element, {module: _called(name, module) for module in dict.fromkeys((*able, *chosen))})

    bound(form, name, element, read=list, write=names_in, offer=offer)
    return element


def _text_field(form: Form, spec: Spec, suggestions: Sequence[str]) -> ui.element:
    field: ui.input | ui.textarea
    if spec.kind in ("lines", "yaml"):
        field = ui.textarea(label_of(spec.name)).props(f"{_FIELD} rows=3 input-class=text-sm").classes("grows")
    else:
        field = ui.input(label_of(spec.name)).props(_FIELD)
        if spec.kind in ("integer", "number") and not suggestions:
            field.props("inputmode=decimal" if spec.kind == "number" else "inputmode=numeric")
        if suggestions:
            with field.add_slot("append"):
                button = ui.button(icon="arrow_drop_down").props("flat round dense size=sm color=grey-7")
                named(button, t("setup.suggestions"))
                with button, ui.menu().props("auto-close"):
                    for suggestion in suggestions:
                        ui.menu_item(suggestion, partial(field.set_value, suggestion))
    if spec.optional:
        field.props["placeholder"] = t("setup.none")
    field.classes("w-full").mark(f"setting-{spec.name}")
    form.text(spec.name, field)
    form.mark(spec.name, error_of(field))

    def read(text: Any) -> Any:
        if str(text or "").strip():
            return spec.read(str(text))
        return None if spec.optional else [] if spec.kind == "lines" else form.usual()[spec.name]

    bound(form, spec.name, field, read=read, write=spec.written)
    return field


def error_of(element: ui.input | ui.textarea | ui.select) -> Mark:
    """Marks a field that shows its error itself; the mark stays until the value is valid."""
    element.without_auto_validation()
    return partial(setattr, element, "error")


# Settings that give names a value each: rows, checked when their field is left

_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "weights": tuple(RetrievalWeights.model_fields),
    "module_models": modules(),
    "module_temperatures": modules(),
}
"""These settings, and the names that can have a value."""
_WHOLE: Final = ("weights",)
"""Those in which every name has a value, so that no row comes or goes."""
_TEXTS: Final = ("module_models",)
"""Those whose values are texts; the others are numbers."""


class _NamedValues:
    def __init__(self, form: Form, name: str) -> None:
        self._form, self._setting, self._whole = form, name, name in _WHOLE
        label = label_of(name)
        ui.label(label).classes("text-xs muted").props("aria-hidden=true")
        self._rows = Rows(None if self._whole else self._name, self._field, self._give, look="value-row")
        self.group = self._rows.box.classes(replace="value-rows w-full").props("role=group").mark(f"setting-{name}")
        named(self.group, label)
        self._fault = form.fault(name, f"fault-{name}")
        if not self._whole:
            add = self._rows.button(t("setup.row_add"), self._add).classes("self-start").mark(f"add-{name}")
            named(add, f"{t('setup.row_add')}: {label}")
        form.mark(name, self._mark)
        form.redraw(self._show)
        form.follow(lambda: None if self._read() == form.value(name) else self._show())
        self._show()

    def _show(self) -> None:
        given = self._form.value(self._setting)
        self._rows.fill(given if isinstance(given, dict) else {})
        self._offer()

    def _add(self) -> None:
        self._rows.add()
        self._offer()

    def _name(self, name: str) -> Field:
        field = ui.select({}, label=t("setup.row_name")).props(f"{_FIELD} options-dense").classes("min-w-0")
        field.set_options({name: name} if name else {}, value=name or None)
        field.on_value_change(self._give)
        return field.mark(f"name-{self._setting}-{len(self._rows.rows)}")

    def _field(self, name: str, value: Any) -> Field:
        shown = f"{value:g}" if isinstance(value, int | float) else str(value or "")
        field = ui.input(_called(self._setting, name) if self._whole else t("setup.row_value"), value=shown)
        field.props(_FIELD).classes("min-w-0")
        if self._setting not in _TEXTS:
            field.props("inputmode=decimal")
        for event in ("blur", "keydown.enter"):
            field.on(event, lambda: self._left(field))
        return field.mark(f"value-{self._setting}-{name if self._whole else len(self._rows.rows)}")

    def _offer(self) -> None:
        """Offer each row the names that no other row has."""
        taken = {row.named for row in self._rows.rows}
        for row in self._rows.rows:
            if isinstance(row.name, ui.select):
                free = [name for name in _NAMES[self._setting] if name == row.named or name not in taken]
                row.name.set_options({name: _called(self._setting, name) for name in free}, value=row.named or None)

    def _left(self, field: ui.input) -> None:
        """Take the value of a field that was left."""
        self._give()
        row = next((row for row in self._rows.rows if row.value is field), None)
        if row is not None and row.named and not (field.value or "").strip():
            self._say(row, t("setup.row_missing"))

    def _read(self) -> dict[str, Any]:
        """The values of the rows that are whole."""
        texts = {row.named: (row.value.value or "").strip() for row in self._rows.rows if row.named}
        as_value: Callable[[str], Any] = str if self._setting in _TEXTS else read_number
        return {name: as_value(text) for name, text in texts.items() if text}

    def _give(self) -> None:
        self._offer()
        if self._read() != self._form.value(self._setting):
            self._form.set(self._setting, self._read())

    def _mark(self, told: str | None) -> None:
        """Mark the row that an error names, and say it below the rows."""
        wrong = next((row for row in self._rows.rows if told and f"{self._setting}.{row.named} " in told), None)
        if told and wrong is not None:
            told = told.replace(f"{self._setting}.{wrong.named} ", f"{_called(self._setting, wrong.named)}: ")
        self._say(wrong, told or "")

    def _say(self, wrong: Row | None, told: str) -> None:
        for row in self._rows.rows:
            row.value.props["error"] = row is wrong
            row.value.update()
        say_in(self._fault, told)


def _called(setting: str, name: str) -> str:
    """A name in words."""
    text = t(f"minds.part_{name}") if setting in _WHOLE else module_name(name)
    return text[:1].upper() + text[1:]


# Pruning: one slider with what it costs, and the rest of the group under it

_STRENGTH: Final = "pruning.lambda"
_METHOD: Final = "pruning.method"
INSTEAD: Final = "embedding"
"""The method that is offered where attention cannot score."""


def strength_of(form: Form) -> float:
    """λ; 0 if it is none."""
    value = form.value(_STRENGTH)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def cost_of(form: Form) -> list[str]:
    """What the values of pruning cost, as keys of the catalogue, a sentence each."""
    method = form.value(_METHOD)
    if strength_of(form) <= 0:
        return ["setup.pruning_off_removed" if form.value("pruning.remove") else "setup.pruning_off"]
    first = form.value("pruning.query") == "response" and method in ("attention", "embedding")
    found = ["setup.pruning_first" if first else "setup.pruning_free"]
    if method == "attention":
        found.append("setup.pruning_reads")
    if form.value("pruning.revision") == "again":
        found.append("setup.pruning_checks")
    return found


class _Pruning:
    def __init__(self, form: Form) -> None:
        self._form = form
        self._missing: PerSimChatError | None = None
        self._known = self._early = False
        with ui.column().classes("w-full gap-1 pt-1") as self._box:
            ui.label(t("settings.pruning")).classes("text-sm").props("aria-hidden=true")
            self._slider()
            hint(t("settings.pruning.help"))
            self._cost = ui.label().classes("text-xs muted").props("aria-live=polite").mark("pruning-cost")
            fault = form.fault("pruning", "pruning-wrong")
            self._note = ui.column().classes("w-full gap-1 tint").mark("pruning-missing")
            self._note.style("padding:8px 12px; border-radius:12px").set_visibility(False)
            more = ui.expansion(t("setup.pruning_more")).classes("bare w-full").mark("pruning-more")
            with more.props('dense header-class="text-xs muted px-0 min-h-0"'), ui.column().classes("w-full gap-2"):
                self._parts()
        form.follow(self._follow)
        form.follow(lambda: more.open() if fault.visible else None)
        ui.timer(0, self._ask, once=True)

    def _slider(self) -> None:
        with ui.row().classes("w-full items-center gap-3 no-wrap"):
            slider = ui.slider(min=0, max=1, step=0.05, value=0).classes("grow min-w-0 mx-1").mark("setting-pruning")
            named(slider, t("settings.pruning"))
            value = ui.label().classes("text-xs tabular-nums whitespace-nowrap")
        with ui.row().classes("w-full justify-between no-wrap text-xs muted").props("aria-hidden=true"):
            ui.label(t("setup.pruning_least"))
            ui.label(t("setup.pruning_most")).classes("text-right")

        def tell() -> None:
            strength = strength_of(self._form)
            value.set_text(f"λ {number(strength, 2)}")
            slider.props["aria-valuetext"] = t("setup.pruning_value", percent=round(strength * 100))

        def moved(strength: float) -> None:
            self._early = self._early or not self._known
            self._move_to(strength)

        bound(
            self._form,
            _STRENGTH,
            slider,
            read=lambda shown: round(float(shown or 0), 4),
            write=lambda _: strength_of(self._form),
            offer=tell,
            give=moved,
        )

    def _move_to(self, strength: float) -> None:
        """Take over λ, and a method that can score if the draft's own cannot."""
        method = self._form.value(_METHOD)
        if strength > 0 and (method == "none" or (method == "attention" and self._missing is not None)):
            self._form.set(_METHOD, INSTEAD)
        self._form.set(_STRENGTH, strength)

    def _parts(self) -> None:
        for name, values in (("method", Method), ("query", Query), ("responses", None), ("fill", Fill)):
            if values is None:
                self._responses()
                continue
            words = {value: t(f"setup.pruning_{name}_{value}") for value in get_args(values)}
            select = ui.select(words, label=t(f"setup.pruning_{name}")).props("options-dense")
            offer = None
            if name == "method":
                self._methods = offer = partial(self._offer, select, words)
            bound(self._form, f"pruning.{name}", select.classes("w-full").mark(f"pruning-{name}"), offer=offer)
        blocks = {letter: t(f"setup.pruning_block_{letter}") for letter in REMOVABLE}
        remove = ui.select(blocks, label=t("setup.pruning_remove"), multiple=True).classes("w-full")
        remove.props("options-dense use-chips").mark("pruning-remove")
        bound(self._form, "pruning.remove", remove, read=_letters, write=_letters)
        ui.label(t("setup.pruning_remove_help")).classes("text-xs muted")
        again = ui.switch(t("setup.pruning_revision")).props("dense").classes("py-1 text-sm").mark("pruning-revision")
        as_word, as_switch = (lambda on: "again" if on else "off"), (lambda word: word == "again")
        bound(self._form, "pruning.revision", again, read=as_word, write=as_switch)

    def _responses(self) -> None:
        field = ui.number(t("setup.pruning_responses"), min=1, max=10, precision=0).classes("w-full")
        self._form.follow(lambda: field.set_visibility(self._form.value("pruning.query") == "response"))

        def as_whole(value: Any) -> Any:
            return value if (whole := whole_number(value)) is None else whole

        bound(self._form, "pruning.responses", field.mark("pruning-responses"), read=as_whole)

    def _offer(self, select: ui.select, words: dict[str, str]) -> None:
        """The methods that do something here, and the one that the draft has."""
        left_out = {"none", *(["attention"] if self._missing else [])} - {self._form.value(_METHOD)}
        _set_options(select, {value: text for value, text in words.items() if value not in left_out})

    def _follow(self) -> None:
        strength = strength_of(self._form)
        self._cost.set_text(" ".join(t(key, n=self._form.value("pruning.responses")) for key in cost_of(self._form)))
        self._note.set_visibility(self._missing is not None and strength > 0)
        active = strength > 0 or bool(self._form.value("pruning.remove"))
        self._box.set_visibility(active or not self._form.value("baseline"))

    async def _ask(self) -> None:
        """Find out whether attention can score, and say what gets it if not."""
        self._missing = await asyncio.to_thread(scorer_missing)
        self._known = True
        if self._missing is None or self._note.is_deleted:
            return
        with anew(self._note):
            ui.label(t("setup.pruning_missing")).classes("text-xs")
            why = t("setup.pruning_why", what=self._missing.what, remedy=self._missing.remedy)
            ui.label(why).classes("text-xs words")
        if self._early:  # the slider was moved before this was known
            self._move_to(strength_of(self._form))
        self._methods()
        self._follow()


def _letters(value: Any) -> list[str]:
    return list(letters_of(value or ()))
