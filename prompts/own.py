"""Templates of one's own in the place of those shipped (`prompts: FOLDER`): which may be, and what they may use.

A run keeps their texts in its settings. They are rendered as the shipped ones are: sandboxed, with every value as data.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Final, NamedTuple

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.meta import find_referenced_templates

from ..state.errors import InputError, suggestion

_BLOCKS: Final = {"system", "user"}
_LOOPS: Final = {"loop", "self", "super", "caller", "varargs", "kwargs"}
_WHERE: Final = "setting prompts"


class _Names(NamedTuple):
    """The variables of a template: those that it reads, each with its first line, sets, and asks for (`is defined`)."""

    read: Mapping[str, int]
    set_: frozenset[str]
    tested: frozenset[str]


def check(own: Mapping[str, str], shipped: Mapping[str, str], environment: Environment) -> None:
    """Refuse templates that cannot be filled in.

    A template may use what the shipped one of its name uses, with those that it includes.

    Args:
        own: their texts by their files' names.
        shipped: the texts of those that may be replaced, by their files' names.
        environment: with the filters, tests and globals of templates.

    Raises:
        InputError: a template is not well-formed, lacks a block, has a name or a variable that does not exist, or is
            used by no other.
    """
    trees = {name: _parsed(name, text, environment) for name, text in own.items()}
    for name, tree in trees.items():
        lacking = _BLOCKS - {block.name for block in tree.find_all(nodes.Block)}
        if not name.startswith("_") and name in shipped and lacking:
            block = min(lacking)
            raise _wrong(name, f"has no block {block}", f"Write {{% block {block} %}} … {{% endblock %}}.")
        for included in find_referenced_templates(tree):
            if included is not None and included not in own and included not in shipped:
                raise _wrong(name, f"includes {included}, which is not there", suggestion(included, sorted(shipped)))

    @cache
    def ours(name: str) -> nodes.Template | None:
        return environment.parse(shipped[name]) if name in shipped else None

    used: set[str] = set()
    for root in shipped:
        if root.startswith("_") and root != "_item.jinja":
            continue
        new = _included(root, lambda name: trees.get(name) or ours(name), shipped)
        if mine := new.keys() & own.keys():
            used |= mine
            known = {*environment.globals, *(name for names in new.values() for name in names.set_)}
            _check_names(root, {name: new[name] for name in sorted(mine)}, _included(root, ours, shipped), known)
    for name in own:
        if name not in used:
            raise _wrong(name, "takes the place of no template", suggestion(name, sorted(shipped)))


def _check_names(root: str, own: Mapping[str, _Names], usual: Mapping[str, _Names], known: Collection[str]) -> None:
    """Refuse variables that a prompt does not have, or has only sometimes."""
    there = {name for names in usual.values() for name in names.read}
    always = {name for names in usual.values() for name in names.read if name not in names.tested}
    for file, names in own.items():
        for name, line in names.read.items():
            where = f"{_WHERE}, {file}, line {line}"
            if name not in there and name not in known:
                raise InputError(f"{root} has no value {name}", where=where, remedy=suggestion(name, sorted(there)))
            if name in there - always and name not in names.tested:
                remedy = f"Write {{% if {name} is defined %}} around it."
                raise InputError(f"{root} has {name} only sometimes", where=where, remedy=remedy)


def _wrong(name: str, what: str, remedy: str) -> InputError:
    return InputError(f"{name} {what}", where=_WHERE, remedy=remedy)


def _parsed(name: str, text: str, environment: Environment) -> nodes.Template:
    """A template, compiled once, so that unknown filters and tests are found, too."""
    try:
        environment.compile(text, name=name)
        return environment.parse(text)
    except TemplateSyntaxError as error:
        where = f"{_WHERE}, {name}, line {error.lineno}"
        raise InputError(f"{name} is not well-formed: {error.message}", where=where, remedy="Correct it.") from error


def _included(root: str, read: Callable[[str], nodes.Template | None], shipped: Mapping[str, str]) -> dict[str, _Names]:
    """A template and all that it includes, with their variables.

    An include whose name is put together is one of a task: of `_perception.jinja`, if there is `perception.jinja`.
    """
    found: dict[str, _Names] = {}
    left = [root]
    while left:
        name = left.pop()
        if name in found or (tree := read(name)) is None:
            continue
        found[name] = _names(tree)
        for included in find_referenced_templates(tree):
            left += [f"_{task}" for task in shipped if f"_{task}" in shipped] if included is None else [included]
    return found


def _names(tree: nodes.Template) -> _Names:
    every = list(tree.find_all(nodes.Name))
    macros = {macro.name for macro in tree.find_all(nodes.Macro)}
    set_ = frozenset({name.name for name in every if name.ctx != "load"} | macros | _LOOPS)
    read: dict[str, int] = {}
    for name in every:
        if name.ctx == "load" and name.name not in set_:
            read.setdefault(name.name, name.lineno)
    tests = (test.node for test in tree.find_all(nodes.Test) if test.name == "defined")
    return _Names(read, set_, frozenset(node.name for node in tests if isinstance(node, nodes.Name)))
