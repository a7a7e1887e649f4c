"""`persimchat runs`: lists runs, names and tags them, and deletes some."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, get_args

import typer

from persimchat.app.commands.options import OUT, Runs, RunsOut
from persimchat.app.output import is_unicode, on_terminal, say, warn
from persimchat.state.errors import InputError
from persimchat.state.plain_text import one_line

if TYPE_CHECKING:
    from persimchat.runs.folder.listing import Deletable, ListedRun

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
    text: Annotated[
        str,
        typer.Option(
            "--text",
            metavar="WORDS",
            help="Only runs with these words in id, name, tags, topic, participants or model.",
            show_default=False,
        ),
    ] = "",
    mode: Annotated[
        Literal["discussion", "debate", "story"] | None,
        typer.Option("--mode", metavar="MODE", help="Only discussion, debate or story.", show_default=False),
    ] = None,
    ended: Annotated[
        _Ending | None,
        typer.Option(
            "--ended",
            metavar="HOW",
            help=f"Only {', '.join(get_args(_Ending)[:-1])} or unfinished.",
            show_default=False,
        ),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="Only runs with this tag; repeatable.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print a JSON list.")] = False,
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
    from persimchat.runs.folder.listing import list_runs, matching

    listing = list_runs(out)
    found = matching(listing.runs, text=text, mode=mode, ended=ended, tags=tag or ())
    for problem in listing.unread:
        warn(f"persimchat: left out: {one_line(problem)}")
    if as_json:
        say(json.dumps([run.model_dump(mode="json") for run in found], ensure_ascii=False, indent=2))
    elif found:
        _print(found)
    elif listing.runs:
        say(f"None of {len(listing.runs)} runs in {out} matches.")
    else:
        say(f"There are no runs in {out}. Make one with: persimchat run TOPIC; or name another folder with --out.")


def _print(found: list[ListedRun]) -> None:
    from rich import box
    from rich.text import Text

    from persimchat.app.views.printing import print_all
    from persimchat.app.views.run_tables import FittingTable
    from persimchat.runs.reports.words import plain, spaced, when

    unicode = is_unicode()
    table = FittingTable(
        box=(box.SIMPLE_HEAD if unicode else box.ASCII2) if on_terminal() else None,
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )
    labels = [label for label in ("name", "tags") if any(getattr(run, label) for run in found)]
    for heading in ("run", *labels, "when", "mode", "topic", "participants", "model", "utterances", "ending", "cost"):
        figure = heading in ("utterances", "cost")
        table.add_column(heading, overflow="fold", no_wrap=figure, justify="right" if figure else "left")
    for run in found:
        cost = "–" if run.cost_usd is None else f"${run.cost_usd:,.4f}"
        mode = run.mode if run.baseline is None else f"{run.mode} ({run.baseline})"
        who = ", ".join(run.participants)
        own = {"name": run.name, "tags": ", ".join(run.tags)}
        words = (when(run.started), mode, run.topic, who, run.model or "–", f"{run.utterances:,}")
        cells = (run.run, *(own[label] for label in labels), *words, spaced(run.ended), cost)
        table.add_row(*(Text(one_line(cell if unicode else plain(cell))) for cell in cells))
    print_all(table)


@runs.command("label")
def label(
    wanted: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="A run: its folder, its id, the beginning of its id, or latest.", show_default=False
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="TEXT", help="What to call it; '' takes the name away.", show_default=False),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="A tag that it gets; repeatable.", show_default=False),
    ] = None,
    untag: Annotated[
        list[str] | None,
        typer.Option("--untag", metavar="TAG", help="A tag that it loses; repeatable.", show_default=False),
    ] = None,
    out: RunsOut = OUT,
) -> None:
    """Name a run, and give or take tags; without options, print its name and tags.

    They stand in labels.json in the run's folder. Nothing else in the folder changes.
    """
    from persimchat.app.commands.finding import find_run
    from persimchat.runs.folder.labels import labels, read_labels, write_labels

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
    yes: Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Delete without asking.")] = False,
    keep_memories: Annotated[
        bool, typer.Option("--keep-memories", metavar="", help="Keep their memories in Chroma.")
    ] = False,
    out: RunsOut = OUT,
) -> None:
    """Delete runs: their folders, their memories, and checkpoints on a server. This cannot be undone."""
    import asyncio

    from persimchat.app.commands.finding import find_run
    from persimchat.runs.folder.listing import deletable, delete_run

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
        memories = (
            f" Its memories in {run.store} will be deleted, too." if run.store is not None else f" {run.kept}".rstrip()
        )
        say(f"{one_line(str(run.folder))}: {topic}.{going}{one_line(memories) and ' ' + one_line(memories)}")
    return typer.confirm(f"Delete {'this run' if len(found) == 1 else f'these {len(found)} runs'}?")
