"""How companions are measured: scripted persons, courses of trust, rows and their intervals."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from companion_talks import FERRY
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from persimchat.evaluation.companion.latency import at_rank, has_words, ratio, salted
from persimchat.evaluation.companion.measuring import (
    Course,
    Plan,
    abstains,
    accepted,
    hold,
    measure_recall,
    measured,
    repeats,
    rows_of,
    sounds_like_an_assistant,
)
from persimchat.evaluation.companion.rows import Row, summed_up, write_rows
from persimchat.evaluation.companion.scripts import EXCHANGES, PLANTED, TEMPERS, WORDS, Temper, make_script
from persimchat.models.recording import as_record
from persimchat.runs.companion.events import KINDS, Asked, Exchanged
from persimchat.runs.companion.folder import WORLD, companion_settings
from persimchat.runs.log import Log
from persimchat.state.errors import MachineError
from persimchat.state.settings import Settings

SCRIPTS = given(st.integers(1, 20), st.integers(0, 10_000))


@SCRIPTS
@settings(max_examples=40, deadline=None)
def test_equal_seeds_give_equal_words_and_talks_are_as_long_as_said(talks: int, seed: int) -> None:
    script = make_script(talks, seed)
    assert script == make_script(talks, seed)
    assert len(script.talks) == talks
    assert all(len(talk) >= EXCHANGES + 1 and talk[-1] == "Goodbye!" for talk in script.talks)
    assert all(len(set(talk)) == len(talk) for talk in script.talks)


@SCRIPTS
@settings(max_examples=40, deadline=None)
def test_values_differ_and_every_fact_is_told_in_its_talk(talks: int, seed: int) -> None:
    script = make_script(talks, seed)
    values = [fact.value for fact in script.planted]
    assert len(set(values)) == len(values)
    assert all(fact.sentence in script.talks[fact.talk - 1] and fact.value in fact.sentence for fact in script.planted)
    told = [fact for fact in script.planted if not fact.old]
    assert len(told) == PLANTED * talks and len({fact.subject for fact in told}) == len(told)
    for one in values:
        assert not any(one.casefold() in other.casefold() for other in values if other != one)


@SCRIPTS
@settings(max_examples=40, deadline=None)
def test_questions_want_what_counts_in_the_end(talks: int, seed: int) -> None:
    script = make_script(talks, seed)
    last = {fact.subject: fact for fact in script.planted}
    subjects = {fact.subject for fact in script.planted}
    for asked in script.questions:
        assert all(fact.subject in asked.text for fact in asked.planted)
        assert all(last[fact.subject] == fact for fact in asked.planted)
        if asked.kind == "untold":
            assert not any(subject in asked.text for subject in subjects)
        elif asked.kind != "when":
            assert asked.wanted == tuple(fact.value for fact in asked.planted)
        if asked.kind == "corrected":
            (fact,) = asked.planted
            (old,) = (one for one in script.planted if one.subject == fact.subject and not one.old)
            assert asked.unwanted == (old.value,) == (fact.old,) and old.talk < fact.talk
    kinds = [asked.kind for asked in script.questions]
    assert kinds.count("untold") == 2 and ("corrected" in kinds) == (talks > 1)


def test_other_seeds_give_other_words() -> None:
    assert len({make_script(2, seed).talks for seed in range(20)}) == 20


def offline(seed: int = 0) -> Settings:
    return companion_settings(FERRY, environment={}, model="offline", seed=seed)


def course(temper: Temper, trust: tuple[int, ...], **more: object) -> dict[str, float | None]:
    given = {"ends": 0, "labels": ("neutral",) * len(trust), "second": None, **more}
    rows = rows_of("r", Course(temper, trust, **given))  # type: ignore[arg-type]
    return {row.measure: row.value for row in rows if row.measure != "trust"}


@pytest.mark.parametrize(
    ("temper", "trust", "more", "fits"),
    [
        ("friendly", (5, 6, 6, 7), {"second": 7}, True),
        ("friendly", (5, 6, 5, 7), {"second": 7}, False),
        ("friendly", (5, 5, 5), {"second": 7}, False),
        ("friendly", (5, 6), {"second": 6}, False),
        ("friendly", (4, 6), {"second": 8}, False),
        ("friendly", (), {}, False),
        ("hostile", (4, 3, 2, 2, 1, 1, 0), {"ends": 7}, True),
        ("hostile", (4, 3, 3, 3, 3, 3, 2), {"ends": 7}, False),
        ("hostile", (3, 1, 0), {"ends": 9}, False),
        ("hostile", (3, 1, 0), {"ends": 0}, False),
        ("apologising", (5, 5, 5, 3, 4, 4), {}, True),
        ("apologising", (5, 5, 5, 4, 4, 4), {}, False),
        ("apologising", (5, 5, 5, 3, 3, 3), {}, False),
        ("apologising", (5, 5, 5, 3, 4, 5), {}, False),
        ("apologising", (5, 5, 5, 3), {}, False),
        ("neutral", (5, 4, 6), {}, True),
        ("neutral", (5, 3), {}, False),
        ("neutral", (5, 7), {}, False),
    ],
)
def test_whether_a_course_is_as_it_should_be(
    temper: Temper, trust: tuple[int, ...], more: dict[str, object], fits: bool
) -> None:
    assert course(temper, trust, **more)["course_as_expected"] == float(fits)


def test_ends_and_emotions_count_where_they_say_something() -> None:
    assert course("neutral", (5,), ends=1)["false_end"] == 1 and course("friendly", (6,))["false_end"] == 0
    assert course("hostile", (3, 2), labels=("angry", "happy"), ends=2)["emotion_fits"] == 0.5
    assert "false_end" not in course("hostile", (3,)) and "emotion_fits" not in course("neutral", (5,))


def test_every_scripted_person_has_as_many_lines() -> None:
    assert {len(lines) for lines in WORDS["tempers"].values()} == {12} and [*WORDS["tempers"]] == [*TEMPERS]


@pytest.mark.long
@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("seed", range(5))
async def test_offline_trust_takes_its_courses(tmp_path: Path, seed: int) -> None:
    for temper in TEMPERS:
        found = await hold(tmp_path / temper, FERRY, offline(seed), temper)
        values = {row.measure: row.value for row in rows_of("r", found) if row.measure != "trust"}
        assert values["course_as_expected"] == 1, found
        assert not values.get("false_end"), found
        assert (values.get("emotion_fits", 1) or 0) > 0.5, found


def reaches_the_goals(rows: list[Row]) -> None:
    least = {"recall@10": 0.9, "right": 0.9, "abstains": 0.95}
    none = ("leaks", "contradicts", "stale_in_prompt", "knows_a_stranger")
    values = {name: summed_up(rows, name).value for name in (*least, *none)}
    assert all((values[name] or 0) >= goal for name, goal in least.items()), values
    assert not any(values[name] for name in none), values


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("talks", [1, 2])
async def test_offline_recall_of_few_talks(tmp_path: Path, talks: int) -> None:
    rows = await measured(
        "recall", "w", talks, 0, folder=tmp_path, place=FERRY, settings=offline(), baselines=talks == 1
    )
    reaches_the_goals(rows)
    assert summed_up(rows, "accepted_at_first").value == 1
    assert talks != 1 or summed_up(rows, "right_with_history").value == 1


@pytest.mark.long
async def test_offline_recall_of_five_talks_over_three_seeds(tmp_path: Path) -> None:
    rows: list[Row] = []
    for seed in range(3):
        rows += await measure_recall(tmp_path / str(seed), FERRY, offline(seed), 5, seed)
    reaches_the_goals(rows)


TRUST = {"reasoning": "So.", "cause": "none", "change": 0, "wants_to_end": False}


def test_shares_and_means_have_intervals_of_their_kind() -> None:
    rows = [Row("r", f"single {n}", "right", float(n > 0)) for n in range(10)]
    rows += [Row("r", "x", "first_words", value) for value in (0.5, 1.0, None)]
    share, mean = summed_up(rows, "right"), summed_up(rows, "first_words")
    assert share.value == 0.9 and share.method == "Clopper–Pearson" and share.low == pytest.approx(0.555, abs=1e-3)
    assert (mean.value, mean.n, mean.dropped, mean.method) == (0.75, 2, 1, "t")
    assert summed_up(rows, "right", "two").value is None


def test_a_row_is_a_line_and_nothing_in_it_is_a_formula(tmp_path: Path) -> None:
    path = write_rows(
        tmp_path / "new", [Row("r", "=1+1", "right", None, "nothing recalled"), Row("r", "b", "leaks", 0.0)]
    )
    head, first, second = list(csv.reader(path.open(encoding="utf-8")))
    assert head == ["run", "unit", "measure", "value", "missing"]
    assert first == ["r", "'=1+1", "right", "", "nothing recalled"] and second == ["r", "b", "leaks", "0.0", ""]
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="table"):
        write_rows(tmp_path / "file", [])


@pytest.mark.parametrize(
    "words", ["I don't know.", "You never told me.", "No idea, sorry.", "That I can’t recall.", "Das weiß ich nicht."]
)
def test_words_that_say_that_something_is_not_known(words: str) -> None:
    assert abstains(words) and not abstains("Your sister is called Mira.")


def test_words_of_an_assistant() -> None:
    assert sounds_like_an_assistant("How can I help you today?") and sounds_like_an_assistant("As an AI, I may not.")
    assert not sounds_like_an_assistant("Can you help me with the rope?")


def call(module: str, content: str | None, n: int = 0, **more: Any) -> dict[str, Any]:
    answer = None if content is None else as_record(AIMessage(content=content, id="a"))
    row = {"turn": 1, "agent": "Oda", "module": module, "model": "m", "n": n, "prompt": "0", "seconds": 0.1}
    return {**row, "input_tokens": 1, "output_tokens": 1, "answer": answer, **more}


def test_accepted_answers_are_counted_by_module_and_question(tmp_path: Path) -> None:
    calls = [
        call("trust", json.dumps(TRUST)),
        call("trust", "Well, I trust him.", turn=2),
        call("trust", json.dumps(TRUST), 1, turn=2),
        call("trust", "Hm.", turn=3),
        call("trust", "Hm.", 1, turn=3),
        call("trust", json.dumps({**TRUST, "change": 12}), turn=4),
        call("trust", None, turn=5, failed="HTTP 400"),
        call("natural_language", "Good morning."),
    ]
    with Log(tmp_path / WORLD, KINDS) as log:
        log.append(Asked.model_validate(one) for one in calls)
    rows = accepted("w", tmp_path)
    assert [(row.unit, row.measure, row.value) for row in rows] == [
        ("trust", "accepted_at_first", 1),
        ("trust", "accepted_at_first", 0),
        ("trust", "accepted_at_second", 1),
        ("trust", "accepted_at_first", 0),
        ("trust", "accepted_at_second", 0),
        ("trust", "accepted_at_first", 1),
        ("natural_language", "accepted_at_first", 1),
    ]


def test_an_answer_repeats_only_what_was_said_to_the_same_person(tmp_path: Path) -> None:
    said = [("p", "Hello there."), ("q", "Hello there."), ("p", "hello  THERE."), ("p", "")]
    usual: dict[str, Any] = {
        "agent": "Oda",
        "talk": "1",
        "turn": 1,
        "at": "",
        "said": "Hi.",
        "emotion": "neutral",
        "trust": 5,
    }
    usual |= {"emotion": "neutral", "end": False, "appraised": True}
    with Log(tmp_path / WORLD, KINDS) as log:
        log.append(Exchanged(**usual, id=str(n), person=one, utterance=words) for n, (one, words) in enumerate(said))
    assert [row.value for row in repeats("w", tmp_path)] == [0, 0, 1]


def test_ranks_and_ratio_of_times() -> None:
    rows = [Row("latency", str(n), "first_words_ms", 100.0 + n) for n in range(101)]
    assert ratio(rows) is None and at_rank([], "first_words_ms", 0.5) is None
    rows += [Row("latency", str(n), "bare_first_words_ms", 75.0) for n in range(3)]
    assert ratio(rows) == 2.0 and at_rank(rows, "first_words_ms", 0.95) == 195.0


def test_a_bare_request_differs_in_its_first_characters_alone() -> None:
    body = {"model": "m", "messages": [{"role": "system", "content": "Ahoj, Říha."}, {"role": "user", "content": "x"}]}
    sent = json.loads(salted(json.dumps(body, ensure_ascii=False).encode()))
    assert sent["messages"][0]["content"] == "(b) Ahoj, Říha." and sent["messages"][1:] == body["messages"][1:]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('data: {"choices": [{"delta": {"content": "Well"}}]}', True),
        ('data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}', False),
        ('data: {"choices": []}', False),
        ("data: [DONE]", False),
        ('data: {"choices": 7}', False),
        ("", False),
    ],
)
def test_lines_of_a_stream_that_have_words(line: str, words: bool) -> None:
    assert has_words(line) is words


def test_a_plan_says_how_many_requests_it_takes() -> None:
    plan = Plan(("recall",), (1,), 1)
    lean, full = (plan.calls(Settings(cognition=name)) for name in ("lean", "full"))
    exchanges = 11 + 2 * 6 + 1
    assert (lean, full) == (2 * exchanges + 1, 4 * exchanges + 1)
    assert Plan(("recall", "trust"), (1, 2), 2).calls(Settings()) > 2 * lean
    assert [name for _, name, _, _ in Plan(("recall", "trust", "latency"), (1, 2), 1).worlds()] == [
        "recall-1-0",
        "recall-2-0",
        "trust-0",
        "latency",
    ]
