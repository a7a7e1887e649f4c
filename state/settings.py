"""All settings of a simulation, flat as users write them, in one frozen, validated model.

They are declared in kinds/groups.py, and described in kinds/settings.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final, Self, get_args

from pydantic import ModelWrapValidatorHandler, ValidationInfo, field_validator, model_validator
from pydantic_core import to_jsonable_python

from . import kinds
from .kinds import groups
from .kinds.groups import ABOUT, BASELINES, MODES, PROMPT_ORDER, Mode
from .plain_text import visible_form
from .setting import (
    AFTERWARDS,
    APPRAISED,
    HEARD,
    OF_PRUNING,
    OF_STORIES,
    OUTSIDE,
    SHIPPED,
    Module,
    RetrievalWeights,
    modules,
    no_switch,
)

__all__ = [
    "ABOUT",
    "AFTERWARDS",
    "APPRAISED",
    "BASELINES",
    "BUDGETS",
    "HEARD",
    "MODES",
    "OF_PRUNING",
    "OF_STORIES",
    "OUTSIDE",
    "PART",
    "PROMPT_ORDER",
    "SHIPPED",
    "Mode",
    "Module",
    "RetrievalWeights",
    "Settings",
    "modules",
]

BUDGETS: Final = ("budget_calls", "budget_tokens", "budget_usd")
"""Settings that limit what a conversation may use."""

PART: Final = "part of the settings"
"""Validation context (pydantic) for one of several sources: settings are checked against each other after merging."""


class Settings(groups.Settings):
    """How a simulation runs. Who takes part and what about is its `Scenario`."""

    @model_validator(mode="wrap")
    @classmethod
    def _as_its_kind(cls, data: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        """Fill in the defaults of the kind, which still count as unset, and refuse what it does not have."""
        if not isinstance(data, Mapping):
            return handler(data)
        own = {name: value for name, value in kinds.usual(data).items() if name not in data}
        made = handler({**data, **own})
        made.model_fields_set.difference_update(own)
        if info.context != PART:
            for sentence in chain(kinds.refusals(dict(made)), made._lacking(), made._unjoinable()):
                raise ValueError(sentence)
        return made

    @field_validator("*", mode="before")
    @classmethod
    def _number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse true and false, which Python counts as numbers."""
        annotation = cls.model_fields[str(info.field_name)].annotation
        return no_switch(value, str(info.field_name)) if {int, float} & {annotation, *get_args(annotation)} else value

    @model_validator(mode="after")
    def _choices(self, info: ValidationInfo) -> Self:
        """Choices and their form of answer go together, once both are known."""
        if info.context == PART:
            return self
        if self.answer_format == "choice":
            different = {visible_form(choice) for choice in self.choices}
            if len(different) < 2 or len(different) < len(self.choices):
                raise ValueError("answer_format=choice needs two or more different choices; give them (--choices A,B)")
        elif self.choices:
            raise ValueError(
                f"choices go with answer_format=choice, not with {self.answer_format}; leave one of them out"
            )
        return self

    @property
    def kind(self) -> type[kinds.Choice]:
        """The kind of conversation."""
        return kinds.kinds_of(dict(self))[0]

    @property
    def left_out(self) -> frozenset[str]:
        """The modules that minds go without (`ablation`), with those that have no use then."""
        gone: set[str] = set(self.ablation)
        if "recall" in gone:
            gone.add("focal_points")
        if gone >= {"reflection", "planning"}:
            gone.add("action")
        return frozenset(gone)

    @property
    def thinks(self) -> bool:
        """Whether minds reflect or plan at all while others speak."""
        return self.planning_and_reflection and not {"reflection", "planning"} <= set(self.ablation)

    @property
    def brief(self) -> dict[str, bool] | None:
        """How prompts say briefly how a mind stands (`Situation.brief`); None if they do not.

        Where nobody takes leave, nobody is told that the end is near, so utterances are counted.
        """
        if self.baseline is not None or self.cognition != "lean":
            return None
        return {"counted": self.closing == "off" or self.mode == "story"}

    @property
    def in_one_answer(self) -> frozenset[str]:
        """The modules whose judgements come in one answer with the others of their step (`cognition`, `joined`)."""
        every = (*HEARD, *APPRAISED, "trust", *self.modules)
        return frozenset(self.joined if self.cognition == "full" else every)

    def _unjoinable(self) -> Iterator[str]:
        """Why modules cannot share a call, a sentence each."""
        for module in self.joined:
            if module == "openness" and self.mode != "debate":
                yield "joined has openness, but only debates judge it; take openness out of joined"
            if module not in (*HEARD, *APPRAISED, *self.modules):
                yield f"joined has {module}, which these minds do not have; add {module} to modules"
        appraised = [module for module in APPRAISED if module != "openness" or self.mode == "debate"]
        for step in (HEARD, (*appraised, *self.modules)):
            if len(own := [name for name in step if name in self.joined]) == 1:
                others = ", ".join(name for name in step if name not in own)
                yield f"joined has only {own[0]} of its step; add another of it ({others}), or take {own[0]} out"

    def _lacking(self) -> Iterator[str]:
        """Why modules cannot be left out of these minds, because they have none, a sentence each."""
        lacking = {
            "focal_points": self.cognition == "lean" and "cognition=lean recalls by the words heard",
            "action": self.cognition == "lean" and "cognition=lean chooses no action",
            "openness": self.mode != "debate" and "only debates judge it",
        }
        for module in self.ablation:
            if why := lacking.get(module):
                yield f"ablation leaves out {module}, but {why}; take {module} out of ablation"

    def model_for(self, agent: str, module: str) -> str | None:
        """The model's name for one agent's module: the module's, else the agent's, else the common one."""
        return (
            {str(k): v for k, v in self.module_models.items()}.get(module) or self.agent_models.get(agent) or self.model
        )

    def of_module(self, module: str) -> Settings:
        """The settings with which a module asks its model: `model_temperature` is the module's own, if it has one."""
        own = {str(name): value for name, value in self.module_temperatures.items()}.get(module)
        return self if own is None else self.model_copy(update={"model_temperature": own})

    def of_judge(self) -> Settings:
        """The settings of the persona judge's mind.

        All its modules ask `module_models.judge`, with the temperature `module_temperatures.judge`, if these are set.
        """
        own: dict[str, Any] = {"agent_models": {}}
        if "judge" in self.module_models:
            own |= {"model": self.module_models["judge"], "module_models": {}}
        if "judge" in self.module_temperatures:
            own |= {"model_temperature": self.module_temperatures["judge"], "module_temperatures": {}}
        return self.model_copy(update=own)

    def whole(self) -> dict[str, Any]:
        """All values as JSON has them, in order: also of settings that records have only where they are set."""
        written = self.model_dump(mode="json")
        return {
            name: written[name] if name in written else to_jsonable_python(getattr(self, name), by_alias=True)
            for name in type(self).model_fields
        }
