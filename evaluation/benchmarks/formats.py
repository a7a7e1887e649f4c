"""The files of benchmarks in the forms in which they were published, read as items with a question and a reference.

No data set is shipped. What a file says is never guessed: another form, or a reference that is not among the options,
is an error with line and field. Thirty-two items of our own (`own.yaml`) stand in the same four forms.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, StrictBool, StringConstraints, TypeAdapter, ValidationError

from ...state.debates.answers import AnswerFormat, parse_answer, same_answer
from ...state.document import Document, read_text
from ...state.errors import InputError
from ...state.plain_text import quoted, seen
from ...state.setting import Choice
from ...state.validation_errors import input_error
from ..csv_rows import read_rows

OWN: Final = "own"
"""The name of our own items, which are no benchmark."""
MOST_BYTES: Final = 64_000_000
"""The largest file that is read."""
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OPTION: Final = re.compile(r"\s*([A-Z])\s*\)\s*(.*)", re.DOTALL)
_MARK: Final = "####"
_SHOWN: Final = 60
_REMEDY: Final = "Give the file as it was published; docs/benchmarks.md describes its form."

Question = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=3_000), AfterValidator(seen)
]
Option = Annotated[str, StringConstraints(strip_whitespace=True, max_length=900)]
Row = TypeVar("Row", bound=BaseModel)


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class _Gsm8k(_Row):
    question: Question
    answer: str


class _Aqua(_Row):
    question: Question
    options: list[Option]
    correct: str


class _StrategyQa(_Row):
    question: Question
    answer: StrictBool


class _Ecqa(_Row):
    q_text: Question
    q_op1: Option
    q_op2: Option
    q_op3: Option
    q_op4: Option
    q_op5: Option
    q_ans: Question


@dataclass(frozen=True)
class Item:
    """A question with its reference answer.

    Attributes:
        id: its place in the file: "gsm8k-12".
        question: as it is asked; it lists the options if letters alone are the choices.
        form: of the answer.
        choices: to answer with, where the form is a choice.
        answer: the reference, in the form.
        format: the benchmark in whose form it stands.
    """

    id: str
    question: str
    form: AnswerFormat
    choices: tuple[str, ...]
    answer: str
    format: str


def read_items(name: str, path: Path | None) -> list[Item]:
    """The items of a benchmark's file, in its order; our own without a file.

    Args:
        name: gsm8k, aqua, strategyqa, ecqa, or own.
        path: the user's file.

    Raises:
        InputError: the file cannot be read, or is not in the form of this benchmark; line and field are named.
    """
    if name == OWN:
        return own_items()
    rows_of, item_of = FORMATS[name]
    if path is None:
        raise InputError(
            f"{name} is not shipped with PerSimChat",
            where="--data",
            remedy="Name your copy: --data FILE; docs/benchmarks.md says where it comes from.",
        )
    found = [_item(name, number, item_of, at) for number, at in enumerate(rows_of(path), start=1)]
    if not found:
        raise InputError("there are no items", where=str(path), remedy=_REMEDY)
    return found


def own_items() -> list[Item]:
    """The thirty-two items of our own, eight in each form."""
    return [_item(name, n, FORMATS[name][1], Document(row, "own.yaml"))
            for name, rows in _OWN_ROWS.items() for n, row in enumerate(rows, start=1)]  # fmt: skip


def panel(name: str) -> list[dict[str, Any]]:
    """The three personas that answer a benchmark, as in a scenario file."""
    return [dict(persona) for persona in _PANELS[name]]


def drawn(name: str, seed: int, of: int, number: int, rounds: int) -> list[list[int]]:
    """Draw items for each round, by their places; none is drawn again while there are others.

    Args:
        name: of the benchmark.
        seed: of the draws.
        of: how many items there are.
        number: items of a round, at most `of`.
        rounds: how many.
    """
    left, found = list(range(of)), []
    for each in range(1, rounds + 1):
        draw = random.Random(f"{name}/{seed}/{each}")
        if len(left) >= number:
            chosen = draw.sample(left, number)
            left = [place for place in left if place not in set(chosen)]
        else:
            again = draw.sample([place for place in range(of) if place not in set(left)], number - len(left))
            chosen, left = [*left, *again], [place for place in range(of) if place not in set(again)]
        found.append(chosen)
    return found


def _item(name: str, number: int, item_of: Callable[[Document], Mapping[str, Any]], at: Document) -> Item:
    return Item(id=f"{name}-{number}", format=name, **item_of(at))


def _gsm8k(at: Document) -> Mapping[str, Any]:
    row = _checked(_Gsm8k, at)
    _, mark, reference = row.answer.rpartition(_MARK)
    if not mark:
        raise InputError(f"the answer has no {_MARK}", where=at.where(("answer",)), remedy=_REMEDY)
    try:
        answer = parse_answer(re.sub(r"[,$]", "", reference), "number")
    except ValueError as error:
        raise InputError(
            f"the reference is not a number: {error}", where=at.where(("answer",)), remedy=_REMEDY
        ) from None
    return {"question": row.question, "form": "number", "choices": (), "answer": answer}


def _strategyqa(at: Document) -> Mapping[str, Any]:
    row = _checked(_StrategyQa, at)
    return {"question": row.question, "form": "yesno", "choices": (), "answer": "yes" if row.answer else "no"}


def _aqua(at: Document) -> Mapping[str, Any]:
    row = _checked(_Aqua, at)
    options: list[str] = []
    for letter, option in zip(_LETTERS, row.options, strict=False):
        found = _OPTION.fullmatch(option)
        if found is None or found.group(1) != letter:
            what = f"{quoted(option, _SHOWN)} does not begin with {letter})"
            raise InputError(what, where=at.where(("options", len(options))), remedy=_REMEDY)
        options.append(found.group(2).strip())
    if not 2 <= len(row.options) <= len(_LETTERS):
        raise InputError(f"there are {len(row.options)} options", where=at.where(("options",)), remedy=_REMEDY)
    place = _LETTERS.find(row.correct.strip()) if len(row.correct.strip()) == 1 else -1
    if not 0 <= place < len(options):
        raise _not_an_option(row.correct, at.where(("correct",)))
    return _choice(row.question, options, place)


def _ecqa(at: Document) -> Mapping[str, Any]:
    row = _checked(_Ecqa, at)
    options = [row.q_op1, row.q_op2, row.q_op3, row.q_op4, row.q_op5]
    if row.q_ans not in options:
        raise _not_an_option(row.q_ans, at.where(("q_ans",)))
    return _choice(row.q_text, options, options.index(row.q_ans))


def _not_an_option(given: str, where: str) -> InputError:
    what = f"the reference {quoted(given, _SHOWN)} is not among the options"
    return InputError(what, where=where, remedy="Correct this item, or take it out of the file.")


def _choice(question: str, options: Sequence[str], place: int) -> Mapping[str, Any]:
    """A choice of the options; of letters alone where the options' words would not tell them apart or do not fit.

    Options of the same text are one answer: ECQA has items in which the right option stands twice.
    """
    right, options = options[place], list(dict.fromkeys(options))
    place = options.index(right)
    if not _need_letters(options):
        return {"question": question, "form": "choice", "choices": tuple(options), "answer": options[place]}
    letters = _LETTERS[: len(options)]
    listed = "\n".join(f"{letter}) {' '.join(option.split())}" for letter, option in zip(letters, options, strict=True))
    return {"question": f"{question}\n{listed}", "form": "choice", "choices": (*letters,), "answer": letters[place]}


_A_CHOICE: Final[TypeAdapter[str]] = TypeAdapter(Choice)


def _need_letters(options: Sequence[str]) -> bool:
    try:
        for option in options:
            _A_CHOICE.validate_python(option)
    except ValidationError:
        return True
    pairs = [*combinations(options, 2), *((option, "") for option in options)]
    return any(same_answer(one, other, "free") for one, other in pairs)


def _checked(kind: type[Row], at: Document) -> Row:
    try:
        return kind.model_validate(at.data)
    except ValidationError as error:
        raise input_error(error, kind, at) from None


def _lines(path: Path) -> Iterator[Document]:
    """The objects of a file with one a line."""
    for number, line in enumerate(read_text(path, MOST_BYTES).split("\n"), start=1):
        if line.strip():
            yield _object(_json(line, f"{path}:{number}"), path, number)


def _list(path: Path) -> Iterator[Document]:
    """The objects of a file that is one JSON list, each with the line where it begins."""
    text = read_text(path, MOST_BYTES)
    blank, decoder = re.compile(r"[ \t\r\n]*"), json.JSONDecoder()
    at, line, counted = 0, 1, 0

    def sign(expected: str) -> str:
        nonlocal at, line, counted
        at = _end(blank, text, at)
        line, counted = line + text.count("\n", counted, at), at
        if text[at : at + 1] not in (*expected,):
            what = "this is not a JSON list of objects"
            raise InputError(what, where=f"{path}:{line}", remedy=_REMEDY)
        at += 1
        return text[at - 1]

    sign("[")
    at = _end(blank, text, at)
    while text[at : at + 1] != "]":
        line, counted = line + text.count("\n", counted, at), at
        value, at = _json(text, f"{path}:{line}", partial(decoder.raw_decode, idx=at))
        yield _object(value, path, line)
        if sign(",]") == "]":
            return
        at = _end(blank, text, at)


def _end(blank: re.Pattern[str], text: str, at: int) -> int:
    found = blank.match(text, at)
    return found.end() if found else at


def _json(text: str, where: str, read: Callable[[str], Any] = json.loads) -> Any:
    try:
        return read(text)
    except (ValueError, RecursionError):
        raise InputError("this is not JSON", where=where, remedy=_REMEDY) from None


def _object(value: Any, path: Path, line: int) -> Document:
    if not isinstance(value, dict):
        raise InputError("this is not a JSON object", where=f"{path}:{line}", remedy=_REMEDY)
    return Document(value, str(path), {(): line})


def _table(path: Path) -> Iterator[Document]:
    """The rows of a CSV file by the names of its first line."""
    for where, row in read_rows(path, [*_Ecqa.model_fields], what="items", remedy=_REMEDY):
        yield Document(row, where)


FORMATS: Final[dict[str, tuple[Callable[[Path], Iterable[Document]], Callable[[Document], Mapping[str, Any]]]]] = {
    "gsm8k": (_lines, _gsm8k),
    "aqua": (_lines, _aqua),
    "strategyqa": (_list, _strategyqa),
    "ecqa": (_table, _ecqa),
}
"""How the file of each benchmark is read, and what makes an item of one of its rows."""

NAMES: Final = (*FORMATS, OWN)


def _read(name: str) -> dict[str, Any]:
    text = (files("persimchat.evaluation.benchmarks") / name).read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


_OWN_ROWS: Final = _read("own.yaml")
_PANELS: Final = _read("panels.yaml")
