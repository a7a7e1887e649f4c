"""Makes a survey: draws excerpts, hides whose they are, and writes the files for raters and the key.

Chance says which topics are shown, in which order, under which names. All of it comes from a seed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from jinja2 import Environment, StrictUndefined
from pydantic import BaseModel, Field

from ...reports.report import page_environment
from ...reports.summary import count_words
from ...reports.tables import markdown, write_table
from ...reports.words import count
from ...runs.folder.lines import DISCLAIMER
from ...state.errors import InputError
from ...state.plain_text import one_line
from ...state.wording import listed
from ..transcripts import Conversation, read_conversation, without_people
from .key import FORMAT, KEY, Key, KeyItem, KeySystem, KeyTopic, scale

ITEMS, PAGE, TEMPLATE = "items.csv", "items.html", "responses_template.csv"
INSTRUCTIONS, CONSENT = "instructions.md", "consent.md"
"""The files of a survey besides its key: all of them may be shown to raters."""

_LABELS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WORDS_A_MINUTE, _MINUTES_AN_ITEM = 200, 0.5
"""How fast people read, and how long they think about a rating: for a rough forecast of a survey's length."""
_SHORTEST_NAME: Final = 3
"""Letters from which a system's name in an excerpt is worth a warning."""


class ItemRow(BaseModel):
    """One row per excerpt, in the order in which raters see them."""

    item: str = Field(description="the excerpt's id, which answers name")
    topic: int = Field(description="the topic's number, from 1")
    about: str = Field(description="the topic")
    label: str = Field(description="what the excerpt is called under its topic: A, B, C")
    order: int = Field(description="its place under its topic, from 1")
    excerpt: str = Field(description="the beginning of the conversation, one line an utterance")


class ResponseRow(BaseModel):
    """One row per answer."""

    rater: str = ""
    item: str
    rating: str = ""
    comment: str = ""


@dataclass(frozen=True)
class Survey:
    """A survey, before it is written.

    Attributes:
        key: which system each excerpt is of.
        excerpts: speaker and text of each utterance, by item.
        notes: what whoever makes it must know.
    """

    key: Key
    excerpts: dict[str, Sequence[tuple[str, str]]]
    notes: Sequence[str]


def make_survey(
    held: Sequence[Held],
    systems: Sequence[str],
    *,
    by: str = "system",
    source: str = "",
    topics: int = 4,
    first: int = 5,
    seed: int = 0,
    with_people: bool = False,
) -> Survey:
    """Draw topics, and one excerpt of each system for each; the same conversations and seed give the same survey.

    Args:
        held: the conversations to choose from.
        systems: what is compared.
        by: what the systems are levels of.
        source: the experiment's name; empty for single runs.
        topics: how many.
        first: utterances of an excerpt.
        seed: of the draws.
        with_people: whether raters may read the words of people who took part.

    Raises:
        InputError: there are not enough topics, a run cannot be read, or people took part in one.
    """
    drawn = draw_topics(held, systems, topics, Random(f"{seed}/topics"))
    whole = [{system: read_conversation(found[system].folder) for system in systems} for found in drawn]
    without_people([one for found in whole for one in found.values()], allowed=with_people, readers="raters")
    said = [{system: _excerpt(one.first(first)) for system, one in found.items()} for found in whole]
    content = sha256(repr([systems, [sorted(found.items()) for found in said]]).encode(errors="surrogatepass"))
    survey = sha256(f"{seed}/{content.hexdigest()}".encode()).hexdigest()[:12]
    chance = Random(survey)
    ids = iter(draw_ids(len(drawn) * len(systems), chance))
    items: list[KeyItem] = []
    excerpts: dict[str, Sequence[tuple[str, str]]] = {}
    for topic, found in enumerate(whole, start=1):
        for order, system in enumerate(draw_order(systems, chance), start=1):
            item, lines = next(ids), said[topic - 1][system]
            excerpts[item] = lines
            items.append(
                KeyItem(
                    item=item,
                    topic=topic,
                    label=_LABELS[order - 1],
                    order=order,
                    system=system,
                    run=found[system].run,
                    utterances=len(lines),
                    words=sum(count_words(text) for _, text in lines),
                )
            )
    models = {system: sorted({model for found in whole for model in found[system].models}) for system in systems}
    key = Key(
        format=FORMAT,
        survey=survey,
        source=source,
        by=by,
        seed=seed,
        first=first,
        systems=tuple(KeySystem(name=system, models=tuple(models[system])) for system in systems),
        topics=tuple(
            KeyTopic(topic=number, about=one_line(found[systems[0]].topic), task=found[systems[0]].task)
            for number, found in enumerate(drawn, start=1)
        ),
        items=tuple(items),
    )
    return Survey(key, excerpts, _notes(key, excerpts))


