"""The report's charts and bars, from the record of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from persimchat.models.naming import OFFLINE
from persimchat.runs.folder.mind_record import MindRecord
from persimchat.runs.folder.reading import Record
from persimchat.runs.reports.charts.model import Chart
from persimchat.runs.reports.charts.scales import Point
from persimchat.runs.reports.charts.strips import Felt
from persimchat.runs.reports.charts.talk import (
    Talk,
    emotion_chart,
    need_chart,
    openness_chart,
    response_chart,
    score_chart,
    shown_positions,
    stance_chart,
)
from persimchat.runs.reports.report_people import Person
from persimchat.runs.reports.stances import Position
from persimchat.runs.reports.summary import minds_of
from persimchat.runs.reports.words import seconds

People = Mapping[str, Person]


def minds_by_agent(record: Record) -> dict[str, list[MindRecord]]:
    """The agents' minds in order of turns."""
    found: dict[str, list[MindRecord]] = {}
    for mind in minds_of(record):
        found.setdefault(mind.agent, []).append(mind)
    return found


def talk_of(record: Record, people: People, rows: Sequence[Position]) -> Talk:
    """The data of a recorded conversation's charts.

    Args:
        record: of the run.
        people: all participants and other speakers.
        rows: of the ledger of positions.
    """
    needs: dict[str, list[Point]] = {}
    openness: dict[str, list[Point]] = {}
    felt: dict[str, Felt] = {}
    for name, minds in minds_by_agent(record).items():
        needs[name] = [(mind.turn, mind.need_to_talk) for mind in minds if mind.need_to_talk is not None]
        openness[name] = [(mind.turn, mind.openness) for mind in minds if mind.openness is not None]
        felt[name] = [(mind.turn, mind.emotion) for mind in minds if mind.emotion]
    models = record.manifest.models
    return Talk(
        people=people,
        last=max((said.turn for said in record.utterances), default=0),
        speakers={said.turn: said.speaker for said in record.utterances},
        needs=needs,
        openness=openness,
        felt=felt,
        verdicts=record.verdicts,
        scores=record.scores,
        response_times=[
            (said.turn, said.took_s, said.speaker)
            for said in record.utterances
            if said.took_s is not None and models.get(said.speaker, {}).get("natural_language") != OFFLINE
        ],
        positions=shown_positions(rows),
    )


def report_charts(talk: Talk) -> dict[str, Chart]:
    """The charts that there is data for, by the id of their section in the report."""
    found = {
        "positions": stance_chart(talk),
        "openness": openness_chart(talk),
        "needs": need_chart(talk),
        "scores": score_chart(talk),
        "responses": response_chart(talk, seconds),
        "emotions": emotion_chart(talk, each=True, width=900),
    }
    return {key: chart for key, chart in found.items() if chart is not None}


def message_bars(utterances: Mapping[str, int], people: People) -> Sequence[tuple[Person, int, float]]:
    """Each participant's number of utterances, and its share of the greatest number (0–1)."""
    most = max([*utterances.values(), 1])
    return [(people[name], number, number / most) for name, number in utterances.items()]
