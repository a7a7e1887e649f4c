"""Runs side by side: where they part, words that differ, charts over each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as given_values
from hypothesis import strategies as st
from run_folders import (
    EMOTIONS,
    PEOPLE,
    call,
    given,
    mind,
    put,
    recalled,
    rewrite,
    utterance,
    write_debate,
    write_run,
    write_steered,
)

from persimchat.reports.charts.drawing import svg
from persimchat.reports.diff import Comparison, compare
from persimchat.reports.diff_charts import overlays
from persimchat.reports.diff_parting import Piece, word_changes
from persimchat.runs.folder.reading import Record, read_run

# Two runs compared: where they part, and why


EVA, BO, LI = PEOPLE


def compared(a: Path, b: Path) -> Comparison:
    return compare(read_run(a, whole=True), read_run(b, whole=True))


def two(tmp_path: Path, said: Any, other: Any, minds: Any = None, others: Any = None, **more: Any) -> Comparison:
    """Two runs with these utterances and minds, compared; `more` is what the second one's run.json has."""
    one = write_run(tmp_path, said, minds if minds is not None else [], run="a")
    return compared(one, write_run(tmp_path, other, others if others is not None else minds or [], run="b", **more))


def test_equal_runs_are_equal(tmp_path: Path) -> None:
    one = write_debate(tmp_path / "one", 9, run="a")
    two = write_debate(tmp_path / "two", 9, run="b", started="2026-05-05T00:00:00+00:00", usage={})
    found = compared(one, two)
    assert found.equal
    assert (found.parting, found.minds, found.setup, found.shared) == (None, [], [], 9)
    assert (found.end_a.calls, found.end_b.calls) == (30, None)


def test_another_verdict_is_no_equality(tmp_path: Path) -> None:
    one, two = (write_debate(tmp_path, 6, run=name) for name in "ab")
    rewrite(
        two,
        "verdict",
        lambda one: {**one, "progress": "circling" if one["progress"] == "progressing" else "progressing"},
    )
    found = compared(one, two)
    assert found.parting is None
    assert not found.equal


def test_what_was_set_up_differently(tmp_path: Path) -> None:
    people = [{"name": name, "description": "Somebody."} for name in (EVA, BO)]
    scenario = {"topic": "Wine?", "participants": people, "rules": ["Be brief."]}
    models = {EVA: {"plan": "m", "emotion": "m"}, BO: {"plan": "m", "emotion": "n"}}
    found = two(
        tmp_path, None, None, seed=8, scenario=scenario, models=models, prompt_hash="ff",
        settings={"max_messages": 4, "pattern": "need_to_talk", "model": "offline", "selection_temperature": 2},
        versions={"persimchat": "0.2.0"},
    )  # fmt: skip
    changed = {change.what: (change.a, change.b) for change in found.setup}
    assert changed == {
        "scenario.topic": ("Tea or coffee?", "Wine?"),
        "scenario.rules": (None, ["Be brief."]),
        f"scenario.participants.{LI}.description": ("Somebody.", None),
        f"scenario.participants.{LI}.human": (False, None),
        "scenario.order": (list(PEOPLE), [EVA, BO]),
        "seed": (7, 8),
        "settings.max_messages": (3, 4),
        "settings.selection_temperature": (None, 2),
        f"models.{EVA}": (None, "m"),
        f"models.{BO}.plan": (None, "m"),
        f"models.{BO}.emotion": (None, "n"),
        "prompt_hash": ("0123456789abcdef", "ff"),
        "versions.persimchat": ("0.1.0", "0.2.0"),
    }
    assert not found.equal
    assert found.parting is None


