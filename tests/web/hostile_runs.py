"""Runs and files in which every text that people, personas and models can give tries to be more than text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import yaml
from run_folders import HOSTILE, mind, recalled, score, utterance, verdict, write_events, write_run

SCRIPT: Final = "</script></style></textarea><script>window.__x=1</script><img src=x onerror=window.__x=2>"
CHART: Final = ":<svg onload=window.__x=3>{a|b}"
VUE: Final = "{{ constructor.constructor('window.__x=4')() }}"
LONG: Final = "W" * 300
NAMES: Final = (SCRIPT, CHART, VUE, LONG, ":window.__x=5")
"""Of personas. What begins with a colon is script where NiceGUI finds it among a property's keys."""

TOPIC: Final = "javascript:window.__x=6 <a href=javascript:window.__x=7>x</a> " + HOSTILE
WORDS: Final = [
    SCRIPT + HOSTILE,
    "W" * 100_000,
    "\u202e\u2066 right to left \u200f\u0000\u0007\u001b[2J\r\n<iframe srcdoc='<script>parent.__x=8</script>'>",
    "[x](javascript:window.__x=9) ![x](http://evil.example/x.png) <http://evil.example/> ${window.__x=10} `x`",
    VUE + CHART,
]
WHY: Final = SCRIPT + VUE + "\u0000\u202e" + "W" * 3_000


def _said(turn: int) -> dict[str, Any]:
    needs = {name: number for number, name in enumerate(NAMES, 3)}
    hearers = {"heard_by": [NAMES[0], NAMES[3]], "addressees": [CHART]} if turn == 3 else {}
    corrections = {"corrections": [SCRIPT, VUE], "answer": WHY, "confidence": 0.5} if turn == 2 else {}
    return utterance(turn, NAMES[turn - 1], WORDS[turn - 1], need_to_talk=needs, **hearers, **corrections)


def _thought(turn: int, **more: Any) -> dict[str, Any]:
    keys = {"id": f"m{turn}", "kind": SCRIPT, "turn": turn, "theme": WHY, "importance": 7, "keywords": [*NAMES, WHY]}
    return {**keys, "reaction": WHY, "identity": VUE, "progress": CHART, "goals": [*NAMES], "react": True, **more}


def _mind(turn: int, name: str) -> dict[str, Any]:
    feels = {"emotion": {"happiness": 3, "anger": turn, SCRIPT: 2, CHART: 4}} if turn % 2 else {}
    thinks = {"did": "plan", "plan": _thought(turn)} if turn % 2 else {"did": "reflect"}
    insights = [] if turn % 2 else [_thought(turn, id=f"i{turn}", evidence=["m1", "m3", SCRIPT])]
    return mind(
        turn,
        name,
        percept={"theme": WHY, "keywords": [*NAMES], "importance": 4} if turn else None,
        focal_points=[WHY, VUE],
        recalled=[recalled(SCRIPT + VUE), recalled(WHY, "m3")],
        short_term_memory=_thought(turn),
        need_reasoning=WHY,
        openness=5,
        openness_reasoning=WHY,
        action=SCRIPT if turn == 1 else "plan",
        **thinks if turn else {},
        insights=insights if turn else [],
        **feels,
    )


def hostile_run(out: Path, run: str, **about: Any) -> str:
    """Write a debate of five utterances; what is given stands in its run.json. Returns its id."""
    positions = [{"agent": name, "position": WHY, "agrees": True} for name in NAMES]
    conclusion = {"consensus": True, "answer": WHY, "reasoning": WHY, "supporters": [*NAMES], "by": SCRIPT}
    scenario = {
        "topic": TOPIC,
        "participants": [{"name": name, "description": WHY, "human": name == LONG} for name in NAMES],
        "rules": [SCRIPT, VUE],
        "social_goals": {SCRIPT: [SCRIPT, VUE]},
    }
    turns = range(1, len(WORDS) + 1)
    folder = write_run(
        out,
        [_said(turn) for turn in turns],
        [_mind(turn, name) for turn in range(len(WORDS) + 1) for name in NAMES if name != LONG],
        verdicts=[
            verdict(2, reasoning=WHY, positions=positions, overruled=SCRIPT + VUE),
            verdict(5, consensus=True, reasoning=WHY, answer=WHY, positions=positions, progress=SCRIPT),
        ],
        scores=[score(turn, NAMES[turn - 1], reasoning=WHY) for turn in turns],
        **{
            "run": run,
            "stop_reason": "consensus",
            "stop_source": SCRIPT,
            "detail": WHY,
            "turn": len(WORDS),
            "conclusion": conclusion,
            "scenario": scenario,
            "settings": {"max_messages": 9, "mode": "debate", "answer_format": "free", "model": VUE, "analysis": True},
            "models": {name: {"natural_language": SCRIPT} for name in NAMES},
            **about,
        },
    )
    deeds = [
        {"turn": 3, "do": "say", "speaker": SCRIPT, "text": WHY, "heard_by": None},
        {"turn": 4, "do": "topic", "topic": TOPIC},
    ]
    write_events(folder, [("intervention", deed) for deed in deeds])
    labels = {"name": SCRIPT, "tags": [CHART, VUE[:40], ":window.__x=12", "<img src=x onerror=window.__x=13>"]}
    (folder / "labels.json").write_text(json.dumps(labels), encoding="utf-8")
    return run


def hostile_personas(folder: Path) -> list[Path]:
    """Persona files of all these people, and one that nobody can read."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, name in enumerate(NAMES):
        path = folder / f"{number} {{{{ x }}}} onerror=window.__x=11.yaml"
        persona = {
            "name": name,
            "description": WHY.replace("\0", ""),
            "characteristics": {CHART: SCRIPT, "age": VUE, "occupation": SCRIPT},
            "traits": [SCRIPT, VUE, LONG],
            "speaking_style": SCRIPT,
            "social_goals": [SCRIPT, VUE],
            "knowledge": {CHART: 3, SCRIPT: 5},
        }
        path.write_text(yaml.safe_dump(persona, allow_unicode=True), encoding="utf-8")
        paths.append(path)
    broken = folder / "broken.yaml"
    broken.write_text(f"name: [{SCRIPT}\n  {VUE}: \x01", encoding="utf-8")
    return [*paths, broken]


def hostile_setup(path: Path) -> Path:
    """A set-up file of all of it."""
    scenario = {
        "topic": TOPIC.replace("\x1b", ""),
        "participants": [{"name": name, "description": SCRIPT + VUE} for name in NAMES],
        "rules": [SCRIPT, VUE],
        "social_goals": {SCRIPT: [SCRIPT, VUE]},
        "relationships": [{"from": SCRIPT, "to": CHART, "type": "friend", "note": VUE + SCRIPT}],
        "settings": {"mode": "debate", "answer_format": "choice", "choices": [SCRIPT, VUE], "model": "offline"},
    }
    path.write_text(yaml.safe_dump(scenario, allow_unicode=True), encoding="utf-8")
    return path
