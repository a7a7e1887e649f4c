"""`persimchat survey`: people rate conversations without knowing what made them, and what comes out of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..output import help_alone, say, say_object, warn
from .options import OUT, JsonObject, RunsIn, option

if TYPE_CHECKING:
    from ...evaluation.survey.making import Held
    from ...evaluation.survey.results import SurveyResult
    from ...experiments.axes import Label

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


survey.callback()(help_alone)


@survey.command("make", epilog=_MAKE)
def make(
    results: Annotated[Path | None, option("survey make", "results")] = None,
    by: Annotated[str | None, option("survey make", "by")] = None,
    only: Annotated[str | None, option("survey make", "only")] = None,
    within: Annotated[list[str] | None, option("survey make", "within")] = None,
    system: Annotated[list[str] | None, option("survey make", "system")] = None,
    topics: Annotated[int, option("survey make", "topics")] = 4,
    first: Annotated[int, option("survey make", "first")] = 5,
    seed: Annotated[int, option("survey make", "seed")] = 0,
    out: Annotated[Path, option("survey make", "out")] = Path("survey"),
    runs: RunsIn = OUT,
    with_people: Annotated[bool, option("survey make", "with_people")] = False,
    force: Annotated[bool, option("survey make", "force")] = False,
    as_json: JsonObject = False,
) -> None:
    """Draw excerpts of conversations for people to rate, under ids that do not say which system made them.

    Writes items.csv for survey programs, items.html to read, a table for the answers, instructions, a form of consent
    to fill in, and key.json: the only file that says what an excerpt is of. Keep it from raters.
    """
    from ...evaluation.survey.making import make_survey, minutes, write_survey
    from ...reports.words import count
    from ...state.plain_text import one_line

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
        say_object(data)
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
    from ...state.errors import InputError

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
    from ...evaluation.survey.making import Held
    from ...experiments.comparing import OF_THE_TASK
    from ...experiments.place import Place
    from ...state.errors import InputError

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
    from ...state.errors import InputError, suggestion
    from ...state.plain_text import quoted

    if name not in known:
        raise InputError(
            f"there is no {what} {quoted(name, 60)}",
            where=where,
            remedy=suggestion(name, known) if known else "This experiment varies nothing.",
        )


def _of_runs(given: Sequence[str], runs: Path) -> list[Held]:
    """The conversations of single runs, by system."""
    from ...evaluation.survey.making import Held
    from ...evaluation.transcripts import read_conversation
    from ...runs.folder.lock import check_free
    from ...state.errors import InputError
    from ...state.plain_text import is_visible, quoted

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
    from ...runs.folder.run_folder import RUN
    from .finding import find_run

    found = find_run(wanted, runs)
    inside = [] if (found / RUN).exists() else sorted(path.parent for path in found.glob(f"*/{RUN}"))
    return inside or [found]


@survey.command("read", epilog=_READ)
def read(
    folder: Annotated[Path, option("survey read", "folder")],
    responses: Annotated[Path, option("survey read", "responses")],
    out: Annotated[Path | None, option("survey read", "out")] = None,
    as_json: JsonObject = False,
) -> None:
    """Read what raters answered: ratings by system, how far raters agree, and whether systems differ.

    The rater is the unit of analysis. Anything wrong in the file is refused with its line, and then nothing is read.
    """
    from ...evaluation.statistics.intervals import stats
    from ...evaluation.survey.key import read_key
    from ...evaluation.survey.results import check_items, read_answers, survey_result, write_tables

    stats()
    key = read_key(folder)
    check_items(folder, key)
    if out is not None:
        _check_apart(out, folder)
    found = survey_result(key, read_answers(responses, key))
    written = write_tables(found, out) if out is not None else []
    from ..views.studies import survey as shown
    from ..views.tables import finish

    finish(as_json, lambda: _data(found), lambda look: shown(found, look), written)


def _check_apart(out: Path, folder: Path) -> None:
    """Refuse tables, which name systems, in the folder that raters may see."""
    from ...state.errors import InputError

    if out.resolve().is_relative_to(folder.resolve()):
        raise InputError(
            "the tables name the systems, and the survey's folder is for raters",
            where=str(out),
            remedy="Choose a folder elsewhere with --out.",
        )


def _data(found: SurveyResult) -> dict[str, Any]:
    from ...evaluation.published.paper import published
    from ...evaluation.survey.results import PAPER, rows_of

    tables = {name: [row.model_dump() for row in rows] for name, rows in rows_of(found).items() if name != "ratings"}
    return {
        "survey": found.key.survey,
        "raters": found.raters,
        "ratings": len(found.answers.ratings),
        **tables,
        "published": published(PAPER).people.model_dump(),
        "notes": list(found.notes),
    }
