"""A package adds a kind of conversation: state, graph, one template, one registration; no other line changes."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from packages import Persimchat, path_with, persimchat_with, register
from selenium import webdriver
from selenium.webdriver.common.by import By
from web.conftest import Server, greeted
from web.test_setup_browser import START, click, ended, field, write

pytestmark = [pytest.mark.proof, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = """
from typing import Literal

from persimchat.state.kinds.groups import Group
from persimchat.state.setting import About, setting


class Drinks(Group):
    drink: Literal["wine", "cider"] = setting(
        "wine", about=About(group="conversation", option="wine|cider", description="what is in the glasses")
    )
"""
STATE = '''
from persimchat.state.kinds import NO_MINDS, Choice, groups
from toasts.settings import Drinks


class Toasts(groups.Length, groups.Repeats, groups.Register, groups.Utterances, Drinks, Choice):
    """Everybody raises a toast in turn."""

    PASSES = NO_MINDS
    TITLE, THIS, MANY = "Toasts", "a round of toasts", "rounds of toasts"
    GRAPH, CALLS, TEMPLATES = "toasts.graph:build", "toasts.graph:calls", "toasts"
'''
GRAPH = """
from langgraph.graph import END
from langgraph.types import Send

from persimchat.graph import phases
from persimchat.graph.baselines.building import builder_of, compiled
from persimchat.graph.conversation import end_check, spoken_words
from persimchat.graph.node import current_settings, route
from persimchat.graph.situation import compared_with, for_step


async def speak(guest, settings):
    return {**await spoken_words(guest, settings, "toast"), "turn": guest["situation"]["turn"] + 1}


def next_step(state):
    if state["stop_reason"]:
        return "__end__"
    settings, name = current_settings(), list(state["agents"])[state["turn"] % len(state["agents"])]
    said = compared_with(state, name, settings)
    return [Send(phases.SPEAK, for_step(state, state["agents"][name], settings, recalls=False, needs={}, said=said))]


def build(checkpointer=None):
    builder = builder_of({phases.SPEAK: speak, phases.END_CHECK: end_check})
    builder.add_edge(phases.ASSEMBLE, phases.END_CHECK)
    builder.add_edge(phases.SPEAK, phases.END_CHECK)
    builder.add_conditional_edges(phases.END_CHECK, route(next_step), [phases.SPEAK, END])
    return compiled(builder, "toast", checkpointer)


def calls(shape, settings):
    return {"group_chat": shape.always(since=1) / shape.participants}
"""
TEMPLATE = """
{% block system %}
{% include "_rules.jinja" %}
{% endblock %}
{% block user %}
{% for b in blocks %}
{{ block(b) }}
{% endfor %}
<task name="utterance">
Raise your glass of {{ drink }}, and give a toast of at most {{ words }} words.
</task>
{% endblock %}
"""
TALK = ("--set", "mode=toast", "--max-messages", "5", "--seed", "3")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH in which the package is installed."""
    folder = tmp_path_factory.mktemp("site")
    kind, settings = "toast = toasts.state:Toasts", "toasts = toasts.settings:Drinks"
    register(folder, "toasts", f"[persimchat.mode]\n{kind}\n[persimchat.settings]\n{settings}\n")
    files = {
        folder / "toasts/__init__.py": "",
        folder / "toasts/settings.py": SETTINGS,
        folder / "toasts/state.py": STATE,
        folder / "toasts/graph.py": GRAPH,
        folder / "toasts/templates/toast.jinja": TEMPLATE,
    }
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def python(site: Path, tmp_path: Path) -> Persimchat:
    """Run Python with the package installed."""
    return persimchat_with(site, tmp_path)


def test_it_runs_and_is_refused_what_it_does_not_have(python: Persimchat, tmp_path: Path):
    told = python("-m", "persimchat", "run", "Friendship", *TALK).stdout
    assert len(re.findall(r"^\[\d+\]|^\S.*: ", told, re.MULTILINE)) >= 5
    (folder,) = (tmp_path / "conversations").glob("*/")
    with closing(sqlite3.connect(folder / "run.sqlite")) as log:
        said = log.execute("SELECT turn, speaker FROM utterances ORDER BY turn").fetchall()
        asked = log.execute("SELECT module FROM requests").fetchall()
    assert [turn for turn, _ in said] == [1, 2, 3, 4, 5] and len({name for _, name in said[:4]}) == 4
    assert {module for (module,) in asked} == {"natural_language"}
    estimated = python("-m", "persimchat", "estimate", "Friendship", *TALK, "--json").stdout
    assert json.loads(estimated)["at_most"]["total"]["calls"] == len(asked)
    replayed = python("-m", "persimchat", "replay", "latest").stdout
    assert "The same, byte for byte" in replayed
    assert "Friendship" in python("-m", "persimchat", "runs", installed=False).stdout  # also without the package
    assert said[0][1] in python("-m", "persimchat", "show", "latest", installed=False).stdout
    told = python("-m", "persimchat", "resume", "latest", "--messages", "6", code=2, installed=False).stderr
    assert "mode should be 'discussion', 'debate' or 'story'" in told, told
    refused = python("-m", "persimchat", "run", "Friendship", *TALK, "--judge", "persona", code=2).stderr
    told = " ".join(refused.split())
    assert "judge=persona does not go with a round of toasts (field judge). It is a setting of debates" in told


