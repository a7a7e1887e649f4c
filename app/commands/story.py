"""`persimchat story`: stories in stages, from a file of one's own or from a released folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from ...state.errors import InputError, MachineError
from ..output import say, warn
from .foreground import hold
from .option_groups import Shown, Wanted, WantedStory
from .options import option
from .setting_command import offer

story = typer.Typer(
    help="Stories in stages: characters bargain in private, in meetings and in the group, then vote.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat story run examples/stories/ferries.yaml --seed 1
  persimchat story run personas/stories/tiny.yaml --rounds 2
  persimchat story run personas/stories/tiny.yaml --human Olle
  persimchat estimate examples/stories/ferries.yaml

\b
[bold]What it writes[/bold]
  the files of every run; its log also has meetings, reviews, where everybody
  stands, ballots. docs/stories.md tells a story from its beginning to its vote

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input
  3 model failure, 4 stopped by the machine (disk full), 130 interrupted: continue with persimchat resume
"""


def run(wanted: WantedStory, shown: Shown) -> None:
    """Hold the story of a scenario file; `persimchat run FILE` does the same."""
    file = Path(wanted.file)
    hold(
        Wanted(
            scenario=file,
            humans=wanted.humans,
            arguments=wanted.arguments,
            settings=wanted.settings,
            assignments=wanted.assignments,
        ),
        shown,
        must_be_story=True,
    )


CONVERT_EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat story convert storage/succession -o succession.yaml
  persimchat story convert storage/succession -o succession.yaml --decider "Ann Lind"

\b
[bold]Exit codes[/bold]
  0 done   2 the folder is no released story, a file in it is broken, or the new file cannot be written
"""


@story.command(epilog=CONVERT_EXAMPLES)
def convert(
    folder: Annotated[Path, option("story", "folder")],
    file: Annotated[Path, option("story", "file")],
    decider: Annotated[str | None, option("story", "decider")] = None,
    force: Annotated[bool, option("story", "force")] = False,
) -> None:
    """Convert a released story of AgentGroupChat into a scenario file.

    The report says what was inferred and what was left out.
    """
    from ...personas.story_conversion import convert_story

    if file.exists() and not force:
        raise InputError("the file exists", where=str(file), remedy="Choose another one, or add --force.")
    made = convert_story(folder, decider=decider)
    try:
        file.write_text(made.text, encoding="utf-8")
    except OSError as error:
        raise MachineError.caused_by(error, "the file cannot be written", str(file)).before_the_start() from error
    for line in made.told:
        warn(f"persimchat: {line}")
    say(f"Written: {file}\nHold it with: persimchat run {file}")


_OF_OTHERS: Final = (
    *("mode", "max_messages", "pattern", "selection", "selection_temperature", "allow_repeated_speaker", "closing"),
    *("judge", "judge_window", "judge_every", "answer_format", "choices", "listeners", "human_turns", "baseline"),
    "analysis",
)
"""Settings that say nothing in a story."""

offer(story, run, EXAMPLES, panel="Commands", without=_OF_OTHERS)
