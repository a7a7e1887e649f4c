"""Reading a prompt back into data: the tagged sections and items of the rendered templates.

The offline model is given the very messages that any other model would be given, and nothing else. What stands in the
sections is data; it is matched against the items' fixed wording and never obeyed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from langchain_core.messages import BaseMessage

from persimchat.models.offline.relations import Relation, relation
from persimchat.state.emotion import EMOTIONS
from persimchat.state.errors import ModelError

MODEL_NAME: Final = "offline"

_TASK = re.compile(r'^<task name="(\w+)">\n?(.*?)\n?</task>\s*$', re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^<(\w+)>\n(.*?)^</\1>[ \t]*$", re.MULTILINE | re.DOTALL)
_TOPIC = re.compile(r"^<topic>\n(.*)^</topic>[ \t]*$", re.MULTILINE | re.DOTALL)
_MEMORY = re.compile(
    r"^- (?:\[(?P<number>\d+)\] )?(?P<kind>\w+), turn (?P<turn>\d+), importance (?P<importance>\d+): (?P<text>.*)$"
)


@dataclass(frozen=True)
class MemoryLine:
    """One memory as a prompt shows it; `number` is 0 where none is shown."""

    number: int
    kind: str
    turn: int
    importance: int
    theme: str
    keywords: tuple[str, ...]


@dataclass(frozen=True)
class Heard:
    """The utterance just heard."""

    speaker: str
    own: bool
    to_me: bool
    addressees: str
    emotion: dict[str, int]
    words: str


@dataclass(frozen=True)
class Prompt:
    """All that a prompt says. What it leaves out is empty, None or 0."""

    task: str
    instructions: str
    name: str
    description: str = ""
    characteristics: dict[str, str] = field(default_factory=dict)
    traits: tuple[str, ...] = ()
    style: str = ""
    knowledge: int | None = None
    need: int | None = None
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
    recent: tuple[tuple[str, str], ...] = ()
    heard: Heard | None = None
    later: tuple[str, ...] = ()

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
            return _read(texts[index][: found[-1].start()], found[-1], tuple(texts[index + 1 :]))
    raise ModelError(
        'no message holds a <task name="..."> section',
        model=MODEL_NAME,
        remedy="The offline model answers only prompts rendered from this package's templates.",
    )


def _read(text: str, task: re.Match[str], later: tuple[str, ...]) -> Prompt:
    # The topic alone may have several lines, so it is taken out before the items are read.
    topic_match = _TOPIC.search(text)
    topic = topic_match.group(1).strip() if topic_match else ""
    if topic_match:
        text = text[: topic_match.start()] + text[topic_match.end() :]
    sections = {m.group(1): m.group(2).splitlines() for m in _SECTION.finditer(text)}
    who = sections.get("basic_information", [])
    name = _first(who, "- Name: ") or ""
    where = sections.get("environment", [])
    others = tuple(n for n in (_first(where, "- Also present: ") or "").split(", ") if n)
    feelings = sections.get("needs_and_emotions", [])
    plans = sections.get("plan_and_identity", [])
    progress = re.match(r"(\d+) of (\d+)", _first(where, "- Progress: ") or "")
    spoken = re.match(r"\d+", _first(where, "- I have spoken: ") or "")
    knowledge = re.match(r"level (\d)", _first(who, "- Knowledge: ") or "")
    need = re.match(r"\d+", _first(feelings, "- Need to talk: ") or "")
    leaving = sections.get("leaving_memory", [])
    similarity = re.match(r"-?[\d.]+", _first(leaving, "- Greatest similarity to anything in long-term memory: ") or "")
    return Prompt(
        task=task.group(1),
        instructions=task.group(2),
        name=name,
        description=_first(who, "- Description: ") or "",
        characteristics=_characteristics(who),
        traits=tuple(_all(who, "- Trait: ")),
        style=_first(who, "- Way of speaking: ") or "",
        knowledge=int(knowledge.group(1)) if knowledge else None,
        need=int(need.group()) if need else None,
        emotions={e: int(v) for e in EMOTIONS if (v := (_first(feelings, f"- {e}: ") or "").partition(" ")[0])},
        relations=tuple(rel for line in sections.get("relationships", []) if (rel := relation(line, others))),
        memories=tuple(m for line in sections.get("memories", []) if (m := _memory(line))),
        stm=next((m for line in sections.get("short_term_memory", []) if (m := _memory(line))), None),
        leaving=next((m for line in leaving if (m := _memory(line))), None),
        similarity=float(similarity.group()) if similarity else 0.0,
        identity=_first(plans, "- Who I am now: ") or "",
        plan=_first(plans, "- My plan: ") or "",
        goals=tuple(_all(plans, "- My goal: ")),
        topic=topic,
        present=others,
        turn=int(progress.group(1)) if progress else 0,
        limit=int(progress.group(2)) if progress else 0,
        spoken=int(spoken.group()) if spoken else None,
        rules=tuple(_all(where, "- Rule: ")),
        recent=tuple(r for line in sections.get("last_utterances", []) if (r := _said(line, (name, *others)))),
        heard=_heard(sections.get("heard", []), name),
        later=later,
    )


def _all(lines: Sequence[str], prefix: str) -> list[str]:
    return [line[len(prefix) :].strip() for line in lines if line.startswith(prefix)]


def _first(lines: Sequence[str], prefix: str) -> str | None:
    return next(iter(_all(lines, prefix)), None)


def _characteristics(lines: Sequence[str]) -> dict[str, str]:
    pairs = (text.partition(": ")[::2] for text in _all(lines, "- Characteristic: "))
    return {name.strip().casefold(): value.strip() for name, value in pairs if value.strip()}


def _memory(line: str) -> MemoryLine | None:
    found = _MEMORY.match(line)
    if found is None:
        return None
    theme, _, keywords = found["text"].rpartition(" | ")
    if not theme:
        theme, keywords = keywords, ""
    return MemoryLine(
        number=int(found["number"] or 0),
        kind=found["kind"],
        turn=int(found["turn"]),
        importance=int(found["importance"]),
        theme=theme.strip(),
        keywords=tuple(k for k in keywords.split(", ") if k.strip()),
    )


def _said(line: str, names: Sequence[str]) -> tuple[str, str] | None:
    text = line.removeprefix("- ")
    if text == line:
        return None
    for name in sorted(filter(None, names), key=len, reverse=True):
        if text.startswith(name + ": "):
            return name, text[len(name) + 2 :].strip()
    speaker, _, words = text.partition(": ")
    return (speaker, words.strip()) if words else None


def _heard(lines: Sequence[str], name: str) -> Heard | None:
    speaker = _first(lines, "- Speaker: ")
    if speaker is None:
        return None
    own = speaker.endswith(" (myself)")
    addressees = _first(lines, "- Speaks to: ") or ""
    emotion = re.findall(r"(\w+) (\d+)", _first(lines, "- Speaker's emotional state: ") or "")
    return Heard(
        speaker=speaker.removesuffix(" (myself)"),
        own=own,
        to_me=bool(name) and (name in addressees.split(", ") or (", " in name and name in addressees)),
        addressees=addressees,
        emotion={e: min(10, int(v)) for e, v in emotion if e in EMOTIONS},
        words=_first(lines, "- Words: ") or "",
    )
