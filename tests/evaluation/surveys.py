"""What the tests of surveys share: conversations on disk, made-up surveys, and answers as raters give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from run_folders import PEOPLE, utterance, write_run

from persimchat.evaluation.survey.key import Key, KeyItem, KeySystem, KeyTopic
from persimchat.evaluation.survey.making import Held
from persimchat.evaluation.survey.results import Answers, Rating

SYSTEMS = ("need_to_talk", "group_chat", "single_agent")
MODEL = "openai:gpt-4o-mini"


def held_runs(
    out: Path,
    topics: Sequence[str] = ("Tea?", "Cars?", "Trees?", "Owls?"),
    systems: Sequence[str] = SYSTEMS,
    *,
    text: str = "Well, let us see.",
    turns: int = 6,
    **about: Any,
) -> list[Held]:
    """Conversations about topics, one of each system, in folders; the words differ from system to system."""
    found = []
    for topic_number, topic in enumerate(topics):
        for number, system in enumerate(systems):
            said = [utterance(turn, PEOPLE[turn % 3], f"{text} ({number} {turn})") for turn in range(1, turns + 1)]
            people = [{"name": name, "description": "Somebody."} for name in PEOPLE]
            folder = write_run(
                out,
                said,
                run=f"{system}-{topic_number}-secret",
                scenario={"topic": topic, "participants": people},
                models={"": MODEL, **dict.fromkeys(PEOPLE, {"natural_language": MODEL})},
                **about,
            )
            found.append(Held(system, topic, topic, folder))
    return found


def key_of(systems: Sequence[str] = SYSTEMS, topics: int = 4) -> Key:
    """The key of a made-up survey: item `t1s0` is the first topic's excerpt of the first system."""
    return Key(
        format=1,
        survey="0123456789ab",
        source="",
        by="method",
        seed=0,
        first=5,
        systems=tuple(KeySystem(name=name, models=(MODEL,)) for name in systems),
        topics=tuple(KeyTopic(topic=n, about=f"Topic {n}?", task=f"task {n}") for n in range(1, topics + 1)),
        items=tuple(
            KeyItem(
                item=f"t{topic}s{number}",
                topic=topic,
                label="ABC"[number],
                order=number + 1,
                system=system,
                run=f"run-{topic}-{number}",
                utterances=5,
                words=100 + 10 * number,
            )
            for topic in range(1, topics + 1)
            for number, system in enumerate(systems)
        ),
    )


def answers_of(ratings: Mapping[str, Mapping[str, int]]) -> Answers:
    """Answers by rater and item."""
    given = [Rating(rater, item, value) for rater, own in ratings.items() for item, value in own.items()]
    return Answers(list(ratings), given, [])


def csv_of(rows: Iterable[Sequence[object]], head: str = "rater,item,rating,comment") -> str:
    """Answers as a table."""
    return "\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n"
