"""Files of benchmarks: the published forms are read, and whatever differs from them is named and never guessed."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
import yaml
from fixtures import Refused, Write
from hypothesis import given
from hypothesis import strategies as st
from offenders import check_each

from persimchat.evaluation.benchmarks import formats
from persimchat.evaluation.benchmarks.formats import FORMATS, Item, drawn, own_items, panel, read_items
from persimchat.evaluation.benchmarks.scoring import Scored, State, results, state_of
from persimchat.models.asking import uselessness
from persimchat.personas.scenario import make_scenario
from persimchat.state.debates.answers import parse_answer
from persimchat.state.errors import InputError

OWN: dict[str, list[dict[str, Any]]] = yaml.safe_load(Path(formats.__file__).with_name("own.yaml").read_text("utf-8"))
COPIES = {
    "gsm8k": "gsm8k_test.jsonl",
    "aqua": "aqua_test.json",
    "strategyqa": "strategyqa_dev.json",
    "ecqa": "ecqa_test.csv",
}


def text_of(name: str, rows: list[dict[str, Any]]) -> str:
    """Rows as the benchmark's authors publish them."""
    if name == "strategyqa":
        return json.dumps(rows, indent=1)
    if name == "ecqa":
        lines = [list(rows[0]), *(list(row.values()) for row in rows)]
        return "\n".join(",".join(f'"{cell}"' for cell in line) for line in lines) + "\n"
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def changed(name: str, place: int, **fields: Any) -> list[dict[str, Any]]:
    """Our own items of a form; one of them has other fields, and lacks those that are None."""
    rows = [dict(row) for row in OWN[name]]
    rows[place] = {key: value for key, value in {**rows[place], **fields}.items() if value is not None}
    return rows


def test_our_own_items_in_the_published_forms(write: Write) -> None:
    """Eight in each form, all with a reference in its form; read from files, they are the same."""
    mine = own_items()
    assert len(mine) == 32 and len({item.id for item in mine}) == 32
    for name in FORMATS:
        read = read_items(name, write(f"{name}.data", text_of(name, OWN[name])))
        assert read == [item for item in mine if item.format == name]
        assert len(read) == 8
    assert [item.answer for item in mine if item.format == "gsm8k"] == [
        "12",
        "180",
        "4",
        "18",
        "400",
        "124",
        "1500",
        "5",
    ]
    assert all(parse_answer(item.answer, item.form, item.choices) == item.answer for item in mine)


@pytest.mark.parametrize("name", COPIES)
def test_the_published_files(name: str, shared: Path) -> None:
    """Sixty rows of each; every choice is understood by its text, its letter, and both."""
    folder = shared / "data" / "benchmarks"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    items = read_items(name, folder / COPIES[name])
    assert len(items) == 60
    for item in items:
        assert parse_answer(item.answer, item.form, item.choices) == item.answer
        for letter, choice in zip("ABCDE", item.choices, strict=False):
            for told in (choice, f"({letter})", f"{letter}) {choice}"):
                assert told in item.choices or parse_answer(told, item.form, item.choices) == choice


def test_letters_stand_for_options_that_words_do_not_tell_apart(write: Write) -> None:
    options = ["A)+45", "B)-45", "C)0; nothing", "D)7", "E)8"]
    (item, *_) = read_items("aqua", write("a.jsonl", text_of("aqua", changed("aqua", 0, options=options, correct="B"))))
    assert (item.choices, item.answer) == (("A", "B", "C", "D", "E"), "B")
    assert item.question.endswith("\nA) +45\nB) -45\nC) 0; nothing\nD) 7\nE) 8")


def test_an_option_that_stands_twice_is_one_answer(write: Write) -> None:
    rows = changed("ecqa", 0, q_op4="drying rack")
    (item, *_) = read_items("ecqa", write("e.csv", text_of("ecqa", rows)))
    assert (len(item.choices), item.answer) == (4, "drying rack")


