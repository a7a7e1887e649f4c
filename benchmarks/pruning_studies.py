"""What pruning leaves out, and what becomes of attention then: studies on the prompts of recorded runs.

Run: `python benchmarks/pruning_studies.py [RUN…] [--scorer smollm2] [--turns 3] [--query response] [--lambdas 0.6]`.
The prompts of the last utterances of each run are made again and scored; no model speaks. Without a run, a short
conversation is held with the offline model. These are the studies of Chu, Chen and Nakayama that no setting reaches:

- which pieces go, by the reducer (sum_mean, mean_mean: figure 4a) and by order (descending, ascending, random: figures
  2b and 2c): shares of pieces and words, what is left, and how far the choice is that of sum_mean, descending;
- what becomes of attention once they are gone (figure 4b): the scores of what is left, scored anew, as a share of all
  scores before, and the share of the three best;
- what one piece does (figure 4c): prompts that keep the best or the worst piece of a block and no other. With
  `--word MODEL`, that model words each of them ten times (`--times`), and dist-3 says how different the words are.

Diversity under another reducer or order would need conversations held with it; it is not measured here. Not built at
all: ten candidates at once, blocks of 250 or 750 words, and other names (tables 3 and 5).
"""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Final, Literal

from langchain_core.messages import BaseMessage

import persimchat
from persimchat.evaluation.diversity.texts import Vocabulary, dist
from persimchat.evaluation.published.figures import figures
from persimchat.models.attention.scores import Scorer
from persimchat.models.attention.scoring import scorer_of
from persimchat.models.registry import close_models, ready_model
from persimchat.nodes.minds.pruning import Prompt
from persimchat.prompts.fitting import Question
from persimchat.prompts.spans import Unit, spans, units_of, without
from persimchat.runs.folder.reading import read_run
from persimchat.runs.run.at_turn import PastPrompt, past_prompts
from persimchat.state.errors import InputError, MissingExtraError
from persimchat.state.minds.pruning import Order, rounded, select
from persimchat.state.minds.speech import words
from persimchat.state.settings import Settings

Reducer = Literal["sum_mean", "mean_mean"]
REDUCERS: Final[tuple[Reducer, ...]] = ("sum_mean", "mean_mean")
ORDERS: Final[tuple[Order, ...]] = ("descending", "ascending", "random")
STRENGTHS: Final = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 0.95)
"""λ between its ends, at which nothing or everything goes."""
BEST: Final = 3
MEMORIES: Final = "memories"

Place = tuple[int, int]


@dataclass(frozen=True)
class Scene:
    """A prompt with its removable pieces, and the words that were said from it.

    Attributes:
        past: the prompt, as it was.
        units: its removable pieces.
        text: the utterance, which looks at the pieces; empty for the end of the prompt.
    """

    past: PastPrompt
    units: tuple[Unit, ...]
    text: str

    @classmethod
    def of(cls, past: PastPrompt, *, query: str = "response") -> Scene:
        """A scene from a recorded prompt; with `query="prompt"` without the words that were said from it."""
        return cls(past, tuple(units_of(past.prompt.blocks)), past.text if query == "response" else "")

    def lacking(self, gone: Iterable[int]) -> Scene:
        """The scene without some pieces, by their number."""
        places: set[Place] = {(self.units[n].block, self.units[n].item) for n in gone}
        prompt: Prompt = replace(self.past.prompt, blocks=tuple(without(self.past.prompt.blocks, places)))
        return replace(self, past=replace(self.past, prompt=prompt), units=tuple(units_of(prompt.blocks)))

    @property
    def question(self) -> Question:
        """The prompt as a request."""
        return Question.of(self.past.prompt.template, self.past.prompt.filled(self.past.mind))

    def scores(self, scorer: Scorer, reducer: Reducer = "sum_mean") -> list[float]:
        """The scores of its pieces, six digits each."""
        asked = self.question
        system, user = (str(message.text) for message in asked.messages)
        places = spans(user, asked.values["blocks"], self.units)
        return [rounded(score) for score in self._read(scorer, system, user, places, reducer)]

    def _read(
        self, scorer: Scorer, system: str, user: str, places: Sequence[Place], reducer: Reducer
    ) -> Sequence[float]:
        if not places:
            return ()
        return scorer.scores(system, user, places, [self.text] if self.text else [], reducer=reducer).values


async def scenes_of(folder: Path, turns: int, *, query: str = "response") -> list[Scene]:
    """The scenes of a run's last utterances.

    Raises:
        InputError: it is no run of minds, or its states are not kept.
    """
    record = read_run(folder)
    numbers = [row.turn for row in record.utterances if row.edited_by is None][-turns:]
    return [Scene.of(past, query=query) for past in await past_prompts(record, numbers)]


