"""The form of a debate's answer: free text, yes or no, one of several choices, a number."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, Literal

from persimchat.state.normalise import folded

AnswerFormat = Literal["free", "yesno", "choice", "number"]

_NUMBER: Final = re.compile(r"[-+]?(?:\d{1,3}(?:[,\u202f\u00a0 ]\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+]?\.\d+")
_FRACTION: Final = re.compile(r"\d\s*[/⁄]\s*\d")
_MARKED: Final = re.compile(r"^.*(?:####|\banswer\b\W*:)(.*)$", re.IGNORECASE)
"""A last line that marks the answer: "#### 18", "Answer: 18"."""
_LABEL: Final = re.compile(r"^\(?(?!\d+[.:]\d)([a-z0-9]{1,2})\)?[.):]\s*(.+)$", re.IGNORECASE | re.DOTALL)
"""A choice behind its label, "b) trams"; not a number with decimals."""
_WHOLE: Final = re.compile(r"\d+(?:[.,:]\d+)+|\w+")
"""A word; a number with decimals or thousands, or a time, is one."""
_NEGATED: Final = re.compile(r"\b(?:not|no|never|neither|nor|without|against|except|instead|rather|\w+n t)\b")
"""Words that may turn a choice into its opposite: a text with one of them must be the choice itself."""
_YES: Final = frozenset({"yes", "y", "true"})
_NO: Final = frozenset({"no", "n", "false"})


def parse_answer(text: str, form: AnswerFormat, choices: Sequence[str] = ()) -> str:
    """Normalise an answer: "yes" or "no", a choice exactly as listed, a number in plain digits, or the stripped text.

    The parser understands small departures ("Yes.", "b) trams", "$1,200") and refuses a text that may mean two answers.
    All numbers of a text must be the same one (18 and 18.0 are), unless its last line marks the answer: "#### 18",
    "Answer: 18". Units and percent signs are left out; a fraction is no number.

    Args:
        text: the answer of a model or a participant.
        form: the form that the debate asks for.
        choices: for "choice", the answers to choose from.

    Raises:
        ValueError: the text is not an answer of this form; the message says what would be one.
    """
    plain = " ".join(text.split())
    if not plain:
        raise ValueError("the answer is empty")
    if form == "yesno":
        return _yes_or_no(plain)
    if form == "choice":
        return _choice(plain, choices)
    return _number(text) if form == "number" else text.strip()


def same_answer(one: str, other: str, form: AnswerFormat) -> bool:
    """Whether two parsed answers are the same one; free text is compared without case, diacritics and punctuation."""
    if form == "number":
        return Decimal(one) == Decimal(other)
    return one == other or (form != "choice" and _words(one) == _words(other))


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", folded(text)))


def _yes_or_no(text: str) -> str:
    words = _words(text).split()
    first, others = words[:1], set(words[1:])
    if first and first[0] in _YES and not others & _NO:
        return "yes"
    if first and first[0] in _NO and not others & _YES:
        return "no"
    raise ValueError(f"{_shown(text)} is neither yes nor no")


def _choice(text: str, choices: Sequence[str]) -> str:
    if text in choices:  # choices may differ only in characters that are not letters: -30 and +30
        return text
    for candidate in (text, *_without_label(text)):
        found = [choice for choice in choices if _words(choice) == _words(candidate)]
        if len(found) == 1:
            return found[0]
    letter = _words(text)
    letters = [chr(ord("a") + n) for n in range(len(choices))]
    if letter in letters:
        return choices[letters.index(letter)]
    if _NEGATED.search(_words(text)):
        raise ValueError(f"{_shown(text)} is not one of the choices: {', '.join(choices)}")
    said = _WHOLE.findall(folded(text))
    named = [choice for choice in choices if _is_in(_WHOLE.findall(folded(choice)), said)]
    named = [c for c in named if not any(c != other and _words(c) in _words(other) for other in named)]
    if len(named) == 1:
        return named[0]
    raise ValueError(f"{_shown(text)} is not one of the choices: {', '.join(choices)}")


def _is_in(words: Sequence[str], text: Sequence[str]) -> bool:
    """Whether words stand in a text, one after the other: 5 is not in 2.5."""
    return any(text[at : at + len(words)] == words for at in range(len(text) - len(words) + 1))


def _without_label(text: str) -> list[str]:
    found = _LABEL.match(text)
    return [found.group(2)] if found else []


def _number(text: str) -> str:
    """The number of the last line if that marks an answer, else the one that all numbers of the text are."""
    marked = _MARKED.match(text.strip().splitlines()[-1])
    parts = [marked.group(1), text] if marked else [text]
    told = next((part for part in parts if _NUMBER.search(part)), text)
    told = " ".join(told.split())
    found = [re.sub(r"[,\s\u202f\u00a0]", "", number) for number in _NUMBER.findall(told)]
    if _FRACTION.search(told) or not found or not all(math.isfinite(float(number)) for number in found):
        raise ValueError(f"{_shown(told)} is not one number")
    values = {_exact(number): number for number in found}
    if len(values) != 1:
        raise ValueError(f"{_shown(told)} is not one number")
    ((value, number),) = values.items()
    if re.fullmatch(r"[-+]?\d{1,40}", number):
        return str(int(number))
    rough = float(number)
    if _exact(repr(rough)) != value:  # a float would lose digits
        return f"{value:f}"
    return str(int(rough)) if rough == int(rough) and abs(rough) < 1e15 else repr(rough)


def _exact(number: str) -> Decimal:
    """The value of a number in digits; of one with an exponent, that of the nearest float, which is short."""
    return Decimal(repr(float(number)) if "e" in number.lower() else number)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
