"""Rendering templates to messages. Text from personas, people and models is data and cannot leave its delimiters.

A template has two blocks, `system` and `user`. Values are put in as they are, but for three things: anything that
looks like one of the prompts' own tags loses its angle bracket, control characters go, and nothing in a value is ever
treated as template syntax.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import DictLoader, StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from markupsafe import Markup

from persimchat.prompts.blocks import Block, Item
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import clean

TAGS: Final = (
    "basic_information",
    "needs_and_emotions",
    "relationships",
    "memories",
    "plan_and_identity",
    "environment",
    "topic",
    "last_utterances",
    "heard",
    "short_term_memory",
    "leaving_memory",
    "group",
    "answers",
    "avoid",
    "record",
    "request",
    "others",
    "task",
)
"""The prompts' own delimiters. What looks like one of them inside data is defused by `neutralise`."""

_TAG = re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)


def neutralise(text: str) -> str:
    """Text that is safe between the prompts' delimiters: no control characters and no delimiter of theirs."""
    return _TAG.sub("‹", clean(text))


def one_line(text: str) -> str:
    """Text on one line, so that it stays one item of a block."""
    return " ".join(neutralise(text).split())


def _finalize(value: Any) -> Markup:
    return value if isinstance(value, Markup) else Markup(neutralise(str(value)))


_SOURCES: Final = {
    path.name: path.read_text(encoding="utf-8")
    for path in sorted((files("persimchat.prompts") / "templates").iterdir(), key=lambda path: path.name)
    if path.name.endswith(".jinja")
}
"""All templates by file name, read once at import: no file is read in an event loop."""


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        loader=DictLoader(_SOURCES),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["line"] = lambda value: Markup(one_line(str(value)))
    environment.filters["listed"] = lambda values: Markup(", ".join(one_line(str(v)) for v in values))
    environment.globals["block"] = _block
    environment.globals["item"] = _item
    return environment


@contextmanager
def _named(template: str) -> Iterator[None]:
    """Say of a mistake in a template which one it is in."""
    try:
        yield
    except TemplateError as error:
        line = f", line {error.lineno}" if isinstance(error, TemplateSyntaxError) else ""
        raise PerSimChatError(
            f"the template {template}{line} cannot be filled in: {error.message}",
            remedy="Put the template right; templates are in prompts/templates.",
        ) from error


@lru_cache(maxsize=8192)
def _item(item: Item) -> Markup:
    """An item in words. Most items stand in many prompts; each is worded once."""
    with _named("_item.jinja"):
        worded = _environment().get_template("_item.jinja").render(kind=item.kind, v=dict(item.values))
    return Markup(worded.strip("\n") + "\n")


def _block(block: Block) -> Markup:
    """A block in words, between its delimiters; nothing where it has no items."""
    if not block.items:
        return Markup("")
    return Markup(f"<{block.tag}>\n{''.join(map(_item, block.items))}</{block.tag}>\n")


def render(template: str, /, **values: Any) -> list[BaseMessage]:
    """Render a template to a system and a user message.

    Args:
        template: its name without ending, for example "perception".
        **values: what the template needs.

    Raises:
        PerSimChatError: the template is none that can be filled in, for example because a value is missing.
    """
    with _named(f"{template}.jinja"):
        loaded = _environment().get_template(f"{template}.jinja")
        parts = {
            name: re.sub(r"\n{3,}", "\n\n", "".join(block(loaded.new_context(values)))).strip()
            for name, block in loaded.blocks.items()
        }
    return [SystemMessage(parts["system"]), HumanMessage(parts["user"])]


@cache
def prompt_hash() -> str:
    """A hash of all templates, 16 hexadecimal digits: two runs with the same hash were asked in the same words."""
    digest = hashlib.sha256()
    for name, source in _SOURCES.items():
        digest.update(f"{name}\0{source}\0".encode())
    return digest.hexdigest()[:16]
