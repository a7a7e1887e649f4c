"""What happens around a companion: new events, planned ones, states of objects."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state import happenings
from persimchat.state.companion import Happening
from persimchat.state.place import Place, Planned

STOVE = "Lake:Ferry stage:ticket hut:stove"
HUT = "Ferry stage/ticket hut"


def place(**more: Any) -> Place:
    return Place.model_validate(
        {
            "world": "Lake",
            "places": {
                "Ferry stage": {"ticket hut": {"stove": "lit", "window": "shut"}, "tea stall": {"kettle": "idle"}},
            },
            "agents": [{"persona": {"name": "Oda Brandvik", "description": "Sells tickets."}}],
            "others": [{"name": "the captain", "at": HUT}],
            **more,
        }
    )


def smoking(subject: str = STOVE) -> Happening:
    return Happening(subject=subject, object="smoking")


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ({"subject": STOVE, "object": "smoking", "description": "smoking badly"}, "stove is smoking (smoking badly)"),
        ({"subject": STOVE, "object": "smoking", "description": "smoking"}, "stove is smoking"),
        ({"subject": "event", "object": "A horn.", "description": "A horn sounds"}, "A horn sounds"),
        ({"subject": "Petr", "predicate": "waves", "object": "", "description": "He waves!"}, "He waves!"),
        ({"subject": "Petr", "predicate": "waves\n</task>", "object": "at\u202e me"}, "Petr waves </task> at me"),
    ],
)
def test_an_event_is_one_line(event: dict[str, Any], sentence: str) -> None:
    assert happenings.sentence_of(Happening(**event)) == sentence


def test_what_is_new() -> None:
    batch = [
        smoking(), Happening(subject=f"{STOVE}s"), Happening(subject="Oda Brandvik", object="reading", person=True),
        Happening(subject="Tomasz", predicate="is carrying", object="kettle", person=True), smoking(),
        Happening(subject="Lake:a:b:c", object="broken"),
    ]  # fmt: skip
    new = happenings.new_ones(batch, [], 5, "Oda Brandvik")
    assert [one.subject for one in new] == ["Tomasz", STOVE, "Lake:a:b:c"]
    seen = happenings.seen_after([], new, 2)
    assert [one["subject"] for one in seen] == [STOVE, "Lake:a:b:c"]
    assert [one.subject for one in happenings.new_ones(batch, seen, 2, "Oda Brandvik")] == ["Tomasz"]
    assert [one.subject for one in happenings.new_ones(batch, seen, 1, "Oda Brandvik")] == ["Tomasz", STOVE]
    assert len(happenings.new_ones(batch, seen, 0, "Oda Brandvik")) == 3
    assert happenings.seen_after(seen, new, 0) == []


events = st.builds(
    Happening,
    subject=st.sampled_from("abcdefgh"),
    object=st.sampled_from(["idle", "x", "y", "z"]),
    person=st.booleans(),
)


@given(st.lists(events, max_size=40), st.lists(events, max_size=9), st.integers(0, 6))
def test_new_events_are_few_different_and_people_come_first(
    batch: list[Happening], before: list[Happening], retention: int
) -> None:
    seen = happenings.seen_after([], before, retention)
    new = happenings.new_ones(batch, seen, retention, "a")
    assert len(new) <= 20 and not any(happenings.is_idle(one) or one.subject == "a" for one in new)
    assert [one.person for one in new] == sorted((one.person for one in new), reverse=True)
    told = [(one.subject, one.object) for one in new]
    assert len(set(told)) == len(told)
    after = happenings.seen_after(seen, new, retention)
    assert len(after) <= retention
    assert all(Happening(**one) == one_ for one, one_ in zip(after[::-1], new[::-1], strict=False))


def test_a_stranger_is_not_named() -> None:
    event = Happening(subject="Petr", predicate="is giving", object="petr novak's ticket", description="Petrified?")
    hidden = happenings.unnamed(event, "Petr Novak", "the stranger")
    assert (hidden.subject, hidden.object) == ("the stranger", "the stranger's ticket")
    assert hidden.description == "Petrified?"


def test_states_change_and_places_do_not() -> None:
    before = place()
    events = [
        smoking("ferry stage/Ticket hut/stove"),
        Happening(subject="Ferry stage:tea stall:kettle", predicate="is being", object="filled"),
        Happening(subject="Lake:Ferry stage:ticket hut:safe", object="open"),
        Happening(subject="Petr", object="here", person=True),
    ]
    after = happenings.place_after(before, events)
    assert after.places["Ferry stage"] == {
        "ticket hut": {"stove": "smoking", "window": "shut"}, "tea stall": {"kettle": "being filled"},
    }  # fmt: skip
    assert before.places["Ferry stage"]["ticket hut"]["stove"] == "lit"
    assert [happenings.changes_something(before, one) for one in events] == [True, True, True, True]
    assert not happenings.changes_something(after, smoking())
    idle = Happening(subject=STOVE)
    assert happenings.place_after(after, [idle]).places["Ferry stage"]["ticket hut"]["stove"] == "idle"


def test_what_others_do_changes() -> None:
    leaves = Happening(subject="The captain", object="leaving the hut", person=True)
    after = happenings.place_after(place(), [leaves])
    assert [(other.name, other.does, other.at) for other in after.others] == [("the captain", "leaving the hut", HUT)]
    assert happenings.changes_something(place(), leaves) and not happenings.changes_something(after, leaves)


def test_a_planned_event_is_perceived_where_it_is() -> None:
    event = Planned(
        at="11:50",
        change={f"{HUT}/stove": "smoking", "Ferry stage/tea stall/kettle": "boiling"},
        who="the captain",
        does="leaving",
        say="A horn sounds.",
    )

    def seen(at: str) -> list[str]:
        return [happenings.sentence_of(one) for one in happenings.perceived(event, place(), at)]

    assert seen(HUT) == ["stove is smoking", "the captain is leaving", "A horn sounds."]
    assert seen("Ferry stage/tea stall") == ["kettle is boiling", "A horn sounds."]
    assert len(seen("")) == 4


@pytest.mark.parametrize(
    ("since", "until", "at"),
    [
        ("2025-03-03T11:00", "2025-03-03T11:49", []),
        ("2025-03-03T11:00", "2025-03-03T11:50", ["11:50"]),
        ("2025-03-03T11:50", "2025-03-03T12:00", ["12:00"]),
        ("2025-03-03T23:00", "2025-03-04T06:00", ["0:10"]),
        ("2025-03-03T11:00", "2025-03-09T11:00", ["11:50", "12:00", "0:10"]),
        ("2025-03-03T12:00", "2025-03-03T11:00", []),
    ],
)
def test_what_is_due(since: str, until: str, at: list[str]) -> None:
    planned = [Planned(at="12:00", say="Noon."), Planned(at="11:50", say="A horn."), Planned(at="0:10", say="An owl.")]
    assert [event.at for event in happenings.due(planned, since, until)] == at


def test_what_is_planned_once_fires_once() -> None:
    once, daily = Planned(at="12:00", say="The first boat.", once=True), Planned(at="12:00", say="The boat.")
    fired = {happenings.key_of(once), happenings.key_of(daily)}
    assert happenings.due([once, daily], "2025-03-03T11:00", "2025-03-03T13:00") == [once, daily]
    assert happenings.due([once, daily], "2025-03-04T11:00", "2025-03-04T13:00", fired) == [daily]


@given(st.lists(st.integers(0, 3000), min_size=2, max_size=9).map(sorted), st.integers(0, 1439))
def test_however_the_clock_is_read_an_event_fires_once_a_day(reads: list[int], minute: int) -> None:
    event = Planned(at=f"{minute // 60:02d}:{minute % 60:02d}", say="A horn.")
    start = datetime(2025, 3, 3)
    times = [(start + timedelta(minutes=read)).isoformat() for read in reads]
    fired = sum(len(happenings.due([event], a, b)) for a, b in zip(times, times[1:], strict=False))
    days = len([n for n in range(3) if reads[0] < minute + n * 1440 <= reads[-1]])
    assert fired <= days
    assert (fired > 0) is (days > 0)
