"""`persimchat run` and `persimchat debate`: a new conversation in the foreground."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from .foreground import hold
from .option_groups import Shown, Wanted, WantedDebate

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
[bold]What it writes[/bold]
  a folder with transcript.md to read; run.sqlite, with all that
  was said, thought, asked and used, to analyse and to repeat the run

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input
  3 model failure, 4 stopped by the machine (disk full), 130 interrupted: continue with persimchat resume
"""


def run(wanted: Wanted, shown: Shown) -> None:
    """Let personas talk about a topic, and record the conversation.

    You need nothing but a topic: without a key or a server, the offline model speaks.
    In a terminal you see the conversation live; in a pipe it is plain text.
    """
    hold(wanted, shown)


DEBATE_EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat debate "Close the centre to cars?" --answer-format yesno
  persimchat debate "Which city hosts the fair?" --choices "Brno,Lviv,Porto"
  persimchat debate "How many hours of school a day?" --answer-format number
  persimchat debate "Tea or coffee?" --judge persona --max-messages 30
  persimchat debate "Tea or coffee?" --baseline reconcile --rounds 2

\b
[bold]How it ends[/bold]
  with consensus, as soon as the judge finds that all agree; or at the message
  limit, with the position of the majority in the judge's words. The end of
  transcript.md has the answer, run.sqlite all verdicts of the judge

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input
  3 model failure, 4 stopped by the machine (disk full), 130 interrupted: continue with persimchat resume
"""


def debate(wanted: WantedDebate, shown: Shown) -> None:
    """Let personas debate a question until a judge finds consensus.

    The judge does not speak in the debate. It states the answer; at the message limit without consensus, it states the
    position of the majority.
    """
    hold(replace(wanted, arguments={**wanted.arguments, "mode": "debate"}), shown)
