"""What all tests share: where things are, and a quiet environment.

Sockets are closed but for loopback (pytest-socket, see `addopts` in pyproject.toml). Nothing that a developer has set
for their own runs reaches a test: keys and `PERSIMCHAT_*` variables are removed before any test module is imported.
"""

from __future__ import annotations

import gc
import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import settings

from persimchat.state.errors import InputError

if TYPE_CHECKING:
    from loopback.server import LoopbackServer

settings.register_profile("few", deadline=None, max_examples=25, derandomize=True)  # the same today and tomorrow
settings.register_profile("many", deadline=None)  # `make long`
settings.load_profile("few")

ROOT = Path(__file__).resolve().parents[1]

QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "OTEL_SDK_DISABLED": "true",
    "HF_HUB_OFFLINE": "1",
}
REMOVED_PREFIXES = ("PERSIMCHAT_", "OPENAI_", "AZURE_", "LANGSMITH_", "LANGCHAIN_", "OLLAMA_")
KEPT = ("PERSIMCHAT_TEST_POSTGRES",)
"""The address of a server to test with; no setting."""
COMPLETE = "CI_COMPLETE" in os.environ
WANTING = re.compile(r"\binstall|\bneeds\b|could not be fetched|cannot be (had|set up)")
"""In the reason of a skipped test: something is missing that can be got."""
CASES: Final = 2
"""Of a proof with a table of cases, how many `make proof` tries, unless it says otherwise: `proof(cases=2)`, "all"."""
SHARED = os.environ.get("PERSIMCHAT_SHARED") or str(ROOT.parent / "shared")


def pytest_configure() -> None:
    """Remove what would change a test's outcome from the environment; switch telemetry off."""
    for name in [name for name in os.environ if name.startswith(REMOVED_PREFIXES) and name not in KEPT]:
        del os.environ[name]
    os.environ.update(QUIET)
    os.environ["NICEGUI_STORAGE_PATH"] = tempfile.mkdtemp(prefix="nicegui-")  # read at import; each worker has its own
    sys.dont_write_bytecode = False  # to rewrite the assertions of all tests anew takes ten seconds


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One worker has all tests of a file: what they share (a browser, a server, a run) is made once."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a proof with many cases, `make proof` tries one from each of a few equal parts of its table; all are long."""
    tables: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("proof") and not item.get_closest_marker("long"):
            tables[item.nodeid.partition("[")[0]].append(item)
    for name, cases in tables.items():
        most = cases[0].get_closest_marker("proof").kwargs.get("cases", CASES)  # type: ignore[union-attr]
        if most == "all" or len(cases) <= most:
            continue
        draw = Random(name)
        drawn = {draw.randrange(part * len(cases) // most, (part + 1) * len(cases) // most) for part in range(most)}
        for number, case in enumerate(cases):
            if number not in drawn:
                case.add_marker("long")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In the gate, which installs what tests need, a test that is skipped for want of something has failed."""
    report = yield
    if COMPLETE and report.skipped and isinstance(report.longrepr, tuple) and WANTING.search(report.longrepr[2]):
        report.outcome, report.longrepr = "failed", f"it could have been installed: {report.longrepr[2]}"
    return report


def pytest_collection_finish() -> None:
    """What is imported by now stays: the collector of garbage need not look at it again, which saves a fifth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(autouse=True)
def _ephemeral_memories_end() -> Iterator[None]:
    """Close the ephemeral store after each test: for each mind, Chroma keeps some 3 MB until its store is closed."""
    yield
    memory = sys.modules.get("persimchat.memory.store")  # a test that has no memories need not import Chroma
    if memory is not None and (store := memory._stores.pop(memory.EPHEMERAL, None)):
        store.close()


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of papers and real data that lies beside the repository; the test is skipped where it is missing."""
    folder = Path(SHARED)
    if not (folder / "data").is_dir():
        pytest.skip(f"no data folder in {folder}; name it with PERSIMCHAT_SHARED")
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file into the test's own folder: `write("a.yaml", "text")`."""

    def _write(name: str, text: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return _write


@pytest.fixture
def serving() -> Iterator[Callable[..., LoopbackServer]]:
    """`serving(answer, …)` starts a loopback server with this answer; it is stopped after the test."""
    from loopback.server import LoopbackServer  # most tests need none, nor what it imports

    with ExitStack() as running:
        yield lambda answer=None, **options: running.enter_context(LoopbackServer(answer=answer, **options))


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs try again as often as ever, but wait for next to nothing in between."""
    from loopback.failing import retry_at_once

    retry_at_once(monkeypatch)


@pytest.fixture
def models_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for the model files that are got."""
    monkeypatch.setenv("PERSIMCHAT_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.fixture
def refused() -> Callable[..., str]:
    """Call something that must raise InputError; the message, which is one line that holds every word given."""

    def _refused(call: Callable[[], object], *words: str) -> str:
        with pytest.raises(InputError) as caught:
            call()
        message = str(caught.value)
        assert "\n" not in message
        assert [word for word in words if word not in message] == [], message
        assert caught.value.remedy, message
        return message

    return _refused
