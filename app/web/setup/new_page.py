"""The first screen: one column from the topic to the start, and below it a sample and the latest runs."""

from __future__ import annotations

import asyncio

from nicegui import ui

from persimchat.app.web.context import WebContext
from persimchat.app.web.personas.chooser import take_pending_personas
from persimchat.app.web.setup.below import latest_runs, recent_part, sample_part
from persimchat.app.web.setup.draft import Draft, Seat
from persimchat.app.web.setup.faces import faces
from persimchat.app.web.setup.files_menu import files_menu
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.kept_draft import KeptDraft
from persimchat.app.web.setup.kinds import kinds_part
from persimchat.app.web.setup.model_line import model_line
from persimchat.app.web.setup.more_settings import QUIET, MoreSettings
from persimchat.app.web.setup.scenario_files import SavedSetups
from persimchat.app.web.setup.starting import start_part
from persimchat.app.web.setup.topic_box import topic_box
from persimchat.app.web.shared.stories import closed
from persimchat.app.web.widgets import notify_error
from persimchat.app.web.words import t
from persimchat.runs.folder.reading import read_manifest
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.settings import Settings


async def new_conversation(web: WebContext, *, like: str = "", setup: str = "") -> None:
    """Draw the screen.

    Args:
        web: the context of the pages.
        like: a run whose set-up is copied.
        setup: a saved set-up of the library to copy.
    """
    try:
        base = load_settings()
    except PerSimChatError as error:  # settings of the environment are wrong; starting a run raises the same error
        notify_error(error)
        base = Settings()
    kept = KeptDraft(f"setup={setup}" if setup else f"like={like}" if like else "")
    form = Form(await _draft(web, kept, base, like, setup), base)
    latest = await latest_runs(web)  # nothing is drawn before the last wait: the browser gets the page in one piece
    with ui.column().classes("new w-full gap-8 no-wrap"):
        topic_box(form)
        faces(web, form)
        kinds_part(form)
        with ui.column().classes("w-full gap-3"):
            model_line(form)
            more = MoreSettings(form, kept.unfolded, kept.keep_unfolded)
            with more.beside:
                reset = ui.button(t("setup.reset"), icon="restart_alt").props(QUIET).mark("files-reset")
                files_menu(web, form)
            too_large = ui.label(t("setup.too_large")).classes("text-xs text-negative").mark("too-large")
            too_large.set_visibility(False)
        start_part(web, form, opened=more.open_at)
        sample_part(web)
        recent_part(latest)

    def over() -> None:
        form.take(Draft.fresh(base))
        more.fold()
        kept.drop(form.draft)
        if like or setup:
            ui.navigate.history.replace("/")

    reset.on_click(over)
    form.changed()
    form.follow(lambda: too_large.set_visibility(not kept.keep(form.draft)))


async def _draft(web: WebContext, kept: KeptDraft, base: Settings, like: str, setup: str) -> Draft:
    """The draft that the page begins with: this browser's own, or the one that the address names."""
    draft = kept.taken_up()
    if draft is None:
        try:
            draft = await asyncio.to_thread(_named, web, base, like, setup)
        except PerSimChatError as error:
            notify_error(error)
            draft = Draft.fresh(base)
    kept.begin(draft)
    if not (like or setup) and (personas := take_pending_personas()):
        draft = draft if draft.story is None else Draft.fresh(base)
        draft.seats, draft.relationships, draft.guide = [Seat(persona) for persona in personas], [], None
        kept.keep(draft)
    return draft


def _named(web: WebContext, base: Settings, like: str, setup: str) -> Draft:
    if setup:
        return SavedSetups(web.library).load(setup)
    if not like:
        return Draft.fresh(base)
    folder = web.runs.folder(like)
    if closed(folder):  # parts, goals and secrets of all characters are in its set-up
        raise InputError(t("setup.closed"), where=like, remedy=t("setup.closed_remedy"))
    return Draft.of_run(read_manifest(folder), base)
