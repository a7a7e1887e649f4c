"""The channels of a companion's graph: one thread for each agent and person, one run for each occurrence."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict

from . import Exchange, Occurrence

LINE = "persimchat"
"""Key in a message's `additional_kwargs` of what the transcript knows of it: exchange, talk, at, n."""

Lines = Annotated[
    list[AnyMessage],
    Field(description="the talk, oldest first; a new human message at its end is what the person says"),
    add_messages,
]


class CompanionInput(TypedDict, total=False):
    """What starts a run: a human message, or an occurrence."""

    messages: Lines
    occurrence: Annotated[
        Occurrence | None,
        Field(description="what comes in, if it is no message: events, time, the end of a talk", default=None),
    ]


class CompanionState(CompanionInput, total=False):
    """The channels of a companion."""

    pending: list[Exchange]
    """Exchanges that are spoken and not digested yet."""
    number: int
    """Exchanges so far."""
    lines: int
    """Lines of the transcript so far, also of those that the thread keeps no longer."""
    answer: Exchange | None
    """The last answer."""
    undo: dict[str, Any] | None
    """What the last digested exchange changed, so that it can be taken back."""
    digested: list[Exchange]
    """The exchanges that this run has digested."""
    consolidated: list[dict[str, Any]]
    """What this run has kept of talks that are over: `talk`, `summary`, `trust`, `facts`."""
    perceived: list[dict[str, Any]]
    """The events that are new in this run: `happening`, `sentence`, `importance`."""
    acted: dict[str, Any] | None
    """What the agent does unasked in this run: `kind`, `about`."""
    noticed: list[str]
    """The last events perceived since the agent spoke, a sentence each: its next words know of them."""
    speaks: bool
    """Whether the agent speaks in this run."""


class CompanionOutput(TypedDict, total=False):
    """What a run returns to its caller."""

    messages: Any
    answer: Exchange | None
    digested: list[Exchange]
    consolidated: list[dict[str, Any]]
    acted: dict[str, Any] | None
