"""Converts a released story of AgentGroupChat (Gu et al. 2024), a folder of JSON files, into a scenario file.

Read from the released files, March 2024: `characters/C*.json`, `resources/R*.json`, and the text of the rules beside
them. Other parts of the folder are pictures, names of models, and a first line of history by a character who does not
exist; they are left out, and the report says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, StrictInt

from ..state.document import Document, read_document, read_text
from ..state.errors import InputError
from ..state.plain_text import one_line
from ..state.stories.story import NOBODY
from .names import full_name, validated, wrong
from .scenario import make_scenario

_ID: Final = re.compile(r"\b[CR]\d{4}\b")
_SEPARATOR: Final = "[TOPIC_SEP]"
_RULES: Final = "*_rule_setting.txt"
_PROCESS: Final = re.compile(r"^\d+\.\s*(?:Game(?:play)? Process)\b", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"^\d+\.\s")
_LONGEST_RULE: Final = 1_000
_LONGEST_GOAL: Final = 1_000


@dataclass
class Conversion:
    """A converted story.

    Attributes:
        text: the scenario file.
        told: what was left out, inferred or not found, one sentence each.
    """

    text: str
    told: list[str] = field(default_factory=list)


def convert_story(folder: Path, *, decider: str | None = None) -> Conversion:
    """Convert a folder. Blocks.

    Args:
        folder: a released story, or its `initial_version`.
        decider: the name of who decides; None for nobody.

    Raises:
        InputError: something is missing or broken; the error names file and field.
    """
    inner = folder / "initial_version" if (folder / "initial_version").is_dir() else folder
    if not (inner / "characters").is_dir():
        where = str(inner / "characters")
        raise InputError("this is no released story: it has no such folder", where=where, remedy="Give its folder.")
    people, resources = _released(_Person, inner / "characters"), _released(_Resource, inner / "resources")
    told: list[str] = []
    names = {one.id: one.name for one in people} | {one.id: one.name for one in resources}
    texts = _Texts(names, told)
    known = [one.name for one in people]
    chosen = "" if decider is None else full_name(decider, known, what="character", where="--decider")
    rules, topic = _rules(folder, inner, texts, told)
    participants, goals, characters = [], {}, {}
    mains = [one.name for one in people if one.is_main]
    for one in people:
        participants.append({"name": one.name, "description": texts.plain(one.scratch, one.file)})
        if goal := texts.plain(one.objective, one.file):
            goals[one.name] = [goal[:_LONGEST_GOAL]]
        if one.engine == "human":
            told.append(f"{one.name} is played by a person there; here a model does, unless --human names them.")
        characters[one.name] = _character(one, mains, texts, told, decides=one.name == chosen)
    if not chosen:
        told.append(f"Nobody decides. In the released program {known[0]} does: --decider {known[0]!r} says so.")
    told.append("Left out: names of models, portraits, judgements, and the first line of the history of actions.")
    story = {
        "first_impressions": False,
        "characters": characters,
        "resources": [_resource(one, texts) for one in resources],
        "settlement": {"voters": "all", **({"decider": chosen} if chosen else {})},
    }
    data: dict[str, Any] = {"topic": topic, "participants": participants, "social_goals": goals, "rules": rules}
    data = {key: value for key, value in data.items() if value} | {"story": story}
    make_scenario(**data)  # refuses what a scenario file could not have
    text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=110)
    return Conversion(f"# Converted from {one_line(folder.resolve().name)}, a story of AgentGroupChat.\n{text}", told)


def _resource(one: _Resource, texts: _Texts) -> dict[str, Any]:
    topics = [texts.plain(part, one.file) for part in one.topic.split(_SEPARATOR)]
    made = {
        "name": one.name,
        "owner": texts.name(one.owner, one, "owner") if one.owner else "",
        "influence": one.influence,
        "topics": [part for part in topics if part],
        "description": texts.plain(one.description, one.file),
    }
    return {key: value for key, value in made.items() if value or key == "influence"}


def _character(one: _Person, mains: list[str], texts: _Texts, told: list[str], *, decides: bool) -> dict[str, Any]:
    """One character's part; whom a belief favours is inferred from the ids in its text."""
    beliefs: list[dict[str, Any]] = []
    own = one.is_main and not decides
    for text, score in one.belief.items():
        names = [texts.names.get(identity, "") for identity in dict.fromkeys(_ID.findall(text))]
        named = [name for name in names if name not in ("", one.name)]
        favours = named[0] if len(named) == 1 else NOBODY
        if not named and own:  # the first one that names nobody is what a main character wants for itself
            favours, own = one.name, False
        beliefs.append({"text": texts.plain(text, one.file), "score": score, "for": favours})
    if beliefs:
        told.append(f"Whom {one.name}'s beliefs favour was inferred: {', '.join(str(b['for']) for b in beliefs)}.")
    supports = texts.name(one.supports, one, "support_character") if one.supports else ""
    if supports and (supports not in mains or supports == one.name):
        told.append(f"{one.name} supports {supports} there, who is no other main character: left out.")
        supports = ""
    made = {
        "main": one.is_main,
        "known_as": texts.plain(one.background, one.file),
        "beliefs": beliefs,
        "closeness": {texts.name(i, one, "relation"): value for i, value in one.relation.items()},
        "supports": supports,
    }
    return {key: value for key, value in made.items() if value}


