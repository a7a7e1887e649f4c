"""Pruning: which pieces of information an utterance's prompt lacks (Chu, Chen, Nakayama; state/minds/pruning.py).

The whole prompt is made and fitted to the context, its removable pieces are scored, and those that `select` chooses are
left out. Scores are recorded and taken from the record in a replay, because the last digit of an arithmetic may differ
between machines.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...memory.embedding_texts import embed
from ...memory.retrieval import cosines
from ...models.asking import all_asked, speak
from ...models.attention.scores import Scorer
from ...models.attention.scoring import reading, scorer_of
from ...models.exchange import Exchange
from ...models.fitted import Fitted, fit
from ...models.ledger import NotRecorded
from ...models.naming import ModelName, parse_model_name
from ...models.recording import Worked
from ...models.registry import model_name, ready_model
from ...prompts import templates
from ...prompts.blocks import Block, avoid, estimated_tokens
from ...prompts.fitting import Dropped, Question
from ...prompts.spans import Unit, spans, together, units_of, without
from ...state.errors import ModelError
from ...state.minds.mind import Step
from ...state.minds.pruning import TEXT, Pruned, PrunedItem, Score, rounded, select
from ...state.minds.speech import words
from ...state.settings import Settings
from .context import question

MODULE: Final = "pruning"
_SPEAKING: Final = "natural_language"
_LAST: Final = 2
"""How many last utterances, beside the topic, pieces of information are compared with."""


@dataclass(frozen=True)
class Prompt:
    """What an utterance is worded from.

    Attributes:
        template: the template's name.
        blocks: the blocks, in the order of the setting `prompt_order`.
        values: the template's other values.
        memory_ids: the ids of the memories by their numbers in the prompt.
        left_out: the pieces of information that pruning left out of it, in their blocks.
    """

    template: str
    blocks: tuple[Block, ...]
    values: Mapping[str, Any] = field(default_factory=dict)
    memory_ids: Mapping[int, str] = field(default_factory=dict)
    left_out: tuple[Block, ...] = ()

    def filled(self, mind: Step, avoided: Sequence[str] | None = None) -> dict[str, Any]:
        """All values of the template.

        Args:
            mind: the speaker's.
            avoided: words to avoid; those that the mind is to avoid if None.
        """
        shown = mind.get("avoid", ()) if avoided is None else avoided
        return {**self.values, "blocks": [*self.blocks, avoid(shown)]}


async def pruned(prompt: Prompt, mind: Step, settings: Settings) -> tuple[Prompt, Pruned | None]:
    """A prompt without what the setting `pruning` leaves out, and the record of it.

    Returns:
        The prompt, unchanged if pruning is off; and the record, None if pruning is off.

    Raises:
        ModelError: a first response or the scoring failed (TransientModelError if trying again may help).
        PromptTooLong: the prompt fits the context of the model, or of the scorer, not even without its memories.
        InputError: the scorer cannot be used.
        BudgetExhausted: a first response would have exceeded a budget.
    """
    if not settings.pruning.active:
        return prompt, None
    whole, gone = _without_whole_blocks(prompt, settings)
    scores: list[float] = []
    responses: list[str] = []
    if settings.pruning.strength > 0:
        responses = await _first_responses(whole, mind, settings)
        whole, scores = await _scored(whole, mind, settings, responses)
    return _result(whole, gone, scores, mind, settings, len(responses))


async def foreseen(prompt: Prompt, mind: Step, settings: Settings) -> Pruned:
    """What would be left out, worked out without any request: the end of the prompt looks, and nothing is recorded.

    Args:
        prompt: as `pruned`.
        mind: as `pruned`.
        settings: `pruning` counts, except for its first responses.

    Raises:
        ModelError, InputError: as `pruned`.
    """
    with templates(settings.prompts):
        whole, gone = _without_whole_blocks(prompt, settings)
        asked = Question.of(whole.template, whole.filled(mind))
        scores = await _scores(asked, whole, mind, settings, []) if settings.pruning.strength > 0 else _Scores([])
        record = _result(whole, gone, scores.values, mind, settings, 0)[1]
    return record.model_copy(update={"query": "prompt"})


def _without_whole_blocks(prompt: Prompt, settings: Settings) -> tuple[Prompt, list[Unit]]:
    """The prompt without the blocks that always go, and their pieces."""
    places = {settings.prompt_order.index(letter) for letter in settings.pruning.remove}
    gone = [unit for unit in units_of(prompt.blocks, prompt.memory_ids) if unit.block in places]
    left = without(prompt.blocks, {(unit.block, unit.item) for unit in gone})
    return replace(prompt, blocks=tuple(left)), gone


async def _first_responses(prompt: Prompt, mind: Step, settings: Settings) -> list[str]:
    """Responses to the whole prompt, which nobody hears; each is asked with a seed of its own, all at once."""
    offline = parse_model_name(model_name(settings, mind["name"], MODULE)).provider == "offline"

    async def response(k: int) -> str:
        own = settings if offline else settings.model_copy(update={"seed": settings.seed + k})
        asked = question(mind, own, MODULE)
        spoken = await speak(prompt.template, **asked, part=f"raw:{k}", quietly=True, **prompt.filled(mind))
        return spoken.text

    return await all_asked(response(k) for k in range(settings.pruning.asks_first))


class _Told(BaseModel):
    """The answer of a scoring, as it is recorded: scores, and how much was left out before, because it did not fit."""

    model_config = ConfigDict(extra="ignore", strict=True)

    scores: list[Score]
    memories: Annotated[int, Field(ge=0, exclude_if=lambda value: not value)] = 0
    utterances: Annotated[int, Field(ge=0, exclude_if=lambda value: not value)] = 0


@dataclass(frozen=True)
class _Scores:
    """Scores of the removable pieces of a prompt, and what was left out of it before, because it did not fit."""

    values: list[float]
    dropped: Dropped = Dropped()
    tokens: int = 0
    context: int | None = None


async def _scored(
    prompt: Prompt, mind: Step, settings: Settings, responses: Sequence[str]
) -> tuple[Prompt, list[float]]:
    """The prompt as far as it fits, and the scores of its removable pieces, in its order."""
    asked = Question.of(prompt.template, prompt.filled(mind))
    name, turn, pruning = mind["name"], mind["situation"]["turn"], settings.pruning
    by = f"attention:{pruning.scorer}" if pruning.method == "attention" else pruning.method
    exchange = Exchange(settings, name, MODULE, turn, ModelName(by, "offline", by), part="score")

    async def work() -> Worked:
        found = await _scores(asked, prompt, mind, settings, responses, fits=True)
        told = _Told(scores=found.values, memories=found.dropped.memories, utterances=found.dropped.utterances)
        return Worked(told.model_dump_json(), found.tokens, found.dropped, found.context)

    on = replace(asked, messages=[*asked.messages, *(AIMessage(text) for text in responses)])
    answer = await exchange.work_out(on, work, takes_time=pruning.method == "attention")
    where = f"agent {name}, module {MODULE}, turn {turn}"
    try:
        told = _Told.model_validate_json(answer)
    except ValidationError as error:
        raise NotRecorded(
            "the run's record has no scores where they should be", where=where, remedy="Hold the run anew."
        ) from error
    dropped = Dropped(told.memories, told.utterances)
    fitting = replace(prompt, blocks=tuple(asked.lacking(dropped).values["blocks"][: len(prompt.blocks)]))
    if len(told.scores) != len(units_of(fitting.blocks)):
        raise NotRecorded(
            f"the run's record has {len(told.scores)} scores of a prompt that now has other pieces of information",
            where=where,
            remedy="Replay it with the version that held it, or hold it anew.",
        )
    return fitting, told.scores


async def _scores(
    asked: Question,
    prompt: Prompt,
    mind: Step,
    settings: Settings,
    responses: Sequence[str],
    *,
    fits: bool = False,
) -> _Scores:
    """Score a prompt.

    Args:
        asked: the prompt as a question.
        prompt: its blocks.
        mind: the speaker's.
        settings: `pruning`, `embedding` and the speaker's model count.
        responses: words that look at the pieces of information; empty for the end of the prompt.
        fits: whether the prompt is first fitted to the context of the speaker's model.
    """
    pruning, dropped, scorer, context = settings.pruning, Dropped(), None, None
    if fits:
        fitted = await _fitted(asked, mind, settings)
        dropped, context = fitted.dropped, fitted.context
    if pruning.method == "attention":
        scorer = await reading(scorer_of, pruning.scorer)
        size = _counted(scorer, responses)
        _, own = await reading(asked.shortened_to, scorer.context, size=size)
        dropped = Dropped(*map(max, dropped, own))
        context = min(scorer.context, context or scorer.context)
    fitting = asked.lacking(dropped)
    blocks = fitting.values["blocks"][: len(prompt.blocks)]
    units = units_of(blocks)
    texts = [unit.text for unit in units]
    if not units:
        return _Scores([], dropped, context=context)
    lengths = [estimated_tokens(text) for text in texts]
    if scorer is not None:
        system, user = (str(message.text) for message in fitting.messages)
        # The pieces stand in the prompt in this order, so their places are found by one search.
        places = spans(user, fitting.values["blocks"], units)
        try:
            read = await reading(scorer.scores, system, user, places, responses)
        except ModelError as error:
            raise type(error)(
                error.what,
                model=error.model,
                agent=mind["name"],
                module=MODULE,
                turn=mind["situation"]["turn"],
                remedy=error.remedy,
            ) from error
        return _Scores([rounded(score) for score in read.values], dropped, read.tokens, context)
    if pruning.method == "embedding":
        nearness = await _nearness(texts, mind, settings, responses)
        values = [length * near for length, near in zip(lengths, nearness, strict=True)]
    elif pruning.method == "length":
        values = [float(length) for length in lengths]
    else:
        drawn = random.Random(f"{settings.seed}:{mind['name']}:{mind['situation']['turn']}")
        values = [drawn.random() for _ in units]
    return _Scores([rounded(value) for value in values], dropped, context=context)


async def _fitted(asked: Question, mind: Step, settings: Settings) -> Fitted:
    """The prompt as far as it fits the context of the speaker's model."""
    turn = mind["situation"]["turn"]
    exchange = Exchange.on_behalf(settings, mind["name"], _SPEAKING, turn)
    client = await ready_model(exchange.name.written, settings.of_module(_SPEAKING))
    return await fit(exchange, client, asked)


