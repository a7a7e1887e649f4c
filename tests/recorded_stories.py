"""A recorded story, made up: the small story's section with words, happenings and requests of a test's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from run_folders import call, utterance, write_run

from persimchat.personas.scenario import load_story
from persimchat.runs.folder.reading import Record, read_run

AINO, VEIKKO, TUULI, OLLE = NAMES = tuple(persona.name for persona in load_story().participants)


def happened(do: str, speaker: str = "", round: int = 1, turn: int = 0, **more: Any) -> dict[str, Any]:
    """A line of story.jsonl."""
    return {"turn": turn, "round": round, "do": do, "speaker": speaker, "heard_by": None, **more}


def asked(module: str, agent: str, answer: Any, part: str, turn: int = 0, n: int = 0) -> dict[str, Any]:
    """A request as it is recorded; an answer that is None failed."""
    told = {"answer": {"content": json.dumps(answer) if isinstance(answer, dict) else answer}, "failed": None}
    told = told if answer is not None else {"answer": None, "failed": "no answer"}
    return call(turn, agent, module, **told, n=n, part=part)


def recorded(
    out: Path,
    *,
    said: Iterable[tuple[str, str]] = (),
    happenings: Iterable[Mapping[str, Any]] = (),
    calls: Iterable[Mapping[str, Any]] = (),
    outcome: Mapping[str, Any] | None = None,
    story: Mapping[str, Any] | None = None,
) -> Record:
    """Write a run's folder and read it.

    Args:
        out: where the folder will lie.
        said: speakers and their words.
        happenings: lines of story.jsonl.
        calls: requests as they are recorded.
        outcome: of the vote.
        story: fields of the section that differ from the small story's.
    """
    words = [utterance(turn, speaker, text) for turn, (speaker, text) in enumerate(said, start=1)]
    scenario = load_story().model_dump(mode="json", by_alias=True, exclude={"settings"})
    scenario["story"] |= story or {}
    more = {"happening": happenings, "asked_model": calls}
    return read_run(write_run(out, words, [], more=more, scenario=scenario, outcome=outcome))
