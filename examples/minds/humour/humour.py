"""A module of minds, a rule of who speaks next, and a measure of experiments, in a package of their own.

Install it, and name them in the settings:

    pip install ./examples/minds/humour
    persimchat run "Tea or coffee?" --modules humour --pattern most_amused
"""

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from persimchat.state.minds.emotion import Level
from persimchat.state.minds.judgement import OwnModule, Reason


class Humour(OwnModule):
    """How funny the persona finds what was just said."""

    TASK: ClassVar[str] = (
        "How funny does this person find what they have just heard? People laugh at different things, and at "
        "most things not at all: go by this person's character and mood, and by who said it."
    )

    reasoning: Reason = Field(description="one sentence: what is funny about it, or why it is not")
    humour: Level = Field(description="0 not funny at all to 10 cannot stop laughing")


def most_amused(minds: Mapping[str, Mapping[str, Any]], turn: int, chance: random.Random) -> str:
    """Whoever of the candidates is most amused speaks next; among equals, one by chance."""
    levels = {name: mind.get("own", {}).get("humour", {}).get("humour", 0) for name, mind in minds.items()}
    return chance.choice([name for name, level in levels.items() if level == max(levels.values())])


def gini(outputs: Mapping[str, Any]) -> float | None:
    """How unequally the participants spoke: Gini's coefficient of their utterances, 0 if all spoke equally often."""
    said = Counter(utterance["speaker"] for utterance in outputs["utterances"])
    counts = [said[name] for name in outputs["participants"]]
    if not sum(counts):
        return None
    return sum(abs(one - other) for one in counts for other in counts) / (2 * len(counts) * sum(counts))
