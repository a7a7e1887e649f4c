"""What a world's files tell of its answers: how many were accepted at the first try, how many repeat another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from persimchat.evaluation.companion.rows import Row
from persimchat.models.answers import WrongAnswer, read
from persimchat.models.mending import mended
from persimchat.models.recording import Asking, asking_of, from_record
from persimchat.models.recording import Row as Request
from persimchat.runs.companion.exchanges import EXCHANGES
from persimchat.runs.folder.calls import CALLS
from persimchat.runs.folder.jsonl import json_lines
from persimchat.state.companion_judgement import Chunks, DayPlan, TalkDigest
from persimchat.state.judgement import PARTS, FocalPoints, Reflection, in_parts

_OWN: Final = ("perception", "emotion", "trust")
"""What a companion's digest judges."""
_SCHEMAS: Final[dict[str, tuple[type[BaseModel], ...]]] = {
    **{name: (PARTS[name],) for name in _OWN},
    "reaction": (in_parts(*_OWN),),
    "hearing": (in_parts("perception"),),
    "appraisal": (in_parts("emotion", "trust"),),
    "consolidation": (TalkDigest,),
    "day_plan": (DayPlan, Chunks),
    "focal_points": (FocalPoints,),
    "reflection": (Reflection,),
}
"""By module, which schemas its answers have; the words of an answer have none."""


def accepted(run: str, folder: Path) -> list[Row]:
    """By module and question, whether the first answer was accepted, else whether one was at all.

    An answer that is corrected counts as accepted, as it does for the mind.

    Args:
        run: the world's name in the table.
        folder: the world's.

    Raises:
        InputError: calls.jsonl is damaged.
    """
    asked: dict[Asking, list[Request]] = defaultdict(list)
    for line in json_lines(folder / CALLS, lambda line: line.value):
        request = Request.model_validate(line)
        if request.answer is not None:
            asked[asking_of(request)].append(request)
    rows = []
    for requests in asked.values():
        module = requests[0].module
        usable = [_is_usable(module, request) for request in requests]
        rows.append(Row(run, module, "accepted_at_first", float(usable[0])))
        if not usable[0]:
            rows.append(Row(run, module, "accepted_at_second", float(any(usable[1:]))))
    return rows


def repeats(run: str, folder: Path) -> list[Row]:
    """Of each answer, whether the agent has said the same words to this person before.

    Raises:
        InputError: exchanges.jsonl is damaged.
    """
    said: dict[tuple[str, str], set[str]] = defaultdict(set)
    rows = []
    for n, (pair, words) in enumerate(_utterances(folder), start=1):
        rows.append(Row(run, f"answer {n}", "repeated", float(words in said[pair])))
        said[pair].add(words)
    return rows


def _utterances(folder: Path) -> Iterator[tuple[tuple[str, str], str]]:
    for line in json_lines(folder / EXCHANGES, lambda line: line.value):
        words = " ".join(str(line.get("utterance", "")).casefold().split())
        if words:
            yield (str(line.get("agent")), str(line.get("person"))), words


def _is_usable(module: str, request: Request) -> bool:
    assert request.answer is not None
    message, schemas = from_record(request.answer), _SCHEMAS.get(module, ())
    if not schemas:
        return bool(str(message.text).strip())
    for schema in schemas:
        try:
            read(message, schema)
        except WrongAnswer as wrong:
            if wrong.found is not None and mended(wrong.found, schema) is not None:
                return True
        else:
            return True
    return False
