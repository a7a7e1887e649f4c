"""Run folders as they lie on disk, made up: for tests of what reads them."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from persimchat.runs.folder.validation import as_text
from persimchat.runs.kinds import KINDS
from persimchat.runs.log import Log, seal

PEOPLE = ("Eva Horáková", "Bo Říha", "李雷")
EMOTIONS = ("happiness", "sadness", "anger", "fear", "disgust", "surprise")
MARKER = "xylophone"
"""A word that only a whisper to Bo holds, and what Bo made of it."""
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \"' & {{ 123*321 }} {% raw %} \x1b[2J\u202e"


def utterance(turn: int, speaker: str, text: str = "I like tea.", **more: Any) -> dict[str, Any]:
    """A line of transcript.jsonl ."""
    return {
        "turn": turn,
        "speaker": speaker,
        "text": text,
        "addressees": [],
        "emotion": dict.fromkeys(EMOTIONS, 0) | {"happiness": 3},
        "need_to_talk": dict.fromkeys(PEOPLE, 5),
        "response_time_s": 1.0,
        "tokens": {"input": 100, "output": 7},
        **more,
    }


def mind(turn: int, agent: str, **more: Any) -> dict[str, Any]:
    """A line of minds.jsonl."""
    return {
        "turn": turn,
        "agent": agent,
        "did": "",
        "percept": None,
        "focal_points": [],
        "recalled": [],
        "short_term_memory": {"kind": "perception", "turn": turn, "theme": "Tea was praised", "importance": 4},
        "long_term_memories": 3 + turn,
        "need_to_talk": 5,
        "need_reasoning": "I might.",
        "action": "plan",
        "emotion": dict.fromkeys(EMOTIONS, 1),
        "plan": None,
        "insights": [],
        **more,
    }


def verdict(turn: int, consensus: bool = False, **more: Any) -> dict[str, Any]:
    """A line of verdicts.jsonl."""
    positions = [{"agent": name, "position": "For tea.", "agrees": consensus or name == PEOPLE[0]} for name in PEOPLE]
    return {
        "turn": turn,
        "reasoning": "Eva holds on to tea.",
        "consensus": consensus,
        "answer": "Tea at four" if consensus else "",
        "positions": positions,
        "progress": "progressing",
        "overruled": "",
        **more,
    }


def score(turn: int, speaker: str, coherence: float = 5.0, **more: Any) -> dict[str, Any]:
    """A line of analysis.jsonl."""
    scores = {"coherence": coherence, "sentiment": 6.0, "engagement": 7.5}
    return {"turn": turn, "speaker": speaker, "reasoning": "It answers.", **scores, **more}


def call(turn: int, agent: str, module: str = "emotion", **more: Any) -> dict[str, Any]:
    """A request as it is recorded."""
    return {
        "turn": turn,
        "agent": agent,
        "module": module,
        "model": "offline",
        "n": 0,
        "prompt": "0123abcd",
        "seconds": 0.25,
        "input_tokens": 10,
        "output_tokens": 2,
        "estimated": False,
        "cost_usd": 0.001,
        "failed": None,
        "answer": {"words": "An answer that no table holds."},
        **more,
    }


def given(turn: int, speaker: str, text: str, **more: Any) -> dict[str, Any]:
    """A line of transcript.jsonl whose words a person gave."""
    nothing = {"emotion": {}, "response_time_s": 0.0, "tokens": {"input": 0, "output": 0}}
    return utterance(turn, speaker, text, **{**nothing, **more})


def manifest(run: str = "20260101-120000-tea-0001", **more: Any) -> dict[str, Any]:
    """A run.json , of a run that ended at its limit."""
    totals = {"calls": 3, "input_tokens": 1000, "output_tokens": 200, "estimated": True, "cost_usd": 0.0125}
    return {
        "run": run,
        "disclaimer": "",
        "started": "2026-01-01T12:00:00+00:00",
        "ended": "2026-01-01T12:01:00+00:00",
        "stop_reason": "message_limit",
        "detail": "",
        "turn": 3,
        "seed": 7,
        "scenario": {
            "topic": "Tea or coffee?",
            "participants": [{"name": name, "description": "Somebody."} for name in PEOPLE],
        },
        "settings": {"max_messages": 3, "pattern": "need_to_talk", "model": "offline"},
        "models": {},
        "prompt_hash": "0123456789abcdef",
        "versions": {"persimchat": "0.1.0"},
        "usage": {
            "total": totals,
            "by_module": {"natural_language": totals},
            "by_agent": dict.fromkeys(PEOPLE[:1], totals),
            "by_model": {},
            "rows": [],
        },
        **more,
    }


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


_ORDER = {kind: place for place, kind in enumerate((
    "utterance", "silenced", "analysis", "verdict", "mind", "judge_mind", "turn_ended", "happening", "intervention",
))}  # fmt: skip
"""The order in which what a turn has made is written."""


def write_events(folder: Path, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Write events into the log of a run as they are given, valid or not; the log is made if it is missing."""
    with Log(folder / "run.sqlite", KINDS) as log, log._writing() as database:
        for kind, row in rows:
            keys = (kind, row.get("turn"), row.get("agent") or row.get("speaker"), None, as_text(row))
            database.execute(
                "INSERT INTO events (kind, turn, agent, checkpoint, body, seal) VALUES (?, ?, ?, ?, ?, ?)",
                (*keys, seal(*keys)),
            )


