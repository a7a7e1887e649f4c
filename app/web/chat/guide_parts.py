"""What a focus group's guide adds to the conversation: the question that an utterance puts, and what is shown."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.widgets import named
from persimchat.app.web.words import t
from persimchat.runs.events import GuideTold, Uttered


def draw_question(said: Uttered, guide: GuideTold | None) -> None:
    """Draw the question that an utterance puts, and what everybody is shown with it; nothing over all others."""
    if guide is None or not said.question or said.question > len(guide.questions):
        return
    with ui.column().classes("w-full gap-0 asked-of-all").props("role=heading aria-level=3"):
        ui.label(t("chat.question", n=said.question, of=len(guide.questions))).classes("text-xs muted font-semibold")
        ui.label(guide.questions[said.question - 1]).classes("text-base font-semibold break-words")
    if said.question in guide.shown_with:
        draw_shown(guide, t("chat.shown_now"))


def draw_shown(guide: GuideTold, when: str) -> None:
    """Draw what everybody is shown.

    Args:
        guide: the guide; nothing is drawn if it shows nothing.
        when: since when, in words.
    """
    if not guide.shown:
        return
    with ui.column().classes("w-full gap-1 shown-to-all").props("role=region tabindex=0").mark("shown") as box:
        named(box, when)
        ui.label(when).classes("text-xs muted font-semibold")
        ui.label(guide.shown).classes("text-sm break-words whitespace-pre-wrap")
