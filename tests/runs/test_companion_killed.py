"""A companion's world killed with SIGKILL wherever that hurts: no exchange is lost, none is there or digested twice."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path

import pytest
from companion_killing import WORDS, Driver

pytestmark = pytest.mark.proof

EVERY = ("aput:before", "aput:after", "delete:before", "keep:before", "keep:after", "line:before", "line:after",
         "line:torn", "save:before", "save:after", "call:torn", "judge:after", "stream:before", "stream:after",
         "aput_writes:after")  # fmt: skip
MOST = 4
"""Kills at one site, spread over the times that a talk comes by there."""


def test_nothing_is_lost_or_doubled_by_a_kill(tmp_path: Path) -> None:
    with Driver() as driver:
        whole = driver.child(_folder(tmp_path / "whole"))
        assert whole["status"] == 0 and whole["talks"] == 1 and whole["pending"] == whole["over"] == 0
        sites, kills = whole["sites"], 0
        for site in EVERY:
            times = sites[site]
            for number in sorted({1 + round(n * (times - 1) / (MOST - 1)) for n in range(MOST)}):
                world = _folder(tmp_path / f"{site.replace(chr(58), chr(45))}-{number}")
                where = f"{site}, number {number}"
                died = driver.child(world, point=(site, number))
                assert died["status"] == -signal.SIGKILL, where
                kills += 1
                found = driver.child(world)
                assert found["status"] == 0, where
                assert [one[:2] for one in found["exchanges"]] == [[id, said] for id, said in WORDS.items()], where
                lines = [json.loads(line) for line in (world / "exchanges.jsonl").read_text().splitlines()]
                assert Counter(line["id"] for line in lines) == Counter(dict.fromkeys(WORDS, 1)), where
                assert set(found["told"]) == set(WORDS), where
                assert found["digested"] == [*WORDS], where
                for name in ("talks", "over", "trust", "facts", "alive", "pending"):
                    assert found[name] == whole[name], (where, name)
        assert kills >= 40


def _folder(place: Path) -> Path:
    """A folder for a world: worlds of one name have the same ids."""
    place.mkdir()
    return place / "w"
