"""Reading personas: from YAML and JSON files, the shipped ones, and a search by name or path.

A persona file may say `include: [name, …]`. Fragments hold fields that several personas share (a village, a household,
a profession), written once; they may include fragments. A persona's own fields come first and override a fragment's.
Every error names file, line, field and remedy.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from ..state.document import Document, Location, read_document
from ..state.errors import InputError, suggestion
from ..state.persona import Characteristics, KnowledgeLevel, Memories, Persona, Text
from ..state.plain_text import folded, matching
from ..state.validation_errors import refuse_unknown, valid_fields
from .names import nearest, validated, wrong

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
        raise wrong(document, at, "a persona is a mapping", "Write lines 'field: value'.")
    refuse_unknown(document, at, data, [*valid_fields(Persona), "include"])
    return validated(Persona, _merged(document, at, data, base, within, ()), document, at)


# Fragments

SHIPPED_FRAGMENTS: Final = Path(__file__).parent / "fragments"
"""The folder of the fragments that come with the package."""


class Fragment(BaseModel):
    """Part of a persona: any of its fields but the name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    include: str | list[str] = Field(default_factory=list, description="fragments that this one includes")
    description: Text | None = Field(default=None, description="used if the persona has no description of its own")
    characteristics: Characteristics = Field(default_factory=dict, description="characteristics as name: value")
    traits: list[Text] = Field(default_factory=list, description="traits of character")
    knowledge: KnowledgeLevel | dict[str, KnowledgeLevel] | None = Field(
        default=None, description="knowledge level 0–5, overall or per field"
    )
    speaking_style: Text | None = Field(default=None, description="how these people talk")
    social_goals: list[Text] = Field(default_factory=list, description="what these people want from others")
    memories: Memories = Field(default_factory=list, description="what these people remember")


def _merged(
    document: Document,
    at: Location,
    data: Mapping[str, Any],
    base: Path,
    within: Path | None,
    chain: tuple[Path, ...],
) -> dict[str, Any]:
    """A persona's data with those of the fragments that it includes; `chain` is of the fragments on the way there.

    Raises:
        InputError: a fragment is missing, invalid, or includes itself.
    """
    merged = {key: value for key, value in data.items() if key != "include"}
    included = data.get("include") or []
    place = document.where((*at, "include"))
    names = [included] if isinstance(included, str) else included
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("include is not a list of names", where=place, remedy="Write include: [name, other-name].")
    for name in names:
        path = _path(name, base, within, place)
        if path in chain:
            loop = " → ".join(p.name for p in (*chain[chain.index(path) :], path))
            raise InputError(f"fragments include each other in a circle: {loop}", where=place, remedy="Break it.")
        shared = read_document(path)
        given = validated(Fragment, shared.data, shared).model_dump(exclude_unset=True)
        merged = _joined(merged, _merged(shared, (), given, path.parent, within, (*chain, path)))
    return merged


def file_within(name: str, base: Path, within: Path | None) -> Path | None:
    """The file that a relative path means; None if there is none, or if it does not lie below a folder.

    Args:
        name: the path.
        base: the folder from which it counts.
        within: the folder below which the file must lie, links followed; anywhere where it is None.
    """
    try:
        path = (base / name).resolve()
        outside = within is not None and not path.is_relative_to(within.resolve())
        return None if outside or not path.is_file() else path
    except (OSError, ValueError, RuntimeError):  # a name too long, a null character, links in a circle
        return None


def _path(name: str, base: Path, within: Path | None, place: str) -> Path:
    """The file of a fragment: a shipped one by its name, else a path from the including file's folder."""
    shipped = {p.stem: p for p in sorted(SHIPPED_FRAGMENTS.glob("*.yaml"))}
    key = name.strip().replace("-", "_")
    if key in shipped:
        return shipped[key].resolve()
    path = file_within(name, base, within)
    if path is not None:
        return path
    raise InputError(f"there is no fragment {name!r}", where=place, remedy=suggestion(key, shipped))


def _joined(own: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Two sets of a persona's fields as one: own values override, mappings and lists are joined, own entries first.

    Values of the wrong type are left as they are; the validator refuses them.
    """
    joined = dict(own)
    for key, value in other.items():
        mine = own.get(key)
        if mine is None:
            joined[key] = value
        elif isinstance(mine, Mapping) and isinstance(value, Mapping):
            known = {str(k).casefold() for k in mine}
            joined[key] = {**mine, **{k: v for k, v in value.items() if k.casefold() not in known}}
        elif isinstance(mine, list) and isinstance(value, list):
            joined[key] = [*mine, *(item for item in value if item not in mine)]
    return joined


# The shipped personas

SHIPPED: Final = Path(__file__).parent / "shipped"
"""The folder of the personas that come with the package."""

ORDER: Final = (
    *("jarmila-dvorackova", "adebayo-oladele", "ines-quiroga", "lukasz-zorawski", "zeynep-aydogan"),
    *("ha-nguyen", "joao-conceicao", "inigo-etxeberria", "chen-zhiming", "rowan-o-dalaigh"),
)
"""The shipped personas' slugs (their files' names), most different tempers first; the first four are the default."""


@cache
def _shipped() -> dict[str, Persona]:
    return {slug: load_persona(SHIPPED / f"{slug}.yaml") for slug in ORDER}


def shipped() -> list[Persona]:
    """The ten shipped personas, always in the same order."""
    return list(_shipped().values())


@cache
def judge_persona() -> Persona:
    """The persona of the judge with a mind; it is no participant, and not among the shipped personas."""
    return load_persona(Path(__file__).parent / "judge.yaml")


def find_persona(name_or_path: str, base: Path | None = None, *, where: str = "") -> Persona:
    """A shipped persona by name, or one from a file.

    Args:
        name_or_path: a full name, a first name or surname, or a slug, in any case and with or without diacritics; or
            the path of a persona file (it ends in .yaml, .yml or .json, or has a slash).
        base: the folder from which a path counts; the current one where it is None.
        where: the place in words where the name was written, for the error.

    Raises:
        InputError: no persona or several have this name; or the file is invalid.
    """
    wanted = name_or_path.strip()
    if is_path(wanted):
        path = (base or Path()) / wanted
        if where and file_within(wanted, base or Path(), None) is None:
            raise InputError(f"there is no persona file {str(path)!r}", where=where, remedy="Check the path.")
        return load_persona(path)
    by_name = {persona.name: persona for persona in shipped()}
    by_slug = {folded(slug): persona for slug, persona in _shipped().items()}
    found = matching(wanted, list(by_name)) or [by_slug[key].name for key in matching(wanted, list(by_slug))]
    if len(found) == 1:
        return by_name[found[0]]
    if found:
        raise InputError(f"{wanted!r} may be {' or '.join(found)}", where=where, remedy="Write the full name.")
    raise InputError(f"there is no shipped persona {wanted!r}", where=where, remedy=nearest(wanted, list(by_name)))
