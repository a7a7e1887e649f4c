"""Reading the text of a prompt, as the model of a server has to: its tagged sections and their items.

The server of these tests answers with what the offline model would say. That one is given the blocks of a prompt and
reads no text; what came over the wire is nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import BaseMessage

from loopback import reading_items
from loopback.reading_items import every, first
from persimchat.models.offline.persona_making.request import Other, Request
from persimchat.models.offline.prompt import MODEL_NAME, Prompt
from persimchat.state.emotion import EMOTIONS
from persimchat.state.errors import ModelError
from persimchat.state.intervention import MODERATOR
from persimchat.state.judgement import PARTS

_TASK: Final = re.compile(r'^<task name="(\w+)">\n?(.*?)\n?</task>\s*$', re.MULTILINE | re.DOTALL)
_SECTION: Final = re.compile(r"^<(\w+)>\n(.*?)^</\1>[ \t]*$", re.MULTILINE | re.DOTALL)
_TOPIC: Final = re.compile(r"^<topic>\n(.*)^</topic>[ \t]*$", re.MULTILINE | re.DOTALL)
_REQUEST: Final = re.compile(r"^<(request|others|avoid)>\n(.*?)^</\1>[ \t]*$", re.MULTILINE | re.DOTALL)
_TOLD: Final = {
    "register": re.compile(r"Register: (casual|neutral|formal)\b"),
    "words": re.compile(r"about (\d+) words"),
    "opposes": re.compile(r"The affirmative side answers: (.+)$", re.MULTILINE),
    "candidates": re.compile(r"Only these may: (.+)\.$", re.MULTILINE),
    "parts": re.compile(rf"in this order: ((?:{'|'.join(PARTS)}|, )+)\."),
    "length": re.compile(r"from the first word to the last: (\d+) utterance"),
}
"""How the tasks word what differs from prompt to prompt, by the field of `Prompt`."""


def read_prompt(messages: Sequence[BaseMessage]) -> Prompt:
    """Read the last human message that holds a task.

    Args:
        messages: as given to the model; human messages after the task (corrections) are kept in `Prompt.later`.

    Raises:
        ModelError: no message holds a task.
    """
    texts = [str(m.text) for m in messages if m.type == "human"]
    for index in range(len(texts) - 1, -1, -1):
        found = list(_TASK.finditer(texts[index]))
        if found:
            return _read(texts[index], found[-1], tuple(texts[index + 1 :]))
    raise ModelError(
        'no message holds a <task name="..."> section',
        model=MODEL_NAME,
    )


def _read(whole: str, task: re.Match[str], later: tuple[str, ...]) -> Prompt:
    text = whole[: task.start()]
    # The topic alone may have several lines, so it is taken out before the items are read.
    topic_match = _TOPIC.search(text)
    topic = topic_match.group(1).strip() if topic_match else ""
    if topic_match:
        text = text[: topic_match.start()] + text[topic_match.end() :]
    found = [(m.group(1), m.group(2).splitlines()) for m in _SECTION.finditer(text)]
    sections = dict(found)
    who = sections.get("basic_information", [])
    name = first(who, "- Name: ") or ""
    where = [line for tag in ("environment", "scene", "progress") for line in sections.get(tag, [])]
    group = tuple(member for line in sections.get("group", []) if (member := reading_items.member(line)))
    others = tuple(reading_items.among(first(where, "- Also present: ") or "", [m.name for m in group]))
    feelings = sections.get("needs_and_emotions", [])
    progress = re.match(r"(\d+) of (\d+)", first(where, "- Progress: ") or "")
    leaving = sections.get("leaving_memory", [])
    similarity = re.match(r"-?[\d.]+", first(leaving, "- Greatest similarity to anything in long-term memory: ") or "")
    debate = first(where, "- The group is to agree on one answer: ")
    last = sections.get("last_utterances", [])
    return Prompt(
        task=task.group(1),
        **_person(sections, others),
        **_asked(task.group(2), [m.name for m in group]),
        need=_number(feelings, "- Need to talk: "),
        openness=_number(feelings, "- Openness to consensus: "),
        emotions={e: int(v) for e in EMOTIONS if (v := (first(feelings, f"- {e}: ") or "").partition(" ")[0])},
        memories=tuple(m for line in sections.get("memories", []) if (m := reading_items.memory(line))),
        stm=next((m for line in sections.get("short_term_memory", []) if (m := reading_items.memory(line))), None),
        leaving=next((m for line in leaving if (m := reading_items.memory(line))), None),
        similarity=float(similarity.group()) if similarity else 0.0,
        topic=topic,
        present=others,
        turn=int(progress.group(1)) if progress else 0,
        limit=int(progress.group(2)) if progress else 0,
        spoken=_number(where, "- I have spoken: "),
        rules=tuple(every(where, "- Rule: ")),
        form=None if debate is None else reading_items.form_of(debate),
        closing=first(where, "- The end of the conversation is near") is not None,
        group=group,
        recent=tuple(s for line in last if (s := reading_items.said(line, (name, *others, MODERATOR)))),
        heard=reading_items.heard(sections.get("heard", []) or sections.get("wording", []), name),
        avoid=tuple(every(sections.get("avoid", []), "- Not again: ")),
        answers=tuple(a for line in sections.get("answers", []) if (a := reading_items.answered(line, others, name))),
        people=_people(found, task, others),
        later=later,
        request=_request(whole, later) if task.group(1) == "persona_generation" else None,
    )


def _person(sections: Mapping[str, Sequence[str]], others: Sequence[str]) -> dict[str, Any]:
    """What the sections about one person say, as fields of `Prompt`."""
    who = sections.get("basic_information", [])
    told = (reading_items.relation(line, others) for line in sections.get("relationships", []))
    plans = [line for tag in ("plan_and_identity", "plan", "goals") for line in sections.get(tag, [])]
    return {
        "name": first(who, "- Name: ") or "",
        "description": first(who, "- Description: ") or "",
        "characteristics": _characteristics(who),
        "traits": tuple(every(who, "- Trait: ")),
        "style": first(who, "- Way of speaking: ") or "",
        "knowledge": _number(who, "- Knowledge: level "),
        "relations": tuple(filter(None, told)),
        "identity": first(plans, "- Who I am now: ") or "",
        "plan": first(plans, "- My plan: ") or "",
        "goals": tuple(every(plans, "- My goal: ")),
    }


def _people(
    found: Sequence[tuple[str, list[str]]], task: re.Match[str], everybody: Sequence[str]
) -> tuple[Prompt, ...]:
    """Those whom a prompt describes one after the other: each one's sections begin with basic_information."""
    people: list[dict[str, list[str]]] = []
    for tag, lines in found:
        if tag == "basic_information":
            people.append({})
        if people:
            people[-1][tag] = lines
    if len(people) < 2:
        return ()
    return tuple(Prompt(task.group(1), **_person(sections, everybody)) for sections in people)


