"""`persimchat companion serve` and `companion key`: a world for other programs, and who may come in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from ...state.errors import InputError
from ..output import say
from .companion import folder_and_place, settings_for
from .option_groups import WantedServed
from .options import option
from .serve import serve_pages

if TYPE_CHECKING:
    from ..web.served_world import ServedWorld

SERVE_EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat companion serve examples/companion/ferry.yaml
  persimchat companion serve worlds/ferry --person Petr --port 9000
  persimchat companion serve worlds/ferry --host 0.0.0.0     # people need keys
  persimchat companion serve worlds/ferry --udp 9091

\b
[bold]Exit codes[/bold]
  0 stopped with Ctrl-C, 2 bad input
"""

KEY_EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat companion key worlds/ferry --person Petr
  persimchat companion key worlds/ferry --person Kitchen --relay
  persimchat companion key worlds/ferry --person Petr --remove

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input
"""


def serve(wanted: WantedServed) -> None:
    """Serve a world: its page, and an OpenAI-compatible address for chat programs (/v1).

    PLACE is a place file, a persona, or the folder of a world. What agents remember stays in the world's folder; stop
    the server to use the world elsewhere.
    """
    from ...runs.companion.folder import is_world
    from ...state.companion import person_name
    from .request import assigned

    games = None if wanted.udp is None else _address(wanted.udp)
    folder, place = folder_and_place(wanted.place, wanted.world)
    if place is None and not is_world(folder):
        raise InputError("there is no world in this folder", where=str(folder), remedy="Give a place file.")
    settings = settings_for(folder, place, wanted.settings, assigned(wanted.assignments or (), wanted.arguments))

    def served() -> ServedWorld:
        from ..web.served_world import ServedWorld
        from ..web.v1.app import Manner

        manner = Manner(person=person_name(wanted.person), instructed=wanted.client_system == "data")
        return ServedWorld(folder, place, settings, manner, games, wanted.udp_reply)

    serve_pages(wanted.host, wanted.port, wanted.out, wanted.library, wanted.results, wanted.name or (), served)


def _address(text: str) -> tuple[str, int]:
    """Host and port of `[HOST:]PORT`.

    Raises:
        InputError: there is no port.
    """
    host, colon, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 65_536) or (colon and not host):
        raise InputError(
            f"{text[:60]!r} is no address", where="--udp", remedy="Give a port, or host and port: --udp 127.0.0.1:9091."
        )
    return host.strip("[]") or "127.0.0.1", int(port)


def key(
    world: Annotated[Path, option("companion key", "world")],
    person: Annotated[str, option("companion key", "person")],
    relay: Annotated[bool, option("companion key", "relay")] = False,
    remove: Annotated[bool, option("companion key", "remove")] = False,
) -> None:
    """Make a key with which a person reaches a served world from another machine.

    The key is printed once; the world keeps only its hash. A server that is running takes it at once.
    """
    from ...runs.companion.folder import WORLD, opened_file, read_world
    from ...runs.companion.keys import add_key, remove_keys
    from ...state.companion import person_name

    name = read_world(world).world
    with opened_file(world / WORLD) as kept:
        if remove:
            number = remove_keys(kept.store, name, person)
            say(f"Removed: {number} {'key' if number == 1 else 'keys'} of {person_name(person)}.")
        else:
            say(add_key(kept.store, name, person, relay=relay))
