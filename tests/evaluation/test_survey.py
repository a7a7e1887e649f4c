"""Draws of a survey: topics that all systems have, orders that favour nobody, ids that say nothing."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
from evaluation.statistics.test_effects import PUBLISHED
from evaluation.surveys import MODEL, answers_of, csv_of, held_runs, key_of
from evaluation.surveys import SYSTEMS as THREE
from fixtures import Refused, Write
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from run_files import read_table
from run_folders import HOSTILE, PEOPLE, write_steered

from persimchat.evaluation.csv_rows import read_rows
from persimchat.evaluation.survey.key import KEY, read_key
from persimchat.evaluation.survey.making import (
    CONSENT,
    INSTRUCTIONS,
    ITEMS,
    PAGE,
    TEMPLATE,
    Held,
    draw_ids,
    draw_order,
    draw_topics,
    make_survey,
    write_survey,
)
from persimchat.evaluation.survey.results import (
    CODEBOOK,
    TABLES,
    Answers,
    Comment,
    Rating,
    SurveyResult,
    check_items,
    read_answers,
    rows_of,
    seems_a_name,
    survey_result,
    write_tables,
)
from persimchat.state.errors import InputError

SYSTEMS = ["minds", "turns", "script"]


def held(system: str, task: str, topic: str = "") -> Held:
    return Held(system, task, topic or task, Path(f"{system}-{task}"))


def test_only_tasks_that_all_systems_have():
    there = [held(system, task) for task in "abcde" for system in SYSTEMS if (system, task) != ("script", "c")]
    for seed in range(20):
        drawn = draw_topics(there, SYSTEMS, 4, Random(seed))
        assert {found["minds"].task for found in drawn} == set("abde")
        assert all(list(found) == sorted(SYSTEMS) for found in drawn)


def test_a_topic_comes_again_only_after_all_others():
    there = [held(system, f"{topic}{n}", topic) for topic in "xyz" for n in range(3) for system in SYSTEMS]
    for seed in range(20):
        topics = [found["minds"].topic for found in draw_topics(there, SYSTEMS, 4, Random(seed))]
        assert set(topics[:3]) == set("xyz")
        assert topics[3] in "xyz"


def test_every_topic_may_be_drawn():
    there = [held(system, task) for task in "abcdef" for system in SYSTEMS]
    times = Counter(found["minds"].task for n in range(300) for found in draw_topics(there, SYSTEMS, 2, Random(n)))
    assert set(times) == set("abcdef")
    assert max(times.values()) < 2 * min(times.values())


def test_what_cannot_be_drawn(refused: Refused):
    there = [held(system, task) for task in "ab" for system in SYSTEMS]
    refused(lambda: draw_topics(there, SYSTEMS, 3, Random(0)), "2 tasks that all systems have, not 3", "script 2")
    refused(lambda: draw_topics(there[:3], SYSTEMS, 3, Random(0)), "there is 1 task", "--topics")
    refused(lambda: draw_topics(there, SYSTEMS[:1], 1, Random(0)), "2 to 26 systems, not 1")
    refused(lambda: draw_topics([*there, there[0]], SYSTEMS, 1, Random(0)), "minds-a and minds-a", "system minds")
    apart = [held(system, "a", f"about {system}") for system in SYSTEMS]
    refused(lambda: draw_topics(apart, SYSTEMS, 1, Random(0)), "different topics", "axis")
    refused(lambda: draw_topics([], SYSTEMS, 1, Random(0)), "0 tasks")


def test_each_system_stands_in_each_place_equally_often():
    """Orders are drawn for each topic anew, without regard to other topics: over many seeds none is favoured."""
    orders = Counter(tuple(draw_order(SYSTEMS, chance)) for chance in map(Random, range(600)) for _ in range(4))
    assert len(orders) == 6
    assert all(abs(times - 400) < 80 for times in orders.values())  # four standard deviations
    for place in range(3):
        for system in SYSTEMS:
            stood = sum(times for order, times in orders.items() if order[place] == system)
            assert abs(stood - 800) < 100


@given(st.integers(0, 200), st.integers(0, 2**32))
@hypothesis_settings(max_examples=30)
def test_ids(number: int, seed: int):
    ids = draw_ids(number, Random(seed))
    assert len(set(ids)) == len(ids) == number
    assert all(len(each) == 5 and each.isalpha() and not set(each) & set("aeiou") for each in ids)
    assert draw_ids(number, Random(seed)) == ids


# A survey's files: one form for all systems, nothing that tells them apart outside the key, text as data


FILES = {ITEMS, PAGE, TEMPLATE, INSTRUCTIONS, CONSENT, KEY}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Held]:
    """Twelve conversations: four topics and three systems."""
    return held_runs(tmp_path_factory.mktemp("runs"))


def written(held: list[Held], out: Path, systems: tuple[str, ...] = THREE, **about: Any) -> Path:
    write_survey(make_survey(held, systems, **about), out)
    return out


def test_the_files(runs: list[Held], tmp_path: Path):
    out = written(runs, tmp_path / "survey", by="method")
    assert {path.name for path in out.iterdir()} == FILES
    items, key = read_table(out / ITEMS), read_key(out)
    assert [row["item"] for row in items] == [item.item for item in key.items]
    assert [(row["topic"], row["label"], row["order"]) for row in items[:4]] == [
        ("1", "A", "1"), ("1", "B", "2"), ("1", "C", "3"), ("2", "A", "1"),
    ]  # fmt: skip
    assert Counter(row["about"] for row in items) == dict.fromkeys(("Tea?", "Cars?", "Trees?", "Owls?"), 3)
    assert all(len(row["excerpt"].splitlines()) == 5 for row in items)
    assert items[0]["excerpt"].startswith(f"{PEOPLE[1]}: Well, let us see.")
    assert Counter(item.system for item in key.items) == dict.fromkeys(THREE, 4)
    assert all((item.utterances, item.words) == (5, 30) for item in key.items)
    page = (out / PAGE).read_text(encoding="utf-8")
    assert [item.item for item in key.items if f'id="{item.item}"' not in page] == []
    asked = [row["item"] for row in read_table(out / TEMPLATE)]
    assert asked == [*(item.item for item in key.items), "realistic", "improve"]


def test_the_key_says_what_each_excerpt_is_of(runs: list[Held], tmp_path: Path):
    """The words of a system's utterances have its number in them."""
    out = written(runs, tmp_path / "survey")
    excerpts = {row["item"]: row["excerpt"] for row in read_table(out / ITEMS)}
    for item in read_key(out).items:
        assert f"({THREE.index(item.system)} 1)" in excerpts[item.item]
        assert item.run.startswith(item.system)


