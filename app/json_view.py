"""A run as JSON: one event a line and nothing else on standard output."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from persimchat.app.output import is_unicode, say
from persimchat.runs.events import Event

# Characters that JSON allows in strings but some programs take for the end of a line, or a terminal for an order.
_AWKWARD: Final = re.compile(r"[\x7f-\x9f\u2028\u2029]")


def say_json(value: Mapping[str, Any]) -> None:
    """Print an object on one line.

    Raises:
        OutputClosed: nobody reads the output any more.
    """
    text = json.dumps(value, ensure_ascii=not is_unicode())
    say(_AWKWARD.sub(lambda found: f"\\u{ord(found.group()):04x}", text))


class JsonView:
    """Prints events (`persimchat.runs.events`) as they happen."""

    def show(self, event: Event) -> None:
        """Print one event."""
        say_json(event.model_dump(mode="json"))

    def close(self) -> None:
        """Nothing is left to do."""
