"""What `persimchat evaluate` and `persimchat poll` print: dimensions, pairs, polls, people, stances, focus groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final

from rich.console import Group, RenderableType, group
from rich.padding import Padding
from rich.text import Text

from ...evaluation.dimensions import DimensionResult
from ...evaluation.pairs import Counts, PairsResult
from ...evaluation.people import Apart, Likeness, Together
from ...evaluation.polls import Tally, tallies
from ...evaluation.statistics.effects import Kappa
from ...evaluation.statistics.intervals import Estimate
from ...reports.guide import MOST_QUOTES, Answers, GroupSummary, Positions, Stand
from ...reports.stances import Holder, Stances
from ...reports.words import UNKNOWN, count, decimal, whole
from ...runs.folder.answers import PollAnswer
from ...state.plain_text import one_line
from ...state.poll import Poll
from ...state.wording import listed, t
from .tables import Look, facts, heading, table

_UNIT: Final = (
    "Mean ± SD are over conversations. The interval is of the mean over tasks (topic, participants, seed), the "
    "independent unit."
)


def number(value: float | None) -> str:
    """A number with two decimals."""
    return UNKNOWN if value is None else f"{value:,.2f}"


def p_value(value: float | None) -> str:
    """A p-value with three decimals."""
    return UNKNOWN if value is None else "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def between(estimate: Estimate) -> str:
    """An interval: "5.45 to 9.55"."""
    return UNKNOWN if estimate.low is None else f"{number(estimate.low)} to {number(estimate.high)}"


def reasons(missing: Mapping[str, int]) -> str:
    """Why something is missing, and how often: "unparseable 2, refused 1"."""
    return ", ".join(f"{why} {times:,}" for why, times in sorted(missing.items())) or "0"


def dimensions(results: Sequence[DimensionResult], look: Look, notes: Iterable[str]) -> RenderableType:
    """The table of dimensions, what it means, and warnings."""
    repeated = any(result.reliability is not None for result in results)
    columns = ["dimension", "mean ± SD", "95 % interval", "n", "tasks", "missing"]
    columns += ["does not\napply"] * any(result.not_applicable for result in results) + ["α of\nrepeats"] * repeated

    def row(result: DimensionResult) -> list[str]:
        mean = number(result.mean) if result.sd is None else f"{number(result.mean)} ± {number(result.sd)}"
        name = f"{result.dimension.key} {result.dimension.name}"
        cells = [name, mean, between(result.interval), str(result.n), str(result.interval.n), reasons(result.missing)]
        cells += [str(result.not_applicable)] if len(columns) > len(cells) + repeated else []
        return cells + [number(result.reliability)] * repeated

    shown = table(look, "Dimensions, 0 to 10 (REL: −5 to 5)", columns, map(row, results))
    return _with_notes(shown, look, [_UNIT, *notes])


def pairs(
    result: PairsResult, look: Look, notes: Iterable[str], *, swap: bool, agreement: Kappa | None
) -> RenderableType:
    """The verdicts on A against B, and how far to believe the judge."""
    return _with_notes(facts(look, _pair_facts(result, swap=swap, agreement=agreement)), look, notes)


def _pair_facts(result: PairsResult, *, swap: bool, agreement: Kappa | None) -> Iterable[tuple[str, str]]:
    rate, test = result.rate, result.test
    yield "pairs", f"{len(result.pairs)}, without verdict: {reasons(result.missing)}"
    yield "answers missing", reasons(result.answers_missing)
    if rate.n:
        yield "A against B", _counted(result.counts)
        yield "win rate of A", f"{number(rate.value)} (95 % interval {between(rate)}, ties count half, n {rate.n})"
        yield "sign test", f"{p_value(result.p_holm[0])} ({count(test.n, 'decided pair')}){_note(test.note)}"
    if not swap:
        yield "one order", "A was always shown first, so a favour for the first place counts for A"
    elif result.position.n:
        yield from _orders(result)
    if agreement is not None:
        observed, kappa = number(agreement.observed), number(agreement.value)
        yield "people", f"same verdict {observed}, Cohen's κ {kappa} ({count(agreement.n, 'pair')} with both)"


def _orders(result: PairsResult) -> Iterable[tuple[str, str]]:
    """How much the order of the two conversations matters to the judge."""
    position, tested, conflicts = result.position, result.position_test, result.conflicts
    effect = f"{number(position.value)} (95 % interval {between(position)}; above 0: the first is favoured)"
    yield "position effect", f"{effect}, Wilcoxon {p_value(result.p_holm[1])}{_note(tested.note)}"
    share = f"{number(conflicts.value)} (95 % interval {between(conflicts)})"
    yield "conflicts", f"{share}: the share of pairs whose verdict changes with the order"
    yield "A first alone", _counted(result.alone[0])
    yield "B first alone", _counted(result.alone[1])


def _counted(counts: Counts) -> str:
    return f"{counts.win} won, {counts.tie} tied, {counts.loss} lost"


def _note(note: str) -> str:
    return f"; {note}" if note else ""


def _with_notes(shown: RenderableType, look: Look, notes: Iterable[str]) -> RenderableType:
    return Group(shown, Text(""), *map(look, notes))


def as_data(estimate: Estimate) -> dict[str, Any]:
    """An estimate for --json."""
    named = ("value", "low", "high", "method", "n", "dropped", "note")
    return {name: getattr(estimate, name) for name in named}


# Polls


@group()
def polled(
    poll: Poll, answers: Mapping[str, Sequence[PollAnswer]], look: Look, notes: Iterable[str]
) -> Iterator[RenderableType]:
    """The answers to a poll, by run."""
    yield heading(look, f"{poll.ask} ({poll.described}; poll {poll.id})")
    for run, rows in answers.items():
        turns = sorted({row.turn for row in rows})
        named = {row.agent: None for row in rows}
        columns = ("agent", *(f"at turn {turn}" for turn in turns))

        def cells(agent: str, rows: Sequence[PollAnswer] = rows, turns: Sequence[int] = turns) -> list[str]:
            return [agent, *(_given([row for row in rows if (row.agent, row.turn) == (agent, t)]) for t in turns)]

        yield table(look, run if len(answers) > 1 else "Answers", columns, map(cells, named))
        yield Text("")
    counted = tallies(row for rows in answers.values() for row in rows)
    if counted:
        each = ([str(one.turn), _summed(one), str(one.n), reasons(one.missing)] for one in counted)
        yield table(look, "How often", ("turn", "answers", "n", "missing"), each)
        yield Text("")
    yield from map(look, notes)


def _given(rows: Sequence[PollAnswer]) -> str:
    return " ".join(row.answer if row.answer is not None else f"({row.missing})" for row in rows) or UNKNOWN


def _summed(tally: Tally) -> str:
    """How often each answer was given; of any numbers, their middle and their ends."""
    if tally.poll.possible or not tally.n:
        return ", ".join(f"{answer} {times}" for answer, times in tally.counts.items()) or UNKNOWN
    every = sorted(float(answer) for answer, times in tally.counts.items() for _ in range(times))
    return f"median {median(every):g}, {every[0]:g} to {every[-1]:g}"


# People beside agents


_FLOOR: Final = (
    "Floor: the mean distance of samples of these sizes from one population. p: how often they are at least as far "
    "apart, adjusted by Holm for all that is tested here. Up to 0.05 it is more than chance; else nobody can tell, "
    "which is no evidence of likeness."
)


@group()
def people(found: Sequence[Likeness], over: Together | None, look: Look) -> Iterator[RenderableType]:
    """All questions, then what they say at once."""
    for one in found:
        yield from _likeness(one, look)
    if over is not None:
        ranks = number(over.ranks.value)
        yield look(
            f"Over {count(over.questions, 'question')}: mean total variation {number(over.mean)}; rank correlation of "
            f"shares {ranks} (Spearman's ρ, n {over.ranks.n})."
        )
    yield look(_FLOOR)


def _likeness(one: Likeness, look: Look) -> Iterator[RenderableType]:
    poll, people = one.people.poll, one.people
    yield heading(look, f"{poll.ask} (poll {poll.id})" + (f", {people.group}" if people.group else ""))
    size = UNKNOWN if people.n is None else f"{people.n:,}"
    rows = [
        [option, str(given), number(share), number(human)]
        for option, given, share, human in zip(one.options, one.counts, one.simulated, one.human, strict=True)
    ]
    yield table(look, "Answers", ("answer", f"simulated\nn {one.n}", "share", f"people\nn {size}"), rows)
    yield Text("")

    def cells(apart: Apart) -> list[str]:
        if apart.floor is None:
            return [apart.name, number(apart.value), UNKNOWN, UNKNOWN, "not known"]
        floor, known = apart.floor, "no" if apart.hidden else "yes"
        return [apart.name, number(apart.value), number(floor.mean), p_value(floor.adjusted), known]

    columns = ("distance, 0 to 1", "value", "floor", "p (Holm)", "more than chance")
    yield table(look, "How far apart", columns, map(cells, one.apart))
    if one.mean_difference is not None:
        varied = UNKNOWN
        if one.variances is not None:
            ratio = number(one.variances.value)
            varied = f"{ratio}, {'not more than chance' if one.variances.hidden else 'more than chance'}"
        yield look(
            f"Mean: simulated minus people {number(one.mean_difference)}; variance: simulated by people {varied}."
        )
    if one.missing:
        yield look(f"Missing answers, left out or counted as --missing-as says: {reasons(one.missing)}.")
    yield from map(look, one.notes)
    yield Text("")


# Positions


@group()
def stances(found: Mapping[str, Sequence[Stances]], look: Look) -> Iterator[RenderableType]:
    """The positions of runs, by run, and what the figures mean."""
    for run, sources in found.items():
        for one in sources:
            title = one.where[0].upper() + one.where[1:]
            yield from _source(f"{run}: {one.where}" if len(found) > 1 else title, one, look)
        if not sources:
            yield look(
                f"{run}: no position is known: it is no story, and has no verdicts or answers in a form, and no polls."
            )
            yield Text("")
    kept, held = (sum(getattr(one, name) for own in found.values() for one in own) for name in ("kept", "held"))
    if held and sum(map(len, found.values())) > 1:
        yield look(f"Altogether, the first position of {kept} of {held} was their last.")
    yield look(t("report.after_whom"))


def _source(title: str, one: Stances, look: Look) -> Iterator[RenderableType]:
    known = any(holder.openness_else is not None for holder in one.holders)
    columns = ["agent", "began with", "ended with", "moves", "to the\nmajority", "others moved\nafter them"]
    columns += ["openness\nbefore a move", "otherwise"] * known

    def cells(holder: Holder) -> list[str]:
        first, last = (UNKNOWN if held is None else held for held in (holder.first, holder.last))
        moves = [whole(holder.moves), whole(holder.toward_majority), decimal(holder.credit)]
        openness = [decimal(holder.openness_moving), decimal(holder.openness_else)] * known
        return [holder.agent, first, last, *moves, *openness]

    yield table(look, title, columns, map(cells, one.holders))
    to = f", {one.toward_majority} to the majority of the time" if one.moves else ""
    nobody = f", {one.uncredited} after nobody" if one.uncredited else ""
    kept = f"the first position of {one.kept} of {one.held} was their last"
    yield look(f"{count(one.moves, 'move')}{to}{nobody}; {kept}.")
    yield Text("")


# Focus groups


@group()
def guide(found: GroupSummary, look: Look, notes: Iterable[str]) -> Iterator[RenderableType]:
    """The summary of a focus group."""
    for one in found.positions:
        yield from _positions(one, look)
    for answers in found.answers:
        yield from _answers(answers, look)
    for question in found.not_put:
        yield look(f"Not put: {question.ask}")
    if found.judges:
        left = f"; {count(found.invented, 'quote')} that nobody said left out" if found.invented else ""
        yield look(f"Themes by {listed(found.judges)}; every quote was checked against what was said{left}.")
    else:
        yield look("No model was asked for themes: shown are words that participants share. --by MODEL finds themes.")
    yield from map(look, notes)


def _positions(one: Positions, look: Look) -> Iterator[RenderableType]:
    if not one.known:
        yield look(f"{one.poll.ask}: nobody has been asked.")
        return

    def cells(stand: Stand) -> list[str]:
        before, after = (UNKNOWN if held is None else held for held in (stand.before, stand.after))
        return [stand.name, before, after, "moved" if stand.moved else ""]

    yield table(look, one_line(one.poll.ask), ("participant", "before", "after", ""), map(cells, one.stands))
    before, after = one.means()
    if before is not None and after is not None:
        yield look(f"Mean {decimal(before)} before, {decimal(after)} after.")
    yield Text("")


def _answers(one: Answers, look: Look) -> Iterator[RenderableType]:
    part = one.section
    yield heading(look, f"{part.number}. {part.question.ask}" if part.question else "Before the first question")
    spoke = [f"{voice.name} {voice.utterances}" for voice in part.voices if voice.utterances]
    silent = f" Said nothing: {listed(part.silent)}." if part.silent else ""
    yield look(f"{count(len(part.answers), 'answer')}: {listed(spoke)}.{silent}" if spoke else silent.strip())
    for theme in one.themes:
        about = f": {one_line(theme.about)}" if theme.about else ""
        yield Padding(look(f"{'•' if look.unicode else '-'} {one_line(theme.name)}{about}"), (0, 0, 0, 2))
        for quote in theme.quotes[:MOST_QUOTES]:
            yield Padding(look(f'"{one_line(quote.words)}" ({quote.speaker}, message {quote.turn})'), (0, 0, 0, 6))
    yield Text("")
