"""The catalogue of texts: whole in every language, nothing missing or left over; and no text of a page in code."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from offenders import check_each

pytest.importorskip("nicegui", reason="the extra [web] is not installed")

from persimchat.app.web.setup.form import specs
from persimchat.evaluation.dimensions import DIMENSIONS
from persimchat.experiments.measuring import EVALUATORS, DimensionScores, Evaluator
from persimchat.experiments.stories import _PLAIN, ATTITUDES, _entropies
from persimchat.runs.events import Silenced
from persimchat.state.wording import LANGUAGES, Entry, catalogue, plural, worded

ROOT = Path(__file__).parents[2]
WEB = ROOT / "app" / "web"
ROOMS = (
    *("state", "prompts", "models", "memory", "personas", "nodes", "graph", "runs", "reports", "evaluation"),
    *("experiments", "app"),
)
AREAS = {key.split(".")[0] for key in catalogue()}
KEY = re.compile(
    rf"(?!chat\.completion|story\.characters)({'|'.join(sorted(AREAS))})\.[a-z0-9_]+(\.[a-z0-9_]+)*(?<!\.yaml)(?<!\.json)(?<!\.md)(?<!\.csv)(?<!\.html)(?<!\.jinja)"
)
NAME = re.compile(r'"([^"\n]{1,60})"|^ +(\w+): ', re.MULTILINE)
"""A text, or a field or argument with its type."""
FORMS = {"en": {"one", "other"}, "cs": {"one", "few", "other"}, "de": {"one", "other"}}

# What shows a text, by name; the first argument is one, and in some the second.
SHOWS = {
    *("label", "button", "title", "card", "chip", "explained", "tooltip", "notify", "page_title", "words", "small"),
    *("input", "textarea", "number", "checkbox", "switch", "select", "toggle", "radio", "upload", "set_text"),
    *("expansion", "menu_item", "tab", "link", "Window"),
}
SECOND = {"named", "icon_button", "item", "described"}
NAMED = {"label", "placeholder", "text", "message", "tooltip", "close_button", "caption", "heading"}
NO_WORDS = re.compile(r"PerSimChat|kB|MB")


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def texts(of: str | dict[str, str]) -> list[str]:
    return list(of.values()) if isinstance(of, dict) else [of]


@cache
def all_nodes() -> list[tuple[str, ast.AST]]:
    """Every node of the code that reads the catalogue."""
    rooms = ("state", "runs", "reports", "evaluation", "experiments", "app")
    paths = [path for room in rooms for path in sorted((ROOT / room).rglob("*.py"))]
    read = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}
    return [(file, node) for file, text in read.items() if "t(" in text for node in ast.walk(ast.parse(text))]


def nodes(kind: type) -> Iterator[tuple[str, Any]]:
    for file, node in all_nodes():
        if isinstance(node, kind):
            yield f"{file}:{getattr(node, 'lineno', 0)}", node


@cache
def in_templates() -> dict[str, bool]:
    """Every key in the reports' templates, and whether it is only the beginning of one."""
    folders = (ROOT / room / "templates" for room in ("reports", "experiments"))
    paths = [path for folder in folders for path in sorted(folder.glob("*.jinja"))]
    text = "".join(path.read_text("utf-8") for path in paths)
    return {
        key: bool(more) for key, more in re.findall(r't(?:_or)?\("([a-z]+\.[a-z0-9_]*)"( ~)?', text)
    } | dict.fromkeys(re.findall(r'if [^"\n]* else "([a-z]+\.[a-z0-9_]+)"', text), False)


@cache
def constants() -> dict[str, str]:
    """Every key that stands in the code in one piece, and where."""
    parts = {id(part) for _, node in nodes(ast.JoinedStr) for part in node.values}
    whole = {
        node.value: where
        for where, node in nodes(ast.Constant)
        if isinstance(node.value, str) and KEY.fullmatch(node.value) and id(node) not in parts
    }
    return whole | {key: "templates" for key, more in in_templates().items() if not more}


@cache
def patterns() -> dict[re.Pattern[str], str]:
    """Every key that is put together in the code, as a pattern, and where."""
    found = {re.compile(f"{re.escape(key)}([a-z0-9_.]+)"): "templates" for key, more in in_templates().items() if more}
    for where, node in nodes(ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else None for part in node.values]
        if parts and isinstance(parts[0], str) and parts[0].split(".")[0] in AREAS and "." in parts[0]:
            shape = "".join("([a-z0-9_.]+)" if part is None else re.escape(part) for part in parts)
            found[re.compile(shape)] = where
    return found


@cache
def names_in_code() -> set[str]:
    """What the parts of a key may be: every text, field and argument in the package's code, and in its tables."""
    code = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    texts = (path.read_text("utf-8") for path in [*code, *(ROOT / "state").glob("*.yaml")])
    return {quoted or named for text in texts for quoted, named in NAME.findall(text)}


def wrong_with(entry: Entry) -> Iterator[str]:
    if set(entry) != set(LANGUAGES):
        yield "other languages"
        return
    kinds = {code: isinstance(entry[code], dict) for code in LANGUAGES}
    if len(set(kinds.values())) != 1:
        yield "plural forms in one language only"
    values = [{place.split(".")[0] for form in texts(entry[code]) for place in places(form)} for code in LANGUAGES]
    if any(one != values[0] for one in values):
        yield "other places"
    for code, text in entry.items():
        if isinstance(text, dict) and set(text) != FORMS[code]:
            yield f"plural forms of {code}"
        for form in texts(text):
            if not form or form != form.strip() or "  " in form:
                yield f"blanks in {code}"
            if form.count("“") != form.count("”") if code == "en" else form.count("„") != form.count("“"):
                yield f"quotation marks in {code}"
            if '"' in form or " …" in form or "..." in form:
                yield f"typewriter's signs in {code}"


