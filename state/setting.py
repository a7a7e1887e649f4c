"""What a setting's field says of its use: its group, its option, beside which others it counts, when it may change.

What a setting is and may be stands in the field itself (`state/setting_fields.py`). From both are made: the options of
the commands, the page's form, what a run that is resumed or branched may change, and the table in docs/settings.md.
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
            switch, None where there is no option but `--set`.
        also: other names of the option that stay.
        help: the option's help, where the description is too long for it.
        usual: in words, what holds where the field's default is None.
        only_if: other settings, each with the values of which one has to be set for this one to count.
        changes: "resume" where the same run may go on with another value, "branch" where only a branch may, "never"
            where the past of a branch depends on it.
        formerly: old names, in files, variables, arguments and as options; understood, with a hint.
    """

    group: Group
    option: str | None = None
    also: tuple[str, ...] = ()
    help: str = ""
    usual: str = ""
    only_if: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    changes: Literal["resume", "branch", "never"] = "branch"
    formerly: tuple[str, ...] = ()


class RenamedSetting(FutureWarning):
    """A setting was given by its old name."""


def hint_at(old: str, current: str) -> None:
    """Warn (`RenamedSetting`) that something was given by its old name."""
    warnings.warn(f"{old} is called {current} now; the old name will go", RenamedSetting, stacklevel=3)


def with_current_names(given: Mapping[Any, Any], former: Mapping[str, str], *, hint: bool = True) -> dict[Any, Any]:
    """Settings by name, those of an old name under the current one, in the order given.

    Args:
        given: values by name.
        former: old names, each with the current one.
        hint: whether to warn of old names (`RenamedSetting`).

    Raises:
        ValueError: one setting is given by several names.
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
