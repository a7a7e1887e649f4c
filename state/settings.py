"""All settings of a simulation, in one frozen, validated model; also the graph's context schema.

Values come from defaults < scenario < YAML file < environment (`PERSIMCHAT_<NAME>`) < arguments;
`state/configuration.py` reads them. Source of the defaults: thesis 5.3 and the specification. A setting is one field of
state/setting_fields.py or state/further_fields.py, and its texts in app/web/strings/settings.yaml. Commands, page,
resume, branch and documents are made from the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from pydantic import ModelWrapValidatorHandler, ValidationInfo, field_validator, model_validator
from pydantic_core import to_jsonable_python

from persimchat.state.further_fields import SettingFields
from persimchat.state.normalise import visible_form
from persimchat.state.setting import About, with_current_names
from persimchat.state.setting_fields import (
    BASELINES,
    DEBATE_MESSAGES,
    DISCUSSION_MESSAGES,
    IN_ROUNDS,
    MODES,
    PROMPT_ORDER,
    Mode,
)
from persimchat.state.setting_values import (
    AFTERWARDS,
    MODULES,
    OF_PRUNING,
    OF_STORIES,
    OUTSIDE,
    Module,
    RetrievalWeights,
    no_switch,
)

__all__ = [
    "ABOUT",
    "BASELINES",
    "BUDGETS",
    "DEBATE_MESSAGES",
    "DISCUSSION_MESSAGES",
    "FORMER_NAMES",
    "IN_ROUNDS",
    "MODES",
    "AFTERWARDS",
    "MODULES",
    "OF_PRUNING",
    "OF_STORIES",
    "OUTSIDE",
    "PART",
    "PROMPT_ORDER",
    "Mode",
    "Module",
    "RetrievalWeights",
    "Settings",
]

ABOUT: Final[Mapping[str, About]] = {
    name: next(found for found in field.metadata if isinstance(found, About))
    for name, field in SettingFields.model_fields.items()
}
"""Each setting's metadata by name, in order of listing."""

FORMER_NAMES: Final[Mapping[str, str]] = {old: name for name, about in ABOUT.items() for old in about.formerly}
"""Old names of settings, each with the current one."""

BUDGETS: Final = ("budget_calls", "budget_tokens", "budget_usd")
"""Settings that limit what a conversation may use."""

PART: Final = "part of the settings"
"""Validation context (pydantic) for one of several sources: settings are checked against each other after merging."""


class Settings(SettingFields):
    """How a simulation runs. Who takes part and what about is its `Scenario`."""

    @model_validator(mode="before")
    @classmethod
    def _current(cls, data: Any) -> Any:
        """Accept old names."""
        return with_current_names(data, FORMER_NAMES) if isinstance(data, Mapping) else data

    @model_validator(mode="wrap")
    @classmethod
    def _in_turn(cls, data: Any, handler: ModelWrapValidatorHandler[Settings]) -> Settings:
        """With minds that stay as they are, an unset `pattern` is round_robin; it still counts as unset."""
        given = data if isinstance(data, Mapping) else {}
        if given.get("cognition") != "fixed" or "pattern" in given or given.get("baseline") is not None:
            return handler(data)
        made = handler({**given, "pattern": "round_robin"})
        made.model_fields_set.discard("pattern")
        return made

    @field_validator("*", mode="before")
    @classmethod
    def _number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse true and false, which Python counts as numbers."""
        annotation = cls.model_fields[str(info.field_name)].annotation
        return no_switch(value, str(info.field_name)) if {int, float} & {annotation, *get_args(annotation)} else value

    @field_validator("closing", mode="before")
    @classmethod
    def _yaml_switch(cls, value: Any) -> Any:
        """Accept true and false, as which YAML reads a bare `on` and `off`."""
        return {True: "on", False: "off"}[value] if isinstance(value, bool) else value

    @field_validator("prompt_order")
    @classmethod
    def _permutation(cls, value: str) -> str:
        if sorted(value) != sorted(PROMPT_ORDER):
            raise ValueError(f"prompt_order must have each of the letters {', '.join(PROMPT_ORDER)} exactly once")
        return value

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> Settings:
        """Refuse settings that contradict each other, once all of them are known."""
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
        self._refuse_unfit_for_fixed()
        if self.mode == "story":
            for name in ("baseline", "pattern", "judge", "analysis", "max_messages"):
                if getattr(self, name) != type(self).model_fields[name].get_default(
                    call_default_factory=True, validated_data={"mode": "story"}
                ):
                    raise ValueError(f"{name}={getattr(self, name)} does not go with a story; leave {name} out")
        if self.cognition == "strategist" and self.mode != "story":
            raise ValueError("cognition=strategist: strategist goes with stories only; leave cognition out")
        if self.mode == "story" and self.cognition != "strategist" and self.listeners != "all":
            raise ValueError(f"listeners={self.listeners} does not go with a story; leave listeners out")
        if self.baseline in IN_ROUNDS and self.mode != "debate":
            raise ValueError(f"baseline={self.baseline} is a debate; set mode=debate, or use `persimchat debate`")
        if self.cognition == "strategist" and self.pruning.active:
            raise ValueError(
                "pruning goes with minds that hear and think, not with cognition=strategist; set cognition=full (or "
                "compact, lean), or leave pruning out"
            )
        if self.baseline is not None and self.pruning.active:
            raise ValueError(
                f"baseline={self.baseline} has no minds whose prompts are pruned; leave pruning out, or the baseline"
            )
        if self.baseline is not None:
            for name in ("pattern", "judge"):
                if getattr(self, name) != type(self).model_fields[name].default:
                    raise ValueError(f"baseline={self.baseline} does not use {name}; leave one of them out")
        if self.baseline == "single_agent" and self.mode != "discussion":
            raise ValueError("baseline=single_agent is a discussion; set mode=discussion, or use `persimchat run`")
        return self

    def _refuse_unfit_for_fixed(self) -> None:
        """Refuse what minds that stay as they are cannot do."""
        if self.cognition != "fixed":
            return
        if self.mode == "story":
            raise ValueError("cognition=fixed does not go with a story, whose minds change; leave cognition out")
        if self.baseline is not None:
            return
        if self.pattern == "need_to_talk":
            raise ValueError(
                "pattern=need_to_talk does not go with cognition=fixed, whose minds have no need to talk; "
                "set pattern=round_robin or pattern=selector"
            )
        if self.mode == "debate" and self.judge == "persona":
            raise ValueError(
                "judge=persona does not go with cognition=fixed: its mind would hear nothing; set judge=sliding_window"
            )
        if self.listeners != "all":
            raise ValueError(
                f"listeners={self.listeners} does not go with cognition=fixed, which asks no listener; "
                "leave listeners out"
            )
        if self.memory_filtering:
            raise ValueError(
                "memory_filtering=true does not go with cognition=fixed, which forms no memories; "
                "leave memory_filtering out"
            )

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
