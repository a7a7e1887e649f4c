"""Which measures of a companion are taken: how many calls they make, and their rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from persimchat.evaluation.companion.answers import accepted, repeats
from persimchat.evaluation.companion.latency import measure_latency
from persimchat.evaluation.companion.recall import measure_recall
from persimchat.evaluation.companion.rows import Row
from persimchat.evaluation.companion.scripts import make_script
from persimchat.evaluation.companion.trust_courses import TEMPERS, hold, lines_of, rows_of
from persimchat.graph.companion.calls import calls
from persimchat.state.place import Place
from persimchat.state.settings import Settings

What = Literal["recall", "trust", "latency"]
WHAT: Final[tuple[What, ...]] = get_args(What)


@dataclass(frozen=True)
class Plan:
    """What is measured.

    Attributes:
        what: recall, trust, latency.
        talks: before the questions of recall; the greatest number is that of latency, too.
        seeds: of the scripted persons, 0 and up.
        baselines: whether the questions are also asked with the whole history in the prompt.
    """

    what: tuple[What, ...]
    talks: tuple[int, ...]
    seeds: int
    baselines: bool = False

    def calls(self, settings: Settings) -> int:
        """About how many requests it makes: reflections and answers that are asked again come on top."""
        exchanges, over = self._exchanges()
        bare = 0
        if "latency" in self.what:
            made = sum(len(talk) for talk in make_script(1 + max(self.talks), settings.seed).talks)
            exchanges, over, bare = (
                exchanges + made,
                over + 1 + max(self.talks),
                sum(calls(settings, exchanges=made).values()),
            )
        return sum(calls(settings, exchanges=exchanges).values()) + over + bare

    def _exchanges(self) -> tuple[int, int]:
        """Exchanges and talks that are consolidated, of recall and trust."""
        exchanges = over = 0
        for seed in range(self.seeds):
            for talks in self.talks if "recall" in self.what else ():
                script = make_script(talks, seed)
                asked = len(script.questions) * (3 if self.baselines else 2)
                exchanges += sum(map(len, script.talks)) + asked + 1
                over += talks
            for temper in TEMPERS if "trust" in self.what else ():
                exchanges += len(lines_of(temper)) * (2 if temper == "friendly" else 1)
                over += 1
        return exchanges, over

    def worlds(self) -> Iterator[tuple[What, str, int, int]]:
        """What is measured in each world: its name, its number of talks, its seed."""
        for seed in range(self.seeds):
            for talks in self.talks if "recall" in self.what else ():
                yield "recall", f"recall-{talks}-{seed}", talks, seed
        for seed in range(self.seeds):
            if "trust" in self.what:
                yield "trust", f"trust-{seed}", 0, seed
        if "latency" in self.what:
            yield "latency", "latency", max(self.talks), 0


async def measured(
    what: What, name: str, talks: int, seed: int, *, folder: Path, place: Place, settings: Settings, baselines: bool
) -> list[Row]:
    """The rows of one world (`Plan.worlds`), or of the four worlds of the courses of trust.

    Args:
        what: is measured.
        name: of the world.
        talks: how many.
        seed: of the scripted person; added to the settings'.
        folder: in which worlds are made.
        place: its first agent is talked with.
        settings: of the worlds.
        baselines: as of `measure_recall`.

    Raises:
        PerSimChatError: a model failed, or the folder cannot be used.
    """
    own = settings.model_copy(update={"seed": settings.seed + seed})
    match what:
        case "recall":
            rows = await measure_recall(folder / name, place, own, talks, seed, baselines=baselines)
            return [*rows, *_of_answers(name, folder / name)]
        case "latency":
            return await measure_latency(folder / name, place, own, talks)
        case "trust":
            found: list[Row] = []
            for temper in TEMPERS:
                world = folder / f"{name}-{temper}"
                found += rows_of(name, await hold(world, place, own, temper))
                found += _of_answers(name, world)
            return found


def _of_answers(run: str, world: Path) -> list[Row]:
    return [*accepted(run, world), *repeats(run, world)]
