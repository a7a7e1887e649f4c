"""exchanges.jsonl: the whole transcript of a world, one line an exchange, with the agent and the person's id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, cast

from persimchat.runs.folder.jsonl import mend, parsed
from persimchat.state.companion import Exchange
from persimchat.state.errors import InputError, MachineError

EXCHANGES: Final = "exchanges.jsonl"

Pair = tuple[str, str]
"""The agent's name and the person's id."""


class ExchangesFile:
    """The exchanges of a world that are over: appraised, or given up. Reading it blocks; a line is one write.

    Args:
        folder: the world's.

    Raises:
        InputError: the file is damaged; the error names file and line.
        MachineError: the file cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / EXCHANGES
        self._places: dict[str, int] = {}
        self._of: dict[Pair, list[str]] = {}
        self._end = 0
        try:
            mend(self.path)
            self._file = self.path.open("ab", buffering=0)
            self._load()
        except OSError as error:
            raise MachineError.caused_by(error, "cannot be written", str(self.path)) from error

    def __contains__(self, exchange: str) -> bool:
        return exchange in self._places

    def add(self, agent: str, person: str, exchange: Exchange) -> None:
        """Write an exchange; one that is there already stays as it is.

        Raises:
            MachineError: it cannot be written.
        """
        if exchange["id"] in self._places:
            return
        row = {"agent": agent, "person": person, **exchange}
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        try:
            self._file.write(line)
        except OSError as error:
            raise MachineError.caused_by(error, "cannot be written", str(self.path)) from error
        self._note(row, self._end)
        self._end += len(line)

    def get(self, exchange: str) -> Exchange | None:
        """An exchange by its id."""
        found = self._read([exchange])
        return found[0] if found else None

    def of(self, agent: str, person: str, last: int | None = None) -> list[Exchange]:
        """The exchanges of a pair in their order, without those taken back; the last so many, or all."""
        ids, found = self._of.get((agent, person), []), list[Exchange]()
        end, most = len(ids), len(ids) if last is None else last
        while end and len(found) < most:
            begin = max(0, end - (most - len(found)))
            found = [one for one in self._read(ids[begin:end]) if not one.get("retracted")] + found
            end = begin
        return found

    def count(self, agent: str, person: str) -> int:
        """How many exchanges of a pair are here, those taken back too."""
        return len(self._of.get((agent, person), []))

    def retract(self, exchange: str) -> None:
        """Mark an exchange as taken back; writes the file anew.

        Raises:
            MachineError: it cannot be written.
        """
        if exchange not in self._places:
            return
        beside = self.path.with_suffix(".new")
        try:
            with self.path.open("rb") as old, beside.open("wb") as new:
                for row in old:
                    known = json.loads(row)
                    if known.get("id") == exchange:
                        known["retracted"] = True
                        row = json.dumps(known, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
                    new.write(row)
            self.close()
            beside.replace(self.path)
        except OSError as error:
            raise MachineError.caused_by(error, "cannot be written", str(self.path)) from error
        self._file = self.path.open("ab", buffering=0)
        self._load()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _load(self) -> None:
        self._places, self._of, self._end = {}, {}, 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    self._note(_row(line, f"{self.path}, line {number}"), self._end)
                self._end += len(line)

    def _note(self, row: dict[str, Any], place: int) -> None:
        self._places[row["id"]] = place
        self._of.setdefault((row["agent"], row["person"]), []).append(row["id"])

    def _read(self, ids: list[str]) -> list[Exchange]:
        places = [self._places[one] for one in ids if one in self._places]
        if not places:
            return []
        found: list[Exchange] = []
        with self.path.open("rb") as file:
            for place in places:
                file.seek(place)
                row = json.loads(file.readline())
                found.append(
                    cast(Exchange, {key: value for key, value in row.items() if key not in ("agent", "person")})
                )
        return found


def _row(line: bytes, where: str) -> dict[str, Any]:
    row = parsed(line, where)
    if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in ("id", "agent", "person")):
        raise InputError("this is not an exchange", where=where, remedy="Restore the file from a backup.")
    return row
