"""The phrase material: YAML files beside this one, read once.

A list of phrases is a block of lines. A line of a theme is `position | clause | gist`; a line from a persona's life
is `sentence | gist`. A *clause* is a main clause that can stand alone or after "I'd say"; a *gist* is the noun phrase
by which others refer to it later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@dataclass(frozen=True)
class Point:
    """Something that can be said on a topic.

    Attributes:
        tag: letter of the position that it supports, "-" if none.
        text: the clause.
        gist: a noun phrase for it; empty if it has none.
    """

    tag: str
    text: str
    gist: str


@dataclass(frozen=True)
class Theme:
    """The phrase material for a kind of topic.

    Attributes:
        name: its key in the file.
        head: the subject, a phrase that fits after "about"; empty if the topic supplies it.
        match: matches topics of this theme.
        positions: letter to noun phrase, in their order on the line of opinions.
        points: what can be said.
        child: whole sentences for a child.
    """

    name: str
    head: str
    match: re.Pattern[str]
    positions: dict[str, str]
    points: tuple[Point, ...]
    child: tuple[str, ...]


def lines(block: str) -> tuple[str, ...]:
    """The lines of a block that are not empty."""
    return tuple(line.strip() for line in block.splitlines() if line.strip())


@cache
def read(name: str) -> dict[str, Any]:
    """One file of phrase material."""
    text = (files("persimchat.models.offline") / f"{name}.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return data


def _point(line: str) -> Point:
    tag, text, gist = (part.strip() for part in f"{line} | |".split("|")[:3])
    return Point(tag, text, gist)


@cache
def themes(name: str) -> dict[str, Theme]:
    """The themes of one file."""
    return {
        key: Theme(
            name=key,
            head=entry.get("head", ""),
            match=re.compile(rf"\b(?:{entry.get('match', '(?!)')})", re.IGNORECASE),
            positions=dict(entry.get("positions", {})),
            points=tuple(_point(line) for line in lines(entry["points"])),
            child=lines(entry.get("child", "")),
        )
        for key, entry in read(name).items()
    }


@cache
def deck(file: str, *keys: str) -> tuple[str, ...]:
    """A list of phrases, by its file and keys."""
    entry: Any = read(file)
    for key in keys:
        entry = entry[key]
    return lines(entry)


@cache
def word_list(name: str) -> frozenset[str]:
    """A set of single words from `words.yaml`."""
    return frozenset(read("words")[name].split())


@cache
def word_pattern(name: str) -> re.Pattern[str]:
    """A pattern of word beginnings from `patterns` in `words.yaml`."""
    return re.compile(rf"\b(?:{read('words')['patterns'][name]})", re.IGNORECASE)


@cache
def patterns(file: str, key: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The `match` patterns of a file's entries under `key`, in their order."""
    return tuple(
        (name, re.compile(rf"\b(?:{entry['match']})", re.IGNORECASE)) for name, entry in read(file)[key].items()
    )
