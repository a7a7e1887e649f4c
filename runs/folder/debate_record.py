"""Parts of a debate's records: the position that the judge gives a participant, and the debate's result."""

from __future__ import annotations

from pydantic import Field

from persimchat.runs.folder.stored import Stored, is_empty, is_none


class Position(Stored):
    """A participant's position in a debate, as the judge sees it."""

    agent: str
    position: str = ""
    answer: str | None = Field(
        default=None,
        exclude_if=is_none,
        description="the position in the debate's form of answer; left out if any text is an answer, or it is unclear",
    )
    agrees: bool = Field(
        description="whether the participant agrees with the answer, or, without consensus, with the majority"
    )


class Standing(Stored):
    """A participant's position when a debate reached a conclusion that holds under conditions."""

    agent: str
    position: str = Field(
        default="", description="as the judge sees it, or the participant's own answer; empty if not known"
    )
    words: str = Field(default="", description="the participant's last utterance that all heard")


class Concluded(Stored):
    """The result of a debate."""

    answer: str = Field(description="the common answer, or the position of the majority")
    consensus: bool
    reasoning: str = ""
    supporters: list[str] = Field(default=[], description="agents who hold it, in order of listing")
    by: str = Field(default="", description="who found the answer: the judge, or the baseline's name")
    conditional: str | None = Field(
        default=None,
        exclude_if=is_none,
        description="the conditions under which the answer holds; left out if there are none",
    )
    positions: list[Standing] = Field(
        default=[],
        exclude_if=is_empty,
        description="the positions of all participants; left out if there are no conditions",
    )
