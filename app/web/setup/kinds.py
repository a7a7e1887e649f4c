"""How they talk: cards for the kinds of conversation, the guide of a focus group, and the length."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from nicegui import ui
from nicegui.elements.mixins.value_element import ValueElement

from ....state.kinds import added
from ....state.plain_text import visible_form
from ....state.poll import LONGEST_QUESTION, LONGEST_STIMULUS, MOST_POSITIONS, MOST_QUESTIONS
from ....state.settings import MODES
from ..widgets import anew, hint, icon_button, named, reached, title, whole_number
from ..words import t
from .draft import FEWEST, Asked, Draft, GuideDraft, Seat, Stand, moderator, usual
from .form import GUIDE, Form
from .setting_field import is_seen, setting_field

ANSWERS: Final = ("yesno", "scale:1-5", "scale:1-7", "scale:0-10", "choice", "number")
"""Forms of an answer that are offered."""
_FIELD: Final = "hide-bottom-space"


class _GuideForm:
    """The form of a guide; it is seen while the draft has one."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._drawn: tuple[int, tuple[str, ...]] | None = None
        with ui.column().classes("surface w-full gap-4 p-4") as self._box:
            self._inside = ui.column().classes("w-full gap-4")
            form.fault(GUIDE, "guide-wrong")
        form.follow(self._follow)
        form.redraw(self._follow)

    @property
    def _guide(self) -> GuideDraft:
        guide = self._form.draft.guide
        assert guide is not None, "drawn without a guide"
        return guide

    def _follow(self) -> None:
        """Draw it anew for another guide, or if somebody has come or gone."""
        guide = self._form.draft.guide
        self._box.set_visibility(guide is not None)
        now = None if guide is None else (id(guide), tuple(self._form.draft.names))
        if now != self._drawn:
            self._drawn = now
            self._draw()

    def _draw(self) -> None:
        self._inside.clear()
        if self._form.draft.guide is None:
            return
        with self._inside:
            self._asks()
            self._asked = ui.column().classes("w-full gap-2")
            self._questions()
            self._stimulus()
            self._positions()

    def _bind(
        self, field: ValueElement[Any], of: object, name: str, read: Callable[[Any], Any] = lambda text: text or ""
    ) -> None:
        """Write what is given into a field of the draft."""

        def given() -> None:
            setattr(of, name, read(field.value))
            self._form.changed()

        field.on_value_change(given)

    def _select(self, options: Any, label: str, value: Any, of: object, name: str) -> ui.select:
        field = ui.select(options, label=label, value=value).props(f"{_FIELD} options-dense")
        self._bind(field, of, name)
        return field

    def _ask(self, one: Asked | Stand, hint: str, name: str, mark: str) -> None:
        """The words of a question."""
        ask = ui.textarea(value=one.ask, placeholder=hint)
        ask.props(f"{_FIELD} rows=1 maxlength={LONGEST_QUESTION}").classes("grow min-w-0 grows")
        named(ask, name).mark(mark)
        self._bind(ask, one, "ask")

    def _asks(self) -> None:
        guide, names = self._guide, self._form.draft.names
        wordings = {name: t(f"setup.guide_{name}") for name in ("exact", "own")}
        who = guide.moderator if guide.moderator in names else None
        with ui.row().classes("w-full gap-3 items-start"):
            asks = self._select(names, t("setup.guide_moderator"), who, guide, "moderator")
            asks.classes("grow basis-52").mark("guide-moderator")
            wording = self._select(wordings, t("setup.guide_wording"), guide.wording, guide, "wording")
            wording.classes("grow basis-52").mark("guide-wording")

    def _questions(self) -> None:
        guide = self._guide
        with anew(self._asked):
            ui.label(t("setup.guide_questions")).classes("text-sm font-semibold").props("role=heading aria-level=3")
            hint(t("setup.guide_questions_help"))
            for number, asked in enumerate(guide.questions):
                self._question(number, asked)
            self._add(guide.questions, Asked, MOST_QUESTIONS, "guide_add", "guide-add")

    def _question(self, number: int, asked: Asked) -> None:
        guide = self._guide
        with ui.row().classes("w-full items-start gap-2 no-wrap guide-row"):
            ui.label(f"{number + 1}").classes("muted text-sm pt-2 w-4 text-right").props("aria-hidden=true")
            self._ask(asked, t("setup.guide_ask"), t("setup.guide_number", n=number + 1), f"guide-ask-{number}")
            turns = ui.number(t("setup.guide_turns"), value=asked.turns, min=1, max=500, precision=0)
            turns.props(f'{_FIELD} stack-label placeholder="{t("setup.guide_slows")}"').classes("w-28 shrink-0")
            self._bind(turns.mark(f"guide-turns-{number}"), asked, "turns", whole_number)
            with ui.row().classes("gap-0 no-wrap shrink-0 pt-1"):
                if guide.text or guide.image:
                    shows = ui.checkbox(t("setup.guide_show"), value=asked.show).props("dense").classes("text-xs pr-1")
                    self._bind(shows, asked, "show", bool)
                up = icon_button("arrow_upward", t("setup.guide_up", n=number + 1), lambda: self._up(number))
                up.props("size=sm").set_enabled(number > 0)
                self._remove(guide.questions, number, t("setup.guide_remove", n=number + 1))

    def _stimulus(self) -> None:
        guide = self._guide
        with _folded("guide_stimulus", "guide-stimulus", there=bool(guide.text or guide.image)):
            for name, rows, most in (("title", 1, 200), ("text", 3, LONGEST_STIMULUS), ("image", 2, LONGEST_STIMULUS)):
                field = ui.textarea(t(f"setup.guide_{name}"), value=getattr(guide, name))
                field.props(f"{_FIELD} rows={rows} maxlength={most}").classes("w-full grows").mark(f"guide-{name}")
                self._bind(field, guide, name)
                field.on("blur", self._shown_or_not)

    def _shown_or_not(self) -> None:
        """Offer to show the stimulus with a question once there is one; the first question shows it."""
        guide = self._guide
        there = bool(guide.text.strip() or guide.image.strip())
        if there is any(asked.show for asked in guide.questions) or not guide.questions:
            return
        for number, asked in enumerate(guide.questions):
            asked.show = there and number == 0
        self._questions()  # and not the field into which the user went on
        self._form.changed()

    def _positions(self) -> None:
        guide = self._guide
        with _folded("guide_positions", "guide-positions", there=bool(guide.positions)):
            for number, stand in enumerate(guide.positions):
                self._position(number, stand)
            self._add(guide.positions, Stand, MOST_POSITIONS, "guide_add_position", "guide-add-position")

    def _position(self, number: int, stand: Stand) -> None:
        with ui.row().classes("w-full items-start gap-2 no-wrap guide-row"):
            name = t("setup.guide_position_number", n=number + 1)
            self._ask(stand, t("setup.guide_position"), name, f"guide-position-{number}")
            forms = {form: _form_of(form) for form in dict.fromkeys((*ANSWERS, stand.answer))}
            answer = self._select(forms, t("setup.guide_answer"), stand.answer, stand, "answer")
            answer.classes("w-40 shrink-0").mark(f"guide-answer-{number}")
            gone = t("setup.guide_remove_position", n=number + 1)
            self._remove(self._guide.positions, number, gone).classes("mt-1")
        options = ui.textarea(t("setup.guide_options"), value="\n".join(stand.options))
        options.props(f"{_FIELD} rows=2").classes("w-full grows").mark(f"guide-options-{number}")
        options.bind_visibility_from(answer, "value", value="choice")
        self._bind(options, stand, "options", lambda text: str(text or "").splitlines())

    def _add(self, among: list[Any], make: Callable[[], Any], most: int, text: str, mark: str) -> None:
        """A button that adds a question, as long as there may be more."""
        if len(among) < most:
            add = ui.button(t(f"setup.{text}"), icon="add", on_click=lambda: self._again(partial(among.append, make())))
            add.props("flat dense padding='2px 8px'").mark(mark)

    def _remove(self, among: list[Any], number: int, name: str) -> ui.button:
        return icon_button("close", name, lambda: self._again(partial(among.pop, number))).props("size=sm")

    def _up(self, number: int) -> None:
        questions = self._guide.questions
        self._again(lambda: questions.insert(number - 1, questions.pop(number)))

    def _again(self, change: Callable[[], object]) -> None:
        """Change the guide, and draw it."""
        change()
        self._draw()
        self._form.changed()


