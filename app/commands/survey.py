"""`persimchat survey`: people rate conversations without knowing what made them, and what comes out of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from persimchat.app.commands.options import OUT, JsonObject, RunsIn
from persimchat.app.output import is_unicode, on_terminal, say, warn

if TYPE_CHECKING:
    from persimchat.evaluation.survey.drawing import Held
    from persimchat.evaluation.survey.results import SurveyResult
    from persimchat.experiments.axes import Label

_MAKE: Final = """\b
[bold]Examples[/bold]
  persimchat survey make results/tea --by method --out survey
  persimchat survey make results/town --by variant --within method=need_to_talk --only Base,MF
  persimchat survey make --system minds=runs/base --system script=runs/script --topics 2

\b
[bold]Exit codes[/bold]
  0 done   2 bad input
"""
_READ: Final = """\b
[bold]Examples[/bold]
  persimchat survey read survey --responses answers.csv
  persimchat survey read survey --responses answers.csv --out results/ratings --json

\b
[bold]Exit codes[/bold]
  0 done   2 bad input: nothing was read
"""
_SYSTEM: Final = "system"
"""What the systems of single runs are levels of."""

survey = typer.Typer(help="Let people rate conversations, blind, and read what they say.", invoke_without_command=True)


@survey.callback()
def _which(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        say(context.get_help())


@survey.command("make", epilog=_MAKE)
def make(
    results: Annotated[
        Path | None,
        typer.Argument(metavar="RESULTS", help="An experiment's folder, results/NAME.", show_default=False),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="AXIS", help="The axis whose levels are compared, for example method."),
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="LEVELS", help="Only these levels, separated by commas.")
    ] = None,
    within: Annotated[
        list[str] | None,
        typer.Option("--within", metavar="AXIS=LEVEL", help="Only this level of another axis; may be repeated."),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            "--system",
            metavar="NAME=RUN",
            help="Without an experiment: a run, or a folder of runs, of the system NAME; may be repeated.",
        ),
    ] = None,
    topics: Annotated[int, typer.Option("--topics", metavar="N", min=1, help="How many topics are drawn.")] = 4,
    first: Annotated[
        int, typer.Option("--first", metavar="N", min=1, help="How many utterances of each conversation are shown.")
    ] = 5,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Of the draws: topics, order, ids. Recorded in key.json.")
    ] = 0,
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="The survey's folder. [dim]default: ./survey[/dim]", show_default=False
        ),
    ] = Path("survey"),
    runs: RunsIn = OUT,
    with_people: Annotated[
        bool, typer.Option("--with-people", metavar="", help="Raters may read the words of people who took part.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", metavar="", help="Replace a survey that is there, and its key.")
    ] = False,
    as_json: JsonObject = False,
) -> None:
    """Draw excerpts of conversations for people to rate, under ids that do not say which system made them.

    Writes items.csv for survey programs, items.html to read, a table for the answers, instructions, a form of consent
    to fill in, and key.json: the only file that says what an excerpt is of. Keep it from raters.
    """
    from persimchat.evaluation.survey.making import make_survey, minutes, write_survey
    from persimchat.runs.reports.words import count
    from persimchat.state.plain_text import one_line

    held, systems, axis, source, notes = _held(results, by, only, within or [], system or [], runs)
    made = make_survey(
        held, systems, by=axis, source=source, topics=topics, first=first, seed=seed, with_people=with_people
    )
    write_survey(made, out, force=force)
    notes = [*notes, *made.notes]
    key = made.key
    if as_json:
        data = {
            "folder": str(out),
            "survey": key.survey,
            "systems": [one.name for one in key.systems],
            "topics": len(key.topics),
            "items": [item.item for item in key.items],
            "minutes": minutes(key),
            "notes": notes,
        }
        say(json.dumps(data, ensure_ascii=False, indent=2))
        return
    say(
        f"{count(len(key.topics), 'topic')}, {len(key.systems)} systems, {count(len(key.items), 'excerpt')}, about "
        f"{minutes(key)} minutes for a rater"
    )
    for note in notes:
        warn(f"persimchat: {one_line(note)}")
    say(f"survey: {out} (keep key.json from raters)")


def _held(
    results: Path | None, by: str | None, only: str | None, within: Sequence[str], system: Sequence[str], runs: Path
) -> tuple[list[Held], list[str], str, str, list[str]]:
    """The conversations to draw from, the systems, what they are levels of, the experiment's name, and notes."""
    from persimchat.state.errors import InputError

    if (results is None) == (not system):
        raise InputError(
            "an experiment and single runs are both given" if system else "there is nothing to draw from",
            where="persimchat survey make",
            remedy="Give an experiment's folder with --by, or runs with --system NAME=RUN.",
        )
    if results is not None:
        return _of_experiment(results, by, only, within)
    if by is not None or only is not None or within:
        raise InputError(
            "--by, --only and --within choose from an experiment",
            where="persimchat survey make",
            remedy="Leave them out with --system.",
        )
    held = _of_runs(system, runs)
    return held, list(dict.fromkeys(one.system for one in held)), _SYSTEM, "", []


