"""The shipped personas, and the search for a persona by name or path."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from persimchat.personas.files import is_path, load_persona
from persimchat.personas.fragments import file_within
from persimchat.personas.names import nearest
from persimchat.state.errors import InputError
from persimchat.state.names import matching
from persimchat.state.normalise import folded
from persimchat.state.persona import Persona

SHIPPED: Final = Path(__file__).parent / "shipped"
"""The folder of the personas that come with the package."""

ORDER: Final = (
    "jarmila-dvorackova",
    "adebayo-oladele",
    "ines-quiroga",
    "lukasz-zorawski",
    "zeynep-aydogan",
    "ha-nguyen",
    "joao-conceicao",
    "inigo-etxeberria",
    "chen-zhiming",
    "rowan-o-dalaigh",
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
