"""A person's answer: their words when it is their turn, or their need to talk."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from typing_extensions import TypedDict

from persimchat.state.errors import InputError, suggestion
from persimchat.state.intervention import words
from persimchat.state.names import as_listed
from persimchat.state.plain_text import quoted

Asked = Literal["utterance", "need_to_talk"]

_WHERE: Final = "a person's answer"
_SHOWN: Final = 60
"""The most characters of an invalid value that an error quotes."""


class PersonAnswer(TypedDict, total=False):
    """A checked answer: words, a pass, or a need to talk."""

    text: str
    heard_by: list[str]
    passes: bool
    need_to_talk: int


def person_answer(given: Any, what: str, present: Sequence[str]) -> PersonAnswer:
    """Validate a person's answer.

    Args:
        given: words; `{"text": …, "heard_by": […]}`; `{"pass": True}`; a need to talk, 0–10, as a number or a digit; or
            a validated answer.
        what: the question: "utterance" or "need_to_talk".
        present: the participants' full names.

    Raises:
        InputError: the answer is empty, too long, or not an answer to this question.
    """
    if isinstance(given, Mapping) and (given.get("pass") is True or given.get("passes") is True):
        return {"passes": True}
    if what == "need_to_talk":
        return {"need_to_talk": _need(given.get("need_to_talk") if isinstance(given, Mapping) else given)}
    if not isinstance(given, Mapping):
        return {"text": words(given)}
    unknown = sorted(map(str, given.keys() - {"text", "heard_by"}))
    if unknown:
        raise InputError(
            f"an answer has no field {quoted(unknown[0], _SHOWN)}",
            where=_WHERE,
            remedy="Give text, and heard_by for a whisper.",
        )
    answer: PersonAnswer = {"text": words(given.get("text"))}
    heard_by = given.get("heard_by")
    if heard_by is None:
        return answer
    if isinstance(heard_by, str) or not isinstance(heard_by, Sequence) or not heard_by:
        raise InputError(
            "heard_by must be a list of one or more names",
            where=_WHERE,
            remedy="Name the hearers of a whisper, or leave heard_by out so that all hear it.",
        )
    heard = [as_listed(name, present) if isinstance(name, str) else name for name in heard_by]
    for name in heard:
        if name not in present:
            what_is_wrong = f"{quoted(name, _SHOWN)} does not take part"
            raise InputError(what_is_wrong, where=_WHERE, remedy=suggestion(str(name), present))
    answer["heard_by"] = list(dict.fromkeys(heard))
    return answer


def _need(given: Any) -> int:
    if isinstance(given, str) and re.fullmatch(r"\s*[0-9]{1,2}\s*", given):
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= 10:
        raise InputError(
            "a need to talk is a whole number from 0 to 10",
            where=_WHERE,
            remedy="Give 0 for none, 10 for the greatest.",
        )
    return given
