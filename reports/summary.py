"""The figures of a run: pure functions over its record (thesis, 5.3 and appendix A).

Averages are arithmetic means. A trend is the slope of a straight line fitted by least squares to the values in their
order: the change from one utterance to the next. What is not known is None, never 0.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, linear_regression
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, field_serializer

from ..models.naming import OFFLINE
from ..runs.events import Analysed, Concluded, Happened, Judged, StoryOutcome, Totals, Uttered
from ..runs.folder.lines import RecordedIntervention
from ..runs.folder.manifest import Branch, JudgementCounts, Manifest, Resumed
from ..runs.folder.parts import MindRecord, is_empty, is_none
from ..runs.folder.reading import Record
from ..state.language import ENGLISH
from ..state.settings import BASELINES
from ..state.wording import language, t
from . import words
from .pruning_figures import Lacking, by_agent, lacking, wordings

SUMMARY_VERSION: Final = 1

SCORES: Final = ("coherence", "sentiment", "engagement")
"""The scores of the analysis, in order."""


def mean(values: Iterable[float]) -> float | None:
    """The arithmetic mean; None without values."""
    known = list(values)
    return fmean(known) if known else None


def slope(values: Sequence[float]) -> float | None:
    """The least-squares slope of values against their places in order: units per step; None of fewer than two."""
    return linear_regression(range(len(values)), values).slope if len(values) > 1 else None


def count_words(text: str) -> int:
    """Number of words of a text, separated by white space."""
    return len(text.split())


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Course(_Part):
    """The course of one measure over the utterances of one speaker, or of all, in order."""

    last: float | None = None
    mean: float | None = None
    trend: float | None = Field(default=None, description="least-squares slope, in units per utterance")


class Length(_Part):
    """How long utterances are."""

    last_words: int | None = None
    last_tokens: int | None = Field(default=None, description="output tokens of the call that worded it")
    mean_words: float | None = None


class Speech(_Part):
    """The figures of a set of utterances: one agent's, or all."""

    utterances: int
    response_time_s: Course
    length: Length
    scored: int = Field(description="utterances that were analysed")
    coherence: Course
    sentiment: Course
    engagement: Course
    corrections: dict[str, int] = Field(description="corrections of the wording, and how often each was made")


class AgentSummary(_Part):
    """One agent's figures."""

    name: str
    speech: Speech
    mean_need_to_talk: float | None = Field(description="over all turns, the awakening included; 0–10")
    first_openness: int | None
    last_openness: int | None
    emotion: dict[str, int] = Field(description="the last emotional state; empty if it is not known")
    answer: str | None = Field(description="its last answer (debate baselines)")


class Best(_Part):
    """The utterance with the highest score."""

    turn: int
    speaker: str
    value: float


class VerdictSummary(_Part):
    """One verdict of the judge, in numbers."""

    turn: int
    consensus: bool
    progress: str
    answer: str
    agree: int = Field(description="participants who agree")
    participants: int = Field(description="participants whose position is given")
    overruled: str


class PutQuestion(_Part):
    """A question of a focus group's guide that was put."""

    number: int
    turn: int = Field(description="number of the utterance that puts it")
    text: str = Field(description="the words with which it was put")


