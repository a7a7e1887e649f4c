"""Reading foreign descriptions of people from files: tables, JSON, text and PDF, with LangChain's document loaders."""

from __future__ import annotations

import csv
import io
import json
import logging
import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from persimchat.personas.conversion.cards import card_in, card_text, check_length
from persimchat.personas.conversion.record import Form, Record, Refused, contents, raw_contents
from persimchat.state.errors import InputError, MissingExtraError
from persimchat.state.plain_text import one_line

_MOST_DEEP: Final = 100
_TOO_DEEP: Final = "Keep to 100 levels and to ordinary numbers."


def load_json(path: Path) -> list[Form]:
    """The ways to read a JSON file as records, the most literal first.

    These are: the whole as one record; a list's entries; the values of a mapping (a dump, by key); and the same for the
    only list or mapping inside the root, as in {"agents": [...]}. A character card is one record.

    Raises:
        InputError: it cannot be read, is not JSON, or has nothing that could be a record.
    """
    text = contents(path)
    root = _parsed(text, path, 1)
    card = card_in(root)
    if card is not None:
        check_length(text, str(path))
        return [Form((Record(path, data=card),))]
    forms = _forms(root, path)
    inner = [value for value in root.values() if isinstance(value, list | Mapping)] if isinstance(root, Mapping) else []
    if len(inner) == 1:
        forms += _forms(inner[0], path)[isinstance(inner[0], Mapping) :]
    if not forms:
        what = "the file lists no one" if root in ([], {}) else "the file holds no fields"
        raise InputError(
            what, where=str(path), remedy='A description is a mapping such as {"name": …}, or a list of such.'
        )
    return forms


def _picture(path: Path) -> list[Form]:
    """The character card in a PNG picture."""
    card = card_in(_parsed(card_text(path), path, 1))
    if card is None:
        remedy = "Export it again as a card of version 2 or 3."
        raise InputError("the text in the picture is no character card", where=str(path), remedy=remedy)
    return [Form((Record(path, data=card),))]


def load_json_lines(path: Path) -> list[Form]:
    """The records of a JSON Lines file, one per line.

    Raises:
        InputError: it cannot be read, or a line is not a JSON mapping.
    """
    records = []
    for number, line in enumerate(contents(path).split("\n"), start=1):
        if not line.strip():
            continue
        data = _parsed(line, path, number)
        if not isinstance(data, Mapping):
            raise InputError("the line is not a mapping", where=f"{path}:{number}", remedy='Write {"name": …} in it.')
        records.append(Record(path, line=number, data=data))
    return [Form(tuple(records))]


def _forms(data: Any, path: Path) -> list[Form]:
    """A list's entries; or a mapping as one record, then its values if all of them are mappings."""
    if isinstance(data, list):
        for number, entry in enumerate(data, start=1):
            if not isinstance(entry, Mapping):
                where = f"{path}, entry {number}"
                raise InputError("the entry is not a mapping", where=where, remedy='List mappings such as {"name": …}.')
        records = tuple(Record(path, f"entry {n}", data=entry) for n, entry in enumerate(data, start=1))
        return [Form(records)] if records else []
    if not isinstance(data, Mapping) or not data:
        return []
    forms = [Form((Record(path, data=data),))]
    if all(isinstance(value, Mapping) for value in data.values()):
        forms.append(Form(tuple(Record(path, f"entry {key!r}", data=value) for key, value in data.items()), mixed=True))
    return forms