def _rules(folder: Path, inner: Path, texts: _Texts, told: list[str]) -> tuple[list[str], str]:
    """The rules without their part on the process, and the topic: the first sentence."""
    found = next((path for place in (folder, inner, inner.parent) for path in sorted(place.glob(_RULES))), None)
    if found is None:
        told.append("There is no text of rules; the topic is the folder's name.")
        return [], one_line(folder.resolve().name)
    lines = [line.strip() for line in read_text(found).splitlines() if line.strip()]
    rules: list[str] = []
    skips = False
    for line in lines[1:]:
        if _NUMBERED.match(line):
            skips = bool(_PROCESS.match(line))
        if not skips and not re.fullmatch(r"\d+\.[^.]*:", line):
            rules.append(re.sub(r"^(?:\d+|[a-z])\.\s*", "", texts.plain(line))[:_LONGEST_RULE])
    told.append(f"Of {found.name}, the part on the process is left out: the released program works otherwise.")
    return rules, texts.plain(lines[0]) if lines else one_line(folder.resolve().name)


class _Texts:
    """Puts names in the place of ids."""

    def __init__(self, names: Mapping[str, str], told: list[str]) -> None:
        self.names, self._told = names, told

    def plain(self, text: str, file: str = "") -> str:
        """A text on one line, with names for ids; unknown ids stay, and the report names them."""

        def named(found: re.Match[str]) -> str:
            if found[0] not in self.names:
                line = f"{found[0]}{f' in {file}' if file else ''} is nobody's id; it stays in the text."
                self._told += [line] if line not in self._told else []
            return self.names.get(found[0], found[0])

        return one_line(_ID.sub(named, text)).strip()

    def name(self, identity: str, one: _Released, key: str) -> str:
        """The name of an id."""
        if identity not in self.names:
            raise wrong(one._document, (key,), f"no character has the id {identity}", "Correct the id.")
        return self.names[identity]


def _is_true(value: Any) -> bool:
    return str(value).strip().casefold() == "true"


class _Released(BaseModel):
    """A JSON file of one character or resource."""

    model_config = ConfigDict(str_strip_whitespace=True)
    name: str = Field(min_length=1)
    _document: Document = PrivateAttr(Document({}))

    @property
    def file(self) -> str:
        """The file's name."""
        return Path(self._document.source).name


class _Person(_Released):
    """A character; "True" and "human" are texts there."""

    id: str = Field(validation_alias="id_name", min_length=1)
    is_main: Annotated[bool, BeforeValidator(_is_true)] = Field(False, validation_alias="main_character")
    scratch: str = Field(min_length=1)
    objective: str = ""
    background: str = ""
    engine: str = ""
    belief: dict[str, StrictInt] = {}
    relation: dict[str, Any] = {}
    supports: str = Field("", validation_alias="support_character")


class _Resource(_Released):
    """A resource."""

    id: str = Field(validation_alias="id_number", min_length=1)
    owner: str = ""
    influence: int = 0
    topic: str = ""
    description: str = ""


Kind = TypeVar("Kind", _Person, _Resource)


def _released(kind: type[Kind], folder: Path) -> list[Kind]:
    """The files of a folder, in order of their ids."""
    found: list[Kind] = []
    for path in sorted(folder.glob("*.json")):
        document = read_document(path)
        given = {key: value for key, value in document.data.items() if value is not None}
        found.append(validated(kind, given, document))
        found[-1]._document = document
    return sorted(found, key=attrgetter("id"))
