"""The cards of one mind: heard, felt, needs, action, memory, plan; and their small parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from nicegui import ui

from ....reports.charts.talk import levels_of
from ....reports.words import module_name
from ....runs.events import Uttered
from ....runs.folder.parts import MindRecord
from ....state.plain_text import clean, one_line
from ..widgets import EMOTION_COLOURS, EMOTION_FACES, bar, card, chip
from ..words import t, t_or
from .mind_reading import Look, felt

OWN_JUDGE: Final = "Judge"
"""The name of the judge that no persona plays."""


def words(text: str, classes: str = "text-sm") -> ui.label:
    """Text of people and models, shown as text and never as markup."""
    return ui.label(clean(text)).classes(f"words {classes}")


def small(text: str) -> ui.label:
    """A remark."""
    return ui.label(text).classes("text-xs muted words")


def described(name: str, text: str) -> None:
    """A text under its name; nothing if it is empty."""
    if text:
        with ui.column().classes("w-full gap-0"):
            small(name)
            words(text)


def chips(texts: Iterable[str]) -> None:
    """Short texts side by side."""
    with ui.row().classes("gap-1 w-full"):
        for text in texts:
            chip(clean(text)).classes("words").classes(remove="whitespace-nowrap")


def kind(name: str) -> str:
    """The kind of a memory, in the page's language."""
    return t_or(f"minds.kind_{name}", t("minds.kind_other"))


def made(turn: int) -> str:
    """When a memory was made."""
    return t("minds.made_at", turn=turn) if turn else t("minds.made_before")


def owner(mind: MindRecord) -> str:
    """The name of the agent whose mind it is, in the page's language."""
    return t("minds.judge") if mind.agent == OWN_JUDGE else one_line(mind.agent)


def heard_card(mind: MindRecord, utterance: Uttered | None) -> None:
    """The utterance and what the agent perceived of it; an utterance that it did not hear is not shown."""
    with card(t("minds.heard")):
        own = utterance is not None and utterance.speaker == mind.agent
        if utterance is not None and (mind.percept is not None or own):
            described(t("minds.said", name=one_line(utterance.speaker)), utterance.text)
        if mind.listened is False:
            small(t("minds.not_asked", name=owner(mind))).mark("mind-not-asked")
        if mind.percept is None:
            small(t("minds.perceived_nothing", name=owner(mind)))
            return
        described(t("minds.theme"), mind.percept.theme)
        if mind.percept.keywords:
            small(t("minds.keywords"))
            chips(mind.percept.keywords)
        if mind.percept.importance is not None:
            _level(t("minds.importance", value=mind.percept.importance), mind.percept.importance)


def felt_card(seen: Look) -> None:
    """Emotions now, and the change since the record before."""
    with card(t("minds.felt")):
        levels = felt(seen.mind, seen.before)
        if not levels:
            small(t("minds.felt_unknown", name=owner(seen.mind)))
            return
        small(t("minds.felt_change"))
        for name, level, change in levels:
            with ui.row().classes("w-full items-center gap-2 no-wrap"):
                ui.label(EMOTION_FACES[name]).classes("w-5 shrink-0").props("aria-hidden=true")
                ui.label(t(f"common.emotion_{name}")).classes("text-sm w-24 shrink-0")
                bar(level / 10, EMOTION_COLOURS[name])
                ui.label(str(level)).classes("text-sm tabular-nums w-5 text-right")
                shown = "" if change is None else f"{change:+d}".replace("-", "−") if change else "="
                label = ui.label(shown).classes("text-xs tabular-nums w-6 text-right muted")
                if change == 0:
                    label.props["aria-label"] = t("minds.no_change")


def asked_card(mind: MindRecord) -> None:
    """The focal points of its recall."""
    with card(t("minds.asked")):
        if not mind.focal_points:
            small(t("minds.asked_nothing", name=owner(mind)))
        with ui.element("ol").classes("list-decimal pl-5 text-sm"):
            for question in mind.focal_points:
                with ui.element("li"):
                    words(question)


