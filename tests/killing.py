"""Runs killed with SIGKILL at points that can be named: a driver whose children run, die, resume and are looked at.

A point is a site and a number: the n-th time that the run comes by there, its process kills itself. What takes long to
import is imported once; every child is forked from there, before anything is opened.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))

from forking import answer_tasks

RUN = "a-run"
KINDS: dict[str, dict[str, Any]] = {
    "debate": {"mode": "debate", "judge": "persona", "analysis": True, "max_messages": 7},
    "discussion": {"max_messages": 8, "allow_repeated_speaker": True},
    "listeners": {"max_messages": 8, "listeners": 1, "cognition": "compact"},
    "pruned": {"max_messages": 5, "pruning": {"lambda": 0.6, "method": "embedding", "query": "response"}},
    "fixed": {"mode": "debate", "cognition": "fixed", "max_messages": 8},
    "story": {"mode": "story", "rounds": 1},
    "played": {"mode": "story", "rounds": 1},
    "revised": {
        "max_messages": 6,
        "pruning": {"lambda": 1, "method": "embedding", "query": "response", "revision": "again"},
    },
}
"""The settings of each kind; in the story that is played, a person is the first host; in what is revised, an utterance
contradicts a goal that was left out."""
UTTERANCES = {kind: settings.get("max_messages", 20) for kind, settings in KINDS.items()}
"""How many utterances each has; a story's stages say it."""


class Driver:
    """Asks the driver's process for children; `with Driver() as driver:`."""

    def __enter__(self) -> Driver:
        self._process = Popen([sys.executable, __file__], stdin=PIPE, stdout=PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)

    def child(self, do: str, out: Path, kind: str, *, point: tuple[str, int] | None = None) -> dict[str, Any]:
        """Have a child run or resume a run, and look at it.

        Args:
            do: "run" or "resume".
            out: folder of the run's folder.
            kind: key of `KINDS`.
            point: where the child kills itself.

        Returns:
            `status` (0, or minus the signal) and, where it lived, what it saw: `sites` by how often it came by, `said`,
            `error`, and where there was none what `_look` finds.
        """
        assert self._process.stdin and self._process.stdout
        task = {"do": do, "out": str(out), "kind": kind, "point": point}
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


class Strike:
    """Counts by which sites a run comes, and kills the process at one of them."""

    def __init__(self, point: tuple[str, int] | None) -> None:
        self.seen: Counter[str] = Counter()
        self._point = tuple(point) if point else None

    def __call__(self, site: str) -> None:
        """The run comes by a site."""
        if self.due(site):
            os.kill(os.getpid(), signal.SIGKILL)

    def due(self, site: str) -> bool:
        """The run comes by a site; whether it is to die there."""
        self.seen[site] += 1
        return (site, self.seen[site]) == self._point

    def around(self, owner: Any, name: str, label: str | Callable[..., str]) -> None:
        """Make `label:before` and `label:after` sites of a function; its arguments may give the label."""
        function = inspect.getattr_static(owner, name)
        call = function.__func__ if isinstance(function, classmethod) else function

        @functools.wraps(call)
        def plain(*args: Any, **more: Any) -> Any:
            site = label if isinstance(label, str) else label(*args)
            self(f"{site}:before")
            result = call(*args, **more)
            self(f"{site}:after")
            return result

        @functools.wraps(call)
        async def waiting(*args: Any, **more: Any) -> Any:
            site = label if isinstance(label, str) else label(*args)
            self(f"{site}:before")
            result = await call(*args, **more)
            self(f"{site}:after")
            return result

        wrapped: Any = waiting if inspect.iscoroutinefunction(call) else plain
        setattr(owner, name, classmethod(wrapped) if isinstance(function, classmethod) else wrapped)

    def halfway(self, owner: Any, name: str, label: str, half: Callable[..., None]) -> None:
        """Make `label:torn` a site: half of what the function writes is written, and the process dies."""
        function = getattr(owner, name)

        def torn(*args: Any, **more: Any) -> Any:
            if self.due(f"{label}:torn"):
                half(*args, **more)
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **more)

        setattr(owner, name, torn)


