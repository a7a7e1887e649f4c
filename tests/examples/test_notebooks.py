"""The notebooks run from the first cell to the last, in a kernel whose event loop is running."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.proof

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))


def texts(notebook: nbformat.NotebookNode) -> list[str]:
    """What every code cell printed."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(out.get("text", "") for out in cell.outputs) for cell in cells]


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


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


@pytest.mark.proof
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_they_run_and_complain_of_nothing(path: Path, executed: Callable[[Path], nbformat.NotebookNode]) -> None:
    outputs = [output for cell in executed(path).cells for output in cell.get("outputs", [])]
    assert [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"] == []


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


@pytest.mark.proof
def test_the_first_experiment_shows_what_it_says(executed: Callable[[Path], nbformat.NotebookNode]) -> None:
    held, measured, differs, again = texts(executed(ROOT / "examples/notebooks/first_experiment.ipynb"))
    assert held == "12 conversations in who_talks\n"
    assert [line.split()[3] for line in measured.splitlines()] == ["balance", "repetition"] * 2
    assert differs.startswith("need_to_talk - round_robin: ") and "6 tasks" in differs
    assert again.startswith("14 conversations") and "tables: ['cells.csv', " in again
