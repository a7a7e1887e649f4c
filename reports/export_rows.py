"""Makes the rows of an export's tables from a run's record: each as its table's name and its columns by name."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from pydantic import BaseModel

from ..runs.events import Happened
from ..runs.folder.answers import InterviewAnswer, PollAnswer, RecordedJudgement
from ..runs.folder.lines import BALLOTS, STANDING
from ..runs.folder.manifest import Manifest
from ..runs.folder.parts import MindRecord
from ..runs.folder.reading import Record, calls_of
from ..runs.folder.validation import checked
from ..state.minds.emotion import EMOTIONS
from ..state.stories.support import strongest
from .export_tables import SETTINGS, SHARED, TABLES
from .guide import fresh_themes, sections
from .pruning_figures import check_mean, wordings
from .stances import ledger
from .summary import count_words
from .words import is_number

Values = dict[str, Any]
Named = Iterator[tuple[str, Values]]


def rows_of(
    record: Record, judgements: Sequence[RecordedJudgement] = (), *, afterwards: bool = True
) -> Iterator[tuple[str, BaseModel]]:
    """The rows of a run: table's name and row. Within a table they are in order of turns.

    Args:
        record: read with whole minds.
        judgements: of evaluators, about its conversation.
        afterwards: whether positions, and polls and interviews that were held afterwards, have rows.

    Raises:
        InputError: a record in the run's folder does not fit; names the place.
    """
    manifest = record.manifest
    settings = manifest.settings.model_dump()
    about = {name: settings.get(name) for name in SETTINGS}
    about |= {"run": manifest.run, "topic": manifest.scenario.topic, "seed": manifest.seed}
    counts: Counter[str] = Counter()
    for table, values in _values(record, judgements, afterwards=afterwards):
        counts[table] += 1
        where = f"{record.path}, table {table}, row {counts[table]}"
        yield table, checked(TABLES[table], {**about, **values}, where)


def _values(record: Record, judgements: Sequence[RecordedJudgement], *, afterwards: bool) -> Named:
    yield "runs", _run(record.manifest, record)
    yield from _utterances(record)
    yield from _minds(record)
    for verdict in record.verdicts:
        agree = sum(position.agrees for position in verdict.positions)
        counted = {"agree": agree, "positions": len(verdict.positions)}
        yield "verdicts", {**verdict.model_dump(exclude={"event", "version", "positions"}), **counted}
        yield from (("positions", {"turn": verdict.turn, **held.model_dump()}) for held in verdict.positions)
    yield from (("scores", score.model_dump(exclude={"event", "version", "failed"})) for score in record.scores)
    for call in calls_of(record):
        taken = call.model_dump(exclude={"model", "prompt", "answer", "dropped", "part"})
        yield "calls", {**taken, "kind": "request", "called_model": call.model}
    yield from (("silences", silence.model_dump(exclude={"event", "version"})) for silence in record.silences)
    yield from _interventions(record)
    yield from _pruning(record)
    yield from _story(record)
    yield from (("judgements", _answer("judgements", row, "evaluator")) for row in judgements)
    if afterwards:
        yield from (("stances", asdict(position)) for position in ledger(record))
        yield from (("polls", polled(row)) for row in record.polls)
        yield from (("interviews", _answer("interviews", row, "answered_by")) for row in record.interviews)
        yield from _guide(record)


def _own(table: str) -> set[str]:
    """The columns of a table but those that all tables have."""
    return TABLES[table].model_fields.keys() - SHARED.model_fields.keys()


def _answer(table: str, row: RecordedJudgement | InterviewAnswer, by: str) -> Values:
    """The columns of what a model answered afterwards; `by` is the one that names the model."""
    return {**row.model_dump(include=_own(table)), by: row.judge}


def polled(row: PollAnswer) -> Values:
    """The columns of an answer to a poll, without those about its run."""
    number = float(row.answer) if row.answer and row.question.is_ordered else math.inf
    asked = {
        "question": row.question.ask,
        "form": row.question.answer,
        "answered_by": row.judge,
        "number": number if math.isfinite(number) else None,
    }
    return {**row.model_dump(include=_own("polls") - {"question"}), **asked}


def _run(manifest: Manifest, record: Record) -> Values:
    conclusion, total, branch = manifest.conclusion, manifest.usage.total, manifest.branch
    found: Values = {
        "participants": [participant.name for participant in manifest.scenario.participants],
        **{name: getattr(manifest, name) for name in ("people", "started", "ended", "stop_reason", "stop_source")},
        "stop_detail": manifest.detail,
        "utterances": len(record.utterances),
        "prompt_hash": manifest.prompt_hash,
        "persimchat_version": manifest.versions.get("persimchat"),
        "branch_of": branch.of if branch else None,
        "branch_turn": branch.turn if branch else None,
        "resumed": len(manifest.resumed),
        "settings": manifest.settings.model_dump(),
        "notes": record.notes,
    }
    if conclusion is not None:
        found |= conclusion.model_dump(include={"consensus", "answer", "conditional", "supporters"})
        held = {held.agent: held.model_dump(exclude={"agent"}) for held in conclusion.positions}
        found |= {"standings": held or None, "concluded_by": conclusion.by}
    if total is not None:
        found |= {**total.model_dump(exclude={"estimated"}), "tokens_estimated": total.estimated}
    if counts := manifest.judgements.values():
        parts = {"": "asked", "_first_try": "valid", "_corrected": "corrected", "_failed": "failed"}
        found |= {f"judgements{of}": sum(getattr(row, part) for row in counts) for of, part in parts.items()}
    return found


def _emotions(emotion: Mapping[str, int]) -> dict[str, int | None]:
    return {name: emotion.get(name) for name in EMOTIONS}


_SAID: Final = {
    *("turn", "speaker", "text", "addressees", "heard_by", "edited_by", "question", "corrections", "answer"),
    *("conditional", "confidence"),
}


def _utterances(record: Record) -> Named:
    for said in record.utterances:
        values = {
            "given": said.is_given,
            "response_time_s": said.took_s,
            "words": count_words(said.text),
            "need_to_talk": said.need_to_talk.get(said.speaker),
            "needs_to_talk": said.need_to_talk,
            # Zero tokens read means that the call was not recorded.
            "input_tokens": said.tokens.get("input") or None,
            "output_tokens": None if said.is_given else said.tokens.get("output"),
        }
        yield "utterances", {**said.model_dump(include=_SAID), **_emotions(said.emotion), **values}


_KEPT: Final = {
    *("turn", "agent", "did", "action", "need_to_talk", "need_reasoning", "openness", "openness_reasoning"),
    *("focal_points", "long_term_memories"),
}


def _minds(record: Record) -> Named:
    for role, minds in (("participant", record.minds), ("judge", record.judge_minds)):
        for mind in minds:
            yield "minds", {"role": role, **_mind(mind)}
            yield from (("own", {"turn": mind.turn, "agent": mind.agent, **row}) for row in _judged(mind))
            for rank, memory in enumerate(mind.recalled, start=1):
                whose = {"turn": mind.turn, "agent": mind.agent, "role": role, "rank": rank}
                recalled = memory.model_dump(exclude={"id", "turn"})
                yield "memories", {**whose, "memory": memory.id, "made": memory.turn, **recalled}


def _mind(mind: MindRecord) -> Values:
    percept = mind.percept.model_dump(include={"theme", "keywords", "importance"}) if mind.percept else {}
    return {
        **mind.model_dump(include=_KEPT),
        **{name: getattr(mind, name) for name in ("listened", "failed", "corrected")},
        **_emotions(mind.emotion),
        **{f"percept_{name}": value for name, value in percept.items()},
        "recalled": len(mind.recalled),
        "short_term_memory": mind.short_term_memory.theme if mind.short_term_memory else None,
        "plan": mind.plan.theme if mind.plan else None,
        "insights": [insight.theme for insight in mind.insights],
    }


def _judged(mind: MindRecord) -> Iterator[Values]:
    """A row for each field of what modules of installed packages judged: a number, or words."""
    for module, judged in mind.own.items():
        for name, value in judged.items():
            said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield {"module": module, "field": name, **({"number": value} if is_number(value) else {"text": said})}


def _interventions(record: Record) -> Named:
    for done in record.interventions:
        given = done.more
        values = {
            "turn": done.turn,
            "do": done.do,
            "agent": given.pop("speaker", None) or given.pop("agent", None) or given.pop("host", None),
            "text": given.pop("text", None) or given.pop("topic", None),
            "heard_by": given.pop("heard_by", None),
        }
        yield "interventions", {**values, "details": {key: v for key, v in given.items() if v is not None} or None}


def _pruning(record: Record) -> Named:
    """What each utterance's prompt lacked; nothing of a run without pruning."""
    for one in wordings(record.minds):
        pruned = one.pruned
        base = {"turn": pruned.turn, "agent": one.agent, "lambda": pruned.strength}
        by = pruned.model_dump(include={"method", "scorer", "query", "responses"})
        for place, item in enumerate(pruned.items, start=1):
            yield "pruning", {**base, **by, "place": place, **item.model_dump(exclude={"id"}), "item": item.id}
        for number, check in enumerate(pruned.checks, start=1):
            yield "pruning_checks", {**base, "wording": number, **check.model_dump(), "mean_score": check_mean(check)}


