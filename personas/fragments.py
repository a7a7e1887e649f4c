"""Fragments: fields that several personas share (a village, a household, a profession), written once.

A persona file says `include: [name, …]`. Its own fields come first and override those of a fragment. Fragments may
include fragments.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from persimchat.state.document import Document, Location, read_document
from persimchat.state.errors import InputError, suggestion
from persimchat.state.persona import Characteristics, KnowledgeLevel, Memories, Text
from persimchat.state.validation_errors import input_error

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


def merged_with_fragments(
    document: Document, at: Location, data: Mapping[str, Any], base: Path, within: Path | None = None
) -> dict[str, Any]:
    """A persona's data with those of the fragments that it includes, `include` itself left out.

    Args:
        document: the data's document, for errors.
        at: where in the document.
        data: the persona's own data; they override the fragments'.
        base: the folder from which paths of fragments count.
        within: the folder below which files of fragments must lie; anywhere where it is None.

    Raises:
        InputError: a fragment is missing, invalid, or includes itself.
    """
    return _merged(document, at, data, base, within, ())


def _merged(
    document: Document,
    at: Location,
    data: Mapping[str, Any],
    base: Path,
    within: Path | None,
    chain: tuple[Path, ...],
) -> dict[str, Any]:
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
        merged = _joined(merged, _fragment(path, within, (*chain, path)))
    return merged


def _fragment(path: Path, within: Path | None, chain: tuple[Path, ...]) -> dict[str, Any]:
    document = read_document(path)
    try:
        fragment = Fragment.model_validate(document.data)
    except ValidationError as error:
        raise input_error(error, Fragment, document) from None
    given = fragment.model_dump(exclude_unset=True)
    return _merged(document, (), given, path.parent, within, chain)


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
