"""The page that compares two runs: what differs as cards, their courses, and their words side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from nicegui import ui

from ....reports.charts.model import Chart
from ....reports.diff import LONGEST_VALUE, Comparison, Difference, End, Share, compare
from ....reports.diff_charts import overlays
from ....reports.diff_parting import Parting, Piece, word_changes
from ....reports.words import compact, spaced, whole
from ....runs.events import Uttered
from ....runs.folder.listing import UNFINISHED, ListedRun, family, origins
from ....runs.folder.reading import Record, read_labels, read_run
from ....state.errors import PerSimChatError
from ....state.minds.pruning import Pruning
from ....state.plain_text import capitalised, one_line, shortened
from ....state.wording import entry
from ..chat.lines import put_in
from ..context import WebContext
from ..frame import disclaimer, page, page_title
from ..setup.form import specs
from ..setup.setting_field import label_of, option_of
from ..shared.chart_box import NARROW, WIDE, ChartBox
from ..shared.formats import dollars, joined, moment
from ..shared.lists import page_by_page
from ..shared.navigation import comparison_of, page_of
from ..shared.runs import closed, closed_runs
from ..widgets import anew, avatar, card, colour, icon_button, nothing_yet, notify_error, reached, table, title
from ..words import t, t_or
from .runs_page import address_of, branched, ending, title_of

# Settings, in the words of the form


_SETTINGS: Final = "settings."
_PRUNING: Final = "settings.pruning."


def changes_of(setup: Sequence[Difference]) -> list[tuple[str, str, str]]:
    """The name of what differs, and its value in each run; values of pruning that a run does not name are the usual."""
    usual = Pruning().model_dump(mode="json")
    found = []
    for change in setup:
        what, a, b = change.what, change.a, change.b
        if what.startswith(_PRUNING):
            part = what.removeprefix(_PRUNING)
            a, b = (usual.get(part) if given is None else given for given in (a, b))
            if a == b:
                continue
        found.append((_named(what), _set_to(what, a), _set_to(what, b)))
    return found


def _setting(what: str) -> str:
    """The setting that a change is about; empty if it is about something else."""
    name = what.removeprefix(_SETTINGS)
    return name if name != what and name in specs() else ""


def _named(what: str) -> str:
    if what.startswith(_PRUNING):
        part = what.removeprefix(_PRUNING)
        key = "settings.pruning" if part == "lambda" else f"setup.pruning_{part}"
        name = t_or(key, spaced(part))
        return f"{name} (λ)" if part == "lambda" else name
    setting = _setting(what)
    if what == "scenario.topic":
        return t("setup.topic")
    return label_of(setting) if setting else _sentence(spaced(what.removeprefix(_SETTINGS).removeprefix("scenario.")))


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _set_to(what: str, given: Any) -> str:
    """A value in the words of the form."""
    key = f"setup.pruning_{what.removeprefix(_PRUNING)}_{given}"
    if what.startswith(_PRUNING) and entry(key) is not None:
        return t(key)
    if what == f"{_PRUNING}remove":
        return ", ".join(t(f"setup.pruning_block_{letter}") for letter in given) or t("past.unknown")
    if isinstance(given, bool):
        return t("past.yes" if given else "past.no")
    name = _setting(what)
    if name and given in specs()[name].options:
        return option_of(name, str(given))
    return t("past.unknown") if given is None else shortened(compact(given), LONGEST_VALUE)


# What differs between two runs: where they part and why, shares, ends and settings, as cards


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
                    opens = t("past.open_at" if parting else "past.open_run", run=letter)
                    link = ui.link(opens, page_of(record.path.name, turn))
                    link.classes("text-sm text-primary font-medium no-underline pt-1")


def facts(comparison: Comparison, a: Record, b: Record) -> None:
    """Draw the cards."""
    with ui.element("div").classes("side-by-side w-full items-start"):
        with ui.column().classes("gap-4 min-w-0"):
            with card(t("past.part")):
                _part(comparison, a, b)
            with card(t("past.settings")):
                if comparison.setup:
                    table((t("past.what"), "A", "B"), changes_of(comparison.setup))
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
        table((t("past.needs"), "A", "B"), rows)


def _ends(comparison: Comparison) -> None:
    ends = [dict(_end(end, comparison.calls_after)) for end in (comparison.end_a, comparison.end_b)]
    unknown = t("past.unknown")
    rows = [(key, ends[0][key], ends[1][key]) for key in ends[0] if {ends[0][key], ends[1][key]} != {unknown}]
    table((t("past.what"), "A", "B"), rows)


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
    """An intervention in words; an unknown kind as it was recorded."""
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


# The utterances of two runs side by side: what they share is folded, and what differs is marked word by word


PAGE: Final = 30
"""How many turns are drawn at a time."""

Pair = tuple[int, Uttered | None, Uttered | None]
"""A turn with the utterances of both runs."""


def pairs(a: Sequence[Uttered], b: Sequence[Uttered]) -> list[Pair]:
    """The utterances of two runs turn by turn."""
    by_turn_a, by_turn_b = ({said.turn: said for said in run} for run in (a, b))
    return [(turn, by_turn_a.get(turn), by_turn_b.get(turn)) for turn in sorted(by_turn_a.keys() | by_turn_b.keys())]


def side_by_side(comparison: Comparison, a: Record, b: Record) -> None:
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
                with inside:
                    page_by_page(len(shared), lambda at: _said(shared[at], names), PAGE, "past.more")

        past.on_value_change(unfold)
        past.set_value(not own)
    if own:
        with ui.element("div").classes("side-by-side side-head w-full"):
            for run in ("A", "B"):
                ui.label(run).classes("panel-title")
        page_by_page(len(own), lambda at: _pair(own, at, names), PAGE, "past.more")


def _pair(own: list[Pair], at: int, names: list[str]) -> None:
    before = own[at - 1] if at else None
    _, one, other = own[at]
    pieces = word_changes(one.text, other.text) if one is not None and other is not None else None
    with ui.element("div").classes("side-by-side pair w-full"):
        for side, run in ((1, "A"), (2, "B")):
            with ui.column().classes("gap-1 min-w-0"):
                said = own[at][side]
                if isinstance(said, Uttered):
                    _said(said, names, run, pieces[side - 1] if pieces is not None else ())
                elif before is None or before[side] is not None:  # shown once for both runs
                    with ui.row().classes("items-baseline gap-2"):
                        ui.label(run).classes("side-tag text-xs font-bold")
                        ui.label(t("past.nothing_more")).classes("text-sm muted italic")


def _said(said: Uttered, names: list[str], run: str = "", pieces: Sequence[Piece] = ()) -> None:
    """An utterance; with pieces, those that the other run does not have are marked."""
    tint, edited = colour(said.speaker, names), " edited" if said.edited_by is not None else ""
    with ui.row().classes(f"w-full gap-2 no-wrap items-start{edited}").style(f"--c:{tint}"):
        avatar(said.speaker, tint, "30px")
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
                    ui.label(put_in(said.edited_by)).classes("put-in text-xs break-words")
            if not pieces:
                ui.label(said.text).classes("bubble text-sm")
                return
            with ui.element("div").classes("bubble text-sm"):
                for piece in pieces:
                    with ui.element("mark" if piece.differs else "span"):
                        ui.label(piece.text).classes("inline")


# The courses of two runs over each other, on the page that compares them


def courses(both: Compared) -> None:
    """Draw a chart for each of need to talk, openness and emotions in which the runs differ; nothing if none does."""
    at = cache(partial(_charts, both))
    drawn = at(NARROW)
    if not drawn:
        return
    title(t("past.courses"))
    ui.label(t("past.courses_note")).classes("text-sm muted")
    with ui.element("div").classes("courses w-full"):
        for place, chart in enumerate(drawn):
            with ui.element("div").classes("surface p-3 min-w-0"):
                file = f"{both.a.path.name} {both.b.path.name} {chart.title}"
                box = ChartBox(file, larger=partial(_of, at, place, WIDE), slider=False)
                box.draw(partial(_of, at, place))


def _of(charts: Callable[[int], list[Chart]], place: int, width: int) -> Chart:
    return charts(width)[place]


def _charts(both: Compared, width: int) -> list[Chart]:
    return overlays(both.a, both.b, parts=t("past.parts_here"), width=width)


# The page that compares two runs: choice of the runs, their differences, and their transcripts side by side


_MOST_TITLE: Final = 56
"""Characters of a title in a field, so that what follows it can be seen."""
_MOST_RELATIVES: Final = 12
_TWO: Final = 2


async def compare_page(web: WebContext, a: str = "", b: str = "") -> None:
    """Draw the page; with a branch alone, its origin is compared with it."""
    with page(t("past.compare_title"), 1200):
        page_title(t("past.compare_title"))
        chooser = ui.row().classes("w-full items-center gap-2")
        box = ui.column().classes("w-full gap-4")
        disclaimer()

    async def load() -> None:
        one, other = a, b
        try:
            listing = await web.runs.runs()
        except PerSimChatError as error:
            notify_error(error)
            return
        shut = await asyncio.to_thread(closed_runs, listing.runs)
        origin = _origin(listing.runs, one) if one and not other else ""
        if origin:
            one, other = origin, one
            ui.navigate.history.replace(reached(comparison_of(one, other)))
        if len(listing.runs) < _TWO and not one:
            chooser.delete()
            with box:
                nothing_yet("compare_arrows", t("past.compare_few"), t("past.compare_few_why"), t("past.new"))
            return
        with chooser:
            _choose(listing.runs, shut, one, other)
        with box:
            if one and other:
                _waiting()
            elif not one:
                ui.label(t("past.compare_hint")).classes("muted")
            else:
                _relatives([listed for listed in listing.runs if listed.folder not in shut], one)
        if one and other:
            await _compared(web, box, one, other)

    ui.timer(0, load, once=True)


def _waiting() -> None:
    with ui.column().classes("w-full items-center gap-2 mt-8").props("role=status"):
        ui.spinner(size="32px").props("aria-hidden=true")
        ui.label(t("past.reading")).classes("text-sm muted")


def _origin(runs: Sequence[ListedRun], run: str) -> str:
    """The address of the run whose past a branch shares; empty if it is no branch, or its origin is gone."""
    above = origins(runs)
    return next((address_of(above[one.folder]) for one in runs if address_of(one) == run and one.folder in above), "")


def _relatives(runs: Sequence[ListedRun], run: str) -> None:
    """Offer the runs that share a past with this one; below them, any other can be chosen."""
    ui.label(t("past.compare_hint")).classes("muted")
    listed = next((one for one in runs if address_of(one) == run), None)
    others = [one for one in family(Path(listed.folder), runs) if one != listed] if listed is not None else []
    if not others:
        return
    with card(t("past.relatives")):
        for one in others[:_MOST_RELATIVES]:
            link = ui.link(_option(one), comparison_of(run, address_of(one)))
            link.classes("text-sm text-primary no-underline [overflow-wrap:anywhere]")


def _choose(runs: Sequence[ListedRun], shut: frozenset[str], a: str, b: str) -> None:
    """Two fields and a button between them; the address holds the choice."""
    options = {address_of(listed): _option(listed, closed=listed.folder in shut) for listed in runs}

    def go(one: str | None, other: str | None) -> None:
        if (one or "", other or "") != (a, b):
            ui.navigate.to(comparison_of(one or "", other or ""))

    def field(name: str, value: str) -> ui.select:
        select = ui.select(options, label=t(name), value=value if value in options else None, with_input=True)
        return select.props("clearable").classes("grow basis-[280px] min-w-0")

    one = field("past.run_a", a)
    icon_button("swap_horiz", t("past.swap"), lambda: go(other.value, one.value))
    other = field("past.run_b", b)
    for select in (one, other):
        select.on_value_change(lambda: go(one.value, other.value))


def _option(listed: ListedRun, *, closed: bool = False) -> str:
    """A run in a line, with what tells it from others in front."""
    said = t("past.played") if closed else t("past.utterances", n=listed.utterances)
    branch = listed.branch_of is not None and not listed.name and not closed
    called = shortened(branched(listed) if branch else title_of(listed), _MOST_TITLE)
    return t("past.option", topic=called, moment=moment(listed.started), count=said, run=address_of(listed))


async def _compared(web: WebContext, box: ui.column, a: str, b: str) -> None:
    try:
        both = await asyncio.to_thread(_read, web.runs.folder(a), web.runs.folder(b))
    except PerSimChatError as error:
        _instead(box, "search_off", str(error))
        return
    if both is None:
        _instead(box, "lock", t("past.closed"))
        return
    with anew(box):
        heads(both)
        facts(both.comparison, both.a, both.b)
        courses(both)
        side_by_side(both.comparison, both.a, both.b)


def _instead(box: ui.column, icon: str, why: str) -> None:
    """Why there is no comparison."""
    with anew(box), ui.row().classes("items-center gap-3 no-wrap"):
        ui.icon(icon, size="32px", color="primary").props("aria-hidden=true")
        ui.label(capitalised(why)).classes("muted [overflow-wrap:anywhere]")


def _read(a: Path, b: Path) -> Compared | None:
    """Two runs and their comparison; None while people play one of them."""
    if closed(a) or closed(b):
        return None
    one = read_run(a, whole=True)
    other = one if a == b else read_run(b, whole=True)
    return Compared(one, other, (read_labels(a).name, read_labels(b).name), compare(one, other))