def test_only_the_key_tells_systems_apart(runs: list[Held], tmp_path: Path):
    out = written(runs, tmp_path / "survey", by="method", source="town")
    told = {MODEL, "gpt-4o", "offline", "secret", "method", "town", str(tmp_path), *THREE}
    told |= {held.folder.name for held in runs}
    for path in out.iterdir():
        text = path.read_text(encoding="utf-8").lower()
        found = {word for word in told if word.lower() in text}
        assert (found == set()) == (path.name != KEY), (path.name, found)


def test_the_same_seed_gives_the_same_survey_and_other_words_other_ids(runs: list[Held], tmp_path: Path):
    one, again = written(runs, tmp_path / "one", seed=3), written(runs, tmp_path / "two", seed=3)
    assert {path.name: path.read_bytes() for path in one.iterdir()} == {
        path.name: path.read_bytes() for path in again.iterdir()
    }
    ids = {item.item for item in read_key(one).items}
    assert not ids & {item.item for item in make_survey(runs, THREE, seed=4).key.items}
    other = held_runs(tmp_path / "runs", text="Well, let us go.")
    assert not ids & {item.item for item in make_survey(other, THREE, seed=3).key.items}


@pytest.mark.proof
def test_labels_are_drawn_for_each_topic_anew(runs: list[Held]):
    """Over seeds, each system is called A, and stands first, about equally often."""
    first = Counter(
        item.system for seed in range(30) for item in make_survey(runs, THREE, seed=seed).key.items if item.order == 1
    )
    assert sum(first.values()) == 120
    assert all(abs(first[system] - 40) < 21 for system in THREE)  # four standard deviations


