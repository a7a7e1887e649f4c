"""How two runs differ: where they part, how they were set up, how they ended, who spoke how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from nicegui import ui

from persimchat.app.web.looks import colour
from persimchat.app.web.past.run_card import ending
from persimchat.app.web.setup.setting_field import label_of, option_of
from persimchat.app.web.setup.specs import specs
from persimchat.app.web.shared.formats import dollars, whole
from persimchat.app.web.shared.navigation import page_of
from persimchat.app.web.widgets import avatar, card
from persimchat.app.web.words import t
from persimchat.runs.folder.listing import UNFINISHED
from persimchat.runs.folder.reading import Record
from persimchat.runs.reports.diff import Comparison, End, Share
from persimchat.runs.reports.diff_parting import Parting
from persimchat.runs.reports.words import compact, spaced
from persimchat.state.plain_text import one_line

_LONG = 240
"""Characters of a value that is shown whole; a longer one can be scrolled."""


_MOST_THEMES: Final = 3


def facts(comparison: Comparison, a: Record, b: Record) -> None:
    """Draw the cards."""
    with ui.element("div").classes("side-by-side w-full items-start"):
        with card(t("past.part")):
            _part(comparison, a, b)
        with card(t("past.shares")):
            _shares(comparison.participants)
        with card(t("past.ends")):
            _ends(comparison)
        with card(t("past.settings")):
            if comparison.setup:
                changes = [
                    (_named(change.what), _set_to(change.what, change.a), _set_to(change.what, change.b))
                    for change in comparison.setup
                ]
                _table(t("past.settings"), (t("past.what"), "A", "B"), changes)
            else:
                ui.label(t("past.settings_same")).classes("text-sm muted")
    if comparison.notes:
        with card(t("past.notes")):
            for note in comparison.notes:
                ui.label(note).classes("text-sm muted [overflow-wrap:anywhere]")


def _part(comparison: Comparison, a: Record, b: Record) -> None:
    for sentence in sentences(comparison, a, b):
        ui.label(sentence).classes("text-sm [overflow-wrap:anywhere]")
    parting = comparison.parting
    if parting is not None and parting.needs:
        rows = [(need.agent, whole(need.a), whole(need.b)) for need in parting.needs]
        _table(t("past.needs"), (t("past.needs"), "A", "B"), rows)
    with ui.row().classes("gap-2"):
        for name, record in (("A", a), ("B", b)):
            turn = None if parting is None else min(parting.turn, len(record.utterances))
            button = ui.button(t("past.open_at" if parting else "past.open_run", run=name)).props("flat no-caps dense")
            button.props["href"] = page_of(record.path.name, turn)


def _setting(what: str) -> str:
    """The name of the setting that a change is one of; empty where it is something else."""
    name = what.removeprefix("settings.")
    return name if name != what and name in specs() else ""


def _named(what: str) -> str:
    name = _setting(what)
    return label_of(name) if name else spaced(what.removeprefix("settings.").removeprefix("scenario."))


def _set_to(what: str, given: object) -> str:
    """A value in the words with which it is chosen."""
    name = _setting(what)
    if isinstance(given, bool):
        return t("past.yes" if given else "past.no")
    if name and given in specs()[name].options:
        return option_of(name, str(given))
    return _value(given)


def _value(given: object) -> str:
    """Any recorded value in short."""
    return t("past.unknown") if given is None else compact(given)


def _ends(comparison: Comparison) -> None:
    ends = [dict(_end(end)) for end in (comparison.end_a, comparison.end_b)]
    unknown = t("past.unknown")
    rows = [(key, ends[0][key], ends[1][key]) for key in ends[0] if {ends[0][key], ends[1][key]} != {unknown}]
    _table(t("past.ends"), (t("past.what"), "A", "B"), rows)


def _end(end: End) -> Iterator[tuple[str, str]]:
    unknown = t("past.unknown")
    agreed = unknown if end.consensus is None else t("past.yes" if end.consensus else "past.no")
    yield t("past.ended"), ending(end.stop_reason or UNFINISHED)
    yield t("past.end_detail"), end.stop_detail or unknown
    yield t("past.end_consensus"), agreed
    yield t("past.end_answer"), end.answer or unknown
    yield t("past.end_utterances"), whole(end.utterances)
    yield t("past.end_words"), whole(end.words)
    yield t("past.end_calls"), whole(end.calls)
    yield t("past.end_tokens"), whole(end.tokens)
    yield t("past.end_cost"), dollars(end.cost_usd)


def percent(part: int, total: int) -> int:
    """A share in whole per cent; 0 of nothing."""
    return round(100 * part / total) if total else 0


def _shares(shares: Sequence[Share]) -> None:
    names = [share.name for share in shares]
    all_a, all_b = sum(share.words_a for share in shares), sum(share.words_b for share in shares)
    for share in shares:
        tint = colour(share.name, names)
        with ui.row().classes("w-full no-wrap gap-2 items-start"):
            avatar(share.name, tint, "30px")
            with ui.column().classes("grow min-w-0 gap-1"):
                ui.label(one_line(share.name)).classes("text-sm font-semibold [overflow-wrap:anywhere]")
                _bar("A", share.utterances_a, share.words_a, percent(share.words_a, all_a), tint)
                _bar("B", share.utterances_b, share.words_b, percent(share.words_b, all_b), tint)


def _bar(run: str, said: int, words: int, share: int, tint: str) -> None:
    with ui.row().classes("w-full no-wrap items-center gap-2"):
        ui.label(run).classes("text-xs muted w-3")
        with ui.element("div").classes("share grow min-w-[60px]").props("aria-hidden=true"):
            ui.element("div").style(f"width:{share}%; background:{tint}")
        text = t("past.share", said=t("past.utterances", n=said), words=whole(words), percent=share, n=words)
        ui.label(text).classes("text-xs muted tabular-nums w-[17em] max-w-[60%]")


def _table(name: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A real table, which a screen reader can walk through; on a narrow page it is scrolled in itself."""
    with ui.element("div").classes("w-full overflow-x-auto").props("tabindex=0 role=region") as region:
        region.props["aria-label"] = name
        with ui.element("table").classes("facts w-full text-sm"):
            with ui.element("thead"), ui.element("tr"):
                for heading in headings:
                    with ui.element("th").props("scope=col"):
                        ui.label(heading)
            with ui.element("tbody"):
                for first, *others in rows:
                    with ui.element("tr"):
                        with ui.element("th").props("scope=row"):
                            ui.label(first)
                        for cell in others:
                            with ui.element("td"):
                                ui.label(cell).classes("max-h-40 scroll" if len(cell) > _LONG else "")


