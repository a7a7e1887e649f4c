"""The part of the set-up that holds a story: the small one that comes with the package, or one from a file."""

from __future__ import annotations

import asyncio

from nicegui import ui

from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.form import Form
from persimchat.app.web.widgets import card, explained
from persimchat.app.web.words import t


def story_part(form: Form) -> None:
    """Draw the offer of a story, or what the chosen one is."""

    async def small() -> None:
        form.take(await asyncio.to_thread(Draft.small_story, form.base))

    with ui.row().classes("w-full items-center gap-1 no-wrap") as offer:
        button = ui.button(t("setup.story_small"), icon="auto_stories", on_click=small).props("outline no-caps")
        button.classes("grow").mark("story-small")
        explained(t("setup.story_help"))
    with card(t("setup.story")) as box:
        about = ui.label().classes("text-xs muted").mark("story-about")
        leave = ui.button(t("setup.story_leave"), icon="close", on_click=lambda: form.take(Draft.fresh(form.base)))
        leave.props("flat dense no-caps size=sm").mark("story-leave")

    def follow() -> None:
        story = form.draft.story
        offer.set_visibility(story is None)
        box.set_visibility(story is not None)
        if story is not None:
            votes = t("setup.story_votes" if story.settlement is not None else "setup.story_no_vote")
            mains = len(story.mains)
            others = len(form.draft.seats) - mains
            counts = t("setup.story_about", mains=mains, others=others) if mains else t("setup.story_all", n=others)
            about.set_text(f"{counts} {t('setup.story_stages', n=len(story.stages))} {votes}")

    form.follow(follow)
