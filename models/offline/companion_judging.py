"""A companion's judgements: of a person's words, of events, of a talk that is over, and the plan of its day.

Facts come from patterns (`companion_facts.py`), trust and feelings from lexicons. Percepts and summaries name what
somebody told of, never the value: that stands in facts alone, which a correction replaces. So nothing that was
corrected stays in a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from ...state.companion.day import FREE, QUARTER, SLEEPS, WAKES, clock_of, day_by_habit, minutes_of
from ...state.companion.trust import START, WALKS_OFF
from . import companion_facts as facts
from . import minds
from .companion_facts import asked_in, claims_in, mentions, sentences
from .material import (
    capitalised,
    content_words,
    count,
    deck,
    filled,
    listed,
    permutation,
    read,
    short_name,
    table,
    took_leave,
    without_markup,
    word_list,
)
from .persona_facts import facts_of
from .prompt import Answer, Known, Prompt

FILE: Final = "companion"
TELLS: Final = "told something of themselves:"
"""With these words the percept of a disclosure begins; later ones are not the first."""
HOSTILE: Final = ("threat", "insult", "swearing")
_LEAST_FACT: Final = 5
"""The importance of the least important facts."""


@cache
def pattern(*keys: str) -> re.Pattern[str]:
    """A pattern of the file of phrases."""
    entry: Any = read(FILE)
    for key in keys:
        entry = entry[key]
    return re.compile(rf"(?<!\w)(?:{entry})" + (r"(?!\w)" if len(keys) > 1 else ""), re.IGNORECASE)


def asked_of_agent(text: str) -> str:
    """The kind of a question to the agent that its prompt answers; empty for none."""
    return next((kind for kind in read(FILE)["asked"] if pattern("asked", kind).search(text)), "")


def greets(text: str) -> bool:
    """Whether words are a greeting and nothing else."""
    return bool(pattern("greeting").match(text.lstrip(" \t.,!?-"))) and count(text) <= 6


def tone_of(text: str) -> str:
    """The tone of words: the first of threat, insult, swearing, presses, apology, thanks, praise; empty for none."""
    heard = [pattern("own_fault").sub(" ", sentence) for sentence in sentences(text)]

    def is_insult(sentence: str) -> bool:
        """Whether a sentence insults, or is short and nothing but an insult: "Idiot!"."""
        bare = re.sub(r"^\W*(?:oh|what|you|well|such|an?|so)\W+", "", sentence, flags=re.IGNORECASE)
        called = pattern("tones", "vocative").fullmatch(bare.strip(" .,!?;:-")) and count(sentence) <= 6
        return bool(called or pattern("tones", "insult").search(sentence))

    if any(pattern("tones", "threat").search(one) for one in heard):
        return "threat"
    if any(map(is_insult, heard)):
        return "insult"
    milder = ("swearing", "presses", "apology", "thanks", "praise")
    return next((tone for tone in milder if pattern("tones", tone).search(text)), "")


def _appraised(prompt: Prompt) -> tuple[str, str]:
    """The tone of the last words, with what they share or tell; and the word that is shared."""
    text = _heard_of_others(prompt)
    if tone := tone_of(text):
        return tone, ""
    if shared := _shared_word(prompt):
        return "shared", shared[0]
    earlier = prompt.known.facts or any(TELLS in one.theme or one.kind == "fact" for one in prompt.recalled)
    return ("disclosure" if claims_in(text) and not earlier else "none"), ""


def _heard_of_others(prompt: Prompt) -> str:
    return prompt.heard.text if prompt.heard is not None and not prompt.heard.own else ""


def _shared_word(prompt: Prompt) -> list[str]:
    """A word that the person says of themselves and that stands in the persona; it counts once, as far as is known."""
    told = sentences(_heard_of_others(prompt))
    told = [one for one in told if not one.endswith("?") and re.search(r"\b(?:i|my|we|our)\b", one, re.IGNORECASE)]
    own = " ".join((*prompt.traits, *prompt.characteristics.values()))
    if not told or not own:
        return []
    used = {keyword.casefold() for memory in prompt.recalled for keyword in memory.keywords}
    cares = {word.casefold() for word in content_words(own, 200)} - used
    return [w for w in content_words(" ".join(told), 40) if w.casefold() in cares and not w.isdigit()][:1]


def trust(prompt: Prompt) -> Answer:
    """`TrustChange`: by lexicons; words about trust change nothing."""
    prompt.need(prompt.heard, "heard")
    tone, word = _appraised(prompt)
    cause, change, reason = _cause(tone, prompt, word)
    ends = tone in HOSTILE and _trust_now(prompt) + change <= WALKS_OFF
    return {"reasoning": reason, "cause": cause, "change": change, "wants_to_end": ends}


def _trust_now(prompt: Prompt) -> int:
    return START if prompt.known.trust is None else prompt.known.trust


def _cause(tone: str, prompt: Prompt, word: str = "") -> tuple[str, int, str]:
    """The cause of a change of trust, the change, and the reason."""
    cause, change, reason = read(FILE)["causes"][tone].split(" | ")
    text = filled(reason, {**_names(prompt), "word": word})
    return cause, int(change), text[:1].upper() + text[1:]


def _names(prompt: Prompt) -> dict[str, str]:
    return {"who": short_name(prompt.known.person), "me": short_name(prompt.name)}


def emotion(prompt: Prompt) -> Answer:
    """`Feeling`: as in a conversation, moved further by the tone of the words."""
    state = minds.emotion(prompt)
    tone, _ = _appraised(prompt)
    moves = read(FILE)["felt"].get(tone, {})
    reason = _cause(tone, prompt)[2] if tone in HOSTILE else state.pop("reasoning")
    moved = {name: max(0, min(10, level + moves.get(name, 0))) for name, level in state.items() if name != "reasoning"}
    return {"reasoning": reason[:1].upper() + reason[1:], **moved}


def _importance_of(event: str) -> int:
    """How important an event is, 0 to 10, by its words."""
    rated = read(FILE)["importance"].items()
    return next((int(importance) for name, importance in rated if pattern(name).search(event)), 2)


def events_in(prompt: Prompt) -> list[str]:
    """What was perceived since the last words."""
    return list(prompt.items.texts("event"))


def gravest(prompt: Prompt) -> str:
    """The event that matters most, the first of equals; empty if there is none."""
    return max(events_in(prompt), key=_importance_of, default="")


def _sentence(event: str) -> str:
    return f"{event[:1].upper()}{event[1:290].rstrip('.!?')}."


def events(prompt: Prompt) -> Answer:
    """`RatedEvents`: each event's importance by lists of words, and the event in a sentence."""
    return {
        "events": [
            {"number": v["number"], "importance": _importance_of(v["text"]), "sentence": _sentence(v["text"])}
            for v in prompt.need(prompt.items.every("event"), "events")[:20]
        ]
    }


