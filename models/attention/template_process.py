"""Renders a model file's chat template, as a separate process; a script that imports nothing of PerSimChat.

The template is a program from a stranger. It runs in jinja2's sandbox, sees no data, and has bounds of time, memory and
length. The script reads one line of JSON from its standard input: the template, the texts that begin and end a text,
and conversations. It writes one line of JSON to its standard output: a text or an error for each conversation.
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

_SECONDS = 4
_MEMORY = 1 << 30
_LONGEST = 1 << 16
_DAY = "26 Jul 2024"
"""The day that templates are told, always the same: a score must not depend on the day on which it is computed."""


def main() -> None:
    """Render each conversation."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # where the system has no such limits, time is limited
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    asked = json.loads(sys.stdin.readline())
    sys.stdout.write(json.dumps([_rendered(asked, messages) for messages in asked["conversations"]]) + "\n")


def _rendered(asked: dict[str, Any], messages: list[dict[str, str]]) -> dict[str, str]:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.globals.update(raise_exception=_refuse, strftime_now=lambda _form: _DAY)
    text = ""
    try:
        template = environment.from_string(asked["template"])
        for part in template.generate(
            messages=messages, add_generation_prompt=True, bos_token=asked["begin"], eos_token=asked["end"]
        ):
            text += part
            if len(text) > _LONGEST:
                return {"error": "it writes without end"}
    except Exception as error:  # noqa: BLE001 - whatever a stranger's template raises is reported
        return {"error": str(error) or type(error).__name__}
    return {"text": text}


def _refuse(words: str) -> None:
    raise TemplateError(words)


if __name__ == "__main__":
    main()
