"""Templates of one's own in the place of those shipped (`prompts: FOLDER`): which may be, and what they may use.

A run keeps their texts in its settings. They are rendered as the shipped ones are: sandboxed, with every value as data.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

from jinja2 import Environment, TemplateError, UndefinedError, nodes
from jinja2.exceptions import SecurityError
from jinja2.meta import find_referenced_templates, find_undeclared_variables

from ..state.errors import InputError, suggestion
from ..state.templates import ENDING

BLOCKS: Final = ("system", "user")
"""The blocks of a template, each one message."""
_TRIES: Final = 12
"""How often a prompt is filled in with values that may be anything."""
_ITEM: Final = "_item.jinja"
_OF_ITEMS: Final = 200
"""How often the template of items is: it has a branch for every kind of item."""
_ALIKE: Final = 0.05
"""How often such a value is equal to another."""
_WHERE: Final = "setting prompts"
_UNDEFINED: Final = re.compile(r"'\w+' is undefined")
FAULTS: Final = (TemplateError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What filling in a template can raise."""


def check(own: Mapping[str, str], shipped: Mapping[str, str], environment: Environment) -> None:
    """Refuse templates that cannot be filled in.

    A prompt may use what the shipped one uses, with all that it includes. What the shipped one asks for (`is defined`)
    is there only sometimes.

    Args:
        own: their texts by their files' names.
        shipped: the texts of those that may be replaced, by their files' names.
        environment: that renders them.

    Raises:
        InputError: a template is not well-formed, lacks a block, has a name or a variable that does not exist, or is
            used by no other.
    """
    trees = {name: _parsed(name, text, environment) for name, text in own.items()}
    for name, tree in trees.items():
        _check_form(name, tree, [*own, *shipped], whole=not name.startswith("_"))

    @cache
    def ours(name: str) -> nodes.Template | None:
        return environment.parse(shipped[name]) if name in shipped else None

    tasks = [name.removesuffix(ENDING) for name in shipped if f"_{name}" in shipped]
    used: set[str] = set()
    for root in shipped:
        if root.startswith("_") and root != _ITEM:
            continue
        new = _included(root, lambda name: trees.get(name) or ours(name), shipped)
        if mine := new.keys() & own.keys():
            used |= mine
            usual = _included(root, ours, shipped)
            there = {name for tree in usual.values() for name in _undeclared(tree)} - _set(usual.values())
            _check_names(root, {name: new[name] for name in sorted(mine)}, there, new.values(), environment.globals)
            values = _Values(there, _sometimes(usual.values()), tasks)
            _fill_in(root, values, environment, sorted(mine))
    for name in own:
        if name not in used:
            raise _wrong(name, "takes the place of no template", suggestion(name, sorted(shipped)))


def _wrong(name: str, what: str, remedy: str) -> InputError:
    return InputError(f"{name} {what}", where=_WHERE, remedy=remedy)


def _parsed(name: str, text: str, environment: Environment) -> nodes.Template:
    """A template, compiled once, so that unknown filters and tests are found, too."""
    try:
        environment.compile(text, name=name)
        return environment.parse(text)
    except (TemplateError, SyntaxError, RecursionError, ValueError, MemoryError) as error:
        line = f", line {lineno}" if (lineno := getattr(error, "lineno", None)) else ""
        why = getattr(error, "message", None) or "it is nested too deeply"
        what = f"{name} is not well-formed: {why}"
        raise InputError(what, where=f"{_WHERE}, {name}{line}", remedy="Correct it.") from error


def _check_form(name: str, tree: nodes.Template, known: Collection[str], *, whole: bool) -> None:
    """Refuse a template without its blocks, or one that includes another that is not there."""
    blocks = [block.name for block in tree.find_all(nodes.Block)]
    if whole and (lacking := [block for block in BLOCKS if block not in blocks]):
        remedy = f"Write {{% block {lacking[0]} %}} … {{% endblock %}}."
        raise _wrong(name, f"has no block {lacking[0]}", remedy)
    optional = {
        const.value
        for include in tree.find_all(nodes.Include)
        if include.ignore_missing
        for const in include.find_all(nodes.Const)
    }
    for included in find_referenced_templates(tree):
        if included is not None and included not in known and included not in optional:
            raise _wrong(name, f"includes {included}, which is not there", suggestion(included, sorted(known)))


def _included(
    root: str, read: Callable[[str], nodes.Template | None], shipped: Mapping[str, str]
) -> dict[str, nodes.Template]:
    """A template and all that it includes.

    An include whose name is put together is one of a task: of `_perception.jinja`, if there is `perception.jinja`.
    """
    found: dict[str, nodes.Template] = {}
    left = [root]
    while left:
        name = left.pop()
        if name in found or (tree := read(name)) is None:
            continue
        found[name] = tree
        for included in find_referenced_templates(tree):
            left += [f"_{task}" for task in shipped if f"_{task}" in shipped] if included is None else [included]
    return found


