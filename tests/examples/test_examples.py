"""The examples run as a reader runs them: small apps around a conversation, and notebooks."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI
from loopback.server import LoopbackServer
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]


FOLDER = ROOT / "examples/embedding"


APPS = sorted(FOLDER.glob("*.py"))


LONGEST = 85
"""Lines that a small app has at most."""


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """`app("agent")` is an app, imported as a module of its own."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"embedding_{name}", FOLDER / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    return load


def chat_model(server: LoopbackServer) -> ChatOpenAI:
    """Another chat model than the conversation's."""
    return ChatOpenAI(model="outside", base_url=server.url, api_key="none", max_retries=0)


def test_they_are_small_and_say_what_they_show() -> None:
    assert [app.stem for app in APPS] == ["agent", "report_graph", "ten_groups"]
    for path in APPS:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= LONGEST
        assert f"python examples/embedding/{path.name}" in text.partition("\n\nfrom")[0]


@pytest.mark.parametrize("path", APPS, ids=lambda p: p.name)
@pytest.mark.proof(cases=2)
def test_they_run_without_a_key_and_without_a_warning(path: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONWARNINGS": "default", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, path], cwd=tmp_path, env=environment, capture_output=True, timeout=200)
    assert done.returncode == 0, done.stderr.decode()
    assert "Warning" not in done.stderr.decode()
    assert "imulated" in done.stdout.decode()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.proof
async def test_a_report_graph_keeps_two_keys_of_the_conversation(app: Callable[[str], ModuleType]) -> None:
    study, thread = app("report_graph"), {"configurable": {"thread_id": "t"}, "recursion_limit": 25}

    def answer(body: dict[str, Any]) -> str:
        return "Would you buy a kite?" if "Word one question" in str(body["messages"]) else "They liked it."

    with LoopbackServer(answer=answer) as server:
        given = {"product": "a kite"}
        done = await study.graph.ainvoke(given, thread, context=study.Analyst(chat_model(server)))
    assert set(done) == {"product", "question", "transcript", "conclusion", "report"}
    assert done["question"] == "Would you buy a kite?"
    assert done["report"].startswith("They liked it.\n")
    assert done["conclusion"]["answer"] in done["report"]
    assert len(server.requests) == 2, "the conversation has a model of its own"
    assert done["transcript"].split("\n")[0] in server.requests[1].text
    assert "subgraph focus_group" in study.graph.get_graph(xray=True).draw_mermaid()


@pytest.mark.proof
async def test_the_agent_puts_its_call_right(app: Callable[[str], ModuleType]) -> None:
    module = app("agent")
    asked: dict[str, Any] = {"messages": [("user", "Should the library open on Sundays?")]}
    done = await module.agent(module.ScriptedAgent()).ainvoke(asked)
    wrong, right = [m for m in done["messages"] if isinstance(m, ToolMessage)]
    assert (wrong.status, right.status) == ("error", "success")
    assert [u.speaker for u in right.artifact.utterances][:2] == ["Zeynep Aydoğan", "Max Ruiz"]
    assert done["messages"][-1].text.startswith("I asked a simulated group")


@pytest.mark.proof
async def test_the_agent_with_another_chat_model(app: Callable[[str], ModuleType]) -> None:
    def answer(body: dict[str, Any]) -> Any:
        if any(message["role"] == "tool" for message in body["messages"]):
            return "They differ."
        return {"topic": "Tea or coffee?", "messages": 2}

    with LoopbackServer(answer=answer) as server:
        done = await app("agent").agent(chat_model(server)).ainvoke({"messages": [("user", "Tea or coffee?")]})
    assert [m.type for m in done["messages"]] == ["human", "ai", "tool", "ai"]
    assert len(server.requests) == 2


@pytest.mark.long
@pytest.mark.proof
async def test_ten_groups_at_once_do_not_mix(app: Callable[[str], ModuleType]) -> None:
    module = app("ten_groups")
    ideas: Any = [{"idea": idea} for idea in module.IDEAS]
    chain = module.chain(module.Questioner())
    words = await chain.abatch(ideas, {"max_concurrency": 5})
    assert len(words) == len(set(module.IDEAS)) == 10
    alone = [await chain.ainvoke(idea) for idea in (ideas[0], ideas[-1])]
    assert alone == [words[0], words[-1]], "the others beside it change nothing"
    assert chain.invoke(ideas[0]) == words[0]


@pytest.mark.proof
async def test_the_chain_takes_any_chat_model(app: Callable[[str], ModuleType]) -> None:
    chain = app("ten_groups").chain(FakeListChatModel(responses=["Does our town need a lido?"]))
    assert ": " in (await chain.abatch([{"idea": "a lido"}]))[0]


NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))


