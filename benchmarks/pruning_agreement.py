"""Whose scores agree with a model's attention: for `python benchmarks/pruning.py agree` (docs/pruning.md).

SmolLM2 words four responses to each prompt. Its attention from three of them is the reference. Scores of other origins
are set beside it: the fourth response, another model's words, the prompt's end, half of the layers, and scores that
need no attention.
"""

from __future__ import annotations

import math
import random
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from persimchat.evaluation.statistics.effects import spearman
from persimchat.evaluation.statistics.intervals import mean_over_tasks, quartiles
from persimchat.models.attention.forward import Cache, Llama
from persimchat.models.attention.scores import per_piece
from persimchat.models.attention.scoring import GgufModel, scorer_of
from persimchat.models.registry import close_models, ready_model
from persimchat.nodes.minds import pruning as method
from persimchat.personas.scenario import load_scenario
from persimchat.prompts.fitting import Question
from persimchat.prompts.spans import spans, units_of
from persimchat.runs.folder.reading import read_run
from persimchat.runs.run.at_turn import PastPrompt, past_prompts
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.minds.pruning import Pruning, rounded, select
from persimchat.state.settings import Settings

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SCENARIOS = ("adversarial", "family", "ice_cream", "tavern")
"""Each has four participants."""
LAMBDAS = (0.3, 0.6, 0.9)
OWN, ANOTHER, END = "three own responses", "another own response", "the prompt's last token"
RESPONSES, RESPONSE_TOKENS = 4, 48
FEWEST = 5
"""Prompts with fewer pieces of information are left out."""
LAST = 16


@dataclass(frozen=True)
class Case:
    """One prompt: scores of its pieces of information by origin, and their tokens."""

    name: str
    tokens: list[int]
    scores: dict[str, list[float]]


def compared(case: Case, origin: str, reference: str = OWN) -> dict[str, float | None]:
    """How one origin's scores agree with the reference's.

    Returns:
        Spearman's rho of the scores and of the scores per token (None if all are equal), and Jaccard's similarity of
        what is removed, by the way in which the share is filled and by lambda.
    """
    ours, theirs = ([rounded(score) for score in case.scores[key]] for key in (origin, reference))
    each = [[score / max(1, n) for score, n in zip(scores, case.tokens, strict=True)] for scores in (ours, theirs)]
    found = {"rho": spearman(ours, theirs).value, "rho per token": spearman(*each).value}
    for fill in ("skip", "reach"):
        for share in LAMBDAS:
            gone, wanted = (set(select(scores, share, fill=fill)) for scores in (ours, theirs))
            both = gone | wanted
            found[f"{fill} {share}"] = len(gone & wanted) / len(both) if both else 1.0
    return found


def summed(cases: Sequence[Case]) -> list[list[str]]:
    """A row an origin: the median of each figure over the prompts, and quartiles of the first two."""
    rows = []
    for origin in (key for key in cases[0].scores if key != OWN):
        figures = [compared(case, origin) for case in cases]
        row = [origin]
        for key in figures[0]:
            spread = quartiles([one[key] for one in figures])
            value = "–" if spread.median is None else f"{spread.median:.2f}"
            row.append(f"{value} ({spread.low:.2f}–{spread.high:.2f})" if "rho" in key and value != "–" else value)
        rows.append(row)
    return rows


def difference(cases: Sequence[Case], first: str, second: str, key: str) -> str:
    """By how much one origin agrees better than another: the mean over prompts with an interval."""
    pairs = [(compared(case, first)[key], compared(case, second)[key]) for case in cases]
    values = [a - b for a, b in pairs if a is not None and b is not None]
    found = mean_over_tasks(values)
    bounds = "" if found.low is None else f" [{found.low:+.3f}, {found.high:+.3f}]"
    return f"{key}: {statistics.fmean(values):+.3f}{bounds}, n {len(values)}"