def _parsed(text: str, path: Path, line: int) -> Any:
    """The value of a piece of JSON that begins in this line of the file."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        data = dict(found)
        if len(data) < len(found):
            keys = [key for key, _ in found]
            twice = next(key for key in keys if keys.count(key) > 1)
            where = f"{path}, field {twice}" if line == 1 else f"{path}:{line}, field {twice}"
            raise InputError("the field is given twice", where=where, remedy="Keep one of the two.")
        return data

    def constant(name: str) -> Any:
        raise InputError(f"{name} is not a number in JSON", where=str(path), remedy="Write a finite number.")

    try:
        data = json.loads(text, parse_constant=constant, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        where = f"{path}:{line + error.lineno - 1}:{error.colno}"
        raise InputError(
            f"this is not JSON: {error.msg}", where=where, remedy="Correct it there or just before."
        ) from None
    except (RecursionError, ValueError):  # ValueError: an integer of thousands of digits
        raise InputError(
            "the data is nested too deeply or has endless numbers", where=str(path), remedy=_TOO_DEEP
        ) from None
    if _depth(data) > _MOST_DEEP:
        raise InputError("the data is nested too deeply", where=str(path), remedy=_TOO_DEEP)
    return data


def _depth(data: Any) -> int:
    """Levels of lists and mappings, counted without recursion."""
    depth, level = 0, [data]
    while level:
        depth += 1
        level = [
            inner
            for value in level
            if isinstance(value, list | Mapping)
            for inner in (value.values() if isinstance(value, Mapping) else value)
        ]
    return depth


_DELIMITERS: Final = (",", ";", "\t", "|")


def load_table(path: Path) -> list[Form]:
    """The rows of a CSV file as records; the first row names the columns.

    The delimiter is the one of comma, semicolon, tab and bar that makes the most columns. A row that is longer than the
    first is refused; the others are read.

    Raises:
        InputError: it cannot be read, has no rows, two columns of one name, or only rows longer than the first.
    """
    # It imports much that is not needed elsewhere.
    from langchain_community.document_loaders import CSVLoader

    text = contents(path)
    delimiter = _delimiter(text, path)
    header, lines = _survey(text, delimiter, path)
    columns = [name.strip() or f"column {n}" for n, name in enumerate(header, start=1)]
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two columns are called {twice!r}", where=f"{path}:1", remedy="Give each a name of its own.")
    if not lines:
        raise InputError(
            "there is no row below the columns' names", where=str(path), remedy="Write one row for each person."
        )
    # All columns as metadata keep their values apart; what is left for the content is what the header does not name.
    loader = CSVLoader(
        path,
        metadata_columns=columns,
        csv_args={"fieldnames": columns, "delimiter": delimiter},
        encoding="utf-8-sig",
    )
    rows = loader.load()[1:]
    records, refused = [], []
    for line, row in zip(lines, rows, strict=True):
        if row.page_content:
            remedy = "Put a value that holds the delimiter in quotes."
            wrong = InputError(f"the row has more than {len(columns)} fields", where=f"{path}:{line}", remedy=remedy)
            refused.append(Refused(Record(path, line=line), wrong))
            continue
        data: dict[str, Any] = {name: row.metadata[name] or "" for name in columns}
        records.append(Record(path, line=line, data=data))
    if not records:
        raise refused[0].error
    return [Form(tuple(records), refused=tuple(refused))]


def _delimiter(text: str, path: Path) -> str:
    if path.suffix.lower() == ".tsv":
        return "\t"
    first = re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0]
    try:
        return max(_DELIMITERS, key=lambda d: len(next(csv.reader([first], delimiter=d), [])))
    except csv.Error as error:
        raise _no_csv(error, f"{path}:1") from None


def _survey(text: str, delimiter: str, path: Path) -> tuple[list[str], list[int]]:
    """The first row, and the lines in which the others begin; empty lines are none, as for the loader.

    It is strict where the loader is not: a quote that is never closed would swallow all rows below it.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    lines: list[int] = []
    begins = 1
    try:
        for row in reader:
            if row and not header:
                header = row
            elif row:
                lines.append(begins)
            begins = reader.line_num + 1
    except csv.Error as error:
        raise _no_csv(error, f"{path}:{begins}") from None
    return header, lines


def _no_csv(error: csv.Error, where: str) -> InputError:
    return InputError(f"this is not CSV: {error}", where=where, remedy="Check quotes there or just before.")


