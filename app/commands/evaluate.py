"""`persimchat evaluate`: recorded conversations judged by a model, and what came of positions, polls, focus groups."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand

from ...state.errors import InputError
from ...state.folders import RESULTS
from ..output import help_alone
from .option_groups import WantedAsking
from .options import OUT, JsonObject, ReportLanguage, Runs, RunsIn, option
from .setting_command import with_classes

if TYPE_CHECKING:
    from ...evaluation.people import Likeness
    from ...evaluation.transcripts import Conversation
    from ...reports.stances import Position, Stances
    from ...runs.folder.answers import PollAnswer
    from ...state.poll import Poll


_DIMENSIONS: Final = """\b
[bold]Examples[/bold]
  persimchat evaluate dimensions latest --by openai:gpt-4o
  persimchat evaluate dimensions conversations/2026* --by openai:gpt-4o --only BEL,CRE --repeats 3
  persimchat evaluate dimensions latest --by ollama:llama3.1 --out results/tea --json

\b
[bold]Dimensions[/bold]
  GOAL goal completion (with social goals), BEL believability, KNO knowledge,
  REL relationship (with relationships), CRE credibility, TTF turn-taking and
  flow, CDR content depth and relevance, SER social and emotional
  responsiveness, GPTS goal progression or task solving, CLO conversation
  closure (ended by its own rules)

\b
[bold]Exit codes[/bold]
  0 done, or a budget was used up   2 bad input   3 the judge failed: the same command goes on
"""
_PAIRS: Final = """\b
[bold]Examples[/bold]
  persimchat evaluate pairs --a runs/new-* --b runs/old-* --by openai:gpt-4o
  persimchat evaluate pairs --a 20261121-0304 --b 20261121-0419 --by openai:gpt-4o -k 1 --first 10
  persimchat evaluate pairs --a runs/new-* --b runs/old-* --by openai:gpt-4o --labels human.csv

\b
[bold]Exit codes[/bold]
  0 done, or a budget was used up   2 bad input   3 the judge failed: the same command goes on
