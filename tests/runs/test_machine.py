"""What the machine does to a run: no room, no right to write. It ends in order, keeps what was said, goes on."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest
from run_folders import minds_in
from talks import events_of

import persimchat
from persimchat.app.cli import main
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.events import Event, Started, Stopped, TurnEnded, Uttered
from persimchat.runs.folder.calls import CALLS
from persimchat.runs.folder.run_folder import MINDS, READABLE, TRANSCRIPT
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError, MachineError
from persimchat.state.settings import Settings

RUN = "r"
FILES = (TRANSCRIPT, MINDS, READABLE)
NOWHERE = "postgresql://user@127.0.0.1:1/none"


def begun(out: Path, **settings: object) -> AsyncGenerator[Event, None]:
    chosen = Settings.model_validate({"model": "offline", "max_messages": 3, **settings})
    return run_simulation(make_scenario("Tea or coffee?", default_participants(2)), chosen, out=out, run=RUN)


async def failed(events: AsyncGenerator[Event, None], at: Callable[[Event], bool], harm: Callable[[], None]) -> Stopped:
    """The end of a run that is harmed while it goes on."""
    told: list[Event] = []
    with pytest.raises(MachineError, match=r"Then resume it: persimchat resume \S+") as caught:
        async for event in events:
            told.append(event)
            if at(event):
                harm()
    assert caught.value.exit_code == 4
    assert "\n" not in str(caught.value)
    (stopped,) = [event for event in told if isinstance(event, Stopped)]
    assert stopped == told[-1]
    assert (stopped.reason, stopped.source) == ("error", "error")
    return stopped


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run to which nothing happened."""
    out = tmp_path_factory.mktemp("undisturbed")
    scenario = make_scenario("Tea or coffee?", default_participants(2))
    return Path(persimchat.simulate(scenario, model="offline", max_messages=3, out=out).folder or "")


@pytest.mark.parametrize("last", [False, True])
async def test_a_run_that_cannot_be_written_any_more_goes_on_later(
    tmp_path: Path, undisturbed: Path, last: bool
) -> None:
    blocked = tmp_path / RUN / "run.json.partial"

    def at(event: Event) -> bool:
        return isinstance(event, TurnEnded) and event.turn == 3 if last else isinstance(event, Uttered)

    stopped = await failed(begun(tmp_path), at, lambda: blocked.mkdir(exist_ok=True))
    assert "run.json" in stopped.detail
    said = (tmp_path / RUN / TRANSCRIPT).read_bytes()
    assert said
    assert (undisturbed / TRANSCRIPT).read_bytes().startswith(said)
    blocked.rmdir()
    events = await events_of(resume_run(tmp_path / RUN))
    assert isinstance(events[-1], Stopped)
    assert events[-1].reason == "message_limit"
    for name in FILES:
        assert (tmp_path / RUN / name).read_bytes() == (undisturbed / name).read_bytes(), name


