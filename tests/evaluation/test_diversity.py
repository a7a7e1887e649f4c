"""Diversity of words and meanings: its edges, and the definitions on random texts."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import persimchat
from persimchat.evaluation.diversity import texts as ngrams
from persimchat.evaluation.diversity.texts import (
    BLOCK,
    TOKENS,
    Numbers,
    Vocabulary,
    cut,
    dist,
    embedded,
    ends_double,
    exclusive,
    grams,
    length,
    max_similarity,
    sim,
    windows,
)
from persimchat.experiments import Experiment
from persimchat.experiments.plan import plan
from persimchat.models.attention.scores import Scores
from persimchat.state.minds.speech import words
from persimchat.state.settings import Settings


def numbered(dialogues: Sequence[Sequence[str]], vocabulary: Vocabulary | None = None) -> list[list[Numbers]]:
    """Dialogues of texts as numbers, divided at white space."""
    known = vocabulary or Vocabulary()
    return [[known.numbers(TOKENS["whitespace"](text)) for text in dialogue] for dialogue in dialogues]


# ── edges ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_ngrams_do_not_cross_utterances():
    assert dist(numbered([["a b", "b a"]]), 2) == 1.0
    assert len(grams(numbered([["a b", "b a"]])[0], 2)) == 2
    assert len(grams(numbered([["a b", "", "c"]])[0], 2)) == 1


def test_nothing_is_no_zero():
    assert dist([], 1) is None
    assert dist(numbered([["", ""]]), 1) is None
    assert sim(np.array([[1.0, 0]])) is None
    assert sim(np.array([[1.0, 0], [0, 0]])) is None, "a vector of zeros is left out"
    assert sim(np.empty((0, 3))) is None
    assert max_similarity(np.zeros((2, 3)), np.ones((2, 3))) is None


def test_equal_dialogues_are_no_error():
    assert sim(np.array([[0.6, 0.8]] * 10)) == pytest.approx(1.0)
    assert dist(numbered([["a b c"]] * 10), 1) == 0.1
    assert exclusive(numbered([["a b c"]]), numbered([["a b c"]]), 2) == 0


@pytest.mark.parametrize(
    ("dialogue", "double"),
    [(["a b", "c", "a b"], True), (["a b", "b a"], False), (["a"], False), (["", ""], False), ([], False)],
)
def test_a_double_end_has_the_words_of_an_earlier_utterance(dialogue: list[str], double: bool):
    (one,) = numbered([dialogue])
    assert ends_double(one) is double


def test_a_dialogue_is_cut_to_its_first_words():
    (one,) = numbered([["a b c", "d e"]])
    assert [len(part) for part in cut(one, 4)] == [3, 1]
    assert [length(cut(one, most)) for most in (0, 2, 5, 9)] == [0, 2, 5, 5]


# ── by definition ──────────────────────────────────────────────────────────────────────────────────────────────────

texts = st.lists(st.lists(st.text("abc ", max_size=12), max_size=4), max_size=5)


def all_grams(dialogues: Sequence[Sequence[str]], n: int) -> list[tuple[str, ...]]:
    """The n-grams as tuples of words."""
    said = [text.split() for dialogue in dialogues for text in dialogue]
    return [tuple(one[i : i + n]) for one in said for i in range(len(one) - n + 1)]


@given(texts, st.integers(1, 5))
def test_dist_is_its_definition(dialogues: list[list[str]], n: int):
    found = all_grams(dialogues, n)
    assert dist(numbered(dialogues), n) == (len(set(found)) / len(found) if found else None)


@given(texts, texts, st.integers(1, 5))
def test_exclusive_is_its_definition(a: list[list[str]], b: list[list[str]], n: int):
    of_a, of_b = set(all_grams(a, n)), set(all_grams(b, n))
    known = Vocabulary()
    value = exclusive(numbered(a, known), numbered(b, known), n)
    assert value == (pytest.approx(len(of_b - of_a) / len(of_b)) if of_b else None)


@given(texts, st.integers(2, 5))
def test_numbers_that_would_pass_64_bits_are_ranked_first(dialogues: list[list[str]], n: int):
    found, plain = all_grams(dialogues, n), numbered(dialogues)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngrams, "_MOST", 8)
        assert dist(plain, n) == (len(set(found)) / len(found) if found else None)


def test_many_different_words_do_not_overflow():
    many = [np.array([2**40, 3, 2**40, 3, 2**40, 1, 2, 3], dtype=np.int64)]
    assert dist([many], 3) == 5 / 6


rows = arrays.arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 5)), elements=st.floats(-5, 5, width=16))


@given(rows)
def test_sim_is_the_mean_of_all_pairs(vectors: np.ndarray):
    there = [row / np.linalg.norm(row) for row in vectors if np.linalg.norm(row) > 0]
    pairs = [float(there[i] @ there[j]) for i in range(len(there)) for j in range(i)]
    value = sim(vectors)
    assert value == (pytest.approx(sum(pairs) / len(pairs), abs=1e-9) if pairs else None)


def test_max_similarity_in_blocks_is_that_of_all_pairs():
    chance = np.random.default_rng(0)
    a, b = chance.normal(size=(7, 4)), chance.normal(size=(2 * BLOCK + 5, 4))
    first, second = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (a, b))
    assert max_similarity(a, b) == pytest.approx((second @ first.T).max(axis=1).mean())


# ── windows ────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.text("ab 茶", max_size=60), max_size=6), st.integers(1, 9))
def test_windows_hold_all_words_and_no_more_than_allowed(utterances: list[str], most: int):
    found = windows(utterances, most)
    assert all(0 < size <= most for _, size in found)
    assert [size for _, size in found] == [len(words(text)) for text, _ in found]
    assert "".join("".join(text.split()) for text, _ in found) == "".join("".join(text.split()) for text in utterances)


def test_a_dialogue_is_divided_at_utterances():
    long = " ".join(["tea"] * 120)
    assert [size for _, size in windows([long, long, "Good night."])] == [120, 122]
    assert [size for _, size in windows([" ".join(["tea"] * 500)])] == [125, 125, 125, 125]


def test_the_vector_of_a_dialogue_is_the_mean_of_its_windows_weighted_by_words():
    settings = Settings(embedding="lexical")
    long, short = " ".join(["tea"] * 150), " ".join(["coffee"] * 60)
    whole, first, second = asyncio.run(embedded(settings, [[long, short], [long], [short]]))
    mean = 150 * first + 60 * second
    assert whole == pytest.approx(mean / np.linalg.norm(mean))
    together, apart = asyncio.run(embedded(settings, [["Tea?", "No."], ["Tea?\nNo."]]))
    assert together == pytest.approx(apart), "one that fits is embedded at once"


def test_a_dialogue_without_words_has_no_direction():
    found = asyncio.run(embedded(Settings(), [[""], ["tea"]]))
    assert list(found.any(axis=1)) == [False, True]
    assert not asyncio.run(embedded(Settings(), [[""], []])).any()


# Cases from released memory streams: people with their best memories at four times of a day


sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
pruning_cases: Any = import_module("pruning_cases")
studies: Any = import_module("pruning_studies")


@pytest.mark.proof
def test_memory_streams_become_cases(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if not (shared / "data" / "memory_streams").is_dir():
        pytest.skip(f"there are no memory streams in {shared}")
    out = tmp_path / "cases.yaml"
    monkeypatch.setattr(sys, "argv", ["pruning_cases", str(out), "--shared", str(shared)])
    pruning_cases.main()
    experiment = tmp_path / "x.yaml"
    experiment.write_text(yaml.safe_dump({"name": "x", "base": {}, "tasks": {"file": "cases.yaml"}}), encoding="utf-8")
    scenarios = [cell.scenario for cell in plan(Experiment.load(experiment)).cells]
    assert len(scenarios) == 4
    for scenario in scenarios:
        assert [person.name for person in scenario.participants] == list(pruning_cases.STREAMS)
        for person in scenario.participants:
            texts = [memory.text for memory in person.memories]
            assert len(texts) == len(set(texts)) == pruning_cases.KEPT
    morning, *_, evening = (scenario.participants[1].memories for scenario in scenarios)
    assert morning != evening
    assert any("Isabella" in memory.text for memory in evening)


def test_without_streams_it_says_where_they_should_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "argv", ["pruning_cases", "--shared", str(tmp_path)])
    with pytest.raises(SystemExit) as left:
        pruning_cases.main()
    assert left.value.code == 2
    assert "--shared" in capsys.readouterr().err


# Studies of pruning on the prompts of recorded runs: what goes, what becomes of attention, and one piece alone


class Even:
    """A scorer whose attention is spread evenly over the characters of a prompt, and over its own words."""

    name, context = "even", 100_000

    def count(self, system: str, user: str, response: str = "") -> int:
        """One token a character."""
        return len(system) + len(user) + len(response)

    def scores(
        self,
        system: str,
        user: str,
        spans: Sequence[tuple[int, int]],
        responses: Sequence[str] = (),
        *,
        reducer: str = "sum_mean",
    ) -> Scores:
        """The share of a piece's characters; of its mean character, the share of one."""
        whole = self.count(system, user, *responses)
        lengths = [end - start if reducer == "sum_mean" else 1 for start, end in spans]
        return Scores(tuple(length / whole for length in lengths), whole)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    settings = {"model": "offline", "max_messages": 3, "pattern": "round_robin"}
    result = persimchat.simulate("Tea or coffee?", 2, out=tmp_path_factory.mktemp("runs"), **settings)
    assert result.folder is not None
    return asyncio.run(studies.scenes_of(Path(result.folder), 2))


