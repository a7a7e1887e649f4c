"""`persimchat serve`: the web page."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from ...state.errors import MissingExtraError
from ...state.folders import RESULTS
from ..output import say
from . import options
from .options import option

if TYPE_CHECKING:
    from ...state.companion.place import Place
    from ...state.settings import Settings

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
    serve_pages(host, port, out, library, results, names=name or (), world=world)


def serve_pages(
    host: str,
    port: int,
    out: Path,
    library: Path,
    results: Path,
    *,
    names: Sequence[str] = (),
    world: Path | None = None,
    place: Place | None = None,
    settings: Settings | None = None,
    person: str = "guest",
    instructed: bool = True,
    games: tuple[str, int] | None = None,
    games_reply: int | None = None,
) -> None:
    """Serve the pages, and a world if there is one, until the server is stopped.

    Args:
        host: address to listen on.
        port: port to listen on; 0 for any that is free.
        out: the folder of runs.
        library: the folder of the user's own personas.
        results: the folder of experiments.
        names: by which a reverse proxy is reached.
        world: the folder of a world; None for none.
        place: the place of a new world.
        settings: of the world's talks; None: those with which it was last opened.
        person: who talks if a client does not say.
        instructed: whether a client's system messages reach the agents, as data.
        games: host and port for games over UDP; None for none.
        games_reply: the port that answers to games go to; None: the sender's own.

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
    served = None
    if world is not None:
        from ...state.companion import person_name
        from ..web.served_world import ServedWorld
        from ..web.v1.app import Manner

        manner = Manner(person=person_name(person), instructed=instructed)
        served = ServedWorld(world, place, settings, manner, games, games_reply)
    gc.freeze()  # what is loaded by now stays, so the garbage collector need not look through it
    host_pages(host, port, web_context(out, library, results), say, served, names)
