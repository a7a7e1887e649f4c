"""The command line: its commands and its exit codes."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from ..state.errors import InputError, PerSimChatError
from ..state.plain_text import one_line
from .commands import (
    companion,
    companion_serve,
    diff,
    doctor,
    estimate,
    evaluate,
    evaluate_studies,
    experiment,
    export,
    graph,
    interview,
    models,
    personas,
    poll,
    replay,
    resume,
    run,
    runs,
    serve,
    show,
    story,
    survey,
)
from .commands.setting_command import offer
from .output import (
    BAD_INPUT,
    DONE,
    INTERRUPTED,
    Interrupted,
    OutputClosed,
    UsageError,
    discard_stdout,
    prepare,
    say,
    usage_line,
    warn,
)

TRACES_S: Final = 10.0
"""Seconds that the end of a command waits for LangSmith's server to take its traces."""
_UNREAD: Final = re.compile("[\ud800-\udfff]")
"""What Python makes of a byte that it cannot read."""

_EPILOG = """\b
[bold]Start here[/bold]
  persimchat run "Should our town close its centre to cars?"
  persimchat debate "Close the centre to cars?" --answer-format yesno
  persimchat run "Tea or coffee?" --human Petr
  persimchat resume latest
  persimchat personas list
  persimchat models
  persimchat doctor

Simulated people are not people: what they say is no evidence of what real people would say.
"""

PANELS = TALK, GO_ON, LOOK, STUDY, SET_UP = "Talk", "Go on", "Look", "Study", "Set up"
"""The parts of the list of commands, in order."""


class _InPanels(TyperGroup):
    """Lists commands in the order of their panels; Typer would list those with commands of their own last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands."""
        panel: dict[str, Any] = {name: vars(command)["rich_help_panel"] for name, command in self.commands.items()}
        return sorted(panel, key=lambda name: PANELS.index(panel[name]))


