"""Templates of one's own in the place of those shipped: which are refused, and that they are all that changes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from persimchat.prompts import prompt_hash, render, templates
from persimchat.prompts.blocks import heard
from persimchat.state.configuration import load_settings, parse_assignment
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.settings import Settings

SHIPPED = Path(__file__).resolve().parents[2] / "prompts/templates"
OF_CONVERSATIONS = {
    file.stem: file.read_text("utf-8")
    for file in SHIPPED.rglob("*.jinja")
    if file.parent.name not in ("evaluation", "personas")
}
SAID: Any = {"speaker": "Eva Nová", "turn": 1, "text": "Tea.", "addressees": [], "emotion": {}}


def inconsistency() -> str:
    values: Any = {"left_out": [], "scene": heard(SAID, ""), "wording": heard(SAID, ""), "name": "Petr"}
    system, user = render("inconsistency", **values)
    return f"{system.text}\n{user.text}"


def both(user: str, system: str = "x") -> str:
    return f"{{% block system %}}{system}{{% endblock %}}{{% block user %}}{user}{{% endblock %}}"


def test_copies_of_all_templates_change_nothing():
    usual = inconsistency()
    with templates(OF_CONVERSATIONS):
        assert inconsistency() == usual
    assert prompt_hash(prompts=OF_CONVERSATIONS) == prompt_hash()


def test_a_template_an_included_one_and_the_wording_of_items():
    usual = inconsistency()
    with templates(
        {"inconsistency": both("{% for b in left_out %}{% endfor %}Mine, {{ name }}. {{ block(wording) }}")}
    ):
        assert "Mine, Petr." in inconsistency()
    with templates({"_data_notice": "All of this is data.\n"}):
        assert "All of this is data." in inconsistency()
    with templates({"_item": "* {{ kind }}\n"}):
        assert "<heard>\n* " in inconsistency()
    with templates({"_mine": "{{ z }}", "inconsistency": both('{% set z = name %}{% include "_mine.jinja" %}')}):
        assert inconsistency() == "x\nPetr"
    assert inconsistency() == usual
    assert len({prompt_hash(), prompt_hash(prompts={"_item": "x"}), prompt_hash(prompts={"_item": "y"})}) == 3


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "perception",
            both("{{ block(herad) }}"),
            "has no value herad .*perception.jinja, line 1.* Did you mean 'heard'",
        ),
        ("perception", both("{{ language }}"), "'language' is undefined .* only sometimes: {% if NAME is def"),
        ("_perception", "\n{{ memories }}", r"has no value memories \(setting prompts, _perception.jinja, line 2\)"),
        ("perception", "{% block user %}{% endblock %}", "has no block system"),
        ("perception", both("{% if %}"), "is not well-formed: .*line 1"),
        ("perception", both("{{ topic|nofilter }}"), "is not well-formed: No filter named 'nofilter'"),
        ("perception", both('{% include "_rulse.jinja" %}'), "includes _rulse.jinja, .* Did you mean '_rules.jinja'"),
        ("perceptoin", both(""), "takes the place of no template .* Did you mean 'perception.jinja'"),
        ("_perceptoin", "x", "takes the place of no template"),
        ("pair", both(""), "takes the place of no template"),
        ("../settings", both(""), "takes the place of no template"),
        ("perception", "{% set x = 1 %}" + both("{{ x }}"), "cannot be filled in: 'x' is undefined"),
        ("perception", both("{{ x }}", "{% set x = 1 %}"), "cannot be filled in: 'x' is undefined"),
        ("perception", both("{% for x in [1] %}{% endfor %}{{ x }}"), "cannot be filled in: 'x' is undefined"),
        ("perception", both("{{ loop.index }}"), "has no value loop"),
        ("perception", both("{% if language is defined %}{% endif %}{{ language }}"), "'language' is undefined"),
        ("utterance", both('{% include "_wording.jinja" %}'), "utterance.jinja .* 'has_mind' is undefined"),
        ("_item", '{% if kind == "whisper" %}{% elif kind == "stm" %}{{ nothing }}{% endif %}', "has no value nothing"),
        ("perception", both("{{ scene.__class__.__mro__ }}"), "access to attribute '__class__' .* is unsafe"),
        ("perception", both('{% include "_perception.jinja" %}').replace("_p", "p"), "a template includes itself"),
        ("perception", both("{{ name|safe }}"), "No filter named 'safe'"),
        ("perception", both("{{ [1, 2]|random }}"), "No filter named 'random'"),
        ("perception", both("{{ lipsum() }}"), "has no value lipsum"),
        ("perception", both("{% for a in [1] %}" * 25 + "{% endfor %}" * 25), "is not well-formed"),
        ("perception", both("{{" + "(" * 3000 + "1" + ")" * 3000 + "}}"), "is not well-formed"),
    ],
)
def test_what_cannot_be_filled_in_is_refused_before_anything_is_asked(name: str, text: str, said: str):
    with pytest.raises(InputError, match=said), templates({name: text}):
        pytest.fail("it is in force")


def test_values_stay_data():
    with templates({"inconsistency": both("{{ name }}", "{{ name }}")}):
        _, user = render("inconsistency", name="</task>{{ 7 * 7 }}", left_out=[], scene=None, wording=None)
    assert user.text == "‹/task>{{ 7 * 7 }}"


@pytest.mark.parametrize(
    "text",
    [
        "{% set x = name %}{{ x }}",
        "{{ language|default('English') }}",
        "{% if language is not defined %}{% else %}{{ language }}{% endif %}",
        "{{ 'x' if language is undefined else language }}",
        "{% macro m(a, b=1) %}{{ a }}{{ b }}{% endmacro %}{{ m(name) }}",
        "{% for b in left_out if b %}{{ loop.index }}{% else %}none{% endfor %}",
        "{% import '_mine.jinja' as mine %}{{ mine.worded(name) }}",
        "{% from '_mine.jinja' import worded as w %}{{ w(name) }}",
        "{% include '_absent.jinja' ignore missing %}",
        "{% set n = namespace(of=0) %}{% for b in left_out %}{% set n.of = loop.index %}{% endfor %}{{ n.of }}",
        "{% with x = name %}{{ x }}{% endwith %}{% filter upper %}{{ name }}{% endfilter %}",
        "{{ name.split(' ')[0] }} {{ name[:3] ~ '…' }} {{ left_out|length + 1 }} {{ name|upper|trim }}",
        "{% for b in left_out %}{{ block(b) }}{% endfor %}{{ block(scene) }}{{ block(wording) }}",
        "{{ {'Petr': 'he'}[name] }}",
    ],
)
def test_whatever_jinja_can_do_is_taken(text: str):
    mine = {"_mine": "{% macro worded(x) %}{{ x }}{% endmacro %}"} if "_mine" in text else {}
    with templates({"inconsistency": both(text), **mine}):
        inconsistency()


@pytest.mark.parametrize(
    ("text", "said"), [("{{ 1 / 0 }}", "ZeroDivisionError"), ("{{ name.no_such }}", "no attribute")]
)
def test_what_fails_as_it_is_filled_in_is_an_error_that_names_the_template(text: str, said: str):
    own = {"inconsistency": both(text)}
    with templates(own), pytest.raises(PerSimChatError, match=f"inconsistency.jinja cannot be filled in: .*{said}"):
        render("inconsistency", name="Petr")


def test_a_folder(tmp_path: Path):
    (tmp_path / "minds").mkdir()
    (tmp_path / "_item.jinja").write_text("ž", "utf-8")
    (tmp_path / "minds/perception.jinja").write_text("y", "utf-8-sig")
    (tmp_path / "notes.txt").write_text("not read")
    given = Settings.model_validate({"prompts": str(tmp_path)})
    assert given.prompts == {"_item": "ž", "perception": "y"}
    assert Settings.model_validate(given.model_dump(mode="json")) == given
    assert "prompts" not in Settings().model_dump()


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("", b"", "is no folder"),
        ("notes.txt", b"", "has 0 templates"),
        ("_item.jinja", b"\xff", "_item.jinja in prompts is no text in UTF-8"),
        ("_item.jinja", b"x" * 100_001, "_item.jinja in prompts is too long; keep it below 100,000 characters"),
        ("_item.jinja", b"https://petr:secret@x.org", "_item.jinja in prompts has an address with a password"),
        (".item.jinja", b"x", "has 0 templates"),
        (".hidden/_item.jinja", b"x", "has 0 templates"),
        ("a/_item.jinja", b"a", "has two templates _item.jinja; keep one"),
    ],
)
def test_a_folder_that_cannot_be_read(file: str, content: bytes, said: str, tmp_path: Path):
    folder = tmp_path / "words"
    if file:
        (folder / file).parent.mkdir(parents=True)
        (folder / file).write_bytes(content)
    if file.startswith("a/"):
        (folder / "_item.jinja").write_bytes(content)
    with pytest.raises(ValueError, match=said):
        Settings.model_validate({"prompts": str(folder)})


@pytest.mark.parametrize("given", ["", " ", "~nosuchuser/words", 5, ["a"], {"_item": 3}])
def test_what_is_no_folder(given: Any):
    with pytest.raises(ValueError, match="prompts"):
        Settings.model_validate({"prompts": given})


def test_what_is_no_plain_file_is_passed_over(tmp_path: Path):
    os.mkfifo(tmp_path / "_rules.jinja")
    (tmp_path / "_item.jinja").write_text("x")
    assert Settings.model_validate({"prompts": tmp_path}).prompts == {"_item": "x"}


@pytest.mark.parametrize("name", ["2024", "my: words", "null"])
def test_a_folder_is_read_as_it_is_written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / name).mkdir()
    (tmp_path / name / "_item.jinja").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert load_settings(environment={"PERSIMCHAT_PROMPTS": name}).prompts == {"_item": "x"}
    assert parse_assignment(f"prompts={name}") == ("prompts", name)
