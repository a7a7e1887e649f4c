"""Reading personas from YAML and JSON files; every error names file, line, field and remedy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from persimchat.personas.fragments import merged_with_fragments
from persimchat.state.complaint import input_error, valid_fields
from persimchat.state.document import Document, Location, read_document
from persimchat.state.errors import InputError, suggestion
from persimchat.state.persona import Persona

SUFFIXES: Final = (".yaml", ".yml", ".json")
"""Endings of the files that hold personas."""


def load_persona(path: Path | str) -> Persona:
    """Read one persona.

    Args:
        path: a YAML or JSON file with the fields of `Persona`, and optionally `include`, a list of fragments.

    Raises:
        InputError: the file, or a fragment that it includes, is not right.
    """
    path = Path(path)
    return persona_in(read_document(path), (), path.parent)


def load_personas(path: Path | str) -> list[Persona]:
    """Read a folder's personas, in order of file names, or the one persona of a file.

    Raises:
        InputError: a file is not right, the folder holds none, or two personas have the same name.
    """
    path = Path(path)
    if not path.is_dir():
        return [load_persona(path)]
    paths = sorted(p for p in path.iterdir() if p.suffix.lower() in SUFFIXES and p.is_file())
    if not paths:
        raise InputError("the folder holds no persona file", where=str(path), remedy=f"Use {', '.join(SUFFIXES)}.")
    personas: dict[str, Persona] = {}
    for file in paths:
        persona = load_persona(file)
        if persona.name.casefold() in personas:
            raise InputError(
                f"another file already holds {persona.name!r}", where=f"{file}, field name", remedy="Rename one."
            )
        personas[persona.name.casefold()] = persona
    return list(personas.values())


def persona_in(document: Document, at: Location, base: Path) -> Persona:
    """The persona that a part of a document describes.

    Args:
        document: the file, or the data given in code.
        at: where in it the persona's mapping stands; () for all of it.
        base: the folder from which paths of fragments count.

    Raises:
        InputError: the data are no valid persona.
    """
    data: Any = document.data
    for part in at:
        data = data[part]
    if not isinstance(data, Mapping):
        raise InputError("a persona is a mapping", where=document.where(at), remedy="Write lines 'field: value'.")
    for key in data:
        if key not in valid_fields(Persona) and key != "include":
            raise InputError(
                f"unknown field {key!r}",
                where=document.where((*at, key)),
                remedy=suggestion(str(key), [*valid_fields(Persona), "include"]),
            )
    merged = merged_with_fragments(document, at, data, base)
    try:
        return Persona.model_validate(merged)
    except ValidationError as error:
        raise input_error(error, Persona, document, at) from None
