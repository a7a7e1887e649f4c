"""Events, reactions and day plans of a companion, each node alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.nodes.day_planning import worth_chunks
from persimchat.nodes.events import Event
from persimchat.nodes.reacting import focused, least_importance
from persimchat.state.companion import Happening, Talk, Tie
from persimchat.state.settings import Settings

SETTINGS = Settings(model="offline", companion={"talk_cooldown_ticks": 10})
TALK = Talk(id="t", number=1, begun="2025-03-03T09:00:00", last="2025-03-03T09:00:00", trust=5)


@pytest.mark.parametrize(
    ("tie", "given_", "least"),
    [
        ({"trust": 0}, {}, None),
        ({"trust": 3}, {}, None),
        ({"trust": 4}, {}, 4),
        ({"trust": 6}, {}, 4),
        ({"trust": 7}, {}, 1),
        ({"trust": 10}, {"at": "2025-03-03T23:00:00"}, None),
        ({"trust": 10}, {"at": "2025-03-03T22:59:59"}, 1),
        ({"trust": 10}, {"asleep": True}, None),
        ({"trust": 10, "talked": 91}, {}, None),
        ({"trust": 10, "talked": 90}, {}, 1),
        ({"trust": 0, "talk": TALK, "talked": 100}, {"at": "2025-03-03T23:30:00"}, 8),
    ],
)
def test_to_what_an_agent_reacts(tie: dict[str, Any], given_: dict[str, Any], least: int | None) -> None:
    known = Tie(person="p", name="Petr", **tie)
    at = {"tick": 100, "at": "2025-03-03T09:00:00", "asleep": False, **given_}
    assert least_importance(known, SETTINGS, **at) == least


events = st.builds(
    Event,
    happening=st.builds(
        Happening, subject=st.sampled_from("abc"), object=st.sampled_from(["idle", "x"]), person=st.booleans()
    ),
    sentence=st.just("It is."),
    importance=st.integers(0, 10),
)


@given(st.lists(events, max_size=20), st.integers(1, 10), st.integers(0, 99), st.integers(0, 99))
def test_one_event_has_the_attention_a_persons_first(batch: list[Event], least: int, seed: int, tick: int) -> None:
    able = [one for one in batch if one.importance >= least and one.happening.object != "idle"]
    found = focused(batch, least, seed, tick)
    assert (found is None) is (not able)
    if found is not None:
        assert found in able and found.happening.person is any(one.happening.person for one in able)
        assert focused(batch, least, seed, tick) == found


def test_the_draw_depends_on_seed_and_tick() -> None:
    batch = [Event(Happening(subject=str(n), object="x"), str(n), 9) for n in range(9)]
    assert len({focused(batch, 1, seed, tick).sentence for seed in range(3) for tick in range(9)}) > 3  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("more", "worth"),
    [({}, True), ({"chunks": []}, False), ({"activity": "free time"}, False), ({"minutes": 15}, False)],
)
def test_what_is_divided(more: dict[str, Any], worth: bool) -> None:
    assert worth_chunks({"start": "06:00", "minutes": 30, "activity": "sweep", "place": "", **more}) is worth