@pytest.mark.proof
def test_scenes_are_the_last_prompts(scenes: Any):
    assert [scene.past.turn for scene in scenes] == [2, 3]
    assert all(len(scene.units) > 10 and scene.text == scene.past.text for scene in scenes)
    assert studies.Scene.of(scenes[0].past, query="prompt").text == ""


def test_what_goes_by_reducer_and_order(scenes: Any):
    rows = {(row.reducer, row.order, row.strength): row for row in studies.what_goes(scenes, Even(), [0.3, 0.6])}
    assert len(rows) == 12
    usual, other = rows["sum_mean", "descending", 0.6], rows["mean_mean", "descending", 0.6]
    assert usual.alike == 1.0
    assert other.alike is not None and other.alike < 1
    assert other.units == pytest.approx(0.6, abs=0.05), "all pieces weigh the same"
    longest, shortest = rows["sum_mean", "descending", 0.3], rows["sum_mean", "ascending", 0.3]
    assert longest.units < shortest.units, "fewer long pieces make up the same share"
    assert usual.words == pytest.approx(0.6, abs=0.1)
    assert 0 < rows["sum_mean", "random", 0.3].units < 1


def test_attention_moves_on(scenes: Any):
    rows = studies.after_removal(scenes, Even(), [0.6, 1.0])
    assert [row.strength for row in rows] == [0.0, 0.6, 1.0]
    assert (rows[0].removed, rows[0].lost) == (0.0, 0.0)
    assert 0 < rows[1].lost < rows[1].removed <= 0.6 + 1e-6, "what is left draws some of it"
    assert (rows[2].removed, rows[2].lost, rows[2].best) == (pytest.approx(1.0), 1.0, None)
    assert all(0 < row.best <= 1 for row in rows[:2] if row.best is not None)


