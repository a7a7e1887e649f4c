"""Makes the rows of the tables from a run's record."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from persimchat.runs.events import Standing
from persimchat.runs.folder.jsonl import checked
from persimchat.runs.folder.judgements import RecordedJudgement
from persimchat.runs.folder.manifest import JudgementCounts
from persimchat.runs.folder.mind_record import MindRecord
from persimchat.runs.folder.polls import PollAnswer
from persimchat.runs.folder.reading import Record, calls_of
from persimchat.runs.reports.export_columns import Row
from persimchat.runs.reports.export_guide import guide_rows
from persimchat.runs.reports.export_interviews import interview_rows
from persimchat.runs.reports.export_pruning import pruning_rows
from persimchat.runs.reports.export_story import story_rows
from persimchat.runs.reports.export_tables import TABLES, JudgementRow, PollRow
from persimchat.runs.reports.stances import ledger
from persimchat.runs.reports.summary import count_words
from persimchat.state.emotion import EMOTIONS


def rows_of(
    record: Record, judgements: Sequence[RecordedJudgement] = (), *, afterwards: bool = True
) -> Iterator[tuple[str, Row]]:
    """The rows of a run: table's name and row. Within a table they are in order of turns.

    Args:
        record: read with whole minds.
        judgements: of evaluators, about its conversation.
        afterwards: whether positions, and polls and interviews that were held afterwards, have rows.

    Raises:
        InputError: a record in the run's folder does not fit; names the place.
    """
    about = _about(record)
    for table, number, values in _values(record, judgements, afterwards=afterwards):
        row = {**about, **values}
        yield table, checked(TABLES[table], row, f"{record.path}, table {table}, row {number}")


def _values(
    record: Record, judgements: Sequence[RecordedJudgement], *, afterwards: bool
) -> Iterator[tuple[str, int, dict[str, Any]]]:
    counts = dict.fromkeys(TABLES, 0)
    plain = (_run, _utterances, _minds, _verdicts, _scores, _calls, _silences, _interventions)
    for part in (*plain, pruning_rows, story_rows):
        for table, values in part(record):
            counts[table] += 1
            yield table, counts[table], values
    for number, row in enumerate(judgements, start=1):
        yield "judgements", number, _judged(row)
    if afterwards:
        for number, position in enumerate(ledger(record), start=1):
            yield "stances", number, asdict(position)
        for number, answer in enumerate(record.polls, start=1):
            yield "polls", number, polled(answer)
        yield from interview_rows(record)
        yield from guide_rows(record)


def _about(record: Record) -> dict[str, Any]:
    """The columns that all tables have; a setting that the run's version did not know yet is None."""
    manifest = record.manifest
    settings = manifest.settings.model_dump()
    names = Row.model_fields.keys() - {"run", "topic", "seed"}
    return {
        "run": manifest.run,
        "topic": manifest.scenario.topic,
        "seed": manifest.seed,
        **{name: settings.get(name) for name in names},
    }


