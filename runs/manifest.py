"""run.json: everything needed to understand and repeat a run (specification, *What a run leaves behind*)."""

from __future__ import annotations

import platform
from collections import Counter
from importlib.metadata import version
from typing import Any, Final

from persimchat.prompts import prompt_hash
from persimchat.runs.events import Stopped
from persimchat.runs.folder import DISCLAIMER, RUN_FORMAT
from persimchat.runs.totals import totals, totals_by
from persimchat.state.plain_text import without_credentials
from persimchat.state.scenario import Scenario
from persimchat.state.settings import MODULES, OUTSIDE, Settings

_PACKAGES: Final = ("persimchat", "langgraph", "langchain-core", "langchain-openai", "chromadb", "openai", "numpy")


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return without_credentials(value)
    if isinstance(value, dict):
        return {key: _without_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    return value


def first_manifest(run: str, scenario: Scenario, settings: Settings, started: str) -> dict[str, Any]:
    """What is known of a run when it begins; `stop_reason` and `ended` are null until it has ended."""
    models = {
        participant.name: {
            module: settings.model_for(participant.name, module) for module in MODULES if module not in OUTSIDE
        }
        for participant in scenario.participants
    }
    outside = {module: settings.model_for("", module) for module in OUTSIDE}
    return {
        "format": RUN_FORMAT,
        "run": run,
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
        "settings": _without_secrets(settings.model_dump(mode="json")),
        "models": _without_secrets(models),
        "outside_models": _without_secrets(outside),
        "prompt_hash": prompt_hash(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
        "corrections": {},
        "usage": {},
    }


def last_manifest(first: dict[str, Any], *, ended: str, stopped: Stopped, corrections: Counter[str]) -> dict[str, Any]:
    """The manifest of a run that is over.

    Args:
        first: the manifest as the run began.
        ended: when, ISO 8601.
        stopped: the run's last event.
        corrections: how often what was put right in an utterance.
    """
    rows = _without_secrets(stopped.usage)
    return {
        **first,
        "ended": ended,
        "stop_reason": stopped.reason,
        "stop_source": stopped.source,
        "detail": stopped.detail,
        "conclusion": stopped.conclusion.model_dump() if stopped.conclusion else None,
        "turn": stopped.turn,
        "corrections": dict(sorted(corrections.items())),
        "usage": {
            "total": totals(rows).model_dump(),
            "by_module": {name: row.model_dump() for name, row in totals_by(rows, "module").items()},
            "by_agent": {name: row.model_dump() for name, row in totals_by(rows, "agent").items()},
            "by_model": {name: row.model_dump() for name, row in totals_by(rows, "model").items()},
            "rows": rows,
        },
    }
