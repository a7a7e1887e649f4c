"""Who speaks next, for one who only looks on: whoever was asked or spoken to, else whoever has been silent longest."""

from __future__ import annotations

from typing import Any

from persimchat.models.offline.prompt import Member, Prompt
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.words import short_name, spoken_to


def selector(prompt: Prompt, seed: int) -> dict[str, Any]:
    """The selector's answer: `reasoning` and `speaker`."""
    prompt.need_section(prompt.group, "group")
    names = [member.name for member in prompt.group]
    able = [name for name in prompt.candidates if name in names] or names
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
