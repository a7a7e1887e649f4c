"""All further settings in three groups, drawn when somebody first opens them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, cast

from nicegui import ui
from nicegui.elements.upload_files import FileUpload

from ....state.document import MAX_BYTES
from ....state.errors import InputError, PerSimChatError
from ....state.plain_text import capitalised
from ....state.setting import Group
from ....state.settings import ABOUT
from ..context import WebContext
from ..personas.uploads import check, upload_field
from ..shared.dialogs import Window, agreed
from ..shared.runs import ONE, SECONDS, Pace, pace_words
from ..widgets import errors_shown, hint, icon_button, item
from ..words import t
from .form import RULES, Form
from .scenario_files import NameTaken, SavedSetups, file_name, scenario_text, servers_in, uploaded
from .setting_field import EMBEDDINGS, error_of, is_seen, setting_field

ELSEWHERE: Final = (
    *("agent_models", "companion", "mode", "max_messages", "model", "answer_format", "choices"),
    "prompts",
)
"""Filled in elsewhere on the page, or not there at all; of no use to conversations."""
GROUPS: Final[dict[str, tuple[Group, ...]]] = {
    "talk": ("conversation", "judge"),
    "minds": ("agents", "speaking"),
    "models": ("model", "limits", "advanced"),
}
"""The groups of the page, and the settings' own groups in each."""
MORE: Final = "more"
"""The part that holds the groups."""
_ICONS: Final = {"talk": "forum", "minds": "psychology", "models": "tune"}
QUIET: Final = "flat dense color=grey-7 padding='2px 8px'"
"""Properties of a button for what is seldom wanted."""
_SUGGESTED: Final = {"embedding": EMBEDDINGS, "listeners": ("all", "4")}


def listed(*groups: Group) -> list[str]:
    """The settings of some groups, in the model's order."""
    return [name for name, about in ABOUT.items() if about.group in groups and name not in ELSEWHERE]


class MoreSettings:
    """The part of the page that holds them.

    Args:
        form: into which they write.
        unfolded: the parts that are open at first: `MORE`, and keys of `GROUPS`.
        keep: called with the parts that are open, whenever they change.

    Attributes:
        beside: a place on the right of the button that opens them.
    """

    def __init__(self, form: Form, unfolded: Sequence[str], keep: Callable[[list[str]], None]) -> None:
        self._form, self._keep = form, keep
        self._parts: dict[str, ui.expansion] = {}
        self._at_first = frozenset(unfolded)
        with ui.column().classes("w-full gap-2"):
            with ui.row().classes("w-full items-center gap-1"):
                self._button = ui.button(t("setup.more_settings"), icon="expand_more", on_click=self._toggle)
                self._button.props(f"{QUIET} aria-expanded=false").mark("more-settings")
                ui.space()
                self.beside = ui.row().classes("gap-1 items-center")
            self._box = ui.column().classes("w-full gap-2")
        self._box.set_visibility(False)
        if MORE in unfolded:
            self._show(True)

    def fold(self) -> None:
        """Close all."""
        for part in self._parts.values():
            part.close()
        self._show(False)

    def open_at(self, wrong: set[str]) -> None:
        """Open the groups that hold one of these fields, if any does."""
        names = {name for groups in GROUPS.values() for name in listed(*groups)} | {RULES}
        if wrong & names:
            self._show(True)

    def _toggle(self) -> None:
        self._show(not self._box.visible)

    def _show(self, wanted: bool) -> None:
        if wanted:
            self._draw()
        self._box.set_visibility(wanted)
        state = "true" if wanted else "false"
        self._button.props(f"aria-expanded={state} icon={'expand_less' if wanted else 'expand_more'}")
        self._tell()

    def _tell(self) -> None:
        """Tell which parts are open."""
        self._keep([*([MORE] if self._box.visible else []), *(key for key, part in self._parts.items() if part.value)])

    def _draw(self) -> None:
        if self._parts:
            return
        with self._box:
            for key, groups in GROUPS.items():
                self._part(key, groups)
        self._form.changed()

    def _part(self, key: str, groups: tuple[Group, ...]) -> None:
        names = [*listed(*groups), *([RULES] if key == "talk" else [])]
        part = ui.expansion(
            t(f"setup.group_{key}"),
            caption=t(f"setup.group_{key}_about"),
            icon=_ICONS[key],
            value=key in self._at_first,
        )
        self._parts[key] = part
        part.props["toggle-aria-label"] = ""  # its name is what stands in it; Quasar's own would not have the caption
        part.classes("surface w-full").props('header-class="px-3 rounded-xl"').mark(f"part-{key}")
        with part, ui.column().classes("setup w-full gap-4 px-1 pb-3"):
            for number, group in enumerate(groups):
                if number:
                    self._heading(group)
                if group == "conversation":
                    _pace(self._form)
                for name in listed(group):
                    setting_field(self._form, name, _SUGGESTED.get(name, ()))
                if group == "conversation":
                    _rules(self._form)
        part.on_value_change(self._tell)
        self._form.follow(lambda: part.open() if any(name in self._form.wrong for name in names) else None)

    def _heading(self, group: Group) -> None:
        """The heading of a group's settings, while there are any."""
        heading = ui.label(t(f"setup.sub_{group}")).classes("panel-title pt-2").props("role=heading aria-level=3")
        names = listed(group)
        self._form.follow(lambda: heading.set_visibility(any(is_seen(self._form, name) for name in names)))


