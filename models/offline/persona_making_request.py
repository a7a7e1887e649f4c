"""Reading the prompt that asks for an invented person (`prompts/templates/persona_generation.jinja`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from persimchat.models.offline.sections import MODEL_NAME
from persimchat.state.errors import ModelError

_SECTION: Final = re.compile(r"^<(request|others|avoid)>\n(.*?)^</\1>[ \t]*$", re.MULTILINE | re.DOTALL)
_PERSON: Final = re.compile(r"(\d+) of (\d+)")
_TASK: Final = '<task name="persona_generation">'


@dataclass(frozen=True)
class Other:
    """Somebody made before.

    Attributes:
        name: in full.
        age: years; 0 where it is not known.
        occupation: what they do.
        traits: as the prompt lists them.
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

    about: str
    number: int
    fixed: dict[str, str]
    others: tuple[Other, ...]
    again: str

    @property
    def shift(self) -> int:
        """How far the decks are moved on, so that another answer is another one."""
        return 7 * (1 + self.again.count("\n")) + len(self.again) if self.again else 0


def read_request(text: str) -> Request:
    """The request in a prompt.

    Args:
        text: the user's part of the prompt; what follows the task (a correction) counts as an earlier failure.

    Raises:
        ModelError: it holds no request.
    """
    sections = {found[1]: found[2].splitlines() for found in _SECTION.finditer(text)}
    lines = sections.get("request", [])
    person = next((m for line in lines if (m := _PERSON.fullmatch(line.removeprefix("- Person: ")))), None)
    if person is None:
        raise ModelError(
            "the prompt has no <request> section",
            model=MODEL_NAME,
            module="persona_generation",
            remedy="The offline model answers only prompts rendered from this package's templates.",
        )
    fixed = [line.removeprefix("- Fixed: ").partition(": ") for line in lines if line.startswith("- Fixed: ")]
    after = text.rpartition(_TASK)[2].rpartition("</task>")[2]
    return Request(
        about=next((line.removeprefix("- The group: ") for line in lines if line.startswith("- The group: ")), ""),
        number=int(person[1]),
        fixed={name.strip().lower(): value.strip() for name, _, value in fixed},
        others=tuple(_other(line) for line in sections.get("others", [])),
        again="\n".join(sections.get("avoid", [])) + after.strip(),
    )


def _other(line: str) -> Other:
    name, _, rest = line.removeprefix("- ").partition(": ")
    facts, _, traits = rest.rpartition("; ")
    age, _, doing = facts.partition(", ")
    words = tuple(trait.strip() for trait in traits.split(", "))
    return Other(name.strip(), int(age) if age.isdecimal() else 0, doing.partition(", ")[2], words)
