"""What a report says of polls: how often each answer was given in each group at each point, and what is missing."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup, escape

from ..evaluation.published.paper import in_words
from ..evaluation.statistics.intervals import Estimate, circular_triads
from ..models.naming import parse_model_name
from ..reports.charts.model import Scale, ticks
from ..reports.report import headed, page_environment
from ..reports.words import UNKNOWN
from ..runs.folder.run_folder import write_whole
from ..state.language import ENGLISH
from ..state.plain_text import clean
from ..state.wording import localised, said, t
from .axes import Label
from .comparing import OF_THE_TASK, Comparison, spread, task_of
from .contests import Contest, PairVerdicts, beaten
from .estimate import summed
from .file import PollOf
from .place import REPORT, Place
from .report_judges import TOO_MANY, answers, in_words_of, not_judged, notes, too_many
from .robustness import ContrastFinding
from .tables import Tables

MOST_COLUMNS: Final = 11
"""The most answers that have a column each; of more, the mean is told."""


@dataclass(frozen=True)
class Distribution:
    """The answers of one group at one point of a poll.

    Attributes:
        levels: of the axes, those of the task apart.
        at: the point.
        n: answers that are there.
        missing: why answers are missing, and how often.
        shares: of each answer, in the order of the poll's; empty where there are none.
        mean: of numbers and scales.
    """

    levels: Mapping[str, Label]
    at: str
    n: int
    missing: Mapping[str, int]
    shares: Sequence[float]
    mean: float | None

    @property
    def why(self) -> str:
        """The reasons in words."""
        return in_words_of(self.missing)


@dataclass(frozen=True)
class Polled:
    """One poll over all conversations.

    Attributes:
        asked: the poll.
        answers: that have a column each.
        groups: with answers, in order of the cells and the points.
    """

    asked: PollOf
    answers: Sequence[str]
    groups: Sequence[Distribution]


def polled(found: Tables) -> list[Polled]:
    """The polls of an experiment, with the distributions of their answers."""
    rows: Sequence[Any] = found.rows.get("polls", ())
    each = []
    for asked in found.experiment.measures.polls:
        possible = asked.poll.possible
        answers = possible if len(possible) <= MOST_COLUMNS else ()
        own = [row for row in rows if row.poll == asked.id]
        each.append(Polled(asked, answers, list(_distributions(asked, answers, own, found))))
    return each


def _distributions(asked: PollOf, answers: Sequence[str], rows: Sequence[Any], found: Tables) -> Iterator[Distribution]:
    names = [name for name in found.locked.axes if name not in OF_THE_TASK]
    groups: dict[str, tuple[dict[str, Label], set[str]]] = {}
    for cell in spread(found.locked.cells):
        levels = {name: cell.axes[name] for name in names}
        groups.setdefault(json.dumps(levels), (levels, set()))[1].add(cell.id)
    for levels, cells in groups.values():
        for at in map(str, asked.at):
            own = [row for row in rows if row.cell in cells and at in row.at.split(", ")]
            given = [row.answer for row in own if row.answer is not None]
            times = Counter(given)
            shares = [times[answer] / len(given) for answer in answers] if given else []
            mean = fmean(map(float, given)) if given and asked.poll.is_ordered else None
            missing = Counter(row.missing for row in own if row.answer is None)
            yield Distribution(levels, at, len(given), missing, shares, mean)


def by_lot(found: Tables) -> str:
    """What a reader must know where the offline model has answered; empty where it has not."""
    rows: Sequence[Any] = found.rows.get("polls", ())
    lots = sum(parse_model_name(row.answered_by).provider == "offline" for row in rows)
    if not lots:
        return ""
    if lots == len(rows):
        return t("findings.by_lot_all", n=lots)
    return t("findings.by_lot_some", n=len(rows), lots=lots)


def polls_missing(found: Tables) -> list[str]:
    """Polls of which more than `TOO_MANY` of the answers in a group are missing, a sentence each."""
    told = []
    for poll in polled(found):
        for one in poll.groups:
            of = one.n + sum(one.missing.values())
            if of and sum(one.missing.values()) / of > TOO_MANY:
                where = ", ".join(f"{name} {label}" for name, label in one.levels.items())
                lack = {"number": of - one.n, "of": of, "poll": poll.asked.id, "at": said(one.at), "why": one.why}
                told.append(
                    t("findings.poll_lacks_in", group=where, **lack) if where else t("findings.poll_lacks", **lack)
                )
    return told


# The report of an experiment: one HTML file without scripts and without a network, by the rules of a run's repo


LARGE: Final = 1000
"""From here on, numbers are shown whole: 2,618 and not 2.62e+03."""
NOT_SHOWN: Final = "not shown"
"""Of a difference: neither higher nor lower could be shown."""
_LEAST: Final = 0.001
"""A smaller p is not told exactly."""
_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 640, 250, 24, 30, 12


def _number(value: float | None) -> str:
    """A number with three significant digits, a large one whole; a dash where it is not known."""
    if value is None:
        return UNKNOWN
    return localised((f"{value:,.0f}" if abs(value) >= LARGE else f"{value:.3g}").replace("-", "−"))


def _p(value: float | None) -> str:
    return UNKNOWN if value is None else localised("< 0.001" if value < _LEAST else f"{value:.3f}")


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.0%}".replace("-", "−").replace("%", " %")


def _interval(found: Estimate, shown: Callable[[float | None], str] = _number) -> str:
    """An interval: "0.1 to 0.4"; "none" where there is none."""
    if found.low is None:
        return t("findings.no_interval")
    return t("findings.to", low=shown(found.low), high=shown(found.high))


def _told(one: Comparison) -> str:
    """What a comparison found, for readers of sentences: higher, lower, or that neither could be shown."""
    found = one.difference
    if found.value is None:
        return said("nothing to compare")
    interval = said(found.note)
    if found.low is not None and found.high is not None:
        interval = t("findings.interval_from", low=_number(found.low), high=_number(found.high))
    by = _number(abs(found.value) if one.shown else found.value)
    p = f"{'' if (one.p_holm or 0) < _LEAST else '= '}{_p(one.p_holm)}"
    return t(f"findings.compared_{one.shown or 'none'}", by=by, interval=interval, p=p)


def reason(why: str) -> str:
    """Why a value is missing, or a run is not what it would be if it were held now, in the current language."""
    changed, fewer = (re.fullmatch(one, why) for one in (r"the default of (\S+) has changed", r"fewer than (\d+) .*"))
    if changed is not None:
        return t("findings.default_changed", name=changed[1])
    return said(why) if fewer is None else t("findings.fewer_dialogues", n=int(fewer[1]))


def _file(name: str) -> Markup:
    """A link to a file of the tables."""
    return Markup('<a href="tables/{0}">tables/{0}</a>').format(name)


def _marked(key: str, **values: Any) -> Markup:
    """A text of the catalogue with its signs of markup; those of the values are none."""
    return Markup(t(key, **{k: v if isinstance(v, int | Markup) else escape(clean(str(v))) for k, v in values.items()}))


@cache
def _environment() -> Environment:
    environment = page_environment(Path(__file__).parent / "templates")
    environment.filters |= {"number": _number, "p": _p, "share": _share, "interval": _interval, "told": _told}
    environment.filters |= {"reason": reason, "file": _file, "said": said, "published": in_words}
    environment.filters["share_interval"] = partial(_interval, shown=_share)
    environment.globals |= {"t": _marked, "said": said}  # a filter of what is constant is worked out once
    return environment


@dataclass(frozen=True)
class Line:
    """One comparison in a forest plot, in pixels; without an interval, only the point is drawn."""

    label: str
    y: float
    point: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Forest:
    """A forest plot: differences with their intervals, and the line of no difference.

    Attributes:
        lines: from top to bottom.
        zero: where no difference is.
        ticks: places and values of the scale.
        height: of the whole drawing.
    """

    lines: Sequence[Line]
    zero: float
    ticks: Sequence[tuple[float, str]]
    height: float
    width: float = _WIDTH


Drawn = tuple[str, float | None, float | None, float | None]
"""A label, a value and the ends of its interval."""


def forest(comparisons: Sequence[Comparison]) -> Forest | None:
    """The forest plot of one measure's comparisons; None where there is no difference to draw."""
    differences = [(f"{one.a} − {one.b}", one.difference) for one in comparisons]
    return _forest([(label, each.value, each.low, each.high) for label, each in differences], none=0.0)


