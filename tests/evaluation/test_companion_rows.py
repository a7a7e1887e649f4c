"""Rows of a companion's measures: written as a table, summed up with intervals; and the files from which some come."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from persimchat.evaluation.companion.answers import accepted, repeats
from persimchat.evaluation.companion.latency import at_rank, has_words, ratio, salted
from persimchat.evaluation.companion.measuring import Plan
from persimchat.evaluation.companion.recall import abstains, sounds_like_an_assistant
from persimchat.evaluation.companion.rows import Row, summed_up, write_rows
from persimchat.models.recording import as_record
from persimchat.state.errors import MachineError
from persimchat.state.settings import Settings

TRUST = {"reasoning": "So.", "cause": "none", "change": 0, "wants_to_end": False}


def test_shares_have_wilsons_interval_and_means_a_bootstraps() -> None:
    rows = [Row("r", f"single {n}", "right", float(n > 0)) for n in range(10)]
    rows += [Row("r", "x", "recall@5", value) for value in (0.5, 1.0, None)]
    share, mean = summed_up(rows, "right"), summed_up(rows, "recall@5")
    assert share.value == 0.9 and share.method == "Wilson" and share.low is not None and 0.55 < share.low < 0.65
    assert (mean.value, mean.n, mean.dropped) == (0.75, 2, 1)
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
    (tmp_path / "calls.jsonl").write_text("".join(json.dumps(one) + "\n" for one in calls))
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
    lines = [{"agent": "Oda", "person": person, "utterance": words} for person, words in said]
    (tmp_path / "exchanges.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
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
