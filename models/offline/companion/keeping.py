"""What an agent keeps of a person's words: percept, questions, insights, and the digest of a talk that is over.

Percepts and summaries name what somebody told of, never the value: that stands in facts alone, which a correction
replaces. So nothing that was corrected stays in a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from persimchat.models.offline.companion.asked import asked_in, claim_of, spoken_of
from persimchat.models.offline.companion.blocks_asked import topic_of
from persimchat.models.offline.companion.claims import (
    PLURAL,
    Claim,
    claims_in,
    in_force,
    is_of_kin,
    mentions,
    replaced,
    sentences,
)
from persimchat.models.offline.companion.known import Known
from persimchat.models.offline.companion.tones import HOSTILE, TELLS, greets, shared_word, tone_of
from persimchat.models.offline.grammar import capitalised, filled
from persimchat.models.offline.leaving import took_leave
from persimchat.models.offline.lexicon import deck
from persimchat.models.offline.prompt import MemoryLine, Prompt
from persimchat.models.offline.randomness import permutation
from persimchat.models.offline.words import content_words, count, listed, short_name, without_markup

FILE: Final = "companion/companion"
"""The file of phrases."""
_TELLING: Final = 2
"""How much more important words are that tell a fact."""
_GREETING: Final = 2
"""Words of a line that is too short to talk of anything."""
_SHORTEST: Final = 3
"""Letters of a word that is too short to be what a talk was about."""
_LEAST_FACT: Final = 5
"""The importance of the least important facts."""
_MOST_FACTS: Final = 20
_BY_TRUST: Final = ((2, "annoyed"), (5, "acquaintance"), (8, "friend"), (10, "close_friend"))
_MOVES: Final = frozenset({"unknown", "known_by_name", "acquaintance", "friend", "close_friend", "annoyed"})
"""Types of relationship that a talk may change; others (kin, rivals) stay as they are."""
_PROMISE: Final = re.compile(r"\bI(?:['’]ll| will)? promise\b|\bI['’]ll (?:keep|save|bring|show|ask|wait|look after)\b")
_TONES: Final = {
    "threat": "threatened {me}", "insult": "insulted {me}", "swearing": "swore at {me}", "apology": "apologised",
    "thanks": "thanked {me}", "praise": "was kind to {me}", "presses": "asked for trust",
}  # fmt: skip


def _known(prompt: Prompt) -> Known:
    assert prompt.companion is not None  # only a companion's prompts come here
    return prompt.companion


def _topics(text: str, known: Known) -> list[str]:
    """What words tell of, as subjects: "sister", "home"."""
    told = claims_in(text, [claim_of(fact, known.person) for fact in known.facts], spoken_of(known))
    return list(dict.fromkeys(claim.subject for claim in told if claim.form != "told"))


def perception(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Percept`: what somebody told of, asked for, or how they were; without the values of facts."""
    prompt.need_section(prompt.heard, "heard")
    known, heard = _known(prompt), prompt.heard
    assert heard is not None
    who, me = short_name(heard.speaker), short_name(prompt.name)
    told, tone = _topics(heard.words, known), tone_of(heard.words)
    parts = [_TONES[tone].format(me=me)] if tone else []
    if told:
        parts.append(f"{TELLS} {listed([f'their {subject}' for subject in told[:3]])}")
    asked = [asked.path[-1] for asked in asked_in(heard.words) if asked.path]
    topic = topic_of(heard.words, me)
    about = [f"their {noun}" for noun in asked] or ([topic] if topic else [])
    if "?" in heard.words:
        parts.append(f"asked {me} about {listed(about)}" if about else f"asked {me} something")
    words = [] if told or asked or "?" in heard.words or took_leave(heard.words) else _talked_of([heard.words])
    if took_leave(heard.words):
        parts.append("took leave")
    if not parts:
        few = f"greeted {me}" if greets(heard.words) else "said a few words"
        parts.append(f"talked of {listed(words[:3])}" if words else few)
    keywords = [*told, *asked, *shared_word(prompt, known)] or words or [who]
    return {
        "theme": f"{who} {listed(parts)}.",
        "keywords": [keyword[:80] for keyword in keywords][:5],
        "importance": min(10, (2 if asked else 3) + _TELLING * bool(told) + 3 * (tone in HOSTILE) + bool(tone)),
    }


