"""A draft as a scenario file: written, uploaded, saved in the library; keys and passwords are never written."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from ....memory.chroma_client import EPHEMERAL, RUN
from ....personas.catalogue import SUFFIXES, is_path, shipped
from ....personas.scenario import load_scenario
from ....runs.folder.manifest import public
from ....state.document import MAX_BYTES, read_document, yaml_text
from ....state.errors import InputError
from ....state.plain_text import without_marks
from ....state.templates import SHIPPED
from ...refusals import refusals_told
from .draft import Draft, Seat, without_keys

_LONGEST: Final = 60


def scenario_text(draft: Draft) -> str:
    """The draft as a scenario file's text."""
    story = draft.story
    goals = {seat.name: seat.goals for seat in draft.seats if seat.goals}
    data: dict[str, Any] = {
        "topic": draft.topic,
        "participants": [_participant(seat) for seat in draft.seats],
        "relationships": [tie.model_dump(by_alias=True, exclude_defaults=True) for tie in draft.relationships],
        "social_goals": goals,
        "rules": draft.rules,
        "settings": without_keys(public(draft.settings_asked())),
        "story": {} if story is None else story.model_dump(mode="json", by_alias=True, exclude_defaults=True),
        "guide": {} if draft.guide is None else draft.guide.data(),
    }
    kept = {key: value for key, value in data.items() if value or key in ("topic", "participants")}
    return yaml_text(kept)


def file_name(name: str) -> str:
    """The part of a name that is safe as a file name on every system, without an ending.

    Raises:
        InputError: nothing of the name is safe.
    """
    stem = "-".join(re.findall(r"[a-z0-9]+", without_marks(name)))[:_LONGEST].strip("-")
    if not stem:
        raise InputError("the name has no letter or digit", remedy="Give it a name with letters.")
    return stem


def uploaded(name: str, raw: bytes) -> Draft:
    """The draft in an uploaded scenario file.

    Args:
        name: the file's name, for errors; no file of this name is read or written.
        raw: its contents.

    Raises:
        InputError: it is too large, not a scenario, or names files or folders, which would be the server's.
    """
    shown = Path(name.replace("\\", "/")).name or "file"
    if len(raw) > MAX_BYTES:
        raise InputError("the file is too large", where=shown, remedy=f"Keep it below {MAX_BYTES:,} bytes.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("setup.json" if name.lower().endswith(".json") else "setup.yaml")
        path.write_bytes(raw)
        try:
            _refuse_files(path)
            return Draft.of(load_scenario(path))
        except InputError as error:
            where = error.where.replace(str(path), shown)
            raise InputError(error.what.replace(str(path), shown), where=where, remedy=error.remedy) from None


def _refuse_files(path: Path) -> None:
    document = read_document(path)
    listed = document.data.get("participants")
    for index, entry in enumerate(listed if isinstance(listed, list) else []):
        given = entry if isinstance(entry, Mapping) else {"persona": entry}
        included = given.get("include") or []
        for value in (given.get("persona"), *(included if isinstance(included, list) else [included])):
            if isinstance(value, str) and is_path(value):
                raise InputError(
                    "an uploaded set-up cannot name files",
                    where=document.where(("participants", index)),
                    remedy="Write the persona out, or name a shipped one.",
                )
    settings = document.data.get("settings")
    if isinstance(settings, Mapping) and settings.get("prompts") not in (None, {}, SHIPPED):
        raise InputError(
            "an uploaded set-up cannot have prompts of its own",
            where=document.where(("settings", "prompts")),
            remedy="Leave prompts out.",
        )
    store = settings.get("store") if isinstance(settings, Mapping) else None
    if isinstance(store, str) and "://" not in store and store.strip() not in (RUN, EPHEMERAL):
        raise InputError(
            "an uploaded set-up cannot name folders",
            where=document.where(("settings", "store")),
            remedy="Leave store out, and choose it on the page.",
        )


def _participant(seat: Seat) -> Any:
    given = seat.persona.model_dump(mode="json", exclude_defaults=True)
    known = next((persona for persona in shipped() if persona.name == seat.name), None)
    if known is None or known != seat.persona.model_copy(update={"human": known.human}):
        return given
    return {"persona": seat.name, "human": True} if seat.persona.human else seat.name


def servers_in(draft: Draft) -> list[str]:
    """Hosts with ports in models, embedding, memory store and checkpoints, in alphabetical order."""

    def texts(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            for inner in value.values() if isinstance(value, dict) else value:
                yield from texts(inner)

    given = texts([*(seat.model for seat in draft.seats), draft.settings])
    return sorted({host for text in given if (host := _host(text))})


def _host(text: str) -> str:
    """The host of the address in a text such as `model@http://host:port/v1`; empty if there is none."""
    scheme, found, rest = text.partition("://")
    if not found:
        return ""
    try:
        return urlsplit(f"{scheme.rpartition('@')[2]}://{rest}").netloc.rpartition("@")[2]
    except ValueError:  # not an address
        return ""


class SavedSetups:
    """The saved set-ups of a library; every method blocks.

    Args:
        library: its folder.
    """

    def __init__(self, library: Path) -> None:
        self.folder = library / "scenarios"

    def names(self) -> list[str]:
        """The names of all set-ups, sorted: their files' names without the ending."""
        return sorted(self._files())

    def load(self, name: str) -> Draft:
        """A saved set-up.

        Raises:
            InputError: there is none of that name, or its file is invalid.
        """
        return Draft.of(load_scenario(self._file(name)))

    def save(self, name: str, draft: Draft, *, replace: bool = False) -> str:
        """Save a draft, even an invalid one.

        Args:
            name: its name; the safe part becomes the file's name.
            draft: the draft to save.
            replace: whether it may replace another one.

        Returns:
            The set-up's name in the library.

        Raises:
            InputError: the name has no letter, or is taken, or the file cannot be written.
        """
        stem = file_name(name)
        path = self._files().get(stem, self.folder / f"{stem}.yaml") if replace else self.folder / f"{stem}.yaml"
        text = scenario_text(draft)
        with refusals_told("it cannot be saved", path, "Check the folder's permissions and free space."):
            self.folder.mkdir(parents=True, exist_ok=True)
            if not replace and stem in self._files():
                raise NameTaken(stem)
            try:
                with path.open("w" if replace else "x", encoding="utf-8", newline="\n") as file:
                    file.write(text)
            except FileExistsError:
                raise NameTaken(stem) from None
        return stem

    def delete(self, name: str) -> None:
        """Delete a saved set-up.

        Raises:
            InputError: there is none of that name, or it cannot be deleted.
        """
        path = self._file(name)
        with refusals_told("it cannot be deleted", path):
            path.unlink()

    def _file(self, name: str) -> Path:
        """The path of a set-up; a name cannot reach files outside the folder."""
        files = self._files()
        if name not in files:
            raise InputError(f"there is no saved set-up {name!r}", remedy="Choose one of the list.")
        return files[name]

    def _files(self) -> dict[str, Path]:
        if not self.folder.is_dir():
            return {}
        paths = sorted(path for path in self.folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
        return {path.stem: path for path in reversed(paths)}


class NameTaken(InputError):
    """There is a set-up of that name already."""

    def __init__(self, name: str) -> None:
        super().__init__(f"a set-up {name!r} exists already", remedy="Replace it, or choose another name.")
