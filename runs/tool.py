"""A tool for agents: ask a focus group of simulated people."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, get_args

from langchain_core.tools import StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, model_validator

from ..graph.context import listed, settings_of
from ..graph.node import wait_for
from ..nodes.assembling import scenario_of
from ..personas.catalogue import shipped
from ..state.configuration import load_settings
from ..state.conversation import Conversation
from ..state.errors import InputError
from ..state.persona import Persona
from ..state.plain_text import one_line
from ..state.scenario import Scenario
from ..state.settings import Settings
from ..state.wording import t
from .api import Result, asimulate

Kind = Literal["discussion", "debate"]
"""The conversations that an agent can ask for."""
_USUAL_MESSAGES: Final = 8
_DESCRIPTION: Final = (
    "Ask a focus group of simulated people with different temperaments, and read what they say to each other. "
    "Use it to collect views, objections and ideas on a question. The people are simulated by a language model: what "
    "they say is no evidence of what real people would say, so never report it as a survey or as facts."
)


class Member(BaseModel):
    """A participant, as the agent's model names or invents one."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=100, description="their full name")
    description: str = Field(
        default="",
        max_length=1000,
        description="who they are, in one or two sentences, if you make the person up; leave it out for a ready-made "
        "person",
    )

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, data: Any) -> Any:
        """Accept a bare name: models also write it in place of an object with a name."""
        return {"name": data} if isinstance(data, str) else data


def as_tool(
    settings: Settings | None = None,
    *,
    participants: Iterable[str | Mapping[str, Any] | Persona] | None = None,
    most_messages: int = 12,
    most_people: int = 6,
    out: Path | str | None = None,
    name: str = "ask_focus_group",
    description: str = _DESCRIPTION,
) -> StructuredTool:
    """A LangChain tool with which an agent asks a focus group.

    The agent chooses the question, the participants, the number of messages, and whether the group discusses or
    debates. It gets a text with the conclusion and all positions (of a debate), the conversation, and the notice that
    simulated people are not people. The tool message's artifact is the `Result`.

    For invalid arguments the agent gets an error message, so that it can correct them. A model that fails for good
    raises `ModelError` in your program.

    Args:
        settings: of the conversations, budgets included; the agent chooses mode and message limit. None: defaults <
            `PERSIMCHAT_*`.
        participants: who takes part, as for `simulate()`, but no files. None: the agent chooses shipped personas or
            makes people up.
        most_messages: the highest message limit that the agent can ask for.
        most_people: the highest number of participants that the agent can ask for.
        out: folder in which every conversation gets a folder of its own; None writes nothing.
        name: of the tool.
        description: of the tool, for the agent.

    Raises:
        InputError: settings, participants, bounds or name are invalid.
    """
    settings = None if settings is None else settings_of(settings)
    fixed = None if participants is None else _group(listed("participants", participants))
    _check(settings, most_messages, most_people, name)
    usual = min(_USUAL_MESSAGES, most_messages)
    arguments = _arguments(most_messages, most_people, fixed, usual)

    async def ask(
        topic: str, messages: int = usual, kind: Kind = "discussion", who: list[Member] | None = None
    ) -> tuple[str, Result]:
        try:
            scenario = await asyncio.to_thread(_scenario, topic, fixed or [_entry(member) for member in who or ()])
        except InputError as error:
            raise ToolException(str(error)) from error
        result = await asimulate(scenario, settings=settings, out=out, mode=kind, max_messages=messages)
        return report(scenario.topic, result), result

    def ask_sync(
        topic: str, messages: int = usual, kind: Kind = "discussion", who: list[Member] | None = None
    ) -> tuple[str, Result]:
        return wait_for(ask(topic, messages, kind, who))

    return StructuredTool.from_function(
        func=ask_sync,
        coroutine=ask,
        name=name,
        description=description,
        args_schema=arguments,
        infer_schema=False,
        response_format="content_and_artifact",
        handle_tool_error=True,
        handle_validation_error=_complaint,
    )