def _of_experiment(
    results: Path, by: str | None, only: str | None, within: Sequence[str]
) -> tuple[list[Held], list[str], str, str, list[str]]:
    """The complete conversations of an experiment."""
    from persimchat.evaluation.survey.drawing import Held
    from persimchat.experiments.comparing import OF_THE_TASK
    from persimchat.experiments.place import Place
    from persimchat.state.errors import InputError

    place = Place(results)
    locked = place.locked()
    axes = {name: [_label(label) for label in labels] for name, labels in locked.axes.items()}
    if by is None:
        raise InputError(
            "it is not said what is compared", where="--by", remedy=f"Name an axis of it: {', '.join(axes) or 'none'}."
        )
    _known(by, list(axes), "axis", "--by")
    systems = [name.strip() for name in only.split(",")] if only is not None else axes[by]
    for name in systems:
        _known(name, axes[by], f"level of {by}", "--only")
    fixed = _levels(within, axes)
    held = []
    for cell in locked.cells:
        labels = {name: _label(label) for name, label in cell.axes.items()}
        if labels[by] not in systems or any(labels[name] != level for name, level in fixed.items()):
            continue
        standing = place.standing(cell.id)
        if standing.status == "done" and standing.folder is not None:
            others = {name: label for name, label in labels.items() if name != by}
            task = json.dumps({"task": cell.task, "round": cell.round, **others}, ensure_ascii=False)
            held.append(Held(labels[by], task, cell.topic, standing.folder))
    mixed = [name for name in axes if name not in (by, *fixed, *OF_THE_TASK) and len(axes[name]) > 1]
    notes = [f"All levels of {name} are drawn from; --within {name}=LEVEL keeps to one." for name in mixed]
    return held, list(dict.fromkeys(systems)), by, locked.name, notes


def _label(label: Label) -> str:
    return label if isinstance(label, str) else json.dumps(label)