# ── which pieces go ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Gone:
    """What goes at one λ, as means over prompts.

    Attributes:
        reducer: how a piece's tokens were put together.
        order: which pieces go first.
        strength: λ.
        units: share of the pieces that go.
        words: share of their words.
        memories_left: share of memories among the pieces that are left; None if none is left anywhere.
        alike: how far the pieces are those of sum_mean, descending: Jaccard's index, 0 to 1; None where neither leaves
            anything out.
    """

    reducer: Reducer
    order: Order
    strength: float
    units: float
    words: float
    memories_left: float | None
    alike: float | None


def what_goes(scenes: Sequence[Scene], scorer: Scorer, strengths: Sequence[float] = STRENGTHS) -> list[Gone]:
    """Which pieces go, by reducer, order and λ."""
    scored = {reducer: [scene.scores(scorer, reducer) for scene in scenes] for reducer in REDUCERS}
    lengths = [[len(words(unit.text)) for unit in scene.units] for scene in scenes]
    usual = {s: [set(select(scores, s)) for scores in scored["sum_mean"]] for s in strengths}
    found = []
    for reducer, order, strength in product(REDUCERS, ORDERS, strengths):
        chosen = [set(select(one, strength, order=order, seed=n)) for n, one in enumerate(scored[reducer])]
        left = [
            unit.tag == MEMORIES
            for scene, gone in zip(scenes, chosen, strict=True)
            for n, unit in enumerate(scene.units)
            if n not in gone
        ]
        pairs = [(one, other) for one, other in zip(chosen, usual[strength], strict=True) if one | other]
        found.append(
            Gone(
                reducer,
                order,
                strength,
                units=_mean(len(gone) / len(one) for gone, one in zip(chosen, lengths, strict=True) if one),
                words=_mean(
                    sum(one[n] for n in gone) / sum(one) for gone, one in zip(chosen, lengths, strict=True) if sum(one)
                ),
                memories_left=fmean(left) if left else None,
                alike=_mean(len(one & other) / len(one | other) for one, other in pairs) if pairs else None,
            )
        )
    return found


# ── what becomes of attention ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class After:
    """The scores of what is left, scored anew, as means over prompts.

    Attributes:
        strength: λ.
        removed: share of the scores that went.
        lost: the share by which the sum of scores fell, scored anew; less than `removed` where attention moves on.
        best: the share of the three best among the scores that are left; None if nothing is left.
    """

    strength: float
    removed: float
    lost: float
    best: float | None


def after_removal(scenes: Sequence[Scene], scorer: Scorer, strengths: Sequence[float] = STRENGTHS) -> list[After]:
    """What becomes of attention once the pieces are gone, by λ; λ = 0 first."""
    before = [(scene, scores) for scene in scenes if math.fsum(scores := scene.scores(scorer)) > 0]
    found = []
    for strength in (0.0, *strengths):
        removed, lost, best = list[float](), list[float](), list[float]()
        for scene, scores in before:
            total, gone = math.fsum(scores), select(scores, strength)
            left = scene.lacking(gone).scores(scorer) if gone else scores
            rest = math.fsum(left)
            removed.append(math.fsum(scores[n] for n in gone) / total)
            lost.append(1 - rest / total)
            if rest > 0:
                best.append(math.fsum(sorted(left, reverse=True)[:BEST]) / rest)
        found.append(After(strength, _mean(removed), _mean(lost), fmean(best) if best else None))
    return found


# ── one piece alone ────────────────────────────────────────────────────────────────────────────────────────────────

Word = Callable[[Sequence[BaseMessage], int], Awaitable[str]]
"""Words a prompt, with a seed."""


def kept_alone(scene: Scene, scores: Sequence[float], tag: str, *, best: bool) -> Scene | None:
    """The scene with one piece: the one of a block with the highest score, or the lowest; None if it has none.

    Args:
        scene: the whole one.
        scores: of its pieces.
        tag: of the block.
        best: whether the highest counts. Of equal scores the first piece stays.
    """
    own = [n for n, unit in enumerate(scene.units) if unit.tag == tag]
    if not own:
        return None
    kept = max(own, key=lambda n: scores[n]) if best else min(own, key=lambda n: scores[n])
    return scene.lacking(n for n in range(len(scene.units)) if n != kept)


@dataclass(frozen=True)
class Alone:
    """How different words are with one piece of information alone, as a mean over prompts.

    Attributes:
        kept: what was kept: a block's best or worst piece, or "nothing".
        prompts: how many prompts have such a block.
        dist_3: different 3-grams over all 3-grams of a prompt's wordings; None if there is none.
    """

    kept: str
    prompts: int
    dist_3: float | None


async def retain_one(scenes: Sequence[Scene], scorer: Scorer, word: Word, times: int) -> list[Alone]:
    """How different words are with nothing left, and with the best or worst piece of each block alone."""
    each: dict[str, list[float | None]] = {}
    for scene in scenes:
        scores = scene.scores(scorer)
        alone = {"nothing": scene.lacking(range(len(scene.units)))}
        for tag, best in product(dict.fromkeys(unit.tag for unit in scene.units), (True, False)):
            kept = kept_alone(scene, scores, tag, best=best)
            if kept is not None:
                alone[f"{tag}, {'best' if best else 'worst'}"] = kept
        for name, one in alone.items():
            texts = await worded(one, word, times)
            vocabulary = Vocabulary()
            each.setdefault(name, []).append(dist([[vocabulary.numbers(words(text))] for text in texts], 3))
    return [
        Alone(name, len(found), fmean(there) if (there := [one for one in found if one is not None]) else None)
        for name, found in each.items()
    ]


