"""Writes data as YAML that the project's reader (state/document.py) reads back equal."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

_WIDTH: Final = 120


class Dumper(yaml.SafeDumper):
    """Indents lists under their key, as in handwritten YAML, and writes no anchors."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent also the items of a list."""
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        """Write everything out."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """A text; with line ends of Unicode in double quotes, since a reader takes them for spaces elsewhere."""
    style = '"' if any(end in text for end in "\x85\u2028\u2029") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


Dumper.add_representer(str, _text)

# YAML 1.1 in Python takes 1e3 and +.5 for text and our reader for numbers, so they are quoted.
Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"),
)


def yaml_text(data: Any, dumper: type[yaml.SafeDumper] = Dumper) -> str:
    """Plain data as the text of a YAML file, keys in their order.

    Args:
        data: mappings, lists, texts, numbers, true and false.
        dumper: writes also values of further types.
    """
    return yaml.dump(data, Dumper=dumper, allow_unicode=True, sort_keys=False, width=_WIDTH)
