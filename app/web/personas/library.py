"""The user's own personas: files in the library's folder `personas/`, as the command line reads them."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ....personas.catalogue import SUFFIXES, load_persona
from ....personas.files import file_names, persona_text
from ....state.document import MAX_BYTES, parse_value
from ....state.errors import InputError, PerSimChatError
from ....state.persona import Persona
from ....state.plain_text import folded, visible_form
from ...refusals import refusals_told


@dataclass(frozen=True)
class Shelf:
    """The contents of the folder.

    Attributes:
        personas: file → persona, by name.
        damaged: file → what is wrong with it, by the file's name.
    """

    personas: dict[Path, Persona]
    damaged: dict[Path, PerSimChatError]


class Library:
    """The personas of a library; every method blocks.

    Args:
        folder: the library's.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "personas"

    def personas(self) -> dict[Path, Persona]:
        """The personas by file, sorted by name; damaged files are left out."""
        return self.read().personas

    def read(self) -> Shelf:
        """All files in the folder, including damaged ones.

        Raises:
            InputError: the folder itself cannot be read.
        """
        found: dict[Path, Persona] = {}
        damaged: dict[Path, PerSimChatError] = {}
        for path in self._files():
            try:
                found[path] = load_persona(path)
            except PerSimChatError as error:
                damaged[path] = error
        by_name = sorted(found.items(), key=lambda pair: (folded(pair[1].name), pair[0].name))
        return Shelf(dict(by_name), damaged)

    def add(self, persona: Persona, notes: Sequence[str] = ()) -> Path:
        """Save a persona in a new file, named after the persona; other files stay as they are.

        Args:
            persona: the persona.
            notes: comments for the file's head, one line each.

        Returns:
            The file.

        Raises:
            InputError: it cannot be written, or a file could not hold it unchanged.
        """
        with self._written(persona, notes) as temporary:
            stem = file_names([persona.name])[0].removesuffix(".yaml")
            path = self._free(stem)
            temporary.replace(path)
            return path

    def replace(self, path: Path, persona: Persona) -> Path:
        """Replace a persona of this library; the comments at the head of its file stay.

        Args:
            path: a file of this library.
            persona: the changed persona.

        Returns:
            The file: the same one, with the ending .yaml.

        Raises:
            InputError: it cannot be written, or a file could not hold it unchanged.
        """
        self._require_own(path)
        notes = head_of(path.read_text(encoding="utf-8-sig", errors="replace")) if path.is_file() else []
        if path.suffix.lower() == ".json":  # the new file is YAML
            kept = self.add(persona, notes)
            path.unlink(missing_ok=True)
            return kept
        with self._written(persona, notes) as temporary:
            temporary.replace(path)
        return path

    def keep(self, persona: Persona) -> Path:
        """Save a persona in place of the one of the same name, or in a new file if there is none.

        Raises:
            InputError: it cannot be written, or a file could not hold it unchanged.
        """
        name = visible_form(persona.name)
        path = next((path for path, own in self.personas().items() if visible_form(own.name) == name), None)
        return self.add(persona) if path is None else self.replace(path, persona)

    def delete(self, path: Path) -> None:
        """Delete a file of this library; a file that is already gone is no error.

        Raises:
            InputError: it cannot be deleted.
        """
        self._require_own(path)
        with refusals_told("the file cannot be deleted", path, "Check the permissions of the folder."):
            path.unlink(missing_ok=True)

    def text(self, path: Path) -> str:
        """The text of a file of this library, unchanged.

        Raises:
            InputError: it cannot be read.
        """
        self._require_own(path)
        with refusals_told("the file cannot be read", path, "Check whether it still exists."):
            return path.read_text(encoding="utf-8-sig", errors="replace")

    def _files(self) -> list[Path]:
        with refusals_told("the folder cannot be read", self.folder, "Check its permissions."):
            if not self.folder.exists():
                return []
            return sorted(
                path
                for path in self.folder.iterdir()
                if path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()
            )

    def _free(self, stem: str) -> Path:
        """A new empty file, so that no other program takes its name."""
        number = 1
        while True:
            path = self.folder / f"{stem if number == 1 else f'{stem}-{number}'}.yaml"
            try:
                path.open("x").close()
                return path
            except FileExistsError:
                number += 1

    def _require_own(self, path: Path) -> None:
        if path.parent != self.folder:
            remedy = "Choose a persona of your own."
            raise InputError("this file is not in the library", where=str(path), remedy=remedy)

    @contextmanager
    def _written(self, persona: Persona, notes: Sequence[str]) -> Iterator[Path]:
        """A complete temporary file; it is deleted at the end unless it was renamed."""
        text = _checked_text(persona, notes)
        remedy = "Check the permissions of the folder, and whether the disk is full."
        temporary: Path | None = None
        try:
            with refusals_told("the persona cannot be kept", self.folder, remedy):
                self.folder.mkdir(parents=True, exist_ok=True)
                with tempfile.NamedTemporaryFile(
                    "w", encoding="utf-8", newline="\n", dir=self.folder, prefix=".", suffix=".partial", delete=False
                ) as file:
                    temporary = Path(file.name)
                    file.write(text)
                yield temporary
        finally:
            if temporary is not None:
                temporary.unlink(missing_ok=True)


def head_of(text: str) -> list[str]:
    """The comments at the beginning of a file, one line each: they say where a persona comes from."""
    lines = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
    return [line.lstrip("#").strip() for line in lines]


def _checked_text(persona: Persona, notes: Sequence[str]) -> str:
    """The text of a persona's file, which reads back as the same persona."""
    text = persona_text(persona, notes)
    try:
        same = len(text.encode()) <= MAX_BYTES and Persona.model_validate(parse_value(text)) == persona
    except ValueError:
        same = False
    if not same:
        remedy = "Make the texts shorter, and remove invisible characters."
        raise InputError(f"{persona.name!r} cannot be kept in a file unchanged", remedy=remedy)
    return text
