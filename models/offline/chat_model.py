"""The offline model as a LangChain chat model, and the answer to each task of a prompt."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from ...prompts.blocks import estimated_tokens
from ...state.errors import ModelError, suggestion
from ..drawn import answer_to
from . import companion_judging, minds, onlookers, story
from .companion import companion_words
from .material import generator, spoken_to
from .persona_facts import facts_of
from .persona_making import persona_generation
from .prompt import MODEL_NAME, Answer, Prompt, Said, prompt_of
from .utterance import Scene, worded

NOTICE: Final = "The offline model is no language model: it words set phrases by chance, persona and topic."
"""The notice for every reader of its output."""

_TASK: Final = "<task name="
"""The beginning of the task in the text of every prompt of this package."""
_READING: Final = 8.0
_WORDING: Final = 3.0
"""Words per second, for the reported response time: people read about four and speak about two and a half."""

Task = Callable[[Prompt], Answer]


def _named(module: Any, names: str) -> dict[str, Task]:
    return {name: getattr(module, name) for name in names.split()}


def _parts(prompt: Prompt) -> Answer:
    """Several judgements in one answer: those that the task names, each as in an answer of its own.

    A plan that still holds is null.
    """
    holds = not minds.replans(prompt) if "planning" in prompt.values["parts"] else False
    return {part: None if holds and part == "planning" else judgement(part, prompt) for part in prompt.values["parts"]}


TASKS: Final[Mapping[str, Task]] = {
    **_named(
        minds, "perception focal_points memory_filtering action reflection planning need_to_talk openness emotion"
    ),
    **dict.fromkeys(("hearing", "appraisal", "reaction"), _parts),
    **_named(onlookers, "selector analysis poll interview judge majority inconsistency"),
    **_named(onlookers, "answering mad_judge solving"),
    **_named(companion_judging, "trust events reacting consolidation day_plan chunks"),
    **story.TASKS,
    "persona_generation": persona_generation,
}
"""Every judging task by the name in its template."""
_OF_COMPANIONS: Final = _named(companion_judging, "perception emotion focal_points reflection")
"""The tasks that a companion answers in its own way."""
_OUTSIDE: Final = frozenset(
    {"judge", "majority", "selector", "analysis", "inconsistency", "mad_judge", "solving"}
    | {"persona_generation", "script"}
)
"""Tasks that belong to no agent, so that their prompts need not name one."""


def judgement(task: str, prompt: Prompt) -> Answer:
    """The fields of the answer to a judging task."""
    if task in _of_packages(prompt):
        return answer_to(task, prompt.draw(task))
    tasks = {**TASKS, **_OF_COMPANIONS} if prompt.known.person else TASKS
    return tasks[task](prompt)


def _of_packages(prompt: Prompt) -> Mapping[str, str]:
    """The tasks of modules of installed packages, by name."""
    return cast(Mapping[str, str], prompt.values.get("own", {}))


def _utterance(prompt: Prompt) -> str:
    prompt.need(prompt.topic, "environment")
    if prompt.values.get("place") == "report":
        return story.report(prompt)
    if prompt.name == prompt.moderator != "":
        return onlookers.moderated(prompt)
    # A room of a split group leaves places in all decks to those before it.
    room = prompt.items.first("room_number").get("number", 1) - 1
    return worded(Scene(prompt, ahead=story.APART * room))


def script(prompt: Prompt) -> str:
    """The conversation, one utterance per line: the speaker's name, a colon, the words."""
    people = prompt.need(prompt.people or ((prompt,) if prompt.name else ()), "basic_information")
    prompt.need(prompt.topic, "environment")
    length = int(prompt.values.get("count", 0))
    names = [person.name for person in people]
    # One leave-taking per participant, but at most a quarter of all utterances.
    leaving = min(len(names), length // 4) if prompt.values["closing"] else 0
    said: list[Said] = []
    for turn in range(length):
        closing = 0 < length - turn <= leaving
        gone = {s.speaker for s in said[length - leaving :]} if closing else set()
        speaker = _next(people, said, gone, prompt.topic, length)
        own = replace(
            speaker,
            present=tuple(n for n in names if n != speaker.name),
            turn=turn,
            limit=length,
            spoken=sum(s.speaker == speaker.name for s in said),
            closing=closing,
            recent=tuple(said),
        )
        said.append(Said(speaker.name, worded(Scene(own))))
    return "\n".join(f"{s.speaker}: {s.text}" for s in said)


def _next(people: Sequence[Prompt], said: Sequence[Said], gone: set[str], topic: str, length: int) -> Prompt:
    """The next speaker: the one addressed, else one who has waited long for their temper; nobody twice in a row."""
    last = said[-1] if said else Said("", "")
    others = [p for p in people if p.name != last.speaker]
    able = [p for p in others if p.name not in gone] or others or list(people)
    called = spoken_to(last.text, last.speaker, [p.name for p in people])
    speakers = [one.speaker for one in reversed(said)]
    silent = [p for p in able if p.name not in speakers]

    def eager(person: Prompt) -> float:
        waited = speakers.index(person.name) if person.name in speakers else len(said) + 1
        groups, draw = facts_of(person).groups, generator(person.seed, "next", topic, len(said), person.name).random()
        asked = (1.5 + 6.0 * ("?" in last.text)) * (person.name in called)
        # Everyone speaks once before anyone speaks a third time.
        due = 5.0 * (person in silent and len(said) >= len(people))
        temper = 0.8 * ("talkative" in groups) - 0.8 * ("reserved" in groups)
        return 0.6 * min(waited, 6) + asked + due + temper + 1.5 * draw

    return silent[0] if silent and length - len(said) <= len(silent) else max(able, key=eager)


_SPOKEN: Final[Mapping[str, Callable[[Prompt], str]]] = {
    "utterance": _utterance,
    "group_chat": _utterance,
    "story_utterance": story.story_words,
    "companion": companion_words,
    "script": script,
}
"""The tasks that are answered with words, by their names."""


class OfflineChatModel(BaseChatModel):
    """A small stochastic model of conversation. It is not a language model.

    It gets the same messages as any other model, and reads not their words but the blocks and values from which they
    were rendered (`prompts/rendering.py`). It answers every task: judgements follow from persona, emotions,
    relationships and bounded-confidence opinion dynamics (`positions.py`); utterances are assembled from phrases (the
    YAML files beside this one). It needs no network and no key, keeps no state, and gives the same answer to the
    same messages and seed.

    Text that was not rendered from this package's templates has no blocks: the model takes it as a topic, and answers
    with an utterance on it by an unnamed speaker.

    It is for experiments, tests and demonstrations. Its words are no evidence about people.
    """

    seed: int = 0
    """All randomness comes from it and from the messages."""
    model_name: str = MODEL_NAME

    @property
    def _llm_type(self) -> str:
        return MODEL_NAME

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name, "seed": self.seed}

    def answer(self, messages: list[BaseMessage]) -> str:
        """The answer's text: JSON for a judging task, plain text for an utterance or a script.

        Raises:
            ModelError: there is no user message, or it is only the text of a prompt; the task is unknown, or a section
                that it needs is missing.
        """
        prompt = prompt_of(messages, self.seed)
        if prompt is None:
            return worded(Scene(_on_text(messages, self.seed)))
        if prompt.task not in (*_SPOKEN, *TASKS, *_of_packages(prompt)):
            remedy = suggestion(prompt.task, [*_SPOKEN, *TASKS])
            raise ModelError(f"unknown task {prompt.task!r}", model=MODEL_NAME, remedy=remedy)
        if prompt.task not in _OUTSIDE:
            prompt.need(prompt.name, "basic_information")
        if prompt.task in _SPOKEN:
            return _SPOKEN[prompt.task](prompt)
        return json.dumps(judgement(prompt.task, prompt), ensure_ascii=False)

    def _answered(
        self, messages: list[BaseMessage], given: Mapping[str, Any]
    ) -> tuple[str, UsageMetadata, dict[str, Any]]:
        """The answer's text, with estimated usage and metadata; a request may have a seed of its own."""
        text = (self.model_copy(update={"seed": given["seed"]}) if "seed" in given else self).answer(messages)
        asked = "\n".join(str(m.text) for m in messages)
        read, made = estimated_tokens(asked), estimated_tokens(text)
        # Most of a prompt is as in the last turn, so only a tenth of it counts as read.
        seconds = round(0.1 * len(asked.split()) / _READING + len(text.split()) / _WORDING, 2)
        metadata = {"model_name": self.model_name, "estimated": True, "response_time_s": seconds}
        return text, UsageMetadata(input_tokens=read, output_tokens=made, total_tokens=read + made), metadata

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        text, usage, metadata = self._answered(messages, kwargs)
        message = AIMessage(content=text, usage_metadata=usage, response_metadata=metadata)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return self._generate(messages, **kwargs)

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        text, usage, metadata = self._answered(messages, kwargs)
        for word in re.findall(r"\S+\s*|\s+", text):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        last = AIMessageChunk(content="", usage_metadata=usage, response_metadata=metadata, chunk_position="last")
        yield ChatGenerationChunk(message=last)

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages, **kwargs):
            yield chunk

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Tools are accepted and not used."""
        return self.bind(tools=tools, **kwargs)


def _on_text(messages: list[BaseMessage], seed: int) -> Prompt:
    """A prompt for an utterance on the last text of a user message.

    Raises:
        ModelError: there is none, or it is a prompt of this package that was passed on as plain text.
    """
    text = next((str(m.text).strip() for m in reversed(messages) if m.type == "human"), "")
    if not text or _TASK in text:
        mere = "the prompt is mere text, from which no task can be taken"
        remedy = "Give the offline model the very messages of persimchat.prompts.render, or a topic."
        raise ModelError(mere if text else "no message of a user's has words", model=MODEL_NAME, remedy=remedy)
    return Prompt("utterance", seed=seed, topic=text)
