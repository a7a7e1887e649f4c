"""The day of a companion, and what happens around it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.companion import CompanionMind, Happening, day
from persimchat.state.companion import events as happenings
from persimchat.state.companion.day import day_by_habit
from persimchat.state.companion.judgement import Chunk, Chunks, DayEntry, DayPlan
from persimchat.state.companion.place import Place, Planned

HOME, HUT = "Boat house/upper room", "Ferry stage/ticket hut"
PLACES = [HUT, HOME, "Ferry stage/tea stall"]

clocks = st.builds(day.clock_of, st.integers(0, 1439))
plans = st.builds(
    DayPlan,
    wakes=clocks,
    sleeps=clocks,
    entries=st.lists(
        st.builds(
            DayEntry, start=clocks, minutes=st.integers(15, 960), activity=st.just("work"), place=st.integers(1, 9)
        ),
        min_size=5,
        max_size=8,
    ),
)


def length(made: day.Day) -> int:
    """Minutes from wake-up to bedtime."""
    return (day.minutes_of(made.sleeps) - day.minutes_of(made.wakes)) % 1440 or 1440


def mind_with(made: day.Day, date: str = "2025-03-03") -> CompanionMind:
    return {"day": date, "wakes": made.wakes, "sleeps": made.sleeps, "plan": made.entries}


@given(plans)
def test_any_answer_makes_a_day_without_overlaps_and_gaps(plan: DayPlan) -> None:
    made = day.checked(plan, PLACES, HOME)
    now = day.minutes_of(made.wakes)
    for entry in made.entries:
        assert day.minutes_of(entry["start"]) == now % 1440
        assert entry["minutes"] >= 15 and entry["minutes"] % 15 == 0
        assert entry["place"] in PLACES
        now += entry["minutes"]
    assert now - day.minutes_of(made.wakes) == length(made)
    assert not any(
        a["activity"] == b["activity"] == day.FREE for a, b in zip(made.entries, made.entries[1:], strict=False)
    )


@given(plans, st.integers(0, 2 * 1440))
def test_every_minute_is_an_entry_or_sleep(plan: DayPlan, minute: int) -> None:
    companion = mind_with(day.checked(plan, PLACES, HOME))
    at = (datetime(2025, 3, 3) + timedelta(minutes=minute)).isoformat()
    entry = day.entry_at(companion, at)
    awake = entry is not None
    bedtime = day.minutes_of(companion["wakes"]) + sum(entry["minutes"] for entry in companion["plan"])
    if bedtime - 1440 <= minute < 1440:
        assert awake is not day.is_asleep(companion, at)
    assert day.needs_plan(companion, at) is (minute >= 1440 and not awake)
    assert (day.activity_at(companion, at) == "") is (not awake and not day.is_asleep(companion, at))


@given(plans, st.integers(0, 47))
def test_a_day_can_be_laid_out_again(plan: DayPlan, shift: int) -> None:
    made = day.checked(plan, PLACES, HOME)
    again = day.laid_out(
        day.minutes_of(made.wakes),
        day.minutes_of(made.sleeps),
        [
            day.Wanted(day.minutes_of(entry["start"]), entry["minutes"], entry["activity"], entry["place"])
            for entry in [*made.entries[shift:], *made.entries[:shift]]
        ],
        HOME,
    )
    assert again == made


def test_a_plan_is_put_in_order_and_its_gaps_are_free_time() -> None:
    plan = DayPlan(
        wakes="5:30",
        sleeps="22:00",
        entries=[
            DayEntry(start="12:00", minutes=90, activity="see the noon boat off", place=1),
            DayEntry(start="06:02", minutes=600, activity="sell tickets", place=1),
            DayEntry(start="12:00", minutes=120, activity="have lunch", place=7),
            DayEntry(start="18:00", minutes=45, activity="listen to the radio", place=2),
            DayEntry(start="21:50", minutes=60, activity="read", place=2),
        ],
    )
    made = day.checked(plan, PLACES, HOME)
    assert [(e["start"], e["minutes"], e["activity"], e["place"]) for e in made.entries] == [
        ("05:30", 30, day.FREE, HOME),
        ("06:00", 360, "sell tickets", HUT),
        ("12:00", 90, "see the noon boat off", HUT),
        ("13:30", 30, "have lunch", HOME),
        ("14:00", 240, day.FREE, HOME),
        ("18:00", 45, "listen to the radio", HOME),
        ("18:45", 180, day.FREE, HOME),
        ("21:45", 15, "read", HOME),
    ]


def test_a_night_watch_goes_past_midnight() -> None:
    made = day.laid_out(14 * 60, 3 * 60, [day.Wanted(60, 60, "the last round", HUT)], HOME)
    companion = mind_with(made)
    assert [(e["start"], e["activity"]) for e in made.entries] == [
        ("14:00", day.FREE), ("01:00", "the last round"), ("02:00", day.FREE),
    ]  # fmt: skip
    assert day.activity_at(companion, "2025-03-04T01:15:00") == "the last round"
    assert not day.needs_plan(companion, "2025-03-04T02:59:00")
    assert day.needs_plan(companion, "2025-03-04T03:00:00")
    assert day.is_asleep(companion, "2025-03-03T03:00:00")
    assert not day.is_asleep(companion, "2025-03-03T02:00:00"), "it may still be up from the night before"
    assert day.needs_plan(companion, "2025-03-02T12:00:00"), "the clock was set back"
    assert day.needs_plan({}, "2025-03-03T12:00:00") and not day.is_asleep({}, "2025-03-03T03:00:00")


chunks = st.lists(
    st.builds(Chunk, minutes=st.integers(1, 64).map(lambda n: n * 15), activity=st.text("abc", min_size=1))
)


@given(chunks.filter(bool), st.integers(1, 64))
def test_parts_add_up(parts: list[Chunk], quarters: int) -> None:
    entry = {"start": "06:00", "minutes": quarters * 15, "activity": "work", "place": HUT}
    made = day.chunks_of(Chunks(chunks=parts[:64]), entry)
    assert sum(part["minutes"] for part in made) == entry["minutes"]
    assert all(part["minutes"] >= 15 and part["minutes"] % 15 == 0 for part in made)
    assert [part["activity"] for part in made] == [part.activity for part in parts][: len(made)]
    if sum(part.minutes for part in parts) == entry["minutes"]:
        assert [part["minutes"] for part in made] == [part.minutes for part in parts]


def test_parts_without_an_answer_are_equal() -> None:
    entry = {"start": "06:00", "minutes": 45, "activity": "sweep", "place": HUT}
    assert day.chunks_of(None, entry) == [{"minutes": 15, "activity": "sweep"}] * 3


def planned(**more: Any) -> CompanionMind:
    entries: list[day.Entry] = [
        {"start": "06:00", "minutes": 60, "activity": "read the 12:00 log", "place": HUT},
        {"start": "07:00", "minutes": 60, "activity": "write to Petr's sister", "place": HOME, "heard_by": ["p1"]},
    ]
    entries[0] |= more
    return {"day": "2025-03-03", "wakes": "06:00", "sleeps": "08:00", "plan": entries}


@pytest.mark.parametrize(
    ("clock", "person", "action"),
    [
        ("06:10", "", "Lake:Ferry stage:ticket hut:is:read the 12.00 log"),
        ("07:10", "p1", "Lake:Boat house:upper room:is:write to Petr's sister"),
        ("07:10", "p2", "Oda:is:busy"),
        ("07:10", "", "Oda:is:busy"),
        ("05:10", "", "Oda:is:sleeping"),
    ],
)
def test_the_action_is_read_from_the_right(clock: str, person: str, action: str) -> None:
    told = day.action_at("Lake", "Oda", planned(), f"2025-03-03T{clock}:00", person)
    assert told == action
    assert len(told.rsplit(":", 2)) == 3


def test_without_a_plan_the_agent_is_idle() -> None:
    assert day.action_at("Lake", "Oda", {}, "2025-03-03T06:00:00") == "Oda:is:idle"


def test_the_part_that_is_on_now_is_told() -> None:
    parts = [{"minutes": 15, "activity": "light the stove"}, {"minutes": 45, "activity": "count the tickets"}]
    assert day.activity_at(planned(chunks=parts), "2025-03-03T06:14:59") == "light the stove"
    assert day.activity_at(planned(chunks=parts), "2025-03-03T06:15:00") == "count the tickets"


def test_entries_keep_their_times_when_one_is_forgotten() -> None:
    left = planned()
    left["plan"] = left["plan"][1:]
    assert day.activity_at(left, "2025-03-03T06:30:00", "p1") == ""
    assert day.activity_at(left, "2025-03-03T07:30:00", "p1") == "write to Petr's sister"


def test_others_see_that_an_agent_is_busy() -> None:
    assert day.plan_for(planned(), "p1")[1]["activity"] == "write to Petr's sister"
    assert day.plan_for(planned())[1] == {"start": "07:00", "minutes": 60, "activity": "busy", "place": ""}


@pytest.mark.parametrize(
    ("lifestyle", "appointments", "expected"),
    [
        (
            "Up at half past five, in bed by ten, radio at six in the evening.",
            ["12:00 noon boat", "something some day"],
            ("05:30", "22:00", [("12:00", "noon boat"), ("18:00", "radio")]),
        ),
        ("Sleeps until 9 am and goes to bed at 2 am. Swims at 3 pm.", [], ("09:00", "02:00", [("15:00", "Swims")])),
        ("Gets out of bed at quarter to seven, then asleep by midnight", [], ("06:45", "00:00", [])),
        (
            "Has three cats and eats at noon.",
            ["quarter past 4 pm: tea"],
            ("07:00", "22:00", [("12:00", "eats"), ("16:15", "tea")]),
        ),
        ("", [], ("07:00", "22:00", [])),
        ("Works nights, swims at 17:00", [], ("15:00", "07:00", [("17:00", "swims")])),
        ("Up at 4 pm, in bed by eight", [], ("16:00", "08:00", [])),
        ("To bed at 8 in the morning", [], ("07:00", "20:00", [])),
        ("Up at 5 in the afternoon", [], ("17:00", "09:00", [])),
    ],
)  # fmt: skip
def test_a_day_by_habit(lifestyle: str, appointments: list[str], expected: Any) -> None:
    made = day_by_habit(lifestyle, appointments, HOME)
    wanted = [(e["start"], e["activity"]) for e in made.entries if e["activity"] != day.FREE]
    assert (made.wakes, made.sleeps, wanted) == expected


@given(st.text(), st.lists(st.text(), max_size=5))
def test_any_lifestyle_makes_a_day(lifestyle: str, appointments: list[str]) -> None:
    made = day_by_habit(lifestyle, appointments, HOME)
    assert sum(entry["minutes"] for entry in made.entries) == length(made)


STOVE = "Lake:Ferry stage:ticket hut:stove"


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