def _run(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    manifest = record.manifest
    conclusion, total = manifest.conclusion, manifest.usage.total
    yield (
        "runs",
        {
            "participants": [participant.name for participant in manifest.scenario.participants],
            "people": manifest.people,
            "started": manifest.started,
            "ended": manifest.ended,
            "stop_reason": manifest.stop_reason,
            "stop_source": manifest.stop_source,
            "stop_detail": manifest.detail,
            "utterances": len(record.utterances),
            "consensus": conclusion.consensus if conclusion else None,
            "answer": conclusion.answer if conclusion else None,
            "conditional": conclusion.conditional if conclusion else None,
            "standings": _standings(conclusion.positions) if conclusion else None,
            "supporters": conclusion.supporters if conclusion else None,
            "concluded_by": conclusion.by if conclusion else None,
            "calls": total.calls if total else None,
            "input_tokens": total.input_tokens if total else None,
            "output_tokens": total.output_tokens if total else None,
            "cached_tokens": total.cached_tokens if total else None,
            "tokens_estimated": total.estimated if total else None,
            "cost_usd": total.cost_usd if total else None,
            **_judgements(manifest.judgements.values()),
            "prompt_hash": manifest.prompt_hash,
            "persimchat_version": manifest.versions.get("persimchat"),
            "branch_of": manifest.branch.of if manifest.branch else None,
            "branch_turn": manifest.branch.turn if manifest.branch else None,
            "resumed": len(manifest.resumed),
            "settings": manifest.settings.model_dump(),
            "notes": record.notes,
        },
    )


def _judgements(counts: Collection[JudgementCounts]) -> dict[str, int | None]:
    parts = {"": "asked", "_first_try": "valid", "_corrected": "corrected", "_failed": "failed"}
    sums = {part: sum(getattr(row, part) for row in counts) if counts else None for part in parts.values()}
    return {f"judgements{of}": sums[part] for of, part in parts.items()}


def _judged(row: RecordedJudgement) -> dict[str, Any]:
    values = row.model_dump(include=JudgementRow.model_fields.keys() - Row.model_fields.keys())
    return {**values, "evaluator": row.judge}


def polled(row: PollAnswer) -> dict[str, Any]:
    """The columns of an answer to a poll, without those about its run."""
    values = row.model_dump(include=PollRow.model_fields.keys() - Row.model_fields.keys() - {"question"})
    return {**values, "question": row.question.ask, "form": row.question.answer, "answered_by": row.judge}


def _emotions(emotion: Mapping[str, int]) -> dict[str, int | None]:
    return {name: emotion.get(name) for name in EMOTIONS}


def _standings(positions: Sequence[Standing]) -> dict[str, Any] | None:
    return {held.agent: held.model_dump(exclude={"agent"}) for held in positions} or None


def _utterances(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    for said in record.utterances:
        yield (
            "utterances",
            {
                **said.model_dump(
                    include={"turn", "speaker", "text", "addressees", "heard_by", "edited_by", "question"}
                    | {"corrections"}
                ),
                "given": said.is_given,
                "response_time_s": said.took_s,
                "words": count_words(said.text),
                "need_to_talk": said.need_to_talk.get(said.speaker),
                "needs_to_talk": said.need_to_talk,
                **_emotions(said.emotion),
                # Zero tokens read means that the call was not recorded (old versions).
                "input_tokens": said.tokens.get("input") or None,
                "output_tokens": None if said.is_given else said.tokens.get("output"),
                "answer": said.answer,
                "conditional": said.conditional,
                "confidence": said.confidence,
            },
        )


def _minds(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    for role, mind in _whole(record):
        yield "minds", _mind(role, mind)
        for rank, memory in enumerate(mind.recalled, start=1):
            recalled = memory.model_dump(exclude={"id", "turn"})
            whose = {"turn": mind.turn, "agent": mind.agent, "role": role, "rank": rank}
            yield "memories", {**whose, "memory": memory.id, "made": memory.turn, **recalled}


def _whole(record: Record) -> Iterator[tuple[str, MindRecord]]:
    """Role and mind, in the order in which they were written."""
    for role, minds in (("participant", record.minds), ("judge", record.judge_minds)):
        yield from ((role, mind) for mind in minds)


def _mind(role: str, mind: MindRecord) -> dict[str, Any]:
    percept = mind.percept
    kept = {"turn", "agent", "did", "action", "need_to_talk", "need_reasoning", "openness", "openness_reasoning"}
    return {
        **mind.model_dump(include=kept),
        "listened": mind.listened,
        "failed": mind.failed,
        "corrected": mind.corrected,
        "role": role,
        **_emotions(mind.emotion),
        "percept_theme": percept.theme if percept else None,
        "percept_keywords": percept.keywords if percept else None,
        "percept_importance": percept.importance if percept else None,
        "focal_points": mind.focal_points,
        "recalled": len(mind.recalled),
        "short_term_memory": mind.short_term_memory.theme if mind.short_term_memory else None,
        "long_term_memories": mind.long_term_memories,
        "plan": mind.plan.theme if mind.plan else None,
        "insights": [insight.theme for insight in mind.insights],
    }


def _verdicts(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    for verdict in record.verdicts:
        yield (
            "verdicts",
            {
                **verdict.model_dump(exclude={"event", "version", "positions"}),
                "agree": sum(position.agrees for position in verdict.positions),
                "positions": len(verdict.positions),
            },
        )
        for position in verdict.positions:
            yield "positions", {"turn": verdict.turn, **position.model_dump()}


def _scores(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    for score in record.scores:
        yield "scores", score.model_dump(exclude={"event", "version", "failed"})


def _calls(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    if record.calls is None:
        for row in record.manifest.usage.rows:
            yield "calls", {**row.model_dump(exclude={"model"}), "kind": "sum", "called_model": row.model}
    for call in calls_of(record):
        taken = call.model_dump(exclude={"model", "prompt", "answer", "dropped", "part"})
        yield "calls", {**taken, "kind": "request", "called_model": call.model}


def _silences(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    for silence in record.silences:
        yield "silences", silence.model_dump(exclude={"event", "version"})


def _interventions(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
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
