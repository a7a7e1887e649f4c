"""Schemas that servers are sent: known keywords only, in the dialect of each server, as tight as what is validated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema
from models.schemas_asked import asked
from offenders import check_each
from pydantic import BaseModel, ValidationError

from persimchat.models.profiles import ALL_BOUNDS, KEYWORDS, PROFILES, Bounds
from persimchat.models.schemas import prompt_schema, wire_schema
from persimchat.state.minds.judgement import Judgement, Percept

ASKED = asked()
KNOWN = {
    "type", "title", "description", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf",
    *(word for words in KEYWORDS.values() for word in words),
}  # fmt: skip
MADE_AT_RUN_TIME = {"Verdict", "Majority", "Position", "Answering", "ConfidentAnswering", "Decision", "LastDecision"}
PARTS = {
    *("Insight", "Position", "_Each", "Closeness", "Beliefs", "RatedEvent", "DayEntry", "Chunk", "FoundFact"),
    *("FoundTheme", "FoundQuote"),
}
DIALECTS = {provider: (profile.bounds, profile.longest) for provider, profile in PROFILES.items()} | {
    "none": (frozenset[Bounds](), 2000)
}


def nodes(node: Any, *, names: bool = False) -> Iterator[dict[str, Any]]:
    """Every schema in a schema."""
    if isinstance(node, list):
        for item in node:
            yield from nodes(item)
    elif isinstance(node, dict):
        if not names:
            yield node
        for key, value in node.items():
            if key not in ("enum", "const", "required"):
                yield from nodes(value, names=key == "properties" and not names)


def test_no_schema_is_forgotten() -> None:
    def below(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
        for sub in kind.__subclasses__():
            yield sub
            yield from below(sub)

    named = {kind.__name__ for kind in ASKED.values()} | PARTS
    kinds = [kind for kind in below(Judgement) if not kind.__name__.startswith("_")]
    own = {kind.__name__ for kind in kinds if kind.__module__.startswith("persimchat.")}
    assert own - {"OwnModule"} <= named, "all but the base of what packages ask"


def test_every_schema_has_known_keywords_and_nothing_open() -> None:
    def check(name: str, dialect: str) -> None:
        bounds, longest = DIALECTS[dialect]
        sent = wire_schema(ASKED[name], bounds, longest)
        assert sent["title"] == ASKED[name].__name__
        for node in nodes(sent):
            assert node.keys() <= KNOWN, node.keys() - KNOWN
            assert node.get("maxLength", 0) <= longest
            if node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
            for kind, words in KEYWORDS.items():
                assert kind in bounds or not node.keys() & set(words)

    check_each(product(ASKED, DIALECTS), check)


def test_every_text_list_and_level_has_an_end() -> None:
    def check(name: str) -> None:
        for node in nodes(wire_schema(ASKED[name], ALL_BOUNDS, 10_000)):
            match node.get("type"):
                case "string":
                    assert "enum" in node or "maxLength" in node
                case "array":
                    assert "maxItems" in node
                case "integer":
                    assert "minimum" in node

    check_each(ASKED, check)


def test_bounds_that_are_not_sent_stand_in_the_description() -> None:
    properties = wire_schema(Percept, frozenset())["properties"]
    assert properties["importance"]["description"].endswith("(0 to 10)")
    assert properties["keywords"]["description"].endswith("(1 to 8 entries)")
    assert properties["keywords"]["items"]["description"] == "(at most 80 characters)"
    assert "maxLength" in wire_schema(Percept, ALL_BOUNDS, 300)["properties"]["theme"]
    assert "(at most 300 characters)" in wire_schema(Percept, ALL_BOUNDS, 299)["properties"]["theme"]["description"]


def test_the_schema_in_prompts_keeps_all_limits() -> None:
    shown = prompt_schema(Percept)
    for limit in ('"maxItems": 8', '"maxLength": 300', '"minimum": 0', '"maximum": 10'):
        assert limit in shown
    assert "$ref" not in shown
    assert '"title"' not in shown


STRICT_KEYWORDS = {
    "string": {"pattern", "format", "enum", "const"},
    "number": {"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "enum", "const"},
    "integer": {"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "enum", "const"},
    "boolean": {"enum", "const"},
    "array": {"minItems", "maxItems", "items"},
    "object": {"properties", "required", "additionalProperties"},
    "null": set(),
}
"""What strict mode takes of each type: OpenAI, "Structured Outputs", section "Supported schemas", as of February 2026.
(https://platform.openai.com/docs/guides/structured-outputs#supported-schemas)"""


def test_what_openai_is_sent_keeps_to_its_strict_subset() -> None:
    def check(name: str, provider: str) -> None:
        bounds, longest = DIALECTS[provider]
        sent = wire_schema(ASKED[name], bounds, longest)
        assert sent["type"] == "object"
        properties = enums = characters = 0
        for node in nodes(sent):
            own = node.keys() - {"description", "title", "type"}
            assert own == {"anyOf"} or own <= STRICT_KEYWORDS[node["type"]], node
            properties += len(node.get("properties", ()))
            values = [str(value) for value in node.get("enum", ())]
            enums += len(values)
            characters += sum(map(len, [*values, *node.get("properties", ())]))
            assert len(values) <= 250 or sum(map(len, values)) <= 15_000
        assert properties <= 5000
        assert enums <= 1000
        assert characters <= 120_000
        assert depth(sent) <= 10

    check_each(product(ASKED, ["openai", "azure"]), check)


def depth(node: Any) -> int:
    """How many objects stand within each other."""
    below = [
        depth(part) for part in (node.values() if isinstance(node, dict) else node if isinstance(node, list) else [])
    ]
    return max(below, default=0) + (isinstance(node, dict) and node.get("type") == "object")


NOT_IN_A_SCHEMA = {"value_error"}
"""Kinds of errors that no schema can rule out: a validator's own, about how several values go together."""


def is_blank(value: Any) -> bool:
    """Whether a text in a value has nothing to be seen: a schema cannot forbid that in words that all servers take."""
    if isinstance(value, dict):
        return any(map(is_blank, value.values()))
    return any(map(is_blank, value)) if isinstance(value, list) else isinstance(value, str) and not value.strip()


@pytest.mark.proof(cases=12)
@pytest.mark.parametrize("name", ASKED)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
@given(data=st.data())
def test_what_a_schema_allows_validates(name: str, data: Any) -> None:
    schema = {key: value for key, value in wire_schema(ASKED[name], ALL_BOUNDS, 10_000).items() if key != "title"}
    value = data.draw(from_schema(schema).filter(lambda found: not is_blank(found)))
    try:
        ASKED[name].model_validate(value)
    except ValidationError as error:
        wrong = [problem for problem in error.errors(include_url=False) if problem["type"] not in NOT_IN_A_SCHEMA]
        short = {"string_too_short"} if "GeneratedPersona" in name else set()  # spaces, made one
        assert [p for p in wrong if p["type"] not in short] == [], json.dumps(value)
