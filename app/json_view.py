"""A run as JSON: one event a line and nothing else on standard output."""

from __future__ import annotations

import json
import re
from typing import Final

from persimchat.app.output import is_unicode, say
from persimchat.runs.events import Event

# Characters that JSON allows in strings but some programs take for the end of a line, or a terminal for an order.
_AWKWARD: Final = re.compile(r"[\x7f-\x9f\u2028\u2029]")


class JsonView:
    """Prints events (`persimchat.runs.events`) as they happen."""

    def show(self, event: Event) -> None:
        """Print one event."""
        text = json.dumps(event.model_dump(mode="json"), ensure_ascii=not is_unicode())
        say(_AWKWARD.sub(lambda found: f"\\u{ord(found.group()):04x}", text))

    def close(self) -> None:
        """Nothing is left to do."""
