"""Recorded conversations in the one form in which evaluators see them, whichever method made them.

An evaluator sees the topic, the participants' profiles and what all of them heard. Whispers, minds, models, method,
settings and the reason of the ending are never shown: who knows them does not judge blind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from ..prompts.blocks import Block, Item, basic_information
from ..reports.summary import count_words
from ..runs.events import Uttered
from ..runs.folder.reading import Record, read_run
from ..runs.folder.run_folder import RUN
from ..runs.folder.validation import checked
from ..state.errors import InputError
from ..state.scenario import Scenario

_SPEAKING: Final = ("natural_language", "answering", "script")
"""The modules whose models word utterances."""


class NothingSaid(InputError):
    """There is nothing to evaluate: nothing was said that all heard."""


@dataclass(frozen=True)
class Conversation:
    """A recorded conversation, as far as an evaluation needs it.

    Attributes:
        run: its run's id.
        scenario: topic, participants, relationships and goals, without settings.
        lines: speaker and text of each utterance that all heard, in order.
        seed: of its run.
        ending: why it ended; None if no ending is recorded. Not shown.
        with_goals: whether the agents were told their social goals.
        with_ties: whether the agents were told their relationships.
        models: the models that worded it. Not shown.
        people: whether words of people are in it.
    """

    run: str
    scenario: Scenario
    lines: tuple[tuple[str, str], ...]
    seed: int | None = None
    ending: str | None = None
    with_goals: bool = True
    with_ties: bool = True
    models: frozenset[str] = frozenset()
    people: bool = False

    @cached_property
    def task(self) -> str:
        """What it has in common with conversations that it can be paired with: topic, participants and seed."""
        people = [person.model_dump(mode="json") for person in self.scenario.participants]
        same = json.dumps([self.scenario.topic, people, self.seed], sort_keys=True)
        return sha256(same.encode(errors="surrogatepass")).hexdigest()[:12]

    @property
    def words(self) -> float:
        """Mean words of an utterance."""
        return fmean(count_words(text) for _, text in self.lines)

    def first(self, utterances: int | None) -> Conversation:
        """Its beginning; all of it for None."""
        return self if utterances is None else replace(self, lines=self.lines[:utterances])

    def scene(self) -> Block:
        """The topic."""
        return Block("scene", (Item("topic", {"text": self.scenario.topic}, prunable=False),))

    def profiles(self) -> list[Block]:
        """Who the participants are, one block each."""
        return [basic_information(person) for person in self.scenario.participants]

    def goals(self) -> Block:
        """The social goals that the agents were told."""
        named = [(p.name, goal) for p in self.scenario.participants for goal in self.scenario.goals_of(p)]
        shown = named if self.with_goals else []
        return Block("goals", tuple(Item("goal_of", {"name": n, "text": text}, prunable=False) for n, text in shown))

    def ties(self) -> Block:
        """The relationships that the agents were told."""
        shown = self.scenario.relationships if self.with_ties else []
        given = ({"a": tie.from_, "b": tie.to, "type": tie.type, "note": tie.note} for tie in shown)
        return Block("relationships", tuple(Item("tie", values, prunable=False) for values in given))

    def transcript(self, tag: str = "transcript") -> Block:
        """What was said, whole."""
        lines = ({"speaker": speaker, "text": text, "whispered": ()} for speaker, text in self.lines)
        return Block(tag, tuple(Item("utterance", values, prunable=False) for values in lines))


def of_run(record: Record) -> Conversation:
    """The conversation of a run.

    Raises:
        InputError: the log does not say who took part in what.
        NothingSaid: nothing was said that all heard.
    """
    manifest, settings = record.manifest, record.manifest.settings.model_dump()
    heard = [said for said in record.utterances if said.heard_by is None]
    if not heard:
        raise NothingSaid(
            "there is nothing to evaluate: nothing was said that all heard",
            where=str(record.path),
            remedy="Leave this run out.",
        )
    told = {**manifest.models, "": manifest.outside_models}
    models = {named.get(module) for named in told.values() if isinstance(named, dict) for module in _SPEAKING}
    return Conversation(
        run=manifest.run,
        scenario=checked(
            Scenario, _known(manifest.scenario.model_dump(by_alias=True)), f"{record.path / RUN}, field scenario"
        ),
        lines=tuple((said.speaker, said.text) for said in heard),
        seed=manifest.seed,
        ending=manifest.stop_reason,
        with_goals=settings.get("social_goals", True) is not False,
        with_ties=settings.get("relationships", True) is not False,
        models=frozenset(model for model in models if isinstance(model, str)),
        people=has_words_of_people(record),
    )


def has_words_of_people(record: Record) -> bool:
    """Whether people took part in a run, or wrote words that all heard."""
    return bool(record.manifest.people) or any(_by_a_person(said) for said in record.utterances)


def read_conversation(folder: Path) -> Conversation:
    """The conversation in a run's folder; raises as `read_run` and `of_run`."""
    return of_run(read_run(folder))


def of_outputs(outputs: Mapping[str, Any]) -> Conversation:
    """The conversation in the outputs of a target (`evaluation/local.py`).

    Raises:
        InputError: the outputs are not those of a target, or nothing was said that all heard.
    """
    try:
        scenario, said, settings = outputs["scenario"], outputs["utterances"], outputs["settings"]
        lines = tuple((one["speaker"], one["text"]) for one in said if one.get("heard_by") is None)
        run, ending = str(outputs["run"]), outputs["stop_reason"]
    except (KeyError, TypeError) as error:
        raise InputError(
            f"the outputs lack {error}", where="outputs", remedy="Use the target that make_target makes."
        ) from None
    if not lines:
        raise InputError("nothing was said that all heard", where="outputs", remedy="Leave this example out.")
    return Conversation(
        run=run,
        scenario=checked(Scenario, scenario, "outputs, field scenario"),
        lines=lines,
        seed=settings.get("seed"),
        ending=ending,
        with_goals=bool(settings.get("social_goals", True)),
        with_ties=bool(settings.get("relationships", True)),
    )


def without_people(conversations: Sequence[Conversation], *, allowed: bool, readers: str = "a judge") -> None:
    """Refuse conversations with words of people, which others would get to read, unless that is allowed.

    Args:
        conversations: that are to be evaluated.
        allowed: whether those who took part agree.
        readers: who would read their words.

    Raises:
        InputError: there are such conversations.
    """
    refuse_words_of_people([one.run for one in conversations if one.people], allowed=allowed, readers=readers)


def refuse_words_of_people(found: Sequence[str], *, allowed: bool, readers: str = "a judge") -> None:
    """As `without_people`, for the ids of runs with words of people."""
    if found and not allowed:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise InputError(
            f"people took part, and {readers} would read their words",
            where=f"run {found[0]}{more}",
            remedy="If they agree to that, add --with-people; or leave these runs out.",
        )


def _by_a_person(said: Uttered) -> bool:
    return said.heard_by is None and said.is_given and said.question is None  # a guide's question is no person's words


def _known(scenario: dict[str, Any]) -> dict[str, Any]:
    """What the log says of a scenario, without fields of a newer version, which evaluators are not shown."""
    return {key: value for key, value in scenario.items() if key in Scenario.model_fields}
