"""Schemas as grammars: three libraries that servers use take every one, and let nothing out that is not valid."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import xllamacpp
from llguidance import LLMatcher, LLTokenizer, grammar_from
from models.schemas_asked import NAMES, asked
from offenders import check_each
from outlines_core.json_schema import build_regex_from_schema

from persimchat.models.profiles import ALL_BOUNDS, PROFILES
from persimchat.models.schemas import wire_schema
from persimchat.state.debates.verdict import majority_schema, verdict_schema
from persimchat.state.minds.judgement import Feeling, NeedToTalk, Percept, Reflection, Score

ASKED = asked()
BYTES = LLTokenizer("byte")
PERCEPT: dict[str, Any] = {"theme": "Tea.", "keywords": ["tea"], "importance": 4}
CALM = dict.fromkeys(("happiness", "sadness", "anger", "fear", "disgust", "surprise"), 0)


def dialect(kind: Any) -> str:
    profile = PROFILES["compatible"]
    return json.dumps(wire_schema(kind, profile.bounds, profile.longest))


def comes_out(grammar: str, answer: Any) -> bool:
    """Whether a model that is held to a grammar can give this answer."""
    matcher = LLMatcher(BYTES, grammar)
    assert not matcher.is_error(), matcher.get_error()
    tokens = list(json.dumps(answer, ensure_ascii=False).encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


@pytest.mark.proof
def test_llguidance_and_llama_cpp_take_every_schema() -> None:
    def check(name: str) -> None:
        schema = dialect(ASKED[name])
        for grammar in (grammar_from("json_schema", schema), xllamacpp.json_schema_to_grammar(schema)):
            matcher = LLMatcher(BYTES, grammar.removeprefix("%llguidance {}\n"))
            assert not matcher.is_error(), matcher.get_error()

    check_each(ASKED, check)


def test_outlines_takes_every_schema() -> None:
    def check(name: str) -> None:
        assert build_regex_from_schema(dialect(ASKED[name]))

    check_each(ASKED, check)


ALLOWED = [
    (NeedToTalk, {"reasoning": "x" * 200, "need_to_talk": 10}),
    (NeedToTalk, {"reasoning": "x", "need_to_talk": 0}),
    (Percept, PERCEPT | {"keywords": ["tea"] * 8}),
    (Feeling, {"reasoning": "x", **CALM, "surprise": 10}),
    (Score, {"reasoning": "x" * 1500, "coherence": 9.5, "sentiment": 0.0, "engagement": 10}),
]
REFUSED = [
    *((NeedToTalk, {"reasoning": "x", "need_to_talk": level}) for level in (11, -10, -1, 100, 7.5, "7", None, True)),
    (NeedToTalk, {"reasoning": "x" * 201, "need_to_talk": 1}),
    (NeedToTalk, {"reasoning": "", "need_to_talk": 1}),
    (NeedToTalk, {"need_to_talk": 1}),
    (NeedToTalk, {"reasoning": "x", "need_to_talk": 1, "mood": "good"}),
    (Percept, PERCEPT | {"keywords": ["tea"] * 9}),
    (Percept, PERCEPT | {"keywords": []}),
    (Percept, PERCEPT | {"keywords": ["x" * 81]}),
    *((Feeling, {"reasoning": "x", **CALM, name: 11}) for name in CALM),
    (Score, {"reasoning": "x", "coherence": 10.5, "sentiment": 0.0, "engagement": 1}),
    (Reflection, {"insights": [{**PERCEPT, "evidence": [1]}] * 6}),
    (Reflection, {"insights": [{"theme": "x", "keywords": ["x"], "evidence": [0], "importance": 1}] * 5}),
]


@pytest.mark.parametrize("convert", ["llguidance", "llama.cpp"])
def test_nothing_outside_its_bounds_comes_out_of_a_grammar(convert: str) -> None:
    def check(kind: Any, answer: Any) -> None:
        schema = dialect(kind)
        grammar = (
            grammar_from("json_schema", schema) if convert == "llguidance" else xllamacpp.json_schema_to_grammar(schema)
        )
        allowed = any(kind is one and answer == right for one, right in ALLOWED)
        assert comes_out(grammar.removeprefix("%llguidance {}\n"), answer) is allowed

    check_each([*ALLOWED, *REFUSED], check)


def test_nobody_else_is_named_and_nobody_is_left_out() -> None:
    names = NAMES[:2]
    held = [{"agent": name, "position": "Tea.", "answer": None, "agrees": False} for name in names]
    verdict = {"reasoning": "x", "consensus": False, "answer": None, "conditional": None, "positions": held}
    verdict |= {"progress": "circling"}
    schema = verdict_schema(names, "yesno")
    grammar = grammar_from("json_schema", dialect(schema))
    assert comes_out(grammar, verdict)
    assert not comes_out(grammar, verdict | {"positions": held[:1]})
    assert not comes_out(grammar, verdict | {"positions": [*held, held[0]]})
    assert not comes_out(grammar, verdict | {"positions": [held[0], held[1] | {"agent": "Petr"}]})
    assert not comes_out(grammar, verdict | {"answer": "perhaps"})
    assert comes_out(grammar, verdict | {"positions": [held[0], held[1] | {"answer": "yes"}]})
    assert not comes_out(grammar, verdict | {"positions": [held[0], held[1] | {"answer": "perhaps"}]})
    chosen = grammar_from("json_schema", dialect(majority_schema(names, "number")))
    majority = {"reasoning": "x", "answer": 12, "conditional": None, "supporters": [names[0]]}
    assert comes_out(chosen, majority)
    assert not comes_out(chosen, majority | {"answer": "twelve"})
    assert not comes_out(chosen, majority | {"supporters": [*names, names[0]]})


def test_no_text_repeats_more_often_than_llama_cpp_counts() -> None:
    for kind in ASKED.values():
        lengths = [int(n) for n in re.findall(r'"maxLength": (\d+)', dialect(kind))]
        assert max(lengths, default=0) <= 2000
    assert PROFILES["llamacpp"].bounds == ALL_BOUNDS
