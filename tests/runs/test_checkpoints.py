"""Where checkpoints are kept: SQLite in the run's folder, memory, and a real PostgreSQL server where one is there."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.base import id as ids
from loopback.server import free_port
from run_folders import write_run

from persimchat.graph.baselines import graph_for
from persimchat.runs.folder.checkpoints import CHECKPOINTS, check_location, opened, without_password
from persimchat.runs.folder.listing import deletable, delete_run
from persimchat.runs.run.history import states_at
from persimchat.state.conversation import utterances
from persimchat.state.errors import InputError, MachineError, MissingExtraError
from persimchat.state.settings import Settings

PEOPLE = [{"name": name, "description": "Likes tea."} for name in ("Ada Lind", "Bo Berg")]
SERVER = os.environ.get("PERSIMCHAT_TEST_POSTGRES", "")
"""Read while this module is imported: what tests share removes it from the environment."""


async def talk(location: str, folder: Path | None, run: str, messages: int = 3) -> list[str]:
    """A conversation in one saver, read back in another; what was said in it."""
    settings = Settings(model="offline", max_messages=messages, store="ephemeral")
    config: Any = {"configurable": {"thread_id": run}}
    async with opened(location, folder) as saver:
        given = {"topic": "Tea?", "participants": PEOPLE, "simulation": run}
        said = await graph_for(settings, saver).ainvoke(given, config, context=settings)
    async with opened(location, folder) as saver:
        found = (await states_at(graph_for(settings, saver), config, {messages}))[messages].values
    assert found["messages"] == said["messages"]
    assert type(found["messages"][0]) is type(said["messages"][0])
    return [utterance["text"] for utterance in utterances(found["messages"])]


async def test_a_file_in_the_runs_folder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert len(await talk("run", tmp_path, str(tmp_path))) == 3
    assert [record for record in caplog.records if "langgraph" in record.name] == []
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINTS]  # closed: no journal is left


async def test_the_file_is_safe_against_a_kill(tmp_path: Path) -> None:
    async with opened("run", tmp_path) as saver:
        async with saver.conn.execute("PRAGMA journal_mode") as rows:  # type: ignore[union-attr]
            assert await rows.fetchone() == ("wal",)
        async with saver.conn.execute("PRAGMA synchronous") as rows:  # type: ignore[union-attr]
            assert await rows.fetchone() == (1,)
        async with saver.conn.execute("PRAGMA busy_timeout") as rows:  # type: ignore[union-attr]
            assert await rows.fetchone() == (10_000,)


async def test_memory_and_no_folder(tmp_path: Path) -> None:
    async with opened("memory", tmp_path) as saver:
        assert saver is not None
    async with opened("run", None) as saver:
        assert saver is None
    assert list(tmp_path.iterdir()) == []


async def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / CHECKPOINTS).write_bytes(b"This is no database at all, but a text. " * 30)
    with pytest.raises(InputError, match="cannot be opened"):
        async with opened("run", tmp_path):
            pass


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        async with opened("run", tmp_path / "nowhere"):
            pass


async def test_a_failure_of_the_database_is_told_as_one(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="disk is full.*free space"):
        async with opened("run", tmp_path):
            raise sqlite3.OperationalError("disk is full")


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("rum", "Did you mean 'run'"),
        ("memry", "Did you mean 'memory'"),
        ("mysql://eva:hunter2@host/db", "postgresql://user@host/database"),
        ("", "run, memory"),
        ("a/folder", "run, memory"),
    ],
)
def test_places_that_are_none(location: str, said: str, refused: Callable[..., str]) -> None:
    assert "hunter2" not in refused(lambda: check_location(location), said)


@pytest.mark.parametrize("location", ["run", "memory", "postgresql://host/db", "postgres://eva:x@host:1/db?a=b"])
def test_places_that_are_some(location: str) -> None:
    check_location(location)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("persimchat.runs.folder.checkpoints.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'persimchat\[postgres\]'"):
        check_location("postgresql://host/db")


SECRET = "hunter2"


@given(
    user=st.sampled_from(["", "eva", f"eva:{SECRET}", f":{SECRET}"]),
    query=st.sampled_from(["", f"?password={SECRET}", f"?sslmode=require&password={SECRET}", f"?sslpassword={SECRET}"]),
)
def test_an_address_is_shown_without_its_password(user: str, query: str) -> None:
    shown = without_password(f"postgresql://{user + '@' if user else ''}host:5432/runs{query}")
    assert SECRET not in shown
    assert "host:5432/runs" in shown
    assert ("eva" in user) == ("eva@" in shown)
    assert ("sslmode" in query) == ("sslmode=require" in shown)


@pytest.mark.parametrize("location", ["postgresql://[eva:hunter2@host/db", "postgres://eva:hunter2@host:bad/db"])
def test_an_address_that_cannot_be_read_shows_nothing_secret(location: str) -> None:
    assert SECRET not in without_password(location)


def _program(name: str) -> str | None:
    """A server's program, also where distributions hide it."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(name) or next((found for p in places if (found := shutil.which(name, path=str(p)))), None)


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """The address of a real server: the one that PERSIMCHAT_TEST_POSTGRES names, or one of our own on loopback."""
    if SERVER:
        yield SERVER
        return
    initdb, server = _program("initdb"), _program("pg_ctl")
    if initdb is None or server is None:
        pytest.skip("no PostgreSQL server here; install one, or name one with PERSIMCHAT_TEST_POSTGRES")
    who: dict[str, Any] = {}
    if os.geteuid() == 0:  # it refuses to run as root
        import pwd

        known = {user.pw_name: user for user in pwd.getpwall()}
        user = known.get("postgres") or known.get("nobody")
        if user is None:
            pytest.skip("PostgreSQL refuses to run as root, and there is no other user")
        who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    with tempfile.TemporaryDirectory(prefix="persimchat-postgres-", ignore_cleanup_errors=True) as place:
        if who:
            os.chown(place, who["user"], who["group"])
        data, password = Path(place) / "data", Path(place) / "password"
        password.write_text(SECRET)
        password.chmod(0o644)
        quiet: dict[str, Any] = {"cwd": place, "capture_output": True, "text": True, "timeout": 120, **who}
        made = subprocess.run(
            [initdb, "-D", data, "-U", "eva", "-A", "scram-sha-256", f"--pwfile={password}", "-N"], **quiet
        )
        if made.returncode:
            pytest.skip(f"PostgreSQL cannot be set up here: {made.stderr.strip()[-300:]}")
        port = free_port()
        options = f"-h 127.0.0.1 -p {port} -k {place} -F"
        log = Path(place) / "log"
        begun = subprocess.run([server, "-D", data, "-w", "-l", log, "-o", options, "start"], **quiet)
        if begun.returncode:
            pytest.skip(f"PostgreSQL does not start here: {log.read_text()[-300:] if log.exists() else begun.stderr}")
        try:
            yield f"postgresql://eva:{SECRET}@127.0.0.1:{port}/postgres"
        finally:
            subprocess.run([server, "-D", data, "-m", "immediate", "-w", "stop"], **quiet)


