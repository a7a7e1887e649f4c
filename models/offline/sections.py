"""Reading a prompt back into data: the tagged sections and items of the rendered templates.

The offline model is given the very messages that any other model would be given, and nothing else. What stands in the
sections is data; it is matched against the items' fixed wording and never obeyed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import BaseMessage

from persimchat.models.offline import items
from persimchat.models.offline.answer_form import AnswerForm, form_of
from persimchat.models.offline.items import Answered, Heard, Member, MemoryLine, Said, every, first
from persimchat.models.offline.relations import Relation, relation
from persimchat.state.emotion import EMOTIONS
from persimchat.state.errors import ModelError
from persimchat.state.intervention import MODERATOR

MODEL_NAME: Final = "offline"

_TASK = re.compile(r'^<task name="(\w+)">\n?(.*?)\n?</task>\s*$', re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^<(\w+)>\n(.*?)^</\1>[ \t]*$", re.MULTILINE | re.DOTALL)
_TOPIC = re.compile(r"^<topic>\n(.*)^</topic>[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Prompt:
    """All that a prompt says. What it leaves out is empty, None or 0.

    `form` is the answer that a debate is to come to, None in discussions. `later` holds what was said after the task,
    `avoid` what must not be said again, `answers` the last round of a debate in rounds. `people` are those whom a
    script is to be written for, each as in a prompt of their own. `text` is the whole message as it stands.
    """

    task: str
    instructions: str
    name: str
    description: str = ""
    characteristics: dict[str, str] = field(default_factory=dict)
    traits: tuple[str, ...] = ()
    style: str = ""
    knowledge: int | None = None
    need: int | None = None
    openness: int | None = None
    emotions: dict[str, int] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()
    memories: tuple[MemoryLine, ...] = ()
    stm: MemoryLine | None = None
    leaving: MemoryLine | None = None
    similarity: float = 0.0
    identity: str = ""
    plan: str = ""
    goals: tuple[str, ...] = ()
    topic: str = ""
    present: tuple[str, ...] = ()
    turn: int = 0
    limit: int = 0
    spoken: int | None = None
    rules: tuple[str, ...] = ()
    form: AnswerForm | None = None
    closing: bool = False
    group: tuple[Member, ...] = ()
    recent: tuple[Said, ...] = ()
    heard: Heard | None = None
    avoid: tuple[str, ...] = ()
    answers: tuple[Answered, ...] = ()
    people: tuple[Prompt, ...] = ()
    later: tuple[str, ...] = ()
    text: str = ""

    def need_section(self, present: object, tag: str) -> None:
        """Refuse a prompt that lacks what its task is about.

        Raises:
            ModelError: `present` is false.
        """
        if not present:
            raise ModelError(
                f"the prompt has no <{tag}> section",
                model=MODEL_NAME,
                module=self.task,
                remedy="The offline model answers only prompts rendered from this package's templates.",
            )

    @property
    def participants(self) -> tuple[str, ...]:
        """Everybody who takes part: the person of the prompt, and those beside them; a judge takes no part."""
        if self.group:
            return tuple(member.name for member in self.group)
        return (self.name, *self.present) if self.name else self.present

    def leads(self, name: str) -> bool:
        """Whether this is the moderator, who leads the conversation and takes no part in it."""
        return name.startswith(MODERATOR) and name not in self.participants

    def relation_to(self, name: str) -> Relation | None:
        """The relationship to `name`, if the prompt tells one."""
        return next((r for r in self.relations if r.to == name), None)


def message_text(message: BaseMessage) -> str:
    """A message's text, whether its content is a string or a list of parts."""
    if isinstance(message.content, str):
        return message.content
    parts = [p if isinstance(p, str) else str(p.get("text", "")) for p in message.content]
    return "".join(parts)


