"""A survey's files: one form for all systems, nothing that tells them apart outside the key, text as data."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evaluation.surveys import MODEL, SYSTEMS, held_runs
from run_folders import HOSTILE, PEOPLE, write_steered

from persimchat.evaluation.survey.drawing import Held
from persimchat.evaluation.survey.key import KEY, read_key
from persimchat.evaluation.survey.making import CONSENT, INSTRUCTIONS, ITEMS, PAGE, TEMPLATE, make_survey, write_survey

Refused = Callable[..., str]
FILES = {ITEMS, PAGE, TEMPLATE, INSTRUCTIONS, CONSENT, KEY}


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Held]:
    """Twelve conversations: four topics and three systems."""
    return held_runs(tmp_path_factory.mktemp("runs"))


def written(held: list[Held], out: Path, systems: tuple[str, ...] = SYSTEMS, **about: Any) -> Path:
    write_survey(make_survey(held, systems, **about), out)
    return out


def test_the_files(runs: list[Held], tmp_path: Path):
    out = written(runs, tmp_path / "survey", by="method")
    assert {path.name for path in out.iterdir()} == FILES
    items, key = table(out / ITEMS), read_key(out)
    assert [row["item"] for row in items] == [item.item for item in key.items]
    assert [(row["topic"], row["label"], row["order"]) for row in items[:4]] == [
        ("1", "A", "1"), ("1", "B", "2"), ("1", "C", "3"), ("2", "A", "1"),
    ]  # fmt: skip
    assert Counter(row["about"] for row in items) == dict.fromkeys(("Tea?", "Cars?", "Trees?", "Owls?"), 3)
    assert all(len(row["excerpt"].splitlines()) == 5 for row in items)
    assert items[0]["excerpt"].startswith(f"{PEOPLE[1]}: Well, let us see.")
    assert Counter(item.system for item in key.items) == dict.fromkeys(SYSTEMS, 4)
    assert all((item.utterances, item.words) == (5, 30) for item in key.items)
    page = (out / PAGE).read_text(encoding="utf-8")
    assert [item.item for item in key.items if f'id="{item.item}"' not in page] == []
    asked = [row["item"] for row in table(out / TEMPLATE)]
    assert asked == [*(item.item for item in key.items), "realistic", "improve"]


def test_the_key_says_what_each_excerpt_is_of(runs: list[Held], tmp_path: Path):
    """The words of a system's utterances have its number in them."""
    out = written(runs, tmp_path / "survey")
    excerpts = {row["item"]: row["excerpt"] for row in table(out / ITEMS)}
    for item in read_key(out).items:
        assert f"({SYSTEMS.index(item.system)} 1)" in excerpts[item.item]
        assert item.run.startswith(item.system)


def test_only_the_key_tells_systems_apart(runs: list[Held], tmp_path: Path):
    out = written(runs, tmp_path / "survey", by="method", source="town")
    told = {MODEL, "gpt-4o", "offline", "secret", "method", "town", str(tmp_path), *SYSTEMS}
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
    assert not ids & {item.item for item in make_survey(runs, SYSTEMS, seed=4).key.items}
    other = held_runs(tmp_path / "runs", text="Well, let us go.")
    assert not ids & {item.item for item in make_survey(other, SYSTEMS, seed=3).key.items}


def test_labels_are_drawn_for_each_topic_anew(runs: list[Held]):
    """Over seeds, each system is called A, and stands first, about equally often."""
    first = Counter(
        item.system for seed in range(30) for item in make_survey(runs, SYSTEMS, seed=seed).key.items if item.order == 1
    )
    assert sum(first.values()) == 120
    assert all(abs(first[system] - 40) < 21 for system in SYSTEMS)  # four standard deviations


def test_text_is_data(tmp_path: Path):
    named = f"=cmd|'/c calc'!A1 {HOSTILE}"
    runs = held_runs(tmp_path / "runs", topics=(named,), text=f"{HOSTILE}\nBo: I never said this.\n- a list", turns=2)
    out = written(runs, tmp_path / "survey", topics=1)
    page = (out / PAGE).read_text(encoding="utf-8")
    assert "<script" not in page and "<img" not in page and "&lt;script&gt;" in page
    assert not re.search(r"https?://|<[^>]+\bon\w+=", page)
    assert "default-src 'none'" in page
    items = table(out / ITEMS)
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
    other = make_survey(runs, SYSTEMS, seed=1)
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
    notes = make_survey([*runs, *more], SYSTEMS, topics=2).notes
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