"""

evaluate = typer.Typer(help="Measure conversations that are over.", invoke_without_command=True)

By = Annotated[str | None, option("evaluate", "by")]
_MOST_REPEATS: Final = 1000


evaluate.callback()(help_alone)


@evaluate.command("dimensions", epilog=_DIMENSIONS)
@with_classes
def dimensions(
    wanted: Runs,
    by: By = None,
    only: Annotated[str | None, option("evaluate dimensions", "only")] = None,
    repeats: Annotated[int, option("evaluate dimensions", "repeats")] = 1,
    runs: RunsIn = OUT,
    out: Annotated[Path | None, option("evaluate dimensions", "out")] = None,
    *,
    asking: WantedAsking,
) -> None:
    """Score each conversation on up to ten dimensions, one at a time.

    The judge sees topic, profiles and transcript, never method or model. Every answer is kept with the run; what is
    there is not asked again.
    """
    from ...evaluation.dimensions import chosen, questions_on, result_of, values_of, warnings
    from .judging import Plan, judge_of

    judge = judge_of(by, asking)
    asked = chosen(only.split(",") if only is not None else None)
    found = _conversations(wanted, runs, with_people=asking.with_people)
    parts = [questions_on(conversation, asked, folder, repeats) for folder, conversation in found]
    plan = Plan(judge, parts, f"{len(parts)} conversations" if len(parts) > 1 else "1 conversation")
    exhausted = plan.carry_out(yes=asking.yes)

    both = zip(found, parts, strict=True)
    values = [one for (_, said), part in both for one in values_of(said, asked, part, judge.name, part.rows())]
    results = [result_of(dimension, values) for dimension in asked]
    lengths = {result.dimension.key: result.length for result in results}
    notes = [*warnings(judge.model, [conversation for _, conversation in found], lengths), *exhausted]
    from ...evaluation.tables import write_measures
    from ..views import evaluations
    from ..views.tables import finish

    written = [write_measures(out, values, judge.name)] if out is not None else []

    def data() -> dict[str, Any]:
        rows = [
            {
                **{name: getattr(result.dimension, name) for name in ("key", "name", "low", "high")},
                **{name: getattr(result, name) for name in ("mean", "sd", "n", "not_applicable", "missing")},
                "interval": evaluations.as_data(result.interval),
                "reliability": result.reliability,
                "length": asdict(result.length),
            }
            for result in results
        ]
        each = [{**asdict(value), "value": value.value} for value in values]
        return {**plan.data, "dimensions": rows, "conversations": each, "notes": notes}

    finish(asking.as_json, data, lambda look: evaluations.dimensions(results, look, notes), written)


class _Sides(TyperCommand):
    """Lets --a and --b take several runs each: `--a one two` is `--a one --a two`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each further value."""
        spread: list[str] = []
        side, first = "", False
        for word in args:
            if word.startswith("-"):
                side, first = (word if word in ("--a", "--b") else ""), True
            elif side and not first:
                spread.append(side)
            else:
                first = False
            spread.append(word)
        return super().parse_args(ctx, spread)


_RESULTS: Final = RESULTS / "pairs"


@evaluate.command("pairs", epilog=_PAIRS, cls=_Sides)
@with_classes
def pairs(
    a: Annotated[list[str], option("evaluate pairs", "a")],
    b: Annotated[list[str], option("evaluate pairs", "b")],
    by: By = None,
    k: Annotated[int, option("evaluate pairs", "k")] = 3,
    no_swap: Annotated[bool, option("evaluate pairs", "no_swap")] = False,
    first: Annotated[int | None, option("evaluate pairs", "first")] = None,
    labels: Annotated[Path | None, option("evaluate pairs", "labels")] = None,
    runs: RunsIn = OUT,
    out: Annotated[Path, option("evaluate", "pair_out")] = _RESULTS,
    *,
    asking: WantedAsking,
) -> None:
    """Compare two groups of conversations side by side: which of two is the more realistic (FairEval)?

    Runs of one topic, with the same participants and seed, make a pair. Each is judged k times in both orders, because
    judges favour a position. What was answered before is not asked again.
    """
    from ...evaluation.dimensions import warnings
    from ...evaluation.pairs import PAIRS, agreement, matched, pairs_result, questions_on, read_labels, results_of
    from ...evaluation.tables import write_pairs
    from ..views import evaluations
    from ..views.tables import finish
    from .judging import Plan, judge_of, made

    judge = judge_of(by, asking)
    sides = [
        [one.first(first) for _, one in _conversations(side, runs, with_people=asking.with_people)] for side in (a, b)
    ]
    found = matched(*sides)
    said = read_labels(labels, found) if labels is not None else None
    part = questions_on(found, made(out) / PAIRS, k, swap=not no_swap)
    plan = Plan(judge, [part], f"{len(found)} pairs" if len(found) > 1 else "1 pair")
    exhausted = plan.carry_out(yes=asking.yes)

    result = pairs_result(results_of(found, part, judge.name, part.rows()))
    agreed = agreement(result, said) if said is not None else None
    everything = [conversation for side in sides for conversation in side]
    notes = [*warnings(judge.model, everything, {"Difference of A and B": result.length}), *_lengths(sides), *exhausted]
    table = write_pairs(out, result, judge.name)

    def data() -> dict[str, Any]:
        return {
            **plan.data,
            "pairs": len(result.pairs),
            **asdict(result.counts),
            "missing": result.missing,
            "answers_missing": result.answers_missing,
            "win_rate": evaluations.as_data(result.rate),
            "sign_test": {**asdict(result.test), "p_holm": result.p_holm[0]},
            "position": evaluations.as_data(result.position),
            "position_test": {**asdict(result.position_test), "p_holm": result.p_holm[1]},
            "conflicts": evaluations.as_data(result.conflicts),
            "alone": [asdict(counts) for counts in result.alone],
            "length": asdict(result.length),
            "people": asdict(agreed) if agreed else None,
            "table": str(table),
            "notes": notes,
        }

    finish(
        asking.as_json,
        data,
        lambda look: evaluations.pairs(result, look, notes, swap=not no_swap, agreement=agreed),
        [table],
    )


def _conversations(wanted: Sequence[str], runs: Path, *, with_people: bool) -> list[tuple[Path, Conversation]]:
    """The conversations of the runs that are wanted, with their folders; each once."""
    from ...evaluation.transcripts import read_conversation, without_people
    from ...runs.folder.lock import check_free
    from ...state.errors import InputError
    from .finding import find_run

    folders = [find_run(name, runs) for name in wanted]
    found: dict[str, tuple[Path, Conversation]] = {}
    for folder in folders:
        check_free(folder)
        conversation = read_conversation(folder)
        if conversation.run in found:
            raise InputError(f"the run {conversation.run} is given twice", remedy="Leave one of them out.")
        found[conversation.run] = folder, conversation
    without_people([conversation for _, conversation in found.values()], allowed=with_people)
    return list(found.values())


def _lengths(sides: Sequence[Sequence[Conversation]]) -> list[str]:
    """How long utterances are on each side, because judges may reward length."""
    means = [sum(one.words for one in side) / len(side) for side in sides]
    return [f"Words an utterance: A {means[0]:.1f}, B {means[1]:.1f}."]


_STANCES: Final = """\b
[bold]Examples[/bold]
  persimchat evaluate stances latest
  persimchat evaluate stances conversations/2026* --source verdicts --out results/moves
  persimchat evaluate stances latest --source polls --json