class Summary(_Part):
    """A run in numbers, as `persimchat show` prints it."""

    version: int = SUMMARY_VERSION
    run: str
    folder: str
    topic: str
    participants: list[str]
    people: list[str] = Field(description="the participants who are people")
    branch: Branch | None = Field(description="a branch: its origin; null if it is not a branch")
    resumed: list[Resumed] = Field(description="when it was resumed, and with which changes")
    started: str
    ended: str | None
    seed: int | None
    model: str | None
    mode: str
    pattern: str
    baseline: str | None
    max_messages: int | None
    simulated_times: bool = Field(
        default=False,
        exclude_if=operator.not_,
        description="whether the offline model worded everything, whose response times are made up; left out if not",
    )
    stop_reason: str | None = Field(description="null if the run is running or was killed")
    stop_source: str
    stop_detail: str
    conclusion: Concluded | None
    outcome: StoryOutcome | None = Field(
        default=None, exclude_if=is_none, description="the result of a story's vote; left out without one"
    )
    ablation: list[str] = Field(
        default=[], exclude_if=is_empty, description="what minds went without; left out if nothing"
    )
    joined: list[str] = Field(
        default=[], exclude_if=is_empty, description="modules that shared calls; left out if there were none"
    )
    modules: list[str] = Field(
        default=[], exclude_if=is_empty, description="modules of installed packages; left out if there were none"
    )
    prompts: list[str] = Field(
        default=[], exclude_if=is_empty, description="templates of one's own; left out if there were none"
    )
    questions: list[PutQuestion] = Field(
        default=[], exclude_if=is_empty, description="those that a focus group's moderator put; left out elsewhere"
    )
    standings: list[Happened] = Field(
        default=[], exclude_if=is_empty, description="where a story's characters stand at the end; left out elsewhere"
    )
    total: Speech
    most_active: list[str] = Field(description="who spoke most often; several if they are equal")
    highest_coherence: Best | None
    agents: list[AgentSummary]
    verdicts: list[VerdictSummary]
    whispers: int = Field(description="whispers: utterances that not all participants heard")
    silences: dict[str, int] = Field(description="who was silent for a turn, and how often")
    judgements: dict[str, JudgementCounts] = Field(
        default={},
        description="by module: how many judgements of minds were valid, corrected or unusable; empty if not known",
    )
    pruned: Lacking | None = Field(
        default=None, exclude_if=is_none, description="what all utterances were worded without; left out if nothing"
    )
    pruned_by_agent: list[Lacking] = Field(
        default=[],
        exclude_if=is_empty,
        description="what each agent's utterances were worded without; left out if none",
    )
    interventions: dict[str, int] = Field(
        description="interventions, and how often each was made; words: lines that were written for a participant"
    )
    usage: Totals | None
    usage_by_module: dict[str, Totals]
    usage_by_agent: dict[str, Totals] = Field(description="participants first, then a persona judge")
    notes: list[str] = Field(description="what is missing or was ignored in the folder")

    @field_serializer("conclusion")
    def _with_all_fields(self, concluded: Concluded | None) -> dict[str, Any] | None:
        return {name: getattr(concluded, name) for name in Concluded.model_fields} if concluded else None


def course(values: Sequence[float]) -> Course:
    """Last value, mean and trend of a measure."""
    return Course(last=values[-1], mean=mean(values), trend=slope(values)) if values else Course()


def speech(said: Sequence[Uttered], scores: Sequence[Analysed]) -> Speech:
    """The figures of these utterances and their scores, both in order of turns."""
    last = said[-1] if said else None
    length = Length(
        last_words=count_words(last.text) if last else None,
        last_tokens=last.tokens.get("output") if last and not last.is_given else None,
        mean_words=mean(count_words(utterance.text) for utterance in said),
    )
    return Speech(
        utterances=len(said),
        response_time_s=course([u.took_s for u in said if u.took_s is not None]),
        length=length,
        scored=len(scores),
        **{name: course([getattr(score, name) for score in scores]) for name in SCORES},
        corrections=dict(sorted(Counter(name for u in said for name in u.corrections).items())),
    )


def agent_summary(
    name: str, said: Sequence[Uttered], minds: Sequence[MindRecord], scores: Sequence[Analysed]
) -> AgentSummary:
    """One agent's figures, from its own utterances, minds and scores, all in order of turns."""
    openness = [mind.openness for mind in minds if mind.openness is not None]
    answers = [utterance.answer for utterance in said if utterance.answer is not None]
    return AgentSummary(
        name=name,
        speech=speech(said, scores),
        mean_need_to_talk=mean(mind.need_to_talk for mind in minds if mind.need_to_talk is not None),
        first_openness=openness[0] if openness else None,
        last_openness=openness[-1] if openness else None,
        emotion=next((mind.emotion for mind in reversed(minds) if mind.emotion), {}),
        answer=answers[-1] if answers else None,
    )


def names_of(record: Record) -> list[str]:
    """All participants in order of listing; speakers who are not participants come last."""
    listed = [participant.name for participant in record.manifest.scenario.participants]
    return list(dict.fromkeys([*listed, *(utterance.speaker for utterance in record.utterances)]))


def moderators_of(record: Record) -> set[str]:
    """Speakers who are not participants; a person wrote their words."""
    listed = {participant.name for participant in record.manifest.scenario.participants}
    return {said.speaker for said in record.utterances if said.is_given} - listed


def minds_of(record: Record) -> list[MindRecord]:
    """The agents' minds."""
    people = set(record.manifest.people)
    return [mind for mind in record.minds if mind.agent not in people]


def most_active(agents: Iterable[AgentSummary]) -> list[str]:
    """Who made the most utterances; nobody if there are none."""
    counts = {agent.name: agent.speech.utterances for agent in agents}
    most = max(counts.values(), default=0)
    return [name for name, number in counts.items() if number == most > 0]


def highest_coherence(scores: Iterable[Analysed]) -> Best | None:
    """The utterance with the highest coherence, the first among equals; None if nothing was analysed."""
    found = (Best(turn=s.turn, speaker=s.speaker, value=s.coherence) for s in scores if s.coherence is not None)
    return max(found, key=lambda best: (best.value, -best.turn), default=None)


