"""run.json: everything needed to understand and repeat a run (specification, *What a run leaves behind*)."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any, Final

from persimchat.prompts import prompt_hash
from persimchat.runs.events import Stopped
from persimchat.runs.folder.checkpoints import without_password
from persimchat.runs.folder.lines import DISCLAIMER
from persimchat.runs.folder.run_folder import RUN_FORMAT
from persimchat.runs.folder.totals import totals, totals_by
from persimchat.state.plain_text import without_credentials
from persimchat.state.scenario import Scenario
from persimchat.state.settings import AFTERWARDS, MODULES, OUTSIDE, Settings

STATE_VERSION: Final = 2
"""Version of what a run's checkpoints hold (state/conversation.py)."""
STATE_VERSIONS: Final = (1, STATE_VERSION)
"""Versions from which a run goes on (graph/earlier.py)."""

_PACKAGES: Final = ("persimchat", "langgraph", "langchain-core", "langchain-openai", "chromadb", "openai", "numpy")


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return without_credentials(value)
    if isinstance(value, dict):
        return {key: _without_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    return value


def versions() -> dict[str, str]:
    """Of Python and of the packages on which a run's course rests, as they are now."""
    return {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}


def public(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings, or some of them, as they may be written down: without passwords and credentials in addresses."""
    shown: dict[str, Any] = _without_secrets(dict(settings))
    if isinstance(place := settings.get("checkpoints"), str):
        shown["checkpoints"] = without_password(place)  # user and database stay: whoever resumes needs them
    return shown


def first_manifest(
    run: str, scenario: Scenario, settings: Settings, started: str, *, branch: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What is known of a run when it begins; `stop_reason` and `ended` are null until it has ended.

    Args:
        run: its id.
        scenario: who talks about what.
        settings: how.
        started: when, ISO 8601.
        branch: of a run that shares another's past: `of` (its id), `turn`, `why` ("branch" or "regenerate") and
            `changed` (settings, or whatever else is not as it was).
    """
    models = {
        participant.name: {
            module: settings.model_for(participant.name, module) for module in MODULES if module not in OUTSIDE
        }
        for participant in scenario.participants
    }
    outside = {module: settings.model_for("", module) for module in OUTSIDE if module not in AFTERWARDS}
    return {
        "format": RUN_FORMAT,
        "state_version": STATE_VERSION,
        "run": run,
        "branch": {**branch, "changed": public(branch["changed"])} if branch else None,
        "resumed": [],
        "disclaimer": DISCLAIMER,
        "started": started,
        "ended": None,
        "stop_reason": None,
        "stop_source": "",
        "detail": "",
        "conclusion": None,
        "turn": 0,
        "seed": settings.seed,
        "scenario": scenario.model_dump(mode="json", by_alias=True, exclude={"settings"}),
        "settings": public(settings.model_dump(mode="json")),
        "models": _without_secrets(models),
        "outside_models": _without_secrets(outside),
        "prompt_hash": prompt_hash(),
        "versions": versions(),
        "corrections": {},
        "silences": 0,
        "usage": {},
    }


def resumed_manifest(
    manifest: Mapping[str, Any],
    *,
    at: str,
    turn: int,
    settings: Settings,
    changed: Mapping[str, Any],
    reopened: bool = False,
) -> dict[str, Any]:
    """The manifest of a run that goes on: it has not ended, and says that it was resumed.

    Args:
        manifest: as the run left it.
        at: when, ISO 8601.
        turn: utterances so far.
        settings: with which it goes on.
        changed: those of the settings that are not as they were, with their new values.
        reopened: whether it goes on as it was beyond an end that its own rules had found.
    """
    before = {name: manifest["settings"].get(name) for name in changed}
    again = {"at": at, "turn": turn, "changed": public(changed), "before": before}
    resumed = [*manifest["resumed"], {**again, "reopened": True} if reopened else again]
    open_end = {"ended": None, "stop_reason": None, "stop_source": "", "detail": "", "conclusion": None}
    now = {"state_version": STATE_VERSION, "settings": public(settings.model_dump(mode="json")), "resumed": resumed}
    return {**manifest, **open_end, **now}


def manifest_in_progress(
    manifest: Mapping[str, Any],
    *,
    turn: int,
    rows: Iterable[Mapping[str, Any]],
    corrections: Mapping[str, int],
    silences: int,
    judgements: Mapping[str, Mapping[str, int]],
) -> dict[str, Any]:
    """The manifest of a run while it goes on, after every turn: a killed run has told what it used.

    Args:
        manifest: as the run began, or was resumed.
        turn: utterances so far.
        rows: what was used so far, as accounting rows.
        corrections: how often what was put right in an utterance.
        silences: how often somebody was silent for a turn.
        judgements: by module, how the judgements of minds came out (`outcomes.by_module`); empty where there are none.
    """
    used = {"corrections": dict(sorted(corrections.items())), "silences": silences}
    judged = {"judgements": {name: dict(row) for name, row in judgements.items()}} if judgements else {}
    return {**manifest, "turn": turn, **used, **judged, "usage": _usage(rows)}


def last_manifest(
    manifest: Mapping[str, Any],
    *,
    ended: str,
    stopped: Stopped,
    corrections: Counter[str],
    silences: int = 0,
    judgements: Mapping[str, Mapping[str, int]],
) -> dict[str, Any]:
    """The manifest of a run that is over.

    Args:
        manifest: as the run began, or was resumed.
        ended: when, ISO 8601.
        stopped: the run's last event.
        corrections: how often what was put right in an utterance.
        silences: how often somebody was silent for a turn.
        judgements: as for `manifest_in_progress`.
    """
    last = manifest_in_progress(
        manifest,
        turn=stopped.turn,
        rows=stopped.usage,
        corrections=corrections,
        silences=silences,
        judgements=judgements,
    )
    return {
        **last,
        "ended": ended,
        "stop_reason": stopped.reason,
        "stop_source": stopped.source,
        "detail": stopped.detail,
        "conclusion": stopped.conclusion.model_dump() if stopped.conclusion else None,
    }


def _usage(used: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = _without_secrets([dict(row) for row in used])
    return {
        "total": totals(rows).model_dump(),
        "by_module": {name: row.model_dump() for name, row in totals_by(rows, "module").items()},
        "by_agent": {name: row.model_dump() for name, row in totals_by(rows, "agent").items()},
        "by_model": {name: row.model_dump() for name, row in totals_by(rows, "model").items()},
        "rows": rows,
    }