def put(folder: Path, kind: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Have a log hold these events of a kind, in place of those that it has."""
    with Log(folder / "run.sqlite", KINDS) as log:
        log.delete("kind = ?", kind)
    write_events(folder, [(kind, row) for row in rows])


def break_seals(folder: Path, where: str) -> None:
    """Damage events of a log."""
    with sqlite3.connect(folder / "run.sqlite") as database:
        database.execute(f"UPDATE events SET seal = seal + 1 WHERE {where}")


def set_format(folder: Path, number: int) -> None:
    """Have a log say that it was written in another format."""
    with sqlite3.connect(folder / "run.sqlite") as database:
        database.execute(f"PRAGMA user_version = {number}")


def rewrite(folder: Path, kind: str, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
    """Change what the events of a kind hold, as if they had been written so."""
    with Log(folder / "run.sqlite", KINDS) as log, log._writing() as database:
        query = "SELECT number, kind, turn, agent, checkpoint, body FROM events WHERE kind = ?"
        for number, *keys, body in database.execute(query, (kind,)).fetchall():
            text = as_text(change(json.loads(body)))
            update = "UPDATE events SET body = ?, seal = ? WHERE number = ?"
            database.execute(update, (text, seal(*keys, text), number))


def events_of(about: Mapping[str, Any], **rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """The events of a run, from what is known about it and from what happened, by kind, in the order of turns."""
    begun = {
        "seed": None, "models": {}, "outside_models": {}, "versions": {"persimchat": "0.1.0"}, "state_version": 2,
        "prompt_hash": "", "branch": None, "settings": {}, "started": "",
    } | {key: value for key, value in about.items() if key in KINDS["begun"].model.model_fields}  # fmt: skip
    resumed = [("resumed", {"settings": begun["settings"], **one}) for one in about.get("resumed", ())]
    mixed = sorted(
        ((kind, row) for kind, found in rows.items() for row in found),
        key=lambda one: (one[1].get("turn", 0), _ORDER.get(one[0], 99)),
    )
    ends = ("ended", "stop_reason", "stop_source", "detail", "conclusion", "outcome", "judgements")
    end = {key: about[key] for key in ends if about.get(key) is not None}
    usage = usage_rows(about.get("usage") or {})
    over = (
        [("ended", {"turn": about.get("turn", 0), "ended": "", "usage": usage, **end})] if "stop_reason" in end else []
    )
    return [("begun", begun), *resumed, *mixed, *over]


def usage_rows(usage: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Accounting rows with the totals of a usage: the first has all of them, the others name agents and modules."""
    if usage.get("rows") or not usage.get("total"):
        return usage.get("rows") or []
    named = zip_longest(usage.get("by_agent", {}), usage.get("by_module", {}))
    nothing = {"calls": 0, "input_tokens": 0, "output_tokens": 0, "estimated": False, "cost_usd": 0.0}
    return [
        {"agent": agent or "", "module": module or "natural_language", "model": "offline"}
        | (nothing if number else dict(usage["total"]))
        for number, (agent, module) in enumerate(list(named) or [("", None)])
    ]


def write_run(
    out: Path,
    said: Iterable[Mapping[str, Any]] | None = None,
    minds: Iterable[Mapping[str, Any]] | None = None,
    *,
    verdicts: Iterable[Mapping[str, Any]] | None = None,
    scores: Iterable[Mapping[str, Any]] | None = None,
    more: Mapping[str, Iterable[Mapping[str, Any]]] = {},
    **about: Any,
) -> Path:
    """Write a run's folder into `out`: three utterances, and minds to go with them, where nothing else is given.

    `more` has other events by kind.
    """
    run = manifest(**about)
    folder = out / run["run"]
    folder.mkdir(parents=True)
    said = [utterance(turn, PEOPLE[turn - 1]) for turn in (1, 2, 3)] if said is None else list(said)
    minds = [mind(turn, name) for turn in range(4) for name in PEOPLE] if minds is None else minds
    most = run["settings"].get("max_messages") or len(said)
    turns = [{"turn": one["turn"], "max_messages": most} for one in said if "turn" in one]
    if turns and "judgements" in run:
        turns[-1]["judgements"] = run["judgements"]
    kinds = {"utterance": said, "mind": minds, "verdict": verdicts or (), "analysis": scores or (), "turn_ended": turns}
    write_events(folder, events_of(run, **kinds, **more))
    return folder


def recalled(theme: str, key: str = "m1") -> dict[str, Any]:
    """A recalled memory in a line of minds.jsonl."""
    parts = {"recency": 1.0, "importance": 0.5, "relevance": 1.0, "emotional": 0.0, "stm_relevance": 0.0}
    return {"id": key, "kind": "perception", "turn": 0, "theme": theme, "focal_point": 1, "score": 2.5, **parts}


def write_steered(out: Path, **about: Any) -> Path:
    """Write the folder of a run that people steered and joined: Eva and Bo are agents, Li is a person.

    `MARKER` stands wherever what was whispered to Bo may end up: in the whisper, what Bo and a judge made of it, the
    requests, what was done, what a branch changed, settings, reasons.
    """
    eva, bo, li = PEOPLE
    said = [
        utterance(1, eva, "Tea, I say.", need_to_talk={eva: 7, bo: 3}),
        given(2, "Moderator", f"Bo, argue for coffee. {MARKER}!", heard_by=[bo], addressees=[bo]),
        utterance(3, bo, "Coffee keeps one awake."),
        given(4, li, "I would rather have water.", heard_by=None),
        given(5, "Moderator", "Eva, stay calm.", heard_by=[eva]),
        utterance(6, eva, "Let us hear the others."),
    ]
    minds = [mind(turn, name, recalled=[recalled("Tea was praised")]) for turn in range(7) for name in (eva, bo)]
    minds += [mind(turn, li, need_to_talk=None, emotion={}) for turn in range(7)]
    secret = {key: f"{key} {MARKER}" for key in ("need_reasoning", "openness_reasoning", "action")}
    thought = {"theme": MARKER, "reaction": MARKER, "identity": MARKER}
    minds.append(
        mind(6, bo, **secret, plan=thought, insights=[thought], recalled=[recalled(MARKER)], focal_points=[MARKER])
    )
    scenario = {
        "topic": "Tea or coffee?",
        "participants": [
            {"name": eva, "description": "An agent."},
            {"name": bo, "description": f"An agent. {MARKER}"},
            {"name": li, "description": "A person.", "human": True},
        ],
        "social_goals": {bo: [MARKER]},
        "rules": [],
    }
    silences = [
        {"turn": 3, "agent": eva, "step": "hear", "why": f"the server is down {MARKER}"},
        {"turn": 6, "agent": li, "step": "speak", "why": "passed"},
    ]
    control = [
        {"turn": 1, "do": "say", "text": f"Bo, argue for coffee. {MARKER}!", "speaker": "", "heard_by": [bo]},
        {"turn": 3, "do": "hand", "agent": li, "raised": True},
        {"turn": 3, "do": "answer", "agent": li, "text": "I would rather have water.", "note": MARKER},
        {"turn": 4, "do": "topic", "topic": "Water or wine?", "why": MARKER},
        {"turn": 5, "do": "floor", "agent": eva, "avoid": [MARKER]},
        {"turn": 6, "do": "wave", "with": MARKER},
    ]
    calls = [call(turn, name) for turn in range(7) for name in (eva, bo)]
    refused = {"answer": {"content": MARKER}, "failed": f"refused {MARKER}", "cost_usd": None}
    calls.append(call(6, bo, "plan", n=1, prompt=MARKER, **refused))
    return write_run(
        out,
        said,
        minds,
        more={"silenced": silences, "intervention": control, "asked_model": calls},
        verdicts=[verdict(6, reasoning=MARKER)],
        scores=[score(3, bo, reasoning=MARKER)],
        **{
            "turn": 6,
            "stop_reason": "budget",
            "stop_source": "budget",
            "detail": f"The next request would pass the budget. {MARKER}",
            "scenario": scenario,
            "settings": {"max_messages": 9, "pattern": "need_to_talk", "model": "offline", "note": MARKER},
            "state_version": 2,
            "branch": {
                "of": "tea-0000",
                "turn": 1,
                "why": "branch",
                "changed": {"say": f"{bo}: {MARKER}"},
            },
            "resumed": [{"at": "2026-01-02T12:00:00+00:00", "turn": 3, "changed": {"note": MARKER}}],
            "silences": 2,
            "conclusion": {"answer": MARKER, "consensus": False, "by": "judge"},
            **about,
        },
    )


def write_debate(
    out: Path, turns: int, names: tuple[str, ...] = PEOPLE, *, seed: int = 1, text: str = "", **about: Any
) -> Path:
    """Write the folder of a debate with everything that a folder can hold: random, but the same for the same seed."""
    chance = random.Random(seed)
    emotion = {name: dict.fromkeys(EMOTIONS, 0) | {"happiness": 4, "anger": chance.randint(0, 3)} for name in names}
    need, openness = dict.fromkeys(names, 5), {name: chance.randint(0, 5) for name in names}
    words = ["I", "have", "said", "before", "the", "square", "was", "built", "for", "carts", "nobody", "pays", "twice"]
    said, minds, verdicts, scores = [], [], [], []
    for turn in range(turns + 1):
        speaker = max(names, key=lambda name: need[name])
        if turn:
            spoken = text or " ".join(chance.choices(words, k=chance.randint(4, 40))).capitalize() + "."
            said.append(
                utterance(
                    turn,
                    speaker,
                    spoken,
                    emotion=dict(emotion[speaker]),
                    need_to_talk=dict(need),
                    addressees=[n for n in names if n != speaker][:1] if turn % 3 == 0 else [],
                    response_time_s=round(chance.uniform(0.6, 3.5), 2),
                    tokens={"input": 900, "output": len(spoken.split()) + 9},
                    corrections=["repetition"] if turn % 7 == 0 else [],
                )
            )
            scored = {key: round(chance.uniform(3, 9), 1) for key in ("coherence", "sentiment", "engagement")}
            scores.append(score(turn, speaker, **scored))
            need[speaker] = 0
        for name in names:
            need[name] = min(10, max(0, need[name] + chance.randint(-1, 3)))
            openness[name] = min(10, max(0, openness[name] + chance.randint(-1, 1 + (turn > turns / 2))))
            feels = chance.choice(EMOTIONS)
            emotion[name][feels] = min(10, max(0, emotion[name][feels] + chance.randint(-3, 2)))
            plan = {"theme": "Bring it back to tea", "reaction": "I will answer.", "identity": "I listen."}
            insights = [{"theme": f"Insight {n} of turn {turn}", "importance": n} for n in range(5)]
            thought = {"plan": plan} if turn % 2 else {"insights": insights}
            minds.append(
                mind(
                    turn,
                    name,
                    need_to_talk=need[name],
                    openness=openness[name],
                    emotion=dict(emotion[name]),
                    **(thought if turn and name != speaker else {}),
                )
            )
        if turn >= len(names):
            agreed = turn == turns
            positions = [
                {"agent": n, "position": "For tea, at four.", "agrees": agreed or chance.random() < turn / turns}
                for n in names
            ]
            progress = chance.choice(["progressing", "circling"])
            overruled = "Bo Říha's openness is 0." if turn == turns - 2 else ""
            verdicts.append(verdict(turn, agreed, positions=positions, progress=progress, overruled=overruled))
    answer = {"answer": "Tea at four, coffee at eight.", "consensus": True, "reasoning": "All of them came round."}
    totals = {"calls": 30, "input_tokens": 90000, "output_tokens": 2000, "estimated": False, "cost_usd": 0.0151}
    given = {
        "stop_reason": "consensus",
        "stop_source": "judge",
        "detail": f"The sliding-window judge found consensus after {turns} utterances.",
        "turn": turns,
        "conclusion": {**answer, "supporters": list(names), "by": "judge"},
        "scenario": {"topic": "Tea or coffee?", "participants": [{"name": n, "description": "x"} for n in names]},
        "settings": {"mode": "debate", "max_messages": 60, "pattern": "need_to_talk", "model": "offline"},
        "usage": {
            "total": totals,
            "by_module": dict.fromkeys(("natural_language", "judge", "need_to_talk", "emotion"), totals),
            "by_agent": dict.fromkeys((*names, "judge"), totals),
        },
        **about,
    }
    return write_run(out, said, minds, verdicts=verdicts, scores=scores, **given)


def write_story(out: Path, **about: Any) -> Path:
    """Write the folder of a story of one round: Ada and Bo can win, Cy comes to support Bo after a talk of the two.

    `MARKER` stands in Ada's review, in the words between Bo and Cy, and in what both took from them.
    """
    ada, bo, cy = "Ada Lind", "Bo Vik", "Cy Dahl"
    people = [{"name": name, "description": "x"} for name in (ada, bo, cy)]
    beliefs = [{"text": "I should lead.", "score": 60, "for": bo}, {"text": "Ada should.", "score": 10, "for": ada}]
    story = {"characters": {ada: {"main": True}, bo: {"main": True, "beliefs": beliefs}, cy: {}}}

    def near(name: str, of_bo: int) -> dict[str, int]:
        return {other: of_bo if other == bo else 10 for other in (ada, bo, cy) if other != name}

    def happened(turn: int, number: int, do: str, speaker: str = "", **more: Any) -> dict[str, Any]:
        base = {"turn": turn, "round": number, "stage": "", "do": do, "speaker": speaker, "heard_by": []}
        return {**base, **more}

    def standings(turn: int, number: int, behind: str, own: list[int]) -> list[dict[str, Any]]:
        weights = {ada: 0, bo: 20 if behind else 0, cy: 20}
        return [
            happened(
                turn, number, "standing", name, closeness=near(name, 10 if number == 0 else 24),
                beliefs=own if name == bo else [], supports=behind if name == cy else "", influence=weights[name],
            )
            for name in (ada, bo, cy)
        ]  # fmt: skip

    private: dict[str, Any] = {"stage": "private"}
    rows = [
        *standings(0, 0, "", [60, 10]),
        happened(0, 1, "stage", stage="private", heard_by=None),
        happened(0, 1, "choice", ada, choice="", chosen_by="branch", **private),
        happened(0, 1, "choice", bo, choice=cy, room="1.1.1", text="why", lines=["flour"], **private),
        happened(0, 1, "met", bo, room="1.1.1", others=[cy], **{**private, "heard_by": [cy]}),
        happened(2, 1, "summary", cy, room="1.1.1", text=f"Bo wants me. {MARKER}", **private),
        happened(2, 1, "stage", stage="group", heard_by=None),
        happened(5, 1, "review", ada, text=f"It did not serve me. {MARKER}", closeness=near(ada, 4), beliefs=[]),
        happened(5, 1, "review", bo, text="It served me.", closeness={ada: -3, cy: 2}, beliefs=[-5, 1]),
        *standings(5, 1, bo, [55, 11]),
        happened(5, 2, "guess", ada, choice=bo, text="He is strong."),
        happened(8, 2, "ballot", ada, choice=ada, text="=1+1"),
        happened(8, 2, "ballot", bo, choice=bo, text="Me."),
        happened(8, 2, "closed_ballot", ada, choice=bo, text="Him."),
        happened(8, 2, "outcome", choice=bo, text="Bo Vik is elected.", heard_by=None),
    ]
    said = [
        utterance(1, bo, f"Stand with me. {MARKER}", heard_by=[cy]),
        utterance(2, cy, f"Perhaps. {MARKER}", heard_by=[bo]),
        *(utterance(turn, name) for turn, name in enumerate((ada, bo, cy, ada, bo, cy), start=3)),
    ]
    own = {"main": True, "beliefs": beliefs, "closeness": {}, "supports": "", "review": ""}
    minds = [
        {"turn": turn, "agent": name, "story": own if name == bo else {**own, "main": name == ada, "beliefs": []}}
        for turn in (0, 5)
        for name in (ada, bo, cy)
    ]
    outcome = {"winners": [bo], "elected": [bo], "open": {ada: 1, bo: 1}, "closed": {bo: 1}}
    folder = write_run(
        out, said, minds, scenario={"topic": "Who leads?", "participants": people, "story": story},
        settings={"mode": "story", "model": "offline"}, outcome=outcome, turn=8, **about,
    )  # fmt: skip
    put(folder, "happening", rows)
    return folder
