"""Who speaks next, for one who only looks on: whoever was asked or spoken to, else whoever has been silent longest."""

from __future__ import annotations

import re
from typing import Any, Final

from persimchat.models.offline.items import Member, among
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.sections import Prompt
from persimchat.models.offline.words import short_name, spoken_to

_ONLY: Final = re.compile(r"Only these may: (.+)\.$", re.MULTILINE)


def candidates(prompt: Prompt) -> list[str]:
    """The names of those who may speak, as the task lists them; everybody where it lists none."""
    names = [member.name for member in prompt.group]
    found = _ONLY.search(prompt.instructions)
    return [n for n in among(found.group(1), names) if n in names] if found else names


def selector(prompt: Prompt, seed: int) -> dict[str, Any]:
    """The selector's answer: `reasoning` and `speaker`."""
    prompt.need_section(prompt.group, "group")
    able = candidates(prompt) or [member.name for member in prompt.group]
    last = prompt.recent[-1] if prompt.recent else None
    called_on = spoken_to(last.words, last.speaker, prompt.participants) if last else []
    called = [name for name in able if name in called_on]
    if last and called:
        did = "asked" if "?" in last.words else "spoke to"
        return {"reasoning": f"{short_name(last.speaker)} {did} {short_name(called[0])}.", "speaker": called[0]}
    standing = {member.name: member for member in prompt.group}
    waiting = min(_waits(standing[name]) for name in able)
    longest = [name for name in able if _waits(standing[name]) == waiting]
    chosen = generator(seed, "selector", prompt.topic, prompt.turn).choice(longest)
    since = standing[chosen].last
    why = f"has been silent since turn {since}" if since else "has not spoken yet"
    return {"reasoning": f"{short_name(chosen)} {why}.", "speaker": chosen}


def _waits(member: Member) -> tuple[int, int]:
    """Smaller for those who are more overdue."""
    return member.last, member.spoken
