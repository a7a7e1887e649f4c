"""A choice that a branch makes for the host of a story: whom it talks to, or that it talks to nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from persimchat.graph.stories.agenda import partners_of, story_in
from persimchat.state.errors import InputError
from persimchat.state.intervention import Choose, intervention
from persimchat.state.story_state import StoryState


def forced_choice(
    state: StoryState, wanted: Sequence[Mapping[str, Any]], done: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The update by which the host who is about to take stock has its partner; the last choice counts.

    The host still takes stock and plans the talk; only that it could have chosen somebody else is gone.

    Args:
        state: the story.
        wanted: the choices, as interventions.
        done: the records of other interventions that were carried out before.

    Raises:
        InputError: the host is not about to choose, or may not choose the partner.
    """
    act, story = state["act"], story_in(state)
    for one in wanted:
        made = intervention(one, list(story.characters))
        assert isinstance(made, Choose)  # its `do` is "choose"
        if act["do"] != "stocktake" or act["room"] or act["host"] != made.host:
            raise InputError(
                f"{made.host} is not about to choose a partner",
                where="intervention",
                remedy="Begin a branch there: persimchat branch RUN --choose HOST=PARTNER.",
            )
        allowed = partners_of(state, story, made.host, story.stages[act["stage"]])
        if made.partner and made.partner not in allowed:
            raise InputError(
                f"{made.host} may not choose {made.partner} in this stage",
                where="intervention",
                remedy=f"Choose one of: {', '.join(allowed)}; or nobody.",
            )
        act = {**act, "partner": made.partner}
    records = [{"turn": state["turn"], **one} for one in wanted]
    return {"act": act, "carried_out": [*done, *records]}
