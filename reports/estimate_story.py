"""Estimates a story before it is held: calls by `graph/calls.py`, tokens from the file's texts and typical answers.

Which characters are chosen as partners, and who has need to talk, is not known before; partners and words are shared
out evenly. Prompts of minds that hear and think are a conversation's, after half of what a character hears.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

from ..graph.calls import MODULE_OF, calls_of_story, hearing_of_story
from ..models.naming import parse_model_name
from ..models.registry import model_name
from ..prompts.blocks import estimated_tokens
from ..state.persona import Persona
from ..state.scenario import Scenario
from ..state.settings import Settings
from ..state.stories.story import Stage, Story
from .estimate_sizes import (
    Lengths,
    StoryLengths,
    Typical,
    expected,
    judgements,
    lengths,
    prompt_of_mind,
    schema_tokens,
    tokens_of,
)


def story_rows(scenario: Scenario, settings: Settings) -> list[dict[str, Any]]:
    """The rows of an estimate, one for each agent and module; a person who takes a part makes no calls.

    Args:
        scenario: with a story.
        settings: `rounds` and the models are read.
    """
    story = scenario.story
    assert story is not None  # the caller has checked
    typical, hearing = lengths(), hearing_of_story(story, settings)
    minds = Typical(scenario, settings, typical)
    middle = max(1, round(hearing.heard / len(scenario.participants) / 2))
    found: list[dict[str, Any]] = []
    for asked_for, number in calls_of_story(story, settings, typical.reflecting).items():
        module = MODULE_OF.get(asked_for, asked_for)
        task = "utterance" if asked_for == "first_response" else asked_for
        by = "utterance" if asked_for == "inconsistency" else task
        for persona in scenario.participants:
            calls = 0.0 if persona.human else number * _share(story, by, persona.name, settings)
            if not calls:
                continue
            name = parse_model_name(model_name(settings, persona.name, module))
            if task in typical.story.around:
                given = calls * _prompt(scenario, story, persona, task, settings, typical.story)
                words = typical.bytes_a_word * settings.utterance_words / 4
                made = calls * (words if task == "story_utterance" else _answer(story, task, typical))
            else:
                asked = tokens_of(prompt_of_mind(minds, persona, task, middle)) + schema_tokens(minds, task, name)[1]
                given, made = calls * (asked + typical.story.place), calls * _made(minds, task)
            found.append(expected(settings, persona.name, module, name, calls=calls, given=given, made=made))
    return found


def _made(minds: Typical, task: str) -> float:
    """Typical tokens of an answer of a mind that hears and thinks."""
    people, words = len(minds.names), minds.settings.utterance_words
    parts = judgements(minds, task).items()
    return sum(share * minds.lengths.answered(part, participants=people, words=words) for part, share in parts)


def _share(story: Story, task: str, name: str, settings: Settings) -> float:
    """The share of a task's calls that are one character's."""
    everybody, mains = list(story.characters), story.mains
    if not mains:
        return 1 / len(everybody)
    host = (name in mains) / len(mains)
    able = [other for other in everybody if story.characters[other].approachable]
    partner = (name in able) / max(1, len(able))
    match task:
        case "stocktaking":
            return (host + partner) / 2
        case "summary":
            by_two = 2 * len(mains) * sum(stage.by_two for stage in story.stages)
            together = len(everybody) * sum(stage.split is not None for stage in story.stages)
            two = by_two / (by_two + together)
            return two * (host + partner) / 2 + (1 - two) / len(everybody)
        case "choice":
            return host
        case "story_utterance" | "utterance":
            alone = sum(stage.made(len(everybody), len(mains)) for stage in story.stages if stage.by_two)
            rooms = settings.rounds * alone / story.most_said(settings.rounds)
            return rooms * (host + partner) / 2 + (1 - rooms) / len(everybody)
        case "ballot":
            return (name in story.voters) / len(story.voters)
        case "review":
            return 1 / len(everybody)
        case _:
            hearing = hearing_of_story(story, settings)
            two = hearing.by_two / hearing.heard if hearing.heard else 0.0
            return two * (host + partner) / 2 + (1 - two) / len(everybody)


def _answer(story: Story, task: str, typical: Lengths) -> float:
    others = 5 * (len(story.characters) - 1) if task == "review" else 0
    share = prod(typical.answer_shares.get(part, {}).get(task, 1.0) for part in story.ablation)
    return typical.answer_tokens[task] * share + others


def _prompt(
    scenario: Scenario, story: Story, persona: Persona, task: str, settings: Settings, sizes: StoryLengths
) -> float:
    """Typical tokens of a prompt: the words around it, who one is, where the story stands, and what the task shows."""
    goals, own = scenario.goals_of(persona), story.characters[persona.name]
    facts = [*persona.characteristics.values(), *persona.traits, *goals]
    base = _tokens([persona.description, *facts, scenario.topic, *scenario.rules, *story.characters])
    cast = _tokens(f"{name} {one.known_as}" for name, one in story.characters.items()) + 8 * len(story.characters)
    things = _tokens(f"{one.name} {' '.join(one.topics)} {one.description}" for one in story.resources)
    beliefs = _tokens(belief.text for belief in own.beliefs) + 8 * len(own.beliefs)
    rooms = [
        stage.exchanges if stage.by_two else (stage.utterances or 0) / 2 for stage in story.stages if _apart(stage)
    ]
    mean = sum(rooms) / len(rooms) if rooms else 0.0
    lines = 0.0 if "memory" in story.ablation else _lines_a_round(story)
    rounds = range(settings.rounds)
    happened = sum(min(20.0, lines * (before + 0.5)) for before in rounds) / settings.rounds
    shown = {
        "stocktaking": cast + things + happened * sizes.line,
        "choice": 15.0 * len(story.characters) + 90,
        "story_utterance": 0.5 * (happened * sizes.line + things) + mean * sizes.utterance + 350,
        "summary": 2 * mean * sizes.utterance + 120,
        "review": beliefs + 12.0 * len(story.characters) + min(30.0, lines) * sizes.line,
        "ballot": beliefs
        + 12.0 * len(story.characters)
        + min(30.0, lines * settings.rounds) * sizes.line
        + len(story.characters) * sizes.utterance * 0.6,
    }
    less = sum(sizes.less[part].get(task, 0) for part in story.ablation)
    return sizes.around[task] + base + shown[task] - less


def _lines_a_round(story: Story) -> float:
    """How many lines of a round one character learns of: words of the group, meetings, own summaries, a review."""
    everybody, mains = len(story.characters), len(story.mains)
    group = sum(stage.made(everybody, mains) for stage in story.stages if not _apart(stage))
    meetings = sum(stage.kind == "confidential" for stage in story.stages) * len(story.mains)
    split = sum(stage.split is not None for stage in story.stages)
    rooms = sum(stage.by_two for stage in story.stages) * 2 * mains / everybody + split
    return float("reflection" not in story.ablation) + group + meetings + 1.5 * rooms


def _apart(stage: Stage) -> bool:
    """Whether a stage has rooms."""
    return stage.by_two or stage.split is not None


def _tokens(texts: Iterable[str]) -> float:
    return float(sum(estimated_tokens(text) + 6 for text in texts))