def _pace(form: Form) -> None:
    """How fast the conversation goes at first; the page of the run has a button that changes it."""
    with ui.column().classes("w-full gap-1") as box:
        options = {pace: pace_words(pace) for pace in (*SECONDS, ONE)}
        field = ui.select(options, label=t("setup.pace"), value=form.draft.pace)
        field.props("hide-bottom-space options-dense").classes("w-full").mark("pace")
        hint(t("setup.pace_help"), field)

    def chosen() -> None:
        if field.value != form.draft.pace:
            form.draft.chosen_pace = cast(Pace, field.value)
            form.changed()

    def follow() -> None:
        field.set_value(form.draft.pace)
        box.set_visibility(form.value("baseline") is None)

    field.on_value_change(chosen)
    form.follow(follow)


def _rules(form: Form) -> None:
    """The rules that all participants know, one per line."""
    with ui.column().classes("w-full gap-1"):
        field = ui.textarea(t("setup.rules"), value="\n".join(form.draft.rules))
        field.props("hide-bottom-space rows=2 input-class=text-sm").classes("w-full grows").mark("rules")
        hint(t("setup.rules_help"), field)

    def typed() -> None:
        rules = [line.strip() for line in (field.value or "").splitlines() if line.strip()]
        if rules != form.draft.rules:
            form.draft.rules = rules
            form.changed()

    field.on_value_change(typed)
    form.mark(RULES, error_of(field))
    form.redraw(lambda: field.set_value("\n".join(form.draft.rules)))


# Saves, loads and shares the set-up


_TOPIC_IN_NAME: Final = 40
_ENDINGS: Final = (".yaml", ".yml", ".json")


class FilesMenu:
    """The menu that saves, opens and shares the set-up."""

    def __init__(self, web: WebContext, form: Form) -> None:
        self._form = form
        self._saved = SavedSetups(web.library)
        button = ui.button(t("setup.files"), icon="folder_open").props(f"{QUIET} aria-haspopup=menu")
        with button.mark("files").classes("files"), ui.menu().props("auto-close role=menu"):
            for key, icon, act in (
                ("open", "folder_open", self._open),
                ("save", "save", self._save),
                ("download", "download", self._download),
                ("upload", "upload", self._upload),
            ):
                item(icon, t(f"setup.{key}"), act).mark(f"files-{key}")

    def _download(self) -> None:
        try:
            name = file_name(self._form.draft.topic[:_TOPIC_IN_NAME])
        except InputError:
            name = "scenario"
        ui.download.content(scenario_text(self._form.draft).encode(), f"{name}.yaml", "application/yaml")

    async def _save(self) -> None:
        window = Window(t("setup.save"), width="small")
        with window.body:
            name = ui.input(t("setup.save_name"), value=self._form.draft.topic[:_TOPIC_IN_NAME]).mark("save-name")
            name.props("autofocus maxlength=80").classes("w-full")
            ui.label(t("setup.save_about")).classes("text-xs muted")
        save = window.offer(t("setup.save_do"), lambda: keep()).mark("save-do")

        async def keep() -> None:
            again = save.text == t("setup.replace")
            try:
                kept = await asyncio.to_thread(self._saved.save, name.value or "", self._form.draft, replace=again)
            except PerSimChatError as error:
                name.error = capitalised(str(error))
                if isinstance(error, NameTaken):  # the next click replaces it
                    save.set_text(t("setup.replace"))
            else:
                window.submit(None)
                ui.notify(t("setup.saved", name=kept), type="positive")

        def retried() -> None:
            save.set_text(t("setup.save_do"))
            name.error = None

        name.on("keydown.enter", lambda: keep())
        name.on_value_change(retried)
        await window.closed()

    async def _open(self) -> None:
        names = await asyncio.to_thread(self._saved.names)
        window = Window(t("setup.open"), width="small")
        with window.body:
            if not names:
                ui.label(t("setup.none_saved")).classes("text-sm muted")
            for name in names:
                self._entry(name, window)
        await window.closed()

    def _entry(self, name: str, window: Window) -> None:
        async def load() -> None:
            with errors_shown():
                draft = await asyncio.to_thread(self._saved.load, name)
                window.submit(None)
                self._form.take(draft)

        async def delete() -> None:
            if not await agreed(t("setup.delete", name=name), t("personas.delete")):
                return
            with errors_shown():
                await asyncio.to_thread(self._saved.delete, name)
                row.set_visibility(False)
                ui.notify(t("setup.deleted", name=name))

        with ui.row().classes("w-full items-center gap-1 no-wrap") as row:
            with ui.button(on_click=load).props("flat align=left").classes("grow min-w-0"):
                ui.label(name).classes("truncate")
            icon_button("delete", t("setup.delete", name=name), delete).props("size=sm")

    async def _upload(self) -> None:
        window = Window(t("setup.upload"), width="small")

        async def take(files: list[FileUpload]) -> None:
            try:
                check(files, _ENDINGS, MAX_BYTES)
                draft = await asyncio.to_thread(uploaded, files[-1].name, await files[-1].read())
            except PerSimChatError as error:
                window.complain(str(error))
                return
            window.submit(None)
            self._form.take(draft)
            ui.notify(t("setup.uploaded"), type="positive")
            if servers := servers_in(draft):
                close = {"label": t("common.close"), "color": "white"}
                told = t("setup.servers", servers=", ".join(servers))
                ui.notify(told, type="warning", position="top", multi_line=True, timeout=0, actions=[close])

        with window.body:
            ui.label(t("setup.upload_about")).classes("text-sm muted")
            upload_field(t("setup.upload_choose"), _ENDINGS, take, MAX_BYTES).mark("upload")
        await window.closed()