async def test_one_piece_alone(scenes: Any):
    scene = scenes[1]
    scores = scene.scores(Even())
    own = [n for n, unit in enumerate(scene.units) if unit.tag == "basic_information"]
    for best, choose in ((True, max), (False, min)):
        alone = studies.kept_alone(scene, scores, "basic_information", best=best)
        assert alone is not None
        kept = choose(own, key=lambda n: scores[n])
        assert [unit.text for unit in alone.units] == [scene.units[kept].text]
    assert studies.kept_alone(scene, scores, "nothing", best=True) is None

    async def word(messages: Sequence[Any], seed: int) -> str:
        assert scene.units[kept].text in messages[-1].text
        return f"{seed}"

    assert await studies.worded(alone, word, 3) == ["0", "1", "2"]


async def test_how_different_words_are_with_one_piece_alone(scenes: Any):
    async def word(messages: Sequence[Any], seed: int) -> str:
        kept = [line for line in messages[-1].text.splitlines() if line.startswith("- Trait")]
        return f"one two three {'four' if kept else seed}"

    rows = {row.kept: row for row in await studies.retain_one(scenes, Even(), word, 3)}
    assert rows["nothing"].dist_3 == pytest.approx((1 + 3) / 6)
    assert {"basic_information, best", "basic_information, worst"} <= rows.keys()
    assert rows["nothing"].prompts == 2
    assert rows["basic_information, worst"].dist_3 is not None
    studies.print_alone(list(rows.values()))


async def test_a_model_says_words():
    from langchain_core.messages import HumanMessage

    with pytest.raises(persimchat.InputError, match="no-such"):
        await studies.spoken_by("no-such:model")([HumanMessage("Hello")], 1)


def test_without_any_attention_there_is_nothing_to_divide(scenes: Any):
    class Blind(Even):
        def scores(self, *given: Any, **more: Any) -> Scores:
            found = super().scores(*given, **more)
            return Scores(tuple(0.0 for _ in found.values), found.tokens)

    (row, _) = studies.after_removal(scenes, Blind(), [0.6])
    assert (row.lost, row.best) == (0.0, None)
    assert not math.isnan(row.removed)


def test_the_tables_say_what_is_published(scenes: Any, capsys: pytest.CaptureFixture[str]):
    studies.print_goes(studies.what_goes(scenes, Even(), [0.95]))
    studies.print_after(studies.after_removal(scenes, Even(), [0.6]))
    told = capsys.readouterr().out
    assert "published, λ = 0.95, descending: 83.4% of what is left are memories" in told
    (line,) = (line for line in told.splitlines() if line.strip().startswith("0.6"))
    assert "0.19" in line.split()
