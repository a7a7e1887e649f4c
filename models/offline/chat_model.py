"""The offline model as a LangChain chat model."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from persimchat.models.offline.answers import OUTSIDE, TASKS, answered
from persimchat.models.offline.companion.talking import companion_words
from persimchat.models.offline.moderating import moderated
from persimchat.models.offline.persona_facts import facts_of
from persimchat.models.offline.prompt import MODEL_NAME, Prompt, Said
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.reading import prompt_of
from persimchat.models.offline.situation import scene_of
from persimchat.models.offline.story.breakouts import places_ahead, report
from persimchat.models.offline.story.phrases import story_words
from persimchat.models.offline.utterance import worded
from persimchat.models.offline.words import spoken_to
from persimchat.prompts.blocks import estimated_tokens
from persimchat.state.errors import ModelError, suggestion


def script(prompt: Prompt, seed: int) -> str:
    """The conversation, one utterance per line: the speaker's name, a colon, the words."""
    people = prompt.people or ((replace(prompt, answers=()),) if prompt.name else ())
    prompt.need_section(people, "basic_information")
    prompt.need_section(prompt.topic, "environment")
    length = prompt.length
    names = [person.name for person in people]
    # One leave-taking per participant, but at most a quarter of all utterances.
    leaving = min(len(names), length // 4) if prompt.takes_leave else 0
    said: list[Said] = []
    for turn in range(length):
        closing = 0 < length - turn <= leaving
        gone = {s.speaker for s in said[length - leaving :]} if closing else set()
        speaker = _next(people, said, gone, prompt, seed)
        own = replace(
            speaker,
            topic=prompt.topic,
            present=tuple(n for n in names if n != speaker.name),
            turn=turn,
            limit=length,
            spoken=sum(s.speaker == speaker.name for s in said),
            rules=prompt.rules,
            form=prompt.form,
            closing=closing,
            recent=tuple(said),
            later=prompt.later,
            register=prompt.register,
            words=prompt.words,
        )
        said.append(Said(speaker.name, worded(scene_of(own, seed))))
    return "\n".join(f"{s.speaker}: {s.words}" for s in said)


def _next(people: Sequence[Prompt], said: Sequence[Said], gone: set[str], prompt: Prompt, seed: int) -> Prompt:
    """The next speaker: the one addressed, else one who has waited long for their temper; nobody twice in a row."""
    last = said[-1] if said else None
    able = [p for p in people if p.name not in gone and not (last and p.name == last.speaker)]
    able = able or [p for p in people if not (last and p.name == last.speaker)] or list(people)
    names = [p.name for p in people]
    called = spoken_to(last.words, last.speaker, names) if last else []
    silent = [p for p in able if not any(s.speaker == p.name for s in said)]

    def eager(person: Prompt) -> float:
        waited = next((i for i, s in enumerate(reversed(said)) if s.speaker == person.name), len(said) + 1)
        groups = facts_of(person).groups
        draw = generator(seed, "next", prompt.topic, len(said), person.name).random()
        asked = 6.0 * ("?" in last.words) if last and person.name in called else 0.0
        # Everyone speaks once before anyone speaks a third time.
        due = 5.0 * (person in silent and len(said) >= len(people))
        temper = 0.8 * ("talkative" in groups) - 0.8 * ("reserved" in groups)
        return 0.6 * min(waited, 6) + asked + 1.5 * (person.name in called) + due + temper + 1.5 * draw

    if silent and prompt.length - len(said) <= len(silent):
        return silent[0]
    return max(able, key=eager)


NOTICE: Final = "The offline model is no language model: it words set phrases by chance, persona and topic."
"""The notice for every reader of its output."""

_SPOKEN: Final = ("utterance", "group_chat")
"""The tasks that are answered with an utterance."""

_TASK: Final = "<task name="
"""The beginning of the task in the text of every prompt of this package."""
_READING: Final = 8.0
_WORDING: Final = 3.0
"""Words per second, for the reported response time: people read about four and speak about two and a half."""


class OfflineChatModel(BaseChatModel):
    """A small stochastic model of conversation. It is not a language model.

    It gets the same messages as any other model, and reads not their words but the blocks and values from which they
    were rendered (`prompts/rendering.py`). It answers every task: judgements follow from persona, emotions,
    relationships and bounded-confidence opinion dynamics (`opinion.py`); utterances are assembled from phrase material
    (the YAML files beside this one). It needs no network and no key, keeps no state, and gives the same answer to the
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
        prompt = prompt_of(messages)
        return worded(scene_of(_on_text(messages), self.seed)) if prompt is None else self.answer_to(prompt)

    def answer_to(self, prompt: Prompt) -> str:
        """The answer to a prompt.

        Raises:
            ModelError: the task is unknown, or a section that it needs is missing.
        """
        if prompt.task in _SPOKEN:
            prompt.need_section(prompt.name, "basic_information")
            prompt.need_section(prompt.topic, "environment")
            if prompt.story is not None and prompt.story.words.get("place") == "report":
                return report(prompt, self.seed)
            if prompt.name == prompt.moderator != "":
                return moderated(prompt, self.seed)
            return worded(scene_of(prompt, self.seed, ahead=places_ahead(prompt)))
        if prompt.task == "story_utterance":
            prompt.need_section(prompt.name, "basic_information")
            return story_words(prompt, self.seed)
        if prompt.task == "companion":
            prompt.need_section(prompt.name, "basic_information")
            return companion_words(prompt, self.seed)
        if prompt.task == "script":
            return script(prompt, self.seed)
        if prompt.task not in TASKS:
            raise ModelError(
                f"unknown task {prompt.task!r}",
                model=self.model_name,
                remedy=suggestion(prompt.task, [*_SPOKEN, "script", *TASKS]),
            )
        if prompt.task not in OUTSIDE:
            prompt.need_section(prompt.name, "basic_information")
        return json.dumps(answered(prompt.task, prompt, self.seed), ensure_ascii=False)

    def _metadata(self, messages: list[BaseMessage], text: str) -> tuple[UsageMetadata, dict[str, Any]]:
        read = "\n".join(str(m.text) for m in messages)
        given, made = estimated_tokens(read), estimated_tokens(text)
        usage = UsageMetadata(input_tokens=given, output_tokens=made, total_tokens=given + made)
        # Most of a prompt is as in the last turn, so only a tenth of it counts as read.
        seconds = round(0.1 * len(read.split()) / _READING + len(text.split()) / _WORDING, 2)
        return usage, {"model_name": self.model_name, "estimated": True, "response_time_s": seconds}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        text = self._seeded(kwargs).answer(messages)
        usage, metadata = self._metadata(messages, text)
        message = AIMessage(content=text, usage_metadata=usage, response_metadata=metadata)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, **kwargs)

    def _seeded(self, given: Mapping[str, Any]) -> OfflineChatModel:
        """This model with the seed of a request that has its own."""
        return self.model_copy(update={"seed": given["seed"]}) if "seed" in given else self

    def _chunks(self, messages: list[BaseMessage], given: Mapping[str, Any]) -> Iterator[ChatGenerationChunk]:
        text = self._seeded(given).answer(messages)
        usage, metadata = self._metadata(messages, text)
        for word in re.findall(r"\S+\s*|\s+", text):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        last = AIMessageChunk(content="", usage_metadata=usage, response_metadata=metadata, chunk_position="last")
        yield ChatGenerationChunk(message=last)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, kwargs):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, kwargs):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Tools are accepted and not used."""
        return self.bind(tools=tools, **kwargs)


def _on_text(messages: list[BaseMessage]) -> Prompt:
    """A prompt for an utterance on the last text of a user message.

    Raises:
        ModelError: there is none, or it is a prompt of this package that was passed on as plain text.
    """
    text = next((str(m.text).strip() for m in reversed(messages) if m.type == "human"), "")
    if not text or _TASK in text:
        raise ModelError(
            "the prompt is mere text, from which no task can be taken" if text else "no message of a user's has words",
            model=MODEL_NAME,
            remedy="Give the offline model the very messages of persimchat.prompts.render, or a topic.",
        )
    return Prompt("utterance", topic=text)
