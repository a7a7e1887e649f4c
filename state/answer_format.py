"""The form of a debate's answer: free text, yes or no, one of several choices, a number."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final, Literal

from persimchat.state.normalise import folded

AnswerFormat = Literal["free", "yesno", "choice", "number"]

_NUMBER: Final = re.compile(r"[-+]?(?:\d{1,3}(?:[,\u202f\u00a0 ]\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+]?\.\d+")
_LABEL: Final = re.compile(r"^\(?([a-z0-9]{1,2})\)?[.):]\s*(.+)$", re.IGNORECASE | re.DOTALL)
_NEGATED: Final = re.compile(r"\b(?:not|no|never|neither|nor|without|against|except|instead|rather|\w+n t)\b")
"""Words that may turn a choice into its opposite: a text with one of them must be the choice itself."""
_YES: Final = frozenset({"yes", "y", "true"})
_NO: Final = frozenset({"no", "n", "false"})


def parse_answer(text: str, form: AnswerFormat, choices: Sequence[str] = ()) -> str:
    """Normalise an answer: "yes" or "no", a choice exactly as listed, a number in plain digits, or the stripped text.

    The parser understands small departures ("Yes.", "b) trams", "$1,200") and refuses a text that may mean two answers.

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
    return _number(plain) if form == "number" else text.strip()


def same_answer(one: str, other: str, form: AnswerFormat) -> bool:
    """Whether two parsed answers are the same one; free text is compared without case, diacritics and punctuation."""
    if form == "number":
        return float(one) == float(other)
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
    named = [choice for choice in choices if re.search(rf"\b{re.escape(_words(choice))}\b", _words(text))]
    named = [c for c in named if not any(c != other and _words(c) in _words(other) for other in named)]
    if len(named) == 1:
        return named[0]
    raise ValueError(f"{_shown(text)} is not one of the choices: {', '.join(choices)}")


def _without_label(text: str) -> list[str]:
    found = _LABEL.match(text)
    return [found.group(2)] if found else []


def _number(text: str) -> str:
    found = [re.sub(r"[,\s\u202f\u00a0]", "", number) for number in _NUMBER.findall(text)]
    values = {float(number): number for number in found}
    if len(values) != 1 or not math.isfinite(value := next(iter(values))):
        raise ValueError(f"{_shown(text)} is not one number")
    if re.fullmatch(r"[-+]?\d{1,40}", values[value]):  # a float would lose digits
        return str(int(values[value]))
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
