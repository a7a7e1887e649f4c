"""`persimchat serve`: the web page."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from ...state.errors import MissingExtraError
from ...state.folders import RESULTS
from ..output import say
from . import options
from .options import option

if TYPE_CHECKING:
    from ..web.served_world import ServedWorld

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat serve
  persimchat serve --port 9000 --out my-runs
  persimchat serve --host 0.0.0.0     # asks for the token that it prints
  persimchat serve --name chat.example.org     # behind a reverse proxy on this machine

\b
[bold]Exit codes[/bold]
  0 stopped with Ctrl-C, 2 bad input
"""


def serve(
    host: options.Host = options.HOST,
    port: options.Port = options.PORT,
    name: options.Name = None,
    out: options.Out = options.OUT,
    library: options.Library = options.LIBRARY,
    results: options.Results = RESULTS,
    world: Annotated[Path | None, option("serve", "world")] = None,
) -> None:
    """Serve the web page, where you set up, watch, join and analyse conversations."""

    def served(folder: Path) -> ServedWorld:
        from ..web.served_world import ServedWorld

        return ServedWorld(folder)

    serve_pages(host, port, out, library, results, name or (), partial(served, world) if world is not None else None)


def serve_pages(
    host: str,
    port: int,
    out: Path,
    library: Path,
    results: Path,
    names: Sequence[str],
    served: Callable[[], ServedWorld] | None,
) -> None:
    """Serve the pages, and a world if there is one, until the server is stopped.

    Args:
        host: address to listen on.
        port: port to listen on; 0 for any that is free.
        out: the folder of runs.
        library: the folder of the user's own personas.
        results: the folder of experiments.
        names: by which a reverse proxy is reached.
        served: makes the world that is served beside, once what the pages need is loaded; None for none.

    Raises:
        InputError: the address cannot be used, a folder cannot be written, or the world cannot be opened.
    """
    os.environ["NICEGUI_STORAGE_PATH"] = str(library / ".web")  # read when it is imported
    gc.disable()  # it would look through everything again and again while modules are loaded
    try:
        from ..web.serving import host_pages, web_context
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] in ("nicegui", "fastapi", "uvicorn", "starlette"):
            raise MissingExtraError("the web page", "web") from None
        raise
    finally:
        gc.enable()
    world = served() if served is not None else None
    gc.freeze()  # what is loaded by now stays, so the garbage collector need not look through it
    host_pages(host, port, web_context(out, library, results), say, world, names)
