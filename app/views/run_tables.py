"""The tables of `persimchat show`: agents, analysis, verdicts, tokens and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich import box
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from persimchat.app.views.text import mood
from persimchat.runs.events import Happened, Totals
from persimchat.runs.folder.interviews import InterviewAnswer
from persimchat.runs.folder.interviews import interviews as by_interview
from persimchat.runs.folder.judgements import RecordedJudgement
from persimchat.runs.reports.pruning_figures import Lacking, percent, piece
from persimchat.runs.reports.stance_summary import Holder, Stances
from persimchat.runs.reports.summary import SCORES, AgentSummary, Course, Summary, VerdictSummary, mean
from persimchat.runs.reports.words import UNKNOWN, cost, decimal, from_to, plain, seconds, spaced, trend, whole
from persimchat.state.plain_text import one_line

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


_UNBOUNDED = 10_000


class FittingTable(Table):
    """A table that becomes a list, one figure per line, if the terminal is too narrow for its columns.

    Rich would cut figures off, and drop whole columns: a number with its end missing is a wrong number.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        needed = Measurement.get(console, options.update(max_width=_UNBOUNDED), self).minimum
        if needed <= options.max_width:
            yield from super().__rich_console__(console, options)
        else:
            yield from self._listed()

    def _listed(self) -> RenderResult:
        """The rows one below the other, each headed by its first cell."""
        if self.title:
            yield Text.assemble(self.title, style="bold")
        first, *others = self.columns
        rows = zip(*(column.cells for column in self.columns), strict=True)
        for name, *cells in rows:
            # A figure, such as an utterance's number, needs its heading.
            label = f"{_heading(first.header)} " if first.justify == "right" else ""
            yield Text.assemble(label, _text(name))
            figures = Table.grid(padding=(0, 2), pad_edge=False)
            figures.add_column(style="dim", no_wrap=True)
            figures.add_column(overflow="fold")
            for column, cell in zip(others, cells, strict=True):
                if _text(cell).plain:
                    figures.add_row(Text(f"  {_heading(column.header)}"), cell)
            yield figures


def _heading(header: object) -> str:
    """A heading on one line."""
    return str(header).replace("\n", " ")


def _text(cell: object) -> Text:
    return cell if isinstance(cell, Text) else Text(str(cell))


@dataclass(frozen=True)
class Look:
    """What standard output can show.

    Attributes:
        terminal: whether tables have lines.
        unicode: whether it takes all of Unicode.
    """

    terminal: bool
    unicode: bool

    def __call__(self, words: str) -> Text:
        """Text on one line; nothing in it is read as markup."""
        return Text(one_line(words if self.unicode else plain(words)))


_WORDS: Final = frozenset(
    {
        "agent",
        "module",
        "feels at the end",
        "last answer",
        "verdict",
        "debate is",
        "answer",
        "what",
        "in a",
        "in b",
        "dimension",
        "missing",
        "scores",
        "judge",
        "beliefs",
        "stands behind",
        "closeness to",
        "system",
        "compared",
        "unit",
        "left out most often",
        "setting",
        "measure",
        "reference",
    }
)
"""Columns that hold words; the others hold figures, which are aligned right and never broken."""