def _number(lines: Sequence[str], prefix: str) -> int | None:
    found = re.match(r"\d+", first(lines, prefix) or "")
    return int(found.group()) if found else None


def _characteristics(lines: Sequence[str]) -> dict[str, str]:
    pairs = (text.partition(": ")[::2] for text in every(lines, "- Characteristic: "))
    return {name.strip().casefold(): value.strip() for name, value in pairs if value.strip()}


def _asked(instructions: str, names: Sequence[str]) -> dict[str, Any]:
    """What the task says, as fields of `Prompt`; words that it does not have leave them as they are."""
    found = {name: pattern.search(instructions) for name, pattern in _TOLD.items()}
    told = {name: match[1] for name, match in found.items() if match}
    return {
        **{name: told[name] for name in ("register", "opposes") if name in told},
        **{name: int(told[name]) for name in ("words", "length") if name in told},
        "confident": "- confidence:" in instructions,
        "last_round": "This was the last round" in instructions,
        "takes_leave": "take leave in the last utterances" in instructions,
        "candidates": tuple(reading_items.among(told.get("candidates", ""), names)),
        "parts": tuple(told["parts"].split(", ")) if "parts" in told else (),
    }


def _request(text: str, later: tuple[str, ...]) -> Request | None:
    """The person that is asked for; None where the text does not say."""
    sections = {found[1]: found[2].splitlines() for found in _REQUEST.finditer(text)}
    lines = sections.get("request", [])
    person = re.match(r"\d+", first(lines, "- Person: ") or "")
    if person is None:
        return None
    fixed = [line.partition(": ") for line in every(lines, "- Fixed: ")]
    return Request(
        about=first(lines, "- The group: ") or "",
        number=int(person.group()),
        fixed={name.strip().lower(): value.strip() for name, _, value in fixed},
        others=tuple(_other(line) for line in sections.get("others", [])),
        again=(*sections.get("avoid", []), *later),
    )


def _other(line: str) -> Other:
    name, _, rest = line.removeprefix("- ").partition(": ")
    facts, _, traits = rest.rpartition("; ")
    age, _, doing = facts.partition(", ")
    words = tuple(trait.strip() for trait in traits.split(", "))
    return Other(name.strip(), int(age) if age.isdecimal() else 0, doing.partition(", ")[2], words)