def _folded(text: str, mark: str, *, there: bool) -> ui.column:
    """A part that opens on a click, and is open where something is in it."""
    expansion = ui.expansion(t(f"setup.{text}"), value=there).classes("bare w-full").mark(mark)
    expansion.props('dense header-class="text-sm font-semibold px-0 min-h-0"')
    with expansion, ui.column().classes("w-full gap-2 pt-2") as inside:
        hint(t(f"setup.{text}_help"))
    return inside


def _form_of(answer: str) -> str:
    """The form of an answer in words."""
    kind, _, steps = answer.partition(":")
    return t("setup.answer_scale", steps=steps.replace("-", "–")) if steps else t(f"setup.answer_{kind}")


# Rows of buttons that are one stop of the Tab key: the arrow keys go from one to the next


_KEYS: Final = """(event) => {
  const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: 'first', End: 'last'}[event.key];
  const all = [...event.currentTarget.querySelectorAll('[data-rove]')].filter((one) => one.offsetParent);
  const at = all.indexOf(document.activeElement.closest('[data-rove]'));
  if (step === undefined || at < 0) return;
  event.preventDefault();
  const next = step === 'first' ? 0 : step === 'last' ? all.length - 1 : (at + step + all.length) % all.length;
  all.forEach((one, number) => { one.tabIndex = number === next ? 0 : -1; });
  all[next].focus();
}"""


