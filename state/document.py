"""Reads YAML and JSON files with the line of every value, so that an error can name it, and writes data as YAML.

Values are plain data: the safe loader's types only, without YAML 1.1's surprises. `no` and `off` stay text (pydantic
reads them as false if a field is a boolean), as do dates, times and numbers with a leading zero.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, Final

import yaml

from .errors import InputError

MAX_BYTES: Final = 1_000_000
"""The largest file that is read."""
MAX_VALUES: Final = 50_000
"""The most values in a file; an alias counts as often as it is used."""
_MAX_DEPTH: Final = 50

Location = tuple[str | int, ...]
"""Where a value stands: keys and indices from the root, for example ("participants", 2, "name")."""


class _Loader(yaml.SafeLoader):
    """The safe loader with the scalar types of YAML 1.2's core schema, except octal, hexadecimal, infinite and NaN."""

    yaml_implicit_resolvers: dict[str, Any] = {}


_MERGE: Final = "tag:yaml.org,2002:merge"
_NUMBER_STARTS = list("-+.0123456789")
for _tag, _pattern, _starts in (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", ["t", "T", "f", "F"]),
    ("int", r"^[-+]?(?:0|[1-9][0-9]{0,30})$", _NUMBER_STARTS),
    ("float", r"^[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]{0,30})(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,2})?$", _NUMBER_STARTS),
    ("merge", r"^<<$", ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _starts)


def dotted(location: Location) -> str:
    """A location as people write it: `participants[2].name`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return text.removeprefix(".")


@dataclass(frozen=True)
class Document:
    """Data and where it came from.

    Attributes:
        data: the mapping at the root.
        source: how errors name it: a path, "environment variable X"; may be empty.
        lines: line (from 1) of the values that have one.
    """

    data: Mapping[str, Any]
    source: str = ""
    lines: dict[Location, int] = field(default_factory=dict)

    def where(self, location: Location) -> str:
        """A place in words, `file.yaml:3, field name`; the line is that of the nearest enclosing value known."""
        known = next((location[:n] for n in range(len(location), -1, -1) if location[:n] in self.lines), None)
        source = f"{self.source}:{self.lines[known]}" if self.source and known is not None else self.source
        return ", ".join(part for part in (source, f"field {dotted(location)}" if location else "") if part)


def parse_value(text: str) -> Any:
    """The value that a piece of YAML stands for: `3`, `true`, `[a, b]`, `{Eva: offline}`.

    Raises:
        ValueError: the text is not YAML, or too large; the message says which.
    """
    try:
        return _parse_yaml(text, "")[0]
    except InputError as error:
        raise ValueError(error.what) from None


def table(module: str, name: str) -> Any:
    """The data of a YAML file that belongs to a module and lies beside it.

    Args:
        module: its `__file__`.
        name: of the file, from the module's folder.
    """
    path = str(Path(module).parent / name)
    text = SourceFileLoader(name, path).get_data(path)  # as modules are read, which may be imported in an event loop
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def read_document(path: Path, most: int = MAX_BYTES) -> Document:
    """Read a YAML or JSON file (JSON if its name ends in .json) that holds one mapping.

    Args:
        path: the file.
        most: the most bytes that it may have.

    Raises:
        InputError: the file cannot be read, is too large, not UTF-8, not well-formed, empty, or not a mapping; the
            error names file, line and column.
    """
    return document_in(read_text(path, most), str(path), json=path.suffix.lower() == ".json")


def document_in(text: str, source: str, *, json: bool = False) -> Document:
    """The document that a text of YAML or JSON holds.

    Args:
        text: with one mapping.
        source: how errors name it.
        json: whether it is JSON.

    Raises:
        InputError: the text is not well-formed, empty, or not a mapping.
    """
    if not text.strip():
        raise InputError("the file is empty", where=source, remedy="Write at least one line 'field: value'.")
    data, lines = _parse_json(text, source) if json else _parse_yaml(text, source)
    if data is None:
        raise InputError("the file holds nothing", where=source, remedy="Write at least one line 'field: value'.")
    if not isinstance(data, dict):
        kind = "a list" if isinstance(data, list) else "a single value"
        where = f"{source}:{lines.get((), 1)}"
        raise InputError(f"the file holds {kind}, not a mapping", where=where, remedy="Write lines 'field: value'.")
    return Document(data, source, lines)


def read_bytes(path: Path, most: int) -> bytes:
    """The bytes of a file.

    Args:
        path: the file.
        most: the most bytes that it may have.

    Raises:
        InputError: the file does not exist, is not a file, is too large, or cannot be read.
    """
    try:
        if not path.is_file():
            what = "this is not a file" if path.exists() else "there is no such file"
            raise InputError(what, where=str(path), remedy="Check the path; a relative one starts in this folder.")
        with path.open("rb") as file:
            raw = file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"the file cannot be read: {reason}", where=repr(str(path))[1:-1], remedy="Check path and permissions."
        ) from None
    if len(raw) > most:
        raise InputError("the file is too large", where=str(path), remedy=f"Keep it below {most:,} bytes.")
    return raw


def read_text(path: Path, most: int = MAX_BYTES) -> str:
    """The text of a file in UTF-8.

    Args:
        path: the file.
        most: the most bytes that it may have.

    Raises:
        InputError: the file does not exist, is not a file, is too large, cannot be read, or is not UTF-8.
    """
    raw = read_bytes(path, most)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError("the file is not UTF-8 text", where=f"{path}:{line}", remedy="Save it as UTF-8.") from None


def _parse_json(text: str, source: str) -> tuple[Any, dict[Location, int]]:
    def constant(name: str) -> Any:
        raise InputError(f"{name} is not a number in JSON", where=source, remedy="Write a finite number.")

    try:
        json.loads(text, parse_constant=constant)
    except json.JSONDecodeError as error:
        where = f"{source}:{error.lineno}:{error.colno}"
        raise InputError(
            f"this is not JSON: {error.msg}", where=where, remedy="Correct it there or just before."
        ) from None
    except (RecursionError, ValueError):  # ValueError: an integer of thousands of digits
        raise _too_much(source) from None
    # Well-formed JSON is YAML once tabs are gone (they only stand between values), pairs of surrogates are one
    # character, and other letters are escaped. So one reader finds lines and duplicate keys for both.
    plain = re.sub(
        r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})",
        lambda m: f"\\U{0x10000 + ((int(m[1], 16) & 0x3FF) << 10) + (int(m[2], 16) & 0x3FF):08x}",
        text.replace("\t", " "),
    )
    plain = plain.replace("\x7f", "\\x7f").encode("ascii", "backslashreplace").decode()
    return _parse_yaml(plain, source)


def _parse_yaml(text: str, source: str) -> tuple[Any, dict[Location, int]]:
    try:
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return None, {}
            lines: dict[Location, int] = {}
            _survey(root, (), lines, [0], source)
            return loader.construct_document(root), lines
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise InputError(
            "a control character is not allowed here",
            where=f"{source}:{line}" if source else "",
            remedy="Remove it.",
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise InputError(
            f"this is not well-formed YAML: {', '.join(part for part in (error.context, error.problem) if part)}",
            where=f"{source}{place}" if source else "",
            remedy="Check indentation, colons and quotes there or just before.",
        ) from None
    except (RecursionError, ValueError):
        raise _too_much(source) from None


def _survey(node: yaml.Node, at: Location, lines: dict[Location, int], count: list[int], source: str) -> None:
    """Record the line of every value; refuse duplicate keys, and data beyond the limits of size and depth."""
    count[0] += 1
    if count[0] > MAX_VALUES or len(at) > _MAX_DEPTH:
        raise _too_much(source)
    lines.setdefault(at, node.start_mark.line + 1)
    if isinstance(node, yaml.ScalarNode) and not node.value.isascii() and re.search("[\ud800-\udfff]", node.value):
        where = f"{source}:{node.start_mark.line + 1}" if source else ""
        raise InputError(
            "the text contains half of a Unicode character (a surrogate)",
            where=where,
            remedy="Write the character itself.",
        )
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _survey(item, (*at, index), lines, count, source)
    elif isinstance(node, yaml.MappingNode):
        seen: set[Hashable] = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                where = f"{source}:{line}" if source else ""
                raise InputError("a key is itself a list or mapping", where=where, remedy="Write a plain word.")
            if key.tag == _MERGE:
                _survey(value, (*at, "<<"), lines, count, source)
                continue
            key.tag = "tag:yaml.org,2002:str"  # names are text, also `1` and `true`
            if key.value in seen:
                raise InputError(
                    f"{key.value!r} is given twice",
                    where=f"{source}:{line}, field {dotted((*at, key.value))}" if source else "",
                    remedy="Keep one of the two.",
                )
            seen.add(key.value)
            lines[(*at, key.value)] = line
            _survey(value, (*at, key.value), lines, count, source)


def _too_much(source: str) -> InputError:
    return InputError(
        "the data is nested too deeply or holds too many values",
        where=source,
        remedy=f"Keep to {_MAX_DEPTH} levels and {MAX_VALUES:,} values; an alias counts as often as it is used.",
    )


_WIDTH: Final = 120


class Dumper(yaml.SafeDumper):
    """Indents lists under their key, as in handwritten YAML, and writes no anchors."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent also the items of a list."""
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        """Write everything out."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """A text; with line ends of Unicode in double quotes, since a reader takes them for spaces elsewhere."""
    style = '"' if any(end in text for end in "\x85\u2028\u2029") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


Dumper.add_representer(str, _text)

# YAML 1.1 in Python takes 1e3 and +.5 for text and our reader for numbers, so they are quoted.
Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"),
)


def yaml_text(data: Any, dumper: type[yaml.SafeDumper] = Dumper) -> str:
    """Plain data as the text of a YAML file, keys in their order.

    Args:
        data: mappings, lists, texts, numbers, true and false.
        dumper: writes also values of further types.
    """
    return yaml.dump(data, Dumper=dumper, allow_unicode=True, sort_keys=False, width=_WIDTH)