def test_another_speaker_and_everybodys_needs(tmp_path: Path) -> None:
    first = utterance(1, EVA)
    found = two(
        tmp_path,
        [first, utterance(2, BO, need_to_talk={EVA: 1, BO: 8})],
        [first, utterance(2, EVA, need_to_talk={EVA: 9, BO: 8})],
    )
    place = found.parting
    assert place is not None
    assert (found.shared, place.turn, place.why) == (1, 2, "speaker")
    assert place.a is not None
    assert place.b is not None
    assert (place.a.speaker, place.b.speaker, place.recall) == (BO, EVA, None)
    assert [(need.agent, need.a, need.b) for need in place.needs] == [(EVA, 1, 9), (BO, 8, 8)]


def test_needs_are_looked_up_in_the_minds_where_the_utterance_has_none(tmp_path: Path) -> None:
    minds = [mind(0, EVA, need_to_talk=4), mind(0, BO, need_to_talk=6)]
    place = two(tmp_path, [utterance(1, EVA, need_to_talk={})], [utterance(1, BO, need_to_talk={})], minds).parting
    assert place is not None
    assert [(need.agent, need.a, need.b) for need in place.needs] == [(EVA, 4, 4), (BO, 6, 6)]


@pytest.mark.parametrize("same", [True, False])
def test_other_words_and_what_the_speaker_had_in_mind(tmp_path: Path, same: bool) -> None:
    minds = [mind(0, EVA, recalled=[recalled("Tea", "m1"), recalled("Milk", "m2")])]
    others = minds if same else [mind(0, EVA, recalled=[recalled("Tea", "m1"), recalled("Rum", "m3")])]
    found = two(tmp_path, [utterance(1, EVA, "One.")], [utterance(1, EVA, "Two.")], minds, others)
    place = found.parting
    assert place is not None
    assert (place.why, place.needs) == ("words", [])
    assert place.recall is not None
    assert place.recall.same == same
    assert (place.recall.only_a, place.recall.only_b) == (([], []) if same else (["Milk"], ["Rum"]))
    assert [(m.turn, m.agent, m.fields) for m in found.minds] == ([] if same else [(0, EVA, ["recalled"])])


def test_the_same_words_whispered(tmp_path: Path) -> None:
    place = two(tmp_path, [utterance(1, EVA)], [utterance(1, EVA, heard_by=[BO])]).parting
    assert place is not None
    assert place.why == "audience"


def test_an_intervention(tmp_path: Path) -> None:
    said = [utterance(1, EVA), utterance(2, BO)]
    one, two = write_run(tmp_path, said, [], run="a"), write_run(tmp_path, said[:1], [], run="b")
    put(two, "utterance", [said[0], utterance(2, BO, "Wine, then.")])
    put(two, "intervention", [{"turn": 1, "do": "topic", "topic": "Wine"}, {"turn": 2, "do": "stop"}])
    place = compared(one, two).parting
    assert place is not None
    assert (place.turn, place.why) == (2, "intervention")
    assert (place.interventions_a, place.interventions_b) == ([], [{"turn": 1, "do": "topic", "topic": "Wine"}])


@pytest.mark.parametrize(
    ("branch", "why"),
    [
        ({"turn": 1, "why": "regenerate", "changed": {}}, "again"),
        ({"turn": 1, "why": "branch", "changed": {"say": {"speaker": BO, "text": "Wine."}}}, "given"),
        ({"turn": 1, "why": "branch", "changed": {"selection_temperature": 2}}, "words"),
        ({"turn": 0, "why": "regenerate", "changed": {}}, "words"),
    ],
)
def test_a_branch_says_itself_how_it_begins(tmp_path: Path, branch: dict[str, Any], why: str) -> None:
    first = utterance(1, EVA)
    one = write_run(tmp_path, [first, utterance(2, BO)], [], run="a")
    other = write_run(tmp_path, [first, utterance(2, BO, "Wine.")], [], run="b", branch={"of": "a", **branch})
    for place in (compared(one, other).parting, compared(other, one).parting):
        assert place is not None
        assert (place.turn, place.why) == (2, why)


def test_words_that_a_person_gave(tmp_path: Path) -> None:
    place = two(tmp_path, [utterance(1, EVA)], [given(1, "Moderator", "Order!")]).parting
    assert place is not None
    assert place.why == "intervention"
    assert place.b is not None
    assert place.b.given


