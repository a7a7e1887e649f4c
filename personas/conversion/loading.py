"""Reading foreign descriptions of people from files: tables, JSON, text, character cards, and PDF with LangChain."""

from __future__ import annotations

import base64
import csv
import io
import json
import logging
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from ...state.document import read_bytes, read_text
from ...state.errors import InputError, MissingExtraError
from ...state.plain_text import folded, one_line, quoted

MAX_BYTES: Final = 20_000_000
"""The largest file of descriptions that is read: some thousands of people."""
MAX_PICTURE: Final = 4_000_000
"""The largest picture that is read, in bytes."""
MAX_TEXT: Final = 256 * 1024
"""The longest text of a card, in bytes."""
MARK: Final = "character card"
"""The field that a card's record has beside its own: which version it is."""
TAKEN: Final = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_KEYWORDS: Final = ("ccv3", "chara")
"""The keywords of V3 and V2; a V3 card often holds both, for older programs."""
_LONGEST_NAME: Final = 300
_SELF: Final = re.compile(r"\{\{\s*(?:char|charIfNotGroup)\s*\}\}|<(?:BOT|CHAR)>", re.IGNORECASE)
_OTHER: Final = re.compile(r"\{\{\s*user\s*\}\}|<USER>", re.IGNORECASE)
_NO_WORDS: Final = re.compile(r"\{\{\s*(?://[^{}]*|trim|noop|newline)\s*\}\}", re.IGNORECASE)
_MACRO: Final = re.compile(r"\{\{[^{}]*\}\}")
_CARD_REMEDY: Final = "Export the card again, as JSON if the program can."
_MOST_DEEP: Final = 100
_TOO_DEEP: Final = "Keep to 100 levels and to ordinary numbers."
_DELIMITERS: Final = (",", ";", "\t", "|")
_LABEL: Final = re.compile(r"^[ \t]*([^\W\d_][^:\n]{0,39}?)[ \t]*:[ \t]*(.*)$")
_LABEL_WORDS: Final = 4
_NAMES: Final = ("name", "full name")
_PROSE: Final = "text"
_SHOWN: Final = 60
_NAMED: Final = re.compile(r"\b(?:name|jmeno|respondent|participant|person)\b")


@dataclass(frozen=True)
class Record:
    """One foreign description: its fields, or only its text, and its place in the file.

    Attributes:
        file: the file.
        place: its place in the file, in words ("entry 3"); empty if the line says it, or for the whole file.
        line: its first line, from 1; None if unknown.
        data: its fields; empty if there is only text.
        written: the text, if there are no fields.
        notes: what was found in it that is not used, one line each.
    """

    file: Path
    place: str = ""
    line: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    written: str = ""
    notes: tuple[str, ...] = ()

    @property
    def is_one_of_several(self) -> bool:
        """Whether the file may hold other descriptions beside it, as a table does."""
        return bool(self.place or self.line)

    @property
    def text(self) -> str:
        """All of it as text, for a model to read."""
        return self.written or json.dumps(self.data, ensure_ascii=False, indent=1)

    def where(self, path: str = "") -> str:
        """The place in words: `people.csv:7, field age`."""
        source = f"{self.file}:{self.line}" if self.line is not None else str(self.file)
        return ", ".join(part for part in (source, self.place, f"field {path}" if path else "") if part)


@dataclass(frozen=True)
class Refused:
    """A row or entry of which no persona can be made, and what is wrong with it."""

    record: Record
    error: InputError


@dataclass(frozen=True)
class Form:
    """One way to read a file as records: the whole as one, or the entries of a list.

    Attributes:
        records: the descriptions, in the file's order.
        mixed: whether it may hold other things besides descriptions of people, like a database's dump.
        refused: the rows that cannot be read, or do not fit their columns.
        skipped: how many rows describe nobody: second headings of a survey's export, totals.
    """

    records: tuple[Record, ...]
    mixed: bool = False
    refused: tuple[Refused, ...] = ()
    skipped: int = 0


def load(path: Path) -> list[Form]:
    """The ways to read a file as descriptions of people, the most literal first; at least one.

    Args:
        path: a file that ends in .csv, .tsv, .json, .jsonl, .txt, .md, .pdf or .png.

    Raises:
        MissingExtraError: it is a PDF, and the library that reads them is not installed.
        InputError: it cannot be read; naming file, line or entry, and remedy.
    """
    if path.is_dir():
        remedy = f"Name the files in it, for example {path}/*.json."
        raise InputError("this is a folder", where=str(path), remedy=remedy)
    loader = _LOADERS.get(path.suffix.lower())
    if loader is None:
        persona = path.suffix.lower() in (".yaml", ".yml")
        remedy = "A persona file needs no conversion: give it to run." if persona else f"Use {', '.join(_LOADERS)}."
        raise InputError("files of this kind cannot be converted", where=str(path), remedy=remedy)
    return loader(path)