def focal_points(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`FocalPoints`: about the person, what they speak of, and the agent itself."""
    known = _known(prompt)
    about = [subject for line in known.said[-6:] for subject in (*_topics(line.text, known), *_nouns(line.text))]
    values = {
        "who": short_name(known.person),
        "me": short_name(prompt.name),
        "what": about[-1] if about else "these talks",
    }
    asked = [filled(phrase, values) for phrase in deck(FILE, "questions")]
    return {"questions": [question[:300] for question in asked]}


def _nouns(text: str) -> list[str]:
    return [path[-1] for path in mentions(text)]


def reflection(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Reflection`: five insights on the person and the talks, each with memories of the list as evidence."""
    numbered = [memory for memory in prompt.memories if memory.number]
    prompt.need_section(numbered, "memories")
    known = _known(prompt)
    ranked = sorted(numbered, key=lambda memory: (-memory.importance, memory.number))
    nobody = {part.casefold() for part in (*known.person.split(), *prompt.name.split())}
    told = (word for memory in ranked for word in memory.keywords if word.casefold() not in nobody)
    about = list(dict.fromkeys(told)) or ["these talks"]
    phrases = deck(FILE, "insights")
    order = permutation(len(phrases), "insights", seed, prompt.name, *about)
    insights = []
    for place in range(5):
        what = about[place % len(about)][:60]
        evidence = [memory for memory in ranked if what in memory.keywords][:3] or ranked[:3]
        theirs = any(f"their {what}" in memory.theme for memory in evidence)
        insights.append(
            {
                "theme": capitalised(filled(phrases[order[place]], {"what": f"their {what}" if theirs else what})),
                "keywords": [what],
                "evidence": [memory.number for memory in evidence],
                "importance": _weight(evidence),
            }
        )
    return {"insights": insights}


def _weight(evidence: Sequence[MemoryLine]) -> int:
    """How important an insight is: as its evidence, and less than facts, which it must not displace in prompts."""
    return min(_LEAST_FACT, round(sum(memory.importance for memory in evidence) / len(evidence)))


def consolidation(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`TalkDigest`: facts by patterns, a summary of what was spoken of, and the relationship by trust."""
    known = _known(prompt)
    prompt.need_section(known.lines, "transcript")
    told = _told(known)
    kept = in_force(told)
    facts = [_fact(claim, told, known) for claim in kept]
    facts = sorted(facts, key=lambda fact: -fact["importance"])[:_MOST_FACTS] if len(facts) > _MOST_FACTS else facts
    subjects = list(dict.fromkeys(claim.subject for claim in kept))
    tones = [tone for line in known.said if (tone := tone_of(line.text))]
    hostile = any(tone in HOSTILE for tone in tones)
    return {
        "summary": _summary(prompt, known, subjects, tones),
        "keywords": [subject[:80] for subject in subjects[:8]] or _small_talk(known)[:5] or [short_name(known.person)],
        "importance": min(10, 3 + min(3, len(subjects)) + 3 * hostile),
        "relationship": _relationship(known, tones),
        "note": f"tells of {listed(subjects[:4])}"[:200] if subjects else "",
        "promises": [s[:300] for line in known.lines if line.own for s in sentences(line.text) if _PROMISE.search(s)][
            :5
        ],
        "facts": facts,
    }


def _told(known: Known) -> list[Claim]:
    """What the person tells in the talk, in order; corrections of known facts too."""
    before = [claim_of(fact, known.person) for fact in known.facts]
    mentioned = [claim.path for claim in before if claim.path]
    told: list[Claim] = []
    for line in known.lines:
        if not line.own:
            told += claims_in(line.text, [*before, *told], mentioned)
        mentioned += mentions(line.text)
    return [claim for claim in told if not (claim.form == "name" and known.introduced and _is_theirs(claim, known))]


def _is_theirs(claim: Claim, known: Known) -> bool:
    """Whether a name that is told is the one by which the person is known."""
    return claim.value.casefold() in (known.person.casefold(), short_name(known.person).casefold())


def _fact(claim: Claim, told: Sequence[Claim], known: Known) -> dict[str, Any]:
    old = [fact.number for fact in known.facts if fact.number and replaced(claim_of(fact, known.person), claim)]
    return {
        "about": claim.about,
        "subject": claim.subject,
        "statement": claim.told(short_name(known.person))[:300],
        "quote": claim.quote,
        "importance": 7
        if is_of_kin(claim) or claim.form in ("name", "allergy")
        else _LEAST_FACT
        if claim.subject in PLURAL
        else 6,
        "replaces": old[:10],
    }


def _summary(prompt: Prompt, known: Known, subjects: Sequence[str], tones: Sequence[str]) -> str:
    who, me = short_name(known.person), short_name(prompt.name)
    of = [f"their {subject}" for subject in subjects[:4]] or _small_talk(known)[:3]
    asked = list(
        dict.fromkeys(f"their {one.path[-1]}" for line in known.said for one in asked_in(line.text) if one.path)
    )
    parts = [f"{who} told {me} of {listed(of)}"] if subjects else []
    if not parts and asked:
        parts = [f"{who} asked {me} about {listed(asked[:4])}"]
    elif not parts and of:
        parts = [f"{who} and {me} talked of {listed(of)}"]
    tone = next((tone for tone in reversed(tones)), "")
    if tone:
        parts.append(f"{who} {_TONES[tone].format(me=me)}")
    text = "; ".join(parts) or f"{who} and {me} exchanged a few words"
    return f"{capitalised(text)}."[:300]


def _small_talk(known: Known) -> list[str]:
    """Words of the person that tell no fact."""
    said = [line.text for line in known.said if "?" not in line.text and not greets(line.text)]
    told = [text for text in said if not claims_in(text) and not tone_of(text)]
    return _talked_of([text for text in told if not took_leave(text)])


def _talked_of(texts: Sequence[str]) -> list[str]:
    """Content words of texts that are more than a greeting; few words that say nothing leave none."""
    whole = without_markup(" ".join(text for text in texts if count(text) > _GREETING))
    words = content_words(whole, 5) if whole.strip() else []
    return [word for word in words if len(word) > _SHORTEST and not word.endswith(("ed", "ing"))]


def _relationship(known: Known, tones: Sequence[str]) -> str:
    """A type of relationship: by trust where the prompt shows it, else by the tone of the talk; kin stay kin."""
    if known.type not in _MOVES:
        return known.type
    if known.trust is not None:
        return next(name for most, name in _BY_TRUST if known.trust <= most)
    if sum(tone in HOSTILE for tone in tones) > 1:
        return "annoyed"
    met = "acquaintance" if known.type in ("unknown", "known_by_name") else known.type
    warm = sum(tone in ("thanks", "praise") for tone in tones)
    return "friend" if met == "acquaintance" and warm > 1 else met