def need_card(mind: MindRecord) -> None:
    """Need to talk and, in debates, openness to consensus, with their reasons; a judge has none."""
    for name, value, why in (
        ("need", mind.need_to_talk, mind.need_reasoning),
        ("openness", mind.openness, mind.openness_reasoning),
    ):
        if value is not None:
            with card(t(f"minds.{name}")):
                _level(t("minds.of_ten", value=value), value)
                words(why) if why else small(t("minds.no_reasoning"))


def own_cards(mind: MindRecord) -> None:
    """What modules of installed packages judged, a card each."""
    for module, judged in mind.own.items():
        levels = levels_of({module: judged})
        with card(module_name(module)):
            for name, value in judged.items():
                called = name.replace("_", " ")
                if called in levels:
                    small(called)
                    _level(t("minds.of_ten", value=value), levels[called])
                elif name == "reasoning":
                    words(str(value))
                else:
                    described(called, str(value))


def weak_notes(mind: MindRecord) -> None:
    """Which of its judgements were unusable or corrected; nothing if none was."""
    for name, modules in (("failed", mind.failed), ("corrected", mind.corrected)):
        if modules:
            small(t(f"minds.{name}", which=", ".join(map(module_name, modules)))).mark(f"mind-{name}")


def doing_card(mind: MindRecord) -> None:
    """What it did during this turn and will do during the next."""
    with card(t("minds.doing")):
        if mind.turn:
            did = mind.did if mind.did in ("speak", "reflect", "plan") else "nothing"
            ui.label(t(f"minds.did_{did}", name=owner(mind))).classes("text-sm")
        will = mind.action if mind.action in ("reflect", "plan") else "unknown"
        ui.label(t(f"minds.will_{will}", name=owner(mind))).classes("text-sm")
        if mind.long_term_memories is not None:
            small(t("minds.memories", n=mind.long_term_memories))


def short_term_card(mind: MindRecord) -> None:
    """The one memory in short-term memory."""
    with card(t("minds.short_term")):
        held = mind.short_term_memory
        if held is None:
            small(t("minds.short_term_empty"))
            return
        words(held.theme)
        if held.keywords:
            chips(held.keywords)
        with ui.row().classes("items-center gap-2"):
            if held.turn is not None:
                small(made(held.turn))
            if held.importance is not None:
                small(t("minds.importance", value=held.importance))


def plan_card(seen: Look) -> None:
    """The last plan made, and how old it is."""
    plan, name, age = seen.plan, owner(seen.mind), seen.mind.turn - seen.planned
    with card(t("minds.plan")):
        if plan is None:
            small(t("minds.plan_none", name=name))
            return
        words(plan.theme, "text-sm font-medium")
        described(t("minds.plan_identity", name=name), plan.identity)
        reacts = "minds.plan_no_reaction" if plan.react is False else "minds.plan_reaction"
        described(t(reacts, name=name), plan.reaction)
        described(t("minds.plan_progress"), plan.progress)
        if plan.goals:
            small(t("minds.plan_goals"))
            chips(plan.goals)
        with ui.row().classes("items-center gap-2"):
            small(t("minds.plan_made", turn=seen.planned, n=age) if age else t("minds.plan_now")).mark("plan-age")
            if plan.importance is not None:
                small(t("minds.importance", value=plan.importance))


def _level(text: str, value: float) -> None:
    with ui.row().classes("w-full items-center gap-2 no-wrap"):
        ui.label(text).classes("text-sm whitespace-nowrap tabular-nums")
        bar(value / 10, "var(--ring)")


def story_card(mind: MindRecord) -> None:
    """Of a story: whom it supports, what it believes, and its last review."""
    standing = mind.story
    if standing is None:
        return
    with card(t("minds.story")):
        supported = one_line(standing.supports) or t("minds.supports_nobody")
        described(t("minds.supports"), owner(mind) if standing.main and not standing.supports else supported)
        described(t("minds.review"), standing.review)
        if standing.beliefs:
            small(t("minds.beliefs"))
        for belief in standing.beliefs:
            with ui.row().classes("w-full items-center gap-2 no-wrap"):
                words(str(belief.get("text", "")), "text-sm grow min-w-0")
                ui.label(str(belief.get("score", ""))).classes("text-sm tabular-nums")