def _counted(scorer: Scorer, responses: Sequence[str]) -> Callable[[list[BaseMessage]], int]:
    """How many tokens a prompt and the longest response have for a scorer."""

    def count(messages: list[BaseMessage]) -> int:
        system, user = str(messages[0].text), str(messages[1].text)
        return max(scorer.count(system, user, response) for response in responses or ("",))

    return count


async def _nearness(texts: Sequence[str], mind: Step, settings: Settings, responses: Sequence[str]) -> list[float]:
    """How similar each text is to the responses on average, or to the last utterances and the topic; 0 to 1."""
    situation = mind["situation"]
    last = [utterance["text"] for utterance in situation["recent"][-_LAST:]]
    cues = list(responses) or ["\n".join([*last, situation["topic"]])]
    vectors = await embed(settings, [*cues, *texts], agent=mind["name"])
    found = cosines(vectors[: len(cues)], vectors[len(cues) :])
    return [math.fsum(max(0.0, float(value)) for value in column) / len(cues) for column in found.T]


def _result(
    prompt: Prompt,
    gone: Sequence[Unit],
    scores: Sequence[float],
    mind: Step,
    settings: Settings,
    responses: int,
) -> tuple[Prompt, Pruned]:
    """The prompt without the pieces that are chosen, and the record.

    Args:
        prompt: as it was scored.
        gone: the pieces of blocks that always go.
        scores: of the removable pieces of the prompt, in its order; empty if nothing was scored.
        mind: the speaker's.
        settings: of the simulation.
        responses: how many first responses were asked for.
    """
    pruning = settings.pruning
    units = units_of(prompt.blocks, prompt.memory_ids)
    chosen = set(select(scores, pruning.strength, fill=pruning.fill)) if scores else set()
    left = without(prompt.blocks, {(units[n].block, units[n].item) for n in chosen})
    scored = [(unit, scores[n] if scores else None, n in chosen) for n, unit in enumerate(units)]
    rows = [*scored, *((unit, None, True) for unit in gone)]
    items = [_item(unit, score, removed) for unit, score, removed in sorted(rows, key=lambda row: row[0].block)]
    total = math.fsum(scores)
    record = Pruned(
        turn=mind["situation"]["turn"] + 1,
        strength=pruning.strength,
        method=pruning.method,
        scorer=pruning.scorer if pruning.method == "attention" else "",
        query=pruning.query,
        responses=responses,
        units=len(items),
        removed=sum(item.removed for item in items),
        words=sum(item.words for item in items),
        words_removed=sum(item.words for item in items if item.removed),
        share=round(math.fsum(scores[n] for n in chosen) / total, 6) if total > 0 else None,
        items=items,
    )
    lacking = together([*(units[n] for n in chosen), *gone])
    return replace(prompt, blocks=tuple(left), left_out=tuple(lacking)), record


def _item(unit: Unit, score: float | None, removed: bool) -> PrunedItem:
    return PrunedItem(
        block=unit.tag,
        kind=unit.data.kind,
        id=unit.id,
        text=unit.text[:TEXT],
        words=len(words(unit.text)),
        score=score,
        removed=removed,
    )