\b
[bold]Sources[/bold]
  verdicts  a judge's, in debates with --answer-format
  answers   participants' own, in debates in rounds
  polls     what they answered to persimchat poll
  supports  whom the characters of a story stand for

\b
[bold]Exit codes[/bold]
  0 done   2 there is no such run, or its folder is damaged
"""


@evaluate.command("stances", epilog=_STANCES)
def stances(
    wanted: Runs,
    source: Annotated[str | None, option("evaluate_stances", "source")] = None,
    runs: RunsIn = OUT,
    out: Annotated[Path | None, option("evaluate_stances", "out")] = None,
    as_json: JsonObject = False,
) -> None:
    """Show who held what, who moved, when, and after whom.

    No model is asked. Credit for a move is shared among the others who held the new position and were heard since; it
    says after whom somebody moved, not because of whom.
    """
    from ...reports.stances import SOURCES, ledger, stances_of
    from ...runs.folder.reading import read_run
    from ...state.errors import InputError, suggestion
    from ...state.wording import t
    from .finding import find_run

    chosen = [name.strip() for name in source.split(",")] if source is not None else list(SOURCES)
    for name in chosen:
        if name not in SOURCES:
            raise InputError(f"there is no source {name!r}", where="--source", remedy=suggestion(name, list(SOURCES)))
    rows: dict[str, list[Position]] = {}
    found: dict[str, list[Stances]] = {}
    for folder in [find_run(name, runs) for name in wanted]:
        record = read_run(folder, whole=True)
        if record.manifest.run in rows:
            raise InputError(f"the run {record.manifest.run} is given twice", remedy="Leave one of them out.")
        rows[record.manifest.run] = ledger(record, chosen)
        found[record.manifest.run] = stances_of(rows[record.manifest.run], record.polls)
    from ...evaluation.tables import write_stances
    from ..views.evaluations import stances as shown
    from ..views.tables import finish

    written = [write_stances(out, rows)] if out is not None else []

    def data() -> dict[str, Any]:
        return {
            "runs": {run: [{**asdict(one), "values": one.values()} for one in own] for run, own in found.items()},
            "ledger": [{"run": run, **asdict(row)} for run, own in rows.items() for row in own],
            "notes": [t("report.after_whom")],
        }

    finish(as_json, data, lambda look: shown(found, look), written)


_PEOPLE: Final = """\b
[bold]Examples[/bold]
  persimchat evaluate people conversations/2026* --poll cars --human survey.csv
  persimchat evaluate people latest --poll cars --poll tea --human survey.csv --at start
  persimchat evaluate people results/poll --poll cars --human survey.csv

\b
[bold]People's file[/bold]
  CSV with option and count, or with option, share and n; question (the poll's
  name) and group are optional.

\b
[bold]Exit codes[/bold]
  0 done   2 bad input
