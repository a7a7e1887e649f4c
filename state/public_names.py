"""Public names of a package, loaded on first use: importing the package or one of its modules loads no other one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def loader(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package (PEP 562).

    Args:
        package: its name.
        homes: the module, below `persimchat`, of each public name.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"persimchat.{homes[name]}"), name)

    return load
