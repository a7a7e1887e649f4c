"""A run as one of its participants may have seen it: what others thought, and whispers to others, are not in it.

What may be seen is named here, one by one; whatever a run's folder holds beside it stays out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from persimchat.personas.names import full_name
from persimchat.runs.events import Uttered
from persimchat.runs.export_tables import Row
from persimchat.runs.reading import Record
from persimchat.runs.recorded import (
    Manifest,
    Participant,
    RecordedIntervention,
    RecordedScenario,
    RecordedSettings,
)
from persimchat.state.visibility import is_heard

SEEN: Final = ("runs", "utterances", "minds", "memories", "interventions")
"""Tables in which there is anything that a participant may have seen."""


def seen_by(record: Record, wanted: str) -> Record:
    """What a participant may have seen of a run: what it heard, its own mind, and what everybody knows.

    Args:
        record: of the run.
        wanted: the participant's name, or part of it.

    Raises:
        InputError: the name is nobody's in this run, or may be several.
    """
    manifest = record.manifest
    names = [participant.name for participant in manifest.scenario.participants]
    name = full_name(wanted, names, what="participant", where=str(record.path))
    return replace(
        record,
        manifest=_manifest(manifest),
        utterances=[_said(said, name) for said in record.utterances if is_heard(_marked(said), name)],
        minds=[mind for mind in record.minds if mind.agent == name],
        judge_minds=[],
        verdicts=[],
        scores=[],
        silences=[],
        interventions=[seen for done in record.interventions if (seen := _done(done)) is not None],
        calls=None,
    )


def _manifest(manifest: Manifest) -> Manifest:
    """What everybody knows: who talked about what, how it was set up, when and why it ended."""
    settings = {key: value for key, value in manifest.settings.model_dump().items() if key in Row.model_fields}
    scenario = manifest.scenario
    return Manifest(
        run=manifest.run,
        started=manifest.started,
        ended=manifest.ended,
        stop_reason=manifest.stop_reason,
        seed=manifest.seed,
        scenario=RecordedScenario(
            topic=scenario.topic,
            participants=[Participant(name=p.name, human=p.human) for p in scenario.participants],
        ),
        settings=RecordedSettings(**settings),
        prompt_hash=manifest.prompt_hash,
        versions=manifest.versions,
    )


def _marked(said: Uttered) -> dict[str, object]:
    return {"speaker": said.speaker, "heard_by": said.heard_by}


def _said(said: Uttered, name: str) -> Uttered:
    """An utterance as it was heard; of one's own also what one felt and needed."""
    heard = Uttered(
        turn=said.turn,
        speaker=said.speaker,
        text=said.text,
        addressees=said.addressees,
        heard_by=said.heard_by,
        edited_by=said.edited_by,
    )
    if said.is_given:  # there is nothing in these figures, but that a person gave the words
        heard = heard.model_copy(update={"tokens": said.tokens, "response_time_s": said.response_time_s})
    if said.speaker != name:
        return heard
    own = {key: level for key, level in said.need_to_talk.items() if key == name}
    return heard.model_copy(
        update={"emotion": said.emotion, "need_to_talk": own, "answer": said.answer, "conditional": said.conditional}
    )


def _done(done: RecordedIntervention) -> RecordedIntervention | None:
    """A new topic, which everybody learns of. What was said stands among the utterances; nobody is told of the rest."""
    topic = done.more.get("topic")
    if done.do != "topic" or not isinstance(topic, str):
        return None
    return RecordedIntervention(turn=done.turn, do=done.do, topic=topic)
