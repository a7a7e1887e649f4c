"""Rendering templates to messages. Text from personas, people and models is data and cannot leave its delimiters.

A template has two blocks, `system` and `user`. Values are inserted unchanged, with three exceptions: text that looks
like one of the prompts' own tags loses its angle bracket, control characters are removed, and a value is never treated
as template syntax.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final

from jinja2 import FunctionLoader, StrictUndefined, TemplateError, TemplateNotFound, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from markupsafe import Markup
from pydantic import PrivateAttr

from ..state.errors import PerSimChatError
from ..state.kinds import added
from ..state.plain_text import clean
from ..state.templates import ENDING
from . import own
from .blocks import Block, Item

TAGS: Final = (
    "basic_information",
    "needs_and_emotions",
    "relationships",
    "memories",
    "plan_and_identity",
    "goals",
    "plan",
    "environment",
    "scene",
    "progress",
    "topic",
    "last_utterances",
    "heard",
    "wording",
    "short_term_memory",
    "leaving_memory",
    "group",
    "answers",
    "avoid",
    "characters",
    "resources",
    "beliefs",
    "closeness",
    "stock",
    "review",
    "room",
    "happened",
    "candidates",
    "record",
    "request",
    "others",
    "known",
    "transcript",
    "place",
    "facts",
    "known",
    "now",
    "events",
    "stimulus",
    "first_conversation",
    "second_conversation",
    "parts",
    "task",
)
"""The prompts' own delimiters. `neutralise` defuses text in data that looks like one of them."""