def _guide(record: Record) -> Named:
    """Who answered each question of a focus group, and the themes with their quotes; nothing of other runs."""
    parts = sections(record)
    for part in parts:
        ask = part.question.ask if part.question else None
        for voice in part.voices:
            about = {"question": part.number, "ask": ask, "turn": part.turns[0], "agent": voice.name}
            yield "questions", {**about, "utterances": voice.utterances, "words": voice.words}
    for row in fresh_themes(record, parts):
        for theme in row.themes:
            found = {"question": row.question, "by": row.judge, "theme": theme.name, "about": theme.about}
            for quote in theme.quotes:
                yield "themes", {**found, "turn": quote.turn, "agent": quote.speaker, "quote": quote.words}


# Stories


def _story(record: Record) -> Named:
    """The rows of a story, of no more than the record's happenings, minds and utterances; nothing of any other run."""
    for one in record.happenings:
        yield "happenings", {**one.model_dump(exclude={"event", "version", "speaker"}), "agent": one.speaker}
    yield from (("rooms", row) for row in _rooms(record))
    yield from _standings(record)
    outcome = record.manifest.outcome
    for one in record.happenings:
        if one.do in BALLOTS:
            won = one.choice in outcome.winners if outcome else None
            cast = {"ballot": BALLOTS[one.do], "choice": one.choice, "own": one.choice == one.speaker, "won": won}
            yield "ballots", {"turn": one.turn, "agent": one.speaker, **cast, "text": one.text}