def at_each_level(one: ContrastFinding) -> Forest | None:
    """The forest plot of one difference at the levels of an axis."""
    levels = [(str(label), at.difference) for label, at in one.at.items()]
    return _forest([(label, each.value, each.low, each.high) for label, each in levels], none=0.0)


def rates(contests: Sequence[Contest]) -> Forest | None:
    """The forest plot of win rates; None where there is none to draw."""
    each = [(t("findings.a_against_b", a=one.a, b=one.b), one.rate) for one in contests]
    return _forest([(label, rate.value, rate.low, rate.high) for label, rate in each], none=0.5)


def _forest(given: Sequence[Drawn], none: float) -> Forest | None:
    """A forest plot; `none` is the value of no difference."""
    drawn = [(label, value, low, high) for label, value, low, high in given if value is not None]
    if not drawn:
        return None
    ends = [none, *(end for _, *three in drawn for end in three if end is not None)]
    low, high = min(ends), max(ends)
    room = 0.05 * (high - low) or 1.0
    scale = Scale(low - room, high + room, _LEFT, _WIDTH - _RIGHT)
    lines = []
    for number, (label, value, least, most) in enumerate(drawn):
        at = [None if end is None else scale(end) for end in (least, most)]
        lines.append(Line(label, _TOP + _ROW * number + _ROW / 2, scale(value), at[0], at[1]))
    marks = [(scale(tick), _number(tick)) for tick in ticks(scale.low, scale.high, 6)]
    return Forest(lines, scale(none), marks, _TOP + _ROW * len(drawn) + 26)


