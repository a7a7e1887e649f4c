"""Who is asked for where a person is to be invented (`prompts/templates/persona_generation.jinja`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from persimchat.prompts.rendering import one_line
from persimchat.state.persona import Persona


@dataclass(frozen=True)
class Other:
    """Somebody made before.

    Attributes:
        name: in full.
        age: years; 0 where it is not known.
        occupation: what they do.
        traits: as they stand in their profile.
    """

    name: str
    age: int
    occupation: str
    traits: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """Who is asked for.

    Attributes:
        about: who they all are, in a sentence; may be empty.
        number: which one of them, from 1.
        fixed: characteristic in lower case → value.
        others: those made before.
        again: what was wrong with earlier answers; empty where there were none.
    """

    about: str = ""
    number: int = 1
    fixed: Mapping[str, str] = field(default_factory=dict)
    others: tuple[Other, ...] = ()
    again: tuple[str, ...] = ()

    @property
    def shift(self) -> int:
        """How far the decks are moved on, so that another answer is another one."""
        return 7 * len(self.again) + sum(map(len, self.again))


def request_of(values: Mapping[str, Any], later: Sequence[str] = ()) -> Request:
    """The request in a template's values.

    Args:
        values: as `prompts/templates/persona_generation.jinja` is given them.
        later: what was said after the task; it counts as what was wrong with earlier answers.
    """
    wrong = (one_line(f"{problem.kind}: {problem.value} ({problem.other})") for problem in values["problems"])
    return Request(
        about=one_line(values["about"]),
        number=values["number"],
        fixed={one_line(name).lower(): one_line(value) for name, value in values["fixed"]},
        others=tuple(_other(persona) for persona in values["others"]),
        again=(*wrong, *later),
    )


def _other(persona: Persona) -> Other:
    return Other(
        name=one_line(persona.name),
        age=persona.age or 0,
        occupation=one_line(persona.characteristic("occupation") or ""),
        traits=tuple(map(one_line, persona.traits)),
    )