def _install(strike: Strike) -> None:
    from chromadb import Collection

    from persimchat.memory.store import MemoryStore
    from persimchat.models.exchange import Exchange
    from persimchat.runs.folder import run_folder as folder
    from persimchat.runs.folder.checkpoint_file import FileSaver
    from persimchat.runs.log import Log
    from persimchat.runs.run import resume
    from persimchat.runs.run.progress import Projection

    strike.around(Exchange, "judge", "judge")
    strike.around(Exchange, "stream", "stream")
    for question in ("judge", "stream"):
        strike.around(Exchange, question, lambda exchange, *_: exchange.module)
    strike.around(FileSaver, "aput", "aput")
    strike.around(FileSaver, "aput_writes", "aput_writes")
    strike.around(FileSaver, "_write", "transaction")
    strike.around(MemoryStore, "save", "save")
    strike.around(MemoryStore, "_collection", "collection")
    strike.around(Collection, "upsert", "upsert")
    for method in ("append", "delete", "close"):
        strike.around(Log, method, f"log.{method}")
    for method in ("_write", "begin", "append", "reopened", "resume", "end"):
        strike.around(folder.RunFolder, method, method)
    strike.around(Projection, "after", "projection")
    strike.around(os, "fsync", "fsync")
    strike.around(resume, "repaired", "repaired")
    strike.around(resume, "_take_back", "take_back")
    write = folder.RunFolder._write

    def half_line(self: Any, text: str) -> None:
        write(self, text.encode()[: len(text.encode()) // 2].decode(errors="ignore"))

    strike.halfway(folder.RunFolder, "_write", "_write", half_line)
    strike.halfway(folder, "write_whole", "whole", _half_whole)


def _half_whole(path: Path, data: bytes) -> None:
    path.with_name(f"{path.name}.partial").write_bytes(data[: len(data) // 2])


async def _follow(task: Mapping[str, Any], strike: Strike) -> dict[str, Any]:
    from persimchat.personas.scenario import default_participants, load_story, make_scenario, with_people
    from persimchat.runs.control import Control
    from persimchat.runs.run.resume import resume_run
    from persimchat.runs.run.simulation import run_simulation
    from persimchat.state.errors import InputError
    from persimchat.state.settings import Settings

    _install(strike)
    out, said, error, control = Path(task["out"]), [], "", Control()
    if task["do"] == "run":
        square = make_scenario("Should the square be free of cars?", default_participants(3))
        stories = {"story": load_story(), "played": with_people(load_story(), ["Aino"])}
        scenario = stories.get(task["kind"], square)
        if task["kind"] == "revised":
            goals = {square.participants[0].name: ["win the others for leaving things alone"]}
            scenario = square.model_copy(update={"social_goals": goals})
        settings = Settings(model="offline", seed=3, **KINDS[task["kind"]])
        events = run_simulation(scenario, settings, out=out, run=RUN, control=control)
    else:
        events = resume_run(out / RUN, control=control)
    try:
        async for event in events:
            if event.event == "utterance":
                said.append(event.turn)
            if event.event == "asked":
                strike("asked")
                control.answer(1 if event.what != "utterance" else f"Words of act {event.story['act']}.")
                strike("answered")
    except InputError as refused:
        error = str(refused)
    return {"sites": dict(strike.seen), "said": said, "error": error}


async def _look(out: Path) -> dict[str, Any]:
    """A run's last state without its usage, and by agent all memories, with vectors, that the store holds."""
    from langchain_core.load import dumpd
    from run_files import run_json

    from persimchat.memory.store import MemoryStore
    from persimchat.runs.run.resources import open_resources
    from persimchat.state.settings import Settings

    path = out / RUN
    settings = Settings.model_validate(run_json(path)["settings"])
    store = MemoryStore(str(path / "memory"))
    kept: dict[str, Any] = {}
    for found in store._of(RUN):
        got = found.get(include=["metadatas", "embeddings"])
        rows = zip(got["ids"], got["metadatas"] or [], got["embeddings"], strict=True)
        assert found.metadata
        kept[str(found.metadata["agent"])] = sorted((i, m["memory"], v.tobytes().hex()) for i, m, v in rows)
    store.close()
    async with open_resources(RUN, settings, path) as place:
        snapshot = await place.graph.aget_state(place.config)
    state = {name: value for name, value in snapshot.values.items() if name != "usage"}
    minds = list(state["agents"].values())
    alive = {mind["name"]: [*mind["alive"]] for mind in minds}
    unsaved = {mind["name"]: [whole["id"] for whole in mind["unsaved"]] for mind in minds}
    return {
        "state": json.loads(json.dumps({**state, "messages": dumpd(state["messages"])})),
        "next": list(snapshot.next),
        "memories": kept,
        "alive": alive,
        "unsaved": unsaved,
    }


def _child(task: Mapping[str, Any], pipe: int) -> None:
    """What a forked child does."""
    strike = Strike(task["point"])
    answer = asyncio.run(_follow(task, strike))
    if not answer["error"]:
        answer |= asyncio.run(_look(Path(task["out"])))
    with os.fdopen(pipe, "w") as file:
        json.dump(answer, file)


def main() -> None:
    """Answer tasks, each by a child of this process."""
    import chromadb  # noqa: F401
    import langgraph.checkpoint.sqlite.aio  # noqa: F401

    import persimchat.graph.kinds
    import persimchat.models.offline
    import persimchat.personas.scenario
    import persimchat.runs.run.resume  # noqa: F401

    answer_tasks(_child)


if __name__ == "__main__":
    main()