async def test_what_stops_a_run_before_it_begins_is_bad_input_and_leaves_nothing(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    (tmp_path / "file").touch()
    for settings in ({"checkpoints": NOWHERE}, {"store": str(tmp_path / "file" / "memory")}):
        with pytest.raises(InputError) as caught:
            await events_of(begun(tmp_path / "out", **settings))
        assert caught.value.exit_code == 2
        assert list((tmp_path / "out").glob("*")) == []


async def test_a_branch_that_cannot_begin_leaves_nothing(tmp_path: Path, undisturbed: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(InputError, match="PostgreSQL"):
        await events_of(branch_run(undisturbed, 1, changes={"checkpoints": NOWHERE}, out=tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("out", ["/dev/null", "file/runs", "link"])
def test_a_server_is_not_started_where_no_run_can_be_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert main(["serve", "--port", "0", "--out", str(tmp_path / out), "--library", str(tmp_path / "library")]) == 2
    assert "runs cannot be kept there" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


@pytest.mark.proof
async def test_damaged_requests_hold_up_no_run_and_are_told(tmp_path: Path) -> None:
    await events_of(begun(tmp_path))
    folder = tmp_path / RUN
    rows = (folder / CALLS).read_bytes().splitlines(keepends=True)
    (folder / CALLS).write_bytes(b"".join([rows[0], b"\x00\xff\n", b'{"turn": 1}\n', *rows[3:]]))
    events = await events_of(resume_run(folder, changes={"max_messages": 4}))
    assert isinstance(events[0], Started)
    assert f"2 lines are left out, the first is line 2. calls.jsonl holds {len(rows) - 2} of {len(rows)} requests" in (
        events[0].notice
    )
    assert "budgets count the known part" in events[0].notice
    assert isinstance(events[-1], Stopped)
    assert events[-1].turn == 4
    with pytest.raises(InputError, match=r"calls\.jsonl, line 2"):
        await events_of(Replay(folder).events())
    (folder / CALLS).unlink()
    events = await events_of(resume_run(folder, changes={"max_messages": 5}))
    assert isinstance(events[0], Started)
    assert "calls.jsonl holds 0 of" in events[0].notice


async def test_a_line_that_a_kill_tore_is_nothing_to_tell(tmp_path: Path) -> None:
    await events_of(begun(tmp_path))
    for name in (CALLS, "embeddings.jsonl", TRANSCRIPT):
        with (tmp_path / RUN / name).open("ab") as file:
            file.write(b'{"turn": 3, "ag')
    events = await events_of(resume_run(tmp_path / RUN, changes={"max_messages": 4}))
    assert isinstance(events[0], Started)
    assert events[0].notice == ""


async def test_a_branch_whose_shared_minds_are_lost_goes_on(tmp_path: Path, undisturbed: Path) -> None:
    await events_of(branch_run(undisturbed, 2, out=tmp_path, run=RUN))
    before = minds_in(tmp_path / RUN / MINDS)
    (tmp_path / RUN / MINDS).unlink()
    events = await events_of(resume_run(tmp_path / RUN, changes={"max_messages": 4}))
    assert isinstance(events[0], Started)
    assert events[0].notice == "Minds of 2 turns of the past that the branch shares are lost; the other run has them."
    assert minds_in(tmp_path / RUN / MINDS)[:4] == before[4:]


# Real processes


def command(
    *arguments: object, room: int | None = None, stdout: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Give a command, with so many bytes for every file."""
    limit = (room if room is not None else resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    with (stdout or Path(os.devnull)).open("w") as out:
        return subprocess.run(
            [sys.executable, "-m", "persimchat", *map(str, arguments)],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
        )


WORDS = ("Tea or coffee?", "-n", 2, "--messages", 8, "--model", "offline", "--quiet")


@pytest.mark.proof
@pytest.mark.parametrize("room", [0, 1_000, 40_000, 180_000, 260_000, 400_000, 900_000])
def test_files_that_may_not_grow(tmp_path: Path, room: int) -> None:
    """Whatever cannot be written first: the run's files, Chroma's, or the checkpoints."""
    done = command("run", *WORDS, "--out", tmp_path, room=room)
    assert done.returncode in (2, 4), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("persimchat: error: ")
    if done.returncode == 2:
        assert list(tmp_path.iterdir()) == []
        return
    (folder,) = tmp_path.iterdir()
    assert f"persimchat resume {folder}" in line
    said = (folder / TRANSCRIPT).read_bytes()
    assert command("resume", folder, "--quiet").returncode == 0
    assert (folder / TRANSCRIPT).read_bytes().startswith(said)
    whole = tmp_path / "whole"
    assert command("run", *WORDS, "--out", whole).returncode == 0
    (other,) = whole.iterdir()
    for name in FILES:
        assert (folder / name).read_bytes() == (other / name).read_bytes(), name


@pytest.mark.proof
def test_output_that_cannot_be_written(tmp_path: Path, undisturbed: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full on this system")
    shown = command("show", undisturbed, stdout=full)
    assert (shown.returncode, len(shown.stderr.splitlines())) == (2, 1)
    for form, hint in (("--json", "persimchat resume"), ("--quiet", "persimchat show")):
        run = command("run", *WORDS[:-1], form, "--out", tmp_path, stdout=full)
        assert run.returncode == 4, run.stderr
        assert "Traceback" not in run.stderr
        assert hint in run.stderr