def test_it_has_a_setting_of_its_own(python: Persimchat, tmp_path: Path):
    helped = " ".join(python("-m", "persimchat", "run", "--help").stdout.split())
    assert "--drink" in helped and "Only with mode=toast" in helped
    told = python("-m", "persimchat", "run", "Friendship", *TALK, "--drink", "beer", code=2).stderr
    assert "--drink" in told and "'wine'" in told and "Traceback" not in told, told
    told = " ".join(python("-m", "persimchat", "run", "Friendship", "--drink", "cider", code=2).stderr.split())
    assert "drink=cider does not go with a discussion (field drink). It is a setting of rounds of toasts" in told, told
    python("-m", "persimchat", "run", "Friendship", *TALK, "--drink", "cider")
    python("-m", "persimchat", "run", "Friendship", "--messages", "2", "--out", "others")
    recorded = []
    for folder in (tmp_path / "conversations", tmp_path / "others"):
        with closing(sqlite3.connect(next(folder.glob("*/run.sqlite")))) as log:
            recorded += [json.loads(settings) for (settings,) in log.execute("SELECT settings FROM runs")]
    assert [settings.get("drink") for settings in recorded] == ["cider", None]
    assert "Cider" not in python("-m", "persimchat", "replay", "latest").stderr
    gone = python("-m", "persimchat", "resume", "latest", "--messages", "3", "--out", "others", installed=False)
    assert gone.returncode == 0, "what does not set it does not need the package"


def test_it_is_an_axis_of_an_experiment(python: Persimchat, tmp_path: Path):
    file = {
        "name": "toasting",
        "base": {"topic": "Friendship", "settings": {"model": "offline", "max_messages": 4}},
        "grid": {
            "variant": {"talk": {}, "wine": {"mode": "toast"}, "cider": {"mode": "toast", "drink": "cider"}},
            "seed": [1, 2],
        },
        "measures": {"evaluators": ["balance"]},
        "compare": [{"by": "variant"}],
    }
    (tmp_path / "toasting.yaml").write_text(yaml.safe_dump(file), encoding="utf-8")
    told = python("-m", "persimchat", "experiment", "run", "toasting.yaml", "--yes").stdout
    assert "6 of 6" in told or "6 done" in told, told
    report = (tmp_path / "results/toasting/report.html").read_text(encoding="utf-8")
    assert "toast" in report
    listed = json.loads(
        python("-m", "persimchat", "runs", "--json", "--mode", "toast", "--out", "results/toasting/runs").stdout
    )
    assert len(listed) == 4


def test_documents_and_studio_have_it(python: Persimchat):
    script = f"""
import sys
sys.path.insert(0, {str(ROOT / "tools")!r})
from generate_docs import kinds_table, settings_tables
from persimchat.graph.studio import PRESETS, named
from persimchat.prompts import prompt_hash, render
assert "Raise your glass of cider" in render("toast", blocks=[], words=25, drink="cider")[1].text
assert prompt_hash("toasts") != prompt_hash()
print(kinds_table())
print(settings_tables())
print(PRESETS["toast"], sorted(named("toast").get_context_jsonschema()["properties"]))
"""
    told = python("-c", script).stdout
    row = next(line for line in told.splitlines() if line.startswith("| Toasts |"))
    assert "`mode: toast`" in row and "Everybody raises a toast in turn." in row and "`max_messages`" in row
    assert "`discussion` · `debate` · `story` · `toast`" in told
    shown = told.splitlines()[-1]
    assert "{'mode': 'toast'}" in shown and "'max_messages'" in shown and "'judge_window'" not in shown
    assert "'drink'" in shown and "`drink`" in row and "| `drink`<br>`--drink` | `wine` · `cider` |" in told


def test_the_page_has_its_card_and_its_form(site: Path, browser: webdriver.Chrome, tmp_path: Path):
    server = Server(tmp_path, PYTHONPATH=path_with(site))
    try:
        wait = greeted(server, browser)
        click(
            browser, "//button[@role='radio'][contains(., 'Toasts')][contains(., 'Everybody raises a toast in turn.')]"
        )
        write(browser, "Topic", "Friendship")
        write(browser, "Message limit", "3")
        click(browser, "//button[contains(., 'More settings')]")
        click(browser, "//*[contains(@class, 'q-item')][contains(., 'who speaks next, how it ends')]")
        wait.until(lambda b: field(b, "Message limit").get_attribute("value") == "3")
        shown = [
            one for one in browser.find_elements(By.XPATH, '//*[@aria-label="Judge\'s window"]') if one.is_displayed()
        ]
        assert shown == []
        click(browser, "//*[@role='group'][@aria-label='Drink']//button[contains(., 'cider')]")
        click(browser, START)
        made = ended(browser, tmp_path)
    finally:
        server.close()
    assert (made["settings"]["mode"], made["settings"]["drink"], made["turn"]) == ("toast", "cider", 3)


def test_a_broken_one_is_told_in_one_sentence(python: Persimchat, site: Path):
    kind = site / "toasts/state.py"
    kind.write_text("import nothing_like_it\n", encoding="utf-8")
    try:
        told = python("-m", "persimchat", "run", "Friendship", code=2).stderr
    finally:
        kind.write_text(STATE, encoding="utf-8")
    assert "toasts.state:Toasts cannot be loaded: ModuleNotFoundError" in " ".join(told.split())
    assert "Traceback" not in told
