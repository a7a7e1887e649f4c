"""Reading foreign descriptions of people from files: tables, JSON, text and PDF, with LangChain's document loaders."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from persimchat.personas.loading_json import load_json, load_json_lines
from persimchat.personas.loading_record import Form, Record, contents, raw_contents
from persimchat.personas.loading_tables import load_table
from persimchat.state.errors import InputError, MissingExtraError
from persimchat.state.plain_text import one_line

_LABEL: Final = re.compile(r"^[ \t]*([^\W\d_][^:\n]{0,39}?)[ \t]*:[ \t]*(.*)$")
_LABEL_WORDS: Final = 4
_NAMES: Final = ("name", "full name")
_PROSE: Final = "text"


def load(path: Path) -> list[Form]:
    """The ways to read a file as descriptions of people, the most literal first; at least one.

    Args:
        path: a file that ends in .csv, .tsv, .json, .jsonl, .txt, .md or .pdf.

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
    log.setLevel(logging.CRITICAL)  # it would report every oddity of the file on standard error
    try:
        text = PyPDFLoader(path.resolve(), mode="single", pages_delimiter="\n").load()[0].page_content
    except Exception as error:  # a broken file makes the library fail in every way there is
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
}
