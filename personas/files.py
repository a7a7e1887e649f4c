"""Reading personas from YAML and JSON files; every error names file, line, field and remedy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from persimchat.personas.fragments import merged_with_fragments
from persimchat.state.document import Document, Location, read_document
from persimchat.state.errors import InputError
from persimchat.state.persona import Persona
from persimchat.state.validation_errors import input_error, refuse_unknown, valid_fields

SUFFIXES: Final = (".yaml", ".yml", ".json")
"""Endings of the files that hold personas."""


def is_path(name_or_path: str) -> bool:
    """Whether a text is the path of such a file and not a name: by its ending, or a slash in it."""
    wanted = name_or_path.strip()
    return wanted.lower().endswith(SUFFIXES) or "/" in wanted or "\\" in wanted


def load_persona(path: Path | str, *, within: Path | None = None) -> Persona:
    """Read one persona.

    Args:
        path: a YAML or JSON file with the fields of `Persona`, and optionally `include`, a list of fragments.
        within: the folder below which files of fragments must lie; anywhere where it is None.

    Raises:
        InputError: the file, or a fragment that it includes, is invalid.
    """
    path = Path(path)
    return persona_in(read_document(path), (), path.parent, within)


def persona_in(document: Document, at: Location, base: Path, within: Path | None = None) -> Persona:
    """The persona that a part of a document describes.

    Args:
        document: the file, or the data given in code.
        at: the place of the persona's mapping; () for the whole document.
        base: the folder from which paths of fragments count.
        within: the folder below which files of fragments must lie; anywhere where it is None.

    Raises:
        InputError: the data are not a valid persona.
    """
    data: Any = document.data
    for part in at:
        data = data[part]
    if not isinstance(data, Mapping):
        raise InputError("a persona is a mapping", where=document.where(at), remedy="Write lines 'field: value'.")
    refuse_unknown(document, at, data, [*valid_fields(Persona), "include"])
    merged = merged_with_fragments(document, at, data, base, within)
    try:
        return Persona.model_validate(merged)
    except ValidationError as error:
        raise input_error(error, Persona, document, at) from None
