"""A package adds a module of minds, a rule of who speaks next, and a measure (examples/minds/humour).

One class or function and one registration each; no other line changes.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from packages import Persimchat, path_with, persimchat_with, register
from selenium import webdriver
from selenium.webdriver.common.keys import Keys
from web.conftest import Server, greeted
from web.test_setup_browser import START, click, ended, write

pytestmark = [pytest.mark.proof, pytest.mark.timeout(600)]

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/minds/humour"
FERRIES = str(EXAMPLE.parents[1] / "stories/ferries.yaml")
ODD = """
from typing import ClassVar
from persimchat.state.minds.judgement import OwnModule

class Odd(OwnModule):
    TASK: ClassVar[str] = "Say something odd."
    {fields}
"""
TALK = ("Tea or coffee?", "-n", "3", "--max-messages", "4", "--seed", "2", "--modules", "humour")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, installed by pip into a folder for PYTHONPATH."""
    folder = tmp_path_factory.mktemp("site")
    source = shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("source") / "humour")
    how = ("--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--target", str(folder))
    subprocess.run([sys.executable, "-m", "pip", "install", *how, str(source)], check=True)
    return folder


@pytest.fixture
def python(site: Path, tmp_path: Path) -> Persimchat:
    """Run Python with the package installed."""
    return persimchat_with(site, tmp_path)


def install(folder: Path, group: str, code: str, name: str = "odd") -> Persimchat:
    """Put a package in a folder that registers its `odd` or `Odd`; returns Python with it."""
    register(folder, "odd", f"[persimchat.{group}]\n{name} = odd:{'Odd' if group == 'module' else 'odd'}\n")
    (folder / "odd.py").write_text(f"{code}\n", encoding="utf-8")
    return persimchat_with(folder, folder)


def rows(folder: Path, query: str) -> list[tuple]:
    """Rows of the newest run's log."""
    newest = max(folder.glob("conversations/*"), key=lambda run: run.name)
    with closing(sqlite3.connect(newest / "run.sqlite")) as log:
        return log.execute(query).fetchall()


def test_it_is_asked_recorded_estimated_and_replayed(python: Persimchat, tmp_path: Path):
    joined = ("full", "appraisal", "--joined", "emotion,humour")
    for cognition, module, *more in (("full", "humour"), joined, ("compact", "appraisal"), ("lean", "reaction")):
        talk = (*TALK, "--set", f"cognition={cognition}", *more)
        python("-m", "persimchat", "run", *talk, "--quiet")
        asked = [name for (name,) in rows(tmp_path, "SELECT module FROM requests")]
        assert ("humour" in asked) == (module == "humour")
        estimated = json.loads(python("-m", "persimchat", "estimate", *talk, "--json").stdout)["at_most"]
        assert asked.count(module) == pytest.approx(estimated["module"][module]["calls"])
        minds = rows(tmp_path, "SELECT turn, agent, own FROM minds ORDER BY turn")
        levels = [(turn, json.loads(own or "{}").get("humour", {}).get("humour")) for turn, _, own in minds]
        assert {turn for turn, level in levels if level is None} == {0}, "asked about every utterance"
        assert all(0 <= level <= 10 for turn, level in levels if turn)
        assert "The same, byte for byte" in python("-m", "persimchat", "replay", "latest").stdout


def test_minds_of_a_story_have_it(python: Persimchat, tmp_path: Path):
    story = ("tiny", "--modules", "humour", "--set", "rounds=1")
    for cognition, module in (("full", "humour"), ("lean", "reaction")):
        told = (*story, "--set", f"cognition={cognition}")
        python("-m", "persimchat", "run", *told, "--quiet")
        asked = [name for (name,) in rows(tmp_path, "SELECT module FROM requests")]
        estimated = json.loads(python("-m", "persimchat", "estimate", *told, "--json").stdout)["at_most"]
        assert asked.count(module) == pytest.approx(estimated["module"][module]["calls"])
        heard = [json.loads(own) for (own,) in rows(tmp_path, "SELECT own FROM minds") if own not in (None, "{}")]
        assert heard and all(0 <= own["humour"]["humour"] <= 10 for own in heard)
        assert "The same, byte for byte" in python("-m", "persimchat", "replay", "latest").stdout


