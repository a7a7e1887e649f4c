"""Files of benchmarks: the published forms are read, and whatever differs from them is named and never guessed."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from offenders import check_each

from persimchat.evaluation.benchmarks import formats
from persimchat.evaluation.benchmarks.formats import FORMATS, drawn, own_items, panel, read_items
from persimchat.personas.scenario import make_scenario
from persimchat.state.answer_format import parse_answer
from persimchat.state.errors import InputError

Write = Callable[..., Path]
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
def test_broken_files(name: str, data: bytes, where: str, write: Write) -> None:
    path = write("data", data)
    with pytest.raises(InputError) as caught:
        read_items(name, path)
    assert f"{path}{where}" in str(caught.value)
    assert "\n" not in str(caught.value)


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
