"""The answers of the judging tasks: one function per task returns its schema's fields (state/judgement.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from persimchat.models.offline import thinking
from persimchat.models.offline.answering import answering, mad_judge, solving
from persimchat.models.offline.appraisal import Appraisal, appraise, need_to_talk
from persimchat.models.offline.companion.answers import IN_A_TALK_OF_TWO
from persimchat.models.offline.companion.answers import TASKS as COMPANION_TASKS
from persimchat.models.offline.consistency import inconsistency
from persimchat.models.offline.feeling import feeling
from persimchat.models.offline.gists import gist_of
from persimchat.models.offline.interviewing import interview
from persimchat.models.offline.judging import judge, majority
from persimchat.models.offline.leaving import took_leave
from persimchat.models.offline.lexicon import word_pattern
from persimchat.models.offline.openness import openness
from persimchat.models.offline.persona_making.making import persona_generation
from persimchat.models.offline.polling import poll
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.scoring import analysis, selector
from persimchat.models.offline.story.answers import TASKS as STORY_TASKS
from persimchat.models.offline.words import content_words, listed, short_name, without_markup


def keywords_of(text: str, prompt: Prompt, limit: int) -> list[str]:
    """Content words of a text, without the names of the participants if other words remain."""
    names = {part.casefold() for n in (prompt.name, *prompt.present) for part in n.split()}
    found = content_words(text, 40)
    return ([w for w in found if w.casefold() not in names] or found)[:limit]


def perception(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Percept`: who said what, for which position, and asked whom."""
    prompt.need_section(prompt.heard, "heard")
    heard = prompt.heard
    assert heard is not None
    a = appraise(prompt, seed)
    words = keywords_of(heard.words, prompt, 5)
    parts = []
    if a.theirs is not None:
        parts.append(f"spoke for {a.topic.positions[a.theirs]}")
    gist = gist_of(heard.words, a.topic)
    if gist:
        parts.append(f"brought up {gist}")
    elif not parts or len(words) > 2:
        parts.append(f"talked of {listed([without_markup(w) or w for w in words[:3]])}")
    if prompt.closing and took_leave(heard.words):
        parts.append("took leave")
    elif "?" in heard.words:
        parts.append(
            f"asked {short_name(heard.addressees) if heard.addressees != 'everybody' else 'the group'} a question"
        )
    elif heard.addressees and heard.addressees != "everybody":
        contra = word_pattern("contradicting").search(heard.words)
        parts.append(f"{'contradicted' if contra else 'turned to'} {short_name(heard.addressees)}")
    whispered = " in a whisper" if heard.whispered else ""
    return {
        "theme": f"{short_name(heard.speaker)} {listed(parts)}{whispered}, on {a.topic.head}.",
        "keywords": words,
        "importance": _importance(a, prompt),
    }


def _importance(a: Appraisal, prompt: Prompt) -> int:
    heard = prompt.heard
    if heard is None:
        return 3
    score = 2.4 + 2.0 * a.to_me + 2.0 * abs(a.agreement) + 0.8 * abs(a.valence) - 0.6 * a.own
    score += 0.25 * max(0, max(heard.emotion.values(), default=0) - 4)
    score += 0.6 * ("?" in heard.words) - 0.8 * (len(heard.words.split()) < 6)
    return max(0, min(10, round(score)))


