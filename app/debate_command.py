"""`persimchat debate`: a group debate in the foreground, until a judge finds consensus."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from persimchat.app.foreground import hold
from persimchat.app.wanted import Shown, WantedDebate

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat debate "Close the centre to cars?" --answer-format yesno
  persimchat debate "Which city hosts the fair?" --choices "Brno,Lviv,Porto"
  persimchat debate "How many hours of school a day?" --answer-format number
  persimchat debate "Tea or coffee?" --judge persona --max-messages 30
  persimchat debate "Tea or coffee?" --baseline reconcile --rounds 2

\b
[bold]How it ends[/bold]
  with consensus, as soon as the judge finds that everybody agrees; or at the
  message limit, where the judge words the position of the majority. run.json
  and the end of transcript.md have the answer, verdicts.jsonl what the judge
  said after every utterance

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input
  3 model failure, 4 stopped by the machine (disk full), 130 interrupted: persimchat resume goes on
"""


def debate(wanted: WantedDebate, shown: Shown) -> None:
    """Let personas debate a question until a judge finds consensus, and word the answer.

    The judge takes no part. Without consensus at the message limit, it words the position of the majority.
    """
    hold(replace(wanted, arguments={**wanted.arguments, "mode": "debate"}), shown)
