"""The answers of the judging tasks of a companion: one function per task returns its schema's fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from persimchat.models.offline.companion.day import chunks, day_plan
from persimchat.models.offline.companion.happening import events, reacting
from persimchat.models.offline.companion.keeping import consolidation, focal_points, perception, reflection
from persimchat.models.offline.companion.tones import emotion, trust
from persimchat.models.offline.prompt import Prompt

Task = Callable[[Prompt, int], dict[str, Any]]

TASKS: Final[dict[str, Task]] = {
    task.__name__: task for task in (trust, events, reacting, day_plan, chunks, consolidation)
}
"""Every judging task that only companions have, by the name of its template."""
IN_A_TALK_OF_TWO: Final[dict[str, Task]] = {
    task.__name__: task for task in (perception, emotion, focal_points, reflection)
}
"""The tasks that a companion answers in its own way."""