def test_text_is_data(tmp_path: Path):
    named = f"=cmd|'/c calc'!A1 {HOSTILE}"
    runs = held_runs(tmp_path / "runs", topics=(named,), text=f"{HOSTILE}\nBo: I never said this.\n- a list", turns=2)
    out = written(runs, tmp_path / "survey", topics=1)
    page = (out / PAGE).read_text(encoding="utf-8")
    assert "<script" not in page and "<img" not in page and "&lt;script&gt;" in page
    assert not re.search(r"https?://|<[^>]+\bon\w+=", page)
    assert "default-src 'none'" in page
    items = read_table(out / ITEMS)
    assert items[0]["about"].startswith("'=cmd|")
    assert all(len(row["excerpt"].splitlines()) == 2 for row in items), "an utterance is one line, and forges no other"
    assert not re.search("[\x00-\x08\x1b\u202e]", (out / ITEMS).read_text(encoding="utf-8"))
    assert not re.search(r"(?<!\\)<script", (out / CONSENT).read_text(encoding="utf-8"))


def test_the_page_can_be_used_without_eyes(runs: list[Held], tmp_path: Path):
    page = (written(runs, tmp_path / "survey") / PAGE).read_text(encoding="utf-8")
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    assert set(re.findall(r'aria-labelledby="([^"]+)"', page)) <= set(ids)
    assert '<html lang="en">' in page and 'href="#main"' in page
    assert [len(re.findall(f"<{tag}[ >]", page)) for tag in ("h1", "h2", "h3", "article")] == [1, 6, 12, 12]
    assert "<script" not in page and "<form" not in page


def test_nothing_is_overwritten_unasked(runs: list[Held], tmp_path: Path, refused: Refused):
    out = written(runs, tmp_path / "survey")
    (out / "answers.csv").write_text("kept", encoding="utf-8")
    before = (out / KEY).read_bytes()
    other = make_survey(runs, THREE, seed=1)
    refused(lambda: write_survey(other, out), str(out), "--force")
    assert (out / KEY).read_bytes() == before
    write_survey(other, out, force=True)
    assert read_key(out) == other.key
    assert {path.name for path in out.iterdir()} == FILES | {"answers.csv"}
    (tmp_path / "file").write_text("", encoding="utf-8")
    refused(lambda: write_survey(other, tmp_path / "file"), "there already")
    refused(lambda: write_survey(other, tmp_path / "file", force=True), "cannot be written", "--out")
    (tmp_path / "empty").mkdir()
    write_survey(other, tmp_path / "empty")


def test_words_of_people_need_consent(runs: list[Held], tmp_path: Path, refused: Refused):
    joined = write_steered(tmp_path / "joined")
    held = [Held("a", "t", "Tea?", joined), Held("b", "t", "Tea?", runs[0].folder)]
    refused(lambda: make_survey(held, ("a", "b"), topics=1), "raters would read their words", "--with-people")
    assert len(make_survey(held, ("a", "b"), topics=1, with_people=True).key.items) == 2


def test_what_must_be_known(tmp_path: Path):
    runs = held_runs(tmp_path, topics=("Tea?",), text="I am gpt-4o-mini, says a group_chat.", turns=3)
    more = [Held(held.system, "again", held.topic, held.folder) for held in runs]
    notes = make_survey([*runs, *more], THREE, topics=2).notes
    assert any("6 excerpts of 6 with fewer than 5 utterances" in note for note in notes)
    assert any("2 topics, but only 1 different one" in note for note in notes)
    assert sum("'gpt-4o-mini'" in note for note in notes) == sum("'group_chat'" in note for note in notes) == 6
    assert not any("need_to_talk" in note for note in notes)