def report(topic: str, result: Result) -> str:
    """A conversation and its conclusion as text for a model or a person.

    Args:
        topic: what it was about.
        result: the conversation's result.
    """
    lines = [f"Simulated focus group on: {one_line(topic)}", result.disclaimer]
    ended = f" {one_line(result.stop_detail)}" if result.stop_detail else ""
    lines += [f"It ended after {len(result.utterances)} utterances ({result.stop_reason}).{ended}"]
    if result.conclusion is not None:
        come_to = "Everybody agrees on" if result.conclusion.consensus else "No consensus. The majority's position"
        lines += [f"{come_to}: {one_line(result.conclusion.answer)}", f"Why: {one_line(result.conclusion.reasoning)}"]
        if result.conclusion.conditional:
            lines += [f"{t('transcript.conditions')}: {one_line(result.conclusion.conditional)}"]
    if result.verdicts:
        lines += ["Positions:"]
        for held in result.verdicts[-1].positions:
            stance = "agrees" if held.agrees else "does not agree"
            lines += [f"- {held.agent} ({stance}): {one_line(held.position)}"]
    said = [f"{u.speaker}: {one_line(u.text)}" for u in result.utterances]
    return "\n".join([*lines, "Transcript:", *said])


def _arguments(most_messages: int, most_people: int, fixed: list[Any] | None, usual: int) -> type[BaseModel]:
    """The tool's arguments, as the agent's model sees them."""
    fields: dict[str, Any] = {
        "topic": (
            str,
            Field(min_length=3, max_length=2000, description="the question that the group talks about, one sentence"),
        )
    }
    if fixed is None:
        ready = "; ".join(persona.name for persona in shipped())
        who = (
            f"who takes part, 2 to {most_people} people of different minds. Ready, by name alone: {ready}. "
            "Or make people up with name and description. Leave it out for a usual group"
        )
        listed = Field(default=None, min_length=2, max_length=most_people, description=who)
        fields["who"] = (list[Member] | None, listed)
    fields["messages"] = (
        int,
        Field(default=usual, ge=2, le=most_messages, description="number of messages in all"),
    )
    fields["kind"] = (
        Kind,
        Field(
            default="discussion",
            description="discussion: they exchange views; debate: they try to agree on one answer, and a judge says "
            "who holds what",
        ),
    )
    return create_model("AskFocusGroup", __config__=ConfigDict(extra="forbid"), **fields)


def _complaint(error: Any) -> str:
    """What is wrong with the arguments, for the model that gave them."""
    if not isinstance(error, ValidationError):
        return one_line(str(error))
    wrong = [f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in error.errors(include_url=False)]
    return one_line(f"The arguments are wrong. {'; '.join(wrong)}. Correct them and call the tool again.")


def _entry(member: Member) -> Any:
    """A participant: invented if there is a description, else a shipped persona."""
    return member.model_dump() if member.description.strip() else member.name


def _group(participants: list[str | Mapping[str, Any] | Persona]) -> list[Any]:
    """The participants that the developer gave, checked; files and people are refused."""
    entries = [p.model_dump() if isinstance(p, Persona) else p for p in participants]
    scenario = _scenario("Who takes part?", entries)
    people = [persona.name for persona in scenario.participants if persona.human]
    if people:
        raise InputError(
            "a tool cannot wait for a person",
            where=f"participant {people[0]}",
            remedy="Leave human out, or use conversation_node(), where people are asked by an interrupt.",
        )
    return [persona.model_dump() for persona in scenario.participants]


def _scenario(topic: str, entries: list[Any]) -> Scenario:
    return scenario_of(Conversation(topic=topic, participants=entries))


def _check(settings: Settings | None, most_messages: int, most_people: int, name: str) -> None:
    """Refuse arguments with which every call of the agent would fail."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise InputError(
            f"{name!r} is not a valid tool name", where="argument name", remedy="Use 1 to 64 letters, digits, _ and -."
        )
    for bound, value, highest in (("most_messages", most_messages, 1000), ("most_people", most_people, 100)):
        if not isinstance(value, int) or not 2 <= value <= highest:
            raise InputError(
                f"{value!r} is not between 2 and {highest}", where=f"argument {bound}", remedy="Choose another bound."
            )
    if settings is not None:
        for kind in get_args(Kind):
            load_settings(environment={}, base=settings, mode=kind)