def table(look: Look, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table; a heading of two lines becomes one line in a pipe."""
    table = FittingTable(
        title=look(title),
        title_justify="left",
        title_style="bold",
        box=(box.SIMPLE_HEAD if look.unicode else box.ASCII2) if look.terminal else None,
        show_edge=False,
        pad_edge=False,
        header_style="bold",
    )
    for column in columns:
        heading = column if look.terminal else column.replace("\n", " ")
        words = column in _WORDS
        table.add_column(heading, overflow="fold", no_wrap=not words, justify="left" if words else "right")
    for row in rows:
        table.add_row(*(look(cell) for cell in row))
    return table


def messages(summary: Summary, look: Look) -> Table:
    """Messages and response times of each speaker."""

    def row(agent: AgentSummary) -> list[str]:
        speech, length = agent.speech, agent.speech.length
        sent = [agent.name, whole(speech.utterances), *_course(speech.response_time_s, seconds, "s")]
        return [*sent, whole(length.last_words), whole(length.last_tokens), decimal(length.mean_words)]

    length = ("last\nwords", "last\ntokens", "average\nwords")
    columns = ("agent", "sent", "last\nresponse", "average\nresponse", "trend", *length)
    return table(look, "Messages", columns, map(row, summary.agents))


def _course(course: Course, worded: Callable[[float | None], str] = decimal, unit: str = "") -> list[str]:
    return [worded(course.last), worded(course.mean), trend(course.trend, unit)]


def minds(summary: Summary, look: Look) -> Table | None:
    """Need to talk, openness and emotions of each agent; None if the run has none of them."""
    known = [a for a in summary.agents if a.mean_need_to_talk is not None or a.emotion or a.answer is not None]
    if not known:
        return None
    debate = any(agent.first_openness is not None for agent in known)
    answers = any(agent.answer is not None for agent in known)

    def row(agent: AgentSummary) -> list[str]:
        openness = [from_to(agent.first_openness, agent.last_openness)] * debate
        answer = [agent.answer if agent.answer is not None else "–"] * answers
        feels = mood(agent.emotion) if agent.emotion else "–"
        return [agent.name, decimal(agent.mean_need_to_talk), *openness, feels, *answer]

    columns = ("agent", "average\nneed to talk", *["openness"] * debate, "feels at the end", *["last answer"] * answers)
    return table(look, "Minds", columns, map(row, known))


_PIECE: Final = 40
"""Characters of a piece of information in a table."""


def pruned(summary: Summary, look: Look) -> Table | None:
    """What each agent's utterances were worded without, on average; None without pruning."""
    if not summary.pruned_by_agent:
        return None
    checked = any(one.mean_contradiction is not None for one in summary.pruned_by_agent)

    def row(one: Lacking) -> list[str]:
        often = "; ".join(f"{piece(of.text, _PIECE)} ({of.removed:,} of {of.prompts:,})" for of in one.most_often)
        return [
            one.agent,
            whole(one.utterances),
            percent(one.mean_share),
            f"{decimal(one.mean_removed)} of {decimal(one.mean_units)}",
            f"{decimal(one.mean_words_removed)} of {decimal(one.mean_words)}",
            *[decimal(one.mean_contradiction)] * checked,
            often or UNKNOWN,
        ]

    columns = ("agent", "utterances", "share of\nscores", "pieces", "words", *["contradiction"] * checked)
    title = "Worded without, an utterance on average"
    return table(look, title, (*columns, "left out most often"), map(row, summary.pruned_by_agent))


def analysis(summary: Summary, look: Look) -> Table | None:
    """Averages and trends of the scores; None if no utterance was analysed."""
    if not summary.total.scored:
        return None

    def row(agent: AgentSummary) -> list[str]:
        courses: list[Course] = [getattr(agent.speech, name) for name in SCORES]
        return [agent.name, *("  ".join([decimal(c.mean), decimal(c.last), trend(c.trend)]) for c in courses)]

    return table(look, "Analysis, 0 to 10: average, last, trend", ("agent", *SCORES), map(row, summary.agents))


def verdicts(summary: Summary, look: Look, most: int = 20) -> Table | None:
    """The judge's last verdicts; None if there are none."""
    if not summary.verdicts:
        return None

    def row(verdict: VerdictSummary) -> list[str]:
        said = "consensus" if verdict.consensus else "overruled" if verdict.overruled else "no consensus"
        agree = f"{verdict.agree} of {verdict.participants}"
        return [whole(verdict.turn), said, verdict.progress, agree, verdict.answer or verdict.overruled]

    shown = summary.verdicts[-most:]
    title = "Verdicts" if len(shown) == len(summary.verdicts) else f"Verdicts, the last {most}"
    columns = ("after\nutterance", "verdict", "debate is", "agree", "answer")
    return table(look, title, columns, map(row, shown))


def standings(summary: Summary, look: Look) -> Table | None:
    """Where a story's characters stand at the end; None outside stories."""
    if not summary.standings:
        return None

    def row(one: Happened) -> list[str]:
        near = ", ".join(f"{other.partition(' ')[0]} {score}" for other, score in one.closeness.items())
        beliefs = ", ".join(map(str, one.beliefs)) or UNKNOWN
        return [one.speaker, beliefs, one.supports or "nobody", whole(one.influence or 0), near]

    columns = ("agent", "beliefs", "stands behind", "influence", "closeness to")
    return table(look, "Where they stand at the end", columns, map(row, summary.standings))


def judgements(rows: Iterable[RecordedJudgement], look: Look) -> Table | None:
    """The scores that evaluators gave the conversation; None if there are none."""
    grouped: dict[tuple[str, str], list[RecordedJudgement]] = {}
    for row in rows:
        grouped.setdefault((row.dimension, row.judge), []).append(row)
    if not grouped:
        return None

    def cells(dimension: str, judge: str, own: Sequence[RecordedJudgement]) -> list[str]:
        scores = [row.score for row in own if row.score is not None]
        why = Counter(row.missing for row in own if row.missing)
        missing = ", ".join(f"{reason} {times}" for reason, times in why.items()) or "0"
        return [dimension, decimal(mean(scores)), " ".join(f"{score:g}" for score in scores) or "–", missing, judge]

    columns = ("dimension", "average", "scores", "missing", "judge")
    return table(look, "Judged after it was over", columns, (cells(*of, own) for of, own in grouped.items()))


def interviews(rows: Iterable[InterviewAnswer], look: Look) -> Table | None:
    """The interviews that were held afterwards, and how many questions each had; None if there were none."""

    def cells(own: Sequence[InterviewAnswer]) -> list[str]:
        first, missing = own[0], sum(row.answer is None for row in own)
        asked = f"{len(own)} ({missing} without an answer)" if missing else str(len(own))
        return [str(first.interview), first.agent, str(first.turn), asked, first.judge]

    held = by_interview(rows)
    columns = ("interview", "with", "as at turn", "questions", "answered by")
    return table(look, "Interviews afterwards", columns, map(cells, held)) if held else None


def stances(every: Iterable[Stances], look: Look) -> list[Table]:
    """Who began and ended with which position, by source; sources in which nobody moved are left out."""

    def cells(holder: Holder) -> list[str]:
        first, last = (UNKNOWN if held is None else held for held in (holder.first, holder.last))
        return [holder.agent, first, last, whole(holder.moves), decimal(holder.credit)]

    columns = ("agent", "began with", "ended with", "moves", "others moved\nafter them")
    moved = (one for one in every if one.moves)
    return [table(look, f"Who moved, by {one.where}", columns, map(cells, one.holders)) for one in moved]


def usage(what: str, rows: dict[str, Totals], look: Look) -> Table | None:
    """Tokens and cost by module or agent; None if nothing is recorded."""
    if not rows:
        return None
    cached = any(total.cached_tokens for total in rows.values())
    cells = [
        [
            spaced(name) if what == "module" else name,
            whole(total.calls),
            whole(total.input_tokens),
            *([whole(total.cached_tokens)] if cached else []),
            whole(total.output_tokens),
            cost(total),
        ]
        for name, total in rows.items()
    ]
    columns = (what, "calls", "tokens in", *(["cached"] if cached else []), "tokens out", "cost")
    return table(look, f"Tokens and cost by {what}", columns, cells)