def from_attention(model: GgufModel, past: PastPrompt, asked: Question, responses: Sequence[str]) -> Case:
    """All scores of a prompt that come from attention, with one reading of it, and the tokens of its pieces.

    Args:
        model: the scorer's.
        past: the prompt, as recorded.
        asked: the prompt, as a question.
        responses: four of the scorer's own.
    """
    system, user = (str(message.text) for message in asked.messages)
    units = units_of(past.prompt.blocks)
    places = spans(user, asked.values["blocks"], units)
    prompt, begins = model.prompt(system, user)
    llama = model.llama
    answers = [model.encode(model.neutral(words)).ids for words in (*responses, past.text)]
    cache = llama.cache(len(prompt) + max(map(len, answers)))
    llama.read(prompt[:-LAST], cache)
    ends = np.zeros((LAST, len(prompt)))
    for row, token in zip(ends, prompt[-LAST:], strict=True):
        looked_at = llama.read([token], cache, last=1)
        row[: len(looked_at)] = looked_at

    def seen(answer: list[int], by: Llama = llama, kept: Cache = cache) -> np.ndarray:
        kept.length = len(prompt)
        return by.read(answer, kept, last=len(answer))[: len(prompt)]

    layers = len(llama.layers) // 2
    half = replace(llama, layers=llama.layers[:layers], shape=replace(llama.shape, layers=layers))
    halved = Cache(cache.keys[:layers], cache.values[:layers], len(prompt))
    looked = [seen(answer) for answer in answers]
    rows = {
        OWN: np.mean(looked[:3], axis=0),
        "one of these three": looked[0],
        ANOTHER: looked[3],
        "another model's words": looked[4],
        END: ends[-1],
        f"the prompt's last {LAST} tokens": ends.mean(0),
        "the first half of the layers, one response": seen(answers[0], half, halved),
    }
    pieces = {origin: list(per_piece("smollm2", row, begins, places, "sum_mean")) for origin, row in rows.items()}
    bounds = np.searchsorted(begins, np.array(places))
    return Case(f"{past.settings.seed}-{past.turn}", (bounds[:, 1] - bounds[:, 0]).tolist(), pieces)


async def from_words(past: PastPrompt, asked: Question, response: str) -> dict[str, list[float]]:
    """All scores of a prompt that need no attention."""
    found: dict[str, list[float]] = {}
    for name, by, words in (
        ("length", "length", []),
        ("lexical embedding × tokens: topic and last two utterances", "embedding", []),
        ("lexical embedding × tokens: one own response", "embedding", [response]),
        ("random", "random", []),
    ):
        settings = past.settings.model_copy(update={"pruning": Pruning(strength=0.5, method=by)})
        found[name] = (await method._scores(asked, past.prompt, past.mind, settings, words)).values
    found["position in the prompt"] = [float(n + 1) for n in range(len(found["length"]))]
    return found


async def own_responses(asked: Question, count: int = RESPONSES, tokens: int = RESPONSE_TOKENS) -> list[str]:
    """What SmolLM2 answers to a prompt, at temperature 0.8 and top-p 0.9, each with a seed of its own."""
    found = []
    for seed in range(count):
        client = await ready_model("smollm2", Settings(model="smollm2", seed=seed, timeout_s=600))
        answer = await client.bind(temperature=0.8, top_p=0.9, max_tokens=tokens, seed=seed).ainvoke(asked.messages)
        found.append(str(answer.text).strip() or "…")
    return found


async def recorded(runs: Sequence[str], prompts: int) -> list[PastPrompt]:
    """Prompts of these runs, or of conversations that are held now, four participants each, at turns 2 to 10."""
    if runs:
        found = []
        for run in runs:
            record = read_run(Path(run))
            found += await past_prompts(record, [row.turn for row in record.utterances][1:])
        return random.Random(0).sample(found, min(prompts, len(found)))
    each = math.ceil(prompts / len(SCENARIOS))
    turns = sorted({round(2 + k * 8 / max(1, each - 1)) for k in range(each)})
    found = []
    with tempfile.TemporaryDirectory() as place:
        for seed, name in enumerate(SCENARIOS[:prompts]):
            scenario = load_scenario(EXAMPLES / f"{name}.yaml")
            settings = Settings(model="offline", max_messages=max(turns), closing="off", seed=seed)
            async for _ in run_simulation(scenario, settings, out=Path(place), run=name):
                pass
            found += await past_prompts(read_run(Path(place) / name), turns)
    return found


async def cases_of(runs: Sequence[str], prompts: int, note: Callable[[str], None]) -> list[Case]:
    """One case a prompt. `note` gets a line after each."""
    scorer: Any = scorer_of("smollm2")
    cases = []
    for past in await recorded(runs, prompts):
        asked = Question.of(past.prompt.template, past.prompt.filled(past.mind))
        responses = await own_responses(asked)
        case = from_attention(scorer.model, past, asked, responses)
        if len(case.tokens) >= FEWEST:
            case.scores.update(await from_words(past, asked, responses[0]))
            cases.append(case)
        note(f"{len(cases)}: turn {past.turn}, {len(case.tokens)} pieces, {sum(case.tokens)} of their tokens")
    await close_models()
    return cases
