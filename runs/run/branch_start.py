"""What a branch begins with: words that somebody says, an utterance made again, or the choice of a story's host."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...nodes.people import moderator_name
from ...personas.names import full_name
from ...state.errors import InputError
from ...state.intervention import Choose, Floor, Say, words
from ...state.plain_text import visible_form
from ...state.stories.story import NOBODY, Story
from ...state.stories.support import camps
from ..folder.manifest import Manifest
from ..folder.reading import Record, read_run

_CHOOSE = "--choose"


@dataclass(frozen=True)
class Wish:
    """How a branch begins.

    Attributes:
        turn: how many utterances it shares.
        changed: what it changes besides settings, for its record.
        first: the interventions with which it begins.
        fits: whether a state of the shared past is the one after which it begins; None: the newest one of the turn.
    """

    turn: int
    changed: Mapping[str, Any] = field(default_factory=dict)
    first: Sequence[Mapping[str, Any]] = ()
    fits: Callable[[Mapping[str, Any]], bool] | None = None


def wished(
    manifest: Manifest, *, folder: Path, turn: int | None, say: tuple[str, str] | None, choose: tuple[str, str] | None
) -> Wish:
    """The wish of a branch that continues by itself, begins with the given words, or chooses for a host. Blocks.

    Args:
        manifest: what is known about the run.
        folder: of the run.
        turn: how many utterances it shares; with `choose`, how many at least; None with `choose`: the last choice.
        say: speaker and words of the next utterance.
        choose: a host and its partner, or nobody.

    Raises:
        InputError: words or choice are not possible there, or the turn is missing.
    """
    if choose is not None:
        if say is not None:
            raise InputError(
                "words and a choice are both given", where=_CHOOSE, remedy="Leave one out; branch the branch for both."
            )
        return _chosen(manifest, folder, choose, turn)
    if turn is None:
        raise InputError(
            "the turn at which the branch begins is missing", where="--at", remedy="Say how many utterances it shares."
        )
    if say is None:
        return Wish(turn)
    moderator = visible_form(say[0]) == visible_form(moderator_name(manifest.names))
    speaker = "" if moderator else full_name(say[0], manifest.names, what="participant")
    wanted = Say(text=words(say[1]), speaker=speaker, edited_by="branch" if speaker else None)
    return Wish(turn, {"say": {"speaker": say[0], "text": words(say[1])}}, [wanted.model_dump()])


def made_again(manifest: Manifest, *, folder: Path, turn: int) -> Wish:
    """The wish of a branch in which the speaker of an utterance words it anew. Blocks.

    Args:
        manifest: what is known about the run.
        folder: of the run.
        turn: number of the utterance, from 1.

    Raises:
        InputError: there is no such utterance, or no model made it.
    """
    utterances = read_run(folder).utterances
    said = next((utterance for utterance in utterances if utterance.turn == turn), None)
    if said is None:
        last = len(utterances)
        raise InputError(
            f"the run has {last} utterances; there is no utterance {turn}",
            where=str(folder),
            remedy=f"Choose one from 1 to {last}." if last else "Resume the run first.",
        )
    whispered = said.heard_by is not None and manifest.settings.mode != "story"  # a room's words are a model's own
    scripted = said.question is not None and said.is_given  # in the guide's words
    if scripted or said.speaker not in set(manifest.names) - set(manifest.people) or whispered:
        raise InputError(
            f"utterance {turn} is {said.speaker}'s own; no model can make it again",
            where=str(folder),
            remedy=f'Say something else there: persimchat branch {manifest.run} --at {turn - 1} --say "…: …"',
        )
    return Wish(turn - 1, first=[Floor(agent=said.speaker, avoid=[said.text]).model_dump()])


@dataclass(frozen=True)
class _Chance:
    """One time at which a host chose.

    Attributes:
        turn: utterances so far.
        round: of the story.
        stage: its place in the round, from 0.
        allowed: whom the host could choose.
        shared: whether it is in the past that a branch shares with its run.
    """

    turn: int
    round: int
    stage: int
    allowed: Sequence[str]
    shared: bool


def _chosen(manifest: Manifest, folder: Path, choose: tuple[str, str], at: int | None) -> Wish:
    """The wish of a branch in which a host talks to somebody else, or to nobody."""
    if manifest.settings.mode != "story":
        raise InputError(
            "this is no story, so nobody chooses whom to talk to", where=str(folder), remedy=f"Leave {_CHOOSE} out."
        )
    record = read_run(folder)
    story = Story.model_validate(manifest.scenario.given["story"])
    host = full_name(choose[0], manifest.names, what="participant", where=_CHOOSE)
    if host not in story.mains:
        raise InputError(
            f"{host} is no main character, and chooses nobody",
            where=_CHOOSE,
            remedy=f"Choose for one of: {', '.join(story.mains)}.",
        )
    if host in manifest.people:
        agents = [main for main in story.mains if main not in manifest.people]
        raise InputError(
            f"a person plays {host}, and chooses for themselves",
            where=_CHOOSE,
            remedy=f"Choose for one of: {', '.join(agents)}." if agents else "Leave it out.",
        )
    nobody = visible_form(choose[1]) == NOBODY
    partner = "" if nobody else full_name(choose[1], manifest.names, what="participant", where=_CHOOSE)
    chance = _chance(record, story, host, at)
    if partner and partner not in chance.allowed:
        stage = f"round {chance.round}, {story.stages[chance.stage].kind}"
        raise InputError(
            f"{host} may not choose {partner} after utterance {chance.turn} ({stage})",
            where=_CHOOSE,
            remedy=f"Choose one of: {', '.join(chance.allowed)}; or {NOBODY}.",
        )

    def fits(state: Mapping[str, Any]) -> bool:
        act = state["act"]
        due = act["do"] == "stocktake" and not act["room"] and act["host"] == host
        return due and (state["round"], act["stage"]) == (chance.round, chance.stage)

    told = {"choose": {"host": host, "partner": partner or NOBODY}}
    return Wish(chance.turn, told, [Choose(host=host, partner=partner).model_dump()], fits)


def _chance(record: Record, story: Story, host: str, at: int | None) -> _Chance:
    """A host's first choice at a turn or later; its last one without a turn."""
    found = list(_chances(record, story, host))
    later = [one for one in found if at is None or one.turn >= at]
    wanted = later[-1 if at is None else 0] if later else None
    if wanted is not None and not wanted.shared:
        return wanted
    branch = record.manifest.branch
    if wanted is not None and branch is not None:
        raise InputError(
            f"the run shares {host}'s choice after utterance {wanted.turn} with {branch.of}",
            where=f"run {record.manifest.run}",
            remedy=f"Branch {branch.of} instead.",
        )
    turns = [str(one.turn) for one in found]
    had = f"it had them after {' and '.join(filter(None, [', '.join(turns[:-1]), turns[-1]]))}" if turns else ""
    raise InputError(
        f"{host} has no choice after utterance {at} or later; {had}" if had else f"{host} has not chosen anybody yet",
        where=f"run {record.manifest.run}",
        remedy="Choose an earlier turn, or leave --at out for the last one." if had else "Resume the run first.",
    )


def _chances(record: Record, story: Story, host: str) -> Iterator[_Chance]:
    """The times at which a host chose, in their order."""
    supports = {name: one.supports for name, one in story.characters.items()}
    round_, stage = 0, -1
    begun = _begun(record)
    for place, one in enumerate(record.happenings):
        if one.do == "stage":
            round_, stage = one.round, (stage + 1 if one.round == round_ else 0)
        elif one.do == "standing":
            supports[one.speaker] = one.supports or ""
        elif one.do == "choice" and one.speaker == host:
            allowed = story.partners(host, story.stages[stage], camps(story, supports))
            yield _Chance(one.turn, round_, stage, allowed, place < begun)


def _begun(record: Record) -> int:
    """How many happenings are of the past that a branch shares with its run."""
    branch = record.manifest.branch
    if branch is None:
        return 0
    chosen = "choose" in (branch.changed or {})
    places = (
        place
        for place, one in enumerate(record.happenings)
        if one.turn > branch.turn or (chosen and one.turn == branch.turn and one.chosen_by is not None)
    )
    return next(places, len(record.happenings))
