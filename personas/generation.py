"""Generates personas one after another, so that each can be made different from the previous ones.

They are made one by one and not at the same time because the members of a group must differ: a model that does not see
the others gives all of them the same name and the same temper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from persimchat.models.asking import Answer, ask
from persimchat.models.failures import TransientModelError
from persimchat.models.naming import parse_model_name
from persimchat.models.registry import model_name, ready_model
from persimchat.personas.generation_answer import CHARACTERISTICS, answer_schema, field, persona_of
from persimchat.personas.generation_checks import Problem, problems
from persimchat.personas.quota_sampling import persons
from persimchat.personas.quotas import Quotas
from persimchat.state.errors import InputError, ModelError
from persimchat.state.mind import Call
from persimchat.state.persona import Persona
from persimchat.state.plain_text import one_line
from persimchat.state.settings import Settings

MOST: Final = 100
"""The most personas that one generation makes."""
LONGEST_ABOUT: Final = 1000
"""The most characters of the sentence that describes them."""
TIMES: Final = 3
"""How often one persona is asked for until it differs from the others."""

_MODULE: Final = "persona_generation"
_ATTEMPTS: Final = 4
"""Attempts of one request that fails for a transient reason; about 1, 2 and 4 seconds lie in between."""


@dataclass(frozen=True)
class Generated:
    """A generated persona.

    Attributes:
        persona: the persona.
        fixed: names of the characteristics that were fixed.
        calls: the requests that it took.
    """

    persona: Persona
    fixed: tuple[str, ...]
    calls: tuple[Call, ...]


def model_asked(settings: Settings) -> str:
    """The name of the model that makes personas."""
    return parse_model_name(model_name(settings, "", _MODULE)).written


def check_request(number: int, about: str) -> None:
    """Refuse an impossible request.

    Raises:
        InputError: the number is outside 1 to `MOST`; the sentence is too long.
    """
    if not 1 <= number <= MOST:
        raise InputError(f"{number} personas cannot be made", where="--n", remedy=f"Ask for 1 to {MOST}.")
    if len(about) > LONGEST_ABOUT:
        what = f"the sentence is too long: {len(about):,} characters"
        raise InputError(what, where="--about", remedy=f"Say it in at most {LONGEST_ABOUT:,}.")


async def generate(
    number: int,
    settings: Settings,
    *,
    about: str = "",
    quotas: Quotas | None = None,
    made: Callable[[Persona], None] = lambda _: None,
) -> list[Generated]:
    """Make personas; all of them, or an error.

    Args:
        number: how many, 1 to `MOST`.
        settings: which model is asked, and the seed, which also decides who gets which part of a quota.
        about: a sentence that describes them; no restriction if it is empty.
        quotas: shares of characteristics, which the personas will have exactly.
        made: called with each persona as soon as it is made.

    Raises:
        InputError: the number, the sentence or the model's name is wrong.
        ModelError: the model fails permanently, answers wrongly twice, or repeats the same persona.
    """
    check_request(number, about)
    slots = persons(quotas, number, settings.seed)
    await ready_model(model_asked(settings), settings)
    done: list[Generated] = []
    for fixed in slots:
        others = [generated.persona for generated in done]
        done.append(await _unlike(others, fixed, number, one_line(about), settings))
        made(done[-1].persona)
    return done


async def _unlike(
    others: Sequence[Persona], fixed: Mapping[str, str], total: int, about: str, settings: Settings
) -> Generated:
    """One more persona, asked for until nothing is wrong with it."""
    schema = answer_schema(frozenset(fixed))
    asked = tuple((field(name), what) for name, (_, what) in CHARACTERISTICS.items() if name not in fixed)
    wrong: list[Problem] = []
    calls: list[Call] = []
    for _ in range(TIMES):
        answer = await _asked(
            schema,
            settings,
            about=about,
            number=len(others) + 1,
            total=total,
            fixed=tuple(fixed.items()),
            asked=asked,
            others=others,
            problems=wrong,
        )
        calls.append(answer.call)
        persona = persona_of(answer.value, fixed)
        wrong = problems(persona, others)
        if not wrong:
            return Generated(persona, tuple(fixed), tuple(calls))
    raise ModelError(
        f"persona {len(others) + 1} of {total} was unusable {TIMES} times: {wrong[0]}",
        model=model_asked(settings),
        module=_MODULE,
        remedy="Try another seed, fewer personas, or a model that follows instructions better.",
    )


async def _asked(schema: type[BaseModel], settings: Settings, **values: Any) -> Answer[BaseModel]:
    """One answer; a request that fails for a transient reason is made again, a little later each time."""

    async def once(_: object) -> Answer[BaseModel]:
        return await ask(_MODULE, schema, settings=settings, agent="", module=_MODULE, turn=0, **values)

    patient = RunnableLambda(once).with_retry(
        retry_if_exception_type=(TransientModelError,),
        stop_after_attempt=_ATTEMPTS,
    )
    return await patient.ainvoke(None)
