"""The estimate of a run before it: calls are those of the graph, tokens are near."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from loopback.server import LoopbackServer

import persimchat
from persimchat.graph.calls import Shape, calls_of_mind, calls_of_onlookers, utterances_at_most
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.reports.estimate import estimate
from persimchat.reports.estimate_sizes import cached_of, filler, lengths
from persimchat.runs.folder.parts import totals, totals_by
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import prefix

TOPIC = "Should our town close its centre to cars?"
ALLOWED = 0.2


def people(number: int = 3) -> Scenario:
    return make_scenario(TOPIC, default_participants(number))


CASES: dict[str, tuple[int, dict[str, Any]]] = {
    "discussion": (3, {"max_messages": 6, "analysis": True}),
    "selector of two": (2, {"max_messages": 4, "pattern": "selector"}),
    "selector, everybody leaves": (2, {"max_messages": 8, "pattern": "selector", "allow_repeated_speaker": True}),
    "no planning": (3, {"max_messages": 4, "planning_and_reflection": False, "memory_filtering": True}),
    "debate": (4, {"mode": "debate", "max_messages": 6, "judge_every": 2}),
    "compact": (3, {"cognition": "compact", "max_messages": 4, "memory_filtering": True}),
    "lean": (3, {"cognition": "lean", "mode": "debate", "judge": "persona", "max_messages": 4}),
    "fixed": (3, {"cognition": "fixed", "max_messages": 6, "analysis": True}),
    "fixed, with two first responses": (
        3, {"cognition": "fixed", "max_messages": 4,
            "pruning": {"lambda": 0.6, "method": "embedding", "query": "response", "responses": 2}},
    ),
    "fixed, named by a selector": (3, {"cognition": "fixed", "pattern": "selector", "max_messages": 4}),
    "a debate of fixed minds": (3, {"cognition": "fixed", "mode": "debate", "max_messages": 6}),
    "listeners": (
        5, {"listeners": 2, "max_messages": 5, "planning_and_reflection": False, "memory_filtering": True,
            "analysis": True},
    ),
    "listeners of a debate": (
        4, {"listeners": 1, "cognition": "lean", "mode": "debate", "judge": "persona", "max_messages": 6,
            "planning_and_reflection": False},
    ),
    "more listeners than agents": (3, {"listeners": 9, "cognition": "compact", "max_messages": 4}),
    "everything": (
        3,
        {"mode": "debate", "max_messages": 5, "judge": "persona", "memory_filtering": True, "analysis": True,
         "pattern": "selector"},
    ),
    "revision": (
        3,
        {"max_messages": 6, "pruning": {"lambda": 0.6, "method": "length", "query": "response", "revision": "again"}},
    ),
    "single_agent": (3, {"baseline": "single_agent", "max_messages": 8, "analysis": True}),
    "group_chat": (3, {"baseline": "group_chat", "max_messages": 8, "analysis": True}),
    "group_chat of two": (2, {"baseline": "group_chat", "max_messages": 6}),
    "group_chat, everybody leaves": (
        2, {"baseline": "group_chat", "max_messages": 8, "allow_repeated_speaker": True},
    ),
    "group_chat that debates": (
        3, {"baseline": "group_chat", "mode": "debate", "answer_format": "yesno", "max_messages": 6, "judge_every": 2},
    ),
    "mad": (3, {"baseline": "mad", "mode": "debate", "answer_format": "yesno", "max_messages": 9}),
    "mad_judge": (5, {"baseline": "mad_judge", "mode": "debate", "answer_format": "yesno", "max_messages": 20}),
    "reconcile": (6, {"baseline": "reconcile", "mode": "debate", "answer_format": "yesno", "max_messages": 18}),
}  # fmt: skip


@pytest.mark.proof
@pytest.mark.parametrize("case", CASES)
def test_the_run_is_as_it_was_estimated(case: str) -> None:
    """By the offline model, whose answers the table of lengths was measured with."""
    number, options = CASES[case]
    settings = Settings(model="offline", prices={"offline": (1.0, 4.0)}, **options)
    run = persimchat.simulate(people(number), settings=settings)
    foreseen = estimate(people(number), settings, utterances=len(run.utterances))
    used, by_module, known = totals(run.usage), totals_by(run.usage, "module"), foreseen.by("module")
    thoughts = {"reflection", "planning"}  # with lean cognition, only an expectation is known
    assert foreseen.total.calls == used.calls or settings.cognition == "lean"
    assert {n: t.calls for n, t in known.items() if n not in thoughts} == {
        n: t.calls for n, t in by_module.items() if n not in thoughts
    }
    for field in ("input_tokens", "output_tokens", "cost_usd"):
        assert getattr(foreseen.total, field) == pytest.approx(getattr(used, field), rel=ALLOWED), field


@pytest.mark.proof
def test_a_server_that_takes_no_schema_has_it_in_its_prompts() -> None:
    """What a server takes is known once it was asked. Its answers here are any that fit: their length says nothing."""
    with LoopbackServer(reports_usage=False, refuses={"json_schema", "tools", "json_object"}) as server:
        settings = Settings(
            model=server.model(), max_messages=5, memory_filtering=True, analysis=True, pattern="selector"
        )
        before = estimate(people(), settings)
        persimchat.simulate(people(), settings=settings.model_copy(update={"max_messages": 1}))
        used, foreseen = totals(persimchat.simulate(people(), settings=settings).usage), estimate(people(), settings)
    assert foreseen.total.calls == before.total.calls == pytest.approx(used.calls, abs=5)
    assert foreseen.total.input_tokens == pytest.approx(used.input_tokens, rel=ALLOWED)
    assert foreseen.total.input_tokens > 1.1 * before.total.input_tokens


@pytest.mark.proof
@pytest.mark.parametrize("pattern", ["need_to_talk", "round_robin"])
def test_who_thinks_where_few_listen_is_foreseen_on_average(pattern: Any) -> None:
    """Whether the next speaker is one of those who were asked is a matter of the conversation: one thought a turn."""
    settings = Settings(model="offline", listeners=2, cognition="lean", max_messages=8, pattern=pattern)
    used, foreseen = persimchat.simulate(people(6), settings=settings).usage, estimate(people(6), settings)
    module = "reaction"
    assert totals_by(used, "module")[module].calls == foreseen.by("module")[module].calls == 8 * 3
    assert abs(totals(used).calls - foreseen.total.calls) <= 8


@pytest.mark.parametrize(
    "form", [{"answer_format": "number"}, {"answer_format": "choice", "choices": ["Brno", "Lviv"]}]
)
@pytest.mark.parametrize("baseline", ["mad", "mad_judge", "reconcile"])
def test_a_debate_baseline_with_any_form_of_answer(baseline: Any, form: dict[str, Any]) -> None:
    settings = Settings(baseline=baseline, mode="debate", max_messages=6, model="offline", **form)
    assert estimate(make_scenario("How many towns?", default_participants(2)), settings).total.calls


def test_a_debate_baseline_makes_whole_rounds() -> None:
    settings = Settings(baseline="mad", mode="debate", rounds=3, max_messages=8, model="offline", answer_format="yesno")
    assert utterances_at_most(3, settings) == estimate(people(), settings).utterances == 6
    assert estimate(people(), settings).total.calls == 6
    with pytest.raises(InputError, match="no room"):
        utterances_at_most(3, settings.model_copy(update={"max_messages": 2}))


def test_people_are_none_of_those_who_are_asked() -> None:
    settings = Settings(listeners=1, cognition="lean", max_messages=4)
    asked = calls_of_mind(Shape(4, 4, 0.5, people=2), settings)["reaction"][1]
    # Two agents, each speaking a quarter of the time: both are asked then, and one of them when a person speaks.
    assert 2 * asked == pytest.approx(0.5 * 2 + 0.5 * 1)


@pytest.mark.proof
def test_an_earlier_end_takes_less_and_has_no_majority_to_word() -> None:
    settings = Settings(mode="debate", max_messages=20, model="offline")
    whole, half = estimate(people(), settings), estimate(people(), settings, utterances=10)
    assert half.utterances == 10
    assert half.total.input_tokens < whole.total.input_tokens < 2.5 * half.total.input_tokens
    # From the third utterance on the judge is asked; the majority's position is worded at the limit alone.
    assert (half.by("module")["judge"].calls, whole.by("module")["judge"].calls) == (8, 18 + 1)


def test_the_models_that_the_settings_name_are_priced() -> None:
    first, *others = [persona.name for persona in people().participants]
    settings = Settings(
        model="openai:gpt-4o-mini", module_models={"analysis": "acme@http://127.0.0.1:9/v1"},
        agent_models={first: "openai:gpt-4o"}, analysis=True, max_messages=4,
    )  # fmt: skip
    found = estimate(people(), settings)
    assert found.unpriced() == ["acme@http://127.0.0.1:9/v1"]
    assert found.total.cost_usd is None
    models, agents = found.by("model"), found.by("agent")
    mini = models["openai:gpt-4o-mini"]
    assert mini.cost_usd == pytest.approx((mini.input_tokens * 0.15 + mini.output_tokens * 0.6) / 1e6, rel=1e-3)
    assert (agents[first].cost_usd or 0) > 10 * (agents[others[0]].cost_usd or 0)
    priced = settings.model_copy(update={"prices": {"acme": (2.0, 3.0)}})
    assert not estimate(people(), priced).unpriced()
    assert estimate(people(), priced).total.cost_usd


@pytest.mark.proof
def test_the_judge_s_mind_asks_the_judge_s_model() -> None:
    settings = Settings(mode="debate", judge="persona", module_models={"judge": "openai:gpt-4o"}, model="offline")
    rows = estimate(people(), settings).rows
    assert {row["agent"] for row in rows if row["model"] == "openai:gpt-4o"} == {"Judge"}
    assert {"perception", "emotion", "judge"} <= {row["module"] for row in rows if row["agent"] == "Judge"}
    assert not {"need_to_talk", "openness", "natural_language"} & {r["module"] for r in rows if r["agent"] == "Judge"}


@pytest.mark.proof
def test_longer_utterances_more_memory_and_more_of_the_past_take_more_tokens() -> None:
    plain = estimate(people(), Settings(model="offline", max_messages=12))
    for more in ({"utterance_words": 100}, {"memory_tokens": 2000}, {"recent_utterances": 12}):
        other = estimate(people(), Settings(model="offline", max_messages=12, **more))  # type: ignore[arg-type]
        assert other.total.calls == plain.total.calls
        assert other.total.input_tokens > 1.01 * plain.total.input_tokens, more
    longer = estimate(people(), Settings(model="offline", max_messages=12, utterance_words=100))
    speech = "natural_language"
    assert longer.by("module")[speech].output_tokens == pytest.approx(
        4 * plain.by("module")[speech].output_tokens, rel=0.05
    )


def test_what_a_server_may_have_in_its_cache() -> None:
    prices = {"openai:gpt-4o-mini": (1.0, 4.0, 0.1)}

    def estimated(**given: Any) -> Any:
        return estimate(people(4), Settings(model="openai:gpt-4o-mini", max_messages=8, prices=prices, **given))

    lean, full = estimated(cognition="lean"), estimated()
    cached = lean.total.cached_tokens
    assert 0.4 < cached / lean.total.input_tokens < 0.9
    assert lean.by("module")["natural_language"].cached_tokens == 0
    assert lean.least_usd == pytest.approx(lean.total.cost_usd - cached * 0.9e-6, rel=0.01)
    assert full.total.cached_tokens == 0
    assert full.least_usd == full.total.cost_usd
    offline = estimate(people(4), Settings(model="offline", max_messages=8, cognition="lean"))
    assert offline.total.cached_tokens == 0


@pytest.mark.parametrize(("tokens", "front", "cached"), [
    (1023, 0, 0), (1024, 0, 1024), (1151, 0, 1024), (1152, 0, 1152), (923, 100, 0), (924, 100, 924), (1100, 100, 1052),
])  # fmt: skip
def test_what_comes_from_a_cache_by_steps(tokens: int, front: int, cached: int) -> None:
    same = "x" * 4 * tokens
    assert cached_of([HumanMessage(f"{same}one")], [HumanMessage(f"{same}two")], front) == cached


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("cognition", ["compact", "lean"])
def test_prompts_share_as_much_as_is_foreseen(cognition: str) -> None:
    """The estimate compares each prompt with one before, the run with all: it may find more, not less."""
    settings = Settings(max_messages=8, cognition=cognition, model="openai:gpt-4o-mini")
    sent = prefix.shares_of(asyncio.run(prefix.prompts_of(4, settings, schema=True)))
    share = sent["all"].cached / sent["all"].tokens
    total = estimate(people(4), settings).total
    assert 0.6 * share < total.cached_tokens / total.input_tokens < 1.15 * share


def test_budgets_that_are_reached_are_named() -> None:
    settings = Settings(model="offline", budget_calls=10, budget_tokens=10**9, max_messages=3)
    assert estimate(people(), settings).exceeded(settings) == ["budget_calls"]


@pytest.mark.parametrize(
    ("options", "utterances"),
    [({}, 0), ({"max_messages": 4}, 5), ({"baseline": "mad", "mode": "debate", "max_messages": 9}, 10)],
)
def test_what_cannot_be_estimated_is_said_with_a_remedy(
    options: dict[str, Any], utterances: int | None, refused: Refused
) -> None:
    settings = Settings(model="offline", **options)
    refused(lambda: estimate(people(), settings, utterances=utterances), "estimate")


@hypothesis_settings(deadline=None, max_examples=60)
@given(
    participants=st.integers(2, 12),
    utterances=st.integers(1, 60),
    reflecting=st.floats(0, 1),
    debate=st.booleans(),
    filtering=st.booleans(),
)
def test_calls_add_up(participants: int, utterances: int, reflecting: float, debate: bool, filtering: bool) -> None:
    options: dict[str, Any] = {"mode": "debate"} if debate else {}
    settings = Settings(max_messages=utterances, memory_filtering=filtering, **options)
    shape = Shape(participants, utterances, reflecting)
    one = {task: float(calls.sum()) for task, calls in calls_of_mind(shape, settings).items()}
    thoughts = (utterances - 1) * (participants - 1)
    assert participants * one["utterance"] == pytest.approx(utterances)
    assert participants * (one["reflection"] + one["planning"]) == pytest.approx(thoughts)
    # Awakening: feel, need to talk, openness; hearing: five, and openness; the first memory leaves with the second.
    assert participants * sum(one.values()) == pytest.approx(
        participants * (2 + debate)
        + utterances
        + thoughts
        + participants * utterances * (5 + debate)
        + filtering * (thoughts + participants * (utterances - 1))
    )
    others = calls_of_onlookers(shape, settings)
    assert others.keys() == ({"judge", "majority"} if debate else set())


@given(st.integers(1, 2000))
def test_filler_has_its_length(length: int) -> None:
    assert len(filler(length).encode()) == length


def test_the_table_of_lengths_is_whole() -> None:
    table = lengths()
    assert table.measured
    every = {"perception", "focal_points", "memory_filtering", "need_to_talk", "openness", "action", "emotion"}
    every |= {"reflection", "planning", "analysis", "selector", "judge", "majority", "inconsistency"}
    every |= {"answering", "mad_judge", "script", "stocktaking", "choice", "summary", "review", "ballot"}
    assert table.answer_tokens.keys() == every
    assert table.answered("utterance", participants=3, words=50) == pytest.approx(65)
    assert table.answered("judge", participants=8, words=25) > table.answered("judge", participants=3, words=25)
