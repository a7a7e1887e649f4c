"""Hearing and appraising: what an agent's mind judges about an utterance, each in its own call, or several in one.

Sources: thesis, 4.1 and 4.2, 5.2.1; specification, steps 1, 3 and 4. With compact or lean cognition, the parts of an
answer are the judgements of the modules, in the modules' words and order; each part updates the mind as its own module
would, so that all later steps are the same as with full cognition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from ...models.asking import appraise, appraise_in_parts
from ...prompts import render
from ...state.language import ENGLISH, told
from ...state.minds import judgement
from ...state.minds.emotion import EmotionalState
from ...state.minds.mind import Step, Utterance
from ...state.outcomes import NEUTRAL, judged
from ...state.settings import HEARD, Module, Settings
from .context import common_blocks, question, shown_memories

_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s|(?<=[。！？])")
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_LONGEST, _KEYWORDS, _QUESTIONS = 200, 5, 3

REFLECTS_AT: Final = 50
"""With lean cognition, a mind reflects once the importance of what it has perceived since adds up to this.

As in generative agents (Park et al. 2023, 4.2), whose threshold of 150 stands for two or three reflections a day; here
it stands for one in about ten utterances.
"""


# What each judgement changes; after an unusable answer (None) what was stays, at first neutral


def perceived(mind: Step, made: judgement.Percept | None) -> Step:
    """Theme, keywords and importance of the utterance just heard; without a judgement, the words themselves."""
    return {"percept": made.model_dump() if made is not None else as_heard(mind["heard"])}


def asked(mind: Step, made: judgement.FocalPoints | None) -> Step:
    """The questions that direct retrieval; if there are too few, fixed ones about topic, speaker and oneself follow."""
    own = made.questions if made is not None else []
    if len(own) < _QUESTIONS:
        situation, names = mind["situation"], {"speaker": mind["heard"]["speaker"], "name": mind["name"]}
        language = told(situation.get("language", ENGLISH))
        _, fixed = render("fixed_questions", topic=situation["topic"], **names, **language)
        own = [*own, *str(fixed.text).splitlines()][:_QUESTIONS]
    return {"focal_points": own}


def needed(mind: Step, made: judgement.NeedToTalk | None) -> Step:
    """How much an agent wants to speak next, 0–10."""
    if made is None:
        return {"need_to_talk": mind.get("need_to_talk", NEUTRAL), "need_reasoning": ""}
    return {"need_to_talk": made.need_to_talk, "need_reasoning": made.reasoning}


def opened(mind: Step, made: judgement.Openness | None) -> Step:
    """How ready an agent is for a common answer, 0–10."""
    if made is None:
        return {"openness": mind.get("openness", NEUTRAL), "openness_reasoning": ""}
    return {"openness": made.openness, "openness_reasoning": made.reasoning}


def chosen(mind: Step, made: judgement.Action | None) -> Step:
    """What an agent does while another speaks: reflect or plan; at first it plans."""
    return {"action": made.action if made is not None else mind["action"] or "plan"}


def acts_by_weight(mind: Step, percept: Mapping[str, Any], otherwise: str) -> Step:
    """Reflect once the importance of what was perceived adds up to `REFLECTS_AT`; no model is asked.

    Args:
        mind: `undigested` is read.
        percept: of the utterance just heard.
        otherwise: the action until then.
    """
    undigested = mind.get("undigested", 0) + percept["importance"]
    return {"undigested": undigested, "action": "reflect" if undigested >= REFLECTS_AT else otherwise}


def _without(mind: Step, settings: Settings, module: str) -> Step:
    """What a mind has in place of the judgement of a module that is left out."""
    match module:
        case "perception":
            return perceived(mind, None)
        case "focal_points":
            return {"focal_points": [] if "recall" in settings.ablation else [mind["heard"]["text"]]}
        case "action" if settings.thinks:
            assert mind["percept"] is not None
            return acts_by_weight(mind, mind["percept"], "plan")
        case _:
            return {}


def as_able(update: Step, settings: Settings) -> Step:
    """The update of a mind that does nothing where it would think in a way that is left out."""
    thought = {"reflect": "reflection", "plan": "planning"}.get(update.get("action", ""))
    return {**update, "action": ""} if not settings.thinks or thought in settings.ablation else update


def felt(mind: Step, made: judgement.Feeling | None) -> Step:
    """The emotional state; at first calm."""
    if made is None:
        return {"emotion": mind["emotion"] or EmotionalState().model_dump()}
    return {"emotion": made.state().model_dump()}


def planned(mind: Step, made: judgement.Plan | None) -> Step:
    """A plan that has changed; else the old one stays."""
    return {} if made is None else {"plan": made.model_dump(), "planned": mind["situation"]["turn"]}


def trusted(mind: Step, made: judgement.TrustChange | None) -> Step:
    """How the words change a companion's trust; the arithmetic is in state/companion/trust.py."""
    return {"trust_change": made.model_dump() if made is not None else None}