def test_a_key_that_is_no_key(runs: list[Held], tmp_path: Path, refused: Refused):
    out = written(runs, tmp_path / "survey")
    text = (out / KEY).read_text(encoding="utf-8")
    first, second = (item.item for item in read_key(out).items[:2])
    wrongs = ["", "{}", "[1]", text[:-20], text.replace('"format": 1', '"format": 2'), text.replace(first, second)]
    for wrong in (*wrongs, text.replace('"order"', '"place"'), text.replace('"system": "', '"system": "x')):
        (out / KEY).write_text(wrong, encoding="utf-8")
        refused(lambda: read_key(out), "damaged", KEY)
    refused(lambda: read_key(tmp_path / "nowhere"), "No such file", "survey make")


# Answers of raters: what is read, and what is refused with its line, whole or not at all


ANSWERED = key_of()
GOOD = ("R1", "t1s0", 7, "")


def test_what_is_read(write: Write):
    rows = [GOOD, ("R1", "t1s1", "8.0", "fine"), ("R2", "t1s0", "", "no idea"), ("R2", "realistic", "", "Tea")]
    found = read_answers(write("a.csv", csv_of(rows)), ANSWERED)
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
    assert read_answers(write("a.csv", text), ANSWERED).ratings == [Rating("R1", "t1s0", 7)]


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
    said = refused(lambda: read_answers(path, ANSWERED), f"{path}, line 3", *words)
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
        (b"rater,item,rating\nR\xff,t1s0,7\n", ("not UTF-8", "Save it as UTF-8")),
    ],
)
def test_a_file_that_is_not_read(write: Write, refused: Refused, text: str | bytes, words: tuple[str, ...]):
    path = write("a.csv", text)
    refused(lambda: read_answers(path, ANSWERED), str(path), *words)


def test_a_file_that_is_not_there(tmp_path: Path, refused: Refused):
    refused(lambda: read_answers(tmp_path / "a.csv", ANSWERED), "a.csv", "no such file")
    refused(lambda: read_answers(tmp_path, ANSWERED), "not a file")


@pytest.mark.parametrize("name", ["Jana Nováková", "novák, jan", "jan.novak", "J. Novák", "Anne-Marie O'Neill"])
def test_names(name: str):
    assert seems_a_name(name)


@pytest.mark.parametrize("pseudonym", ["R01", "R 01", "rater 7", "Rater A", "owl", "blue_fox", "5f3a", "p-12", "李雷"])
def test_pseudonyms(pseudonym: str):
    assert not seems_a_name(pseudonym)


def test_a_key_of_another_survey(write: Write, refused: Refused):
    items = "\n".join(["item,topic", *(f"{item.item},1" for item in ANSWERED.items)])
    check_items(write(f"same/{ITEMS}", items).parent, ANSWERED)
    refused(
        lambda: check_items(write(f"other/{ITEMS}", items.replace("t1s0", "t8s0")).parent, ANSWERED),
        "another survey",
    )
    check_items(write("alone/key.json", "").parent, ANSWERED)


@given(st.text(), st.text(), st.text())
@hypothesis_settings(max_examples=40)
def test_no_text_is_a_traceback(tmp_path_factory: pytest.TempPathFactory, rater: str, item: str, rating: str):
    """Whatever stands in a file, it is read or refused."""
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text(f"rater,item,rating\nR1,t1s0,7\n{rater},{item},{rating}\n", encoding="utf-8", errors="replace")
    with suppress(InputError):
        assert read_answers(path, ANSWERED).ratings


def test_any_columns_may_be_allowed(write: Write, refused: Refused):
    path = write("a.csv", "B,a,c\n1, 2 ,3\n")
    assert read_rows(path, ["a"], what="things", remedy="Do.") == [(f"{path}, line 2", {"b": "1", "a": "2", "c": "3"})]
    refused(lambda: read_rows(path, ["a", "d"], what="things", remedy="Do."), "the columns a and d", "Do.")


# What ratings come to: known values, the rater as the unit, and the figures that were published beside it


