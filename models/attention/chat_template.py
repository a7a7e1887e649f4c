"""A model's prompt under its own chat template."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from persimchat.models.redaction import short

_SCRIPT: Final = Path(__file__).with_name("template_process.py")
_SECONDS: Final = 30.0
"""The longest wait for a template; its process ends itself much earlier, unless the machine is busy."""
_LONGEST: Final = 1 << 16
_SYSTEM, _USER = "PERSIMCHAT-SYSTEM", "PERSIMCHAT-USER"
"""What stands in the place of the two messages while a template is rendered: it sees no data."""


@dataclass(frozen=True)
class ChatTemplate:
    """What stands before, between and behind the messages of a prompt.

    Attributes:
        with_system: before the system message, between it and the user message, and behind both; None if the model
            takes no system message.
        alone: before and behind a user message without a system message.
    """

    with_system: tuple[str, str, str] | None
    alone: tuple[str, str]

    def prompt(self, system: str, user: str) -> tuple[str, int]:
        """The prompt, and where the user's message begins in it.

        A model that takes no system message gets it at the beginning of the user's.
        """
        if not system:
            before, behind = self.alone
        elif self.with_system is None:
            before, behind = f"{self.alone[0]}{system}\n\n", self.alone[1]
        else:
            first, between, behind = self.with_system
            before = f"{first}{system}{between}"
        return f"{before}{user}{behind}", len(before)

    def begun(self, token: str) -> ChatTemplate:
        """The same with the token that begins a sequence, unless it is there already."""
        if self.alone[0].startswith(token):
            return self
        full = self.with_system
        return ChatTemplate(
            (f"{token}{full[0]}", full[1], full[2]) if full else None, (f"{token}{self.alone[0]}", self.alone[1])
        )


def read_template(source: str, *, begin: str, end: str) -> ChatTemplate:
    """Render a chat template once, in a process of its own with bounded time, memory and length.

    Args:
        source: a template in the language of jinja2.
        begin: the text of the token that begins a sequence.
        end: the text of the token that ends one.

    Raises:
        ValueError: it cannot be used; the message says why.
    """
    if len(source) > _LONGEST:
        raise ValueError(f"it is longer than {_LONGEST:,} characters")
    user = {"role": "user", "content": _USER}
    conversations = [[{"role": "system", "content": _SYSTEM}, user], [user]]
    asked = {"template": source, "begin": begin, "end": end, "conversations": conversations}
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(_SCRIPT)],
            input=json.dumps(asked) + "\n",
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        raise ValueError("it takes too much time or memory") from None
    full, alone = json.loads(done.stdout)
    if "error" in alone:
        raise ValueError(short(alone["error"]))
    parts = _parts(alone["text"], _USER)
    whole = _parts(full["text"], _SYSTEM, _USER) if "text" in full else None
    return ChatTemplate((whole[0], whole[1], whole[2]) if whole else None, (parts[0], parts[1]))


def _parts(text: str, *messages: str) -> list[str]:
    """What stands before, between and behind the messages."""
    parts = []
    for message in messages:
        before, found, text = text.partition(message)
        if not found or message in text:
            raise ValueError("it does not write each message once, in order")
        parts.append(before)
    return [*parts, text]