def owned(module: str) -> Callable[[Step, judgement.OwnModule | None], Step]:
    """What a module of an installed package judges; without a judgement, what was stays."""
    return lambda mind, made: {} if made is None else {"own": {module: made.model_dump(mode="json")}}


_CHANGES: Final[dict[str, Callable[[Step, Any], Step]]] = {
    "perception": perceived,
    "focal_points": asked,
    "emotion": felt,
    "need_to_talk": needed,
    "action": chosen,
    "openness": opened,
    "planning": planned,
    "trust": trusted,
}


def _change(module: str) -> Callable[[Step, Any], Step]:
    return _CHANGES[module] if module in _CHANGES else owned(module)


def as_heard(heard: Utterance) -> dict[str, Any]:
    """The percept of an utterance without a model: its first sentence, its longest words, neutral importance.

    Keywords are the five longest different words of four letters or more, in the order in which they were said.
    """
    text = " ".join(heard["text"].split())
    sentence = _SENTENCE_END.split(text, maxsplit=1)[0]
    if len(sentence) > _LONGEST:
        sentence = f"{sentence[: _LONGEST - 1].rstrip()}…"
    words = list({word.casefold(): word for word in reversed(_WORD.findall(sentence))}.values())[::-1]
    longest = sorted(words, key=len, reverse=True)[:_KEYWORDS]
    keywords = [word for word in words if word in longest]
    return {"theme": f"{heard['speaker']}: {sentence}", "keywords": keywords, "importance": NEUTRAL}


# Each module in its own call


async def _appraised(mind: Step, settings: Settings, module: Module) -> Step:
    if module in settings.left_out:
        return _without(mind, settings, module)
    recalls = module not in HEARD and (module != "emotion" or mind.get("heard"))
    shown = await shown_memories(mind, settings) if recalls else []
    schema, values = judgement.schema_of(module), common_blocks(mind, shown) | told_of([module])
    template = module if module in _CHANGES else "own"
    answer = await appraise(template, schema, **question(mind, settings, module), **values)
    return {**_change(module)(mind, answer.value), "outcomes": judged([answer.call])}


async def perceive(mind: Step, settings: Settings) -> Step:
    """Draw theme, keywords and importance from the utterance just heard."""
    return await _appraised(mind, settings, "perception")


async def wonder(mind: Step, settings: Settings) -> Step:
    """Ask the three most salient questions about what just happened."""
    return await _appraised(mind, settings, "focal_points")


async def judge_need_to_talk(mind: Step, settings: Settings) -> Step:
    """Judge the need to talk from the recalled memories, the emotional state and the progress of the conversation."""
    return await _appraised(mind, settings, "need_to_talk")


async def judge_openness(mind: Step, settings: Settings) -> Step:
    """Judge the openness to consensus in a debate; nothing is asked in a free discussion."""
    return await _appraised(mind, settings, "openness") if mind["situation"]["debate"] is not None else {}


async def choose_action(mind: Step, settings: Settings) -> Step:
    """Choose between reflecting and planning; choose nothing if `planning_and_reflection` is off."""
    return as_able(await _appraised(mind, settings, "action") if settings.thinks else {}, settings)


async def feel(mind: Step, settings: Settings) -> Step:
    """Update the emotional state from the previous one, personality, event, relationship with the speaker and history.

    Before the conversation, when there is no utterance yet, the state comes from persona and topic alone.
    """
    return await _appraised(mind, settings, "emotion")


async def judge_own(mind: Step, settings: Settings) -> Step:
    """Ask a module of an installed package, `asked`, about the utterance just heard."""
    return await _appraised(mind, settings, cast(Module, mind["asked"]))


async def judge_trust(mind: Step, settings: Settings) -> Step:
    """Ask how the words just heard change a companion's trust in the person who said them."""
    return await _appraised(mind, settings, "trust")


# Several judgements in one answer