def test_strategists_have_no_module_of_a_package(python: Persimchat):
    refused = python("-m", "persimchat", "estimate", FERRIES, "--modules", "humour", code=2).stderr
    assert "the setting modules does not go with cognition=strategist" in refused


def test_the_document_shows_its_line():
    document = (EXAMPLE.parents[2] / "docs/experiments.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", document, re.DOTALL)
    assert block in (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")


def test_a_stopped_run_goes_on_and_a_branch_goes_without_it(python: Persimchat, tmp_path: Path):
    python("-m", "persimchat", "run", *TALK, "--quiet", "--budget-calls", "50")
    python("-m", "persimchat", "resume", "latest", "--quiet", "--budget-calls", "500")
    stopped = rows(tmp_path, "SELECT turn, agent, own FROM minds ORDER BY turn, agent")
    assert "The same, byte for byte" in python("-m", "persimchat", "replay", "latest").stdout
    shutil.move(tmp_path / "conversations", tmp_path / "stopped")
    python("-m", "persimchat", "run", *TALK, "--quiet")
    assert rows(tmp_path, "SELECT turn, agent, own FROM minds ORDER BY turn, agent") == stopped
    python("-m", "persimchat", "branch", "latest", "--at", "2", "--set", "modules=[]", "--quiet")
    later = rows(tmp_path, "SELECT turn, own FROM minds WHERE turn > 2")
    assert later and all(own in (None, "{}") for _, own in later)
    refused = python("-m", "persimchat", "resume", "latest", "--messages", "5", installed=False)
    assert refused.returncode == 0, "a branch without it does not need the package"


def test_a_mind_is_shown_what_it_judged_and_nobody_else_is(python: Persimchat):
    script = """
import asyncio, re
from persimchat import Settings, load_scenario
from persimchat.graph.conversation import build_conversation
from persimchat.models.exchange import Exchange
from persimchat.models.ledger import LEDGER, Ledger
from persimchat.models.offline import chat_model
from persimchat.state.minds.judgement import own_module

class Listening(Ledger):
    asked = []
    def admit(self, request, settings):
        super().admit(request, settings)
        self.asked.append(request)

marks = {}
def answer_to(module, chance):
    marks[len(marks)] = mark = f"mark{len(marks)}end"
    return {"reasoning": mark, "humour": 7}

chat_model.answer_to = answer_to
settings = Settings(model="offline", max_messages=3, store="ephemeral", modules=["humour"], closing="off")
graph = build_conversation(settings=settings)
graph.invoke({"topic": "Tea or coffee?", "participants": ["Jarmila", "Rowan"]}, {"configurable": {LEDGER: Listening()}})
texts = [(one.agent, one.module, one.turn, "\\n".join(str(m.text) for m in one.messages)) for one in Listening.asked]
assert marks and not [text for *_, text in texts if re.search("mark[0-9]+end", text)], "reasons are nobody's"
later = [text for _, module, turn, text in texts if module == "natural_language" and turn]
assert later and all("- humour: 7" in text for text in later)
own = [text for _, module, _, text in texts if module == "humour"]
task = own_module("humour").asks()
assert own and all(f'<task name="humour">\\n{task}\\n</task>' in text for text in own)
assert not [text for _, module, turn, text in texts if module == "natural_language" and not turn and "humour" in text]
"""
    python("-c", script)


def test_what_a_model_answers_wrongly_is_mended_or_leaves_the_mind_as_it_was(python: Persimchat, tmp_path: Path):
    script = """
import sys
from persimchat.app.cli import main
from persimchat.models.offline import chat_model
answers = iter(["no object"] * 2 + [{"reasoning": "a pun", "humour": 99}] * 99)
chat_model.answer_to = lambda *_: next(answers)
sys.exit(main(["run", "Tea or coffee?", "-n", "2", "--messages", "2", "--modules", "humour", "--quiet",
               "--set", "concurrent=false"]))
"""
    python("-c", script)
    minds = rows(tmp_path, "SELECT own, failed, corrected FROM minds WHERE turn > 0 ORDER BY rowid")
    assert [json.loads(failed or "[]") for _, failed, _ in minds].count(["humour"]) == 1
    kept = [json.loads(own or "{}").get("humour", {}).get("humour") for own, *_ in minds]
    assert kept.count(None) == 1 and set(kept) == {None, 10}
    assert [json.loads(corrected or "[]") for *_, corrected in minds].count(["humour"]) == 3


def test_exports_reports_and_experiments_have_it(python: Persimchat, tmp_path: Path):
    python("-m", "persimchat", "run", *TALK, "--quiet")
    python("-m", "persimchat", "export", "latest", "--format", "csv", "--out", "rows", installed=False)
    with (tmp_path / "rows/own.csv").open(encoding="utf-8-sig") as file:
        found = [row for row in csv.DictReader(file) if row["field"] == "humour"]
    assert len(found) == 3 * 4 and all(0 <= float(row["number"]) <= 10 and not row["text"] for row in found)
    python("-m", "persimchat", "show", "latest", "--html", "report.html", installed=False)
    shown = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Own modules" in shown and "What modules of installed packages judged: humour." in shown
    file = {
        "name": "laughing",
        "base": {"topic": "Friendship", "settings": {"model": "offline", "max_messages": 3}},
        "grid": {"variant": {"plain": {}, "humour": {"modules": ["humour"]}}, "seed": [1, 2]},
        "measures": {"evaluators": ["balance", "gini"]},
        "compare": [{"by": "variant"}],
    }
    (tmp_path / "laughing.yaml").write_text(yaml.safe_dump(file), encoding="utf-8")
    python("-m", "persimchat", "experiment", "run", "laughing.yaml", "--yes")
    report = (tmp_path / "results/laughing/report.html").read_text(encoding="utf-8")
    assert "humour" in report and "How unequally the participants spoke: Gini&#39;s coefficient" in report
    with (tmp_path / "results/laughing/tables/measures.csv").open(encoding="utf-8-sig") as table:
        values = [float(row["value"]) for row in csv.DictReader(table) if row["measure"] == "gini"]
    assert len(values) == 4 and all(0 <= value < 1 for value in values)


def test_its_rule_says_who_speaks_next(python: Persimchat, tmp_path: Path):
    talk = (*TALK, "--pattern", "most_amused", "--set", "closing=off", "--max-messages", "6")
    python("-m", "persimchat", "run", *talk, "--quiet")
    spoke = dict(rows(tmp_path, "SELECT turn, speaker FROM utterances"))
    levels: dict[int, dict[str, int]] = {}
    for turn, agent, own in rows(tmp_path, "SELECT turn, agent, own FROM minds WHERE turn > 0"):
        levels.setdefault(turn, {})[agent] = json.loads(own)["humour"]["humour"]
    for turn in range(2, 7):
        able = {name: level for name, level in levels[turn - 1].items() if name != spoke[turn - 1]}
        assert able[spoke[turn]] == max(able.values()), turn
    assert "The same, byte for byte" in python("-m", "persimchat", "replay", "latest").stdout
    fixed = ("run", "Tea?", "--pattern", "most_amused", "--set", "cognition=fixed", "--max-messages", "4", "--quiet")
    python("-m", "persimchat", *fixed)
    assert len(rows(tmp_path, "SELECT turn FROM utterances")) == 4


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            "def odd(minds, turn, chance): return 'Nobody'",
            "odd:odd named 'Nobody' after utterance 0, who may not",
        ),
        ("def odd(minds, turn, chance): return list(minds)", "who may not speak next"),
        ("def odd(minds, turn, chance): return 1 / 0 if turn else next(iter(minds))", "failed after utterance 1: Zero"),
        ("odd = 3", "odd:odd is no function (candidates, turn, chance)"),
    ],
)
def test_a_rule_that_fails_is_told_in_one_sentence(tmp_path: Path, code: str, told: str):
    script = """
import sys
from persimchat.app.cli import main
sys.exit(0 if main(["run", "Tea?", "--pattern", "odd", "--max-messages", "3", "--quiet"]) else 1)
"""
    ran = install(tmp_path, "pattern", code)("-c", script)
    assert told in " ".join(ran.stderr.split()), ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_rule_of_a_package_replaces_none_of_ours(tmp_path: Path):
    python = install(tmp_path, "pattern", "def odd(*_): 1 / 0", name="need_to_talk")
    python("-m", "persimchat", "run", "Tea?", "-n", "2", "--messages", "2", "--quiet")