def _rooms(record: Record) -> Iterator[Values]:
    opened = [one for one in record.happenings if one.do in ("met", "stage")]
    forced = {one.room: one.chosen_by for one in record.happenings if one.do == "choice" and one.room}
    for place, one in enumerate(opened):
        if one.do == "stage":
            continue
        # rooms of a split group open at the same time, and are over when something else begins
        after = [then.turn for then in opened[place + 1 :] if one.stage != "rooms" or then.turn > one.turn]
        members = {one.speaker, *one.others}
        said = [
            utterance
            for utterance in record.utterances
            if {utterance.speaker, *(utterance.heard_by or ())} == members
            and one.turn < utterance.turn
            and (not after or utterance.turn <= after[0])
        ]
        about = one.model_dump(include={"room", "turn", "round", "stage", "others"})
        known = {"host": one.speaker, "public": one.heard_by is None, "chosen_by": forced.get(one.room)}
        yield {**about, **known, "utterances": len(said) or None}


def _standings(record: Record) -> Named:
    minds = {(mind.agent, mind.turn): mind.story for mind in record.minds if mind.story is not None}
    reviews = {(one.speaker, one.round): one for one in record.happenings if one.do == "review"}
    before: dict[str, str | None] = {}
    for one in record.happenings:
        if one.do != STANDING:
            continue
        mind, review = minds.get((one.speaker, one.turn)), reviews.get((one.speaker, one.round))
        base = {"turn": one.turn, "round": one.round, "agent": one.speaker}
        stands = {"supports": one.supports, "before": before.get(one.speaker), "influence": one.influence}
        said = {"main": mind.main if mind else None, "review": review.text if review else None}
        yield "standings", {**base, **stands, **said}
        before[one.speaker] = one.supports
        for other, near in one.closeness.items():
            change = review.closeness.get(other) if review else None
            yield "closeness", {**base, "other": other, "closeness": near, "change": change}
        yield from (("beliefs", {**base, **row}) for row in _beliefs(one, mind.beliefs if mind else (), review))


def _beliefs(one: Happened, told: Sequence[Mapping[str, Any]], review: Happened | None) -> Iterator[Values]:
    best = strongest([{"score": score} for score in one.beliefs])
    for place, score in enumerate(one.beliefs):
        belief = told[place] if place < len(told) else {}
        change = review.beliefs[place] if review and place < len(review.beliefs) else None
        about = {"belief": place + 1, "text": belief.get("text"), "favours": belief.get("for")}
        yield {**about, "score": score, "change": change, "strongest": place in best}
