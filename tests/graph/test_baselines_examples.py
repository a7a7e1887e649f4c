"""The example scenarios compare like with like, and each of them runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from loopback.planned import name_in
from loopback.scripted import Scripted, prompt_of
from loopback.server import LoopbackServer

import persimchat
from persimchat.personas.scenario import load_scenario

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples/baselines").glob("*.yaml"))
OURS = {"need_to_talk", "debate"}


def by_stem(path: Path) -> str:
    return path.stem


def test_all_baselines_have_one():
    assert {path.stem for path in EXAMPLES} - OURS == {
        "round_robin", "selector", "single_agent", "group_chat", "mad", "mad_judge", "reconcile"
    }  # fmt: skip


@pytest.mark.parametrize("path", EXAMPLES, ids=by_stem)
def test_only_the_method_differs(path: Path):
    assert path.read_text(encoding="utf-8").startswith("# ")
    first, scenario = (load_scenario(p).model_dump(exclude={"settings"}) for p in (EXAMPLES[0], path))
    assert scenario == first
    settings = load_scenario(path).settings
    assert settings["max_messages"] == 9
    if path.stem not in OURS:
        assert path.stem in (settings.get("baseline"), settings.get("pattern"))


@pytest.mark.proof
@pytest.mark.parametrize("path", EXAMPLES, ids=by_stem)
def test_each_runs_and_makes_as_many_utterances(path: Path):
    names = [p.name for p in load_scenario(path).participants]
    script = "\n".join(f"{name}: Number {n}." for n, name in enumerate(names * 3))
    positions = [{"agent": name, "position": "Yes.", "agrees": name != names[0]} for name in names]

    def select(body: dict[str, Any]) -> dict[str, Any]:
        able = re.findall(r"Only these may: (.*)\.$", prompt_of(body), re.MULTILINE)[0]
        return {"reasoning": "r", "speaker": able.split(", ")[0]}

    scripted = Scripted(
        script=script,
        selector=select,
        openness={"reasoning": "r", "openness": 5},
        judge={"reasoning": "r", "consensus": False, "answer": None, "positions": positions, "progress": "circling"},
        majority={"reasoning": "r", "answer": "yes", "supporters": names[1:]},
        mad_judge=lambda body: {
            "reasoning": "r",
            "decided": "last round" in prompt_of(body),
            "side": "negative",
            "answer": "no",
        },  # fmt: skip
        answering=lambda body: {
            "reasoning": "r",
            "answer": "no" if name_in(prompt_of(body)) == names[0] else "yes",
            "confidence": 0.7,
        },  # fmt: skip
    )
    with LoopbackServer(answer=scripted) as server:
        result = persimchat.simulate(path, model=server.model(), repetition_check=False)
    assert len(result.utterances) == 9
    assert {u.speaker for u in result.utterances} <= set(names)
    assert result.stop_reason in ("message_limit", "closed")
