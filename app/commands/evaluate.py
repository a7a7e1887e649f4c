"""`persimchat evaluate`: recorded conversations, judged by a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand

from persimchat.app.commands.option_classes import with_classes
from persimchat.app.commands.options import OUT, Runs, RunsIn
from persimchat.app.commands.wanted import WantedAsking
from persimchat.app.output import is_unicode, on_terminal, say
from persimchat.state.folders import RESULTS

if TYPE_CHECKING:
    from persimchat.app.commands.judging import Plan
    from persimchat.evaluation.transcripts import Conversation

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

By = Annotated[
    str | None,
    typer.Option("--by", metavar="MODEL", help="The model that judges; not the offline model.", show_default=False),
]
_MOST_REPEATS: Final = 1000


@evaluate.callback()
def _which(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        say(context.get_help())


@evaluate.command("dimensions", epilog=_DIMENSIONS)
@with_classes
def dimensions(
    wanted: Runs,
    by: By = None,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="KEYS", help="Only these dimensions, separated by commas: BEL,CRE."),
    ] = None,
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", min=1, max=_MOST_REPEATS, help="Independent scores for each.")
    ] = 1,
    runs: RunsIn = OUT,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Also write the scores there, as measures.csv.", show_default=False),
    ] = None,
    *,
    asking: WantedAsking,
) -> None:
    """Score each conversation on up to ten dimensions, one at a time.

    The judge sees topic, profiles and transcript, never method or model. Every answer is kept in the run's folder
    (judgements.jsonl); what is there is not asked again.
    """
    from persimchat.app.commands.judging import Plan, judge_of
    from persimchat.evaluation.dimensions import Judged, chosen
    from persimchat.evaluation.scores import result_of, values_of, warnings

    judge = judge_of(by, asking)
    asked = chosen(only.split(",") if only is not None else None)
    found = _conversations(wanted, runs, with_people=asking.with_people)
    parts = [Judged(folder, conversation, asked, repeats) for folder, conversation in found]
    plan = Plan(judge, parts, f"{len(parts)} conversations" if len(parts) > 1 else "1 conversation")
    exhausted = plan.carry_out(yes=asking.yes)

    values = [value for part in parts for value in values_of(part, judge.name, part.rows())]
    results = [result_of(dimension, values) for dimension in asked]
    lengths = {result.dimension.key: result.length for result in results}
    notes = [*warnings(judge.model, [conversation for _, conversation in found], lengths), *exhausted]
    written = None
    if out is not None:
        from persimchat.evaluation.tables import write_measures

        written = write_measures(out, values, judge.name)
    if asking.as_json:
        from persimchat.app.views.evaluate_view import as_data

        rows = [
            {
                **{name: getattr(result.dimension, name) for name in ("key", "name", "low", "high")},
                **{name: getattr(result, name) for name in ("mean", "sd", "n", "not_applicable", "missing")},
                "interval": as_data(result.interval),
                "reliability": result.reliability,
                "length": asdict(result.length),
            }
            for result in results
        ]
        each = [{**asdict(value), "value": value.value} for value in values]
        _print_json(plan, {"dimensions": rows, "conversations": each, "notes": notes})
        return
    from persimchat.app.views import evaluate_view
    from persimchat.app.views.printing import print_all

    print_all(evaluate_view.dimensions(results, look(), notes))
    if written is not None:
        say(str(written))


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


_PairOut = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Where the answers are kept, and pairs.csv is written. [dim]default: ./results/pairs[/dim]",
        show_default=False,
    ),
]
_RESULTS: Final = RESULTS / "pairs"


@evaluate.command("pairs", epilog=_PAIRS, cls=_Sides)
@with_classes
def pairs(
    a: Annotated[list[str], typer.Option("--a", metavar="RUN...", help="Runs of side A.", show_default=False)],
    b: Annotated[list[str], typer.Option("--b", metavar="RUN...", help="Runs of side B.", show_default=False)],
    by: By = None,
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, max=_MOST_REPEATS, help="Answers in each order.")] = 3,
    no_swap: Annotated[
        bool, typer.Option("--no-swap", metavar="", help="Show A first always; a favour for the first place remains.")
    ] = False,
    first: Annotated[
        int | None, typer.Option("--first", metavar="N", min=1, help="Only the first N utterances of both.")
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels", metavar="FILE", help="People's verdicts (CSV: pair, the run of side A; verdict, win/tie/loss)."
        ),
    ] = None,
    runs: RunsIn = OUT,
    out: _PairOut = _RESULTS,
    *,
    asking: WantedAsking,
) -> None:
    """Compare two groups of conversations side by side: which of two is the more realistic (FairEval)?

    Runs of one topic, with the same participants and seed, make a pair. Each is judged k times in both orders, because
    judges favour a position. What was answered before is not asked again.
    """
    from persimchat.app.commands.judging import Plan, judge_of, made
    from persimchat.app.views.evaluate_view import as_data
    from persimchat.evaluation.pair_results import agreement, pairs_result, read_labels
    from persimchat.evaluation.pairs import JudgedPairs, matched
    from persimchat.evaluation.scores import warnings
    from persimchat.evaluation.tables import write_pairs

    judge = judge_of(by, asking)
    sides = [
        [one.first(first) for _, one in _conversations(side, runs, with_people=asking.with_people)] for side in (a, b)
    ]
    found = matched(*sides)
    said = read_labels(labels, found) if labels is not None else None
    part = JudgedPairs(made(out), found, k, not no_swap)
    plan = Plan(judge, [part], f"{len(found)} pairs" if len(found) > 1 else "1 pair")
    exhausted = plan.carry_out(yes=asking.yes)

    result = pairs_result(part, judge.name, part.rows())
    agreed = agreement(result, said) if said is not None else None
    everything = [conversation for side in sides for conversation in side]
    notes = [*warnings(judge.model, everything, {"Difference of A and B": result.length}), *_lengths(sides), *exhausted]
    table = write_pairs(out, result, judge.name)
    if asking.as_json:
        data = {
            "pairs": len(result.pairs),
            **asdict(result.counts),
            "missing": result.missing,
            "answers_missing": result.answers_missing,
            "win_rate": as_data(result.rate),
            "sign_test": asdict(result.test),
            "position": as_data(result.position),
            "position_test": asdict(result.position_test),
            "conflicts": as_data(result.conflicts),
            "alone": [asdict(counts) for counts in result.alone],
            "length": asdict(result.length),
            "people": asdict(agreed) if agreed else None,
            "table": str(table),
            "notes": notes,
        }
        _print_json(plan, data)
        return
    from persimchat.app.views import evaluate_view
    from persimchat.app.views.printing import print_all

    print_all(evaluate_view.pairs(result, look(), notes, swap=not no_swap, agreement=agreed))
    say(str(table))


def _conversations(wanted: Sequence[str], runs: Path, *, with_people: bool) -> list[tuple[Path, Conversation]]:
    """The conversations of the runs that are wanted, with their folders; each once."""
    from persimchat.app.commands.finding import find_run
    from persimchat.evaluation.transcripts import read_conversation, without_people
    from persimchat.runs.folder.lock import check_free
    from persimchat.state.errors import InputError

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


def look() -> Any:
    """How tables look where the output goes."""
    from persimchat.app.views.run_tables import Look

    return Look(terminal=on_terminal(), unicode=is_unicode())


def _print_json(plan: Plan, data: dict[str, Any]) -> None:
    whole = {"judge": plan.judge.name, "asked": plan.answered, "already": plan.already, **data}
    say(json.dumps(whole, ensure_ascii=False, indent=2))