def focal_points(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`FocalPoints`: a question about the topic, one about the people, one about the agent itself."""
    prompt.need_section(prompt.heard or prompt.topic, "heard")
    return {"questions": thinking.questions(prompt, appraise(prompt, seed))}


def memory_filtering(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Consolidation`: a memory is kept if it matters and is new."""
    prompt.need_section(prompt.leaving, "leaving_memory")
    leaving = prompt.leaving
    assert leaving is not None
    touched = any(k.casefold() in " ".join(prompt.goals + prompt.traits).casefold() for k in leaving.keywords)
    strong = max(prompt.emotions.values(), default=0) >= 6
    score = leaving.importance / 10 + 0.15 * touched + 0.1 * strong + 0.1 * (leaving.kind != "perception")
    known = prompt.similarity >= 0.9 or (prompt.similarity >= 0.7 and score < 0.6)
    keep = not known and score >= 0.3
    if known:
        reasoning = "Long-term memory already holds nearly the same."
    elif keep:
        reasoning = "It matters enough and is not yet in long-term memory."
    else:
        reasoning = "It is small talk that will not be missed."
    return {"reasoning": reasoning, "keep": keep}


def _need(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`NeedToTalk`."""
    number, reasoning = need_to_talk(prompt, seed)
    return {"reasoning": reasoning, "need_to_talk": number}


def _feeling(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Feeling`."""
    state, reasoning = feeling(prompt, seed)
    return {"reasoning": reasoning, **state}


def action(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Action`: plan without a plan or if an answer is expected, reflect after much new content."""
    a = appraise(prompt, seed)
    fresh = [m for m in prompt.memories if m.kind == "perception"]
    reflections = sum(m.kind == "reflection" for m in prompt.memories)
    strong = max(prompt.emotions.values(), default=0) >= 7
    if not prompt.plan:
        return {"reasoning": "There is no plan for this conversation yet.", "action": "plan"}
    if a.to_me:
        return {"reasoning": "An answer is expected, so the next step has to be thought out.", "action": "plan"}
    if strong or len(fresh) > 3 * (1 + reflections // 5):
        why = (
            "The feeling is strong and wants to be understood."
            if strong
            else "Much has been heard and not yet digested."
        )
        return {"reasoning": why, "action": "reflect"}
    if a.stance.mine != a.stance.before or a.stance.mine != a.stance.earlier:
        return {"reasoning": "The own view is shifting, so the plan no longer fits.", "action": "plan"}
    late = prompt.limit > 0 and prompt.turn / prompt.limit > 0.5
    return {
        "reasoning": "The plan still holds, so there is time to think back." if late else "The plan wants a next step.",
        "action": "reflect" if late else "plan",
    }


def reflection(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Reflection`: five insights, each with memories of the list as evidence."""
    prompt.need_section([m for m in prompt.memories if m.number], "memories")
    return {"insights": thinking.insights(prompt, appraise(prompt, seed))}


def planning(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Plan`: keeps every listed goal."""
    return thinking.plan(prompt, appraise(prompt, seed), seed)


def _openness(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Openness`."""
    number, reasoning = openness(prompt, seed)
    return {"reasoning": reasoning, "openness": number}


def _parts(prompt: Prompt, seed: int) -> dict[str, Any]:
    """Several judgements in one answer: those that the task names, each as in an answer of its own."""
    return {part: answered(part, prompt, seed) for part in prompt.parts}


def answered(task: str, prompt: Prompt, seed: int) -> dict[str, Any]:
    """The answer to a judging task; a companion answers some in its own way."""
    own = IN_A_TALK_OF_TWO.get(task) if prompt.companion is not None else None
    return (own or TASKS[task])(prompt, seed)


TASKS: Final[dict[str, Callable[[Prompt, int], dict[str, Any]]]] = {
    "perception": perception,
    "focal_points": focal_points,
    "memory_filtering": memory_filtering,
    "need_to_talk": _need,
    "action": action,
    "emotion": _feeling,
    "reflection": reflection,
    "planning": planning,
    "openness": _openness,
    "hearing": _parts,
    "appraisal": _parts,
    "reaction": _parts,
    "judge": judge,
    "majority": majority,
    "selector": selector,
    "analysis": analysis,
    "answering": answering,
    "mad_judge": mad_judge,
    "inconsistency": inconsistency,
    "poll": poll,
    "interview": interview,
    "solving": solving,
    "persona_generation": persona_generation,
    **STORY_TASKS,
    **COMPANION_TASKS,
}
"""Every judging task by the name in its template."""

OUTSIDE: Final = frozenset(
    {"judge", "majority", "selector", "analysis", "inconsistency", "mad_judge", "solving", "persona_generation"}
)
"""Tasks that belong to no agent, so that their prompts need not name one."""
