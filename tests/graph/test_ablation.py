"""The setting `ablation`: minds go without modules, of which nothing is asked, told or kept."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any, cast

import pytest
from fixtures import Serve
from loopback.answering import natural_answer
from loopback.scripted import task_of
from talks import check_replay, events_of

import persimchat
from persimchat.experiments import Experiment
from persimchat.experiments.plan import plan
from persimchat.graph.calls import Shape, calls_of_mind
from persimchat.graph.routing import choose_speaker
from persimchat.nodes.minds.appraising import REFLECTS_AT, choose_action
from persimchat.nodes.minds.awakening import able_to_change
from persimchat.reports.report import report_html
from persimchat.runs.events import MindRecord
from persimchat.runs.folder.reading import Record, read_run
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.resume import resume_run
from persimchat.state.errors import InputError
from persimchat.state.minds.ablation import ABLATED
from persimchat.state.minds.mind import Mind, Step
from persimchat.state.settings import Settings

FIRST = "Tea or coffee?"
COMBINED = ("hearing", "appraisal", "reaction")
WITHOUT_IT = {("lean", "focal_points"), ("lean", "action")}
CASES = [pair for pair in product(("full", "compact", "lean"), ABLATED) if pair not in WITHOUT_IT]


def held(out: Path, **settings: Any) -> Record:
    given: dict[str, Any] = {"model": "offline", "mode": "debate", "max_messages": 4, **settings}
    return read_run(Path(str(persimchat.simulate(FIRST, 3, out=out, **given).folder)))


def asked_for(body: dict[str, Any]) -> list[str]:
    """The judgements that a request asks for."""
    task = task_of(body)
    if task not in COMBINED:
        return [task]
    schema = body["response_format"]["json_schema"]["schema"]
    return list(schema["properties"])


def kept_of(mind: MindRecord, module: str) -> Any:
    """What a record has of a module."""
    return {
        "recall": mind.recalled,
        "emotion": mind.emotion,
        "need_to_talk": mind.need_to_talk,
        "openness": mind.openness,
        "reflection": mind.insights,
        "planning": mind.plan,
    }.get(module)


@pytest.mark.proof(cases=6)
@pytest.mark.parametrize(("cognition", "module"), CASES)
def test_nothing_is_asked_told_or_kept_of_it(cognition: str, module: str, tmp_path: Path, serving: Serve) -> None:
    server = serving(natural_answer)
    record = held(tmp_path, model=server.model(), cognition=cognition, ablation=[module])
    assert len(record.utterances) == 4
    asked = Counter(part for body in server.bodies() for part in asked_for(body))
    assert not asked[module] and asked["utterance"] == 4
    gone = Settings(mode="debate", cognition=cast(Any, cognition), ablation=[cast(Any, module)]).left_out
    assert not any(asked[one] for one in gone)
    assert not any(kept_of(mind, module) for mind in record.minds)
    told = [str(body["messages"]) for body in server.bodies() if task_of(body) == "utterance"]
    words = {"emotion": "happiness", "need_to_talk": "need to talk", "openness": "openness to"}.get(module)
    assert words is None or not any(words in text.lower() for text in told), words


@pytest.mark.parametrize(("cognition", "module"), [("full", ""), *CASES])
def test_calls_are_those_that_are_counted_before(cognition: str, module: str, tmp_path: Path) -> None:
    """All but thoughts, of which only an expectation is known."""
    given: dict[str, Any] = {"cognition": cognition, "ablation": [module] if module else []}
    record = held(tmp_path, max_messages=3, **given)
    made = {name: usage.calls for name, usage in record.manifest.usage.by_module.items()}
    settings = Settings(model="offline", mode="debate", max_messages=3, **given)
    counted = calls_of_mind(Shape(3, 3, 0.5), settings)
    names = {"utterance": "natural_language"}
    for task, calls in counted.items():
        if task not in ("reflection", "planning"):
            assert round(3 * calls.sum()) == made.get(names.get(task, task), 0), task
    assert {"reflection", "planning"} & counted.keys() == {"reflection", "planning"} - {module}


def test_all_at_once_leaves_only_words(tmp_path: Path) -> None:
    record = held(tmp_path, mode="discussion", ablation=[one for one in ABLATED if one != "openness"])
    assert record.manifest.usage.by_module.keys() == {"natural_language"}
    assert [said.speaker for said in record.utterances[:3]] == record.manifest.names


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ablation": ["focal_points"], "cognition": "lean"}, "recalls by the words heard; take focal_points out"),
        ({"ablation": ["action"], "cognition": "lean"}, "chooses no action; take action out"),
        ({"ablation": ["openness"]}, "only debates judge it; take openness out"),
        ({"ablation": ["emotion"], "cognition": "fixed"}, "does not go with cognition=fixed"),
        ({"ablation": ["emotion"], "mode": "story"}, "does not go with a story; leave ablation out"),
        ({"ablation": ["soul"]}, "perception"),
    ],
)
def test_what_does_not_go_is_refused_in_a_sentence(given: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        persimchat.simulate(FIRST, 2, model="offline", out=tmp_path, **given)
    assert words in f"{caught.value}".replace(". Take", "; take").replace(". Leave", "; leave")
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_list_may_stand_on_one_line_in_any_order() -> None:
    assert Settings(ablation=cast(Any, "planning, emotion,planning")).ablation == ["emotion", "planning"]
    assert "ablation" not in Settings().model_dump()


def test_without_need_to_talk_who_has_spoken_least_is_next() -> None:
    minds = {name: {"utterances": said, "last_spoke": said} for name, said in (("A", 2), ("B", 1), ("C", 1))}
    assert choose_speaker(minds, 4, Settings(ablation=["need_to_talk"])) == "B"
    drawn = Settings(ablation=["need_to_talk"], selection="softmax")
    assert {choose_speaker(minds, turn, drawn) for turn in range(4, 40)} == {"A", "B", "C"}


async def test_without_action_a_mind_plans_until_enough_was_perceived() -> None:
    settings, did = Settings(model="offline", ablation=["action"]), []
    mind = cast(Step, {"name": "A", "percept": {"importance": 10}, "action": ""})
    for _ in range(REFLECTS_AT // 10):
        mind |= await choose_action(mind, settings)
        did.append(mind["action"])
    assert did == ["plan"] * 4 + ["reflect"]
    without = Settings(model="offline", ablation=["action", "reflection"])
    assert (await choose_action(mind, without))["action"] == ""


@pytest.mark.proof
async def test_it_is_kept_resumed_branched_back_replayed_and_shown(tmp_path: Path) -> None:
    first = held(tmp_path, ablation=["emotion", "need_to_talk", "recall"], max_messages=2)
    folder = first.path
    await events_of(resume_run(folder, changes={"max_messages": 4}))
    branch = [event async for event in branch_run(folder, 2, changes={"ablation": ["planning"]}, out=tmp_path)]
    assert branch
    other = next(path for path in tmp_path.iterdir() if path != folder)
    for path in (folder, other):
        await check_replay(path)
        assert "planning" in report_html(read_run(path)) or path == folder
    back = [mind for mind in read_run(other).minds if mind.turn > 2]
    assert back and all(mind.emotion and mind.need_to_talk is not None and mind.plan is None for mind in back)


def test_a_branch_gives_a_judge_s_mind_no_need_to_talk() -> None:
    mind = cast(Mind, {"role": "judge", "alive": {"a": 0}, "emotion": {"fear": 1}, "action": "plan", "plan": None})
    compact = Settings(mode="debate", cognition="compact", judge="persona")
    assert able_to_change(mind, compact) == mind
    calm = able_to_change({**mind, "emotion": {}}, compact)
    assert set(calm["emotion"].values()) == {0} and calm.keys() == mind.keys()


@pytest.mark.proof
def test_it_goes_with_listeners(tmp_path: Path) -> None:
    record = held(tmp_path, listeners=1, ablation=["emotion", "need_to_talk", "openness"])
    assert any(mind.listened is False for mind in record.minds)
    assert not any(mind.emotion or mind.need_to_talk for mind in record.minds)


def test_the_example_has_six_ablations_beside_whole_minds(root: Path) -> None:
    example = Experiment.load(root / "examples/minds/ablations.yaml")
    assert len(plan(example).cells) == 70
