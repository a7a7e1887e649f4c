"""The evaluators' arithmetic, on conversations that are written here."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused
from hypothesis import given
from hypothesis import strategies as st
from langsmith import Client, aevaluate, evaluate
from langsmith.run_helpers import tracing_context
from langsmith.schemas import Example
from loopback.langsmith import LangSmithServer

from persimchat import evaluation
from persimchat.evaluation import (
    CONVERSATION_EVALUATORS,
    UTTERANCE_EVALUATORS,
    addressee_named,
    balance,
    consensus,
    correct,
    evaluate_locally,
    goodbye,
    greatest_share,
    length_error,
    make_atarget,
    make_target,
    means,
    repetition,
    table,
    words_for_others,
)
from persimchat.evaluation.evaluators import length_error_of, repetition_of, shares
from persimchat.runs.run.resources import turns_in_a_trace
from persimchat.state.errors import InputError

ADA, BO, EVA = "Ada Lind", "Bo Říha", "Eva Horáková"
PEOPLE = [ADA, BO, EVA]


def outputs(*said: tuple[str, str], conclusion: Any = None, **settings: Any) -> dict[str, Any]:
    rows = [
        {"turn": turn, "speaker": speaker, "text": text, "addressees": [], "corrections": []}
        for turn, (speaker, text) in enumerate(said, 1)
    ]
    base = {"utterance_words": 10, "answer_format": "free", "choices": []}
    return {"utterances": rows, "participants": PEOPLE, "settings": {**base, **settings}, "conclusion": conclusion}


def concluded(answer: str, *, agreed: bool = True) -> dict[str, Any]:
    return {"answer": answer, "consensus": agreed, "reasoning": "", "supporters": [], "by": "judge"}


WORDS = "We could close the square to cars on Sunday mornings only"


def test_repetition_is_the_greatest_share_that_was_said_before() -> None:
    talk = outputs((ADA, WORDS), (BO, "I would rather ask the shopkeepers what they think"), (EVA, WORDS))
    assert repetition_of(talk) == [0.0, 0.0, 1.0]
    assert repetition(talk) == {"key": "repetition", "score": pytest.approx(1 / 3), "comment": "utterance 3 has 1.00"}
    assert repetition(outputs((ADA, "Yes."), (BO, "Yes.")))["score"] == 0


def test_words_for_others() -> None:
    talk = outputs((ADA, "I agree.\nBo: So do I, of course."), (BO, "Fine by me."))
    assert words_for_others(talk)["score"] == 0.5
    talk["utterances"][1]["corrections"] = ["others_words_removed"]
    assert words_for_others(talk)["score"] == 1


def test_length_against_the_target() -> None:
    talk = outputs((ADA, "one two three four five"), (BO, " ".join(["word"] * 20)), utterance_words=10)
    assert length_error_of(talk) == [0.5, 1.0]
    assert length_error(talk)["comment"] == "utterance 2 has 1.00"


def test_an_addressee_is_named() -> None:
    talk = outputs((ADA, "Bo, what now?"), (BO, "Let us see."))
    talk["utterances"][0]["addressees"] = [BO]
    assert addressee_named(talk)["score"] == 0.5


def test_consensus_and_the_right_answer() -> None:
    debate = outputs((ADA, "Yes"), conclusion=concluded("Yes."), answer_format="yesno")
    assert consensus(debate)["score"] == 1
    assert correct(debate, {"answer": "yes"})["score"] == 1
    assert correct(debate, {"answer": "no"})["score"] == 0
    assert correct(debate, {})["score"] is None
    assert correct(outputs((ADA, "Yes")), {"answer": "yes"})["score"] is None
    assert consensus(outputs((ADA, "Yes")))["score"] is None
    number = outputs((ADA, "12"), conclusion=concluded("1,200", agreed=False), answer_format="number")
    assert (correct(number, {"answer": 1200})["score"], consensus(number)["score"]) == (1, 0)
    vague = outputs((ADA, "?"), conclusion=concluded("It depends"), answer_format="yesno")
    assert correct(vague, {"answer": "yes"})["score"] == 0


def test_a_reference_that_is_no_answer_is_refused(refused: Refused) -> None:
    debate = outputs((ADA, "Yes"), conclusion=concluded("Yes."), answer_format="yesno")
    refused(lambda: correct(debate, {"answer": "maybe"}), "'maybe'", "answer", "answer_format=yesno")


def test_shares_and_balance() -> None:
    alike = outputs((ADA, "a"), (BO, "b"), (EVA, "c"))
    assert balance(alike)["score"] == pytest.approx(1)
    alone = outputs((ADA, "a"), (ADA, "b"))
    assert balance(alone)["score"] == 0
    assert greatest_share(alone) == {"key": "greatest_share", "score": 1.0, "comment": ADA}
    assert shares(outputs((ADA, "a"), (ADA, "b"), (BO, "c"), (EVA, "d"))) == {ADA: 0.5, BO: 0.25, EVA: 0.25}


def test_goodbye() -> None:
    assert goodbye(outputs((ADA, "Good night!"), (BO, "a"), (EVA, "b")))["score"] == 1
    assert goodbye(outputs((ADA, "Bye!"), (BO, "a"), (EVA, "b"), (ADA, "c")))["score"] == 0
    assert goodbye(outputs((ADA, "Stand by me"), (BO, "the byes"), (EVA, "b")))["score"] == 0
    assert goodbye(outputs((EVA, "Na shledanou!")), farewells=["na shledanou"])["comment"] == EVA


_SAID = st.lists(st.tuples(st.sampled_from(PEOPLE), st.text(max_size=60)), max_size=12)


@pytest.mark.proof
@given(_SAID)
def test_scores_are_in_range_for_whatever_was_said(said: list[tuple[str, str]]) -> None:
    talk = outputs(*said, conclusion=concluded("tea", agreed=False))
    for evaluator in (*UTTERANCE_EVALUATORS, *CONVERSATION_EVALUATORS):
        given_ = {"reference_outputs": {"answer": "tea"}} if evaluator is correct else {}
        found = evaluator(talk, **given_)
        assert found["key"] == evaluator.__name__
        assert found["comment"]
        if not said and evaluator not in (consensus, correct):
            assert found["score"] is None
        else:
            assert found["score"] >= 0
            assert evaluator is length_error or found["score"] <= 1


@given(_SAID.filter(bool), st.permutations(PEOPLE))
def test_balance_does_not_heed_the_order(said: list[tuple[str, str]], order: list[str]) -> None:
    talk = outputs(*said)
    assert balance(talk)["score"] == pytest.approx(balance({**talk, "participants": order})["score"])
    assert sum(shares(talk).values()) == pytest.approx(1)


# Evaluating on this machine alone, and with LangSmith's own `evaluate`, without an account


EVALUATORS = [*UTTERANCE_EVALUATORS, *CONVERSATION_EVALUATORS]
DEBATE = {"mode": "debate", "answer_format": "yesno"}
DATASET: list[dict[str, Any]] = [
    {"inputs": {"topic": "Tea | coffee?", "participants": ["Jarmila", "Zeynep"]}},
    {"inputs": {"topic": "Is the square free of cars?", "participants": 2, "settings": DEBATE},
     "outputs": {"answer": "yes"}},
]  # fmt: skip
OFFLINE = {"model": "offline", "max_messages": 3, "seed": 1}


@pytest.mark.proof
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


@pytest.mark.proof
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


def test_what_is_wrong_with_an_example_is_said(refused: Refused) -> None:
    def odd(outputs: dict[str, Any], inputs: dict[str, Any], colour: str) -> dict[str, Any]:
        return {"key": colour, "score": len(outputs) + len(inputs)}

    refused(lambda: evaluate_locally([{"topic": "Tea?"}], make_target(), []), "dataset[0]")
    refused(lambda: evaluate_locally([], make_target(), [odd]), "odd", "colour")
    refused(lambda: make_target()({"subject": "Tea?"}), "no topic")
    refused(lambda: make_target()({"topic": "Tea?", "people": 3}), "people")
    refused(lambda: make_target()({"topic": "Tea?", "settings": "short"}), "settings", "inputs")
    refused(lambda: make_target()("Tea?"), "no topic")  # type: ignore[arg-type]
    refused(lambda: evaluate_locally(["Tea?"], make_target(), []), "dataset[0]")  # type: ignore[list-item]
    wrong = {"inputs": {"topic": "Tea?"}, "outputs": "tea"}
    refused(lambda: evaluate_locally([wrong], make_target(), []), "outputs", "dataset[0]")


def small(number: int = 1) -> list[dict[str, Any]]:
    return [{"inputs": {"topic": f"Tea {n}?"}} for n in range(number)]


def said(inputs: dict[str, Any]) -> dict[str, Any]:
    """A target that costs nothing."""
    return {"transcript": inputs["topic"]}


def test_an_evaluator_is_a_function(refused: Refused) -> None:
    refused(lambda: evaluate_locally(small(), said, [3]), "function")  # type: ignore[list-item]


def feedback_of(found: Any) -> dict[str, Any]:
    def odd(outputs: dict[str, Any]) -> Any:
        if isinstance(found, Exception):
            raise found
        return found

    (row,) = evaluate_locally(small(), said, [odd])
    assert row["outputs"] == {"transcript": "Tea 0?"} and row["error"] is None
    assert table([row]) and set(means([row])) == set(row["feedback"])
    return row["feedback"]


@pytest.mark.parametrize(
    ("found", "scores", "comment"),
    [
        (ValueError("no such thing"), {"odd": None}, "the evaluator failed: ValueError: no such thing"),
        (KeyError("x"), {"odd": None}, "KeyError"),
        (None, {"odd": None}, "the evaluator failed"),
        ({"key": "x", "score": "high"}, {"odd": None}, "the evaluator failed"),
        (float("nan"), {"odd": None}, "the score is nan"),
        ({"key": "x", "score": float("-inf")}, {"x": None}, "the score is -inf"),
        (3, {"odd": 3}, None),
        (0, {"odd": 0}, None),
        (True, {"odd": True}, None),
        ("good", {"odd": None}, None),
        ({"score": 1}, {"odd": 1}, None),
        ({"key": "x", "comment": "it does not apply"}, {"x": None}, "it does not apply"),
        ([{"key": "a", "score": 1}, {"key": "b", "score": 0.5}], {"a": 1, "b": 0.5}, None),
        ({"results": [{"key": "a", "score": 1}, {"key": "b", "score": False}]}, {"a": 1, "b": False}, None),
    ],
)
def test_what_langsmith_takes_is_taken_and_what_fails_is_a_row(
    found: Any, scores: dict[str, Any], comment: str | None
) -> None:
    feedback = feedback_of(found)
    assert {key: one["score"] for key, one in feedback.items()} == scores
    first = next(iter(feedback.values()))
    assert (comment or "") in (first.get("comment") or "")


def test_evaluators_of_a_run_and_async_ones() -> None:
    def of_both(run: Any, example: Any) -> dict[str, Any]:
        return {"key": "both", "score": len(run.outputs["transcript"]), "comment": example.outputs["answer"]}

    async def later(outputs: dict[str, Any], reference_outputs: dict[str, Any]) -> bool:
        await asyncio.sleep(0)
        return reference_outputs["answer"] == "yes"

    (row,) = evaluate_locally([{**small()[0], "outputs": {"answer": "yes"}}], said, [of_both, later])
    assert row["feedback"]["both"] == {"key": "both", "score": 6, "comment": "yes"}
    assert row["feedback"]["later"]["score"] is True


def test_nothing_that_was_paid_for_is_lost() -> None:
    made = []

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        made.append(inputs)
        if len(made) == 2:
            raise RuntimeError("the server is gone")
        return said(inputs)

    rows = evaluate_locally(small(3), target, [lambda outputs: 1 / 0])
    assert [row["error"] for row in rows] == [None, "RuntimeError: the server is gone", None]
    assert [row["outputs"] is None for row in rows] == [False, True, False]
    assert "ZeroDivisionError" in rows[2]["feedback"]["<lambda>"]["comment"]
    with pytest.raises(InputError):
        evaluate_locally([*small(), {"topic": "?"}], target, [])
    assert len(made) == 3  # a wrong example is told before the first is run


def test_rows_without_a_score_are_a_dash() -> None:
    rows = [{"inputs": {"topic": "Tea?"}, "error": None, "feedback": {"x": {"key": "x", "comment": "none"}}}]
    assert table(rows).splitlines()[2:] == ["| Tea? | – |", "| mean | – |"]


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
    client.cleanup(timeout=60)


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
    client.flush(timeout=60)
    assert [path for path in server.paths if path.startswith("POST /runs")] == []


@pytest.mark.proof
async def test_langsmiths_aevaluate_takes_the_async_target(client: Client) -> None:
    results = await aevaluate(
        make_atarget(**OFFLINE), data=examples(), evaluators=[balance, correct], upload_results=False, client=client
    )
    found = scores([row async for row in results])
    assert [set(row) for row in found] == [{"balance", "correct"}] * 2


# What the documents on traces and evaluation show works, and the numbers in them are so


def test_the_table_names_every_evaluator(root: Path) -> None:
    text = (root / "docs/evaluation.md").read_text("utf-8")
    text = text[text.index("## Evaluators") : text.index("## With LangSmith")]
    names = re.findall(r"^\| `(\w+)` \|", text, re.M)
    known = [*evaluation.UTTERANCE_EVALUATORS, *evaluation.CONVERSATION_EVALUATORS]
    assert names == [evaluator.__name__ for evaluator in known]


def test_the_turns_of_a_trace(root: Path) -> None:
    text = " ".join((root / "docs/langsmith.md").read_text("utf-8").split())
    assert f"{turns_in_a_trace(4)} turns for four, {turns_in_a_trace(10)} for ten" in text
    assert f"`conversation from turn {turns_in_a_trace(4)}`" in text  # the first trace has the awakening, too


def test_the_table_names_every_statistic(root: Path) -> None:
    text = (root / "docs/evaluation.md").read_text("utf-8")
    rows = text[text.index("| question | function |") : text.index("They are in `intervals`")]
    functions = set()
    for module in re.findall(r"`(\w+)`", text[text.index("They are in `intervals`") :].partition(". ")[0]):
        path = root / f"evaluation/statistics/{module}.py"
        functions |= set(re.findall(r"^def ([a-z]\w+)\(", path.read_text("utf-8"), re.M))
    helpers = {"signed_ranks", "entropy", "spreads", "units_of", "total_variations", "jensen_shannons", "wassersteins"}
    helpers |= {"stats", "distance", "known", "ranked_alike"}
    assert set(re.findall(r"`(\w+)`", rows)) == functions - helpers
