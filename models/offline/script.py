"""A whole conversation in one answer (baseline single_agent): one scene an utterance, each in view of those before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from persimchat.models.offline.persona_facts import facts_of
from persimchat.models.offline.prompt import Prompt, Said
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.situation import scene_of
from persimchat.models.offline.utterance import worded
from persimchat.models.offline.words import spoken_to


def script(prompt: Prompt, seed: int) -> str:
    """The conversation: one utterance a line, the speaker's name, a colon, the words."""
    people = prompt.people or ((replace(prompt, answers=()),) if prompt.name else ())
    prompt.need_section(people, "basic_information")
    prompt.need_section(prompt.topic, "environment")
    length = prompt.length
    names = [person.name for person in people]
    # As many take leave as there are people, but no more than a quarter of all utterances.
    leaving = min(len(names), length // 4) if prompt.takes_leave else 0
    said: list[Said] = []
    for turn in range(length):
        closing = 0 < length - turn <= leaving
        gone = {s.speaker for s in said[length - leaving :]} if closing else set()
        speaker = _next(people, said, gone, prompt, seed)
        own = replace(
            speaker,
            topic=prompt.topic,
            present=tuple(n for n in names if n != speaker.name),
            turn=turn,
            limit=length,
            spoken=sum(s.speaker == speaker.name for s in said),
            rules=prompt.rules,
            form=prompt.form,
            closing=closing,
            recent=tuple(said),
            later=prompt.later,
            register=prompt.register,
            words=prompt.words,
        )
        said.append(Said(speaker.name, worded(scene_of(own, seed))))
    return "\n".join(f"{s.speaker}: {s.words}" for s in said)


def _next(people: Sequence[Prompt], said: Sequence[Said], gone: set[str], prompt: Prompt, seed: int) -> Prompt:
    """Who speaks next: whoever was spoken to, else whoever has waited long for their temper; nobody twice in a row."""
    last = said[-1] if said else None
    able = [p for p in people if p.name not in gone and not (last and p.name == last.speaker)]
    able = able or [p for p in people if not (last and p.name == last.speaker)] or list(people)
    names = [p.name for p in people]
    called = spoken_to(last.words, last.speaker, names) if last else []
    silent = [p for p in able if not any(s.speaker == p.name for s in said)]

    def eager(person: Prompt) -> float:
        waited = next((i for i, s in enumerate(reversed(said)) if s.speaker == person.name), len(said) + 1)
        groups = facts_of(person).groups
        draw = generator(seed, "next", prompt.topic, len(said), person.name).random()
        asked = 6.0 * ("?" in last.words) if last and person.name in called else 0.0
        # Before the others speak a third time, everybody has spoken.
        due = 5.0 * (person in silent and len(said) >= len(people))
        temper = 0.8 * ("talkative" in groups) - 0.8 * ("reserved" in groups)
        return 0.6 * min(waited, 6) + asked + 1.5 * (person.name in called) + due + temper + 1.5 * draw

    if silent and prompt.length - len(said) <= len(silent):
        return silent[0]
    return max(able, key=eager)