FORMS = """
    pair: tuple[int, int]
    by_name: dict[str, int]
    share: float = Field(gt=0.5, lt=0.9)
    much: int = Field(le=-1)
    long: str = Field(min_length=200)
    some: list[bool] = Field(min_length=2)
    maybe: Literal['yes', 'no'] | None
"""


def test_answers_of_any_form_are_drawn_and_kept(tmp_path: Path):
    imports = "from typing import Literal\nfrom pydantic import Field\n"
    python = install(tmp_path, "module", imports + ODD.format(fields=FORMS.strip()))
    talk = ("Tea?", "-n", "2", "--messages", "2", "--modules", "odd", "--set", "answer_tokens=400")
    python("-m", "persimchat", "estimate", *talk)
    python("-m", "persimchat", "run", *talk, "--quiet")
    minds = rows(tmp_path, "SELECT own, failed FROM minds WHERE turn > 0")
    assert [len(json.loads(own)["odd"]) for own, _ in minds] == [7] * 4
    assert not any(json.loads(failed or "[]") for _, failed in minds)


def test_a_number_that_no_checkpoint_holds_is_no_answer(tmp_path: Path):
    script = """
import sys
from persimchat.app.cli import main
from persimchat.models.offline import chat_model
chat_model.answer_to = lambda *_: {"n": 10**30}
sys.exit(main(["run", "Tea?", "-n", "2", "--messages", "1", "--modules", "odd", "--quiet"]))
"""
    install(tmp_path, "module", ODD.format(fields="n: int"))("-c", script)
    failed = [json.loads(names) for (names,) in rows(tmp_path, "SELECT failed FROM minds WHERE turn > 0")]
    assert failed == [["odd"]] * 2


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("def odd(outputs): return 10**400", "it failed: OverflowError"),
        ("def odd(outputs): return 1 / 0", "it failed: ZeroDivisionError"),
        ("odd = max", "it failed: ValueError"),
        ("async def odd(outputs): return 1", "it gave no number, but coroutine"),
        ("import numpy\ndef odd(outputs): return numpy.float32(0.5)", ""),
    ],
)
def test_a_measure_that_fails_is_missing_with_its_reason(tmp_path: Path, code: str, missing: str):
    file = {
        "name": "odd",
        "base": {"topic": "Friendship", "settings": {"model": "offline", "max_messages": 2}},
        "grid": {"seed": [1]},
        "measures": {"evaluators": ["odd"]},
    }
    (tmp_path / "odd.yaml").write_text(yaml.safe_dump(file), encoding="utf-8")
    install(tmp_path, "measure", code)("-m", "persimchat", "experiment", "run", "odd.yaml", "--yes")
    with (tmp_path / "results/odd/tables/measures.csv").open(encoding="utf-8-sig") as table:
        (row,) = csv.DictReader(table)
    assert row["value"] == ("" if missing else "0.5") and row["missing"].startswith(missing)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            ("--modules", "irony"),
            "no installed package has a module irony (there are humour)",
        ),
        (("--set", "cognition=fixed"), "the setting modules does not go with cognition=fixed"),
        (("--pattern", "loudest"), "is not one of 'need_to_talk', 'round_robin', 'selector', 'most_amused'"),
    ],
)
def test_what_cannot_be_asked_is_refused(python: Persimchat, given: tuple[str, ...], told: str):
    error = python("-m", "persimchat", "run", *TALK, *given, code=2).stderr
    assert told in " ".join(error.split()), error


