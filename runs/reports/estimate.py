"""Estimates a conversation before it is held: calls, tokens and cost, per module and in all.

Calls are counted as the graph makes them (`estimate_calls.py`); tokens come from the real prompts with typical content
(`estimate_prompts.py`) and from typical answers (`estimate_lengths.yaml`). Prompts grow at first and then keep their
size, so they are rendered at some utterances and interpolated linearly in between. No model is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.resources import files
from typing import Any, Final

import numpy as np
import yaml
from numpy.typing import NDArray

from persimchat.graph.ending import judge_is_due, leave_takers
from persimchat.models.naming import parse_model_name
from persimchat.models.registry import model_name
from persimchat.models.usage import cost_usd
from persimchat.nodes.analysis import ANALYST
from persimchat.nodes.judge import judge_name
from persimchat.nodes.selector import SELECTOR
from persimchat.personas.catalogue import judge_persona
from persimchat.runs.events import Totals
from persimchat.runs.folder.totals import totals, totals_by
from persimchat.runs.reports.estimate_content import Typical, lengths
from persimchat.runs.reports.estimate_prompts import judgements, prompt_of_mind, prompt_of_onlooker, schema_tokens
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import BUDGETS, Settings

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Course:
    """The properties of a conversation that decide how many calls it takes.

    Attributes:
        participants: how many take part, people included.
        utterances: how many are made.
        reflecting: share of actions that reflect, 0 to 1.
        people: how many of the participants are people; they are assumed to speak as often as the others.
    """

    participants: int
    utterances: int
    reflecting: float
    people: int = 0

    def heard(self, settings: Settings) -> float:
        """The share of utterances about which one agent's model is asked: its own, and those that concern it."""
        agents = self.participants - self.people
        if settings.listeners == "all" or not agents:
            return 1.0
        own = 1 / self.participants
        if agents == 1:
            return 1.0
        by_agents = own * (agents - 1) * min(1.0, settings.listeners / (agents - 1))
        return own + by_agents + own * self.people * min(1.0, settings.listeners / agents)

    def nothing(self) -> Floats:
        """No calls: one number for the awakening (0) and one for each utterance."""
        return np.zeros(self.utterances + 1)

    def always(self, *, since: int) -> Floats:
        """One call per utterance from this one on; 0 is the awakening."""
        calls = self.nothing()
        calls[since:] = 1.0
        return calls


def calls_of_mind(course: Course, settings: Settings, *, speaks: bool = True) -> dict[str, Floats]:
    """Calls of one mind by task, at the awakening and at each utterance.

    Args:
        course: of the conversation.
        settings: of the simulation.
        speaks: False for the persona judge's mind, which only listens.
    """
    debate, thinks = settings.mode == "debate", settings.planning_and_reflection
    heard = course.heard(settings) if speaks else 1.0
    # Nobody speaks twice in a row; those who were asked do as they chose, except the one who speaks next.
    chosen = heard - (heard - 1 / course.participants) / (course.participants - 1) if speaks else 1.0
    thoughts = chosen * course.always(since=2) if thinks else course.nothing()
    calls = {"reflection": thoughts * course.reflecting, "planning": thoughts * (1 - course.reflecting)}
    asked = heard * course.always(since=1)
    awakens = course.always(since=0) - course.always(since=1)
    if settings.memory_filtering:
        calls["memory_filtering"] = heard * course.always(since=2) + thoughts
    if speaks:
        calls["utterance"] = course.always(since=1) / course.participants
    match settings.cognition:
        case "full":
            calls |= {"perception": asked, "focal_points": asked, "emotion": awakens + asked}
            if thinks:
                calls["action"] = asked
            if speaks:
                calls["need_to_talk"] = awakens + asked
            if speaks and debate:
                calls["openness"] = awakens + asked
        case "compact":
            calls |= {"hearing": asked, "appraisal": awakens + asked}
        case "lean":
            calls |= {"reaction": asked, "appraisal": awakens}
    return calls


def calls_of_onlookers(course: Course, settings: Settings) -> dict[str, Floats]:
    """Calls of judge, selector and analysis by task, as for `calls_of_mind`."""
    calls = {}
    if settings.mode == "debate":
        due = [judge_is_due(turn, course.participants, settings) for turn in range(1, course.utterances + 1)]
        calls["judge"] = np.array([0.0, *due], dtype=np.float64)
        if course.utterances == settings.max_messages:
            calls["majority"] = course.nothing()
            calls["majority"][-1] = 1.0
    if settings.pattern == "selector":
        calls["selector"] = _selections(course, settings)
    if settings.analysis:
        calls["analysis"] = course.always(since=1)
    return calls


def _selections(course: Course, settings: Settings) -> Floats:
    """The selector is not asked if only one may speak: in turns of two, and for the last goodbye."""
    calls = course.always(since=1)
    if course.participants == 2 and not settings.allow_repeated_speaker:
        calls[2:] = 0.0
    everybody_leaves = leave_takers(course.participants, settings.max_messages) == course.participants
    if settings.closing != "off" and everybody_leaves and course.utterances == settings.max_messages:
        calls[-1] = 0.0
    return calls


