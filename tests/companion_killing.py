"""A companion's world killed with SIGKILL at points that can be named: a driver whose children talk, die, and go on.

A child says three messages, each under an id, and one goodbye; a later one says again what got no answer, as a client
does, and looks at what the world then holds.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))

from forking import answer_tasks
from killing import Strike

WORDS = {
    "one": "My sister is called Mira.",
    "two": "I live in Porto, by the harbour.",
    "three": "Actually her name is Mara.",
    "four": "Goodbye!",
}
"""What is said, by id of the exchange."""
PLACE = {
    "world": "Lake",
    "clock": {"mode": "steps"},
    "agents": [{"persona": {"name": "Oda Brandvik", "description": "Sells tickets at the ferry stage."}}],
}


class Driver:
    """Asks the driver's process for children; `with Driver() as driver:`."""

    def __enter__(self) -> Driver:
        self._process = Popen([sys.executable, __file__], stdin=PIPE, stdout=PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)

    def child(self, world: Path, *, point: tuple[str, int] | None = None) -> dict[str, Any]:
        """Have a child talk in a world, and look at it.

        Returns:
            `status` (0, or minus the signal) and, where it lived, `sites` by how often it came by, and what
            `_look` finds.
        """
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"world": str(world), "point": point}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


def _install(strike: Strike) -> None:
    from persimchat.graph.companion.records import Records
    from persimchat.memory.store import MemoryStore
    from persimchat.models.exchange import Exchange
    from persimchat.runs.companion.folder import Threads
    from persimchat.runs.log import Log

    strike.around(Exchange, "judge", "judge")
    strike.around(Exchange, "stream", "stream")
    strike.around(Threads, "aput", "aput")
    strike.around(Threads, "aput_writes", "aput_writes")
    strike.around(Threads, "_delete_others", "delete")
    strike.around(Records, "keep", "keep")
    strike.around(MemoryStore, "save", "save")
    strike.around(Log, "append", "log")


async def _talk(folder: Path, strike: Strike) -> dict[str, Any]:
    from persimchat.runs.companion.events import Answered
    from persimchat.runs.companion.folder import companion_settings
    from persimchat.runs.companion.world import opened_world
    from persimchat.state.companion.place import Place

    _install(strike)
    place, told = Place.model_validate(PLACE), folder.with_suffix(".told")
    settings = companion_settings(place, environment={}, model="offline", **{"companion.overlap": "off"})
    async with opened_world(folder, place, settings) as world:
        companion = await world.companion("Oda", "Petr")
        await companion.settled()
        for name, words in WORDS.items():
            async for event in companion.say(words, id=name):
                if isinstance(event, Answered):
                    with told.open("a") as file:
                        file.write(f"{name}\n")
        await companion.settled()
        async for _ in companion.end():
            pass
        tie, mind = await companion.tie(), await world.mind("Oda")
        assert tie is not None and mind is not None
        exchanges = await companion.exchanges()
        return {
            "exchanges": [[one[name] for name in ("id", "said", "utterance", "trust", "end")] for one in exchanges],
            "told": told.read_text().split(),
            "digested": mind["companion"]["digested"],
            "talks": tie.talks,
            "over": len(tie.over) + (tie.talk is not None),
            "trust": tie.trust,
            "facts": [[fact.id, fact.statement, fact.in_force] for fact in tie.facts],
            "alive": sorted(mind["alive"]),
            "unsaved": len(mind["unsaved"]),
            "pending": len(companion.pending),
        }


def _child(task: Mapping[str, Any], pipe: int) -> None:
    strike = Strike(task["point"])
    answer = asyncio.run(_talk(Path(task["world"]), strike))
    with os.fdopen(pipe, "w") as file:
        json.dump({**answer, "sites": dict(strike.seen)}, file)


def main() -> None:
    """Answer tasks, each by a child of this process."""
    import chromadb  # noqa: F401

    import persimchat.models.offline
    import persimchat.runs.companion.world  # noqa: F401

    answer_tasks(_child)


if __name__ == "__main__":
    main()