def _levels(within: Sequence[str], axes: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The levels of other axes to which the draw is limited."""
    found = {}
    for given in within:
        name, _, level = given.partition("=")
        _known(name, list(axes), "axis", "--within")
        _known(level, axes[name], f"level of {name}", "--within")
        found[name] = level
    return found


def _known(name: str, known: Sequence[str], what: str, where: str) -> None:
    from persimchat.state.errors import InputError, suggestion
    from persimchat.state.plain_text import quoted

    if name not in known:
        raise InputError(
            f"there is no {what} {quoted(name, 60)}",
            where=where,
            remedy=suggestion(name, known) if known else "This experiment varies nothing.",
        )


def _of_runs(given: Sequence[str], runs: Path) -> list[Held]:
    """The conversations of single runs, by system."""
    from persimchat.evaluation.survey.drawing import Held
    from persimchat.evaluation.transcripts import read_conversation
    from persimchat.runs.folder.lock import check_free
    from persimchat.state.errors import InputError
    from persimchat.state.normalise import is_visible
    from persimchat.state.plain_text import quoted

    held: list[Held] = []
    seen: set[str] = set()
    for each in given:
        name, equals, wanted = each.partition("=")
        if not equals or not is_visible(name) or not wanted:
            raise InputError(
                f"{quoted(each, 60)} is not a name and a run", where="--system", remedy="Write --system NAME=RUN."
            )
        for folder in _folders(wanted, runs):
            check_free(folder)
            conversation = read_conversation(folder)
            if conversation.run in seen:
                raise InputError(
                    f"the run {conversation.run} is given twice", where="--system", remedy="Leave one of them out."
                )
            seen.add(conversation.run)
            held.append(Held(name.strip(), conversation.task, conversation.scenario.topic, folder))
    return held


def _folders(wanted: str, runs: Path) -> list[Path]:
    """The run that is wanted, or all runs in a folder of runs."""
    from persimchat.app.commands.finding import find_run
    from persimchat.runs.folder.run_folder import MANIFEST

    found = find_run(wanted, runs)
    inside = [] if (found / MANIFEST).exists() else sorted(path.parent for path in found.glob(f"*/{MANIFEST}"))
    return inside or [found]


@survey.command("read", epilog=_READ)
def read(
    folder: Annotated[
        Path, typer.Argument(metavar="SURVEY", help="The survey's folder, with its key.json.", show_default=False)
    ],
    responses: Annotated[
        Path,
        typer.Option("--responses", metavar="FILE", help="The answers (CSV: rater, item, rating, comment)."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Also write tables there, with a codebook.", show_default=False),
    ] = None,
    as_json: JsonObject = False,
) -> None:
    """Read what raters answered: ratings by system, how far raters agree, and whether systems differ.

    The rater is the unit of analysis. Anything wrong in the file is refused with its line, and then nothing is read.
    """
    from persimchat.evaluation.statistics.library import stats
    from persimchat.evaluation.survey.key import read_key
    from persimchat.evaluation.survey.reading import check_items, read_answers
    from persimchat.evaluation.survey.results import survey_result

    stats()
    key = read_key(folder)
    check_items(folder, key)
    if out is not None:
        _check_apart(out, folder)
    found = survey_result(key, read_answers(responses, key))
    written = []
    if out is not None:
        from persimchat.evaluation.survey.tables import write_tables

        written = write_tables(found, out)
    if as_json:
        say(json.dumps(_data(found), ensure_ascii=False, indent=2))
        return
    from persimchat.app.views import survey_view
    from persimchat.app.views.printing import print_all
    from persimchat.app.views.run_tables import Look

    print_all(survey_view.result(found, Look(terminal=on_terminal(), unicode=is_unicode())))
    for path in written:
        say(str(path))


def _check_apart(out: Path, folder: Path) -> None:
    """Refuse tables, which name systems, in the folder that raters may see."""
    from persimchat.state.errors import InputError

    if out.resolve().is_relative_to(folder.resolve()):
        raise InputError(
            "the tables name the systems, and the survey's folder is for raters",
            where=str(out),
            remedy="Choose a folder elsewhere with --out.",
        )


def _data(found: SurveyResult) -> dict[str, Any]:
    from persimchat.evaluation.published.paper import published
    from persimchat.evaluation.survey.results import PAPER
    from persimchat.evaluation.survey.tables import rows_of

    tables = {name: [row.model_dump() for row in rows] for name, rows in rows_of(found).items() if name != "ratings"}
    return {
        "survey": found.key.survey,
        "raters": found.raters,
        "ratings": len(found.answers.ratings),
        **tables,
        "published": published(PAPER).people.model_dump(),
        "notes": list(found.notes),
    }
