"""Which servers somebody else's set-up names."""

from __future__ import annotations

import pytest

from persimchat.app.web.setup.draft import Draft, Seat
from persimchat.app.web.setup.scenario_files import servers_in
from persimchat.personas.catalogue import shipped


@pytest.mark.parametrize(
    ("settings", "hosts"),
    [
        ({}, []),
        ({"model": "offline", "embedding": "lexical"}, []),
        ({"model": "x@https://stranger.example/v1"}, ["stranger.example"]),
        ({"model": "x@y@http://me:secret@stranger.example:8000/v1"}, ["stranger.example:8000"]),
        ({"checkpoints": "postgresql://me:secret@db.example/runs", "store": "http://chroma.example:1"},
         ["chroma.example:1", "db.example"]),
        ({"module_models": {"judge": "j@http://judge.example/v1"}}, ["judge.example"]),
        ({"model": "x@http://[broken"}, []),
    ],
)  # fmt: skip
def test_servers_of_settings(settings: dict[str, object], hosts: list[str]):
    assert servers_in(Draft(settings=settings)) == hosts


def test_servers_of_participants():
    seat = Seat(shipped()[0], model="x@http://one.example/v1")
    assert servers_in(Draft(seats=[seat])) == ["one.example"]
