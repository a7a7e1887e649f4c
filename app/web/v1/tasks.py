"""Tells what a chat program asks in a person's name (a title, tags, a summary) from what the person says.

Such requests have no common words, so they are known by what people do not do: they hold the talk itself (lines with
labels of roles, JSON of messages, an element around a history, several of its lines), come with another system message
and none of the history, or want something made of the conversation in a form for a machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .bodies import ChatRequest, Message

_LABEL: Final = re.compile(
    r"^[ \t>*_#-]*(?:user|human|assistant|ai|bot|system|model)[*_]{0,2}\s*[:：]", re.IGNORECASE | re.MULTILINE
)
_MESSAGES: Final = re.compile(r"""["']role["']\s*:\s*["'](?:user|assistant|system|human)["']""")
_ELEMENT: Final = re.compile(
    r"<(?P<name>[\w-]*(?:chat|conversation|history|transcript|dialog|dialogue|messages?)[\w-]*)>.*</(?P=name)>",
    re.IGNORECASE | re.DOTALL,
)


def _any_of(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)


_CONVERSATION: Final = _any_of(
    r"\b(?:conversation|chat|discussion|dialog|dialogue|exchange|messages?|talk|roleplay|story so far|query|queries)\b",
    r"\b(?:unterhaltung|gespräch|échange|conversaci[oó]n|di[aá]logo|konverzac\w+|rozhovor\w*)\b",
)
_MADE: Final = _any_of(
    r"\b(?:titles?|tags?|emojis?|summar\w+|follow[- ]?ups?|suggest\w*|questions?|search quer\w+|keywords?)\b",
    r"\b(?:category|categories|headline|autocomplet\w+|topic)\b",
    r"\b(?:titel|zusammenfass\w+|vorschl\w+|suchanfrage\w*|schlagw\w+|titre|étiquettes|r[ée]sum\w+)\b",
    r"\b(?:t[ií]tulo|etiquetas|názv?e[vk]\w*|štítk\w+|shrn\w+|návrh\w*)\b",
)
_FORM: Final = _any_of(
    r"\b(?:json|only|nothing else|no (?:quotes|punctuation|explanation|markdown)|without (?:quotes|punctuation))\b",
    r"\b(?:respond (?:with|in)|reply with|output|at most|max|maximum|up to|less than|under|or less)\b",
    r"\b\d+\s?(?:-|–|to|bis|à|až|a)\s?\d+ (?:\w+ )?(?:words?|wörter|mots|palabras|slov\w*|tags|questions|keywords)\b",
    r"\b\d+[- ]?(?:words?|wörter\w*|mots|palabras|slov\w*)\b",
    r"\b(?:nur|ausschließlich|ohne|uniquement|seulement|sans|s[oó]lo|[uú]nicamente|sin|pouze|jen|jenom|bez)\b",
)
_HEADING: Final = re.compile(
    r"\A\s*(?:#{1,6}\s*(?:task|instructions?|aufgabe|tâche|tarea|úkol)\b|\[?(?:pause|ignore)\b)", re.IGNORECASE
)
_QUOTED: Final = 2
"""So many lines of the talk in one message are no quotation of a person's."""
_LEAST: Final = 8
"""Characters of a line that counts as quoted."""


def is_task(request: ChatRequest, instructions: str = "") -> bool:
    """Whether a request is a chat program's own.

    Args:
        request: what the client sends.
        instructions: the system messages that came with the talk's last words; empty if there are none.
    """
    users = [message for message in request.messages if message.role == "user"]
    if not users:
        return False
    said, last = users[-1].words, request.messages[-1].words
    if any(_holds_talk(text, request.said) or _made_of_talk(text) for text in {said, last}):
        return True
    answers = any(message.role == "assistant" for message in request.messages)
    other = bool(instructions and request.instructions) and _steady(request.instructions) != _steady(instructions)
    return other and not answers and bool(_MADE.search(request.instructions))


def _holds_talk(text: str, lines: Sequence[Message]) -> bool:
    """Whether a text holds the lines of a talk."""
    if len(_LABEL.findall(text)) > 1 or _MESSAGES.search(text) or _ELEMENT.search(text):
        return True
    known = {line.words for line in lines[:-1] if len(line.words) >= _LEAST and " " in line.words}
    return sum(words in text and words != text for words in known) >= _QUOTED


def _made_of_talk(text: str) -> bool:
    """Whether a text wants something made of the conversation, in a form for a machine."""
    about = bool(_CONVERSATION.search(text)) and bool(_MADE.search(text))
    return about and bool(_FORM.search(text) or _HEADING.search(text))


def _steady(text: str) -> str:
    """Instructions without what changes from one request to the next: times, numbers."""
    return re.sub(r"[\d:.,/-]+", "", text)