@dataclass(frozen=True)
class Summed:
    """One measure over all complete cells."""

    name: str
    about: str
    n: int
    missing: int
    mean: float | None
    sd: float | None
    least: float | None
    most: float | None


@dataclass(frozen=True)
class Section:
    """A section of a report that belongs to one kind of experiment.

    Attributes:
        id: its anchor.
        title: its heading.
        template: of this room's `templates`.
        values: for the template.
    """

    id: str
    title: str
    template: str
    values: Mapping[str, Any]


def report_html(found: Tables, more: Sequence[Section] = ()) -> str:
    """The report as HTML in the current language, with further sections before its own."""
    cells: Sequence[Any] = found.rows["cells"]
    used = [s.manifest.usage.total for s in found.standings.values() if s.manifest and s.manifest.usage.total]
    grouped: dict[tuple[str, str], list[Comparison]] = {}
    for one in found.comparisons:
        within = ", ".join(f"{name} {label}" for name, label in one.within.items())
        grouped.setdefault((one.by, within), []).append(one)
    sections = [
        (by, within, [(name, _of(ones, name), forest(_of(ones, name))) for name in _names(ones)])
        for (by, within), ones in grouped.items()
    ]
    numbers = [
        (t("findings.unit_by", axis=by), [one.difference.n for _, ones, _ in each for one in ones])
        for by, _, each in sections
    ]
    paired = next((measure for measure in found.asked if isinstance(measure, PairVerdicts)), None)
    if paired is not None:
        numbers.append((t("findings.unit_pairs", axis=paired.axis), [one.tasks for one in found.contests]))
    done = [cell for cell in found.locked.cells if found.standings[cell.id].status == "done"]
    return (
        _environment()
        .get_template("experiment.html.jinja")
        .render(
            name=found.locked.name,
            axes=found.locked.axes,
            task_axes=[name for name in OF_THE_TASK if name in found.locked.axes],
            cells=cells,
            labels={cell.id: cell.axes for cell in found.locked.cells},
            statuses=Counter(row.status for row in cells),
            stale=sum(row.stale is not None for row in cells),
            conversations=summed(used),
            judging=found.judging,
            spent=summed([*used, found.judging]),
            sections=sections,
            tasks=[(what, _from_to(min(ns), max(ns)), max(ns)) for what, ns in numbers if ns],
            all_tasks=len({task_of(cell) for cell in done}),
            left_out=max((one.left_out for one in found.comparisons), default=0),
            measures=_summed(found),
            groups=[(one, found.beside.of_group(one)) for one in found.groups],
            beside=found.beside,
            what_differed=found.beside.what_differed(),
            paired=paired,
            contests=[(one, found.beside.of_contest(one, paired)) for one in found.contests] if paired else [],
            rates=rates(found.contests),
            matrix=_matrix(found.contests),
            circles=circular_triads(paired.levels, beaten(found.contests)) if paired else [],
            robust=found.robustness,
            contrasts={
                axis: [(one, at_each_level(one)) for one in found.robustness.contrasts if one.axis == axis]
                for axis in dict.fromkeys(one.axis for one in found.robustness.contrasts)
            },
            answers=answers(found),
            notes=notes(found),
            not_judged=not_judged(found),
            warnings=[*too_many(found), *polls_missing(found)],
            polls=polled(found),
            by_lot=by_lot(found),
            versions=found.locked.versions,
            more=more,
        )
    )


