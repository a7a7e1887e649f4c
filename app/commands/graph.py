"""`persimchat graph`: the conversation's graph as a drawing."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from persimchat.app.output import say


def graph(
    kind: Annotated[
        Literal["conversation", "story"],
        typer.Argument(metavar="KIND", help="conversation (discussions and debates), or story.", show_default=True),
    ] = "conversation",
    inner: Annotated[
        bool, typer.Option("--inner/--outer", metavar="", help="Draw the minds' inner graphs too.")
    ] = True,
) -> None:
    """Print the graph of a conversation or of a story as a Mermaid drawing.

    Paste it into any Mermaid viewer, for example a Markdown file on GitHub.
    """
    from persimchat.graph.conversation import build_conversation
    from persimchat.graph.stories.story import build_story

    build = build_story if kind == "story" else build_conversation
    say(build().get_graph(xray=1 if inner else False).draw_mermaid().strip())
