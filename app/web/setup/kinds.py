"""How they talk: cards for the kinds of conversation, and the length."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final, Literal

from nicegui import ui

from persimchat.app.web.setup.draft import Draft, Seat
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.guide_draft import FEWEST, GuideDraft, moderator
from persimchat.app.web.setup.guide_form import guide_form
from persimchat.app.web.setup.roving import roves, stop
from persimchat.app.web.setup.setting_field import is_seen, setting_field
from persimchat.app.web.setup.specs import usual
from persimchat.app.web.widgets import named, title
from persimchat.app.web.words import t
from persimchat.state.normalise import visible_form

Kind = Literal["discussion", "debate", "focus", "story"]
KINDS: Final[dict[Kind, str]] = {
    "discussion": "forum",
    "debate": "balance",
    "focus": "groups",
    "story": "auto_stories",
}
"""The kinds of conversation with their pictures."""
ELSEWHERE: Final = (("companion", "face", "/companion"), ("experiment", "science", "/experiments"))
"""What is set up on pages of its own."""
LENGTHS: Final = {"short": 10, "middle": 20, "long": 40}
"""Messages that are offered at once."""


def kind_of(draft: Draft, mode: str) -> Kind:
    """The kind of conversation that a draft is.

    Args:
        draft: the draft.
        mode: the value of that setting.
    """
    if draft.story is not None:
        return "story"
    return "focus" if draft.guide is not None else "debate" if mode == "debate" else "discussion"


def kinds_part(form: Form) -> None:
    """Draw the cards, what the chosen one needs, and the length."""
    with ui.column().classes("w-full gap-3"):
        title(t("setup.how"))
        _Cards(form)
        guide_form(form)
        _answer(form)
        _story(form)
        _length(form)


class _Cards:
    def __init__(self, form: Form) -> None:
        self._form = form
        self._before: Draft | None = None  # what a story took the place of
        self._cards: dict[Kind, ui.button] = {}
        with ui.element("div").classes("kinds w-full"):
            with ui.element("div").classes("contents").props("role=radiogroup") as group:
                named(group, t("setup.how"))
                for kind, icon in KINDS.items():
                    self._cards[kind] = button = ui.button(color=None, on_click=lambda kind=kind: self._choose(kind))
                    button.props("flat no-caps role=radio").classes("kind").mark(f"kind-{kind}")
                    about = _face(button, icon, kind)
                    if kind == "debate":
                        form.follow(partial(_tell_of_debates, form, about))
            roves(group)
            for name, icon, address in ELSEWHERE:
                link = ui.button(color=None).props("flat no-caps").classes("kind").mark(f"kind-{name}")
                link.props["href"] = address
                _face(link, icon, name)
        form.follow(self._follow)
        self._follow()

    @property
    def _now(self) -> Kind:
        return kind_of(self._form.draft, str(self._form.value("mode")))

    def _follow(self) -> None:
        now = self._now
        for kind, card in self._cards.items():
            card.props["aria-checked"] = "true" if kind == now else "false"
            stop(card, first=kind == now)
            card.update()

    async def _choose(self, kind: Kind) -> None:
        form = self._form
        if kind == self._now:
            return
        if kind == "story":
            self._before = form.draft
            form.take(await asyncio.to_thread(Draft.small_story, form.base))
            return
        if form.draft.story is not None:
            form.take(self._before or Draft.fresh(form.base))
        draft = form.draft
        if kind == "focus" and draft.guide is None:
            _give_guide(form)
        elif kind != "focus" and draft.guide is not None:
            _take_guide(form)
        form.set("mode", "debate" if kind == "debate" else "discussion")
        form.take(draft)


def _give_guide(form: Form) -> None:
    """Make a focus group of the draft: a person among them asks, or a moderator joins."""
    draft = form.draft
    people = [seat for seat in draft.seats if seat.persona.human]
    if not people or len(draft.seats) < FEWEST:
        asks = moderator()
        if visible_form(asks.name) not in map(visible_form, draft.names):
            draft.seats.insert(0, Seat(asks))
    else:
        asks = people[0].persona
    draft.guide = GuideDraft.suggested(asks.name)
    form.set("mode", "discussion")
    if "max_messages" not in draft.settings:
        _follow_guide(form)


def _follow_guide(form: Form) -> None:
    """Give the conversation the messages that its guide can take, so that no limit ends it before the last question."""
    guide = form.draft.guide
    most = None if guide is None else guide.most_said(len(form.draft.seats))
    if guide is not None and most is not None and most != guide.limit:
        guide.limit = most
        form.set("max_messages", most)


def _take_guide(form: Form) -> None:
    """Make an ordinary conversation of a focus group; a moderator who joined for it leaves."""
    draft = form.draft
    draft.guide = None
    if (joined := next((seat for seat in draft.seats if seat.persona == moderator()), None)) is not None:
        draft.remove(joined)
    draft.settings.pop("max_messages", None)


def _tell_of_debates(form: Form, about: ui.label) -> None:
    """Say what a debate is, with the most messages that it would have."""
    given = form.draft.settings.get("max_messages")
    most = given if isinstance(given, int) else usual(form.base, "debate")["max_messages"]
    about.set_text(t("setup.kind_debate_about", n=most))


def _face(button: ui.button, icon: str, key: str) -> ui.label:
    """Draw what a card says; returns the label of what it is about."""
    with button, ui.column().classes("w-full gap-0 items-start text-left"):
        ui.icon(icon, size="22px").classes("kind-icon").props("aria-hidden=true")
        ui.label(t(f"setup.kind_{key}")).classes("text-sm font-semibold")
        about = ui.label() if key == "debate" else ui.label(t(f"setup.kind_{key}_about"))
        return about.classes("text-xs muted")


def _answer(form: Form) -> None:
    """What a debate looks for: the form of the answer and, if it is one of several, these."""
    with ui.column().classes("w-full gap-3") as box:
        with ui.element("div").classes("w-64 max-w-full"):
            setting_field(form, "answer_format", hinted=False)
        setting_field(form, "choices")

    def follow() -> None:
        box.set_visibility(is_seen(form, "answer_format"))

    form.follow(follow)
    follow()


def _story(form: Form) -> None:
    """What the chosen story is."""
    about = ui.label().classes("text-sm muted").mark("story-about")

    def follow() -> None:
        story = form.draft.story
        about.set_visibility(story is not None)
        if story is not None:
            votes = t("setup.story_votes" if story.settlement is not None else "setup.story_no_vote")
            mains = len(story.mains)
            others = len(form.draft.seats) - mains
            counts = t("setup.story_about", mains=mains, others=others) if mains else t("setup.story_all", n=others)
            stages = t("setup.story_stages", n=len(story.stages))
            about.set_text(f"{counts} {stages} {votes} {t('setup.story_own')}")

    form.follow(follow)
    follow()


def _length(form: Form) -> None:
    """The message limit, with some limits to choose from."""
    with ui.row().classes("w-full items-start gap-3") as row:
        with ui.element("div").classes("w-40"):
            setting_field(form, "max_messages", hinted=False)
        with ui.row().classes("items-center gap-1 pt-1").props("role=toolbar") as choices:
            named(choices, t("setup.lengths"))
            for number, (name, length) in enumerate(LENGTHS.items()):
                button = ui.button(t(f"setup.length_{name}", n=length), on_click=lambda n=length: choose(n))
                button.props("flat dense rounded no-caps color=grey-7 padding='2px 10px'").mark(f"length-{name}")
                stop(button, first=number == 0)
        roves(choices)
        expected = ui.label().classes("text-xs muted pt-2 grow").mark("length-about")

    def choose(length: int) -> None:
        form.set("max_messages", length)
        form.take(form.draft)

    def follow() -> None:
        draft = form.draft
        if draft.guide is not None and draft.guide.limit is not None:
            if form.value("max_messages") != draft.guide.limit:
                draft.guide.limit = None  # the user has given another
            else:
                _follow_guide(form)
        row.set_visibility(draft.story is None)
        messages = 0 if draft.guide is None else draft.guide.answers_expected(max(1, len(draft.seats) - 1))
        told = t("setup.guide_length", n=messages) if messages else ""
        most = form.value("max_messages")
        if form.value("mode") == "debate" and isinstance(most, int):
            told = t("setup.debate_length", n=most)
        expected.set_text(told)

    form.follow(follow)
    follow()
