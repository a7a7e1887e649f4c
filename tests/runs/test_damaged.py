"""Damaged runs: whatever became of a file, its reader gets it or one line, and what is whole is not lost."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import httpx
import pytest
from run_files import conversation
from runs.damaging import FILES, GONE, WAYS, damage

import persimchat
from persimchat.app.cli import main
from persimchat.app.web.api.app import api_app
from persimchat.app.web.board import board_of
from persimchat.app.web.panel.mind_reading import MindFile
from persimchat.app.web.serving import web_context
from persimchat.runs.folder.reading import past_events, read_run
from persimchat.state.errors import PerSimChatError

pytestmark = pytest.mark.proof

SEEDS = ([0], pytest.param([1, 2, 3], marks=pytest.mark.long))
"""With which each way is tried on each file by those who only read."""
WITHIN_S = 300
PEOPLE = ["Jarmila", "Ha Nguyen"]
DEBATE: dict[str, Any] = {
    "mode": "debate", "answer_format": "yesno", "judge": "persona", "analysis": True, "model": "offline",
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs: one that has ended, with every file that there may be, and one that was stopped."""
    out = tmp_path_factory.mktemp("whole")
    first = persimchat.simulate("Is tea better?", PEOPLE, out=out, max_messages=3, **DEBATE)
    ended = persimchat.branch(first.folder or "", 2, say=("Moderator", "Hm."), out=out, max_messages=4)
    stopped = persimchat.simulate("Is tea better?", PEOPLE, out=out, max_messages=4, budget_calls=55, **DEBATE)
    for folder, name in ((ended.folder, "ended"), (stopped.folder, "stopped")):
        Path(folder or "").rename(out / name)
        (out / name / "run.pid").write_text("1\n", encoding="utf-8")
    shutil.rmtree(first.folder or "")
    assert stopped.stop_reason == "budget"
    assert {*FILES} - {path.name for path in (out / "ended").iterdir()} == set()
    return out


@contextmanager
def at_once() -> Iterator[None]:
    """Whatever takes longer than five minutes, on a busy machine too, hangs."""

    def hangs(number: int, frame: FrameType | None) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(WITHIN_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def command(capsys: pytest.CaptureFixture[str], *arguments: object, differs: bool = False) -> int:
    """Give a command: it does what it should, or says in one line why not."""
    with at_once():
        code = main([str(argument) for argument in arguments])
    said = capsys.readouterr().err
    errors = [line for line in said.splitlines() if line.startswith("persimchat: error: ")]
    assert code in ((0, 1, 2) if differs else (0, 2)), (arguments, code, said)
    assert len(errors) == (code == 2), said
    assert "Traceback" not in said
    assert not any(c in said for c in "\x1b\0\u202e")
    assert all(len(line) < 2_000 for line in errors), errors
    return code


def content(folder: Path) -> dict[str, Any]:
    """What a run's files hold; who worked on it last, and has gone, is no part of the run."""
    found = (path for path in sorted(folder.iterdir()) if path.is_file() and path.name not in ("run.lock", "run.pid"))
    return {path.name: held_in(path) for path in found}


def held_in(path: Path) -> Any:
    """What a file holds; of a database that can be read, its rows: opening it may change its first bytes."""
    if path.name == "run.sqlite":
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return list(database.iterdump())
        return path.read_bytes()[100:]  # without its header
    return path.read_bytes()


def copied(whole: Path, run: str, out: Path, *, all_of_it: bool = False) -> Path:
    heavy = () if all_of_it else ("memory",)
    return Path(shutil.copytree(whole / run, out / run, ignore=shutil.ignore_patterns(*heavy)))


def tried(name: str, seeds: list[int]) -> list[tuple[str, int]]:
    """Ways and seeds by which those who only read are tried; with seed 0 a third, where the file holds nothing."""
    ways = list(WAYS) if name == "run.sqlite" or 0 not in seeds else list(WAYS)[::3]
    return [(way, seed) for seed in seeds for way in ([*ways, *GONE] if seed == 0 else ways)]


FORMS = ("csv", "jsonl", "md", "html", "parquet", "xlsx")


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("name", FILES)
def test_readers(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, seeds: list[int]) -> None:
    good = copied(whole, "stopped", tmp_path / "good")
    wrong: list[str] = []
    for number, (way, seed) in enumerate(tried(name, seeds)):
        out = tmp_path / "runs"
        folder = copied(whole, "ended" if (number + seed) % 2 == 0 else "stopped", out)
        damage(folder, name, way, seed)
        before = content(folder)
        try:
            shown = command(capsys, "show", folder)
            assert command(capsys, "runs", "--out", out) == 0
            match number % 4:
                case 0:
                    assert command(capsys, "show", folder, "--json") == shown
                case 1:
                    command(capsys, "show", folder, out / "report.html", "--html")
                case 2:
                    command(capsys, "diff", folder, good)
                case _:
                    command(capsys, "diff", good, folder, "--json")
            command(capsys, "export", folder, "--format", FORMS[number % len(FORMS)], "--out", out / "tables")
            with at_once():
                for read in (_events, board_of, _minds):
                    try:
                        read(folder)
                    except PerSimChatError:
                        continue
            assert content(folder) == before
        except Exception as error:  # noqa: BLE001
            wrong.append(f"{way}, seed {seed}: {told(error)}")
        shutil.rmtree(out)
    assert not wrong, "\n".join(wrong)


def told(error: BaseException) -> str:
    """An error with the last places that it came through."""
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-4:]]
    return f"{type(error).__name__}: {str(error)[:300]} at {', '.join(places)}"


