"""`persimchat personas generate`: what it shows, what it leaves, and that it leaves nothing where it fails."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from langchain_core.messages import convert_to_messages
from loopback.answering import Fault
from loopback.reading import read_prompt
from loopback.server import LoopbackServer

from persimchat.models.offline.persona_making.making import persona
from persimchat.personas.files import load_persona

Run = Callable[..., Any]
EXAMPLE = str(Path(__file__).resolve().parents[2] / "examples/quotas.yaml")


def inventing(body: dict[str, Any]) -> dict[str, Any]:
    """A server behind which somebody invents people that are unlike each other."""
    request = read_prompt(convert_to_messages(body["messages"])).request
    assert request is not None
    return persona(request, body.get("seed") or 0)


@pytest.fixture
def model(serve: Callable[..., LoopbackServer]) -> str:
    return serve(inventing).model()


def test_files_that_a_conversation_reads(command: Run, model: str, tmp_path: Path):
    done = command("personas", "generate", "-n", "3", "--about", "nurses in Brno", "--out", "town", "--model", model)
    assert (done.code, done.err) == (0, "")
    files = sorted((tmp_path / "town").iterdir())
    people = [load_persona(file) for file in files]
    assert len({person.name for person in people}) == 3
    assert all(person.characteristic("residence") == "Brno, Czech Republic" for person in people)
    for file, person in zip(files, people, strict=True):
        assert file.name in done.out
        assert person.name in done.out
        head = file.read_text(encoding="utf-8").partition("name:")[0].splitlines()
        assert all(line.startswith("# ") for line in head)
        assert "no real person" in head[0]
        assert f"model {model}, seed 0" in head[1]
        assert "nurses in Brno" in head[2]
    assert "Kept in town" in done.out
    assert "3 model calls" in done.out
    used = done.out.strip().rpartition("--participants ")[2]
    assert sorted(used.split(",")) == [f"town/{file.name}" for file in files]
    talk = command("run", "Tea or coffee?", "--participants", used, "--messages", "1", "--model", "offline", "--quiet")
    assert talk.code == 0


def test_quotas_are_kept_and_named(command: Run, model: str, tmp_path: Path):
    done = command("personas", "generate", "--n", "10", "--quotas", EXAMPLE, "--out", "town", "--model", model)
    assert done.code == 0
    people = [load_persona(file) for file in (tmp_path / "town").iterdir()]
    assert sorted(str(person.characteristic("gender")) for person in people) == ["man"] * 5 + ["woman"] * 5
    assert sum(person.characteristic("occupation") == "retired" for person in people) == 2
    heads = [file.read_text(encoding="utf-8") for file in (tmp_path / "town").iterdir()]
    assert all(f"# Quotas: {EXAMPLE}; fixed by them for this person: " in head for head in heads)
    assert "Let the first 6 talk" in done.out


def test_the_same_seed_makes_the_same_files(command: Run, model: str, tmp_path: Path):
    for folder, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        assert command("personas", "generate", "--seed", seed, "--out", folder, "--model", model).code == 0
    first, second, other = (
        {file.name: file.read_bytes() for file in (tmp_path / folder).iterdir()} for folder in ("a", "b", "c")
    )
    assert first == second
    assert not set(first) & set(other)


def test_without_a_folder_each_group_gets_its_own(command: Run, model: str, tmp_path: Path):
    for _ in range(2):
        done = command("personas", "generate", "-n", "1", "--about", "Bus drivers", "--model", model)
        assert "persimchat personas show generated/" in done.out
    folders = sorted((tmp_path / "generated").iterdir())
    assert len(folders) == 2
    assert all("-bus-drivers-" in folder.name for folder in folders)


def test_without_a_model_the_offline_model_answers_and_says_so(command: Run, tmp_path: Path):
    done = command("personas", "generate", "-n", "2", "--out", "town")
    assert done.code == 0
    assert done.err.startswith("No model was chosen")
    (first, *_) = (tmp_path / "town").iterdir()
    assert "is no language model" in first.read_text(encoding="utf-8")
    assert "no cost" in done.out


def test_what_a_model_says_is_no_yaml_and_no_terminal_code(command: Run, serve: Run, tmp_path: Path):
    answer = {
        "name": "Eva Nová", "age": 30, "gender": "woman", "residence": "Brno", "occupation": "]: {cook} \x1b[31m#1",
        "education": "!!python/object:os.system", "family": "*none", "hobbies": "tea", "lifestyle": "- early",
        "financial_status": "'\"", "traits": ["a: b", "# no comment", "&anchor"],
        "speaking_style": "'Quotes' and \"quotes\": all of them.",
        "description": "---\n# She says: [this] {{ is }} no template, and she has been known to repeat it: often.",
    }  # fmt: skip
    done = command("personas", "generate", "-n", "1", "--out", "a", "--model", serve(lambda _: answer).model())
    assert "\x1b" not in done.out
    (file,) = (tmp_path / "a").iterdir()
    person = load_persona(file)
    assert person.traits == ["a: b", "# no comment", "&anchor"]
    assert person.characteristic("occupation") == "]: {cook} #1"
    assert yaml.safe_load(file.read_text(encoding="utf-8"))["characteristics"]["family"] == "*none"


WRONG = {
    "none": (["-n", "0"], "0 personas", "1 to 100"),
    "many": (["--n", "1000"], "1000 personas", "1 to 100"),
    "no number": (["-n", "some"], "-n/--n/--number", "--help"),
    "empty sentence": (["--about", " "], "--about is empty", "Say who"),
    "no quotas": (["--quotas", "nowhere.yaml"], "no such file (nowhere.yaml)", "Check the path"),
    "model": (["--model", "ofline"], "unknown model 'ofline'", "'offline'"),
    "setting": (["--set", "sed=1"], "'sed'", "'seed'"),
    "twice": (["--seed", "1", "--set", "seed=2"], "seed is given twice", "Leave one"),
    "folder": (["--out", "/proc/nowhere"], "cannot write there", "--out"),
    "option": (["--quota", "x"], "no such option --quota", "--quotas"),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_line_and_nothing_written(name: str, command: Run, tmp_path: Path):
    arguments, what, remedy = WRONG[name]
    done = command("personas", "generate", *arguments)
    assert (done.code, done.out) == (2, "")
    assert what in done.error
    assert remedy in done.error
    assert list(tmp_path.iterdir()) == []


def test_shares_of_more_than_one(command: Run, write: Run, tmp_path: Path):
    write("q.yaml", "quotas:\n  gender: {woman: 0.7, man: 0.6}\n")
    done = command("personas", "generate", "--quotas", "q.yaml", "--out", "town")
    assert done.code == 2
    assert done.error == (
        "persimchat: error: the shares of gender sum to 1.3, more than one (q.yaml:2, field quotas.gender). "
        "Take 0.3 away."
    )
    assert not (tmp_path / "town").exists()


def test_a_folder_with_something_in_it(command: Run, write: Run, serve: Run):
    write("town/eva.yaml", "mine")
    server = serve(inventing)
    done = command("personas", "generate", "--out", "town", "--model", server.model())
    assert "the folder is not empty (town)" in done.error
    assert server.requests == []


@pytest.mark.parametrize("fails", [Fault(401), {"name": "Always Her"}, "no JSON at all"])
def test_a_model_that_fails_leaves_nothing(fails: Any, command: Run, serve: Run, tmp_path: Path):
    answers = [inventing, lambda _: fails, lambda _: fails]
    server = serve(lambda body: answers.pop(0)(body))
    done = command("personas", "generate", "-n", "3", "--out", "deep/town", "--model", server.model())
    assert done.code == 3
    assert "persona_generation" in done.error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.proof
def test_interrupted_it_leaves_nothing(process: Run, serve: Run, tmp_path: Path):
    server = serve(inventing, delay_s=0.5)
    child = process("personas", "generate", "-n", "50", "--out", "town", "--model", server.model())
    deadline = time.monotonic() + 60
    while len(server.requests) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (130, "persimchat: interrupted\n")
    assert list(tmp_path.iterdir()) == []
