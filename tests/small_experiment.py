"""A small experiment, for tests to vary."""

from __future__ import annotations

from typing import Any

SMALL: dict[str, Any] = {
    "name": "small",
    "base": {
        "topic": "Tea or coffee?",
        "participants": ["Jarmila", "Zeynep"],
        "settings": {"model": "offline", "max_messages": 2},
    },
    "grid": {"method": ["need_to_talk", "round_robin"], "seed": [0, 1]},
    "measures": {"evaluators": ["balance"]},
}