def _events(folder: Path) -> None:
    list(past_events(read_run(folder)))


def _minds(folder: Path) -> None:
    minds = MindFile(folder)
    for agent in minds.agents():
        for turn in range(6):
            minds.read(agent, turn)
            minds.before(agent, turn)
        for turn in minds.thoughts(agent, 5, "plan"):
            minds.read(agent, turn)


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """The REST API over an empty folder."""
    web = web_context(tmp_path / "runs", tmp_path / "library", tmp_path / "results")
    transport = httpx.ASGITransport(api_app(web))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client
    await web.runs.close()


@pytest.mark.long
@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("name", FILES)
async def test_api(whole: Path, tmp_path: Path, api: httpx.AsyncClient, name: str, seeds: list[int]) -> None:
    wrong: list[str] = []
    for way, seed in tried(name, seeds):
        folder = copied(whole, "ended", tmp_path / "runs")
        damage(folder, name, way, seed)
        try:
            with at_once():
                for path in ("", "/ended", "/ended/events", "/ended/report", "/ended/export"):
                    answer = await api.get(f"/api/runs{path}")
                    assert answer.status_code in (200, 204, 400, 404, 409), answer.text
                    if answer.status_code >= 400:
                        assert answer.json().keys() == {"error", "where", "remedy"}
        except Exception as error:  # noqa: BLE001
            wrong.append(f"{way}, seed {seed}: {told(error)}")
        shutil.rmtree(folder)
    assert not wrong, "\n".join(wrong)


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("name", [*FILES, "memory"])
def test_going_on(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """A run goes on from its checkpoints whatever became of the files that are made from them."""
    wrong: list[str] = []
    expected = conversation(whole / "stopped")
    for way in GONE if name not in FILES else (*WAYS, *GONE):
        folder = copied(whole, "stopped", tmp_path / "runs", all_of_it=True)
        damage(folder, name, way, 1)
        try:
            code = command(capsys, "resume", folder, "--budget-calls", 56, "--quiet")
            if name == "transcript.md" and way in (*WAYS, "missing", "empty"):
                assert code == 0
            if code == 0:
                assert conversation(folder)[: len(expected)] == expected
                read_run(folder)
        except Exception as error:  # noqa: BLE001
            wrong.append(f"{way}: {told(error)}")
        shutil.rmtree(tmp_path / "runs")
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
@pytest.mark.parametrize("name", ["run.sqlite", "memory"])
def test_branch_and_replay(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """The run stays as it is, and no half of another one is left."""
    wrong: list[str] = []
    for way in GONE if name not in FILES else (*WAYS, *GONE):
        folder = copied(whole, "ended", tmp_path / "runs", all_of_it=True)
        damage(folder, name, way, 2)
        before = content(folder)
        try:
            command(capsys, "replay", folder, "--quiet", differs=True)
            for verb, at in (("branch", ("--at", 3)), ("regenerate", ("--turn", 4))):
                out = tmp_path / verb
                if command(capsys, verb, folder, *at, "--out", out, "--set", "budget_calls=5", "--quiet"):
                    assert list(out.glob("*")) == []
                shutil.rmtree(out, ignore_errors=True)
            assert {name: data for name, data in content(folder).items() if name in before} == before
        except Exception as error:  # noqa: BLE001
            wrong.append(f"{way}: {told(error)}")
        shutil.rmtree(tmp_path / "runs")
    assert not wrong, "\n".join(wrong)
