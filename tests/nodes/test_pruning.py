"""The node that prunes a prompt: what is asked first, what the prompt lacks, and what happens if that fails."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from loopback.scripted import prompt_of, task_of
from nodes.conftest import CALL, StartGroup, mind_of

from persimchat.models.asking import Spoken
from persimchat.models.attention import scoring
from persimchat.models.attention.scores import Scores
from persimchat.models.ledger import NotRecorded
from persimchat.nodes.minds import pruning
from persimchat.nodes.minds.natural_language import prompt_of as whole_prompt
from persimchat.prompts.spans import units_of
from persimchat.state.errors import ModelError, PromptTooLong
from persimchat.state.settings import Settings


class Counting:
    """A scorer whose scores are the numbers 1, 2, 3 … in the order of the prompt."""

    name, context = "counting", 100_000

    def __init__(self, context: int = 100_000) -> None:
        self.context = context
        self.read: list[tuple[str, list[str], list[str]]] = []

    def count(self, system: str, user: str, response: str = "") -> int:
        """A token a word."""
        return len(f"{system} {user} {response}".split())

    def scores(self, system: str, user: str, spans: Sequence[tuple[int, int]], responses: Sequence[str] = ()) -> Scores:
        """Numbers from 1."""
        self.read.append((user, [user[a:b] for a, b in spans], list(responses)))
        return Scores(tuple(float(n) for n in range(1, len(spans) + 1)), self.count(system, user))


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    scorer = Counting()
    monkeypatch.setattr(pruning, "scorer_of", lambda _: scorer)
    monkeypatch.setattr(scoring, "check_scorer", lambda _: None)
    return scorer


def settings(**given: Any) -> Settings:
    more = {name: given.pop(name) for name in ("model", "seed", "prompt_order") if name in given}
    return Settings(model=more.pop("model", "offline"), pruning={"lambda": 0.5, **given}, **more)


def speaker(**more: Any) -> Any:
    return mind_of("李雷", Settings(model="offline"), needs={}, emotion={"happiness": 3}, need_to_talk=4, **more)


async def test_0_changes_nothing_and_is_not_recorded() -> None:
    mind, chosen = speaker(), Settings(model="offline")
    whole = await whole_prompt(mind, chosen)
    assert await pruning.pruned(whole, mind, chosen) == (whole, None)


async def test_what_is_chosen_is_left_out_and_everything_else_stays(counting: Counting) -> None:
    mind, chosen = speaker(), settings()
    whole = await whole_prompt(mind, chosen)
    lacking, record = await pruning.pruned(whole, mind, chosen)
    assert record is not None
    gone = [item.text for item in record.items if item.removed]
    stays = [unit.text for unit in units_of(lacking.blocks)]
    assert len(gone) == record.removed > 0
    assert record.units == len(gone) + len(stays)
    assert [text for text in counting.read[0][1] if text.rstrip("\n") in stays] == [f"{text}\n" for text in stays]
    assert not set(gone) & {text[:80] for text in stays}
    assert record.share is not None
    assert record.share <= 0.5
    unprunable = [[item for item in block.items if not item.prunable] for block in whole.blocks]
    assert [[item for item in block.items if not item.prunable] for block in lacking.blocks] == unprunable


async def test_everything_that_may_go_goes_at_1_but_name_topic_and_words() -> None:
    mind, chosen = speaker(), Settings(model="offline", pruning={"lambda": 1, "method": "length"})  # type: ignore[arg-type]
    lacking, record = await pruning.pruned(await whole_prompt(mind, chosen), mind, chosen)
    assert record is not None
    assert record.removed == record.units
    kinds = {item.kind for block in lacking.blocks for item in block.items}
    assert kinds == {"name", "topic"}


async def test_whole_blocks_go_before_anything_is_scored(counting: Counting) -> None:
    mind, chosen = speaker(), settings(remove="be", prompt_order="ebnrmpc")
    lacking, record = await pruning.pruned(await whole_prompt(mind, chosen), mind, chosen)
    assert record is not None
    unscored = {item.block for item in record.items if item.score is None}
    assert unscored == {"basic_information", "environment"}
    assert all(item.removed for item in record.items if item.score is None)
    assert not any("Also present" in text for text in counting.read[0][1])
    left = {block.tag: [item.kind for item in block.items] for block in lacking.blocks}
    assert left["basic_information"] == ["name"]
    assert left["environment"] == ["topic"]


async def test_removing_a_block_alone_scores_nothing() -> None:
    mind, chosen = speaker(), Settings(model="offline", pruning={"remove": "b"})  # type: ignore[arg-type]
    _, record = await pruning.pruned(await whole_prompt(mind, chosen), mind, chosen)
    assert record is not None
    assert record.share is None
    assert {item.block for item in record.items if item.removed} == {"basic_information"}


@pytest.mark.parametrize("method", ["embedding", "length", "random"])
async def test_every_method_gives_the_same_scores_again(method: str) -> None:
    mind, chosen = speaker(), settings(method=method)
    whole = await whole_prompt(mind, chosen)
    first, second = [(await pruning.pruned(whole, mind, chosen))[1] for _ in range(2)]
    assert first == second
    assert first is not None
    assert first.units > 4
    other = (await pruning.pruned(whole, mind, settings(method=method, seed=7)))[1]
    assert (other != first) is (method == "random")


async def test_what_would_go_is_what_goes(counting: Counting) -> None:
    mind, chosen = speaker(), settings(remove="n")
    whole = await whole_prompt(mind, chosen)
    _, record = await pruning.pruned(whole, mind, chosen)
    assert await pruning.foreseen(whole, mind, chosen) == record


async def test_memories_go_first_if_the_scorer_has_a_small_context(monkeypatch: pytest.MonkeyPatch) -> None:
    mind, chosen = speaker(), settings()
    whole = await whole_prompt(mind, chosen)
    scorer = Counting(context=10)
    monkeypatch.setattr(pruning, "scorer_of", lambda _: scorer)
    lacking, record = await pruning.pruned(whole, mind, chosen)
    assert record is not None
    assert len(units_of(lacking.blocks)) + record.removed == record.units


def pruned_of(channels: dict[str, Any]) -> list[dict[str, Any]]:
    return [mind["pruned"] for mind in channels["agents"].values() if mind.get("pruned")]


@pytest.mark.proof
def test_first_responses_come_first_and_the_prompt_lacks_what_went(group: StartGroup, counting: Counting) -> None:
    made = group()
    given: Any = {"lambda": 0.5, "query": "response", "responses": 2}
    channels = made.talk(pruning=given, max_messages=1, closing="off", seed=5)
    spoken = [request.body for request in made.server.requests if task_of(request.body) == "utterance"]
    assert len(spoken) == 3
    first, last = prompt_of(spoken[0]), prompt_of(spoken[-1])
    assert prompt_of(spoken[1]) == first != last
    assert sorted(body["seed"] for body in spoken[:2]) == [5, 6]
    assert spoken[-1]["seed"] == 5
    record = pruned_of(channels)[0]
    gone = [item["text"] for item in record["items"] if item["removed"]]
    assert record["responses"] == 2
    assert gone
    assert all(text in first and text not in last for text in gone)
    lines = first.splitlines()
    kept = [line for line in lines if line in last.splitlines()]
    assert [line for line in lines if line[:80] not in {text[:80] for text in gone} and line not in kept] in ([], [""])
    assert len(counting.read[0][2]) == 2


async def test_an_error_of_the_scorer_names_who_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Counting):
        def scores(self, *_: Any) -> Scores:
            raise PromptTooLong("too long: 9 tokens", model="broken", remedy="Another one.")

    mind, chosen = speaker(), settings()
    monkeypatch.setattr(pruning, "scorer_of", lambda _: Broken())
    with pytest.raises(
        PromptTooLong, match="too long: 9 tokens .*李雷.*pruning.*broken.*turn 1.* Another one"
    ) as raised:
        await pruning.pruned(await whole_prompt(mind, chosen), mind, chosen)
    assert raised.value.agent == "李雷"


async def test_first_responses_come_to_their_ends_before_one_that_fails_ends_the_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = []

    async def speak(*_: Any, part: str, **__: Any) -> Any:
        if part == "raw:0":
            raise ModelError("gone", model="m")
        await asyncio.sleep(0.01)
        ended.append(part)
        return Spoken("Well.", AIMessage("Well."), 0.0, CALL)

    monkeypatch.setattr(pruning, "speak", speak)
    mind, chosen = speaker(), settings(query="response", responses=3)
    with pytest.raises(ModelError, match="gone"):
        await pruning.pruned(await whole_prompt(mind, chosen), mind, chosen)
    assert ended == ["raw:1", "raw:2"]


@pytest.mark.parametrize(
    "answer",
    [
        "x",
        "[1]",
        '{"scores": ["x"]}',
        '{"scores": [NaN]}',
        '{"scores": [1.7e308]}',
        '{"scores": [], "memories": "many"}',
    ],
)
async def test_scores_of_a_damaged_record_are_refused(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    async def work_out(*_: Any, **__: Any) -> str:
        return answer

    monkeypatch.setattr(pruning.Exchange, "work_out", work_out)
    mind, chosen = speaker(), settings(method="length")
    with pytest.raises(NotRecorded, match="has no scores where they should be"):
        await pruning.pruned(await whole_prompt(mind, chosen), mind, chosen)