def _check_names(
    root: str,
    own: Mapping[str, nodes.Template],
    there: Collection[str],
    every: Collection[nodes.Template],
    known: Collection[str],
) -> None:
    """Refuse names that nothing sets, with the line where they stand."""
    set_ = _set(every)
    for file, tree in own.items():
        for name in sorted(_undeclared(tree) - {*set_, *there, *known}):
            line = next(one.lineno for one in tree.find_all(nodes.Name) if one.name == name)
            where = f"{_WHERE}, {file}, line {line}"
            raise InputError(f"{root} has no value {name}", where=where, remedy=suggestion(name, sorted(there)))


@lru_cache(maxsize=512)
def _undeclared(tree: nodes.Template) -> frozenset[str]:
    return frozenset(find_undeclared_variables(tree))


def _set(trees: Collection[nodes.Template]) -> set[str]:
    """The names that templates set themselves."""
    return {name.name for tree in trees for name in tree.find_all(nodes.Name) if name.ctx != "load"}


def _sometimes(usual: Collection[nodes.Template]) -> set[str]:
    """The names that the shipped templates use only where they ask whether they are defined."""
    asked: set[str] = set()
    always: set[str] = set()
    for tree in usual:
        tests = [test.node for test in tree.find_all(nodes.Test) if test.name == "defined"]
        here = {node.name for node in tests if isinstance(node, nodes.Name)}
        asked |= here
        always |= _undeclared(tree) - here
    return asked - always


class _Values(NamedTuple):
    """What a prompt may use: names, those of them that are there only sometimes, and the tasks that it may be of."""

    there: Collection[str]
    sometimes: Collection[str]
    tasks: Sequence[str]

    def drawn(self, number: int) -> dict[str, _Anything]:
        """Values that may be anything; those that are there sometimes every other time."""
        draw = random.Random(number)
        names = [name for name in sorted(self.there) if number % 2 or name not in self.sometimes]
        return {name: _Anything(draw, self.tasks) for name in (*names, "item")}


def _fill_in(root: str, values: _Values, environment: Environment, own: Collection[str]) -> None:
    """Fill in a prompt with values that may be anything, so that what it lacks shows now and not in a conversation."""
    for number in range(_OF_ITEMS if root == _ITEM else _TRIES):
        try:
            loaded = environment.get_template(root)
            for part in [loaded.root_render_func] if root == _ITEM else [loaded.blocks[name] for name in BLOCKS]:
                "".join(part(loaded.new_context(values.drawn(number))))
        except FAULTS as error:
            if why := _lacking(error):
                remedy = f"Mend {' or '.join(own)}. Ask for what is there only sometimes: {{% if NAME is defined %}}."
                raise _wrong(root, f"cannot be filled in: {why}", remedy) from error


def _lacking(error: BaseException) -> str:
    """What is wrong with a template, whatever its values are; empty where a value without sense may be the reason."""
    if isinstance(error, RecursionError):
        return "a template includes itself"
    says = str(error.message) if isinstance(error, UndefinedError | SecurityError) else ""
    return says if isinstance(error, SecurityError) or _UNDEFINED.fullmatch(says) else ""


class _Anything:
    """A value of a prompt that is not known yet: can be asked for whatever a template asks, and decides by chance."""

    def __init__(self, draw: random.Random, words: Sequence[str]) -> None:
        self._draw, self._words = draw, words

    def _another(self, *_: object, **__: object) -> _Anything:
        return self

    def _chance(self, *_: object) -> bool:
        return self._draw.random() < 0.5

    def _one(self, *_: object) -> int:
        return 1

    def __getattr__(self, name: str) -> _Anything:
        if name.startswith(("_", "jinja_")) or name in ("alters_data", "unsafe_callable"):  # what jinja2 asks of values
            raise AttributeError(name)
        return self

    def __eq__(self, other: object) -> bool:
        return self._draw.random() < _ALIKE

    def __iter__(self) -> Iterator[_Anything]:
        return iter([self] * self._draw.randint(1, 2))

    def __str__(self) -> str:
        return self._draw.choice(self._words)

    __hash__ = object.__hash__
    __getitem__ = __call__ = _another
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __mod__ = _another
    __bool__ = __contains__ = __lt__ = __le__ = __gt__ = __ge__ = _chance
    __len__ = __int__ = __index__ = __round__ = _one
