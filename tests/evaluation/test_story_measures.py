"""What is measured in stories: the design's examples, bounds, and what does not count."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_stories import AINO, OLLE, TUULI, VEIKKO, asked, happened, recorded

from persimchat.evaluation.stories import (
    CHARACTERS,
    FORMS,
    KINDS,
    WORDS,
    Form,
    Stand,
    attitude,
    bigrams,
    changes_of_side,
    entropy,
    followers,
    forms,
    guesses_right,
    reciprocity,
    settled,
    shown_by,
    shown_to,
    stands,
    story_in,
    supported,
    supporters,
    talks,
    texts_in,
)

# ── entropy ────────────────────────────────────────────────────────────────────────────────────────────────────────

BACKING = ["I back Roman.", "I back Shiv.", "Sell it now."]


def test_entropy_of_words_and_characters():
    words, characters = bigrams(BACKING, WORDS), bigrams(["abab", "ab"], CHARACTERS)
    assert (len(words), len(set(words))) == (6, 5)
    assert (entropy(words, "bits"), entropy(words, "nats")) == pytest.approx((2.2516, 1.5607), abs=5e-5)
    assert sorted(characters) == [("a", "b")] * 3 + [("b", "a")]
    assert (entropy(characters, "bits"), entropy(characters, "nats")) == pytest.approx((0.8113, 0.5623), abs=5e-5)
    assert bigrams(["I Back", "i, back!"], WORDS) == [("i", "back")] * 2, "case and punctuation do not count"
    assert entropy([], "bits") is None
    assert entropy(words, "bits", 2) == pytest.approx(1.0), "over the first two"


@given(st.lists(st.text(max_size=40), max_size=8), st.integers(1, 60))
def test_entropy_is_bounded_and_crosses_no_utterance(texts: list[str], n: int):
    for pieces, unit in FORMS:
        grams = bigrams(texts, pieces)
        assert grams == [gram for text in texts for gram in bigrams([text], pieces)]
        for first in (None, n):
            found, size = entropy(grams, unit, first), min(len(grams), first or len(grams))
            if found is None:
                assert not grams
            else:
                most = math.log(size) / (math.log(2) if unit == "bits" else 1)
                assert 0 <= found <= most + 1e-9


def test_only_the_characters_words_count(tmp_path: Path):
    record = recorded(tmp_path, said=[(AINO, "Sell it."), ("Moderator", "Be calm."), (OLLE, "No.")])
    assert texts_in(record) == ["Sell it.", "No."]


# ── attitude ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_t1_and_t2():
    found = attitude([{"a": -4, "b": 1}, {"a": -2, "b": 3}], ["a", "b"])
    assert (found.t1, found.t2, found.rounds, found.answers) == (50, 50, 2, 4)
    assert attitude([], ["a"]).t1 is attitude([{}], ["a"]).t2 is None


@given(
    st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(-10, 10), min_size=1), max_size=6),
    st.sets(st.sampled_from("abcd")),
)
def test_t1_and_t2_are_percentages(rounds: list[dict[str, int]], among: set[str]):
    found = attitude(rounds, sorted(among))
    for value, n in ((found.t1, found.rounds), (found.t2, found.answers)):
        assert (value is None) == (n == 0)
        assert value is None or (0 <= value <= 100 and round(value * n / 100, 6) == round(value * n / 100))


def test_answered_changes_count_and_first_impressions_do_not(tmp_path: Path):
    """A closeness at 0 cannot fall, but the answer can be negative."""
    near = {AINO: -3, VEIKKO: -2, OLLE: 1}
    record = recorded(
        tmp_path,
        happenings=[
            happened("review", TUULI, 0, closeness=dict.fromkeys(near, -9)),
            happened("review", TUULI, 1, closeness=near),
            happened("review", AINO, 1, closeness={TUULI: -5, VEIKKO: 9, OLLE: 9}),
            happened("review", OLLE, 1, closeness={TUULI: 2, VEIKKO: 9, AINO: 9}),
            happened("review", TUULI, 2, closeness={AINO: 4, VEIKKO: 4, OLLE: -7}),
        ],
    )
    story = story_in(record)
    assert story is not None
    by, to = shown_by(record, TUULI, story.mains), shown_to(record, TUULI, story.mains)
    assert (by.t1, by.t2, by.rounds, by.answers) == (50, 50, 2, 4), "Olle is no main character: not in T2"
    assert (to.t1, to.t2, to.rounds, to.answers) == (100, 100, 1, 1)


# ── form of answers ────────────────────────────────────────────────────────────────────────────────────────────────

FULL = {"reasoning": "So.", "closeness": {AINO: 1, VEIKKO: -10, TUULI: "+5"}}


def of_answers(folder: Path, *calls: dict[str, Any], **more: Any) -> dict[str, Form]:
    record = recorded(folder, calls=calls, **more)
    story = story_in(record)
    assert story is not None
    return forms(record, story)


def test_first_answers_only(tmp_path: Path):
    found = of_answers(
        tmp_path,
        asked("review", OLLE, None, "round 1"),  # the connection failed
        asked("review", OLLE, {**FULL, "closeness": {AINO: 11, VEIKKO: 0, TUULI: 0}}, "round 1", n=1),
        asked("review", OLLE, FULL, "round 1", n=2),  # a correction
        asked("review", OLLE, FULL, "round 2"),
    )
    assert (found["RUS"], found["NoR"]) == (Form(1, 2), Form(2, 2))
    assert found["BUS"] == found["NoB"] == Form(0, 0), "Olle has no beliefs"
    assert found["CS"].percent is None


def test_a_question_that_was_put_again_counts_once(tmp_path: Path):
    again = [asked("review", OLLE, {"reasoning": "So."}, "round 1"), asked("review", OLLE, FULL, "round 1")]
    assert of_answers(tmp_path, *again)["NoR"] == Form(1, 1)


@pytest.mark.parametrize(
    ("closeness", "beliefs", "right"),
    [
        ({AINO: 1, TUULI: 2, OLLE: 3}, {"1": 0, "2": 10}, {"RUS", "NoR", "BUS", "NoB"}),
        ({"Aino": 1, "tuuli": 2, "Olle": 3}, {"1": 0, "2": 10}, {"RUS", "NoR", "BUS", "NoB"}),
        ({AINO: 1, TUULI: 2}, {"1": 0}, {"RUS", "BUS"}),
        ({AINO: 1, TUULI: 2, OLLE: 25}, {"1": "+5 points", "2": 0}, {"NoR", "NoB"}),
        ({AINO: 1, TUULI: 2, OLLE: 3, "Petri": 4}, {"1": 0, "2": 0, "3": 0}, {"RUS", "BUS"}),
        ({AINO: 1, "Aino": 2, TUULI: 2, OLLE: 3}, {"1": 0, "2": 10}, {"BUS", "NoB"}),
        (None, "none", set()),
    ],
)
def test_changes_within_the_bound_and_each_once(tmp_path: Path, closeness: Any, beliefs: Any, right: set[str]):
    answer = {"reasoning": "So.", "closeness": closeness, "beliefs": beliefs}
    found = of_answers(tmp_path, asked("review", VEIKKO, answer, "round 1"))
    assert {kind for kind, form in found.items() if form.right} == right
    assert [found[kind].n for kind in ("RUS", "NoR", "BUS", "NoB")] == [1] * 4


def test_the_first_impression_has_no_beliefs(tmp_path: Path):
    answer = {"reasoning": "So.", "closeness": {AINO: 1, TUULI: 2, OLLE: 3}}
    found = of_answers(tmp_path, asked("review", VEIKKO, answer, "round 0"))
    assert (found["NoR"], found["NoB"]) == (Form(1, 1), Form(0, 0))


def test_prose_has_no_form(tmp_path: Path):
    words = {"type": "ai", "content": "I would rather not say.", "id": "x"}
    row = {**asked("review", VEIKKO, {}, "round 1"), "answer": words}
    assert {kind: form.right for kind, form in of_answers(tmp_path, row).items()} == dict.fromkeys(KINDS, 0)


def test_partners_and_ballots_are_candidates(tmp_path: Path):
    """Partners are those of the stage: in the second, Aino may choose others only. Closed, nobody names itself."""
    stages = [{"kind": "private"}, {"kind": "confidential", "partners": "others"}]
    found = [happened("stage", stage="private", turn=0), happened("stage", stage="confidential", turn=6)]
    plan = {"reasoning": "So.", "plan": ["wages"]}
    calls = [
        asked("choice", AINO, {**plan, "partner": "Veikko"}, "act 3", turn=0),
        asked("choice", AINO, {**plan, "partner": AINO}, "act 4", turn=2),
        asked("choice", AINO, {**plan, "partner": VEIKKO}, "act 9", turn=8),
        asked("choice", AINO, {**plan, "partner": OLLE, "plan": []}, "act 10", turn=9),
        asked("ballot", AINO, {"reasoning": "So.", "choice": AINO}, "open", turn=16),
        asked("ballot", AINO, {"reasoning": "So.", "choice": AINO}, "closed", turn=16),
        asked("ballot", AINO, {"reasoning": "So.", "choice": OLLE}, "guess", turn=16),
    ]
    cs = of_answers(tmp_path, *calls, happenings=found, story={"stages": stages})["CS"]
    assert cs == Form(3, 7), "Veikko, Olle (an empty plan is another fault), and Aino openly"


# ── the course ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_winners(tmp_path: Path):
    for number, (outcome, winner, drawn, ceded) in enumerate(
        [
            ({"winners": [VEIKKO], "ceded": VEIKKO}, VEIKKO, (), True),
            ({"winners": [VEIKKO], "elected": [VEIKKO]}, VEIKKO, (), False),
            ({"winners": [AINO, TUULI]}, "", (AINO, TUULI), False),
            ({"winners": []}, "", (), False),
        ]
    ):
        record = recorded(tmp_path / str(number), outcome=outcome)
        story = story_in(record)
        assert story is not None
        found = settled(record, story)
        assert found is not None
        assert (found.winner, found.drawn, found.ceded) == (winner, drawn, ceded)
        assert story.settlement is not None
        alone = story.model_copy(update={"settlement": story.settlement.model_copy(update={"decider": OLLE})})
        decided = settled(record, alone)
        assert decided is not None
        assert decided.ceded is None, "Olle is no main character and has nothing to give up"
    assert settled(recorded(tmp_path / "none"), story) is None


def test_supporters_by_round_and_changes_of_side(tmp_path: Path):
    rounds = [("", ""), (AINO, ""), (AINO, ""), ("", ""), (TUULI, "")]
    lines = [
        happened("standing", name, number, supports=behind, closeness={VEIKKO: 5})
        for number, each in enumerate(rounds)
        for name, behind in zip((OLLE, VEIKKO), each, strict=True)
    ]
    course = stands(recorded(tmp_path, happenings=lines))
    assert [stand.round for stand in course] == [0, 1, 2, 3, 4]
    assert [supported(stand, [OLLE]) for stand in course] == [0, 1, 1, 0, 1]
    assert [supporters(stand, AINO, [OLLE]) for stand in course] == [0, 1, 1, 0, 0]
    assert changes_of_side(course, [OLLE]) == 1
    assert supported(course[0], []) is None


def test_followers(tmp_path: Path):
    story = story_in(recorded(tmp_path, story={"characters": {
        AINO: {"main": True}, VEIKKO: {"main": True}, TUULI: {"neutral": True}, OLLE: {},
    }}))  # fmt: skip
    assert story is not None
    assert followers(story) == [OLLE]


def closeness_of(*pairs: tuple[int, int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for number, (there, back) in enumerate(pairs):
        found.setdefault(f"a{number}", {})[f"b{number}"] = there
        found.setdefault(f"b{number}", {})[f"a{number}"] = back
    return found


def test_reciprocity():
    assert reciprocity(closeness_of((40, 30), (10, 20), (70, 50))) == pytest.approx(0.743, abs=5e-4)
    assert reciprocity(closeness_of((40, 30))) is None, "one pair is always one line"
    assert reciprocity(closeness_of((10, 10), (10, 10))) is None, "nobody differs"


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), max_size=12))
def test_reciprocity_is_a_correlation(pairs: list[tuple[int, int]]):
    found = reciprocity(closeness_of(*pairs))
    assert found is None or -1 <= found <= 1
    assert found == reciprocity(closeness_of(*((back, there) for there, back in pairs)))


@given(st.lists(st.lists(st.sampled_from(["", "a", "b"]), min_size=3, max_size=3), max_size=6))
def test_supports_are_bounded(rounds: list[list[str]]):
    names = ["x", "y", "z"]
    course = [Stand(n, dict(zip(names, each, strict=True)), {}) for n, each in enumerate(rounds)]
    assert 0 <= changes_of_side(course, names) <= max(0, len(rounds) - 1) * len(names)
    for stand in course:
        share = supported(stand, names)
        assert share is not None
        assert 0 <= share <= 1
        assert round(share * 3) == supporters(stand, "a", names) + supporters(stand, "b", names)


def test_guesses_and_talks(tmp_path: Path):
    record = recorded(
        tmp_path,
        happenings=[
            happened("guess", AINO, 2, choice=TUULI),
            happened("guess", VEIKKO, 2, choice=TUULI),
            happened("guess", TUULI, 2, choice=AINO),
            happened("met", AINO, others=[OLLE], room="1.1.1"),
            happened("met", AINO, others=[OLLE], room="1.2.1"),
            happened("met", OLLE, others=[AINO], room="1.2.2"),
        ],
    )
    assert guesses_right(record, TUULI) == pytest.approx(2 / 3)
    assert guesses_right(record, "") is None
    assert talks(record) == {(AINO, OLLE): 2, (OLLE, AINO): 1}
