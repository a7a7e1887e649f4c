"""Tokens of a baseline's prompts: the real templates, rendered with answers of typical length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from langchain_core.messages import BaseMessage

from ..graph.calls import (
    MODULE_OF,
    Floats,
    Shape,
    calls_beside_answers,
    calls_of_added,
    calls_of_answers,
    calls_of_mind,
    calls_of_onlookers,
    utterances_at_most,
    worded_shares,
)
from ..graph.ending import leave_takers
from ..graph.guiding import with_limit
from ..models.naming import parse_model_name
from ..models.registry import model_name
from ..nodes.assembling import refuse_unfit
from ..nodes.baselines.rounds import Given, Method, answering_prompt, decision_values
from ..nodes.baselines.script import WRITER, script_prompt
from ..nodes.debates.judge import judge_name
from ..nodes.onlookers import ANALYST, SELECTOR
from ..personas.catalogue import judge_persona
from ..prompts import render, templates
from ..runs.events import Totals
from ..runs.folder.parts import totals, totals_by
from ..state.baselines.rounds import sides, worded
from ..state.errors import InputError
from ..state.persona import Persona
from ..state.scenario import Scenario
from ..state.settings import BUDGETS, Settings
from .estimate_sizes import (
    Typical,
    cached_of,
    expected,
    filler,
    judgements,
    lengths,
    prompt_of_mind,
    prompt_of_onlooker,
    schema_tokens,
    tokens_of,
)
from .estimate_story import story_rows

if TYPE_CHECKING:
    from ..state.minds.mind import Utterance


_BYTES_A_TOKEN = 4
_COUNTED: Final = ("calls", "input_tokens", "cached_tokens", "output_tokens")
"""What a row has that adds up to whole numbers."""


def prompt_of_answer(typical: Typical, persona: Persona, turn: int) -> list[BaseMessage]:
    """The prompt of one participant's answer.

    Args:
        typical: the conversation, with a debate baseline.
        persona: who answers.
        turn: number of the utterance that the answer makes, from 1.
    """
    settings, names = typical.settings, typical.names
    method = cast(Method, settings.baseline)  # the settings know no debate baseline but these
    before = _answers(typical, turn)
    given: Given = {
        "method": method,
        "mind": typical.mind(persona, 0),
        "situation": {**typical.situation(persona.name, turn - 1), "recent": []},
        "number": turn,
        "answers": before,
    }
    if method == "mad_judge":
        every = sides(names)
        side = every[persona.name]
        own = [said for said in before if said["speaker"] == persona.name]
        # The negative side answers the affirmative side of the same round, and so has answers in the first round, too.
        shown = before or (_answers(typical, turn + len(names)) if side == "negative" else [])
        against = [said for said in shown if every[said["speaker"]] != side]
        given |= {"side": side, "sides": dict(every), "answers": [*against, *own]}
        if side == "negative" and not before:
            given["opposes"] = against[0]["answer"]
    return answering_prompt(given, settings)


def prompt_of_decision(typical: Typical, turn: int) -> list[BaseMessage]:
    """The prompt of mad_judge's judge after the round that ends with this utterance."""
    count, settings = len(typical.names), typical.settings
    values = decision_values(
        typical.situation("", turn),
        _answers(typical, turn + count),
        sides(typical.names),
        round=turn // count,
        rounds=settings.max_messages // count,
        settings=settings,
    )
    return render("mad_judge", **values)


def prompt_of_script(typical: Typical) -> list[BaseMessage]:
    """The prompt of single_agent's one request."""
    people = [
        (typical.mind(persona, 0), typical.situation(persona.name, 0)) for persona in typical.scenario.participants
    ]
    return script_prompt(people, typical.settings)


def _answers(typical: Typical, turn: int) -> list[Utterance]:
    """The answers of the last whole round before an utterance; none in the first round."""
    names = typical.names
    if turn <= len(names):
        return []
    tokens = typical.lengths.answered("answering", participants=len(names), words=typical.settings.utterance_words)
    settings = typical.settings
    answer = {"number": "12", "choice": settings.choices[0] if settings.choices else ""}.get(
        settings.answer_format, "yes"
    )
    text = worded(filler(tokens * _BYTES_A_TOKEN), answer)
    confidence = {"confidence": 0.8} if settings.baseline == "reconcile" else {}
    said = [{**typical.utterance(number + 1), "text": text, "answer": answer} for number in range(len(names))]
    return [cast("Utterance", {**utterance, **confidence}) for utterance in said]


# Estimates a conversation before it is held: calls, tokens and cost, per module and in all


_CLOSELY: Final = 8
"""How many first utterances are looked at one by one, because prompts grow most at first."""


