"""Personas as YAML files in the style of the shipped ones: all of a group, or none, and never over an existing file."""

from __future__ import annotations

import contextlib
import itertools
import re
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ..state.document import Dumper, yaml_text
from ..state.errors import InputError
from ..state.persona import Persona
from ..state.plain_text import one_line, without_marks

NOT_REAL: Final = "Invented by a program: this is no real person, and no evidence of what real people are like."

GENERATED: Final = Path("generated")
"""The default folder in which each group gets its own folder, relative to the working directory."""

_LONGEST_SLUG: Final = 60
_WHOLE: Final = re.compile(r"0|[1-9]\d{0,8}")


class _Folded(str):
    """Text that is written as a folded paragraph."""


class _Dumper(Dumper):
    """Writes also `_Folded`."""


_Dumper.add_representer(
    _Folded, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style=">")
)


def persona_text(persona: Persona, notes: Sequence[str] = ()) -> str:
    """A persona as a YAML file's text.

    Args:
        persona: who it is.
        notes: comments for its head, one line each; line breaks in them are removed.
    """
    given = persona.model_dump(mode="json", exclude_defaults=True)
    data = {key: value for key, value in given.items() if value not in (None, [], {})}
    data["description"] = _Folded(persona.description)
    if persona.characteristics:
        data["characteristics"] = {key: _number(value) for key, value in persona.characteristics.items()}
    head = "".join(f"# {one_line(note)}\n" for note in notes)
    return head + yaml_text(data, _Dumper)


_DEVICE: Final = re.compile(r"con|prn|aux|nul|(?:com|lpt)\d")
"""Names that Windows keeps for devices: no file may be called so, whatever its ending."""


def new_folder_name(about: str) -> Path:
    """A new, readable folder name: time (UTC), a few words, four random hexadecimal digits."""
    words = "-".join(_words(about)[:6])[:40].strip("-")
    parts = (datetime.now(UTC).strftime("%Y%m%d-%H%M%S"), words, secrets.token_hex(2))
    return GENERATED / "-".join(part for part in parts if part)


def file_names(names: Sequence[str]) -> list[str]:
    """A file name for each person, all different: small letters and digits of the alphabet, with hyphens."""
    found: list[str] = []
    for number, name in enumerate(names, start=1):
        slug = "-".join(_words(name))[:_LONGEST_SLUG].strip("-") or f"persona-{number}"
        slug = f"{slug}-persona" if _DEVICE.fullmatch(slug) else slug
        free = (slug if n == 1 else f"{slug}-{n}" for n in itertools.count(1))
        found.append(next(f"{candidate}.yaml" for candidate in free if f"{candidate}.yaml" not in found))
    return found


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A new folder for files; if the block fails, everything that was made is removed again.

    Args:
        path: a folder that does not exist yet, or is empty.

    Raises:
        InputError: it is not empty, or cannot be written.
    """
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        if next(path.iterdir(), None) is not None:
            remedy = "Choose a new folder with --out; nothing is ever overwritten."
            raise InputError("the folder is not empty", where=str(path), remedy=remedy)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        _remove(made)
        reason = "there is a file in the way" if isinstance(error, FileExistsError) else error.strerror
        what = f"cannot write there: {reason}"
        raise InputError(what, where=str(path), remedy="Choose a folder with --out.") from error
    try:
        yield path
    except BaseException:
        _remove(made)
        raise


def write_all(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write files that do not exist yet: all of them or none.

    Args:
        folder: where.
        texts: file name → text.

    Raises:
        InputError: a file exists, or cannot be written; files written before it are removed again.
    """
    written: list[Path] = []
    try:
        for name, text in texts.items():
            path = folder / name
            with path.open("x", encoding="utf-8", newline="\n") as file:
                written.append(path)
                file.write(text)
    except BaseException as error:
        for path in written:
            path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            what = f"cannot write {name}: {error.strerror}"
            raise InputError(what, where=str(folder), remedy="Choose another folder with --out.") from error
        raise
    return written


def _words(text: str) -> list[str]:
    """The parts of a text that are safe in a file name on every system."""
    return re.findall(r"[a-z0-9]+", without_marks(text))


def _number(value: str) -> Any:
    """Whole numbers are written without quotes; they read back as the same text."""
    return int(value) if _WHOLE.fullmatch(value) and value.isascii() else value


def _remove(folders: Sequence[Path]) -> None:
    """Remove folders that are empty, innermost first."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
