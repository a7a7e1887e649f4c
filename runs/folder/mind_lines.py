"""Lines of minds.jsonl: shortens the recalled memories of a mind's record, and fills them in again.

A mind recalls many memories at every turn, mostly the same. The text of a memory stands once per agent in the file,
with a number, under `memories` of the line in which it is recalled first; under `recalled`, a memory is a list of
`COLUMNS`. Lines of earlier versions have whole objects there; reading does not change them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Self

from persimchat.runs.folder.jsonl import DAMAGED, Line, json_lines
from persimchat.state.errors import InputError

COLUMNS: Final = ("focal_point", "score", "recency", "importance", "relevance", "emotional", "stm_relevance")
"""Columns of a memory under `recalled`, in this order, after its number."""

SAID: Final = ("id", "kind", "turn", "theme")
"""Columns of a memory under `memories`, after its number."""

_DECIMALS: Final = 3
"""Digits of scores, which only explain and are not used in computations."""


class MindLines:
    """The lines of one file, written or read in order from its beginning; remembers which memories the file has."""

    def __init__(self) -> None:
        self._said: dict[str, dict[int, tuple[Any, ...]]] = {}
        self._numbers: dict[str, dict[str, int]] = {}

    @classmethod
    def after(cls, path: Path) -> Self:
        """For lines to append to a file, which may be missing. Blocks.

        Raises:
            InputError: the file cannot be read.
        """
        lines = cls()
        for value in json_lines(path, lambda line: line.value, lenient=True):
            lines.learn(value)
        return lines

    def written(self, mind: Mapping[str, Any]) -> str:
        """The next line.

        Args:
            mind: a `MindRecord` as plain values.
        """
        agent, rows, told = mind["agent"], [], []
        numbers, known = self._numbers.setdefault(agent, {}), self._said.setdefault(agent, {})
        for memory in mind["recalled"]:
            said = tuple(memory[name] for name in SAID)
            number = numbers.get(memory["id"])
            if number is None or known[number] != said:
                number = max(known, default=0) + 1 if number is None else number
                numbers[memory["id"]], known[number] = number, said
                told.append({"number": number, **dict(zip(SAID, said, strict=True))})
            rows.append([number, *(_rounded(memory[name]) for name in COLUMNS)])
        shown: dict[str, Any] = {}
        for name, value in mind.items():
            shown[name] = rows if name == "recalled" else value
            if name == "recalled" and told:
                shown["memories"] = told
        return json.dumps(shown, ensure_ascii=False, separators=(",", ":")) + "\n"

    def read(self, line: Line) -> Line:
        """The next line, with whole memories; see `filled`."""
        self.learn(line.value)
        return replace(line, value=self.filled(line.value, line.where))

    def learn(self, value: Any) -> None:
        """Remember the memories of a line."""
        told = value.get("memories") if isinstance(value, dict) else None
        for memory in told if isinstance(told, list) else ():
            if isinstance(memory, dict) and isinstance(number := memory.get("number"), int):
                said = tuple(memory.get(name) for name in SAID)
                self._said.setdefault(str(value.get("agent")), {})[number] = said
                self._numbers.setdefault(str(value.get("agent")), {})[str(said[0])] = number

    def filled(self, value: Any, where: str) -> Any:
        """The value of a line with whole memories; an invalid line stays unchanged, for validation to refuse.

        Args:
            value: as parsed from JSON; not changed.
            where: file and line, for an error.

        Raises:
            InputError: it recalls a memory that neither it nor an earlier line has.
        """
        if not isinstance(value, dict) or not isinstance(value.get("recalled"), list):
            return value
        known, whole = self._said.get(str(value.get("agent")), {}), []
        for place, row in enumerate(value["recalled"]):
            if not isinstance(row, list) or len(row) != 1 + len(COLUMNS) or not isinstance(row[0], int):
                whole.append(row)
                continue
            if row[0] not in known:
                raise InputError(
                    f"no earlier line has memory {row[0]}",
                    where=f"{where}, field recalled.{place}",
                    remedy=DAMAGED,
                )
            whole.append(dict(zip((*SAID, *COLUMNS), (*known[row[0]], *row[1:]), strict=True)))
        return {name: whole if name == "recalled" else item for name, item in value.items() if name != "memories"}


def _rounded(value: Any) -> Any:
    return round(value, _DECIMALS) if isinstance(value, float) else value
