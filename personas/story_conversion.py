"""Converts a released story of AgentGroupChat (Gu et al. 2024), a folder of JSON files, into a scenario file.

Read from the released files, March 2024: `characters/C*.json`, `resources/R*.json`, and the text of the rules beside
them. Other parts of the folder are pictures, names of models, and a first line of history by a character who does not
exist; they are left out, and the report says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import yaml

from persimchat.personas.names import full_name
from persimchat.personas.scenario import make_scenario
from persimchat.state.document import Document, read_document, read_text
from persimchat.state.errors import InputError
from persimchat.state.plain_text import one_line
from persimchat.state.story import NOBODY

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
    people = _records(inner / "characters", "id_name")
    resources = _records(inner / "resources", "id_number", may_lack=True)
    names = {one.id: one.text("name") for one in (*people, *resources)}
    told: list[str] = []
    texts = _Texts(names, told)
    known = [one.text("name") for one in people]
    chosen = "" if decider is None else full_name(decider, known, what="character", where="--decider")
    rules, topic = _rules(folder, inner, texts, told)
    story: dict[str, Any] = {"first_impressions": False, "characters": {}, "resources": []}
    participants, goals = [], {}
    mains = [one.text("name") for one in people if one.truth("main_character")]
    for one in people:
        name = one.text("name")
        participants.append({"name": name, "description": texts.plain(one.text("scratch"), one)})
        if goal := texts.plain(one.text("objective", may_lack=True), one):
            goals[name] = [goal[:_LONGEST_GOAL]]
        if one.text("engine", may_lack=True) == "human":
            told.append(f"{name} is played by a person there; here a model takes the part, unless --human names them.")
        story["characters"][name] = _character(one, name, mains, texts, told, decides=name == chosen)
    for one in resources:
        made: dict[str, Any] = {"name": one.text("name")}
        if owner := one.text("owner", may_lack=True):
            if owner not in names:
                raise one.error("owner", f"no character has the id {owner}", "Correct the id.")
            made["owner"] = names[owner]
        made["influence"] = one.number("influence")
        topics = [texts.plain(part, one) for part in one.text("topic", may_lack=True).split(_SEPARATOR)]
        made |= {"topics": [part for part in topics if part]} if any(topics) else {}
        if description := texts.plain(one.text("description", may_lack=True), one):
            made["description"] = description
        story["resources"].append(made)
    settlement: dict[str, Any] = {"voters": "all"}
    if chosen:
        settlement["decider"] = chosen
    else:
        told.append(f"Nobody decides. In the released program {known[0]} does: --decider {known[0]!r} says so.")
    story["settlement"] = settlement
    told.append("Left out: names of models, portraits, judgements, and the first line of the history of actions.")
    data: dict[str, Any] = {"topic": topic, "participants": participants}
    data |= {"social_goals": goals} if goals else {}
    data |= {"rules": rules} if rules else {}
    data["story"] = story
    make_scenario(**data)  # refuses what a scenario file could not have
    text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=110)
    return Conversion(f"# Converted from {one_line(folder.resolve().name)}, a story of AgentGroupChat.\n{text}", told)


def _character(
    one: _Record, name: str, mains: list[str], texts: _Texts, told: list[str], *, decides: bool
) -> dict[str, Any]:
    """One character's part; whom a belief favours is inferred from the ids in its text."""
    made: dict[str, Any] = {"main": True} if one.truth("main_character") else {}
    if background := texts.plain(one.text("background", may_lack=True), one):
        made["known_as"] = background
    beliefs: list[dict[str, Any]] = []
    own = made.get("main", False) and not decides
    for text, score in one.mapping("belief"):
        if not isinstance(score, int) or isinstance(score, bool):
            raise one.error(f"belief.{text}", f"{score!r} is no whole number", "Give a number from 0 to 100.")
        plain = texts.plain(text, one)
        named = [names for i in dict.fromkeys(_ID.findall(text)) if (names := texts.names.get(i)) and names != name]
        favours = named[0] if len(named) == 1 else NOBODY
        if not named and own:  # the first one that names nobody is what a main character wants for itself
            favours, own = name, False
        beliefs.append({"text": plain, "score": score, "for": favours})
    if beliefs:
        made["beliefs"] = beliefs
        told.append(f"Whom {name}'s beliefs favour was inferred: " + ", ".join(str(b["for"]) for b in beliefs) + ".")
    closeness = {texts.name(i, one, "relation"): value for i, value in one.mapping("relation")}
    made |= {"closeness": closeness} if closeness else {}
    if supports := one.text("support_character", may_lack=True):
        chosen = texts.name(supports, one, "support_character")
        if chosen in mains and chosen != name:
            made["supports"] = chosen
        else:
            told.append(f"{name} supports {chosen} there, who is no other main character: left out.")
    return made


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
            rules.append(re.sub(r"^(?:\d+|[a-z])\.\s*", "", texts.plain(line, None))[:_LONGEST_RULE])
    told.append(f"Of {found.name}, the part on the process is left out: the released program works otherwise.")
    return rules, texts.plain(lines[0], None) if lines else one_line(folder.resolve().name)