_LABEL: Final = re.compile(r"^[ \t]*([^\W\d_][^:\n]{0,39}?)[ \t]*:[ \t]*(.*)$")
_LABEL_WORDS: Final = 4
_NAMES: Final = ("name", "full name")
_PROSE: Final = "text"


def load(path: Path) -> list[Form]:
    """The ways to read a file as descriptions of people, the most literal first; at least one.

    Args:
        path: a file that ends in .csv, .tsv, .json, .jsonl, .txt, .md, .pdf or .png.

    Raises:
        MissingExtraError: it is a PDF, and the library that reads them is not installed.
        InputError: it cannot be read; naming file, line or entry, and remedy.
    """
    if path.is_dir():
        raise InputError(
            "this is a folder", where=str(path), remedy=f"Name the files in it, for example {path}/*.json."
        )
    loader = _LOADERS.get(path.suffix.lower())
    if loader is None:
        persona = path.suffix.lower() in (".yaml", ".yml")
        remedy = "A persona file needs no conversion: give it to run." if persona else f"Use {', '.join(_LOADERS)}."
        raise InputError("files of this kind cannot be converted", where=str(path), remedy=remedy)
    return loader(path)


def _text(path: Path) -> list[Form]:
    """Lines such as `Name: …` as fields, one record for every name; any other text as a single record of text."""
    from langchain_community.document_loaders import TextLoader

    contents(path)  # names the line with the wrong encoding
    text = TextLoader(path, encoding="utf-8-sig").load()[0].page_content
    labelled = _labelled(text, path)
    return [Form(tuple(labelled)), *_whole(text, path)] if labelled else _whole(text, path)


def _pdf(path: Path) -> list[Form]:
    raw_contents(path)  # the loader would take a missing file for an address, and fetch it
    if find_spec("pypdf") is None:
        raise MissingExtraError(f"reading the PDF {path}", "pdf")
    from langchain_community.document_loaders import PyPDFLoader

    remedy = "Save it again from the program that made it, or save its text as a .txt file."
    log = logging.getLogger("pypdf")
    level = log.level
    log.setLevel(logging.CRITICAL)  # the library would report every irregularity of the file on standard error
    try:
        text = PyPDFLoader(path.resolve(), mode="single", pages_delimiter="\n").load()[0].page_content
    except Exception as error:  # the library raises many kinds of errors for a broken file
        what = f"the PDF cannot be read: {one_line(str(error)) or type(error).__name__}"
        raise InputError(what, where=str(path), remedy=remedy) from error
    finally:
        log.setLevel(level)
    if not text.strip():
        raise InputError(
            "the PDF holds no text; it may be scanned", where=str(path), remedy="Save its text as a .txt file."
        )
    return _whole(text, path)


def _whole(text: str, path: Path) -> list[Form]:
    return [Form((Record(path, written=text),))]


def _labelled(text: str, path: Path) -> list[Record]:
    """Records of labelled lines; none if the text does not begin with a name: then a model must read it.

    A line without a label continues the value above it or, after an empty line, belongs to the field "text". Every
    further name begins another record.
    """
    if text.lstrip().partition(":")[0].casefold() not in _NAMES:
        return []
    records: list[Record] = []
    fields: dict[str, str] = {}
    label = _PROSE
    for number, line in enumerate(text.split("\n"), start=1):
        found = _LABEL.match(line)
        if found and len(found[1].split()) <= _LABEL_WORDS:
            label, words = found[1], found[2]
            if label.casefold() in _NAMES:
                fields = {}
                records.append(Record(path, line=number, data=fields))
        elif line.strip():
            words = line
        else:
            label = _PROSE
            continue
        fields[label] = f"{fields.get(label, '')} {words.strip()}".strip()
    return records


_LOADERS: Final[dict[str, Callable[[Path], list[Form]]]] = {
    ".csv": load_table,
    ".tsv": load_table,
    ".json": load_json,
    ".jsonl": load_json_lines,
    ".txt": _text,
    ".md": _text,
    ".pdf": _pdf,
    ".png": _picture,
}
