"""Evaluating on this machine alone, and with LangSmith's own `evaluate`, without an account."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from langsmith import Client, aevaluate, evaluate
from langsmith.run_helpers import tracing_context
from langsmith.schemas import Example
from loopback.langsmith import LangSmithServer

from persimchat.evaluation import (
    CONVERSATION_EVALUATORS,
    UTTERANCE_EVALUATORS,
    balance,
    correct,
    evaluate_locally,
    make_atarget,
    make_target,
    means,
    table,
)

EVALUATORS = [*UTTERANCE_EVALUATORS, *CONVERSATION_EVALUATORS]
DEBATE = {"mode": "debate", "answer_format": "yesno"}
DATASET: list[dict[str, Any]] = [
    {"inputs": {"topic": "Tea | coffee?", "participants": ["Jarmila", "Zeynep"]}},
    {"inputs": {"topic": "Is the square free of cars?", "participants": 2, "settings": DEBATE},
     "outputs": {"answer": "yes"}},
]  # fmt: skip
OFFLINE = {"model": "offline", "max_messages": 3, "seed": 1}


def test_every_evaluator_says_what_it_found() -> None:
    rows = evaluate_locally(DATASET, make_target(**OFFLINE), EVALUATORS)
    talk, debate = rows
    assert [row["error"] for row in rows] == [None, None]
    assert len(talk["outputs"]["utterances"]) == 3
    assert talk["outputs"]["transcript"].count("\n") == 2
    assert talk["outputs"]["totals"]["calls"] > 0
    assert list(talk["feedback"]) == [evaluator.__name__ for evaluator in EVALUATORS]
    assert talk["feedback"]["consensus"]["score"] is None
    assert debate["feedback"]["consensus"]["score"] in (0, 1)
    assert debate["feedback"]["correct"]["score"] == float(debate["outputs"]["conclusion"]["answer"] == "yes")
    assert means(rows)["correct"] == debate["feedback"]["correct"]["score"]


def test_the_table() -> None:
    rows = evaluate_locally(DATASET[:1], make_target(**OFFLINE), [balance, correct])
    score = rows[0]["feedback"]["balance"]["score"]
    assert table(rows).splitlines() == [
        "| topic | balance | correct |", "| --- | --- | --- |", f"| Tea \\| coffee? | {score:.2f} | – |",
        f"| mean | {score:.2f} | – |",
    ]  # fmt: skip


def test_a_conversation_that_fails_is_a_row_with_its_error() -> None:
    settings = {"model": "openai:gpt-4o-mini", "max_messages": 1}  # and there is no key
    rows = evaluate_locally([{"inputs": {"topic": "Tea?", "participants": 2, "settings": settings}}], make_target(), [])
    assert rows[0]["outputs"] is None
    assert "OPENAI_API_KEY" in rows[0]["error"]
    assert rows[0]["feedback"] == {}
    assert "Tea? (failed)" in table(rows)


def test_what_is_wrong_with_an_example_is_said(refused: Callable[..., str]) -> None:
    def odd(outputs: dict[str, Any], colour: str) -> dict[str, Any]:
        return {"key": colour, "score": len(outputs)}

    refused(lambda: evaluate_locally([{"topic": "Tea?"}], make_target(), []), "dataset[0]")
    refused(lambda: evaluate_locally([], make_target(), [odd]), "odd", "colour")
    refused(lambda: make_target()({"subject": "Tea?"}), "no topic")
    refused(lambda: make_target()({"topic": "Tea?", "people": 3}), "people")
    refused(lambda: make_target()({"topic": "Tea?", "settings": "short"}), "settings", "inputs")
    refused(lambda: make_target()("Tea?"), "no topic")  # type: ignore[arg-type]
    refused(lambda: evaluate_locally(["Tea?"], make_target(), []), "dataset[0]")  # type: ignore[list-item]
    wrong = {"inputs": {"topic": "Tea?"}, "outputs": "tea"}
    refused(lambda: evaluate_locally([wrong], make_target(), []), "outputs", "dataset[0]")


@pytest.mark.parametrize("found", [3, None, {"score": 1}, {"key": "x", "score": "high"}])
def test_an_evaluator_that_gives_no_score_is_named(refused: Callable[..., str], found: Any) -> None:
    def odd(outputs: dict[str, Any]) -> Any:
        return found

    example = {"inputs": {"topic": "Tea?"}}
    refused(lambda: evaluate_locally([example], lambda inputs: {}, [odd]), "odd", "key", "score")
    refused(lambda: evaluate_locally([example], lambda inputs: {}, [found]), "function")


def examples() -> list[Example]:
    dataset, now = uuid.uuid4(), datetime.now(UTC)
    return [
        Example(id=uuid.uuid4(), dataset_id=dataset, created_at=now, inputs=row["inputs"], outputs=row.get("outputs"))
        for row in DATASET
    ]


def scores(results: Any) -> list[dict[str, Any]]:
    return sorted(
        ({found.key: found.score for found in row["evaluation_results"]["results"]} for row in results),
        key=lambda found: str(found["correct"]),
    )


@pytest.fixture
def server() -> Iterator[LangSmithServer]:
    with LangSmithServer() as server:
        yield server


@pytest.fixture
def client(server: LangSmithServer) -> Iterator[Client]:
    client = Client(api_url=server.url, api_key="lsv2_pt_loopback")
    yield client
    client.cleanup(timeout=5)


@pytest.mark.proof
def test_langsmiths_evaluate_gives_the_same_scores(client: Client, server: LangSmithServer) -> None:
    local = evaluate_locally(DATASET, make_target(**OFFLINE), EVALUATORS)
    expected = [{key: found["score"] for key, found in row["feedback"].items()} for row in local]
    with tracing_context(enabled="local"):
        results = evaluate(
            make_target(**OFFLINE), data=examples(), evaluators=EVALUATORS, upload_results=False, client=client,
            max_concurrency=0,
        )  # fmt: skip
        found = scores(results)
    assert found == sorted(expected, key=lambda row: str(row["correct"]))
    client.flush(timeout=10)
    assert [path for path in server.paths if path.startswith("POST /runs")] == []


@pytest.mark.proof
async def test_langsmiths_aevaluate_takes_the_async_target(client: Client) -> None:
    results = await aevaluate(
        make_atarget(**OFFLINE), data=examples(), evaluators=[balance, correct], upload_results=False, client=client
    )
    found = scores([row async for row in results])
    assert [set(row) for row in found] == [{"balance", "correct"}] * 2