def reacting(prompt: Prompt) -> Answer:
    """`Reaction`: interrupt for what is grave, greet those who arrive, comment on what is serious, else nothing.

    In a talk only what is grave is shown at all, so what is shown interrupts it.
    """
    prompt.need(events_in(prompt), "events")
    event = gravest(prompt)
    arrives = pattern("arriving").search(event)
    reasons = [
        ("interrupt" in prompt.values.get("may", ()), "interrupt", "It cannot wait."),
        (_importance_of(event) >= 5, "comment", "It is worth a word."),
        (not arrives, "none", "It needs no words."),
        (_trust_now(prompt) >= 4, "start_talk", "I am glad to see somebody."),
        (True, "none", "I would rather be alone."),
    ]
    react, why = next((react, why) for holds, react, why in reasons if holds)
    return {"reasoning": why, "react": react, "words_about": "" if react == "none" else _sentence(event)}


def _topics(text: str, known: Known) -> list[str]:
    """What words tell of, as subjects: "sister", "home"."""
    before = [facts.claim_of(fact, known.person) for fact in known.facts]
    return list(dict.fromkeys(claim.subject for claim in claims_in(text, before, facts.spoken_of(known))))


def _theirs(nouns: Iterable[str]) -> str:
    return listed([f"their {noun}" for noun in nouns])


