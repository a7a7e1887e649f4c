"""A companion's world killed with SIGKILL loses and doubles nothing; made again from equal things, it is equal."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from companion_killing import WORDS, Driver
from companion_worlds import kept_in
from talks import events_of

from persimchat.runs.companion.folder import companion_settings
from persimchat.runs.companion.world import opened_world
from persimchat.state.companion import Happening
from persimchat.state.companion.place import Place

pytestmark = pytest.mark.proof

EVERY = ("aput:before", "aput:after", "delete:before", "keep:before", "keep:after", "log:before", "log:after",
         "save:before", "save:after", "judge:after", "stream:before", "stream:after",
         "aput_writes:after")  # fmt: skip


@pytest.mark.parametrize("most", [1, pytest.param(4, marks=pytest.mark.long)])
def test_nothing_is_lost_or_doubled_by_a_kill(tmp_path: Path, most: int) -> None:
    """So many kills at each site, spread over the times that a talk comes by there."""
    with Driver() as driver:
        whole = driver.child(_folder(tmp_path / "whole"))
        assert whole["status"] == 0 and whole["talks"] == 1 and whole["pending"] == whole["over"] == 0
        sites, kills = whole["sites"], 0
        for site in EVERY:
            times = sites[site]
            for number in sorted({1 + round((n + 0.5) / most * (times - 1)) for n in range(most)}):
                world = _folder(tmp_path / f"{site.replace(chr(58), chr(45))}-{number}")
                where = f"{site}, number {number}"
                died = driver.child(world, point=(site, number))
                assert died["status"] == -signal.SIGKILL, where
                kills += 1
                found = driver.child(world)
                assert found["status"] == 0, where
                assert [one[:2] for one in found["exchanges"]] == [[id, said] for id, said in WORDS.items()], where
                assert Counter(one["id"] for one in kept_in(world, "exchange")) == Counter(dict.fromkeys(WORDS, 1)), (
                    where
                )
                assert set(found["told"]) == set(WORDS), where
                assert found["digested"] == [*WORDS], where
                for name in ("talks", "over", "trust", "facts", "alive", "pending"):
                    assert found[name] == whole[name], (where, name)
        assert kills >= 10 * most


def _folder(place: Path) -> Path:
    """A folder for a world: worlds of one name have the same ids."""
    place.mkdir()
    return place / "w"


PLACE = Place.model_validate(
    {
        "world": "Lake",
        "occasion": "waiting for the boat",
        "clock": {"mode": "steps", "start": "2025-03-03 09:00"},
        "places": {"Stage": {"hut": {"stove": "lit"}, "pier": {"bench": "idle"}}},
        "agents": [
            {
                "persona": {"name": "Oda Brandvik", "description": "Sells tickets.", "traits": ["dry"]},
                "at": "Stage/hut",
                "knows": ["Stage"],
                "lifestyle": "Up at half past five, in bed by ten.",
                "appointments": ["12:00 noon boat"],
            }
        ],
    }
)
TALKS = [
    ("Petr", ["My sister is called Mira.", "I live in Porto.", "You are kind.", "Goodbye!"]),
    ("Eva", ["Good morning.", "You fool!", "I am sorry."]),
    ("Petr", ["Actually her name is Mara.", "What is my sister called?", "I like tea.", "And you?", "Fine.", "Well."]),
]


async def talked(folder: Path, overlap: str) -> dict[str, Any]:
    """What a world holds after the same talks, events and time."""
    folder.parent.mkdir(exist_ok=True)
    settings = companion_settings(PLACE, environment={}, model="offline", seed=7, **{"companion.overlap": overlap})
    async with opened_world(folder, PLACE, settings) as world:
        for person, lines in TALKS:
            companion = await world.companion("Oda", person)
            for line in lines:
                await events_of(companion.say(line))
                await companion.settled()
            await events_of(companion.happen([Happening(subject="stove", object=f"cold after {person}")]))
            await events_of(companion.end())
            await companion.settled()
            await world.advance(3_600 * 20)
            await companion.pass_time()
            await companion.settled()
        ties = [tie.model_dump(mode="json") for tie in await world.records.ties("Oda Brandvik")]
        mind = await world.mind("Oda")
    return {
        "exchanges": json.dumps(kept_in(folder, "exchange")),
        "mind": json.dumps(mind),
        "ties": json.dumps(ties),
        "calls": len(kept_in(folder, "asked_model")),
    }


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("overlap", ["off", "on"])
async def test_talks_made_again_are_equal_byte_for_byte(tmp_path: Path, overlap: str) -> None:
    folders = [tmp_path / name / "lake" for name in ("one", "two")]
    one, two = [await talked(folder, overlap) for folder in folders]
    assert one == two
    assert one["exchanges"].count("said") >= 13 and "Mara" in one["exchanges"]


@pytest.mark.long
async def test_judgements_that_begin_early_change_nothing(tmp_path: Path) -> None:
    off, on = [await talked(tmp_path / overlap / "lake", overlap) for overlap in ("off", "on")]
    assert off == on
