"""LangGraph's own development server, started once, with every way out of this machine closed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from loopback.server import free_port

START_S = 90
EMBEDDED = (
    *("asimulate", "aresume", "abranch", "debate", "story", "tool", "kept_tool"),
    *("companion", "open_companion", "experiment", "node", "graph_as_node"),
)
"""The graphs of embedded.py."""
RECORDER = """\
import os, sys

def _keep(event, arguments):
    if event in ("socket.bind", "socket.connect", "socket.getaddrinfo"):
        address = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
        host = address[0] if isinstance(address, tuple) else address
        with open(os.environ["ADDRESSES"], "a", encoding="utf-8") as file:
            file.write(f"{event} {host}\\n")

sys.modules["uvloop"] = None
sys.addaudithook(_keep)
"""
"""Python's audit events tell every address that the process listens on, looks up or connects to.

uvloop raises none, so the server does without it and runs in Python's own event loop.
"""


@dataclass(frozen=True)
class Server:
    """A running `langgraph dev`: its address, its folder, its log so far, and whom it has called."""

    url: str
    folder: Path
    log: Path
    addresses: Path


def _config(root: Path, folder: Path) -> Path:
    """The project's langgraph.json with full paths, so that the server leaves its files elsewhere, and few of them.

    With it, the graphs of somebody's app, which names them `app_…`.
    """
    config = json.loads((root / "langgraph.json").read_text(encoding="utf-8"))
    for graph in config["graphs"].values():
        graph["path"] = str(root / graph["path"])
    app = root / "tests" / "studio" / "embedded.py"
    config["graphs"] |= {f"app_{name}": {"path": f"{app}:app_{name}", "description": "an app"} for name in EMBEDDED}
    written = folder / "langgraph.json"
    written.write_text(json.dumps({**config, "dependencies": [str(root)], "disable_persistence": True}))
    return written


def _wait_until_up(process: subprocess.Popen[bytes], url: str) -> bool:
    never, asked = threading.Event(), 0.0
    while process.poll() is None and asked < START_S:
        try:
            return httpx.get(f"{url}/ok", trust_env=False).status_code == 200
        except httpx.TransportError:
            asked += 0.2
            never.wait(0.2)
    return False


@contextmanager
def serving(root: Path, place: Path) -> Iterator[Server]:
    """Start the server, and stop it afterwards.

    Args:
        root: the repository's.
        place: an empty folder, in which the server has one of its own.
    """
    folder, beside = place / "server", place / "beside"
    folder.mkdir()
    beside.mkdir()
    (beside / "sitecustomize.py").write_text(RECORDER)
    closed = f"http://127.0.0.1:{free_port()}"
    environment = {
        **os.environ,
        **{name: closed for proxy in ("http", "https", "all") for name in (f"{proxy}_proxy", f"{proxy.upper()}_PROXY")},
        "NO_PROXY": "",
        "no_proxy": "",
        "PYTHONPATH": str(beside),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ADDRESSES": str(beside / "addresses"),
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGGRAPH_NO_VERSION_CHECK": "1",
        "NO_COLOR": "1",
    }
    port, log = free_port(), beside / "log"
    command = [Path(sys.executable).parent / "langgraph", "dev", "--no-browser", "--no-reload", "--port", str(port)]
    command += ["--n-jobs-per-worker", "4", "--config", _config(root, folder)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        assert _wait_until_up(process, f"http://127.0.0.1:{port}"), log.read_text(encoding="utf-8")[-4000:]
        yield Server(f"http://127.0.0.1:{port}", folder, log, beside / "addresses")
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