async def worded(scene: Scene, word: Word, times: int) -> list[str]:
    """What a model says from a scene, with a seed of its own each time."""
    asked = scene.question.messages
    return list(await asyncio.gather(*(word(asked, seed) for seed in range(times))))


def spoken_by(model: str) -> Word:
    """Words of a model, by its name."""

    async def word(messages: Sequence[BaseMessage], seed: int) -> str:
        client = await ready_model(model, Settings(model=model, seed=seed), streaming=False)
        return str((await client.ainvoke(list(messages))).text)

    return word


def _mean(values: Iterable[float]) -> float:
    there = list(values)
    return fmean(there) if there else 0.0


# ── the tables ─────────────────────────────────────────────────────────────────────────────────────────────────────


def print_goes(rows: Sequence[Gone]) -> None:
    """Print which pieces go, and what is published of them."""
    print(f"{'reducer':10s}{'order':12s}{'λ':>6s}{'pieces':>9s}{'words':>9s}{'memories left':>15s}{'alike':>8s}")
    for row in rows:
        print(
            f"{row.reducer:10s}{row.order:12s}{row.strength:6g}{row.units:9.2f}{row.words:9.2f}"
            f"{_shown(row.memories_left):>15s}{_shown(row.alike):>8s}"
        )
    left = figures("pruning").table_of("share_left")
    for published in left.rows if left else ():
        print(f"published, λ = 0.95, {published.name}: {published.values[0]:.1%} of what is left are {published.of}")


def print_after(rows: Sequence[After]) -> None:
    """Print what becomes of attention, with what is published beside it."""
    table = figures("pruning").table_of("attention_lost")
    published = {
        alternative["pruning.lambda"]: row.values[0]
        for row in (table.rows if table else ())
        for alternative in row.settings
    }
    print(f"{'λ':>6s}{'scores gone':>13s}{'lost, anew':>12s}{'published':>11s}{'three best':>12s}")
    for row in rows:
        beside = _shown(published.get(row.strength), none="")
        print(f"{row.strength:6g}{row.removed:13.2f}{row.lost:12.2f}{beside:>11s}{_shown(row.best):>12s}")


def print_alone(rows: Sequence[Alone]) -> None:
    """Print what one piece does, with what is published."""
    print(f"{'kept':34s}{'prompts':>8s}{'dist-3':>9s}")
    for row in rows:
        print(f"{row.kept:34s}{row.prompts:8d}{_shown(row.dist_3):>9s}")
    table = next((one for one in figures("pruning").tables if "one piece" in one.about), None)
    for published in table.rows if table else ():
        print(f"published, of whole dialogues, kept {published.of or published.name}: {published.values[0]:.3f}")


def _shown(value: float | None, none: str = "–") -> str:
    return f"{value:.2f}" if value is not None else none


async def _held(folder: Path) -> Path:
    """A short conversation with the offline model."""
    result = await persimchat.asimulate(
        "Should our town keep its ferry?", participants=2, model="offline", max_messages=6, out=str(folder)
    )
    assert result.folder is not None
    return Path(result.folder)


def main() -> None:
    """Make the prompts of runs again, and print the studies' tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="folders of runs")
    parser.add_argument("--scorer", default="smollm2")
    parser.add_argument("--turns", type=int, default=3, help="last utterances of each run")
    parser.add_argument("--query", choices=("response", "prompt"), default="response")
    parser.add_argument("--word", metavar="MODEL", help="the model that words prompts with one piece alone")
    parser.add_argument("--times", type=int, default=10, help="wordings of each such prompt")
    parser.add_argument("--lambdas", type=float, nargs="+", default=STRENGTHS)
    given = parser.parse_args()
    try:
        scorer = scorer_of(given.scorer)
        with tempfile.TemporaryDirectory() as scratch:
            runs = given.runs or [asyncio.run(_held(Path(scratch)))]
            scenes = [scene for run in runs for scene in asyncio.run(scenes_of(run, given.turns, query=given.query))]
    except (InputError, MissingExtraError) as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    pieces = fmean(len(scene.units) for scene in scenes)
    print(f"{len(scenes)} prompts with {pieces:.0f} removable pieces on average; scorer {given.scorer}")
    print_goes(what_goes(scenes, scorer, given.lambdas))
    print_after(after_removal(scenes, scorer, given.lambdas))
    if given.word:
        print_alone(asyncio.run(_with_words(scenes, scorer, given.word, given.times)))


async def _with_words(scenes: Sequence[Scene], scorer: Scorer, model: str, times: int) -> list[Alone]:
    try:
        return await retain_one(scenes, scorer, spoken_by(model), times)
    finally:
        await close_models()


if __name__ == "__main__":
    main()