def _excerpt(conversation: Conversation) -> list[tuple[str, str]]:
    """Speakers and texts, each on one line: line ends and lists would tell one system from another."""
    return [(one_line(speaker), one_line(text)) for speaker, text in conversation.lines]


def _notes(key: Key, excerpts: dict[str, Sequence[tuple[str, str]]]) -> list[str]:
    notes = []
    short = sum(item.utterances < key.first for item in key.items)
    if short:
        notes.append(f"{count(short, 'excerpt')} of {len(key.items)} with fewer than {key.first} utterances.")
    different = len({topic.about for topic in key.topics})
    if different < len(key.topics):
        notes.append(
            f"{len(key.topics)} topics, but only {different} different {'one' if different == 1 else 'ones'}: no more "
            "are there that all systems have."
        )
    names = {system.name for system in key.systems} | {part for system in key.systems for part in _parts(system.models)}
    telling = sorted(name for name in names if len(name) >= _SHORTEST_NAME)
    for item, lines in excerpts.items():
        for name in telling:
            if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) for _, text in lines):
                notes.append(f"Item {item} has the word {one_line(name)!r}, which may tell whose it is: read it first.")
    return notes


def _parts(models: Sequence[str]) -> set[str]:
    """The names of models, whole and without provider and server."""
    return {part for model in models for part in (model, re.split(r"[:/]", model.partition("@")[0])[-1])}


@cache
def _pages() -> Environment:
    return page_environment(Path(__file__).parent)


@cache
def _texts() -> Environment:
    """Renders Markdown; what comes from outside is escaped by the filter `markdown`."""
    options: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    environment = Environment(undefined=StrictUndefined, **options)
    environment.filters["markdown"] = markdown
    return environment


def _template(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def minutes(key: Key) -> int:
    """About how long a rater needs, in steps of five minutes."""
    needed = sum(item.words for item in key.items) / _WORDS_A_MINUTE + len(key.items) * _MINUTES_AN_ITEM
    return max(5, 5 * math.ceil(needed / 5))


def write_survey(survey: Survey, out: Path, *, force: bool = False) -> None:
    """Write the files of a survey; a failure leaves none of them half written.

    Args:
        survey: as made.
        out: its folder; made if it is missing.
        force: whether the files of a survey that is there are replaced; other files stay.

    Raises:
        InputError: the folder has something in it, or cannot be written.
    """
    try:
        if out.exists() and not force and (not out.is_dir() or any(out.iterdir())):
            raise InputError(
                "this is there already",
                where=str(out),
                remedy="Choose another folder with --out, or replace the survey and its key with --force.",
            )
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".new-", dir=out) as folder:
            written = _write_all(survey, Path(folder))
            for path in written:
                path.replace(out / path.name)
    except OSError as error:
        raise InputError(
            f"the survey cannot be written: {error.strerror}", where=str(out), remedy="Choose another with --out."
        ) from error


def _write_all(survey: Survey, folder: Path) -> list[Path]:
    key, asked = survey.key, scale()
    topics = {topic.topic: topic.about for topic in key.topics}
    rows = [
        ItemRow(
            item=item.item,
            topic=item.topic,
            about=topics[item.topic],
            label=item.label,
            order=item.order,
            excerpt="\n".join(f"{speaker}: {text}" for speaker, text in survey.excerpts[item.item]),
        )
        for item in key.items
    ]
    told: dict[str, Any] = {
        "scale": asked,
        "topics": [
            (topic, [(item, survey.excerpts[item.item]) for item in key.items if item.topic == topic.topic])
            for topic in key.topics
        ],
        "abouts": list(dict.fromkeys(topics.values())),
        "items": len(key.items),
        "systems": len(key.systems),
        "minutes": minutes(key),
        "disclaimer": DISCLAIMER,
    }
    texts = {name: _texts().from_string(_template(f"{name}.jinja")).render(told) for name in (INSTRUCTIONS, CONSENT)}
    texts |= {PAGE: _pages().get_template("items.html.jinja").render(told), KEY: key.model_dump_json(indent=1) + "\n"}
    write_table(folder / ITEMS, ItemRow, rows)
    answers = [*(item.item for item in key.items), *(question.id for question in asked.open)]
    write_table(folder / TEMPLATE, ResponseRow, [ResponseRow(item=item) for item in answers])
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [folder / name for name in (ITEMS, TEMPLATE, *texts)]