def read_prompt(messages: Sequence[BaseMessage]) -> Prompt:
    """Read the last human message that holds a task.

    Args:
        messages: as given to the model; human messages after the task (corrections) are kept in `Prompt.later`.

    Raises:
        ModelError: no message holds a task.
    """
    texts = [message_text(m) for m in messages if m.type == "human"]
    for index in range(len(texts) - 1, -1, -1):
        found = list(_TASK.finditer(texts[index]))
        if found:
            return _read(texts[index], found[-1], tuple(texts[index + 1 :]))
    raise ModelError(
        'no message holds a <task name="..."> section',
        model=MODEL_NAME,
        remedy="The offline model answers only prompts rendered from this package's templates.",
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
    where = sections.get("environment", [])
    group = tuple(member for line in sections.get("group", []) if (member := items.member(line)))
    others = tuple(items.among(first(where, "- Also present: ") or "", [m.name for m in group]))
    feelings = sections.get("needs_and_emotions", [])
    progress = re.match(r"(\d+) of (\d+)", first(where, "- Progress: ") or "")
    leaving = sections.get("leaving_memory", [])
    similarity = re.match(r"-?[\d.]+", first(leaving, "- Greatest similarity to anything in long-term memory: ") or "")
    debate = first(where, "- The group is to agree on one answer: ")
    last = sections.get("last_utterances", [])
    return Prompt(
        task=task.group(1),
        instructions=task.group(2),
        **_person(sections, others),
        need=_number(feelings, "- Need to talk: "),
        openness=_number(feelings, "- Openness to consensus: "),
        emotions={e: int(v) for e in EMOTIONS if (v := (first(feelings, f"- {e}: ") or "").partition(" ")[0])},
        memories=tuple(m for line in sections.get("memories", []) if (m := items.memory(line))),
        stm=next((m for line in sections.get("short_term_memory", []) if (m := items.memory(line))), None),
        leaving=next((m for line in leaving if (m := items.memory(line))), None),
        similarity=float(similarity.group()) if similarity else 0.0,
        topic=topic,
        present=others,
        turn=int(progress.group(1)) if progress else 0,
        limit=int(progress.group(2)) if progress else 0,
        spoken=_number(where, "- I have spoken: "),
        rules=tuple(every(where, "- Rule: ")),
        form=None if debate is None else form_of(debate),
        closing=first(where, "- The end of the conversation is near") is not None,
        group=group,
        recent=tuple(s for line in last if (s := items.said(line, (name, *others, MODERATOR)))),
        heard=items.heard(sections.get("heard", []), name),
        avoid=tuple(every(sections.get("avoid", []), "- Not again: ")),
        answers=tuple(a for line in sections.get("answers", []) if (a := items.answered(line, others, name))),
        people=_people(found, task, others),
        later=later,
        text=whole,
    )


def _person(sections: Mapping[str, Sequence[str]], others: Sequence[str]) -> dict[str, Any]:
    """What the sections about one person say, as fields of `Prompt`."""
    who, plans = sections.get("basic_information", []), sections.get("plan_and_identity", [])
    return {
        "name": first(who, "- Name: ") or "",
        "description": first(who, "- Description: ") or "",
        "characteristics": _characteristics(who),
        "traits": tuple(every(who, "- Trait: ")),
        "style": first(who, "- Way of speaking: ") or "",
        "knowledge": _number(who, "- Knowledge: level "),
        "relations": tuple(rel for line in sections.get("relationships", []) if (rel := relation(line, others))),
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
    described = [_person(sections, everybody) for sections in people]
    return tuple(Prompt(task=task.group(1), instructions=task.group(2), **one) for one in described)


def _number(lines: Sequence[str], prefix: str) -> int | None:
    found = re.match(r"\d+", first(lines, prefix) or "")
    return int(found.group()) if found else None


def _characteristics(lines: Sequence[str]) -> dict[str, str]:
    pairs = (text.partition(": ")[::2] for text in every(lines, "- Characteristic: "))
    return {name.strip().casefold(): value.strip() for name, value in pairs if value.strip()}
