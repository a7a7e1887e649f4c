"""What differs between two runs: where they part and why, shares, ends and settings, as cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nicegui import ui

from persimchat.app.web.looks import colour
from persimchat.app.web.past.compare_settings import changes_of
from persimchat.app.web.past.wording import ending, moment
from persimchat.app.web.shared.formats import dollars, joined, whole
from persimchat.app.web.shared.navigation import page_of
from persimchat.app.web.widgets import avatar, card
from persimchat.app.web.words import t
from persimchat.runs.folder.listing import UNFINISHED
from persimchat.runs.folder.reading import Record
from persimchat.runs.reports.diff import Comparison, End, Share
from persimchat.runs.reports.diff_parting import Parting
from persimchat.runs.reports.words import compact, spaced
from persimchat.state.plain_text import one_line

_LONG: Final = 240
"""The longest value, in characters, that is shown whole; a longer one scrolls."""
_MOST_THEMES: Final = 3


@dataclass(frozen=True)
class Compared:
    """Two runs that are compared.

    Attributes:
        a: one run.
        b: the other.
        names: what their user calls them; empty without a name.
        comparison: what differs.
    """

    a: Record
    b: Record
    names: tuple[str, str]
    comparison: Comparison


def heads(both: Compared) -> None:
    """What is compared: each run by its whole name, with a link to where they part."""
    parting = both.comparison.parting
    with ui.element("div").classes("side-by-side w-full"):
        for letter, record, name in (("A", both.a, both.names[0]), ("B", both.b, both.names[1])):
            turn = None if parting is None else min(parting.turn, len(record.utterances))
            with ui.row().classes("surface w-full no-wrap items-start gap-3 px-4 py-3"):
                ui.label(letter).classes("side-letter")
                with ui.column().classes("grow min-w-0 gap-0"):
                    topic = one_line(name or record.manifest.scenario.topic)
                    ui.label(topic).classes("font-semibold leading-snug [overflow-wrap:anywhere]")
                    said = t("past.utterances", n=len(record.utterances))
                    about = (moment(record.manifest.started), said, record.manifest.settings.model, record.path.name)
                    ui.label(joined(part or "" for part in about)).classes("text-xs muted [overflow-wrap:anywhere]")
                    opens = ui.link(
                        t("past.open_at" if parting else "past.open_run", run=letter), page_of(record.path.name, turn)
                    )
                    opens.classes("text-sm text-primary font-medium no-underline pt-1")


def facts(comparison: Comparison, a: Record, b: Record) -> None:
    """Draw the cards."""
    with ui.element("div").classes("side-by-side w-full items-start"):
        with ui.column().classes("gap-4 min-w-0"):
            with card(t("past.part")):
                _part(comparison, a, b)
            with card(t("past.settings")):
                if comparison.setup:
                    _table(t("past.settings"), (t("past.what"), "A", "B"), changes_of(comparison.setup))
                else:
                    ui.label(t("past.settings_same")).classes("text-sm muted")
        with ui.column().classes("gap-4 min-w-0"):
            with card(t("past.shares")):
                _shares(comparison.participants)
            with card(t("past.ends")):
                _ends(comparison)
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


def _ends(comparison: Comparison) -> None:
    ends = [dict(_end(end, comparison.calls_after)) for end in (comparison.end_a, comparison.end_b)]
    unknown = t("past.unknown")
    rows = [(key, ends[0][key], ends[1][key]) for key in ends[0] if {ends[0][key], ends[1][key]} != {unknown}]
    _table(t("past.ends"), (t("past.what"), "A", "B"), rows)


def _end(end: End, after: int | None) -> Iterator[tuple[str, str]]:
    """The end of a run, in words; requests only from the utterance on from which they can be compared."""
    unknown = t("past.unknown")

    def since(name: str) -> str:
        return name if after is None else t("past.end_after", what=name, turn=after)

    agreed = unknown if end.consensus is None else t("past.yes" if end.consensus else "past.no")
    yield t("past.ended"), ending(end.stop_reason or UNFINISHED)
    yield t("past.end_detail"), end.stop_detail or unknown
    yield t("past.end_consensus"), agreed
    yield t("past.end_answer"), end.answer or unknown
    yield t("past.end_utterances"), whole(end.utterances)
    yield t("past.end_words"), whole(end.words)
    yield since(t("past.end_calls")), whole(end.calls)
    yield since(t("past.end_tokens")), whole(end.tokens)
    yield since(t("past.end_cost")), dollars(end.cost_usd)


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
    """An HTML table, so that screen readers can navigate it; on a narrow page it scrolls."""
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
    """Whether a run is a branch, what the two share, where and why they first differ, and which minds differ."""
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
