"""The page that compares two runs: choice of the runs, their differences, and their transcripts side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from nicegui import ui

from persimchat.app.web.chat.lines import put_in
from persimchat.app.web.context import WebContext
from persimchat.app.web.frame import Frame, disclaimer
from persimchat.app.web.looks import colour
from persimchat.app.web.past.compare_settings import changes_of
from persimchat.app.web.past.wording import address_of, ending, moment
from persimchat.app.web.shared.formats import dollars, whole
from persimchat.app.web.shared.navigation import comparison_of, page_of
from persimchat.app.web.shared.stories import closed, closed_runs
from persimchat.app.web.widgets import FIELD, avatar, card, icon_button, notify_error, title
from persimchat.app.web.words import t
from persimchat.runs.events import Uttered
from persimchat.runs.folder.listing import UNFINISHED, ListedRun
from persimchat.runs.folder.reading import Record, read_run
from persimchat.runs.reports.diff import Comparison, End, Share, compare
from persimchat.runs.reports.diff_parting import Parting
from persimchat.runs.reports.words import compact, spaced
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line

_LONG = 240
"""The longest value, in characters, that is shown whole; a longer one scrolls."""


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
                _table(t("past.settings"), (t("past.what"), "A", "B"), changes_of(comparison.setup))
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


PAGE: Final = 30
"""How many turns are drawn at a time."""


async def compare_page(web: WebContext, a: str = "", b: str = "") -> None:
    """Draw the page."""
    Frame(t("past.compare_title"))
    ui.query(".nicegui-content").classes("p-0")
    with ui.column().classes("w-full max-w-[1200px] mx-auto p-4 gap-4"):
        ui.label(t("past.compare_title")).classes("text-2xl font-bold").props("role=heading aria-level=1")
        chooser = ui.row().classes("w-full items-center gap-2")
        box = ui.column().classes("w-full gap-4")
        disclaimer()
    with box:
        if a and b:
            with ui.column().classes("w-full items-center gap-2 mt-8").props("role=status"):
                ui.spinner(size="32px").props("aria-hidden=true")
                ui.label(t("past.reading")).classes("text-sm muted")
        else:
            ui.label(t("past.compare_hint")).classes("muted")

    async def load() -> None:
        try:
            listing = await web.runs.runs()
        except PerSimChatError as error:
            notify_error(error)
            return
        shut = await asyncio.to_thread(closed_runs, listing.runs)
        with chooser:
            _choose(listing.runs, shut, a, b)
        if a and b:
            await _compared(web, box, a, b)

    ui.timer(0, load, once=True)


def _choose(runs: list[ListedRun], shut: frozenset[str], a: str, b: str) -> None:
    """Two fields and a button between them; the address holds the choice."""
    options = {address_of(listed): _option(listed, closed=listed.folder in shut) for listed in runs}

    def go(one: str | None, other: str | None) -> None:
        if (one or "", other or "") != (a, b):
            ui.navigate.to(comparison_of(one or "", other or ""))

    def field(name: str, value: str) -> ui.select:
        select = ui.select(options, label=t(name), value=value if value in options else None, with_input=True)
        return select.props(f"{FIELD} clearable").classes("grow basis-[280px] min-w-0")

    one = field("past.run_a", a)
    icon_button("swap_horiz", t("past.swap"), lambda: go(other.value, one.value))
    other = field("past.run_b", b)
    for select in (one, other):
        select.on_value_change(lambda: go(one.value, other.value))


def _option(listed: ListedRun, *, closed: bool) -> str:
    said = t("past.played") if closed else t("past.utterances", n=listed.utterances)
    return t("past.option", topic=listed.topic, moment=moment(listed.started), count=said, run=address_of(listed))


async def _compared(web: WebContext, box: ui.column, a: str, b: str) -> None:
    try:
        read = await asyncio.to_thread(_read, web.runs.folder(a), web.runs.folder(b))
    except PerSimChatError as error:
        _instead(box, "search_off", str(error))
        return
    if read is None:
        _instead(box, "lock", t("past.closed"))
        return
    one, other, comparison = read
    box.clear()
    with box:
        facts(comparison, one, other)
        columns(comparison, one, other)


def _instead(box: ui.column, icon: str, why: str) -> None:
    """Why there is no comparison."""
    box.clear()
    with box, ui.row().classes("items-center gap-3 no-wrap"):
        ui.icon(icon, size="32px", color="primary").props("aria-hidden=true")
        ui.label(why).classes("muted [overflow-wrap:anywhere]")


def _read(a: Path, b: Path) -> tuple[Record, Record, Comparison] | None:
    """Two runs and their comparison; None while people play one of them."""
    if closed(a) or closed(b):
        return None
    one = read_run(a, whole=True)
    other = one if a == b else read_run(b, whole=True)
    return one, other, compare(one, other)


Pair = tuple[int, Uttered | None, Uttered | None]
"""A turn with the utterances of both runs."""


def pairs(a: Sequence[Uttered], b: Sequence[Uttered]) -> list[Pair]:
    """The utterances of two runs turn by turn."""
    by_turn_a, by_turn_b = ({said.turn: said for said in run} for run in (a, b))
    return [(turn, by_turn_a.get(turn), by_turn_b.get(turn)) for turn in sorted(by_turn_a.keys() | by_turn_b.keys())]


def columns(comparison: Comparison, a: Record, b: Record) -> None:
    """Draw them."""
    shared = a.utterances[: comparison.shared]
    own = pairs(a.utterances[comparison.shared :], b.utterances[comparison.shared :])
    names = [share.name for share in comparison.participants]
    title(t("past.transcripts"))
    if shared:
        with ui.expansion(t("past.shared_past", n=len(shared)), icon="merge").classes("surface w-full") as past:
            inside = ui.column().classes("w-full gap-2")

        def unfold() -> None:
            if not inside.default_slot.children:  # drawn when it is first opened
                windowed(inside, len(shared), lambda at: _said(shared[at], names, ""))

        past.on_value_change(unfold)
        past.set_value(not own)
    if own:
        with ui.element("div").classes("side-by-side side-head w-full"):
            for run in ("A", "B"):
                ui.label(run).classes("panel-title")
        windowed(ui.column().classes("w-full gap-3"), len(own), lambda at: _pair(own, at, names))


def windowed(box: ui.column, total: int, draw: Callable[[int], None]) -> None:
    """Draw the first items into a box, and more of them on demand."""
    drawn = 0
    with box:
        inside = ui.column().classes("w-full gap-3")
        more = ui.button().props("outline no-caps").classes("self-center")

    def show() -> None:
        nonlocal drawn
        begin, drawn = drawn, min(drawn + PAGE, total)
        with inside:
            for at in range(begin, drawn):
                draw(at)
        more.set_text(t("past.more", n=min(PAGE, total - drawn)))
        more.set_visibility(drawn < total)

    more.on_click(show)
    show()


def _pair(own: list[Pair], at: int, names: list[str]) -> None:
    before = own[at - 1] if at else None
    with ui.element("div").classes("side-by-side pair w-full"):
        for side, run in ((1, "A"), (2, "B")):
            with ui.column().classes("gap-1 min-w-0"):
                said = own[at][side]
                if isinstance(said, Uttered):
                    _said(said, names, run)
                elif before is None or before[side] is not None:  # shown once for both runs
                    with ui.row().classes("items-baseline gap-2"):
                        ui.label(run).classes("side-tag text-xs font-bold")
                        ui.label(t("past.nothing_more")).classes("text-sm muted italic")


def _said(said: Uttered, names: list[str], run: str) -> None:
    with ui.row().classes("w-full gap-2 no-wrap items-start"):
        avatar(said.speaker, colour(said.speaker, names), "30px")
        with ui.column().classes("gap-1 min-w-0 grow"):
            with ui.row().classes("items-baseline gap-2 gap-y-0"):
                if run:
                    ui.label(run).classes("side-tag text-xs font-bold")
                ui.label(one_line(said.speaker)).classes("text-sm font-semibold [overflow-wrap:anywhere]")
                ui.label(t("past.turn", turn=said.turn)).classes("text-xs muted")
                if said.heard_by is not None:
                    whisper = ui.label(t("past.whisper", names=", ".join(map(one_line, said.heard_by))))
                    whisper.classes("text-xs muted italic break-words")
                if said.edited_by is not None:
                    ui.label(put_in(said.edited_by)).classes("text-xs muted italic break-words")
            ui.label(said.text).classes("bubble text-sm")
