"""Chroma clients by location, with telemetry off and errors that name the remedy."""

from __future__ import annotations

import os
import re
import struct
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ..models.naming import server_address
from ..models.redaction import short
from ..state.errors import InputError, nearest_word, suggestion

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.config import Settings as ChromaSettings

EPHEMERAL: Final = "ephemeral"
RUN: Final = "run"
"""A run's own folder; without one, as in a graph that is used alone, it means `ephemeral`."""

_HEADER: Final = struct.Struct("<i4Q")
"""The beginning of hnswlib's header.bin: version, an offset, places, places used, bytes of a place."""
_LENGTH: Final = 4
"""Bytes of a place in length.bin."""
_CODE: Final = re.compile(r"\(code: (\d+)\)")
_PRIMARY: Final = 0xFF
"""The bits of SQLite's code that say what has failed; the others say where."""
_REMEDIES: Final = {
    5: "Another process uses it: wait until it has ended, or choose another folder.",
    8: "Choose a folder whose files you may write to.",
    10: "The disk cannot be read or written: look into the system's log, or choose a folder on another one.",
    13: "The disk is full: make room on it.",
}
_OTHERWISE: Final = "Choose an empty folder, or one that Chroma has made."
_FORMS: Final = "Use run, ephemeral, a folder, or http://host:port of a Chroma server."


def resolved(location: str) -> str:
    """A location in its canonical form: folders absolute, addresses without a slash at the end.

    Raises:
        InputError: it is not `run`, `ephemeral`, a folder's path, or an http(s) address.
    """
    wanted = location.strip()
    if wanted in (EPHEMERAL, RUN):
        return EPHEMERAL
    if "://" in wanted:
        return server_address(wanted, "the memory store's name", key="")
    # One word that resembles "ephemeral" is a typing error, unless there is such a folder.
    slip = nearest_word(wanted, [EPHEMERAL]) is not None and os.sep not in wanted and not Path(wanted).exists()
    if not wanted or slip:
        raise InputError(f"unknown memory store {wanted!r}", remedy=suggestion(wanted, [EPHEMERAL], otherwise=_FORMS))
    try:
        return str(Path(wanted).expanduser().resolve())
    except (OSError, RuntimeError) as error:  # links that lead to each other
        raise InputError(
            f"the memory store cannot be found: {error}", where=wanted, remedy="Look where its links lead."
        ) from error


def errors() -> Any:
    """Chroma's module of exceptions. Chroma takes most of a second to load, so nothing loads it before it is used."""
    _load()
    from chromadb import errors

    return errors


def _load() -> None:
    """Load Chroma, which looks for a home as it is loaded; a user without one has the temporary folder for so long."""
    if "chromadb" in sys.modules:
        return
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = tempfile.gettempdir()
        try:
            import_module("chromadb")
        finally:
            del os.environ["HOME"]


def connect(location: str) -> ClientAPI:
    """A Chroma client for a resolved location.

    Raises:
        InputError: the folder cannot be used, or the server cannot be reached.
    """
    _load()
    from chromadb.config import Settings

    quiet = Settings(anonymized_telemetry=False)
    if location == EPHEMERAL:
        return _ephemeral(quiet)
    return _server(location, quiet) if "://" in location else _folder(location, quiet)


def blank_spare(folder: Path) -> list[Path]:
    """Overwrite the spare room in the files of Chroma's indexes with zeros; the database must be closed.

    hnswlib writes room for vectors to come as it finds it: with whatever this process had in its memory before.

    Args:
        folder: of the database.

    Returns:
        Files whose form is not known, which stay as they are.
    """
    strange = []
    for header in sorted(folder.glob("*/header.bin")):
        values, lengths = header.with_name("data_level0.bin"), header.with_name("length.bin")
        try:
            version, _, room, used, size = _HEADER.unpack(header.read_bytes()[: _HEADER.size])
            known = version == 1 and used <= room
            if not known or (values.stat().st_size, lengths.stat().st_size) != (room * size, room * _LENGTH):
                strange.append(header)
                continue
            for path, each in ((values, size), (lengths, _LENGTH)):
                with path.open("r+b") as file:
                    file.seek(used * each)
                    file.write(bytes((room - used) * each))
        except (OSError, struct.error):
            strange.append(header)
    return strange


def _ephemeral(quiet: ChromaSettings) -> ClientAPI:
    try:
        from chromadb import EphemeralClient

        return EphemeralClient(settings=quiet)
    except ValueError as error:
        raise InputError(
            "this process has an ephemeral Chroma client with other settings",
            remedy="Make it with chromadb.config.Settings(anonymized_telemetry=False), or use a folder as store.",
        ) from error


def _folder(location: str, quiet: ChromaSettings) -> ClientAPI:
    folder = Path(location)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the memory store's folder cannot be made: {error.strerror}",
            where=location,
            remedy="Choose a folder that you may write to.",
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(
            "the memory store's folder cannot be written to",
            where=location,
            remedy="Choose a folder that you may write to.",
        )
    try:
        tempfile.gettempdir()
    except FileNotFoundError:  # SQLite then has none either
        os.environ["SQLITE_TMPDIR"] = location
    try:
        from chromadb import PersistentClient

        return PersistentClient(path=location, settings=quiet)
    except (errors().ChromaError, ValueError, OSError, RuntimeError) as error:
        code = _CODE.search(str(error))
        raise InputError(
            f"the memory store cannot be opened: {short(str(error))}",
            where=location,
            remedy=_REMEDIES.get(int(code[1]) & _PRIMARY if code else 0, _OTHERWISE),
        ) from error


def _server(location: str, quiet: ChromaSettings) -> ClientAPI:
    import httpx

    parts = urlsplit(location)
    ssl = parts.scheme.lower() == "https"
    try:
        from chromadb import HttpClient

        return HttpClient(host=parts.hostname or "", port=parts.port or (443 if ssl else 8000), ssl=ssl, settings=quiet)
    except (errors().ChromaError, ValueError, KeyError, httpx.HTTPError) as error:
        raise InputError(
            f"no Chroma server answers ({type(error).__name__})",
            where=location,
            remedy=f"Start one with: chroma run --host {parts.hostname} --port {parts.port or 8000}, "
            "or use a folder as store.",
        ) from error
