"""A judged dimension as an evaluator: the same function here and with LangSmith's own `evaluate`."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langsmith import Client, evaluate
from langsmith.schemas import Example
from loopback.langsmith import LangSmithServer
from loopback.server import LoopbackServer
from run_folders import PEOPLE, manifest, utterance

from evaluation.judging import REASON, Planned
from persimchat.evaluation import DIMENSIONS, dimension, evaluate_locally, make_target

OUTPUTS = {
    "scenario": manifest()["scenario"],
    "utterances": [utterance(1, PEOPLE[0])],
    "settings": {"seed": 3, "social_goals": True},
    "stop_reason": "message_limit",
    "run": "r",
}


@pytest.fixture
def judge() -> Iterator[LoopbackServer]:
    with LoopbackServer(answer=Planned(lambda body: 6 + 2 * (body["seed"] % 2))) as server:
        yield server


def test_a_conversation_that_a_target_held(judge: LoopbackServer) -> None:
    evaluators = [dimension("BEL", by=judge.model()), dimension("rel", by=judge.model())]
    target = make_target(model="offline", max_messages=2, seed=1)
    (row,) = evaluate_locally([{"inputs": {"topic": "Tea?", "participants": 2}}], target, evaluators)
    assert row["feedback"]["BEL"]["score"] in (6, 8)
    assert row["feedback"]["BEL"]["comment"] == REASON
    assert row["feedback"]["REL"] == {"key": "REL", "score": None, "comment": "the dimension does not apply"}
    assert len(judge.bodies()) == 1


def test_repeats_are_averaged(judge: LoopbackServer) -> None:
    found = dimension("CRE", by=judge.model(), repeats=4)(OUTPUTS)
    scores = [6 + 2 * (body["seed"] % 2) for body in judge.bodies()]
    assert (found["score"], len(scores)) == (sum(scores) / 4, 4)


def test_a_budget_holds_for_all_calls_of_an_evaluator(judge: LoopbackServer) -> None:
    evaluator = dimension("BEL", by=judge.model(), budget_calls=2)
    scores = [evaluator(OUTPUTS)["score"] for _ in range(3)]
    assert [score is None for score in scores] == [False, False, True]
    assert "budget of 2 calls" in evaluator(OUTPUTS)["comment"]
    assert len(judge.bodies()) == 2


def test_bad_arguments(refused: Callable[..., str]) -> None:
    refused(lambda: dimension("BEI", by="openai:gpt-4o"), "'BEI'", "'BEL'")
    refused(lambda: dimension("BEL", by="offline"), "offline model cannot judge")
    refused(lambda: dimension("BEL", by="openai:gpt-4o", repeats=0), "repeats")
    assert set(DIMENSIONS) >= {"BEL"}


def test_with_langsmith(judge: LoopbackServer) -> None:
    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        return OUTPUTS

    examples = [Example(id=uuid.uuid4(), inputs={"topic": "Tea?"}, outputs={})]
    with LangSmithServer() as receiver:
        client = Client(api_url=receiver.url, api_key="lsv2_pt_loopback")
        found = list(
            evaluate(
                target, data=examples, evaluators=[dimension("BEL", by=judge.model())], client=client,
                upload_results=False,
            )
        )  # fmt: skip
        client.cleanup(timeout=5)
    (result,) = found[0]["evaluation_results"]["results"]
    here = dimension("BEL", by=judge.model())(OUTPUTS)
    assert (result.key, result.score, result.comment) == ("BEL", here["score"], here["comment"])