def texts(notebook: nbformat.NotebookNode) -> list[str]:
    """What every code cell printed."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(out.get("text", "") for out in cell.outputs) for cell in cells]


@pytest.mark.proof
def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.proof
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_they_are_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    kept = [cell for cell in notebook.cells if cell.cell_type == "code" and (cell.outputs or cell.execution_count)]
    assert kept == []
    assert "/home/" not in path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], nbformat.NotebookNode]:
    """A notebook with all its outputs; each is run once."""

    @cache
    def run(path: Path) -> nbformat.NotebookNode:
        folder = tmp_path_factory.mktemp(path.stem)
        notebook = nbformat.read(path, as_version=4)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TMPDIR", str(folder))
            patch.setenv("IPYTHONDIR", str(folder / "ipython"))
            resources = {"metadata": {"path": folder}}
            return NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()

    return run


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_they_run_and_complain_of_nothing(path: Path, executed: Callable[[Path], nbformat.NotebookNode]) -> None:
    outputs = [output for cell in executed(path).cells for output in cell.get("outputs", [])]
    assert [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"] == []


@pytest.mark.proof
@pytest.mark.proof
def test_the_first_conversation_shows_what_it_says(executed: Callable[[Path], nbformat.NotebookNode]) -> None:
    notebook = executed(ROOT / "examples/notebooks/first_conversation.ipynb")
    transcript, needs, streamed, debate, longer, branched = texts(notebook)
    assert len(transcript.splitlines()) == 6
    rows = needs.splitlines()[1:]
    assert [row.count("*") for row in rows] == [1] * 6
    assert [line.split()[0] for line in streamed.splitlines()] == ["1", "2", "3"]
    assert debate.splitlines()[0].split(" - ")[1] in ("yes", "no")
    assert longer == "6 utterances, then 8\n"
    assert branched.splitlines()[:2] == transcript.splitlines()[:2]
    assert "I have changed my mind" in branched.splitlines()[2]


@pytest.mark.long
def test_the_first_experiment_shows_what_it_says(executed: Callable[[Path], nbformat.NotebookNode]) -> None:
    held, measured, differs, again = texts(executed(ROOT / "examples/notebooks/first_experiment.ipynb"))
    assert held == "12 conversations in who_talks\n"
    assert [line.split()[3] for line in measured.splitlines()] == ["balance", "repetition"] * 2
    assert differs.startswith("need_to_talk - round_robin: ") and "6 tasks" in differs
    assert again.startswith("14 conversations") and "tables: ['cells.csv', " in again


@pytest.mark.proof
def test_a_module_of_one_s_own_shows_what_it_says(executed: Callable[[Path], nbformat.NotebookNode]) -> None:
    notebook = executed(ROOT / "examples/notebooks/own_module.ipynb")
    _, levels, _, talk, measured = texts(notebook)
    assert len(levels.splitlines()) == 5 * 3 and all(0 <= int(line.split()[-1]) <= 10 for line in levels.splitlines())
    assert len(talk.splitlines()) == 4
    assert {line.split()[3] for line in measured.splitlines()} == {"words", "balance"}
    (report,) = (out.data["text/html"] for cell in notebook.cells for out in cell.get("outputs", []) if "data" in out)
    assert 'src="report.html#own"' in report
