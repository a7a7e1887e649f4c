"""What is asked before the first word of a companion, and what beside and behind it, on a loopback server."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from os.path import commonprefix
from pathlib import Path
from typing import Any

import pytest
from companion_talks import FERRY
from fixtures import Serve
from loopback.answering import Fault
from loopback.failing import Failing, retry_at_once
from loopback.scripted import ANSWERS, Scripted
from loopback.server import LoopbackServer
from talks import events_of

from persimchat.evaluation.companion.latency import measure_latency, ratio
from persimchat.graph.companion import digesting, ongoing
from persimchat.graph.minds import building
from persimchat.graph.node import TRANSIENT
from persimchat.models.registry import close_models
from persimchat.runs.companion.events import Answered, Token
from persimchat.runs.companion.folder import companion_settings
from persimchat.runs.companion.session import Companion
from persimchat.runs.companion.world import opened_world
from persimchat.state.companion.place import Place
from persimchat.state.errors import InputError

PLACE = Place.model_validate({**FERRY.model_dump(), "clock": {"mode": "steps"}})
WORDS = "One two three four five six seven eight nine ten eleven twelve."
KIND = {**ANSWERS["trust"], "cause": "kindness", "change": 1}  # type: ignore[dict-item]


def reaction(**more: Any) -> dict[str, Any]:
    """The answer of a digest."""
    return {"perception": ANSWERS["perception"], "emotion": ANSWERS["emotion"], "trust": KIND, **more}


@asynccontextmanager
async def oda(folder: Path, server: LoopbackServer, **settings: Any) -> AsyncIterator[Companion]:
    given = companion_settings(PLACE, environment={}, model=server.model(), **settings)
    try:
        async with opened_world(folder, PLACE, given) as world:
            yield await world.companion("Oda", "Petr", introduced=True)
    finally:
        await close_models()


def tasks(scripted: Scripted) -> list[str]:
    return [task for task, _ in scripted.asked]


async def asked_at(companion: Companion, scripted: Scripted, text: str) -> tuple[list[str], list[str], list[str]]:
    """What had been asked at the first word, at the last one, and in the end."""
    at: list[list[str]] = []
    async for event in companion.say(text):
        if isinstance(event, Token):
            at.append(tasks(scripted))
    await companion.settled()
    return at[0], at[-1], tasks(scripted)


@pytest.mark.proof
async def test_one_request_before_the_first_word_and_judgements_before_the_last(
    tmp_path: Path, serving: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted, begin, asked = Scripted(companion=WORDS, reaction=reaction()), ongoing.begin, list[list[str]]()

    def begun(*given: Any) -> None:
        asked.append(tasks(scripted))
        begin(*given)

    monkeypatch.setattr(ongoing, "begin", begun)
    server = serving(scripted, token_delay_s=0.03)
    async with oda(tmp_path / "w", server, **{"companion.overlap": "on"}) as companion:
        first, last, everything = await asked_at(companion, scripted, "Good morning.")
    assert asked[0] == ["companion"], "the first piece of the words has come"
    assert first[0] == "companion" and last == ["companion", "reaction"]
    assert everything[:2] == last


@pytest.mark.proof
@pytest.mark.parametrize("given", [{"companion.overlap": "off"}, {"max_concurrency": 1}])
async def test_without_overlap_the_judgements_come_behind_the_last_word(
    tmp_path: Path, serving: Serve, given: dict[str, Any]
) -> None:
    scripted = Scripted(companion=WORDS, reaction=reaction())
    async with oda(tmp_path / "w", serving(scripted, token_delay_s=0.005), **given) as companion:
        first, last, everything = await asked_at(companion, scripted, "Good morning.")
    assert first == last == ["companion"] and len(everything) > 1


async def test_a_second_prompt_begins_with_the_first_up_to_its_last_lines(tmp_path: Path, serving: Serve) -> None:
    scripted = Scripted(companion=WORDS, reaction=reaction())
    server = serving(scripted)
    async with oda(tmp_path / "w", server) as companion:
        for text in ("Good morning, is the boat late?", "Is there tea?"):
            await events_of(companion.say(text))
            await companion.settled()
    first, second = (body["messages"] for body in server.bodies() if body.get("stream"))
    assert [one["role"] for one in first] == [one["role"] for one in second] and first[:-1] == second[:-1]
    shared = commonprefix([first[-1]["content"].encode(), second[-1]["content"].encode()])
    assert shared.endswith(b"Good morning, is the boat late?\n"), shared[-200:]
    assert b"Oda Brandvik" in shared and b"stove" in shared


@pytest.mark.proof
async def test_a_message_does_not_wait_for_judgements_and_these_are_asked_once(tmp_path: Path, serving: Serve) -> None:
    release = threading.Event()

    def slow(_: Any) -> dict[str, Any]:
        assert release.wait(60)
        return reaction()

    scripted = Scripted(companion=WORDS, reaction=slow)
    async with oda(tmp_path / "w", serving(scripted), **{"companion.overlap": "on"}) as companion:
        for number in ("1", "2"):
            async for event in companion.say(f"Number {number}.", id=number):
                if isinstance(event, Answered):
                    break
        assert [one["id"] for one in companion.pending] == ["1", "2"]
        release.set()
        await companion.settled()
        exchanges = await companion.exchanges()
        assert [(one["id"], one["appraised"], one["trust"]) for one in exchanges] == [("1", True, 6), ("2", True, 7)]
    digests = [prompt for task, prompt in scripted.asked if task not in ("companion", "day_plan", "chunks")]
    assert len(digests) == 2


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    retry_at_once(monkeypatch)
    monkeypatch.setattr(digesting, "_HEARING", building.build_hearing(checkpointer=False))


@pytest.mark.proof
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("tries", "trust", "appraised"), [(1, 7, [True, True]), (2, 6, [False, True])])
async def test_a_failed_judgement_leaves_trust_as_it_was_and_is_tried_once_more(
    tmp_path: Path, serving: Serve, tries: int, trust: int, appraised: list[bool]
) -> None:
    scripted = Scripted(companion=WORDS, reaction=reaction())
    count = tries * TRANSIENT.max_attempts
    failing = Failing(Fault(500), tasks=["reaction"], count=count, answer=scripted)
    async with oda(tmp_path / "w", serving(failing)) as companion:
        for number in ("1", "2"):
            async for event in companion.say(f"Number {number}.", id=number):
                assert number == "2" or not isinstance(event, Answered) or event.trust == 5
            await companion.settled()
        tie = await companion.tie()
        assert tie is not None and tie.trust == trust and companion.pending == []
        assert [one["appraised"] for one in await companion.exchanges()] == appraised
    assert len(failing.failed) == count


@pytest.mark.proof
async def test_latency_is_measured_beside_the_same_requests_sent_bare(tmp_path: Path, serving: Serve) -> None:
    scripted = Scripted(companion=WORDS, reaction=reaction())
    settings = companion_settings(PLACE, environment={}, model=serving(scripted).model())
    try:
        rows = await measure_latency(tmp_path / "w", PLACE, settings, 1)
    finally:
        await close_models()
    count = {name: sum(row.measure == name for row in rows) for name in {row.measure for row in rows}}
    assert set(count) == {
        "own_ms", "first_words_ms", "first_sentence_ms", "answer_ms", "appraised_ms", "bare_first_words_ms",
    }  # fmt: skip
    assert set(count.values()) == {11} and (ratio(rows) or 0) > 0
    words = scripted.prompts("companion")
    assert len(words) == 2 * 2 * 11 and len(set(words)) < len(words)


async def test_a_model_that_is_not_asked_over_http_has_no_latency(tmp_path: Path) -> None:
    settings = companion_settings(PLACE, environment={}, model="offline")
    with pytest.raises(InputError, match="not asked over HTTP"):
        await measure_latency(tmp_path / "w", PLACE, settings, 1)