def perception(prompt: Prompt) -> Answer:
    """`Percept`: what somebody told of, asked for, or how they were; without the values of facts."""
    heard = prompt.need(prompt.heard, "heard")
    who, me, text = short_name(heard.speaker), short_name(prompt.name), heard.text
    told, tone, leaves = _topics(text, prompt.known), tone_of(text), took_leave(text)
    asked = [one.path[-1] for one in asked_in(text) if one.path]
    parts = [filled(read(FILE)["did"][tone], {"me": me})] if tone else []
    if told:
        parts.append(f"{TELLS} {_theirs(told[:3])}")
    if "?" in text:
        kind = asked_of_agent(text)
        about = _theirs(asked) or (filled(read(FILE)["asked_about"][kind], {"me": me}) if kind else "")
        parts.append(f"asked {me} about {about}" if about else f"asked {me} something")
    if leaves:
        parts.append("took leave")
    talked = [] if told or asked or "?" in text or leaves else _talked_of([text])
    if not parts:
        few = f"greeted {me}" if greets(text) else "said a few words"
        parts.append(f"talked of {listed(talked[:3])}" if talked else few)
    keywords = [*told, *asked, *_shared_word(prompt)] or talked or [who]
    return {
        "theme": f"{who} {listed(parts)}.",
        "keywords": [keyword[:80] for keyword in keywords][:5],
        "importance": min(10, (2 if asked else 3) + 2 * bool(told) + 3 * (tone in HOSTILE) + bool(tone)),
    }


def focal_points(prompt: Prompt) -> Answer:
    """`FocalPoints`: about the person, what they speak of, and the agent itself."""
    texts = [line.text for line in prompt.known.said[-6:]]
    about = [noun for text in texts for noun in (*_topics(text, prompt.known), *(path[-1] for path in mentions(text)))]
    values = {**_names(prompt), "what": about[-1] if about else "these talks"}
    return {"questions": [filled(phrase, values)[:300] for phrase in deck(FILE, "questions")]}


def reflection(prompt: Prompt) -> Answer:
    """`Reflection`: five insights on the person and the talks, each with memories of the list as evidence."""
    numbered = prompt.need([memory for memory in prompt.memories if memory.number], "memories")
    ranked = sorted(numbered, key=lambda memory: (-memory.importance, memory.number))
    nobody = {part.casefold() for part in (*prompt.known.person.split(), *prompt.name.split())}
    told = (word for memory in ranked for word in memory.keywords if word.casefold() not in nobody)
    about = list(dict.fromkeys(told)) or ["these talks"]
    phrases = deck(FILE, "insights")
    insights = []
    for place, index in enumerate(permutation(len(phrases), "insights", prompt.seed, prompt.name, *about)[:5]):
        what = about[place % len(about)][:60]
        evidence = [memory for memory in ranked if what in memory.keywords][:3] or ranked[:3]
        theirs = "their " * any(f"their {what}" in memory.theme for memory in evidence)
        # Less important than facts, which insights must not displace in prompts.
        importance = min(_LEAST_FACT, round(sum(memory.importance for memory in evidence) / len(evidence)))
        insights.append(
            {
                "theme": capitalised(filled(phrases[index], {"what": theirs + what})),
                "keywords": [what],
                "evidence": [memory.number for memory in evidence],
                "importance": importance,
            }
        )
    return {"insights": insights}