@pytest.mark.proof
async def test_a_conversation_kept_by_postgresql(postgres: str, caplog: pytest.LogCaptureFixture) -> None:
    run = f"test-{uuid.uuid4()}"
    with caplog.at_level(logging.WARNING):
        assert len(await talk(postgres, None, run)) == 3
    assert [record for record in caplog.records if "langgraph" in record.name] == []
    async with opened(postgres, None) as saver:
        assert saver is not None
        await saver.adelete_thread(run)


@pytest.mark.proof
async def test_a_clock_that_goes_back_while_postgresql_keeps_checkpoints(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = f"test-{uuid.uuid4()}"
    await talk(postgres, None, run, 1)
    now = time.time_ns
    monkeypatch.setattr(ids, "_last_v6_timestamp", None)  # as in another process
    monkeypatch.setattr(time, "time_ns", lambda: now() - 3600 * 10**9)
    config: Any = {"configurable": {"thread_id": run}}
    async with opened(postgres, None) as saver:
        assert saver is not None
        graph = graph_for(Settings(model="offline", store="ephemeral"), saver)
        await graph.aupdate_state(config, {"topic": "Coffee?"}, as_node="intervene")
        assert (await graph.aget_state(config)).values["topic"] == "Coffee?"
        await saver.adelete_thread(run)


@pytest.mark.proof
async def test_deleting_a_run_takes_its_checkpoints_from_the_server(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = f"test-{uuid.uuid4()}"
    await talk(postgres, None, run, 1)
    shown = without_password(postgres)
    assert SECRET not in shown
    folder = write_run(tmp_path, run=run, settings={"store": "run", "checkpoints": shown})
    monkeypatch.setenv("PGPASSWORD", SECRET)
    found = deletable(folder)
    assert found.checkpoints == shown
    assert await delete_run(found) == ""
    assert not folder.exists()
    async with opened(postgres, None) as saver:
        assert saver is not None
        assert await saver.aget_tuple({"configurable": {"thread_id": run}}) is None


@pytest.mark.proof
async def test_a_wrong_password_is_told_without_it(postgres: str) -> None:
    if SERVER:
        pytest.skip("a server that is not our own may take any password")
    wrong = postgres.replace(SECRET, "hunter3")
    with pytest.raises(InputError, match="PostgreSQL server cannot be used.*eva@127.0.0.1") as caught:
        async with opened(wrong, None):
            pass
    assert "hunter3" not in str(caught.value)


@pytest.mark.parametrize("location", ["postgresql://eva:hunter2@127.0.0.1:1/db", "postgresql://eva:hunter2@[x/db"])
async def test_a_server_that_is_not_there(location: str) -> None:
    with pytest.raises(InputError, match="cannot be (used|read)") as caught:
        async with opened(location, None):
            pass
    assert SECRET not in str(caught.value)
    assert "checkpoints=run" in caught.value.remedy or "%23" in caught.value.remedy


async def test_checkpoints_on_a_server_that_is_gone_do_not_hold_up_deleting(tmp_path: Path) -> None:
    folder = write_run(tmp_path, settings={"checkpoints": "postgresql://eva@127.0.0.1:1/db"})
    left = await delete_run(deletable(folder))
    assert "checkpoints are left" in left
    assert not folder.exists()
