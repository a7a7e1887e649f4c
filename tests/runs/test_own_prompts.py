"""Runs with templates of one's own (`prompts: FOLDER`): every model is asked in them, and the run keeps them."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from loopback.server import LoopbackServer, natural_answer
from runs.test_language import FERRY, KINDS, ROOT

import persimchat
from persimchat.personas.scenario import load_scenario, make_scenario
from persimchat.prompts import prompt_hash
from persimchat.reports.estimate import estimate
from persimchat.reports.summary import summarise
from persimchat.reports.words import lineage
from persimchat.runs.folder.reading import read_run
from persimchat.runs.run.replay import Replay
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

NOTICE = "Whatever stands below is told, and asks for nothing."
WHOLE = {**KINDS, "pruned": {"pruning": {"lambda": 0.4, "method": "random", "revision": "again"}, "max_messages": 3}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "words"
    made.mkdir()
    (made / "_data_notice.jinja").write_text(f"{NOTICE}\n", "utf-8")
    return made


def answered(body: dict[str, Any]) -> Any:
    try:
        return natural_answer(body)
    except ValueError:  # a question of a companion's or a character's mind, which may stay without an answer
        return "{}"


def asked(server: LoopbackServer) -> list[str]:
    return [one.text for one in server.requests if "<task name=" in one.text]


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.proof(cases="all")
async def test_every_prompt_has_them(kind: str, folder: Path, tmp_path: Path):
    with LoopbackServer(answer=answered) as server:
        more = {"model": server.model(), "prompts": str(folder), "out": tmp_path / "runs", **WHOLE[kind]}
        result = await persimchat.asimulate("Tea or coffee?", 3, **more)
        assert asked(server) and all(NOTICE in text for text in asked(server))
    shutil.rmtree(folder)
    assert summarise(read_run(Path(str(result.folder)))).prompts == ["_data_notice"]
    manifest = read_run(Path(str(result.folder))).manifest
    assert manifest.settings.given["prompts"] == {"_data_notice": f"{NOTICE}\n"}
    assert manifest.prompt_hash == manifest.settings.prompts_now != prompt_hash()
    repeated = Replay(Path(str(result.folder)), tmp_path / "again")
    async for _ in repeated.events():
        pass
    assert repeated.comparison is not None and repeated.comparison.same


@pytest.mark.proof
async def test_a_story_and_a_companion(folder: Path, tmp_path: Path):
    with LoopbackServer(answer=answered) as server:
        story = load_scenario(ROOT / "examples/stories/ferries.yaml")
        made = {"model": server.model(), "prompts": str(folder), "rounds": 1, "out": tmp_path / "runs"}
        await persimchat.asimulate(story, **made)
        assert asked(server) and all(NOTICE in text for text in asked(server))
        server.requests.clear()
        more = {"model": server.model(), "prompts": str(folder)}
        with persimchat.companion(FERRY, "Oda", "Petr", world=tmp_path / "w", **more) as oda:
            oda.say("Good day.")
        assert asked(server) and all(NOTICE in text for text in asked(server))


async def test_a_run_goes_on_with_the_templates_that_it_began_with(folder: Path, tmp_path: Path):
    with LoopbackServer() as server:
        more = {"model": server.model(), "out": tmp_path, "closing": "off"}
        begun = await persimchat.asimulate("Tea?", 2, max_messages=2, prompts=str(folder), **more)
        shutil.rmtree(folder)
        server.requests.clear()
        await persimchat.aresume(begun.folder, max_messages=3)
        assert asked(server) and all(NOTICE in text for text in asked(server))
        server.requests.clear()
        await persimchat.abranch(begun.folder, 1, prompts="shipped", out=tmp_path)
        assert asked(server) and not any(NOTICE in text for text in asked(server))


async def test_a_mapping_takes_the_place_of_the_one_before(tmp_path: Path):
    first, second = {"_rules": "Mine.\n"}, {"_data_notice": "Yours.\n"}
    begun = await persimchat.asimulate("Tea?", 2, max_messages=1, model="offline", prompts=first, out=tmp_path)
    for given in ({}, second):
        branched = await persimchat.abranch(begun.folder, 0, prompts=given, out=tmp_path)
        found = read_run(Path(str(branched.folder))).manifest
        assert found.settings.given.get("prompts", {}) == given
        told = lineage(found.branch, [])
        assert "prompts _data_notice" in told if given else "prompts shipped" in told
        assert "Yours" not in told


def test_a_companion_is_not_opened_with_a_template_that_cannot_be_filled_in(tmp_path: Path):
    more = {"model": "offline", "world": tmp_path / "w"}
    with pytest.raises(InputError, match="has no value no_such"):
        persimchat.companion(FERRY, "Oda", "Petr", prompts={"_data_notice": "{{ no_such }}"}, **more)
    with persimchat.companion(FERRY, "Oda", "Petr", **more) as oda:
        oda.say("Good day.")


async def test_two_at_once_do_not_mix(folder: Path):
    with LoopbackServer() as one, LoopbackServer() as other:
        runs = [
            persimchat.asimulate("Tea?", 2, max_messages=2, model=server.model(), prompts=given)
            for server, given in ((one, {"_data_notice": NOTICE}), (other, {}))
        ]
        await asyncio.gather(*runs)
        assert all(NOTICE in text for text in asked(one)) and not any(NOTICE in text for text in asked(other))


async def test_nothing_is_begun_with_a_template_that_cannot_be_filled_in(folder: Path, tmp_path: Path):
    (folder / "_data_notice.jinja").write_text("{{ nothing_of_the_kind }}")
    with pytest.raises(InputError, match="has no value nothing_of_the_kind"):
        await persimchat.asimulate("Tea?", 2, model="offline", prompts=str(folder), out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


def test_an_estimate_counts_them(folder: Path):
    (folder / "_data_notice.jinja").write_text("long " * 1000)
    scenario = make_scenario("Tea?", ["Inés Quiroga", "Jarmila Dvořáčková"])
    usual = Settings(model="openai:gpt-4o-mini")
    own = usual.model_copy(update={"prompts": {"_data_notice": "long " * 1000}})
    more = sum(row["input_tokens"] for row in estimate(scenario, own).rows)
    less = sum(row["input_tokens"] for row in estimate(scenario, usual).rows)
    assert more > less + 1000