"""


@evaluate.command("people", epilog=_PEOPLE)
def people(
    wanted: Runs,
    polls: Annotated[list[str], option("evaluate_people", "polls")],
    human: Annotated[Path, option("evaluate_people", "human")],
    at: Annotated[str, option("evaluate_people", "at")] = "end",
    missing_as: Annotated[str, option("evaluate_people", "missing_as")] = "",
    ordered: Annotated[bool, option("evaluate_people", "ordered")] = False,
    runs: RunsIn = OUT,
    as_json: JsonObject = False,
) -> None:
    """Compare what agents answered to a poll with what people answered.

    Each distance stands beside its floor: what samples of these sizes have by chance. A small distance is no evidence
    that agents are like people.
    """
    from ...evaluation.people import corrected, likeness, read_people, together
    from ...evaluation.statistics.intervals import stats
    from .finding import find_run

    stats()
    folders = [find_run(name, runs) for name in wanted]
    asked, clusters = _answers(folders, polls, at)
    given = read_people(human, [asked[name] for name in polls])
    found = corrected([likeness(one, clusters[one.poll.id], missing_as=missing_as, ordered=ordered) for one in given])
    over = together(found) if len(found) > 1 else None
    from ..views.evaluations import people as shown
    from ..views.tables import finish

    finish(
        as_json,
        lambda: {"questions": [_likeness(one) for one in found], "together": asdict(over) if over else None},
        lambda look: shown(found, over, look),
    )


def _answers(
    folders: Sequence[Path], polls: Sequence[str], at: str
) -> tuple[dict[str, Poll], Mapping[str, list[list[PollAnswer]]]]:
    """The polls by id, and for each the answers by run, or by agent where there is no run."""
    from ...evaluation.polls import END, START, polls_in
    from ...runs.folder.run_folder import RUN

    if at not in (START, END) and not (at.isascii() and at.isdigit()):
        raise InputError(f"{at!r} is no turn", where="--at", remedy="Name start, end or a number of utterances.")
    if len(set(folders)) < len(folders):
        raise InputError("a run is given twice", remedy="Leave one of them out.")
    asked: dict[str, Poll] = {}
    clusters: dict[str, list[list[PollAnswer]]] = {name: [] for name in polls}
    for folder in folders:
        rows = polls_in(folder)
        for name in clusters:
            own = [row for row in rows if row.poll == name]
            turns = {row.turn for row in own}
            turn = 0 if at == START else max(turns, default=0) if at == END else int(at)
            own = [row for row in own if row.turn == turn]
            if not own:
                known = ", ".join(dict.fromkeys(row.poll for row in rows)) or "none"
                raise InputError(
                    f"there are no answers to the poll {name} at turn {turn}",
                    where=str(folder),
                    remedy=f"Its polls: {known}. Ask with: persimchat poll.",
                )
            poll = asked.setdefault(name, own[0].question)
            if (poll.ask, poll.answer, poll.options) != (
                own[0].question.ask,
                own[0].question.answer,
                own[0].question.options,
            ):
                raise InputError(
                    f"the poll {name} asks something else here", where=str(folder), remedy="Leave this run out."
                )
            agents = dict.fromkeys(row.agent for row in own)
            apart = [[row for row in own if row.agent == agent] for agent in agents]
            clusters[name] += [own] if (folder / RUN).exists() else apart
    return asked, clusters


def _likeness(one: Likeness) -> dict[str, Any]:
    return {
        "poll": one.people.poll.id,
        "group": one.people.group,
        "options": one.options,
        "simulated": one.counts,
        "people": one.human,
        "people_n": one.people.n,
        "n": one.n,
        "runs": one.runs,
        "missing": one.missing,
        "distances": [
            {"name": a.name, "value": a.value, "floor": asdict(a.floor) if a.floor else None, "hidden": a.hidden}
            for a in one.apart
        ],
        "mean_difference": one.mean_difference,
        "variance_ratio": one.variances.value if one.variances else None,
        "variance_hidden": one.variances.hidden if one.variances else None,
        "notes": one.notes,
    }


_GUIDE: Final = """\b
[bold]Examples[/bold]
  persimchat evaluate guide latest
  persimchat evaluate guide latest --by openai:gpt-4o --out summary.html
  persimchat evaluate guide 20261121-0304 --no-positions --json

\b
[bold]What is asked[/bold]
  The guide's positions, of each agent's own model: as it was before the talk
  and after it, in private. With --by, the themes of the answers to each
  question, of that model. What is there is not asked again.

\b
[bold]Exit codes[/bold]
  0 done, or a budget was used up   2 bad input, or no guide   3 a model failed: the same command goes on
"""


@evaluate.command("guide", epilog=_GUIDE)
@with_classes
def guide(
    wanted: Annotated[str, option("evaluate_guide", "wanted")],
    by: Annotated[str | None, option("evaluate_guide", "by")] = None,
    no_positions: Annotated[bool, option("evaluate_guide", "no_positions")] = False,
    runs: RunsIn = OUT,
    out: Annotated[Path | None, option("evaluate_guide", "out")] = None,
    force: Annotated[bool, option("evaluate_guide", "force")] = False,
    language: ReportLanguage = None,
    *,
    asking: WantedAsking,
) -> None:
    """Show what came of a focus group: positions before and after, who said what about each question, themes.

    Nothing of it enters the run. Every quote of a theme is checked against what was said. Positions are kept in the
    run's log, and so are themes.
    """
    from ...evaluation.themes import by_lot, to_ask
    from ...reports.guide import summary_of
    from ...reports.report import write_summary
    from ...runs.folder.reading import read_run
    from .finding import find_run
    from .judging import Plan, judge_of
    from .request import assigned

    folder = find_run(wanted, runs)
    judge = judge_of(by, asking) if by is not None else None
    questions = asyncio.run(
        to_ask(
            folder,
            judge=judge,
            positions=not no_positions,
            with_people=asking.with_people,
            changes=assigned(asking.assignments or (), {}),
            budgets=asking.budgets,
        )
    )
    notes = by_lot(questions)
    for one in questions:
        plan = Plan(one.respondent, [one.part], "1 focus group", command="persimchat evaluate guide")
        notes += plan.carry_out(yes=asking.yes)
    record = read_run(folder)
    found = summary_of(record, judge.name if judge is not None else None)
    if out is not None:
        write_summary(record, found, out, force=force, tag=language)
    from ..views.evaluations import guide as shown
    from ..views.tables import finish

    finish(
        asking.as_json,
        lambda: {**found.data(), "notes": notes},
        lambda look: shown(found, look, notes),
        [] if out is None else [out],
    )