def test_every_entry_is_whole():
    wrong = {key: found for key, entry in catalogue().items() if (found := list(wrong_with(entry)))}
    assert wrong == {}


def test_every_number_has_its_form() -> None:
    def check(code: str, number: float) -> None:
        assert plural(code, number) in FORMS[code]

    check_each(product(LANGUAGES, [0, 1, 2, 4, 5, 1.5, 22]), check)


@pytest.mark.proof
def test_every_key_of_the_code_is_there():
    missing = {key: where for key, where in constants().items() if key not in catalogue()}
    assert missing == {}
    empty = {where: one.pattern for one, where in patterns().items() if not any(map(one.fullmatch, catalogue()))}
    assert empty == {}


def test_no_entry_is_left_over():
    used = set(constants())
    for pattern in patterns():
        for key in catalogue():
            found = pattern.fullmatch(key)
            if found and all(set(part.split(".")) <= names_in_code() for part in found.groups()):
                used.add(key)
    assert sorted(set(catalogue()) - used - settings() - {f"findings.{key}" for key in (*said(), *says())}) == []


def settings() -> set[str]:
    """What the page says of the settings, as the model of the settings has them."""
    found = set()
    for name, spec in specs().items():
        options = [*spec.options, *(["none"] if spec.kind == "choice" and spec.optional else [])]
        found |= {f"settings.{name}{more}" for more in ("", ".help", *(f".{option}" for option in options))}
    return found


def findings(beginning: str) -> dict[str, str]:
    """Entries of the report of an experiment in English, by what follows the beginning of their names."""
    start = f"findings.{beginning}"
    return {key.removeprefix("findings."): str(one["en"]) for key, one in catalogue().items() if key.startswith(start)}


def said() -> dict[str, str]:
    """Those called by what the code and its tables say."""
    return findings("said_")


def says() -> dict[str, str]:
    """Those that say what a measure is."""
    return findings("says_")


def test_what_the_code_says_is_called_by_its_words():
    paths = [path for room in ROOMS for ending in ("py", "yaml") for path in (ROOT / room).rglob(f"*.{ending}")]
    own = [path for path in paths if "strings" not in path.parts]
    there = re.sub(r"[\W_]+", "", "".join(path.read_text("utf-8") for path in own))
    for key, text in said().items():
        assert key == "said_" + "_".join(re.findall(r"[a-z0-9_]+", text.lower())[:10])
        assert re.sub(r"[\W_]+", "", text) in there, text


def test_what_measures_say_is_in_the_catalogue():
    named = [one for name in EVALUATORS for one in Evaluator(name).named]
    named += DimensionScores("offline", list(DIMENSIONS.values()), 1).named
    named += [one for of in (*_PLAIN.values(), _entropies({})) for one in of.named if isinstance(one.says, str)]
    told = {f"says_{one.name.lower()}": one.says for one in named}
    assert says() == {**told, **{f"says_{name.lower()}": about for name, about in ATTITUDES.items()}}


def test_every_setting_and_option_has_its_words():
    assert settings() == {key for key in catalogue() if key.startswith("settings.")}


def test_what_the_code_puts_together_for_events():
    steps = get_args(Silenced.model_fields["step"].annotation)
    assert steps
    assert {f"chat.silent_{step}" for step in steps} <= set(catalogue())


def test_the_code_fills_every_place():
    wrong = {}
    for where, call in nodes(ast.Call):
        if not (isinstance(call.func, ast.Name) and call.func.id == "t" and call.args):
            continue
        key, given = call.args[0], {keyword.arg for keyword in call.keywords}
        if isinstance(key, ast.Constant) and None not in given:
            wanted = set().union(*(places(form) for text in catalogue()[key.value].values() for form in texts(text)))
            wanted = {place.split(".")[0].split(":")[0] for place in wanted}
            plural = any(isinstance(text, dict) for text in catalogue()[key.value].values())
            if wanted | ({"n"} if plural else set()) != given:
                wrong[where] = (key.value, sorted(wanted), sorted(given))
    assert wrong == {}


def test_no_text_of_a_page_stands_in_code():
    found = {}
    for where, call in nodes(ast.Call):
        if not where.startswith("app/web/") or where.startswith("app/web/api/"):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        shown = [keyword.value for keyword in call.keywords if keyword.arg in NAMED and name != "InputError"]
        shown += call.args[:1] if name in SHOWS | {"described"} else []
        shown += call.args[1:2] if name in SECOND else []
        for argument in shown:
            for part in ast.walk(argument) if isinstance(argument, ast.Constant | ast.JoinedStr | ast.IfExp) else []:
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and speaks(part.value):
                    found[where] = part.value
    assert found == {}


def speaks(text: str) -> bool:
    return bool(re.search(r"[^\W\d_]{2,}", NO_WORDS.sub("", text))) and not KEY.fullmatch(text)


def test_worded():
    assert worded("past.found_all", "cs", n=3) == "3 běhy"
    assert worded("past.found_all", "en", n=1) == "1 run"
    assert worded("past.found_all", "en", n=12_345) == "12,345 runs"
    assert worded("past.found_all", "cs", n=12_345) == "12\u00a0345 běhů"
    assert worded("past.found_all", "de", n=12_345).startswith("12.345 ")