def _from_to(least: int, most: int) -> str:
    return str(most) if least == most else t("findings.to", low=str(least), high=str(most))


def _matrix(contests: Sequence[Contest]) -> dict[tuple[Label, Label], float]:
    """The win rate of every level against every other."""
    known = [(one, one.rate.value) for one in contests if one.rate.value is not None]
    return {(one.a, one.b): rate for one, rate in known} | {(one.b, one.a): 1 - rate for one, rate in known}


def _names(ones: Sequence[Comparison]) -> list[str]:
    return list(dict.fromkeys(one.measure for one in ones))


def _of(ones: Sequence[Comparison], name: str) -> list[Comparison]:
    return [one for one in ones if one.measure == name]


def _summed(found: Tables) -> list[Summed]:
    overall = []
    for measure in found.measures:
        own = [value for (_, name), value in found.values.items() if name == measure.name]
        there = [value for value in own if value is not None]
        overall.append(
            Summed(
                measure.name,
                measure.about,
                n=len(there),
                missing=len(own) - len(there),
                mean=fmean(there) if there else None,
                sd=stdev(there) if len(there) > 1 else None,
                least=min(there, default=None),
                most=max(there, default=None),
            )
        )
    return overall


def in_its_language(place: Place, tag: str | None = None) -> AbstractContextManager[None]:
    """The language of a report: that of the tag; by default that of the conversations if all have the same one.

    Raises:
        InputError: there is no such language in the catalogue.
    """
    tags = {cell.settings.get("language", ENGLISH).partition("-")[0] for cell in place.locked().cells}
    return headed(tags.pop() if len(tags) == 1 else ENGLISH, tag)


def write_report(found: Tables, place: Place, more: Sequence[Section] = ()) -> Path:
    """Write the report into the experiment's folder, whole or not at all; `more` as for `report_html`."""
    path = place.path / REPORT
    write_whole(path, report_html(found, more).encode())
    return path


Value = str | int | float | None | tuple[float | None, ...]
"""A cell: words, a number, an interval, or a mean with the least and the greatest value."""


@dataclass(frozen=True)
class Shown:
    """A table of the report.

    Attributes:
        caption: what it shows.
        head: its columns.
        rows: its cells.
        notes: what a reader must know, a sentence each.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Value]]
    notes: Sequence[str] = ()
