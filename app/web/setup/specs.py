"""Reads the form's fields from the `Settings` model, so that a new setting appears on the page by itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, get_args

from persimchat.runs.folder.manifest import public
from persimchat.state.document import parse_value
from persimchat.state.settings import PART, Mode, Settings

Kind = Literal["choice", "switch", "integer", "number", "text", "lines", "yaml"]
"""The kinds of fields; `lines` takes a list, one text per line, and `yaml` all values without a kind of their own."""

_KINDS: Final[dict[str, Kind]] = {
    "boolean": "switch",
    "integer": "integer",
    "number": "number",
    "string": "text",
}


_OF_STORIES: Final = ("story",)
"""Options that the page does not offer: a story comes from a scenario file, which sets them."""
NOT_OF_STORIES: Final = frozenset(
    {
        *("mode", "max_messages", "pattern", "selection", "selection_temperature", "allow_repeated_speaker"),
        *("judge", "baseline", "listeners", "closing", "closing_need", "analysis", "human_turns"),
    }
)
"""Settings that a story refuses, or for which its stages leave nothing to do."""
_BARE: Final = re.compile(r"\w[\w./:@-]*\w|\w", re.ASCII)


@dataclass(frozen=True)
class Spec:
    """The description of one setting for the form.

    Attributes:
        name: the setting's.
        kind: the kind of its field.
        options: the values to choose from.
        optional: whether it may have no value.
        description: in English, from the model.
    """

    name: str
    kind: Kind
    options: tuple[str, ...]
    optional: bool
    description: str

    def read(self, text: str) -> Any:
        """The value of a typed text; a text that cannot be read stays text, which validation refuses.

        Raises:
            ValueError: the text is not well-formed; the message says why.
        """
        plain = text.strip()
        if self.kind == "lines":
            return [line.strip() for line in text.splitlines() if line.strip()]
        if self.kind in ("integer", "number"):
            return _number(plain)
        return parse_value(text) if self.kind == "yaml" else plain

    def written(self, value: Any) -> str:
        """A value as the user would type it."""
        if value is None:
            return ""
        if self.kind == "lines" and isinstance(value, list):
            return "\n".join(map(str, value))
        if self.kind == "yaml" and isinstance(value, Mapping):
            return "\n".join(f"{_inline(str(key))}: {_inline(item)}" for key, item in value.items())
        return str(value)


@cache
def specs() -> dict[str, Spec]:
    """Every setting by name, in the model's order."""
    schema = Settings.model_json_schema()
    definitions = schema.get("$defs", {})
    return {name: _spec(name, part, definitions) for name, part in schema["properties"].items()}


def usual(base: Settings, mode: Any, cognition: Any = None) -> dict[str, Any]:
    """The values of settings that are not filled in, without passwords; some depend on the mode, one on cognition.

    Args:
        base: the settings of the server.
        mode: the value of the mode's field; an invalid mode is ignored.
        cognition: the value of that field, by which minds may stay as they are; None if it is not filled in.
    """
    given = base.model_dump(mode="json", exclude_unset=True)
    if mode in get_args(Mode):
        given["mode"] = mode
    values = Settings.model_validate(given, context=PART).whole()
    if cognition == "fixed":
        values["pattern"] = Settings.model_validate({**given, "cognition": cognition}, context=PART).pattern
    return public(values)


def _spec(name: str, part: dict[str, Any], definitions: dict[str, Any]) -> Spec:
    options = [_resolved(option, definitions) for option in part.get("anyOf", [part])]
    given = [option for option in options if option.get("type") != "null"]
    # a fixed word beside a number is typed into the same field
    shapes = [option for option in given if "const" not in option] or given
    shape = shapes[0] if len(shapes) == 1 else {}
    kind: Kind = _KINDS.get(shape.get("type", ""), "yaml")
    if "enum" in shape:
        kind = "choice"
    elif shape.get("type") == "array" and _resolved(shape.get("items", {}), definitions).get("type") == "string":
        kind = "lines"
    values = tuple(value for value in map(str, shape.get("enum", ())) if value not in _OF_STORIES)
    return Spec(name, kind, values, len(given) < len(options), part.get("description", ""))


def _resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return {**definitions[reference.rsplit("/", 1)[1]], **schema} if reference else schema


def _number(text: str) -> Any:
    for read in (int, float):
        try:
            return read(text.replace(",", ".") if read is float else text)
        except ValueError:
            continue
    return text


def _inline(value: Any) -> str:
    """A value on one line of YAML: without quotes if it reads back unchanged, else as JSON, which is also YAML."""
    if isinstance(value, str) and _BARE.fullmatch(value) and parse_value(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)