class _Texts:
    """Puts names in the place of ids."""

    def __init__(self, names: Mapping[str, str], told: list[str]) -> None:
        self.names, self._told = names, told

    def plain(self, text: str, one: _Record | None) -> str:
        """A text on one line, with names for ids; unknown ids stay, and the report names them."""

        def named(found: re.Match[str]) -> str:
            if found[0] not in self.names:
                line = f"{found[0]}{f' in {one.path.name}' if one else ''} is nobody's id; it stays in the text."
                if line not in self._told:
                    self._told.append(line)
            return self.names.get(found[0], found[0])

        return one_line(_ID.sub(named, text)).strip()

    def name(self, identity: str, one: _Record, key: str) -> str:
        """The name of an id."""
        if identity not in self.names:
            raise one.error(key, f"no character has the id {identity}", "Correct the id.")
        return self.names[identity]


class _Record:
    """A JSON file of one character or resource."""

    def __init__(self, path: Path, key: str) -> None:
        self.path, self._document = path, read_document(path)
        self.id = self.text(key)

    def text(self, key: str, *, may_lack: bool = False) -> str:
        """A text.

        Raises:
            InputError: it is missing or no text.
        """
        value = self._document.data.get(key)
        if isinstance(value, str) and (value.strip() or may_lack):
            return value.strip()
        if value is None and may_lack:
            return ""
        what = f"{key} is {'missing' if value is None else 'empty' if value == '' else 'no text'}"
        raise self.error(key, what, "Give a text.")

    def truth(self, key: str) -> bool:
        """Whether a value is "True"."""
        return self.text(key, may_lack=True).casefold() == "true"

    def number(self, key: str) -> int:
        """A whole number, which may be written as a text."""
        value = self._document.data.get(key, 0)
        try:
            return int(str(value))
        except ValueError:
            raise self.error(key, f"{value!r} is no whole number", "Give one.") from None

    def mapping(self, key: str) -> Iterable[tuple[str, Any]]:
        """The entries of a mapping; none if it is missing."""
        value = self._document.data.get(key) or {}
        if not isinstance(value, Mapping):
            raise self.error(key, f"{key} is no mapping", "Write {…: …}.")
        return [(str(name), item) for name, item in value.items()]

    def error(self, key: str, what: str, remedy: str) -> InputError:
        """An error that names file and field."""
        return InputError(
            what, where=Document(self._document.data, str(self.path), self._document.lines).where((key,)), remedy=remedy
        )


def _records(folder: Path, key: str, *, may_lack: bool = False) -> list[_Record]:
    """The files of a folder, in order of their ids."""
    if not folder.is_dir() and not may_lack:
        raise InputError(
            "this is no released story: it has no such folder", where=str(folder), remedy="Give its folder."
        )
    found = [_Record(path, key) for path in sorted(folder.glob("*.json"))] if folder.is_dir() else []
    return sorted(found, key=attrgetter("id"))