def _contents(path: Path) -> str:
    text = read_text(path, MAX_BYTES)
    if not text.strip():
        raise InputError("the file is empty", where=str(path), remedy="Name a file that describes a person.")
    return text


def _one(path: Path, **given: Any) -> list[Form]:
    return [Form((Record(path, **given),))]


def _json(path: Path) -> list[Form]:
    """The whole as one record; a list's entries; the values of a mapping (a dump, by key).

    The same for the only list or mapping inside the root, as in {"agents": [...]}. A character card is one record.
    """
    text = _contents(path)
    root = _parsed(text, path)
    card = card_in(root)
    if card is not None:
        check_length(text.encode(), str(path))
        return _one(path, data=card, notes=_macros(card))
    forms = _forms(root, path)
    inner = [value for value in root.values() if isinstance(value, list | Mapping)] if isinstance(root, Mapping) else []
    if len(inner) == 1:
        forms += _forms(inner[0], path)[isinstance(inner[0], Mapping) :]
    if not forms:
        what = "the file lists no one" if root in ([], {}) else "the file holds no fields"
        remedy = 'A description is a mapping such as {"name": …}, or a list of such.'
        raise InputError(what, where=str(path), remedy=remedy)
    return forms


def _picture(path: Path) -> list[Form]:
    """The character card in a PNG picture."""
    held = card_texts(path)
    card = card_in(_parsed(held[0], path))
    if card is None:
        remedy = "Export it again as a card of version 2 or 3."
        raise InputError("the text in the picture is no character card", where=str(path), remedy=remedy)
    more = ["the picture holds a second card, which is not read: the first counts"] if len(held) > 1 else []
    return _one(path, data=card, notes=(*more, *_macros(card)))


def _json_lines(path: Path) -> list[Form]:
    records = []
    for number, line in enumerate(_contents(path).split("\n"), start=1):
        if line.strip():
            data = _parsed(line, path, number)
            if not isinstance(data, Mapping):
                where = f"{path}:{number}"
                raise InputError("the line is not a mapping", where=where, remedy='Write {"name": …} in it.')
            records.append(Record(path, line=number, data=data))
    return [Form(tuple(records))]


def _forms(data: Any, path: Path) -> list[Form]:
    """A list's entries; or a mapping as one record, then its values if all of them are mappings."""

    def entries(found: Iterable[tuple[object, Any]]) -> tuple[Record, ...]:
        return tuple(Record(path, f"entry {key}", data=entry) for key, entry in found)

    if isinstance(data, list):
        wrong = next((n for n, entry in enumerate(data, start=1) if not isinstance(entry, Mapping)), None)
        if wrong is not None:
            remedy = 'List mappings such as {"name": …}.'
            raise InputError("the entry is not a mapping", where=f"{path}, entry {wrong}", remedy=remedy)
        return [Form(entries(enumerate(data, start=1)))] if data else []
    if not isinstance(data, Mapping) or not data:
        return []
    dump = all(isinstance(value, Mapping) for value in data.values())
    by_key = [Form(entries((repr(key), value) for key, value in data.items()), mixed=True)] if dump else []
    return _one(path, data=data) + by_key


