"""Answers of raters: what is read, and what is refused with its line, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from evaluation.surveys import csv_of, key_of
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from persimchat.evaluation.csv_rows import read_rows
from persimchat.evaluation.survey.making import ITEMS
from persimchat.evaluation.survey.reading import Comment, Rating, check_items, read_answers, seems_a_name
from persimchat.state.errors import InputError

Refused = Callable[..., str]
Write = Callable[..., Path]
KEY = key_of()
GOOD = ("R1", "t1s0", 7, "")


def test_what_is_read(write: Write):
    rows = [GOOD, ("R1", "t1s1", "8.0", "fine"), ("R2", "t1s0", "", "no idea"), ("R2", "realistic", "", "Tea")]
    found = read_answers(write("a.csv", csv_of(rows)), KEY)
    assert found.raters == ["R1", "R2"]
    assert found.ratings == [Rating("R1", "t1s0", 7), Rating("R1", "t1s1", 8)]
    assert [comment.item for comment in found.comments] == ["t1s1", "t1s0", "realistic"]
    assert found.comments[0] == Comment("R1", "t1s1", "fine")


@pytest.mark.parametrize(
    "text",
    [
        "rater,item,rating\nR1,t1s0,7\n",
        "\ufeffrater;item;rating\r\nR1;t1s0;7\r\n",
        "Rater\tItem\tRating\n\nR1\tt1s0\t7,0\n\n",
        'item,rating,rater\n" t1s0 ",7, R1\n',
        "rater,item,rating,comment\nR1,t1s0,7\n",
    ],
)
def test_forms_of_a_table(write: Write, text: str):
    assert read_answers(write("a.csv", text), KEY).ratings == [Rating("R1", "t1s0", 7)]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("R2", "t1s0", 0), ("'0' is no rating", "from 1 to 10")),
        (("R2", "t1s0", 11), ("'11'",)),
        (("R2", "t1s0", "7.5"), ("'7.5'", "whole number")),
        (("R2", "t1s0", "nan"), ("'nan'",)),
        (("R2", "t1s0", "very"), ("'very'",)),
        (("R1", "t1s0", 7), ("has answered item t1s0 before", "the other is line 2")),
        (("R2", "t9s9", 7), ("no item 't9s9'", ITEMS)),
        (("R2", "realistic", 7), ("open question", "comment")),
        (("", "t1s0", 7), ("no rater", "R01")),
        (("R" * 61, "t1s0", 7), ("more than 60 characters",)),
        (("jana@example.org", "t1s0", 7), ("looks like an e-mail address", "pseudonyms")),
        (("Jana Nováková", "t1s0", 7), ("looks like a real name", "pseudonyms")),
        (("R2", "t1s0", 7, "a", "b"), ("5 cells, but 4 columns", "quotes")),
    ],
)
def test_a_wrong_lineseems_a_named(write: Write, refused: Refused, row: tuple[object, ...], words: tuple[str, ...]):
    path = write("a.csv", csv_of([GOOD, row]))
    said = refused(lambda: read_answers(path, KEY), f"{path}, line 3", *words)
    assert "jana" not in said.lower()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rater,item\nR1,t1s0\n", ("rater, item and rating are needed", "line 1")),
        ("", ("rater, item and rating are needed",)),
        ("rater,item,rating,e-mail\n", ("'e-mail' is none of these", "Keep only")),
        ("rater,item,rating,coment\n", ("'coment'", "Did you mean 'comment'?")),
        ("rater,item,rating,item\n", ("'item' is there twice",)),
        ("rater,item,rating\n", ("no rating in it",)),
        ("rater,item,rating\nR1,t1s0,\n", ("no rating in it",)),
        ("rater,item,rating\nR1,bcdfg,7\nR1,realistic,\n", ("another survey",)),
        ('rater,item,rating\nR1,"t1s0,7\n', ("cannot be read", "CSV")),
        (b"rater,item,rating\nR\xff,t1s0,7\n", ("cannot be read", "CSV")),
    ],
)
def test_a_file_that_is_not_read(write: Write, refused: Refused, text: str | bytes, words: tuple[str, ...]):
    path = write("a.csv", text)
    refused(lambda: read_answers(path, KEY), str(path), *words)


def test_a_file_that_is_not_there(tmp_path: Path, refused: Refused):
    refused(lambda: read_answers(tmp_path / "a.csv", KEY), "a.csv", "No such file")
    refused(lambda: read_answers(tmp_path, KEY), "directory")


@pytest.mark.parametrize("name", ["Jana Nováková", "novák, jan", "jan.novak", "J. Novák", "Anne-Marie O'Neill"])
def test_names(name: str):
    assert seems_a_name(name)


@pytest.mark.parametrize("pseudonym", ["R01", "R 01", "rater 7", "Rater A", "owl", "blue_fox", "5f3a", "p-12", "李雷"])
def test_pseudonyms(pseudonym: str):
    assert not seems_a_name(pseudonym)


def test_a_key_of_another_survey(write: Write, refused: Refused):
    items = "\n".join(["item,topic", *(f"{item.item},1" for item in KEY.items)])
    check_items(write(f"same/{ITEMS}", items).parent, KEY)
    refused(lambda: check_items(write(f"other/{ITEMS}", items.replace("t1s0", "t8s0")).parent, KEY), "another survey")
    check_items(write("alone/key.json", "").parent, KEY)


@given(st.text(), st.text(), st.text())
@hypothesis_settings(max_examples=40)
def test_no_text_is_a_traceback(tmp_path_factory: pytest.TempPathFactory, rater: str, item: str, rating: str):
    """Whatever stands in a file, it is read or refused."""
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text(f"rater,item,rating\nR1,t1s0,7\n{rater},{item},{rating}\n", encoding="utf-8", errors="replace")
    with suppress(InputError):
        assert read_answers(path, KEY).ratings


def test_any_columns_may_be_allowed(write: Write, refused: Refused):
    path = write("a.csv", "B,a,c\n1, 2 ,3\n")
    assert read_rows(path, ["a"], what="things", remedy="Do.") == [(f"{path}, line 2", {"b": "1", "a": "2", "c": "3"})]
    refused(lambda: read_rows(path, ["a", "d"], what="things", remedy="Do."), "the columns a and d", "Do.")
