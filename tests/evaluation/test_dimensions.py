"""What judgements on many conversations come to."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from evaluation.judging import REASON, Planned, run_about
from fixtures import Refused, Serve
from langsmith import Client, evaluate
from langsmith.schemas import Example
from loopback.langsmith import LangSmithServer
from loopback.server import LoopbackServer
from run_folders import PEOPLE, manifest, utterance

from persimchat.evaluation import DIMENSIONS as DIMENSIONS_of_evaluators_judged
from persimchat.evaluation import dimension, evaluate_locally, make_target
from persimchat.evaluation.asking import NOT_ASKED, Question
from persimchat.evaluation.dimensions import (
    DIMENSIONS,
    Value,
    chosen,
    current,
    questions_on,
    result_of,
    task_means,
    values_of,
    warnings,
)
from persimchat.evaluation.statistics.effects import Effect
from persimchat.evaluation.transcripts import read_conversation
from persimchat.models.naming import parse_model_name
from persimchat.runs.folder.answers import RecordedJudgement
from persimchat.runs.folder.reading import read_run
from persimchat.state.assessment import ChangeScore, DimensionScore, PairScores
from persimchat.state.errors import InputError

BEL = DIMENSIONS["BEL"]


def value(score: float | None, task: str = "", *, words: float = 10, missing: str = "", applies: bool = True) -> Value:
    scores = {} if score is None else {1: score}
    why = {missing: 1} if missing else {}
    return Value(run=task, task=task, dimension="BEL", applies=applies, scores=scores, missing=why, words=words)


def test_mean_spread_and_interval() -> None:
    result = result_of(BEL, [value(score, str(score)) for score in (6, 7, 8, 9)])
    assert (result.mean, result.n) == (7.5, 4)
    assert result.sd == pytest.approx(1.2910, abs=5e-5)
    assert (result.interval.low, result.interval.high) == pytest.approx((5.446, 9.554), abs=5e-4)


def test_conversations_of_one_task_count_once_in_the_interval() -> None:
    result = result_of(BEL, [value(6, "a"), value(8, "a"), value(9, "b")])
    assert (result.mean, result.n) == (pytest.approx(23 / 3), 3)
    assert (result.interval.value, result.interval.n) == (8.0, 2)
    assert task_means([("b", 9), ("a", 6), ("a", None), ("c", None)]) == [6, 9, None]


def test_what_is_missing_is_counted_and_never_zero() -> None:
    result = result_of(
        BEL,
        [value(8, "a"), value(None, "b", missing="refused"), value(None, "c", missing="unparseable")]
        + [value(None, "d", applies=False)],
    )
    assert (result.mean, result.sd, result.n, result.not_applicable) == (8, None, 1, 1)
    assert result.missing == {"refused": 1, "unparseable": 1}
    assert result.interval.dropped == 2


def test_repeats_are_averaged_and_their_agreement_is_told() -> None:
    values = [
        Value(run=run, task=run, dimension="BEL", applies=True, scores={1: a, 2: b}, missing={}, words=1)
        for run, a, b in (("x", 1, 2), ("y", 3, 3), ("z", 4, 5))
    ]
    result = result_of(BEL, values)
    assert [one.value for one in values] == [1.5, 3, 4.5]
    assert result.reliability == pytest.approx(0.8333, abs=5e-5)
    assert result_of(BEL, [value(1), value(2)]).reliability is None


def test_values_come_from_the_answers_to_todays_question(tmp_path: Path) -> None:
    folder = run_about(tmp_path)
    about = read_conversation(folder), chosen(["BEL", "GOAL"])
    judged = questions_on(*about, folder, repeats=2)
    rows = [row_of(unit, score) for unit, score in zip(judged.units, (7, 9), strict=True)]
    stale = rows[0].model_copy(update={"request": "another", "score": 1})
    by_key = {row.key: row for row in (*rows, stale)}
    bel, goal = sorted(values_of(*about, judged, "m", by_key), key=lambda v: v.dimension)
    assert (bel.value, goal.value, goal.applies, len(judged.units)) == (8, None, False, 2)
    assert values_of(*about, judged, "another", by_key)[1].missing == {NOT_ASKED: 2}
    assert [row.score for row in current(read_run(folder), [stale, *reversed(rows)])] == [7, 9]


def row_of(unit: Question[RecordedJudgement], score: int) -> RecordedJudgement:
    return RecordedJudgement(**unit.fields, judge="m", request=unit.asked.request, repeat=unit.repeat, score=score)


def test_warnings(tmp_path: Path) -> None:
    spoke = {"Eva": {"natural_language": "openai:gpt-4o", "judge": "openai:o3"}}
    conversations = [read_conversation(run_about(tmp_path, models=spoke))]
    own, few = warnings(parse_model_name("openai:gpt-4o"), conversations, {})
    assert "words of its own" in own
    assert "1 task" in few
    rho = {"BEL": Effect(name="ρ", value=0.8, n=12, p=0.01), "CRE": Effect(name="ρ", value=-0.6, n=12, p=0.03)}
    rho["TTF"] = Effect(name="ρ", value=-1, n=3, p=0.33)  # of three, chance alone makes any order
    found = warnings(parse_model_name("openai:o3"), conversations, rho)
    assert [warning.partition(":")[0] for warning in found[1:]] == ["BEL"]


def test_dimensions_are_complete() -> None:
    assert list(DIMENSIONS) == ["GOAL", "BEL", "KNO", "REL", "CRE", "TTF", "CDR", "SER", "GPTS", "CLO"]
    assert {key: (one.low, one.high) for key, one in DIMENSIONS.items() if one.low} == {"REL": (-5, 5)}
    assert [one.key for one in chosen(["clo", " bel"])] == ["BEL", "CLO"]
    with pytest.raises(InputError, match="Did you mean 'BEL'"):
        chosen(["BEI"])


@pytest.mark.parametrize(
    ("schema", "score", "valid"),
    [
        (DimensionScore, 10, True),
        (DimensionScore, 11, False),
        (DimensionScore, 7.5, False),
        (DimensionScore, True, False),
        (ChangeScore, -5, True),
        (ChangeScore, -6, False),
    ],
)
def test_scores_keep_to_their_bounds(
    schema: type[DimensionScore] | type[ChangeScore], score: float, valid: bool
) -> None:
    if valid:
        assert schema.model_validate({"reasoning": "So.", "score": score}).score == score
    else:
        with pytest.raises(ValueError, match="score"):
            schema.model_validate({"reasoning": "So.", "score": score})


def test_reasons_may_be_long() -> None:
    long = "w " * 2000
    assert len(PairScores(reasoning=long, first=1, second=9.54).reasoning) <= 1500
    assert PairScores(reasoning="So.", first=1, second=9.54).second == 9.5


# A judged dimension as an evaluator: the same function here and with LangSmith's own `evaluate`


OUTPUTS = {
    "scenario": manifest()["scenario"],
    "utterances": [utterance(1, PEOPLE[0])],
    "settings": {"seed": 3, "social_goals": True},
    "stop_reason": "message_limit",
    "run": "r",
}


@pytest.fixture
def judge(serving: Serve) -> LoopbackServer:
    return serving(Planned(lambda body: 6 + 2 * (body["seed"] % 2)))


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


def test_bad_arguments(refused: Refused) -> None:
    refused(lambda: dimension("BEI", by="openai:gpt-4o"), "'BEI'", "'BEL'")
    refused(lambda: dimension("BEL", by="offline"), "offline model cannot judge")
    refused(lambda: dimension("BEL", by="openai:gpt-4o", repeats=0), "repeats")
    assert set(DIMENSIONS_of_evaluators_judged) >= {"BEL"}


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
        client.cleanup(timeout=60)
    (result,) = found[0]["evaluation_results"]["results"]
    here = dimension("BEL", by=judge.model())(OUTPUTS)
    assert (result.key, result.score, result.comment) == ("BEL", here["score"], here["comment"])