def verdict_summary(verdict: Judged) -> VerdictSummary:
    """One verdict in numbers."""
    return VerdictSummary(
        turn=verdict.turn,
        consensus=verdict.consensus,
        progress=verdict.progress,
        answer=verdict.answer,
        agree=sum(position.agrees for position in verdict.positions),
        participants=len(verdict.positions),
        overruled=verdict.overruled,
    )


def _participants_first(by_agent: dict[str, Totals], names: Sequence[str]) -> dict[str, Totals]:
    """Sorted in order of listing; those who are not participants, such as a judge, come last."""
    order = dict.fromkeys([*(name for name in names if name in by_agent), *by_agent])
    return {name: by_agent[name] for name in order}


def _deed(done: RecordedIntervention) -> str:
    """The kind of an intervention, as the log has it; words for a participant and a lowered hand are separate."""
    if done.do == "say" and done.more.get("speaker"):
        return "words"
    return "hand_lowered" if done.do == "hand" and done.more.get("raised") is False else done.do


def _simulated(manifest: Manifest) -> bool:
    """Whether the offline model has worded everything; of a resumed run, by its last models."""
    models = {of.get("natural_language") for of in manifest.models.values() if isinstance(of, dict)}
    return models == {OFFLINE}


def summarise(record: Record) -> Summary:
    """A run in numbers."""
    manifest, settings, minds = record.manifest, record.manifest.settings, minds_of(record)
    spoken = wordings(minds)
    agents = [
        agent_summary(
            name,
            [utterance for utterance in record.utterances if utterance.speaker == name],
            [mind for mind in minds if mind.agent == name],
            [score for score in record.scores if score.speaker == name],
        )
        for name in names_of(record)
    ]
    return Summary(
        run=manifest.run,
        folder=str(record.path),
        topic=manifest.scenario.topic,
        participants=[participant.name for participant in manifest.scenario.participants],
        people=manifest.people,
        branch=manifest.branch,
        resumed=manifest.resumed,
        started=manifest.started,
        ended=manifest.ended,
        seed=manifest.seed,
        model=settings.model,
        mode=settings.mode,
        pattern=settings.pattern,
        baseline=settings.baseline,
        max_messages=settings.max_messages,
        simulated_times=_simulated(manifest),
        stop_reason=manifest.stop_reason,
        stop_source=manifest.stop_source,
        stop_detail=manifest.detail,
        conclusion=manifest.conclusion,
        outcome=manifest.outcome,
        ablation=manifest.scenario.story.ablation
        if manifest.scenario.story
        else manifest.settings.given.get("ablation", []),
        joined=manifest.settings.given.get("joined", []),
        modules=manifest.settings.given.get("modules", []),
        prompts=list(manifest.settings.given.get("prompts", [])),
        questions=[
            PutQuestion(number=said.question, turn=said.turn, text=said.text)
            for said in record.utterances
            if said.question is not None
        ],
        standings=list(record.last_standings.values()),
        total=speech(record.utterances, record.scores),
        most_active=most_active(agent for agent in agents if agent.name not in moderators_of(record)),
        highest_coherence=highest_coherence(record.scores),
        agents=agents,
        verdicts=[verdict_summary(verdict) for verdict in record.verdicts],
        whispers=sum(utterance.heard_by is not None for utterance in record.utterances),
        silences=dict(Counter(silence.agent for silence in record.silences)),
        judgements=manifest.judgements,
        pruned=lacking(spoken),
        pruned_by_agent=by_agent(spoken, names_of(record)),
        interventions=dict(Counter(map(_deed, record.interventions))),
        usage=manifest.usage.total,
        usage_by_module=manifest.usage.by_module,
        usage_by_agent=_participants_first(manifest.usage.by_agent, names_of(record)),
        notes=record.notes,
    )


def ending(summary: Summary) -> str:
    """Why a run ended and after how many utterances, and which rule ended it if that says more than the reason."""
    reason, source = summary.stop_reason, summary.stop_source
    in_english = language() == ENGLISH
    if source in BASELINES:  # a baseline's rounds were over, although the reason says message_limit
        return summary.stop_detail if in_english else t("chat.ended_baseline")
    over = t("report.over", why=words.why_over(reason), n=summary.total.utterances)
    told = in_english and summary.stop_detail and source not in ("judge", "message_limit")
    by = f" ({t('report.source', what=words.spaced(source))})" if in_english and source not in ("", reason) else ""
    return f"{over}{by}{f'. {summary.stop_detail}' if told else ''}"