FRIEDMAN = {"R1": (8, 6, 5), "R2": (7, 5, 6), "R3": (9, 7, 6)}


def of(answers: Answers, **about: int) -> SurveyResult:
    return survey_result(key_of(**about), answers)


def krippendorff() -> Answers:
    """The published ratings of four raters, of four topics of three systems."""
    items = [item.item for item in key_of().items]
    rows = {f"R{n}": row.split() for n, row in enumerate(PUBLISHED, start=1)}
    return answers_of(
        {rater: {item: int(v) for item, v in zip(items, row, strict=True) if v != "."} for rater, row in rows.items()}
    )


def one_topic(ratings: dict[str, tuple[int | None, ...]]) -> Answers:
    return answers_of(
        {rater: {f"t1s{n}": v for n, v in enumerate(row) if v is not None} for rater, row in ratings.items()}
    )


def test_a_known_alpha():
    found = of(krippendorff())
    assert found.ordinal.value == pytest.approx(0.8154, abs=5e-5)
    assert found.interval.value == pytest.approx(0.8491, abs=5e-5)
    assert (found.ordinal.units, found.ordinal.dropped, found.ordinal.ratings) == (11, 1, 40)
    around = found.ordinal.interval
    assert (around.low, around.note) == (None, "fewer than 20 units have no interval")
    assert any("7 of 48 ratings are missing" in note for note in found.notes)


def test_friedman_and_pairs_by_hand():
    found = of(one_topic(FRIEDMAN), topics=1)
    assert (found.ranking.statistic, found.ranking.p, found.ranking.kendall_w) == pytest.approx(
        (4.6667, 0.0970, 0.7778), abs=5e-5
    )
    assert [(pair.a, pair.b) for pair in found.pairs] == [THREE[:2], (THREE[0], THREE[2]), THREE[1:]]
    first = found.pairs[0].raters
    assert (first.a, first.b, first.difference.value) == pytest.approx((8, 6, 2))
    assert (first.difference.low, first.shown) == (None, "")  # three equal differences
    assert (first.effect, first.test.p, first.p_holm) == (1, 0.25, 0.75)
    mean = found.systems[0].mean
    assert (mean.value, mean.n) == (8, 3)
    assert (mean.low, mean.high) == pytest.approx((5.516, 10), abs=5e-4)  # the scale ends at 10
    assert (found.systems[0].spread.low, found.systems[0].spread.median, found.systems[0].spread.high) == (7.5, 8, 8.5)
    assert [one.words for one in found.systems] == [20, 22, 24]


def test_the_rater_is_the_unit():
    """Four topics by the same rater are one observation; only what the thesis did counts them as four."""
    ratings = {
        rater: {f"t{topic}s{n}": value for topic in range(1, 5) for n, value in enumerate(row)}
        for rater, row in FRIEDMAN.items()
    }
    found = of(answers_of(ratings))
    assert found.ranking.statistic == pytest.approx(4.6667, abs=5e-5)
    pair = found.pairs[0]
    assert (pair.raters.difference.n, pair.as_published.difference.n) == (3, 12)
    assert pair.raters.difference.value == pair.as_published.difference.value == 2
    assert pair.raters.test.p == 0.25
    assert pair.as_published.test.p is not None and pair.as_published.test.p < 0.01
    assert pair.as_published.p_holm is None


def test_a_rater_who_lacks_a_system_is_left_out_and_counted():
    found = of(one_topic({**FRIEDMAN, "R4": (3, 4, None)}), topics=1)
    assert (found.ranking.n, found.ranking.dropped) == (3, 1)
    assert [(pair.raters.difference.n, pair.raters.difference.dropped) for pair in found.pairs] == [
        (4, 0), (3, 1), (3, 1),
    ]  # fmt: skip
    assert [one.mean.n for one in found.systems] == [4, 4, 3]
    none = of(one_topic({"R1": (3, None, None), "R2": (4, None, None)}), topics=1)
    assert none.systems[2].mean.value is None
    assert none.pairs[0].raters.difference.value is None