@dataclass(frozen=True)
class Estimate:
    """The estimate of a conversation.

    Attributes:
        utterances: how many are made.
        rows: one per module, agent and model, with the fields of `state.mind.Call` but `turn`, and `least_usd`; calls
            and tokens are expected values and have fractions.
    """

    utterances: int
    rows: list[dict[str, Any]]

    @cached_property
    def total(self) -> Totals:
        """Of everything."""
        return totals_of(self.rows)

    @property
    def least_usd(self) -> float | None:
        """The cost if a server has all from its cache that it may have; None if a price is not known."""
        known = [row["least_usd"] for row in self.rows if row["least_usd"] is not None]
        return sum(known) if len(known) == len(self.rows) else None

    def by(self, field: str) -> dict[str, Totals]:
        """Sums by "module", "agent" or "model", in alphabetical order."""
        return totals_by(self._whole(field), field)

    def unpriced(self) -> list[str]:
        """Models without a known price, in alphabetical order."""
        return sorted({row["model"] for row in self.rows if row["cost_usd"] is None})

    def exceeded(self, settings: Settings) -> list[str]:
        """The budgets that this conversation would use up."""
        used = {
            "budget_calls": self.total.calls,
            "budget_tokens": self.total.input_tokens + self.total.output_tokens,
            "budget_usd": self.total.cost_usd or 0.0,
        }
        given = {name: getattr(settings, name) for name in BUDGETS}
        return [name for name, budget in given.items() if budget is not None and used[name] >= budget]

    def _whole(self, field: str) -> list[dict[str, Any]]:
        """One row for each value of a field, rounded after it was added up."""
        names = sorted({row[field] for row in self.rows})
        groups = {name: totals_of([row for row in self.rows if row[field] == name]) for name in names}
        return [{field: name, **group.model_dump()} for name, group in groups.items()]


def totals_of(rows: list[dict[str, Any]]) -> Totals:
    """The sum of rows with fractions, in whole calls and tokens."""
    counted = {key: round(sum(row[key] for row in rows)) for key in _COUNTED}
    cost = totals({**row, **dict.fromkeys(_COUNTED, 0)} for row in rows).cost_usd
    return Totals(**counted, estimated=True, cost_usd=cost)


def estimate(
    scenario: Scenario, settings: Settings, *, utterances: int | None = None, silent: bool = False
) -> Estimate:
    """Estimate what a conversation takes.

    Args:
        scenario: who takes part and what about.
        settings: how it runs, and with which models.
        utterances: how many are made, 1 to `max_messages`; None for the message limit. A debate that ends before the
            limit ends with consensus. A story is always whole. A focus group makes at most as many as its guide has
            questions and answers.
        silent: whether people say nothing, so that the agents have all turns; False: they speak as often as the others.

    Raises:
        InputError: a model's name is wrong, there are too many utterances, or there is no room for one round.
    """
    refuse_unfit(scenario, settings)
    with templates(settings.prompts):
        return _estimated(scenario, settings, utterances, silent=silent)


def _estimated(scenario: Scenario, settings: Settings, utterances: int | None, *, silent: bool) -> Estimate:
    if scenario.story is not None:
        return Estimate(scenario.story.most_said(settings.rounds), story_rows(scenario, settings))
    settings = with_limit(settings, scenario.guide, len(scenario.participants))
    most = utterances_at_most(len(scenario.participants), settings)
    if scenario.guide is not None:
        most = min(most, scenario.guide.length(len(scenario.participants)))
    made = most if utterances is None else utterances
    if not 1 <= made <= most:
        raise InputError(f"{made} utterances cannot be estimated", remedy=f"From 1 to the most that are made, {most}.")
    typical = Typical(scenario, settings, lengths())
    people = sum(persona.human for persona in scenario.participants)
    present = len(scenario.participants)
    if silent and present - people > 1:  # one agent alone would have nobody to answer to
        present, people = present - people, 0
    shape = Shape(present, made, typical.lengths.reflecting, people)
    ledger = _Ledger(typical, _looked_at(made, shape.participants, settings))
    if settings.kind.CALLS:
        for persona in scenario.participants:
            for task, calls in calls_of_added(shape, settings).items():
                ledger.add(task, persona.name, calls, partial(prompt_of_mind, typical, persona, task))
    elif settings.baseline is None:
        _add_minds(ledger, typical, shape)
    else:
        _add_baseline(ledger, typical, shape)
    return Estimate(made, ledger.rows)