def test_without_the_package_it_is_refused_and_the_run_can_be_read(python: Persimchat):
    python("-m", "persimchat", "run", *TALK, "--quiet")
    assert "Tea or coffee?" in python("-m", "persimchat", "show", "latest", installed=False).stdout
    error = python("-m", "persimchat", "resume", "latest", "--messages", "5", code=2, installed=False).stderr
    assert "no installed package has a module humour (there is none)" in " ".join(error.split())


@pytest.mark.parametrize(
    ("code", "points", "told"),
    [
        ("import nothing_like_it", "odd = odd:Odd", "odd:Odd cannot be loaded: ModuleNotFoundError"),
        ("Odd = 3", "odd = odd:Odd", "odd:Odd is no class of persimchat.state.minds.judgement.OwnModule with a TASK"),
        ("Odd = 3", "emotion = odd:Odd", "emotion is a module of every mind"),
        (ODD.format(fields="n: int"), "utterance = odd:Odd", "utterance is the name of a prompt"),
        ("Odd = 3", "copy = odd:Odd", "'copy' cannot be a module's name"),
        ("Odd = 3", "dark-humour = odd:Odd", "'dark-humour' cannot be a module's name"),
        (ODD.format(fields='tree: "list[Odd]"'), "odd = odd:Odd", "the fields of Odd cannot be asked for"),
        ("Odd = 3", "odd = odd:Odd|odd = other:Odd", "installed packages register odd:Odd and other:Odd by one name"),
    ],
)
def test_a_broken_one_is_told_in_one_sentence(tmp_path: Path, code: str, points: str, told: str):
    for number, text in enumerate(points.split("|")):
        register(tmp_path, f"odd{number}", f"[persimchat.module]\n{text}\n")
    (tmp_path / "odd.py").write_text(f"{code}\n", encoding="utf-8")
    module = points.split()[0]
    ran = persimchat_with(tmp_path, tmp_path)("-m", "persimchat", "run", "Tea?", "--modules", module, code=2)
    assert told in " ".join(ran.stderr.split()), ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_page_shows_what_it_judged(site: Path, browser: webdriver.Chrome, tmp_path: Path):
    server = Server(tmp_path, PYTHONPATH=path_with(site))
    try:
        wait = greeted(server, browser)
        write(browser, "Topic", "Friendship")
        write(browser, "Message limit", "3")
        click(browser, "//button[contains(., 'More settings')]")
        click(browser, "//*[contains(@class, 'q-item')][contains(., 'Minds')]")
        click(browser, "//*[contains(@class, 'q-field')][contains(., 'Own modules')]")
        click(browser, "//*[@role='option'][contains(., 'Humour')]")
        browser.switch_to.active_element.send_keys(Keys.ESCAPE)
        click(browser, START)
        made = ended(browser, tmp_path)
        assert made["settings"]["modules"] == ["humour"]
        click(browser, "//*[@role='tab'][contains(., 'Charts')]")
        wait.until(lambda b: re.search("What modules of installed packages judged: humour", b.page_source))
        click(browser, "//*[@role='tab'][contains(., 'Mind')]")
        wait.until(lambda b: "Drawn by chance" in b.find_element("tag name", "body").text)
    finally:
        server.close()