@pytest.mark.parametrize(
    ("name", "fields", "line", "words"),
    [
        ("gsm8k", {"answer": "It is 12."}, 3, ("field answer", "####")),
        ("gsm8k", {"answer": "#### between 3 and 5"}, 3, ("field answer", "not one number")),
        ("gsm8k", {"question": None}, 3, ("field question", "missing")),
        ("gsm8k", {"question": 7}, 3, ("field question",)),
        ("aqua", {"correct": "F"}, 3, ("field correct", "'F' is not among the options")),
        ("aqua", {"correct": ""}, 3, ("field correct", "not among the options")),
        ("aqua", {"options": ["A)1", "C)2"]}, 3, ("field options[1]", "does not begin with B)")),
        ("aqua", {"options": ["A)1"]}, 3, ("field options", "1 options")),
        ("strategyqa", {"answer": "yes"}, 12, ("field answer",)),
        ("ecqa", {"q_ans": "attic"}, 4, ("field q_ans", "not among the options")),
    ],
)
def test_what_is_wrong_is_named_with_line_and_field(
    name: str, fields: dict[str, Any], line: int, words: tuple[str, ...], write: Write
) -> None:
    path = write("data", text_of(name, changed(name, 2, **fields)))
    with pytest.raises(InputError) as caught:
        read_items(name, path)
    assert re.search(rf"{re.escape(str(path))}(:|, line ){line}, ", str(caught.value))
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)


def test_the_file_of_another_benchmark_is_refused(write: Write) -> None:
    files = {name: write(f"{name}.data", text_of(name, OWN[name])) for name in FORMATS}

    def check(name: str, other: str) -> None:
        with pytest.raises(InputError, match=rf"{other}\.data(:|, line )\d"):
            read_items(name, files[other])

    check_each([(name, other) for name in FORMATS for other in FORMATS if name != other], check)


@pytest.mark.parametrize(
    ("name", "data", "where"),
    [
        ("gsm8k", b"", ""),
        ("gsm8k", b'{"question": "a"', ":1"),
        ("gsm8k", b"[1]\n", ":1"),
        ("gsm8k", b'{"question": "a", "answer": "#### 1"}\n\xff\n', ":2"),
        ("aqua", b"\n\nnull\n", ":3"),
        ("strategyqa", b"{}", ":1"),
        ("strategyqa", b"[", ":1"),
        ("strategyqa", b'[{"question": "a", "answer": true}\n, 7]', ":2"),
        ("strategyqa", b'[{"question": "a", "answer": true}\n{}]', ":2"),
        ("strategyqa", b"[" * 100_000, ":1"),
        ("ecqa", b"q_text,q_ans\n", ", line 1"),
        ("ecqa", b"q_text,q_op1,q_op2,q_op3,q_op4,q_op5,q_ans\na,b\n", ", line 2, field q_ans"),
        ("ecqa", b'q_text,q_op1,q_op2,q_op3,q_op4,q_op5,q_ans\n"a"b,1,2,3,4,5,1\n', ", after line 1"),
    ],
)
def test_broken_files(name: str, data: bytes, where: str, write: Write, refused: Refused) -> None:
    path = write("data", data)
    refused(lambda: read_items(name, path), f"{path}{where}")


def test_rows_of_several_lines_keep_their_place(write: Write) -> None:
    rows = changed("ecqa", 0, q_text="Where\nwould it be?")
    rows[2]["q_ans"] = "nowhere"
    path = write("e.csv", text_of("ecqa", rows))
    assert len(list(csv.reader(path.open(newline="")))) == 9
    with pytest.raises(InputError, match=r"e\.csv, line 5, field q_ans"):
        read_items("ecqa", path)


def test_draws() -> None:
    """Repeatable; none is drawn again while there are others (design, E24)."""
    assert drawn("gsm8k", 7, 10, 3, 1) == [[5, 2, 6]]
    rounds = drawn("gsm8k", 7, 10, 3, 4)
    assert len({place for draw in rounds[:3] for place in draw}) == 9
    assert set(rounds[3]) >= set(range(10)) - {place for draw in rounds[:3] for place in draw}
    assert drawn("gsm8k", 7, 10, 3, 4) == rounds != drawn("gsm8k", 8, 10, 3, 4)


@given(st.integers(1, 40), st.data())
def test_draws_use_all_items_evenly(of: int, data: st.DataObject) -> None:
    number, rounds = data.draw(st.integers(1, of)), data.draw(st.integers(1, 6))
    found = drawn("own", 1, of, number, rounds)
    assert [len(set(draw)) for draw in found] == [number] * rounds
    times = [sum(place in draw for draw in found) for place in range(of)]
    assert max(times) - min(times) <= 1


@pytest.mark.parametrize("name", formats.NAMES)
def test_panels(name: str) -> None:
    people = make_scenario("What is right?", panel(name)).participants
    assert len(people) == 3