def _add_minds(ledger: _Ledger, typical: Typical, shape: Shape) -> None:
    """The calls of a conversation of minds: participants, judge, selector, analysis."""
    scenario, settings = typical.scenario, typical.settings
    for persona in (persona for persona in scenario.participants if not persona.human):
        words = 1.0
        if scenario.guide is not None:
            asks, answers = worded_shares(scenario.guide, shape.participants)
            words = asks if persona.name == scenario.guide.moderator else answers
        for task, calls in calls_of_mind(shape, settings, worded=words).items():
            ledger.add(task, persona.name, calls, partial(prompt_of_mind, typical, persona, task))
    judge = judge_persona().model_copy(update={"name": judge_name(typical.names)})
    listens = settings.mode == "debate" and settings.judge == "persona"
    if listens:
        for task, calls in calls_of_mind(shape, settings, speaks=False).items():
            prompt = partial(prompt_of_mind, typical, judge, task, speaks=False)
            ledger.add(task, judge.name, calls, prompt, settings.of_judge())
    agents = {"selector": SELECTOR, "analysis": ANALYST}
    for task, calls in calls_of_onlookers(shape, settings).items():
        prompt = partial(prompt_of_onlooker, typical, task, judge=judge if listens else None)
        ledger.add(task, agents.get(task, judge.name), calls, prompt)


def _add_baseline(ledger: _Ledger, typical: Typical, shape: Shape) -> None:
    """The calls of a baseline that is held to its last round."""
    for task, calls in calls_of_answers(shape, typical.settings).items():
        for persona in typical.scenario.participants:
            prompt = partial(prompt_of_answer, typical, persona)
            if task == "group_chat":
                prompt = partial(prompt_of_mind, typical, persona, task)
            ledger.add(task, persona.name, calls, prompt)
    judge = judge_name(typical.names)
    agents = {"script": WRITER, "selector": SELECTOR, "analysis": ANALYST}
    prompts: dict[str, Callable[[int], list[BaseMessage]]] = {
        "script": lambda _: prompt_of_script(typical),
        "mad_judge": partial(prompt_of_decision, typical),
    }
    for task, calls in calls_beside_answers(shape, typical.settings).items():
        asked = prompts.get(task) or partial(prompt_of_onlooker, typical, task)
        ledger.add(task, agents.get(task, judge), calls, asked)


class _Ledger:
    """Makes the rows of an estimate from calls and prompts."""

    def __init__(self, typical: Typical, points: list[int]) -> None:
        self._typical, self._points = typical, points
        self.rows: list[dict[str, Any]] = []

    def add(
        self,
        task: str,
        agent: str,
        calls: Floats,
        prompt: Callable[[int], list[BaseMessage]],
        settings: Settings | None = None,
    ) -> None:
        """Add one task of one agent.

        Args:
            task: by the name in its prompt.
            agent: on whose behalf.
            calls: at the awakening and at each utterance.
            prompt: of an utterance, by its number.
            settings: which model answers; None for those of the conversation.
        """
        if not calls.any():
            return
        module = MODULE_OF.get(task, task)
        name = parse_model_name(model_name(settings or self._typical.settings, agent, module))
        asked = np.flatnonzero(calls)
        points = sorted({int(asked[0]), int(asked[-1]), *(p for p in self._points if asked[0] <= p <= asked[-1])})
        prompts = [prompt(point) for point in points]
        front, more = schema_tokens(self._typical, task, name)
        caches = name.provider != "offline"
        alike = [0, *(cached_of(later, earlier, front) if caches else 0 for earlier, later in pairwise(prompts))]

        def summed(sizes: list[int]) -> float:
            return float(calls @ np.interp(np.arange(len(calls)), points, sizes))

        total = float(calls.sum())
        given = summed([tokens_of(one) for one in prompts]) + total * more
        number, words = len(self._typical.names), self._typical.settings.utterance_words
        made = total * sum(
            share * self._typical.lengths.answered(part, participants=number, words=words, utterances=len(calls) - 1)
            for part, share in judgements(self._typical, task).items()
        )
        sums = {"calls": total, "given": given, "made": made, "cached": summed(alike)}
        self.rows.append(expected(self._typical.settings, agent, module, name, **sums))


def _looked_at(utterances: int, participants: int, settings: Settings) -> list[int]:
    """The utterances at which prompts are rendered: the first ones, then ever fewer, and near the goodbyes."""
    points = {*range(min(_CLOSELY, utterances) + 1), utterances}
    step = _CLOSELY
    while (step := round(step * 1.5)) < utterances:
        points.add(step)
    for window in (settings.recent_utterances, settings.judge_window, participants):
        points |= {window, window + 1}
    leaving = settings.max_messages - leave_takers(participants, settings.max_messages)
    points |= {leaving - 1, leaving, leaving + 1}
    return sorted(point for point in points if 0 <= point <= utterances)
