"""Saved set-ups: scenario files in the library's folder `scenarios/`."""

from __future__ import annotations

from pathlib import Path

from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.scenario_text import file_name, scenario_text
from persimchat.personas.files import SUFFIXES
from persimchat.personas.scenario import load_scenario
from persimchat.state.errors import InputError


class Shelf:
    """The saved set-ups of a library; every method blocks.

    Args:
        library: its folder.
    """

    def __init__(self, library: Path) -> None:
        self.folder = library / "scenarios"

    def names(self) -> list[str]:
        """Names of all set-ups, sorted: their files' without the ending."""
        return sorted(self._files())

    def load(self, name: str) -> Draft:
        """A saved set-up.

        Raises:
            InputError: there is none of that name, or its file is not right.
        """
        return Draft.of(load_scenario(self._file(name)))

    def save(self, name: str, draft: Draft, *, replace: bool = False) -> str:
        """Keep a draft, also one that is not right yet.

        Args:
            name: what somebody calls it; what is safe of it becomes the file's name.
            draft: what is kept.
            replace: whether it may take the place of another one.

        Returns:
            The name under which it is found.

        Raises:
            InputError: the name is none, or taken, or the file cannot be written.
        """
        stem = file_name(name)
        path = self._files().get(stem, self.folder / f"{stem}.yaml") if replace else self.folder / f"{stem}.yaml"
        text = scenario_text(draft)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not replace and stem in self._files():
                raise FileExistsError
            with path.open("w" if replace else "x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except FileExistsError:
            raise NameTaken(stem) from None
        except OSError as error:
            remedy = "Look at the folder's permissions and free space."
            raise InputError(f"it cannot be saved: {error.strerror}", where=str(path), remedy=remedy) from error
        return stem

    def delete(self, name: str) -> None:
        """Delete a saved set-up.

        Raises:
            InputError: there is none of that name, or it cannot be deleted.
        """
        path = self._file(name)
        try:
            path.unlink()
        except OSError as error:
            raise InputError(f"it cannot be deleted: {error.strerror}", where=str(path)) from error

    def _file(self, name: str) -> Path:
        """Only what is in the folder is found, whatever the name says."""
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
        super().__init__(f"there is a set-up {name!r} already", remedy="Replace it, or choose another name.")
