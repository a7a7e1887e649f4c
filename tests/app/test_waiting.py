"""Commands say that they wait for a silent server, and go on when it speaks; one that never does ends them."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from app.conftest import Run, environment
from app.terminal import Terminal
from loopback.server import LoopbackServer

from persimchat.models import waiting
from persimchat.models.waiting import waits

Serve = Callable[..., LoopbackServer]

SLOW = [
    math.inf,  # until the wait has been told
    pytest.param(8, marks=pytest.mark.proof),
    pytest.param(40, marks=pytest.mark.long),
]
RUN = ("run", "T", "-n", "2", "--messages", "1")
COMMANDS = {
    "run": RUN,
    "doctor": ("doctor", "--embedding", "lexical"),
    "models try": ("models", "try", "--questions", "1"),
    "experiment": ("experiment", "run", "few.yaml", "--yes"),
}


@pytest.fixture(params=COMMANDS)
def asking(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], list[str]]:
    """The words of a command that asks this model."""

    def words(model: str) -> list[str]:
        if request.param == "experiment":
            base = {
                "topic": "T",
                "participants": ["Jarmila", "Zeynep"],
                "settings": {"max_messages": 1, "model": model},
            }
            (tmp_path / "few.yaml").write_text(json.dumps({"name": "few", "base": base, "grid": {"seed": [0]}}))
            return list(COMMANDS["experiment"])
        own = [model] if request.param == "models try" else ["--model", model]
        return [*COMMANDS[request.param], *own]

    return words


def woken(server: LoopbackServer) -> None:
    """Wake a server as soon as it is told that it is waited for."""

    def wake() -> None:
        while all(one.whom != server.url for one in waits()):
            time.sleep(0.01)
        server.awake.set()

    threading.Thread(target=wake, daemon=True).start()


@pytest.mark.proof(cases=2)
@pytest.mark.parametrize("silent_s", SLOW)
def test_a_silent_server_is_waited_for(
    command: Run, serving: Serve, asking: Callable[[str], list[str]], silent_s: float, monkeypatch: pytest.MonkeyPatch
):
    server = serving(silent_s=silent_s)
    if silent_s == math.inf:
        monkeypatch.setattr(waiting, "TOLD_AFTER_S", 0.05)
        woken(server)
    done = command(*asking(server.model()))
    assert done.code == 0, done.err
    assert f"waiting for {server.url} (" in done.err
    assert done.err.splitlines()[0].endswith(" s); Ctrl-C ends")


def test_a_server_that_stays_silent_ends_the_command(command: Run, serving: Serve, asking: Callable[[str], list[str]]):
    server = serving(silent_s=math.inf)
    words = asking(server.model())
    if words[0] == "experiment":
        plan = json.loads(Path("few.yaml").read_text())
        plan["base"]["settings"]["timeout_s"] = 0.3
        Path("few.yaml").write_text(json.dumps(plan))
    else:
        words += ["--set", "timeout_s=0.3"]
    done = command(*words)
    assert done.code == 3
    assert f"nothing answers at {server.url} within 0.3 seconds" in done.out + done.err
    assert server.requests == []


@pytest.mark.proof
def test_the_wait_is_one_line_and_ctrl_c_ends_it(serving: Serve, tmp_path: Path):
    server = serving(silent_s=math.inf)
    screen = Terminal(*RUN, "--model", server.model(), "--out", str(tmp_path / "runs"), env=environment())
    try:
        screen.until(f"waiting for {server.url} (", "Ctrl-C ends", f"waiting for {server.url} (", "Ctrl-C ends")
        screen.interrupt()
        code, shown = screen.end()
    finally:
        screen.close()
    assert code == 130
    assert "\n" not in shown[shown.index("waiting for") : shown.rindex("Ctrl-C ends")]
    assert not (tmp_path / "runs").exists()