MODULE_OF: Final = {"utterance": "natural_language", "majority": "judge"}
"""Tasks that are counted under a module of another name."""

_CLOSELY: Final = 8
"""How many first utterances are looked at one by one, because prompts grow most at first."""


@dataclass(frozen=True)
class Estimate:
    """The estimate of a conversation.

    Attributes:
        utterances: how many are made.
        rows: one per module, agent and model, with the fields of `state.mind.Call` but `turn`; calls and tokens are
            expected values and have fractions.
    """

    utterances: int
    rows: list[dict[str, Any]]

    @cached_property
    def total(self) -> Totals:
        """Of everything."""
        return totals_of(self.rows)

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
    counted = {key: round(sum(row[key] for row in rows)) for key in ("calls", "input_tokens", "output_tokens")}
    cost = totals({**row, "calls": 0, "input_tokens": 0, "output_tokens": 0} for row in rows).cost_usd
    return Totals(**counted, estimated=True, cost_usd=cost)


def estimate(scenario: Scenario, settings: Settings, *, utterances: int | None = None) -> Estimate:
    """Estimate what a conversation takes.

    Args:
        scenario: who takes part and what about.
        settings: how it runs, and with which models.
        utterances: how many are made, 1 to `max_messages`; None for the message limit. A debate that ends before the
            limit ends with consensus. People are assumed to speak as often as the others.

    Raises:
        InputError: a baseline is asked for, a model's name is wrong, or there are too many utterances.
    """
    made = settings.max_messages if utterances is None else utterances
    if not 1 <= made <= settings.max_messages:
        raise InputError(
            f"{made} utterances cannot be estimated", remedy=f"From 1 to the message limit, {settings.max_messages}."
        )
    if settings.baseline is not None:
        raise InputError(
            "the cost of a baseline cannot be estimated",
            where=f"setting baseline={settings.baseline}",
            remedy="Leave the baseline out. A baseline makes far fewer calls: one per participant and round "
            "(single_agent: one).",
        )
    typical = Typical(scenario, settings, lengths())
    people = sum(persona.human for persona in scenario.participants)
    course = Course(len(scenario.participants), made, typical.lengths.reflecting, people)
    points = _looked_at(made, course.participants, settings)
    ledger = _Ledger(typical, points)
    for persona in (persona for persona in scenario.participants if not persona.human):
        for task, calls in calls_of_mind(course, settings).items():
            ledger.add(task, persona.name, calls, partial(prompt_of_mind, typical, persona, task))
    judge = judge_persona().model_copy(update={"name": judge_name(typical.names)})
    listens = settings.mode == "debate" and settings.judge == "persona"
    if listens:
        for task, calls in calls_of_mind(course, settings, speaks=False).items():
            ledger.add(
                task,
                judge.name,
                calls,
                partial(prompt_of_mind, typical, judge, task, speaks=False),
                settings.of_judge(),
            )
    agents = {"selector": SELECTOR, "analysis": ANALYST}
    for task, calls in calls_of_onlookers(course, settings).items():
        ledger.add(
            task,
            agents.get(task, judge.name),
            calls,
            partial(prompt_of_onlooker, typical, task, judge=judge if listens else None),
        )
    return Estimate(made, ledger.rows)


def list_prices_as_of() -> str:
    """Year and month of the list prices in `models/prices.yaml`."""
    text = (files("persimchat.models") / "prices.yaml").read_text(encoding="utf-8")
    return str(yaml.safe_load(text)["as_of"])


class _Ledger:
    """Makes the rows of an estimate from calls and prompts."""

    def __init__(self, typical: Typical, points: list[int]) -> None:
        self._typical, self._points = typical, points
        self.rows: list[dict[str, Any]] = []

    def add(
        self, task: str, agent: str, calls: Floats, prompt: Callable[[int], int], settings: Settings | None = None
    ) -> None:
        """Add one task of one agent.

        Args:
            task: by the name in its prompt.
            agent: on whose behalf.
            calls: at the awakening and at each utterance.
            prompt: from an utterance's number to the prompt's tokens.
            settings: which model answers; None for those of the conversation.
        """
        if not calls.any():
            return
        module = MODULE_OF.get(task, task)
        name = parse_model_name(model_name(settings or self._typical.settings, agent, module))
        asked = np.flatnonzero(calls)
        points = sorted({int(asked[0]), int(asked[-1]), *(p for p in self._points if asked[0] <= p <= asked[-1])})
        lengths_ = np.interp(np.arange(len(calls)), points, [prompt(point) for point in points])
        total = float(calls.sum())
        given = float(calls @ lengths_) + total * schema_tokens(self._typical, task, name)
        number, words = len(self._typical.names), self._typical.settings.utterance_words
        made = total * sum(
            self._typical.lengths.answered(part, participants=number, words=words)
            for part in judgements(self._typical, task)
        )
        prices = self._typical.settings.prices
        self.rows.append(
            {
                "agent": agent,
                "module": module,
                "model": name.written,
                "calls": total,
                "input_tokens": given,
                "output_tokens": made,
                "estimated": True,
                "cost_usd": cost_usd(name, round(given), round(made), prices),
            }
        )


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
