"""Tokens that servers took from their caches: from the server's answer to everything that shows what a run used."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback.answering import Reply
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from run_files import read_records, run_json
from run_folders import call, write_run

import persimchat
from persimchat.app.cli import main
from persimchat.app.views.text import used
from persimchat.models.usage import summed
from persimchat.runs.events import Totals
from persimchat.runs.reports.export import export_runs
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof


class Cached(Reply):
    """A reply of which the server says that half of the prompt came from its cache."""

    where = "openai"

    def completion(self, body: dict[str, Any], *, usage: bool) -> dict[str, Any]:
        return self._with(super().completion(body, usage=usage))

    def chunks(self, body: dict[str, Any], *, usage: bool) -> list[dict[str, Any]]:
        *pieces, last = super().chunks(body, usage=usage)
        return [*pieces, self._with(last)]

    def _with(self, answer: dict[str, Any]) -> dict[str, Any]:
        usage = dict(answer["usage"])
        half = usage["prompt_tokens"] // 2
        match self.where:
            case "openai":
                usage["prompt_tokens_details"] = {"cached_tokens": half}
            case "deepseek":
                usage |= {"prompt_cache_hit_tokens": half, "prompt_cache_miss_tokens": usage["prompt_tokens"] - half}
            case "llama.cpp":
                return {**answer, "usage": usage, "timings": {"cache_n": half, "prompt_n": 1}}
            case "absurd":
                usage["prompt_tokens_details"] = {"cached_tokens": 10**9}
        return {**answer, "usage": usage}


@pytest.fixture(params=["openai", "deepseek", "llama.cpp", "absurd"])
def server(request: pytest.FixtureRequest) -> Iterator[LoopbackServer]:
    kind = type("Kind", (Cached,), {"where": request.param})
    scripted = Scripted()
    with LoopbackServer(answer=lambda body: kind(**vars(Reply.of(scripted(body), body)))) as running:
        yield running


def test_from_the_answer_to_the_folder_and_the_replay(server: LoopbackServer, tmp_path: Path) -> None:
    absurd = server.answer({"messages": [{"role": "user", "content": '<task name="emotion">'}]}).where == "absurd"  # type: ignore[misc, union-attr]
    settings = Settings(model=server.model(), max_messages=2, prices={server.model(): (2.0, 0.0, 1.0)})
    result = persimchat.simulate("Tea?", participants=2, settings=settings, out=tmp_path)
    (folder,) = (path.parent for path in tmp_path.rglob("run.json"))
    rows = read_records(folder / "calls.jsonl")
    cached, given = sum(row.get("cached_tokens", 0) for row in rows), sum(row["input_tokens"] for row in rows)
    assert cached == sum(0 if absurd else row["input_tokens"] // 2 for row in rows)
    total = run_json(folder)["usage"]["total"]
    assert (total["input_tokens"], total.get("cached_tokens", 0)) == (given, cached)
    assert result.totals.cached_tokens == cached
    assert result.totals.cost_usd == pytest.approx((2 * given - cached) / 1e6)
    assert ("cached_tokens" in total) is not absurd
    assert main(["replay", str(folder)]) == 0


def test_shown_exported_and_added_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    totals = {"calls": 3, "input_tokens": 1000, "cached_tokens": 640, "output_tokens": 200, "estimated": False}
    sums = {"total": totals, "by_module": {"emotion": totals}, "by_agent": {}, "by_model": {}, "rows": []}
    folder = write_run(tmp_path, usage=sums)
    lines = [json.dumps(call(1, "Eva", cached_tokens=6)), json.dumps(call(2, "Eva"))]
    (folder / "calls.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["show", str(folder)]) == 0
    assert "640" in capsys.readouterr().out
    export_runs([folder], tmp_path / "tables")
    assert [row["cached_tokens"] for row in table(tmp_path / "tables/calls.csv")] == ["6", "0"]
    assert table(tmp_path / "tables/runs.csv")[0]["cached_tokens"] == "640"


def table(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines))


def test_sums_have_them_only_where_there_were_some() -> None:
    row = {"module": "m", "agent": "a", "model": "x", "calls": 1, "input_tokens": 9, "output_tokens": 1}
    row |= {"estimated": False, "cost_usd": 0.0}
    assert "cached_tokens" not in summed(row, row)
    both = summed(summed(row, row | {"cached_tokens": 4}), row | {"cached_tokens": 3})
    assert both["cached_tokens"] == 7


def test_totals_keep_them_out_of_events_while_there_are_none() -> None:
    assert "cached_tokens" not in Totals(calls=1).model_dump()
    assert "cached" not in used(Totals(calls=1, input_tokens=5))
    assert "5 tokens in (4 cached)" in used(Totals(calls=1, input_tokens=5, cached_tokens=4))


@pytest.mark.parametrize("price", [[1.0], [1.0, 2.0, 3.0, 4.0], [1.0, -1.0], [1.0, 2.0, True]])
def test_prices_are_two_or_three_numbers(price: list[Any]) -> None:
    with pytest.raises(ValueError, match="prices"):
        Settings.model_validate({"prices": {"m": price}})
