"""Background tasks of chat programs: requests for titles, tags or summaries, which are no words of the person."""

from __future__ import annotations

import re
from typing import Final

from persimchat.app.web.v1.bodies import ChatRequest

PATTERNS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("Open WebUI: titles, tags, follow-ups, queries", re.compile(r"\A### Task:.*<chat_history>", re.S)),
    ("Open WebUI: search and retrieval queries", re.compile(r"\A### Task:\s*\n.*### Output:", re.S)),
    ("titles of earlier versions", re.compile(r"\A(?:Create|Generate) a concise, 3-5 word (?:phrase|title)\b")),
    ("LibreChat: titles", re.compile(r"\AProvide a concise, 5-word-or-less title for the conversation\b")),
    (
        "SillyTavern: summaries",
        re.compile(r"\A\[?(?:Ignore previous instructions|Pause (?:your|the) roleplay)\. Summarize the most important"),
    ),
)
"""What programs send, and how it begins."""


def is_task(request: ChatRequest) -> bool:
    """Whether a request is a background task: its last message, or the person's last one, has a known form."""
    users = [message for message in request.messages if message.role == "user"]
    return any(
        pattern.search(message.words) for message in (request.messages[-1], *users[-1:]) for _, pattern in PATTERNS
    )