def consolidation(prompt: Prompt) -> Answer:
    """`TalkDigest`: facts by patterns, a summary of what was spoken of, and the relationship by trust."""
    known, names = prompt.known, _names(prompt)
    prompt.need(known.lines, "transcript")
    own = (known.person.casefold(), names["who"].casefold()) if known.introduced else ()
    told = [c for c in facts.told_in(known)[1] if c.form != "name" or c.value.casefold() not in own]
    kept = facts.in_force(told)
    subjects = list(dict.fromkeys(claim.subject for claim in kept))
    tones = [tone for line in known.said if (tone := tone_of(line.text))]
    promises = [s[:300] for line in known.lines if line.own for s in sentences(line.text) if pattern("vow").search(s)]
    plain = [line.text for line in known.said if "?" not in line.text and not greets(line.text)]
    talked = _talked_of(text for text in plain if not (claims_in(text) or tone_of(text) or took_leave(text)))
    asked = dict.fromkeys(one.path[-1] for line in known.said for one in asked_in(line.text) if one.path)
    parts = []
    if subjects:
        parts.append(filled("{who} told {me} of ", names) + _theirs(subjects[:4]))
    elif asked:
        parts.append(filled("{who} asked {me} about ", names) + _theirs(list(asked)[:4]))
    elif talked:
        parts.append(filled("{who} and {me} talked of ", names) + listed(talked[:3]))
    parts += [filled(f"{{who}} {read(FILE)['did'][tone]}", names) for tone in tones[-1:]]
    summary = "; ".join(parts) or filled("{who} and {me} exchanged a few words", names)
    found = sorted((_fact(claim, known) for claim in kept), key=lambda fact: -fact["importance"] * (len(kept) > 20))
    return {
        "summary": f"{capitalised(summary)}."[:300],
        "keywords": [subject[:80] for subject in subjects[:8]] or talked[:5] or [names["who"]],
        "importance": min(10, 3 + min(3, len(subjects)) + 3 * any(tone in HOSTILE for tone in tones)),
        "relationship": _relationship(known, tones),
        "note": f"tells of {listed(subjects[:4])}"[:200] if subjects else "",
        "promises": promises[:5],
        "facts": found[:20],
    }


def _fact(claim: facts.Claim, known: Known) -> Answer:
    before = [(fact.number, facts.claim_of(fact, known.person)) for fact in known.facts if fact.number]
    near = (claim.path and facts.is_kin(claim.path[-1])) or claim.form in ("name", "allergy")
    return {
        "about": "person",
        "subject": claim.subject,
        "statement": claim.told(short_name(known.person))[:300],
        "quote": claim.quote,
        "importance": 7 if near else _LEAST_FACT if claim.subject in facts.words("several") else 6,
        "replaces": [number for number, old in before if facts.replaced(old, claim)][:10],
    }


def _talked_of(texts: Iterable[str]) -> list[str]:
    """Content words of texts that are more than a greeting; few words that say nothing leave none."""
    whole = without_markup(" ".join(text for text in texts if count(text) > 2))
    found = content_words(whole, 5) if whole.strip() else []
    return [word for word in found if len(word) > 3 and not word.endswith(("ed", "ing"))]


def _relationship(known: Known, tones: Sequence[str]) -> str:
    """A type of relationship: by trust where the prompt shows it, else by the tone of the talk; kin stay kin."""
    trust, met = known.trust, "acquaintance" if known.type in ("unknown", "known_by_name") else known.type
    if known.type not in word_list("ties", FILE):
        return known.type
    if trust is not None:
        return str(next(name for name, most in read(FILE)["by_trust"].items() if trust <= most))
    if sum(tone in HOSTILE for tone in tones) > 1:
        return "annoyed"
    return "friend" if met == "acquaintance" and sum(tone in ("thanks", "praise") for tone in tones) > 1 else met


# The day: a skeleton by occupation, with what lifestyle and appointments fix

_SHORTEST: Final = 8 * 60
"""Waking hours of the shortest day that is planned by lifestyle; others take the usual hours."""
_DAY: Final = 24 * 60
_APART: Final = 45
"""The least minutes between two entries."""
_MOST, _LEAST = 8, 5


class _Point(NamedTuple):
    """Something that begins at a minute of the day; `minutes` is 0 unless its length is fixed."""

    start: int
    activity: str
    place: int
    minutes: int = 0


def _stems(text: str) -> set[str]:
    return {facts.one_word(word) for word in re.findall(r"[^\W\d_]{3,}", text)} - {"the", "and", "for", "with"}