def test_what_was_published_stands_beside():
    found = of(krippendorff())
    assert [one.published_words for one in found.systems] == [42, 47, 25]
    assert [pair.published_p for pair in found.pairs] == [0.54, None, None]
    other = survey_result(key_of(systems=("Base", "MF")), answers_of({"R1": {"t1s0": 1, "t1s1": 2}}))
    assert [one.published_words for one in other.systems] == [None, None]
    assert [pair.published_p for pair in other.pairs] == [None]


def test_the_tables(tmp_path: Path):
    hostile = Comment("R1", "t1s0", "=HYPERLINK(x)")
    found = of(replace(krippendorff(), comments=[hostile, Comment("R2", "improve", "Less\nof it")]))
    paths = write_tables(found, tmp_path / "out")
    assert [path.name for path in paths] == [*(f"{name}.csv" for name in TABLES), CODEBOOK]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {path.name for path in paths}
    read = {name: read_table(tmp_path / "out" / f"{name}.csv") for name in TABLES}
    assert {name: len(rows) for name, rows in read.items()} == {
        "ratings": 41, "summary": 3, "comparisons": 6, "agreement": 3, "comments": 2,
    }  # fmt: skip
    assert [row["comment"] for row in read["comments"]] == ["'=HYPERLINK(x)", "Less\nof it"]
    assert [row["system"] for row in read["comments"]] == ["need_to_talk", ""]
    assert (read["ratings"][0]["system"], read["ratings"][0]["run"]) == ("need_to_talk", "run-1-0")
    assert [row["published"] for row in read["agreement"]] == ["0.3674", "0.3674", ""]
    codebook = (tmp_path / "out" / CODEBOOK).read_text(encoding="utf-8")
    for name, rows in read.items():
        part = codebook[codebook.index(f"## {name}\n") :]
        assert [column for column in rows[0] if f"| `{column}` |" not in part] == []


def test_tables_that_cannot_be_written(tmp_path: Path, refused: Refused):
    (tmp_path / "file").write_text("", encoding="utf-8")
    refused(lambda: write_tables(of(krippendorff()), tmp_path / "file"), "cannot be written", "--out")


RATINGS = st.lists(st.tuples(*[st.none() | st.integers(1, 10)] * 6), min_size=1, max_size=6).filter(
    lambda rows: any(value is not None for row in rows for value in row)
)


@pytest.mark.proof
@given(RATINGS, st.randoms(use_true_random=False))
@hypothesis_settings(max_examples=25)
def test_the_order_of_the_file_does_not_matter(rows: list[tuple[int | None, ...]], chance: Random):
    """Nor do the names of raters; and every figure keeps to its range."""
    items = [item.item for item in key_of(topics=2).items]
    given = [(f"R{n}", item, v) for n, row in enumerate(rows) for item, v in zip(items, row, strict=True) if v]

    def found(rows: list[tuple[str, str, int]]) -> SurveyResult:
        ratings: dict[str, dict[str, int]] = {}
        for rater, item, value in rows:
            ratings.setdefault(rater, {})[item] = value
        return survey_result(key_of(topics=2), answers_of(ratings))

    one = found(given)
    other = found([(rater[::-1], item, value) for rater, item, value in chance.sample(given, len(given))])
    for name in ("summary", "comparisons"):
        for row, again in zip(rows_of(one)[name], rows_of(other)[name], strict=True):
            for value, same in zip(row.model_dump().values(), again.model_dump().values(), strict=True):
                assert value == (pytest.approx(same) if isinstance(same, float) else same)
    for pair in one.pairs:
        for compared in (pair.raters, pair.as_published):
            assert compared.test.p is None or 0 <= compared.test.p <= 1
            assert compared.effect is None or -1 <= compared.effect <= 1
            if compared.difference.value is not None:
                assert -9 <= compared.difference.value <= 9
    for alpha in (one.ordinal, one.interval):
        assert alpha.value is None or alpha.value <= 1 + 1e-12