def roves(row: ui.element) -> None:
    """Let the arrow keys go along a row."""
    row.on("keydown", js_handler=_KEYS)


def stop(button: ui.element, *, first: bool) -> None:
    """Make a button one of the row.

    Args:
        button: in a row that roves.
        first: whether the Tab key comes to it.
    """
    button.props["data-rove"] = True
    button.props["tabindex"] = 0 if first else -1


def offers(name: str, of: Mapping[str, tuple[str, Callable[[], object]]], look: str) -> ui.row:
    """A row of buttons, each with its text and what it does, by its mark.

    Args:
        name: of the row, for screen readers.
        of: the buttons.
        look: their properties.
    """
    with ui.row().classes("items-center gap-2").props("role=toolbar") as row:
        for number, (mark, (text, act)) in enumerate(of.items()):
            button = ui.button(text, on_click=act).props(f"{look} dense color=grey-7").mark(mark)
            stop(button, first=number == 0)
    named(row, name)
    roves(row)
    return row


# How they talk: cards for the kinds of conversation, and the length


KINDS: Final = {
    "discussion": "forum",
    "debate": "balance",
    "focus": "groups",
    "story": "auto_stories",
    **dict.fromkeys((name for name in added() if name in MODES), "extension"),
}
"""The kinds of conversation with their pictures."""
ELSEWHERE: Final = (("companion", "face", "/companion"), ("experiment", "science", "/experiments"))
"""What is set up on pages of its own."""
LENGTHS: Final = {"short": 10, "middle": 20, "long": 40}
"""Messages that are offered at once."""


def kind_of(draft: Draft, mode: str) -> str:
    """The kind of conversation that a draft is.

    Args:
        draft: the draft.
        mode: the value of that setting.
    """
    if draft.story is not None:
        return "story"
    return "focus" if draft.guide is not None else mode if mode in KINDS else "discussion"


def kinds_part(form: Form) -> None:
    """Draw the cards, what the chosen one needs, and the length."""
    with ui.column().classes("w-full gap-3"):
        title(t("setup.how"))
        _Cards(form)
        _GuideForm(form)
        _answer(form)
        _story(form)
        _length(form)


class _Cards:
    def __init__(self, form: Form) -> None:
        self._form = form
        self._before: Draft | None = None  # what a story took the place of
        self._cards: dict[str, ui.button] = {}
        with ui.element("div").classes("kinds w-full"):
            with ui.element("div").classes("contents").props("role=radiogroup") as group:
                named(group, t("setup.how"))
                for kind, icon in KINDS.items():
                    self._cards[kind] = button = ui.button(color=None, on_click=lambda kind=kind: self._choose(kind))
                    button.props("flat role=radio").classes("kind").mark(f"kind-{kind}")
                    about = _face(button, icon, kind)
                    if kind == "debate":
                        form.follow(partial(_tell_of_debates, form, about))
            roves(group)
            for name, icon, address in ELSEWHERE:
                link = ui.button(color=None).props("flat").classes("kind").mark(f"kind-{name}")
                link.props["href"] = reached(address)
                _face(link, icon, name)
        form.follow(self._follow)

    @property
    def _now(self) -> str:
        return kind_of(self._form.draft, str(self._form.value("mode")))

    def _follow(self) -> None:
        now = self._now
        for kind, card in self._cards.items():
            card.props["aria-checked"] = "true" if kind == now else "false"
            stop(card, first=kind == now)
            card.update()

    async def _choose(self, kind: str) -> None:
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
        form.set("mode", kind if kind in MODES else "discussion")
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

    form.follow(lambda: box.set_visibility(is_seen(form, "answer_format")))


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


def _length(form: Form) -> None:
    """The message limit, with some limits to choose from."""

    def choose(length: int) -> None:
        form.set("max_messages", length)
        form.take(form.draft)

    with ui.row().classes("w-full items-start gap-3") as row:
        with ui.element("div").classes("w-40"):
            setting_field(form, "max_messages", hinted=False)
        lengths = {
            f"length-{name}": (t(f"setup.length_{name}", n=length), partial(choose, length))
            for name, length in LENGTHS.items()
        }
        offers(t("setup.lengths"), lengths, "flat rounded padding='2px 10px'").classes("pt-1")
        expected = ui.label().classes("text-xs muted pt-2 grow").mark("length-about")

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
