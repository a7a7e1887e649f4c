"""Minds are read a line at a time, whatever the file looks like, and nothing of a later turn is read."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_folders import EMOTIONS, lines, mind, recalled

from persimchat.app.web.minds.look import DEPTH, MindFile, Node, Tree, felt, look
from persimchat.app.web.minds.memories import parts_of
from persimchat.runs.events import RecalledMemory
from persimchat.runs.folder.mind_record import MindRecord
from persimchat.state.errors import InputError

PARTS = st.floats(-0.5, 3)


def write(path: Path, rows: list[dict[str, Any]], tail: str = "") -> MindFile:
    path.write_text(lines(rows) + tail, encoding="utf-8")
    return MindFile(path)


def insight(key: str, turn: int, *evidence: str) -> dict[str, Any]:
    about = {"kind": "reflection", "theme": f"Insight {key}", "keywords": ["tea"], "importance": 5, "emotion": [0] * 6}
    return {"id": key, "turn": turn, "depth": 1, "evidence": list(evidence), **about}


def test_every_mind_is_found_as_it_was_written(tmp_path: Path):
    names = ['Eva "the\\ one"', ":x", "李雷"]
    rows = [mind(turn, name, need_reasoning=f"{name} {turn}") for turn in range(5) for name in names]
    file = write(tmp_path / "minds.jsonl", rows)
    assert file.agents() == names
    for row in rows:
        found = file.read(row["agent"], row["turn"])
        assert found is not None
        assert found.need_reasoning == row["need_reasoning"]
    assert file.read("Eva", 2) is None
    assert file.read(":x", 9) is None
    before = file.before(":x", 3)
    assert before is not None
    assert before.turn == 2
    assert file.before(":x", 0) is None


def test_fields_in_another_order_are_read_as_well(tmp_path: Path):
    row = dict(reversed(mind(3, "Eva").items()))
    path = tmp_path / "minds.jsonl"
    path.write_text(json.dumps(row, separators=(",", ":")) + "\n", encoding="utf-8")
    found = MindFile(path).read("Eva", 3)
    assert found is not None
    assert found.need_to_talk == 5


def test_a_file_that_grows_is_taken_in_as_far_as_it_is_written(tmp_path: Path):
    path = tmp_path / "minds.jsonl"
    file = MindFile(path)
    assert file.agents() == []
    whole = lines([mind(2, "Eva")])
    path.write_text(lines([mind(0, "Eva"), mind(1, "Eva")]) + whole[:40], encoding="utf-8")
    assert file.read("Eva", 1) is not None
    assert file.read("Eva", 2) is None
    with path.open("a", encoding="utf-8") as more:
        more.write(whole[40:])
    assert file.read("Eva", 2) is not None


def test_a_whole_last_line_without_its_end_counts_as_it_does_for_every_reader(tmp_path: Path):
    path = tmp_path / "minds.jsonl"
    path.write_text(lines([mind(0, "Eva"), mind(1, "Eva")]).rstrip("\n"), encoding="utf-8")
    file = MindFile(path)
    assert file.read("Eva", 1) is not None
    with path.open("a", encoding="utf-8") as more:
        more.write("\n" + lines([mind(2, "Eva") | {"emotion": "blue"}]))
    with pytest.raises(InputError, match="line 3, field emotion"):
        file.read("Eva", 2)


def test_a_file_that_was_put_right_is_read_anew(tmp_path: Path):
    path = tmp_path / "minds.jsonl"
    file = write(path, [mind(turn, "Eva") for turn in range(4)])
    assert file.read("Eva", 3) is not None
    path.write_text(lines([mind(0, "Bo")]), encoding="utf-8")
    assert file.agents() == ["Bo"]
    path.unlink()
    assert file.agents() == []


def test_a_damaged_line_is_named(tmp_path: Path):
    file = write(tmp_path / "minds.jsonl", [mind(0, "Eva"), mind(1, "Eva", need_to_talk=11)])
    with pytest.raises(InputError, match=r"minds.jsonl, line 2, field need_to_talk"):
        file.read("Eva", 1)
    (tmp_path / "minds.jsonl").write_text("no JSON\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        file.read("Eva", 0)


def test_plan_and_insights_stay_until_there_are_newer_ones(tmp_path: Path):
    rows = [
        mind(0, "Eva"),
        mind(1, "Eva", plan={"theme": "First plan", "goals": ["rest"]}),
        mind(2, "Eva", insights=[insight("i1", 1)]),
        mind(3, "Eva", need_reasoning='it says "plan": null and "insights": []'),
        mind(4, "Eva", plan={"theme": "Second plan"}, insights=[insight("i2", 3)]),
    ]
    file = write(tmp_path / "minds.jsonl", rows)
    seen = [look(file, "Eva", turn) for turn in range(5)]
    assert [one.plan.theme if one and one.plan else "" for one in seen] == ["", *["First plan"] * 3, "Second plan"]
    assert [one.planned for one in seen if one] == [0, 1, 1, 1, 4]
    assert [one.reflected for one in seen if one] == [0, 0, 2, 2, 4]
    assert [one.reflections for one in seen if one] == [[], [], [], [], [2]]
    assert look(file, "Eva", 5) is None
    assert look(file, "Bo", 1) is None


def themes(nodes: list[Node]) -> list[Any]:
    return [(node.memory.theme if node.memory else None, themes(node.rests_on)) for node in nodes]


def test_the_tree_goes_down_to_what_was_heard(tmp_path: Path):
    heard = {"id": "p1", "kind": "perception", "turn": 1, "theme": "Heard", "keywords": []}
    rows = [
        mind(1, "Eva", recalled=[recalled("Recalled", "m1")], short_term_memory=heard),
        mind(2, "Eva", insights=[insight("i1", 1, "p1", "m1", "lost")], short_term_memory=None),
        mind(3, "Eva", recalled=[recalled("Insight i1", "i1") | {"kind": "reflection", "turn": 1}]),
        mind(4, "Eva", insights=[insight("i2", 3, "i1"), insight("i3", 3, "i1", "i2")]),
    ]
    file = write(tmp_path / "minds.jsonl", rows)
    last = look(file, "Eva", 4)
    assert last is not None
    below = [("Heard", []), ("Recalled", []), (None, [])]
    assert themes(last.tree) == [
        ("Insight i2", [("Insight i1", below)]),
        ("Insight i3", [("Insight i1", []), ("Insight i2", [])]),
    ]
    assert all(node.elsewhere for node in last.tree[1].rests_on)


@given(st.lists(st.lists(st.integers(0, 14), max_size=4), min_size=1, max_size=15))
def test_any_tree_ends(evidence: list[list[int]]):
    """Whatever insights say that they rest on, also each other in a circle."""

    class Kept(MindFile):
        def read(self, agent: str, turn: int) -> MindRecord | None:
            if not 1 <= turn <= len(evidence):
                return None
            drawn = [insight(f"i{turn - 1}", turn - 1, *(f"i{n}" for n in evidence[turn - 1]))]
            row = mind(turn, agent, insights=drawn)
            row["recalled"] = [recalled(f"{n}", f"i{n}") | {"kind": "reflection", "turn": n} for n in range(15)]
            return MindRecord.model_validate(row)

        def before(self, agent: str, turn: int) -> MindRecord | None:
            return self.read(agent, turn - 1)

    file = Kept(Path("nowhere"))
    newest = file.read("Eva", len(evidence))
    assert newest is not None

    def depth(node: Node) -> int:
        return 1 + max(map(depth, node.rests_on), default=0)

    grown = Tree(file, "Eva").of(newest)
    assert all(depth(node) <= DEPTH + 1 for node in grown)


@given(*[PARTS] * 5, st.floats(0, 8))
def test_the_parts_of_a_score_fill_no_more_than_the_bar(a: float, b: float, c: float, d: float, e: float, most: float):
    parts = {"recency": a, "importance": b, "relevance": c, "emotional": d, "stm_relevance": e}
    memory = RecalledMemory.model_validate(recalled("Tea") | parts | {"score": sum(parts.values())})
    shares = parts_of(memory, most)
    assert all(share >= 0 for share in shares.values())
    assert sum(shares.values()) <= 1 + 1e-9
    known = [(parts[name], share) for name, share in shares.items() if parts[name] > 0.01]
    assert all(abs(x * other - y * share) < 1e-9 for x, share in known for y, other in known)


LEVELS = st.one_of(st.just({}), st.fixed_dictionaries(dict.fromkeys(EMOTIONS, st.integers(0, 10))))


@given(LEVELS, st.one_of(st.none(), LEVELS))
def test_changes_of_emotions_add_up(now: dict[str, int], before: dict[str, int] | None):
    earlier = None if before is None else MindRecord.model_validate(mind(0, "Eva", emotion=before))
    found = felt(MindRecord.model_validate(mind(1, "Eva", emotion=now)), earlier)
    assert [name for name, _, _ in found] == (list(EMOTIONS) if now else [])
    for name, level, change in found:
        assert level == now[name]
        assert change is None if not before else before[name] + (change or 0) == level


def test_a_run_of_two_thousand_turns_answers_at_once(tmp_path: Path):
    path = tmp_path / "minds.jsonl"
    many = [recalled(f"Memory {n} of some length, as they are", f"m{n}") for n in range(30)]
    row = lines([mind(7, "Eva", recalled=many, plan={"theme": "A plan"})])
    with path.open("w", encoding="utf-8") as file:
        for turn in range(2001):
            for name in ("Eva", "Bo", "Li"):
                file.write(row.replace('"turn": 7, "agent": "Eva"', f'"turn": {turn}, "agent": "{name}"', 1))
    minds = MindFile(path)
    assert look(minds, "Bo", 1000) is not None
    begun = time.perf_counter()
    for turn in range(900, 1000):
        assert look(minds, "Li", turn) is not None
    assert (time.perf_counter() - begun) / 100 < 0.1
