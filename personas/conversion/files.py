"""Converted personas as persona files: their texts, checked to read back as exactly what was converted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from persimchat.personas.conversion.conversion import Converted
from persimchat.personas.generation.generated_files import file_names, persona_text
from persimchat.state.document import MAX_BYTES, parse_value
from persimchat.state.errors import InputError
from persimchat.state.persona import Persona

OUT: Final = Path("converted")
"""The default folder of conversions, relative to the working directory."""


def new_place(files: Sequence[Path]) -> Path:
    """A folder that does not exist yet, named after the one file, or the folder that the files are in."""
    name = files[0].stem if len(files) == 1 else files[0].absolute().parent.name
    slug = file_names([name])[0].removesuffix(".yaml")
    return next(path for n in range(1, 100_000) if not (path := OUT / (slug if n == 1 else f"{slug}-{n}")).exists())


def texts_of(people: Sequence[Converted]) -> dict[str, str]:
    """File name → text, in the people's order. The head says from which file and how; no path of this machine.

    Raises:
        InputError: a file would not read back as it was written.
    """
    names = file_names([one.persona.name for one in people])
    texts: dict[str, str] = {}
    for name, one in zip(names, people, strict=True):
        record = one.draft.record
        place = record.place or (f"line {record.line}" if record.line else "")
        source = f"{record.file.name} ({place})" if place else record.file.name
        text = persona_text(one.persona, [f"Converted from {source} with {one.draft.by}.", *one.draft.notes])
        if name in texts or not _is_kept(text, one.persona):
            what = f"the persona of {one.persona.name!r} cannot be kept in a file unchanged"
            raise InputError(
                what, where=record.where(), remedy="Leave this person out with --pick, or change the name."
            )
        texts[name] = text
    return texts


def _is_kept(text: str, persona: Persona) -> bool:
    """Whether a file's text reads back as the persona that was written."""
    try:
        return len(text.encode()) <= MAX_BYTES and Persona.model_validate(parse_value(text)) == persona
    except ValueError:
        return False