def _parsed(text: str, path: Path, line: int = 1) -> Any:
    """The value of a piece of JSON that begins in this line of the file."""
    twice: list[tuple[dict[str, Any], str]] = []
    endless: list[str] = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(found)
        if len(made) < len(found):
            twice.extend((made, key) for key, n in Counter(key for key, _ in found).items() if n > 1)
        return made

    def constant(name: str) -> float:
        endless.append(name)
        return float(name)

    what = "the data is nested too deeply or has endless numbers"
    try:
        data = json.loads(text, parse_constant=constant, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        where = f"{path}:{line + error.lineno - 1}:{error.colno}"
        remedy = "Correct it there or just before."
        raise InputError(f"this is not JSON: {error.msg}", where=where, remedy=remedy) from None
    except (RecursionError, ValueError):  # ValueError: an integer of thousands of digits
        raise InputError(what, where=str(path), remedy=_TOO_DEEP) from None
    level, depth = [data], 0
    while level:  # without recursion
        depth += 1
        nested = [value for value in level if isinstance(value, list | dict)]
        level = [inner for value in nested for inner in (value.values() if isinstance(value, dict) else value)]
    if depth > _MOST_DEEP:
        raise InputError("the data is nested too deeply", where=str(path), remedy=_TOO_DEEP)
    fields = _card_fields(data)[1]  # a card's faults count only where it is taken
    for made, key in twice:
        if fields is None or (made is fields and key in TAKEN) or (made is data and key in ("spec", "data")):
            where = f"{path}, field {key}" if line == 1 else f"{path}:{line}, field {key}"
            raise InputError("the field is given twice", where=where, remedy="Keep one of the two.")
    taken = [value for key in TAKEN if isinstance(value := (fields or {}).get(key), float)]
    if endless and (fields is None or any(not math.isfinite(value) for value in taken)):
        raise InputError(f"{endless[0]} is not a number in JSON", where=str(path), remedy="Write a finite number.")
    return data


# Character cards (V2, V3, and V1's fields): the text that a PNG picture holds, and its fields. Only six fields are
# taken from a card. Everything else in it, such as instructions to a model, lore, greetings and scripts of extensions,
# stays where it is and is listed as left out.


def card_texts(path: Path) -> list[str]:
    """The JSON texts of the cards in a PNG picture, the one that counts first: V3 before V2, then the earlier.

    Raises:
        InputError: the file cannot be read, is larger than `MAX_PICTURE`, is no PNG or a damaged one, holds no card,
            or one that is compressed, too long or not text.
    """
    where = str(path)

    def refused(what: str, remedy: str = _CARD_REMEDY) -> InputError:
        return InputError(what, where=where, remedy=remedy)

    held: dict[str, list[bytes]] = {}
    for kind, data, is_whole in _chunks(read_bytes(path, MAX_PICTURE), refused):
        keyword, _, written = data.partition(b"\0")
        name = keyword.decode("latin-1").lower()
        if kind not in (b"tEXt", b"zTXt", b"iTXt") or name not in _KEYWORDS:
            continue
        if kind == b"zTXt" or (kind == b"iTXt" and written[:1] != b"\0"):
            raise refused("the card is compressed, which is not read")
        if not is_whole:
            raise refused("the card's checksum is wrong: the file is damaged")
        # an iTXt part has its language and its keyword's translation before the text
        written = written if kind == b"tEXt" else b"\0".join(written[2:].split(b"\0")[2:])
        if written not in held.setdefault(name, []):
            held[name].append(written)
    found = next((held[name] for name in _KEYWORDS if name in held), None)
    if found is None:
        remedy = "Name a picture that was exported as a character card, or the card as JSON."
        raise refused("the picture holds no character card", remedy)
    return [_decoded(one, refused, where) for one in found[:2]]


def _decoded(written: bytes, refused: Callable[..., InputError], where: str) -> str:
    """The text of a card, which programs write as Base64 in one or several lines, or as it is."""
    check_length(written[: MAX_TEXT * 2], where, MAX_TEXT * 4 // 3 + MAX_TEXT // 32)  # before it is decoded
    joined = b"".join(written.split())
    try:
        is_json = joined.startswith(b"{")
        text = written if is_json else base64.b64decode(joined + b"=" * (-len(joined) % 4), validate=True)
        check_length(text, where)
        return text.decode("utf-8-sig")
    except ValueError:
        raise refused("the card in the picture is not text") from None


def _chunks(raw: bytes, refused: Callable[..., InputError]) -> Iterator[tuple[bytes, bytes, bool]]:
    """The parts of a PNG with their kinds, and whether their checksums are right; nothing is decompressed.

    A PNG begins with a header and ends with an end.
    """
    if not raw.startswith(_SIGNATURE):
        raise refused("this is no PNG picture", "Name a PNG picture, or the card as JSON.")
    at, kind = len(_SIGNATURE), b""
    while kind != b"IEND":
        first, kind = not kind, raw[at + 4 : at + 8]
        end = at + 12 + int.from_bytes(raw[at : at + 4])
        if end > len(raw) or not kind.isalpha() or first != (kind == b"IHDR"):
            raise refused("the PNG picture is damaged, or was cut off")
        data = raw[at + 8 : end - 4]
        yield kind, data, zlib.crc32(kind + data) == int.from_bytes(raw[end - 4 : end])
        at = end


def check_length(text: bytes, where: str, most: int = MAX_TEXT) -> None:
    """Refuse the text of a card that is too long.

    Raises:
        InputError: it has more bytes than `most`.
    """
    if len(text) > most:
        what = f"the card's text is longer than {MAX_TEXT // 1024} KiB"
        raise InputError(what, where=where, remedy="Remove its lore book or extensions.")


def card_in(root: Any) -> dict[str, Any] | None:
    """The fields of a card, with `MARK`; None if a value from a JSON file is no card.

    In the six fields that are taken, the placeholders of the character's and the user's name are filled in.
    """
    version, fields = _card_fields(root)
    if fields is None:
        return None
    card = {str(key): value for key, value in fields.items()}
    name = fields.get("name")
    if isinstance(name, str) and len(name) <= _LONGEST_NAME:
        taken = {key: _NO_WORDS.sub("", card[key]) for key in TAKEN if isinstance(card.get(key), str)}
        card |= {key: _OTHER.sub("the other", _SELF.sub(lambda _: name, text)) for key, text in taken.items()}
    return {**card, MARK: version}


def _card_fields(root: Any) -> tuple[str, Mapping[str, Any] | None]:
    """A card's version and fields; None in place of the fields if a value is no card."""
    if not isinstance(root, Mapping):
        return "", None
    version = root.get("spec")
    if isinstance(version, str) and version.startswith("chara_card_v"):
        fields = root.get("data")
        return version, fields if isinstance(fields, Mapping) else None
    return "chara_card_v1", root if all(key in root for key in TAKEN) else None


def _macros(card: Mapping[str, Any]) -> tuple[str, ...]:
    """A note on the macros in what is taken that are not understood; empty if there are none."""
    found = dict.fromkeys(one for key in TAKEN if isinstance(card.get(key), str) for one in _MACRO.findall(card[key]))
    shown = quoted(", ".join(found), _SHOWN * 2)[1:-1]
    return (f"macros that are not understood stay as they are: {shown}",) if found else ()


# Tables and text


def load_table(path: Path) -> list[Form]:
    """The rows of a CSV file as records; the first row names the columns.

    The delimiter is the one of comma, semicolon, tab and bar that makes the most columns. A row that is longer than the
    first is refused, and so is one of the first two or the last that has words in a column of numbers; the others are
    read. Second headings of a survey's export and rows of totals are skipped.

    Raises:
        InputError: it cannot be read, has no rows, two columns of one name, or only rows longer than the first.
    """
    (_, header), *rows = _rows(_contents(path), path)
    columns = [name.strip() or f"column {n}" for n, name in enumerate(header, start=1)]
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two columns are called {twice!r}", where=f"{path}:1", remedy="Give each a name of its own.")
    if not rows:
        remedy = "Write one row for each person."
        raise InputError("there is no row below the columns' names", where=str(path), remedy=remedy)
    records, refused = [], []
    people = [(line, row) for n, (line, row) in enumerate(rows) if not _describes_nobody(columns, row, n, rows)]
    for n, (line, row) in enumerate(people):
        unfit = _unfit(columns, n, [cells for _, cells in people])
        if unfit is not None:
            remedy = "Remove the row if it describes nobody (a heading, a total); else correct the value."
            what = f"{quoted(row[unfit], _SHOWN)} does not fit the column {columns[unfit]}, which has numbers"
            refused.append(Refused(Record(path, line=line), InputError(what, where=f"{path}:{line}", remedy=remedy)))
        elif len(row) > len(columns):
            remedy = "Put a value that holds the delimiter in quotes."
            wrong = InputError(f"the row has more than {len(columns)} fields", where=f"{path}:{line}", remedy=remedy)
            refused.append(Refused(Record(path, line=line), wrong))
        else:
            records.append(Record(path, line=line, data=dict(zip_longest(columns, row, fillvalue=""))))
    if refused and not records:
        raise refused[0].error
    if not records:
        raise InputError("no row describes a person", where=str(path), remedy="Write one row for each person.")
    return [Form(tuple(records), refused=tuple(refused), skipped=len(rows) - len(people))]


_IMPORT_ID: Final = re.compile(r'\{\s*"ImportId"\s*:')
_SECOND_HEADINGS: Final = frozenset({"response", "open ended response"})
_TOTAL: Final = re.compile(
    r"(?:grand |sub ?)?totals?\b.*|(?:sum|average|mean|median|count|n ?=|celkem|soucet|prumer|summe|gesamt|insgesamt"
    r"|durchschnitt|mittelwert|totale|totaux|moyenne|somme|promedio|suma|media|razem|srednia|[σ∑∅ø])[\d\W]*"
)
_NO_VALUE: Final = frozenset(
    {"", "n a", "n/a", "na", "nan", "none", "null", "no", "unknown", "not given", "prefer not to say"}
)


def _describes_nobody(columns: list[str], row: list[str], n: int, rows: list[tuple[int, list[str]]]) -> bool:
    """Whether a row is a second heading (Qualtrics' questions and ImportIds, the columns' names again) or a total."""
    cells = [cell.strip() for cell in row if cell.strip()]
    if not cells:
        return False
    if n < 2 and any(_IMPORT_ID.match(cell) for _, below in rows[n:2] for cell in below):
        return True
    plain = [folded(cell) for cell in cells]
    named = [folded(cell) for column, cell in zip(columns, row, strict=False) if _NAMED.search(folded(column))]
    questions = n < 2 and sum(cell.endswith("?") for cell in cells)
    return (
        [cell for cell in row if cell.strip()] == [c for c, cell in zip(columns, row, strict=False) if cell.strip()]
        or (n == 0 and set(plain) <= _SECOND_HEADINGS)
        or (questions > 1 and questions * 2 >= len(cells))
        or any(_TOTAL.fullmatch(one) for one in (plain[0], *named))
    )


def _unfit(columns: list[str], n: int, rows: list[list[str]]) -> int | None:
    """The column in which one of the first two rows or the last has words, and all others (two or more) numbers."""
    for at in range(min(len(columns), len(rows[n]))) if n in (0, 1, len(rows) - 1) else ():
        others = [row[at] for other, row in enumerate(rows) if other != n and row[at : at + 1] and row[at].strip()]
        numbers = len(others) > 1 and all(re.match(r"\W*\d", value) for value in others)
        value = folded(rows[n][at]).strip(" .-–?")
        if numbers and not re.search(r"\d", value) and value not in _NO_VALUE:
            return at
    return None


def _rows(text: str, path: Path) -> list[tuple[int, list[str]]]:
    """The rows that are not empty, with the lines in which they begin; at least one.

    It is strict: a quote that is never closed would swallow all rows below it.
    """
    first = re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0]
    found: list[tuple[int, list[str]]] = []
    begins = 1
    try:
        widths = {d: len(next(csv.reader([first], delimiter=d), [])) for d in _DELIMITERS}
        delimiter = "\t" if path.suffix.lower() == ".tsv" else max(_DELIMITERS, key=lambda d: widths[d])
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        for row in reader:
            found += [(begins, row)] if any(cell.strip() for cell in row) or not found else []
            begins = reader.line_num + 1
    except csv.Error as error:
        remedy = "Check quotes there or just before."
        raise InputError(f"this is not CSV: {error}", where=f"{path}:{begins}", remedy=remedy) from None
    return found


def _text(path: Path) -> list[Form]:
    """Lines such as `Name: …` as fields, one record for every name; any other text as a single record of text."""
    text = io.StringIO(_contents(path), newline=None).read()
    labelled = _labelled(text, path)
    whole = _one(path, written=text)
    return [Form(tuple(labelled)), *whole] if labelled else whole


def _pdf(path: Path) -> list[Form]:
    read_bytes(path, MAX_BYTES)  # the loader would take a missing file for an address, and fetch it
    if find_spec("pypdf") is None:
        raise MissingExtraError(f"reading the PDF {path}", "pdf")
    from langchain_community.document_loaders import PyPDFLoader

    log = logging.getLogger("pypdf")
    level = log.level
    log.setLevel(logging.CRITICAL)  # the library would report every irregularity of the file on standard error
    try:
        text = PyPDFLoader(path.resolve(), mode="single", pages_delimiter="\n").load()[0].page_content
    except Exception as error:  # the library raises many kinds of errors for a broken file
        what = f"the PDF cannot be read: {one_line(str(error)) or type(error).__name__}"
        remedy = "Save it again from the program that made it, or save its text as a .txt file."
        raise InputError(what, where=str(path), remedy=remedy) from error
    finally:
        log.setLevel(level)
    if not text.strip():
        what = "the PDF holds no text; it may be scanned"
        raise InputError(what, where=str(path), remedy="Save its text as a .txt file.")
    return _one(path, written=text)


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
    ".json": _json,
    ".jsonl": _json_lines,
    ".txt": _text,
    ".md": _text,
    ".pdf": _pdf,
    ".png": _picture,
}