# Answers scored: right, wrong, unparseable, refused, failed; methods compared on the items that both answered


SUM = Item("gsm8k-1", "How many?", "number", (), "18", "gsm8k")


def scored(method: str, states: str, *, round: int = 1, consensus: str = "") -> list[Scored]:
    """Answers of a method: r right, w wrong, u unparseable, x refused, f failed; + and - for consensus."""
    words: dict[str, State] = {"r": "right", "w": "wrong", "u": "unparseable", "x": "refused", "f": "failed"}
    return [
        Scored(
            round,
            Item(f"gsm8k-{n}", "How many?", "number", (), "18", "gsm8k"),
            method,
            state=words[state],
            consensus=consensus[n] == "+" if consensus else None,
            calls=2,
            cost_usd=0.01,
        )
        for n, state in enumerate(states)
    ]


@pytest.mark.parametrize(
    ("answer", "state"),
    [("18.0", "right"), ("$18", "right"), ("19", "wrong"), ("17 or 18", "unparseable"), ("36/2", "unparseable")],
)
def test_an_answer_and_its_reference(answer: str, state: State) -> None:
    assert state_of(answer, SUM) == state


def test_accuracy_counts_what_is_not_right_and_leaves_failures_out() -> None:
    (one,) = results(scored("cot", "rrrwuxff"), ["cot"], "cot")
    assert (one.states["failed"], one.accuracy.n, one.accuracy.value) == (2, 6, 0.5)
    assert (one.calls, one.calls_a_right) == (16, pytest.approx(16 / 3))
    assert one.usd_a_right == pytest.approx(0.08 / 3)
    assert one.against is None and one.consensus is None and one.sd is None


def test_rounds_and_consensus() -> None:
    answers = scored("mad", "rrww", consensus="++--") + scored("mad", "rrrr", round=2, consensus="+++-")
    (one,) = results(answers, ["mad"], "mad")
    assert (one.rounds, one.mean, one.sd) == ([0.5, 1.0], 0.75, pytest.approx(0.35355, abs=1e-5))
    assert one.consensus is not None and one.consensus.value == 5 / 8
    assert ((one.agreed.right, one.agreed.n), (one.not_agreed.right, one.not_agreed.n)) == ((5, 5), (1, 3))


def test_methods_compared() -> None:
    """Eight items that only one got right and two that only the other did, of thirty (design, E4)."""
    first, second = scored("mad", "r" * 8 + "w" * 2 + "r" * 20), scored("cot", "w" * 8 + "r" * 2 + "r" * 20)
    mad, cot = results([*first, *second], ["mad", "cot"], "cot")
    assert cot.against is None and mad.against is not None
    assert (mad.against.only_first, mad.against.only_second, mad.against.left_out) == (8, 2, 0)
    assert mad.against.test.p == pytest.approx(0.109375)
    assert mad.against.difference.value == pytest.approx(0.2)
    assert (mad.against.difference.low, mad.against.difference.high) == pytest.approx((-0.0057, 0.4057), abs=5e-5)


def test_a_failure_takes_its_item_out_of_both_sides() -> None:
    mad, _ = results([*scored("mad", "fwr"), *scored("cot", "rrf")], ["mad", "cot"], "cot")
    assert mad.against is not None
    assert (mad.against.left_out, mad.against.difference.n, mad.against.only_second) == (2, 1, 1)


def test_holm_adjusts_over_all_methods_compared() -> None:
    answers = scored("cot", "r" * 10) + scored("mad", "w" * 10) + scored("reconcile", "w" * 8 + "rr")
    _, mad, reconcile = results(answers, ["cot", "mad", "reconcile"], "cot")
    assert mad.against is not None and reconcile.against is not None
    assert mad.against.p_holm == pytest.approx(2 * 2 / 2**10)
    assert reconcile.against.p_holm == pytest.approx(2 / 2**8)


@pytest.mark.parametrize(
    ("detail", "state"),
    [
        ("wrong answer twice: answer: '7 or 8' is not one number (model m, agent A)", "unparseable"),
        ("wrong answer twice: the model refused to answer: no (model m)", "refused"),
        ("wrong answer twice: the answer was stopped by the server's content filter (model m)", "refused"),
        ("the server's content filter stopped it: no (model m)", "refused"),
        ("cannot reach the server", None),
        ("", None),
    ],
)
def test_words_of_an_error(detail: str, state: State | None) -> None:
    assert uselessness(detail) == state
