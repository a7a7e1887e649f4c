"""Metadata of a setting: its group, its option, the settings that it depends on, and when it may change.

The field itself (`state/setting_fields.py`) has type, bounds, default and description. The options of the commands, the
page's form, the changes that a resumed run or a branch may make, and the table in docs/settings.md come from both.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Group = Literal["conversation", "judge", "model", "agents", "speaking", "limits", "advanced"]

GROUPS: Final[dict[Group, str]] = {
    "conversation": "The course of the conversation",
    "judge": "Debates: answer and judge",
    "model": "Models",
    "agents": "Minds",
    "speaking": "Speaking",
    "limits": "Limits and seed",
    "advanced": "More",
}
"""All groups in order of listing, with their titles on the command line and in the documents."""


@dataclass(frozen=True, kw_only=True)
class About:
    """Metadata of a field of `Settings`.

    Attributes:
        group: where it is listed.
        option: placeholder for the value of its own option of the command line, `--name-of-the-setting`; empty for a
            switch, None if only `--set` reaches it.
        also: other names of the option, which stay valid.
        help: the option's help, if the description does not suit the command line.
        usual: the default in words, if the field's default is None.
        only_if: the settings that it depends on, each with the values for which this setting has an effect.
        or_if: another such condition, which is enough by itself.
        changes: "resume" if a resumed run may change it, "branch" if only a branch may, "never" if the history that a
            branch shares with its run depends on it.
        formerly: old names in files, variables, arguments and options; accepted with a warning.
        shapes: whether it shapes the conversation. Limits, prices and places of storage do not: a conversation of an
            experiment is the same one whatever they are.
    """

    group: Group
    option: str | None = None
    also: tuple[str, ...] = ()
    help: str = ""
    usual: str = ""
    only_if: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    or_if: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    changes: Literal["resume", "branch", "never"] = "branch"
    formerly: tuple[str, ...] = ()
    shapes: bool = True

    @property
    def conditions(self) -> list[Mapping[str, tuple[str, ...]]]:
        """The conditions of which one must hold for the setting to have an effect; empty if it always has."""
        return [way for way in (self.only_if, self.or_if) if way]


class RenamedSetting(FutureWarning):
    """A setting was given by its old name."""


def hint_at(old: str, current: str) -> None:
    """Warn (`RenamedSetting`) of the use of an old name."""
    warnings.warn(f"{old} is called {current} now; the old name will go", RenamedSetting, stacklevel=3)


def with_current_names(given: Mapping[Any, Any], former: Mapping[str, str], *, hint: bool = True) -> dict[Any, Any]:
    """Settings by current name, in the order given.

    Args:
        given: values by name.
        former: old names, each with the current one.
        hint: whether to warn of old names (`RenamedSetting`).

    Raises:
        ValueError: a setting is given under two names.
    """
    found: dict[Any, Any] = {}
    for name, value in given.items():
        current = former.get(name, name)
        if current in found or (current != name and current in given):
            raise ValueError(f"{current} is given twice, also by an old name; leave the old one out")
        if current != name and hint:
            hint_at(name, current)
        found[current] = value
    return found
