"""A module of minds in a package of its own: how funny somebody finds what they hear.

Install it, and name it in the settings:

    pip install ./examples/minds/humour
    persimchat run "Tea or coffee?" --modules humour
"""

from typing import ClassVar

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