_TAG = re.compile(rf"<(?=\s*(?:/\s*)?(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)


def neutralise(text: str) -> str:
    """Text that is safe between the prompts' delimiters: without control characters and without delimiters."""
    return _TAG.sub("‹", clean(text))


def one_line(text: str) -> str:
    """Text on one line, so that it stays one item of a block."""
    return " ".join(neutralise(text).split())


def _finalize(value: Any) -> Markup:
    return value if isinstance(value, Markup) else Markup(neutralise(str(value)))


_FOLDER: Final = Path(__file__).parent / "templates"


def _templates(folder: Path) -> dict[str, Path]:
    """The templates in a folder and below it, by name, in order."""
    return {path.name: path for path in sorted(folder.rglob("*.jinja"), key=lambda path: path.name)}


_OURS: Final = _templates(_FOLDER)


def is_template(name: str) -> bool:
    """Whether this package has a template of this name."""
    return f"{name}.jinja" in _OURS


@cache
def _folder_of(package: str) -> Path:
    """The templates of a package that adds a kind of conversation."""
    return Path(str(resolve_name(package).__file__)).parent / "templates"


@cache
def _source(name: str) -> str:
    """A template. Each is read as a module is, once, so that an event loop takes it that refuses other files."""
    if Path(name).name != name:
        raise TemplateNotFound(name)
    others = (_folder_of(kind.TEMPLATES) / name for kind in added().values() if kind.TEMPLATES)
    for path in [_OURS[name]] if name in _OURS else others:
        with suppress(FileNotFoundError):
            return SourceFileLoader(name, str(path)).get_data(str(path)).decode("utf-8")
    raise TemplateNotFound(name)


Own = tuple[tuple[str, str], ...]
"""Templates of one's own: the names of their files, and their texts."""

_IN_FORCE: ContextVar[Own] = ContextVar("prompts", default=())
_FIXED: Final = ("evaluation", "personas")
"""Folders whose templates belong to no conversation, and cannot be replaced."""


@contextmanager
def templates(prompts: Mapping[str, str]) -> Iterator[None]:
    """Render with these templates, by name, in the place of those shipped (the setting `prompts`).

    Raises:
        InputError: one of them cannot be filled in (`prompts/own.py`).
    """
    token = _IN_FORCE.set(tuple((f"{name}{ENDING}", text) for name, text in prompts.items()))
    try:
        _environment()
        yield
    finally:
        _IN_FORCE.reset(token)


def _environment() -> ImmutableSandboxedEnvironment:
    return _environment_with(_IN_FORCE.get())


@lru_cache(maxsize=64)
def _environment_with(given: Own) -> ImmutableSandboxedEnvironment:
    texts = dict(given)
    environment = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(lambda name: texts[name] if name in texts else _source(name)),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["line"] = lambda value: Markup(one_line(str(value)))
    environment.filters["listed"] = lambda values: Markup(", ".join(one_line(str(v)) for v in values))
    environment.globals["item"] = worded_item
    del environment.globals["lipsum"], environment.filters["random"], environment.filters["safe"]
    if given:
        packages = [_folder_of(kind.TEMPLATES) for kind in added().values() if kind.TEMPLATES]
        known = {**_OURS, **{name: path for folder in packages for name, path in _templates(folder).items()}}
        shipped = {name: _source(name) for name, path in known.items() if path.parent.name not in _FIXED}
        own.check(texts, shipped, environment)
    return environment


@contextmanager
def _named(template: str) -> Iterator[None]:
    """Name the template in errors about it."""
    try:
        yield
    except own.FAULTS as error:
        line = f", line {error.lineno}" if isinstance(error, TemplateSyntaxError) else ""
        why = error.message if isinstance(error, TemplateError) else f"{type(error).__name__}: {error}"
        what = f"the template {template}{line} cannot be filled in: {why}"
        raise PerSimChatError(what, remedy="Correct the template.") from error


def worded_item(item: Item) -> Markup:
    """An item in words."""
    return _worded(item, _IN_FORCE.get())


@lru_cache(maxsize=8192)
def _worded(item: Item, given: Own) -> Markup:
    """An item in the words of these templates. Most items stand in many prompts; each is worded once."""
    with _named("_item.jinja"):
        worded = _environment_with(given).get_template("_item.jinja").render(kind=item.kind, v=dict(item.values))
    return Markup(worded.strip("\n") + "\n")


def _block(block: Block) -> Markup:
    """A block in words, between its delimiters; empty if it has no items."""
    if not block.items:
        return Markup("")
    return Markup(f"{block_begins(block)}{''.join(map(worded_item, block.items))}</{block.tag}>\n")


def block_begins(block: Block) -> str:
    """What stands in front of a block's items."""
    return f"<{block.tag}>\n"


def without_gaps(text: str) -> str:
    """A text with at most one empty line in a row, as in every prompt."""
    return re.sub(r"\n{3,}", "\n\n", text)


@dataclass(frozen=True)
class Source:
    """The source of a rendered message.

    Attributes:
        template: its name without ending.
        blocks: the blocks of the message, in its order.
        values: the values of the template.
    """

    template: str
    blocks: tuple[Block, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


class RenderedMessage(HumanMessage):
    """A user message that keeps its template, blocks and values, for the offline model, which reads no text.

    To all other readers it is a HumanMessage: requests, traces and files contain only its text.
    """

    _source: Source | None = PrivateAttr(default=None)

    @classmethod
    def of(cls, source: Source, text: str) -> RenderedMessage:
        """The message with this text."""
        message = cls(content=text)
        message._source = source
        return message

    @property
    def source(self) -> Source | None:
        """Its source; None if the message was written out and read back."""
        return self._source

    @classmethod
    def lc_id(cls) -> list[str]:
        """The class under which LangChain serialises it."""
        return HumanMessage.lc_id()


def render(template: str, /, **values: Any) -> list[BaseMessage]:
    """Render a template to a system and a user message; the latter is a `RenderedMessage`.

    Args:
        template: its name without ending, for example "perception".
        **values: the values of the template.

    Raises:
        PerSimChatError: the template cannot be filled in, for example because a value is missing.
    """
    shown: list[Block] = []

    def block(data: Block) -> Markup:
        shown.append(data)
        return _block(data)

    with _named(f"{template}.jinja"):
        loaded = _environment().get_template(f"{template}.jinja")
        parts = {
            name: without_gaps("".join(loaded.blocks[name](loaded.new_context({**values, "block": block})))).strip()
            for name in own.BLOCKS
        }
    source = Source(template, tuple(data for data in shown if data.items), values)
    return [SystemMessage(parts["system"]), RenderedMessage.of(source, parts["user"])]


def prompt_hash(package: str = "", prompts: Mapping[str, str] | None = None) -> str:
    """A hash of templates, 16 hexadecimal digits: runs with the same hash have the same prompts. Blocks.

    Args:
        package: one that adds a kind of conversation, whose templates count, too.
        prompts: templates of one's own, which count in the place of those shipped.
    """
    return _hash(package, tuple((prompts or {}).items()))


@cache
def _hash(package: str, given: Own) -> str:
    digest, texts = hashlib.sha256(), {f"{name}{ENDING}": text for name, text in given}
    names = dict.fromkeys([*_OURS, *(_templates(_folder_of(package)) if package else ()), *texts])
    for name in names:
        digest.update(f"{name}\0{texts[name] if name in texts else _source(name)}\0".encode())
    return digest.hexdigest()[:16]