def _place_for(text: str, places: Mapping[int, str], otherwise: int) -> int:
    """The number of the place whose address has most words in common with a text, the first of equals."""
    shared = {number: len(_stems(text) & _stems(address)) for number, address in places.items()}
    best = max(shared, key=lambda number: (shared[number], -number), default=otherwise)
    return best if shared.get(best) else otherwise


def _apart(points: Iterable[_Point], others: Sequence[_Point] = ()) -> list[_Point]:
    """The points, in order, that are not too near to those before them and to others."""
    kept: list[_Point] = []
    for point in points:
        if all(abs(point.start - one.start) >= _APART for one in (*kept, *others)):
            kept.append(point)
    return kept


def day_plan(prompt: Prompt) -> Answer:
    """`DayPlan`: five to eight entries in order, inside waking hours; appointments at their times."""
    values, about = prompt.values, facts_of(prompt)
    places = {v["number"]: v["address"] for v in prompt.items.every("known_place")}
    lifestyle = f"{values.get('lifestyle', '')}\n{prompt.characteristics.get('occupation', '')}"
    habit = day_by_habit(lifestyle, list(values.get("appointments", ())), "")
    wakes, sleeps = minutes_of(habit.wakes), minutes_of(habit.sleeps)
    ends = sleeps if sleeps > wakes else sleeps + _DAY
    if ends - wakes < _SHORTEST:
        wakes, ends, sleeps = WAKES, SLEEPS, SLEEPS
    home = _place_for(prompt.description, places, min(places, default=1))
    home = _place_for(prompt.characteristics.get("residence", ""), places, home)
    at_work = _place_for(prompt.characteristics.get("occupation", ""), places, home)
    work = "sees to the day's errands" if about.retired or not about.as_noun else f"works as {about.as_noun}"
    if about.child or about.teen or "student" in about.domains:
        work = "is busy at school"
    after = next((f"keeps a promise: {one}"[:200] for one in values.get("promises", ())), "goes for a walk")
    begins, where, usual = {"wakes": wakes, "ends": ends, "at": 0}, {"home": home, "work": at_work}, list[_Point]()
    # Who gets up in the afternoon works in the night.
    for when, activity, place in table(FILE, "days", "night" if wakes >= 12 * 60 else "day"):
        first, minutes = when.split()
        does = filled(activity, {"work": work, "after": after})
        usual.append(_Point(begins[first] + int(minutes), does, where[place]))
    usual = _apart(sorted(one for one in usual if wakes <= one.start <= ends - _APART))
    meetings = []
    for start, does, minutes in ((minutes_of(v["start"]), v["activity"], v["minutes"]) for v in habit.entries):
        start += _DAY if start < wakes else 0
        if does != FREE and wakes + _APART <= start <= ends - _APART:
            meetings.append(_Point(start, does, _place_for(does, places, home), minutes))
    meetings = _apart(meetings)[: _MOST - _LEAST]
    points = sorted([*_apart(usual, meetings)[: _MOST - len(meetings)], *meetings])
    while len(points) < _LEAST:  # the longest entry is divided
        until = [*(point.start for point in points[1:]), ends]
        widest = max(range(len(points)), key=lambda place: until[place] - points[place].start)
        points.insert(widest + 1, _Point((points[widest].start + until[widest]) // 30 * QUARTER, FREE, home))
    entries = [
        {"start": clock_of(start), "minutes": min(end - start, minutes or ends), "activity": activity, "place": place}
        for (start, activity, place, minutes), end in zip(points, [*(p.start for p in points[1:]), ends], strict=True)
    ]
    return {"wakes": clock_of(wakes), "sleeps": clock_of(sleeps), "entries": entries}


def chunks(prompt: Prompt) -> Answer:
    """`Chunks`: an entry in up to four equal parts of quarters of an hour, which add up to it."""
    activity = str(prompt.values.get("activity", "")).strip() or FREE
    quarters = max(1, round(int(prompt.values.get("minutes", QUARTER)) / QUARTER))
    parts = min(4, quarters)
    sizes = [quarters // parts + (place < quarters % parts) for place in range(parts)]
    return {"chunks": [{"minutes": QUARTER * size, "activity": activity[:300]} for size in sizes]}