def test_one_goes_on_where_the_other_is_over(tmp_path: Path) -> None:
    said = [utterance(1, EVA), utterance(2, BO)]
    found = two(tmp_path, said, said[:1], stop_reason="budget")
    place = found.parting
    assert place is not None
    assert (found.shared, place.turn, place.why, place.b) == (1, 2, "end", None)
    assert (found.end_a.stop_reason, found.end_b.stop_reason) == ("message_limit", "budget")
    assert [(one.name, one.utterances_a, one.utterances_b, one.words_a, one.words_b) for one in found.participants] == [
        (EVA, 1, 1, 3, 3),
        (BO, 1, 0, 3, 0),
        (LI, 0, 0, 0, 0),
    ]


def test_minds_may_differ_where_words_do_not(tmp_path: Path) -> None:
    said = [utterance(turn, EVA, f"{turn}") for turn in (1, 2, 3)]
    minds = [mind(turn, name) for turn in range(4) for name in PEOPLE]
    others = [dict(one) for one in minds]
    others[7] |= {"openness": 4, "need_to_talk": 9}
    others[10] |= {"openness": 5}
    del others[8]
    found = two(tmp_path, said, said, minds, others)
    assert found.parting is None
    assert [(m.turn, m.agent, m.only_in, m.fields) for m in found.minds] == [
        (2, BO, "", ["need_to_talk", "openness"]),
        (2, LI, "a", []),
    ]
    assert not found.equal


def test_minds_beyond_the_end_of_one_are_no_difference(tmp_path: Path) -> None:
    minds = [mind(turn, EVA) for turn in range(4)]
    assert two(tmp_path, [utterance(1, EVA)], [utterance(1, EVA)], minds, minds[:2]).minds == []


def test_branches_and_baselines_and_both_formats(tmp_path: Path) -> None:
    old = write_run(tmp_path, run="old")
    branch = write_steered(tmp_path, run="branch", branch={"of": "old", "turn": 4, "why": "branch", "changed": {}})
    found = compared(old, branch)
    assert found.lineage == ["b is a branch of a at turn 4"]
    assert compared(branch, old).lineage == ["a is a branch of b at turn 4"]
    assert compared(branch, write_debate(tmp_path, 4, run="debate")).lineage == ["a is a branch of old at turn 4"]
    baseline = write_run(tmp_path, [utterance(1, EVA, need_to_talk={}, emotion={}, answer="yes")], [], run="mad")
    assert compared(old, baseline).minds == []


TEXTS = st.lists(st.sampled_from(["one", "two"]), max_size=6)


