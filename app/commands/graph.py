"""`persimchat graph`: the conversation's graph as a drawing."""

from __future__ import annotations

from typing import Annotated

import typer

from persimchat.app.output import say


def graph(
    inner: Annotated[
        bool, typer.Option("--inner/--outer", metavar="", help="Draw the minds' inner graphs too.")
    ] = True,
) -> None:
    """Print the conversation's graph as a Mermaid drawing.

    Paste it into any Mermaid viewer, for example a Markdown file on GitHub.
    """
    from persimchat.graph.conversation import build_conversation

    say(build_conversation().get_graph(xray=1 if inner else False).draw_mermaid().strip())
