"""`persimchat graph`: the conversation's graph as a drawing."""

from __future__ import annotations

from typing import Annotated, Literal

from ..output import say
from .options import option


def graph(
    kind: Annotated[Literal["conversation", "story"], option("graph", "kind")] = "conversation",
    inner: Annotated[bool, option("graph", "inner")] = True,
) -> None:
    """Print the graph of a conversation or of a story as a Mermaid drawing.

    Paste it into any Mermaid viewer, for example a Markdown file on GitHub.
    """
    from ...graph.conversation import build_conversation
    from ...graph.stories.story import build_story

    build = build_story if kind == "story" else build_conversation
    say(build().get_graph(xray=1 if inner else False).draw_mermaid().strip())