@pytest.mark.proof
@given_values(TEXTS, TEXTS)
def test_what_is_shared_is_the_longest_common_beginning(
    tmp_path_factory: pytest.TempPathFactory, one: list[str], other: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("shared")
    texts = (one, other)
    runs = [[utterance(n, EVA, text) for n, text in enumerate(given_texts, start=1)] for given_texts in texts]
    found = two(folder, *runs)
    assert one[: found.shared] == other[: found.shared]
    assert one[: found.shared + 1] != other[: found.shared + 1] or one == other
    assert (found.parting is None) == (one == other) == (found.shared == len(one) == len(other))
    if found.parting is not None:
        assert found.parting.turn == found.shared + 1
        back = two(folder / "back", *reversed(runs))
        assert (back.shared, back.parting and back.parting.why) == (found.shared, found.parting.why)


def test_calls_of_a_branch_are_compared_where_both_have_them(tmp_path: Path) -> None:
    def write(run: str, turns: list[int], **more: Any) -> Path:
        calls = [call(turn, PEOPLE[0]) for turn in turns]
        return write_run(tmp_path, run=run, more={"asked_model": calls}, **more)

    whole = write("whole", [0, 1, 1, 2, 2, 2, 3])
    branch = write("branch", [1, 2, 3, 3], branch={"of": "whole", "turn": 1, "why": "branch", "changed": {}})
    old = write_run(tmp_path, run="old")
    a, b, c = (read_run(folder, whole=True) for folder in (whole, branch, old))
    found = compare(a, b)
    assert (found.calls_after, found.end_a.calls, found.end_b.calls) == (2, 4, 3)
    assert (found.end_a.tokens, found.end_b.tokens) == (48, 36)
    assert "calls_after" not in compare(a, c).model_dump()  # whole runs are compared whole


# The courses of two runs over each other


FIRST = PEOPLE[0]


def told(out: Path, run: str, anger: list[int], needs: list[int], words: str = "abc", **more: Any) -> Record:
    """A run in which Eva feels and wants to talk as told, a turn each."""
    minds = [
        mind(turn, FIRST, emotion=dict.fromkeys(EMOTIONS, 1) | {"anger": felt}, need_to_talk=need)
        for turn, (felt, need) in enumerate(zip(anger, needs, strict=True))
    ]
    said = [utterance(turn, FIRST, text) for turn, text in enumerate(words, 1)]
    return read_run(write_run(out, said, minds, run=run, **more), whole=True)


def test_what_differs_is_drawn_over_each_other(tmp_path: Path) -> None:
    a = told(tmp_path, "a", [0, 2, 3, 9], [5, 5, 5, 5])
    b = told(tmp_path, "b", [0, 2, 7, 9], [5, 5, 5, 5], "abx")
    (chart,) = overlays(a, b, parts="They part")
    assert chart.title == "Emotions"
    assert [text.text for text in chart.texts if "name" in text.style] == [f"{EVA}: anger"]
    assert [("dashed" in line.style, line.label) for line in chart.lines] == [(False, "A 9"), (True, "B 9")]
    assert [(mark.turn, mark.title) for mark in chart.marks] == [(3, "They part")]
    assert chart.table[0] == ["turn", f"{EVA}: anger, A", f"{EVA}: anger, B"]
    assert list(chart.table[3]) == [2, 3, 7]
    assert "dashed" in svg(chart, "x")


def test_equal_courses_and_runs_without_minds_have_no_charts(tmp_path: Path) -> None:
    a, b = told(tmp_path, "a", [0, 1], [5, 6]), told(tmp_path, "b", [0, 1], [5, 6])
    assert overlays(a, b) == []
    none = read_run(write_run(tmp_path, minds=[], run="none"), whole=True)
    assert overlays(none, none) == []
    assert [chart.title for chart in overlays(a, none)] == ["Emotions", "Need to talk"]


def test_openness_of_debates(tmp_path: Path) -> None:
    records = []
    for run, openness in (("a", 3), ("b", 8)):
        minds = [mind(turn, FIRST, openness=openness) for turn in range(3)]
        records.append(read_run(write_run(tmp_path, minds=minds, run=run), whole=True))
    assert [chart.title for chart in overlays(*records)] == ["Openness to consensus"]


# What differs between two texts, word by word


WORDS = st.text(st.sampled_from("ab .\n"), max_size=30)


def marked(pieces: list[Piece]) -> str:
    return "".join(f"[{piece.text}]" if piece.differs else piece.text for piece in pieces)


def test_words_that_differ_are_marked():
    found = word_changes("I like green tea a lot.", "I like very black tea a lot!")
    assert found is not None
    assert [marked(pieces) for pieces in found] == ["I like [green] tea a lot[.]", "I like [very black] tea a lot[!]"]


def test_texts_without_much_in_common_are_not_compared():
    assert word_changes("Tea at four, please.", "Nobody asked the bus drivers yet") is None
    assert word_changes("Tea.", "Tea.") is None
    assert word_changes("tea " * 900, "tea " * 901) is None


@given_values(WORDS, WORDS)
def test_no_character_is_lost(a: str, b: str):
    found = word_changes(a, b)
    if found is not None:
        assert ["".join(piece.text for piece in pieces) for pieces in found] == [a, b]
