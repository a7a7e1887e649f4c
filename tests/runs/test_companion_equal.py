"""A companion's talks made again: equal place, seed, clock and answers give equal transcripts, minds and ties."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from persimchat.runs.companion.world import opened_world
from persimchat.runs.companion.worldfile import companion_settings
from persimchat.state.companion import Happening
from persimchat.state.place import Place

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
                async for _ in companion.say(line):
                    pass
                await companion.settled()
            async for _ in companion.happen([Happening(subject="stove", object=f"cold after {person}")]):
                pass
            async for _ in companion.end():
                pass
            await companion.settled()
            world.advance(3_600 * 20)
            await companion.pass_time()
            await companion.settled()
        ties = [tie.model_dump(mode="json") for tie in await world.records.ties("Oda Brandvik")]
        mind = await world.mind("Oda")
        calls = len((folder / "calls.jsonl").read_text().splitlines())
    return {
        "exchanges": (folder / "exchanges.jsonl").read_bytes(),
        "mind": json.dumps(mind),
        "ties": json.dumps(ties),
        "calls": calls,
    }


@pytest.mark.proof
@pytest.mark.parametrize("overlap", ["off", "on"])
async def test_talks_made_again_are_equal_byte_for_byte(tmp_path: Path, overlap: str) -> None:
    folders = [tmp_path / name / "lake" for name in ("one", "two")]
    one, two = [await talked(folder, overlap) for folder in folders]
    assert one["exchanges"] == two["exchanges"]
    assert one["ties"] == two["ties"]
    assert one["mind"] == two["mind"]
    assert one["calls"] == two["calls"]
    assert one["exchanges"].count(b"\n") >= 13 and b"Mara" in one["exchanges"]


@pytest.mark.proof
async def test_judgements_that_begin_early_change_nothing(tmp_path: Path) -> None:
    off, on = [await talked(tmp_path / overlap / "lake", overlap) for overlap in ("off", "on")]
    assert off == on
