"""Studies of pruning on the prompts of recorded runs: what goes, what becomes of attention, and one piece alone."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import pruning_studies as studies

import persimchat
from persimchat.models.attention.scoring import Scores


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