def sentences(comparison: Comparison, a: Record, b: Record) -> Iterator[str]:
    """Whose branch they are, what they share, where and why they part, what differs in their minds."""
    called = {a.path.name: "A", b.path.name: "B"}
    for name, record in (("A", a), ("B", b)):
        branch = record.manifest.branch
        if branch is not None:
            yield t("past.branch_of", run=name, of=called.get(branch.of, branch.of), turn=branch.turn)
    parting = comparison.parting
    if comparison.equal:
        yield t("past.equal")
    elif parting is None:
        yield t("past.all_shared", n=comparison.shared)
    else:
        yield t("past.shared", n=comparison.shared) if comparison.shared else t("past.shared_none")
    if parting is not None:
        yield t(f"past.why_{parting.why}", turn=parting.turn, over="A" if parting.a is None else "B")
        yield from _interventions(parting)
        yield from _recalled(parting)
    if comparison.minds:
        first, who = comparison.minds[0].turn, ", ".join(mind.agent for mind in comparison.minds)
        yield t("past.minds_part", turn=first, who=who) if first else t("past.minds_awakening", who=who)


def _interventions(parting: Parting) -> Iterator[str]:
    for run, interventions in (("A", parting.interventions_a), ("B", parting.interventions_b)):
        for one in interventions:
            yield t("past.deed", run=run, deed=_intervention(one))


def _intervention(one: Mapping[str, Any]) -> str:
    """An intervention of control.jsonl in words; an unknown kind as it was recorded."""
    more = {key: compact(value) for key, value in one.items() if key not in ("turn", "do")}
    do, who = str(one["do"]), more.get("speaker") or more.get("agent") or t("past.deed_moderator")
    if do in ("say", "answer") and "text" in more:
        return t("past.deed_say", who=who, text=more["text"])
    if do == "topic" and "topic" in more:
        return t("past.deed_topic", topic=more["topic"])
    if do == "floor":
        return t("past.deed_floor", who=who)
    return spaced(do) + (f" ({compact(more)})" if more else "")


def _recalled(parting: Parting) -> Iterator[str]:
    recall = parting.recall
    if recall is None:
        return
    if not recall.only_a and not recall.only_b:
        yield t("past.recall_same")
    for run, themes in (("A", recall.only_a), ("B", recall.only_b)):
        if themes:
            more = " …" if len(themes) > _MOST_THEMES else ""
            yield t("past.recall_only", run=run, themes="; ".join(themes[:_MOST_THEMES]) + more)