# Drawing


MOST_SYSTEMS: Final = 26
"""There are so many letters for labels."""
_LETTERS: Final = "bcdfghjkmnpqrstvwxz"
"""Letters of ids. Without vowels they make no words, and no months, which a spreadsheet would turn into dates."""
_LENGTH: Final = 5


@dataclass(frozen=True)
class Held:
    """A conversation that was held, from which an excerpt may be drawn.

    Attributes:
        system: what is compared: a method, a model, a variant.
        task: what it has in common with the conversations of other systems that it may stand beside.
        topic: what it is about.
        folder: its run's.
    """

    system: str
    task: str
    topic: str
    folder: Path


def draw_topics(held: Sequence[Held], systems: Sequence[str], number: int, chance: Random) -> list[dict[str, Held]]:
    """Draw tasks that all systems have; no topic comes again before all others have come.

    Args:
        held: all conversations.
        systems: to be compared.
        number: of tasks.
        chance: by which they are drawn.

    Returns:
        For each task drawn, its conversation by system.

    Raises:
        InputError: fewer than two systems or too many, fewer tasks than wanted, or the topics of one task differ.
    """
    if not 2 <= len(systems) <= MOST_SYSTEMS:
        raise InputError(
            f"a survey compares 2 to {MOST_SYSTEMS} systems, not {len(systems)}",
            where=listed(list(systems)),
            remedy="Name others.",
        )
    by_topic: dict[str, list[dict[str, Held]]] = {}
    shared = 0
    for found in _by_task(held).values():
        if found.keys() >= set(systems):
            shared += 1
            topics = {found[system].topic for system in systems}
            if len(topics) == 1:
                by_topic.setdefault(topics.pop(), []).append(found)
    if shared and not by_topic:
        raise InputError(
            "the systems talk about different topics, so raters would know them apart",
            where=listed(list(systems)),
            remedy="Compare by an axis that leaves the topic as it is.",
        )
    there = sum(map(len, by_topic.values()))
    if there < number:
        counts = [f"{system} {len({one.task for one in held if one.system == system})}" for system in systems]
        raise InputError(
            f"there {'is' if there == 1 else 'are'} {count(there, 'task')} that all systems have, not {number}",
            where=f"complete conversations, by task: {', '.join(counts)}",
            remedy="Ask for fewer with --topics, or hold the conversations that are missing.",
        )
    queues = [chance.sample(found, len(found)) for _, found in sorted(by_topic.items())]
    chance.shuffle(queues)
    rounds = (queue[turn] for turn in range(max(map(len, queues))) for queue in queues if turn < len(queue))
    return [found for found, _ in zip(rounds, range(number), strict=False)]


def _by_task(held: Sequence[Held]) -> dict[str, dict[str, Held]]:
    """The conversations of each task by system.

    Raises:
        InputError: a system has two conversations of one task.
    """
    found: dict[str, dict[str, Held]] = {}
    for one in sorted(held, key=lambda one: (one.task, one.system)):
        of_task = found.setdefault(one.task, {})
        if one.system in of_task:
            raise InputError(
                f"the runs {of_task[one.system].folder.name} and {one.folder.name} have the same topic, participants "
                "and seed, so it is not clear which of them to show",
                where=f"system {one.system}",
                remedy="Leave one of them out.",
            )
        of_task[one.system] = one
    return found


def draw_order(systems: Sequence[str], chance: Random) -> list[str]:
    """The order of the systems under one topic: each is equally likely, whatever other topics have."""
    return chance.sample(systems, len(systems))


def draw_ids(number: int, chance: Random) -> list[str]:
    """Different ids that say nothing."""
    found: dict[str, None] = {}
    while len(found) < number:
        found["".join(chance.choices(_LETTERS, k=_LENGTH))] = None
    return list(found)
