"""`persimchat run`: a conversation in the foreground."""

from __future__ import annotations

from typing import Final

from persimchat.app.foreground import hold
from persimchat.app.wanted import Shown, Wanted

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat run "Should our town close its centre to cars?"
  persimchat run "Tea or coffee?" -n 3 --messages 6 --seed 1
  persimchat run --scenario examples/family.yaml --model ollama:llama3.2
  persimchat run "Tea or coffee?" --pattern selector --analysis
  persimchat run "Tea or coffee?" --set speech_register=formal --out ./runs
  persimchat run "Tea or coffee?" --human Petr --moderate
  persimchat run "Tea or coffee?" --json > events.jsonl

\b
[bold]What it leaves[/bold]
  a folder with transcript.md to read; transcript.jsonl and minds.jsonl to
  analyse; run.json, with all that is needed to repeat it

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input
  3 model failure, 4 stopped by the machine (disk full), 130 interrupted: persimchat resume goes on
"""


def run(wanted: Wanted, shown: Shown) -> None:
    """Let personas talk about a topic, and keep what they said.

    Nothing is needed but a topic: without a key or a server, the offline model speaks.
    In a terminal you see the conversation live; in a pipe it is plain text.
    """
    hold(wanted, shown)