app = typer.Typer(
    name="persimchat",
    cls=_InPanels,
    help="Personas with memory, emotions, plans and relationships talk with each other.",
    epilog=_EPILOG,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
offer(app, run.run, run.EXAMPLES, panel=TALK)
offer(app, run.debate, run.DEBATE_EXAMPLES, panel=TALK, without=("mode",))
app.add_typer(story.story, name="story", rich_help_panel=TALK)
offer(
    companion.companion,
    companion_serve.serve,
    companion_serve.SERVE_EXAMPLES,
    panel="Commands",
    without=companion.OF_OTHERS,
    usual=companion.USUAL,
)
companion.companion.command(epilog=companion_serve.KEY_EXAMPLES, rich_help_panel="Commands")(companion_serve.key)
app.add_typer(companion.companion, name="companion", rich_help_panel=TALK)
app.command(epilog=serve.EXAMPLES, rich_help_panel=TALK)(serve.serve)
offer(app, resume.resume, resume.EXAMPLES, panel=GO_ON, later="resume")
offer(app, resume.branch, resume.BRANCH_EXAMPLES, panel=GO_ON, later="branch")
offer(app, resume.regenerate, resume.REGENERATE_EXAMPLES, panel=GO_ON, later="branch")
app.command(epilog=replay.EXAMPLES, rich_help_panel=GO_ON)(replay.replay)
app.command(epilog=show.EXAMPLES, rich_help_panel=LOOK)(show.show)
app.command(epilog=diff.EXAMPLES, rich_help_panel=LOOK)(diff.diff)
app.command(epilog=export.EXAMPLES, rich_help_panel=LOOK)(export.export)
app.add_typer(runs.runs, name="runs", rich_help_panel=LOOK)
app.add_typer(experiment.experiment, name="experiment", rich_help_panel=STUDY)
evaluate.evaluate.command(epilog=evaluate_studies.BENCHMARK)(evaluate_studies.benchmark)
evaluate.evaluate.command(epilog=evaluate_studies.DIVERSITY)(evaluate_studies.diversity)
app.add_typer(evaluate.evaluate, name="evaluate", rich_help_panel=STUDY)
app.command(epilog=poll.EXAMPLES, rich_help_panel=STUDY)(poll.poll)
app.command(epilog=interview.EXAMPLES, rich_help_panel=STUDY)(interview.interview)
app.add_typer(survey.survey, name="survey", rich_help_panel=STUDY)
app.add_typer(models.models, name="models", rich_help_panel=SET_UP)
app.add_typer(personas.personas, name="personas", rich_help_panel=SET_UP)
offer(app, estimate.estimate, estimate.EXAMPLES, panel=SET_UP)
app.command(epilog=doctor.EXAMPLES, rich_help_panel=SET_UP)(doctor.doctor)
app.command(rich_help_panel=SET_UP)(graph.graph)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        say(f"persimchat {version('persimchat')}")
        raise typer.Exit(DONE)


@app.callback(invoke_without_command=True)
def _commands(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        say(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: without the program's name; by default, those of the process.

    Returns:
        The exit code: 0 done, 1 a replay differs from its run or conversations of an experiment failed, 2 bad input,
        3 model failure, 4 stopped by the machine, 130 interrupted.
    """
    prepare()
    code = _run(arguments)
    sent = _traces_sent()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = INTERRUPTED
    except OSError as error:
        if code == DONE:
            warn(_refused(error))
            code = BAD_INPUT
        discard_stdout()
    if code == INTERRUPTED:
        discard_stdout()
    if not sent and arguments is None:
        sys.stderr.flush()
        os._exit(code)  # LangSmith's threads would wait on
    return code


def _traces_sent() -> bool:
    """Wait for LangSmith to take the traces, not for longer than `TRACES_S`; whether it has."""
    tracing = sys.modules.get("langchain_core.tracers.langchain")
    if tracing is None:
        return True
    sending = threading.Thread(target=tracing.wait_for_all_tracers, daemon=True)
    sending.start()
    with suppress(KeyboardInterrupt):
        sending.join(TRACES_S)
    if sending.is_alive():
        warn(
            f"persimchat: warning: LangSmith's server has not taken all traces within {TRACES_S:g} seconds, or until "
            "Ctrl-C. Check LANGSMITH_ENDPOINT, or set LANGSMITH_TRACING=false."
        )
    return not sending.is_alive()


def _refused(error: OSError) -> str:
    """What the operating system refused, on one line."""
    where = f" ({error.filename})" if error.filename else ""
    return f"persimchat: error: {one_line(f'{error.strerror or error}{where}')}. Check free space and permissions."


def _refuse_letters(given: Sequence[str]) -> None:
    """Refuse letters that the language setting of the terminal does not have; Python has only bytes of them.

    Raises:
        InputError: an argument or the current folder's name has some.
    """
    encoding = sys.getfilesystemencoding()
    if encoding != "utf-8" and "--help" not in given and any(_UNREAD.search(one) for one in (*given, str(Path.cwd()))):
        raise InputError(
            f"an argument or the folder has letters that this terminal's language setting does not have ({encoding})",
            remedy="Choose one with UTF-8, for example: export LC_ALL=C.UTF-8.",
        )


def _run(arguments: Sequence[str] | None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        _refuse_letters(given)
        code = app(given, prog_name="persimchat", standalone_mode=False)
    except PerSimChatError as error:
        warn(f"persimchat: error: {one_line(str(error))}")
        return error.exit_code
    except UsageError as error:
        warn(f"persimchat: error: {one_line(usage_line(error))}")
        return BAD_INPUT
    except OutputClosed:
        return INTERRUPTED
    except (Interrupted, KeyboardInterrupt, typer.Abort):
        warn("persimchat: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        return INTERRUPTED
    except OSError as error:
        warn(_refused(error))
        return BAD_INPUT
    except SystemExit as error:
        # Typer and Rich exit like this if standard output was closed.
        return INTERRUPTED if error.code == 1 else int(error.code or DONE)
    return code if isinstance(code, int) else DONE
