"""`persimchat runs`: lists runs, names and tags them, and deletes some."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from ...state.errors import InputError, suggestion
from ...state.plain_text import one_line
from ..output import say, say_object, warn
from .options import OUT, Runs, RunsOut, option

if TYPE_CHECKING:
    from ...runs.folder.listing import Deletable, ListedRun

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat runs
  persimchat runs --text "tea" --mode debate --ended consensus
  persimchat runs --ended unfinished --json
  persimchat runs label 20261121-0304 --name "First try" --tag pilot
  persimchat runs --tag pilot
  persimchat runs delete 20261121-0304
"""

_Ending = Literal[
    "message_limit",
    "consensus",
    "closed",
    "guide",
    "settled",
    "finished",
    "budget",
    "stopped",
    "error",
    "unfinished",
]

runs = typer.Typer(help="List, filter, label and delete runs.", invoke_without_command=True, epilog=EXAMPLES)


@runs.callback()
def list_all(
    context: typer.Context,
    text: Annotated[str, option("runs list_all", "text")] = "",
    mode: Annotated[str | None, option("runs list_all", "mode")] = None,
    ended: Annotated[_Ending | None, option("runs list_all", "ended")] = None,
    tag: Annotated[list[str] | None, option("runs list_all", "tag")] = None,
    as_json: Annotated[bool, option("runs list_all", "as_json")] = False,
    out: RunsOut = OUT,
) -> None:
    """List runs, the latest first: id, when, mode, topic, participants, model, utterances, ending, cost.

    Runs with names or tags show them, too.
    """
    if context.invoked_subcommand is not None:
        if text or mode or ended or tag or as_json or out != OUT:
            raise InputError(
                "options before the command's name would be ignored",
                where=f"persimchat runs {context.invoked_subcommand}",
                remedy=f"Write them after it: persimchat runs {context.invoked_subcommand} … --out DIR",
            )
        return
    from ...runs.folder.listing import list_runs, matching
    from ...state.settings import MODES

    if mode not in (None, *MODES):
        raise InputError(f"no runs are of mode {mode!r}", where="--mode", remedy=suggestion(str(mode), MODES))
    listing = list_runs(out)
    found = matching(listing.runs, text=text, mode=mode, ended=ended, tags=tag or ())
    for problem in listing.unread:
        warn(f"persimchat: left out: {one_line(problem)}")
    if as_json:
        say_object([run.model_dump(mode="json") for run in found])
    elif found:
        _print(found)
    elif listing.runs:
        say(f"None of {len(listing.runs)} runs in {out} matches.")
    else:
        say(f"There are no runs in {out}. Make one with: persimchat run TOPIC; or name another folder with --out.")


def _print(found: list[ListedRun]) -> None:
    from ...reports.words import UNKNOWN, spaced, when
    from ..views.tables import here, print_all, table

    labels = [label for label in ("name", "tags") if any(getattr(run, label) for run in found)]

    def cells(run: ListedRun) -> list[str]:
        cost = UNKNOWN if run.cost_usd is None else f"${run.cost_usd:,.4f}"
        mode = run.mode if run.baseline is None else f"{run.mode} ({run.baseline})"
        own = {"name": run.name, "tags": ", ".join(run.tags)}
        words = [when(run.started), mode, run.topic, ", ".join(run.participants), run.model or UNKNOWN]
        return [run.run, *(own[label] for label in labels), *words, f"{run.utterances:,}", spaced(run.ended), cost]

    columns = ("run", *labels, "when", "mode", "topic", "participants", "model", "utterances", "ending", "cost")
    print_all(table(here(), "", columns, map(cells, found)))


@runs.command("label")
def label(
    wanted: Annotated[str, option("runs label", "wanted")],
    name: Annotated[str | None, option("runs label", "name")] = None,
    tag: Annotated[list[str] | None, option("runs label", "tag")] = None,
    untag: Annotated[list[str] | None, option("runs label", "untag")] = None,
    out: RunsOut = OUT,
) -> None:
    """Name a run, and give or take tags; without options, print its name and tags.

    They are kept with the run. Nothing else in its folder changes.
    """
    from ...runs.folder.answers import labels
    from ...runs.folder.reading import read_labels
    from ...runs.folder.run_folder import write_labels
    from .finding import find_run

    folder = find_run(wanted, out)
    given = read_labels(folder)
    if name is not None or tag or untag:
        given = labels(given.name if name is None else name, given.tags).with_tags(tag or (), untag or ())
        write_labels(folder, given)
    tags = ", ".join(given.tags)
    say(one_line(f"{folder.name}: {given.name or 'no name'}{f' ({tags})' if tags else ', no tags'}"))


@runs.command("delete")
def delete(
    wanted: Runs,
    yes: Annotated[bool, option("runs delete", "yes")] = False,
    keep_memories: Annotated[bool, option("runs delete", "keep_memories")] = False,
    out: RunsOut = OUT,
) -> None:
    """Delete runs: their folders, their memories, and checkpoints on a server. This cannot be undone."""
    import asyncio

    from ...runs.folder.listing import deletable, delete_run
    from .finding import find_run

    found: dict[Path, Deletable] = {}
    for name in wanted:
        run = deletable(find_run(name, out), keep_memories=keep_memories)
        found.setdefault(run.folder.resolve(), run)
    if not yes and not _agreed(list(found.values())):
        say("Nothing was deleted.")
        return
    for run in found.values():
        left = asyncio.run(delete_run(run))
        kept = " ".join(filter(None, [run.kept, left]))
        say(f"deleted {one_line(str(run.folder))}{f'. {one_line(kept)}' if kept else ''}")


def _agreed(found: list[Deletable]) -> bool:
    """List what will be deleted, and ask."""
    if not sys.stdin.isatty():
        raise InputError(
            "there is no terminal on which to ask for confirmation", where="persimchat runs delete", remedy="Add --yes."
        )
    for run in found:
        topic = one_line(run.manifest.scenario.topic)
        going = " No ending is recorded: it may still be running." if run.manifest.stop_reason is None else ""
        memories = one_line(f"Its memories in {run.store} will be deleted, too." if run.store is not None else run.kept)
        say(f"{one_line(str(run.folder))}: {topic}.{going}{memories and ' ' + memories}")
    return typer.confirm(f"Delete {'this run' if len(found) == 1 else f'these {len(found)} runs'}?")
