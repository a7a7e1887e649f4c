"""`persimchat serve`: the web page."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Annotated, Final

import typer

from persimchat.app.commands import options
from persimchat.app.output import say
from persimchat.state.errors import MissingExtraError
from persimchat.state.folders import RESULTS

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat serve
  persimchat serve --port 9000 --out my-runs
  persimchat serve --host 0.0.0.0     # asks for the token that it prints

\b
[bold]Exit codes[/bold]
  0 stopped with Ctrl-C, 2 bad input
"""


def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but loopback asks visitors for a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free one.")] = 8080,
    out: options.Out = options.OUT,
    library: Annotated[Path, typer.Option(help="Folder of your own personas and saved set-ups.")] = Path("library"),
    results: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="The folder that holds experiments, which the page shows. [dim]default: ./results[/dim]",
            show_default=False,
        ),
    ] = RESULTS,
) -> None:
    """Serve the web page, where you set up, watch, join and analyse conversations."""
    os.environ["NICEGUI_STORAGE_PATH"] = str(library / ".web")  # read when it is imported
    try:
        from persimchat.app.web.serving import host_pages, web_context
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] in ("nicegui", "fastapi", "uvicorn", "starlette"):
            raise MissingExtraError("the web page", "web") from None
        raise
    gc.freeze()  # what is loaded by now stays, so the garbage collector need not look through it
    host_pages(host, port, web_context(out, library, results), say)