AT_ONCE: Final = ("hearing", "appraisal", "reaction")
"""The modules whose answers have several parts."""
_BEFORE: Final = ("heard", "progress", "needs_and_emotions", "last_utterances")
_AFTER: Final = ("plan", "heard", "progress", "needs_and_emotions", "short_term_memory", "memories")
"""The blocks shown, before and after something was recalled."""


async def hear_at_once(mind: Step, settings: Settings) -> Step:
    """Percept and focal points in one answer: with compact cognition, and where they are `joined`."""
    return await _judged(mind, settings, "hearing")


async def appraise_at_once(mind: Step, settings: Settings) -> Step:
    """Emotion, need to talk, action, openness in one answer, with compact cognition, or as far as they are `joined`.

    At the awakening with lean cognition, too.
    """
    update = await _judged(mind, settings, "appraisal")
    return as_able(update, settings) if "action" in settings.in_one_answer else update


async def react_at_once(mind: Step, settings: Settings) -> Step:
    """Lean cognition: percept, emotion, need to talk, openness, plan; of a companion percept, emotion, trust.

    What it does while another speaks follows from what it has perceived: it reflects once that has become important
    enough, and else thinks nothing more.
    """
    update = await _judged(mind, settings, "reaction")
    if mind.get("role") != "companion" and settings.thinks:
        assert update["percept"] is not None
        update = {**update, **acts_by_weight(mind, update["percept"], "")}
    return as_able(update, settings)


def parts_of(module: str, mind: Step, settings: Settings) -> tuple[str, ...]:
    """The judgements that one answer has; it is not asked for if there are none.

    Args:
        module: "hearing", "appraisal" or "reaction".
        mind: whose judgements, with its situation.
        settings: of the simulation.
    """
    gone = settings.left_out
    return tuple(part for part in _made_at_once(module, mind, settings) if part not in gone)


def _made_at_once(module: str, mind: Step, settings: Settings) -> tuple[str, ...]:
    """The judgements of one step, also those that are left out.

    A judge has no need to talk and no openness, a companion neither. Before the first word a mind chooses no action.
    """
    if module == "hearing":
        return HEARD
    if mind.get("role") == "companion":
        return ("perception", "emotion", "trust") if module == "reaction" else ("emotion", "trust")
    speaks = mind["name"] in mind["situation"]["present"]
    made = {
        "perception": module == "reaction",
        "emotion": True,
        "need_to_talk": speaks,
        "action": module == "appraisal" and bool(mind.get("heard")) and settings.thinks,
        "openness": speaks and mind["situation"]["debate"] is not None,
        "planning": module == "reaction" and settings.planning_and_reflection,
    }
    own = settings.modules if speaks and module != "hearing" and mind.get("heard") else ()
    every = (*(name for name, is_made in made.items() if is_made), *own)
    return every if module == "reaction" else tuple(name for name in every if name in settings.in_one_answer)


def asked_as(module: str, settings: Settings) -> str:
    """The module whose answers contain a module's judgements: the module itself if it has a call of its own."""
    if settings.cognition == "lean" and module in (*_CHANGES, *settings.modules):
        return "reaction"
    if module not in settings.in_one_answer:
        return module
    return "hearing" if module in HEARD else "appraisal"


def prompt_values(module: str, parts: Sequence[str], common: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the template `parts`: the common blocks, and the parts to ask for."""
    tags = _BEFORE if module == "hearing" else _AFTER
    return {**common, "blocks": [common[tag] for tag in tags], "module_name": module, "parts": parts, **told_of(parts)}


def told_of(modules: Sequence[str]) -> dict[str, Any]:
    """The value of templates that says what modules of installed packages among these ask, by name."""
    return {"own": {name: judgement.own_module(name).asks() for name in modules if name not in _CHANGES}}


async def _judged(mind: Step, settings: Settings, module: Module) -> Step:
    parts, update, made = parts_of(module, mind, settings), Step(), dict[str, Any]()
    if parts:
        common = common_blocks(mind, await shown_memories(mind, settings) if mind.get("heard") else [])
        answer = await appraise_in_parts(
            "parts", parts, **question(mind, settings, module), **prompt_values(module, parts, common)
        )
        made, update["outcomes"] = answer.value, judged([answer.call])
    for part in _made_at_once(module, mind, settings):
        changed = _change(part)(mind, made[part]) if part in made else _without(mind, settings, part)
        own = {"own": {**update.get("own", {}), **changed["own"]}} if "own" in changed else {}
        update |= cast(Step, {**changed, **own})
    return update
