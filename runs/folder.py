"""A run on disk: `run.json`, `transcript.jsonl`, `minds.jsonl`, `transcript.md`; flushed as it happens.

Debates also leave `verdicts.jsonl`, the persona judge `judge_mind.jsonl`, and the analysis `analysis.jsonl`.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TextIO

from pydantic import BaseModel

from persimchat.runs.events import Analysed, Judged, MindRecord, Uttered
from persimchat.state.errors import InputError
from persimchat.state.folding import without_marks
from persimchat.state.plain_text import clean

RUN_FORMAT: Final = 1
"""Version of the run folder's files."""

TRANSCRIPT, MINDS, READABLE = "transcript.jsonl", "minds.jsonl", "transcript.md"
VERDICTS, JUDGE_MIND, ANALYSIS = "verdicts.jsonl", "judge_mind.jsonl", "analysis.jsonl"
"""The files of a run beside run.json."""

_FILES: Final = (TRANSCRIPT, MINDS, READABLE)
"""Those that every run has."""

_NO_CONSENSUS: Final = {"mad_judge": "The judge's decision", "reconcile": "The weighted vote"}
"""What stands for the answer without consensus, by who says so; elsewhere it is the majority's position."""


def conclusion_heading(consensus: bool, by: str) -> str:
    """What stands in front of a debate's answer.

    Args:
        consensus: whether everybody agrees.
        by: who says so (`Conclusion.by`).
    """
    return "Consensus" if consensus else "No consensus. " + _NO_CONSENSUS.get(by, "The majority's position")


DISCLAIMER: Final = (
    "This is a simulation. Nobody in it is a real person, and what simulated people say is no evidence of what real "
    "people would say."
)


def new_run_id(topic: str, now: datetime) -> str:
    """A readable, unique name for a run: time (UTC), a few words of the topic, four random hexadecimal digits."""
    words = "-".join(re.findall(r"[a-z0-9]+", without_marks(clean(topic)))[:6])[:40].strip("-")
    return "-".join(part for part in (now.strftime("%Y%m%d-%H%M%S"), words, secrets.token_hex(2)) if part)


class RunFolder:
    """Writes what a run leaves behind.

    Args:
        out: the folder that holds runs; made where it is missing.
        run: the run's id, the name of its own folder.

    Raises:
        InputError: the folder cannot be made or written.
    """

    def __init__(self, out: Path, run: str) -> None:
        self.path = out / run
        try:
            self.path.mkdir(parents=True)
            self._files = {name: self._open(name) for name in _FILES}
        except FileExistsError as error:
            what = "a run of this name exists" if self.path.is_dir() else "there is a file where the folder should be"
            raise InputError(what, where=str(self.path), remedy="Choose another run id or folder.") from error
        except OSError as error:
            raise InputError(
                f"cannot write there: {error.strerror}", where=str(self.path), remedy="Choose a folder with --out."
            ) from error

    def _open(self, name: str) -> TextIO:
        return (self.path / name).open("w", encoding="utf-8", newline="\n")

    def _line(self, name: str, text: str) -> None:
        """Write a line to one of the run's files; one that not every run has is made with its first line."""
        if name not in self._files:
            self._files[name] = self._open(name)
        self._files[name].write(text + "\n")
        self._files[name].flush()

    def _data(self, name: str, data: BaseModel) -> None:
        line = data.model_dump(exclude={"event", "version"}, exclude_none=name == TRANSCRIPT)
        self._line(name, json.dumps(line, ensure_ascii=False))

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """Write run.json as far as it is known, and the head of the readable transcript."""
        self.manifest(manifest)
        names = ", ".join(p["name"] for p in manifest["scenario"]["participants"])
        topic = " ".join(str(manifest["scenario"]["topic"]).split())
        self._line(READABLE, f"# {_text(topic)}\n\n{_text(names)}\n\n> {DISCLAIMER}\n")

    def manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write run.json, whole or not at all."""
        temporary = self.path / "run.json.partial"
        temporary.write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        temporary.replace(self.path / "run.json")

    def utterance(self, uttered: Uttered) -> None:
        """Write one utterance."""
        self._data(TRANSCRIPT, uttered)
        self._line(READABLE, f"**{_text(uttered.speaker)}:** {_text(uttered.text)}\n")

    def mind(self, record: MindRecord) -> None:
        """Write one mind of one turn."""
        self._data(MINDS, record)

    def judge_mind(self, record: MindRecord) -> None:
        """Write the persona judge's mind of one turn."""
        self._data(JUDGE_MIND, record)

    def verdict(self, judged: Judged) -> None:
        """Write one verdict of the judge."""
        self._data(VERDICTS, judged)

    def score(self, analysed: Analysed) -> None:
        """Write one utterance's scores."""
        self._data(ANALYSIS, analysed)

    def end(self, manifest: Mapping[str, Any], why: str) -> None:
        """Write run.json for good, what a debate came to, and why the conversation ended; closes the files."""
        conclusion = manifest.get("conclusion")
        if conclusion:
            heading = conclusion_heading(conclusion["consensus"], conclusion["by"])
            held = ", ".join(map(_text, conclusion["supporters"]))
            self._line(
                READABLE, f"**{heading}:** {_text(conclusion['answer'])}" + (f" (held by {held})\n" if held else "\n")
            )
        self._line(READABLE, f"*{_text(why)}*")
        self.manifest(manifest)
        for file in self._files.values():
            file.close()


def _text(text: str) -> str:
    """Text as Markdown shows it word by word: nothing in it is markup, also not what stands at the start of a line."""
    escaped = re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", clean(text))
    return re.sub(r"^(\s*\d*)([-=+.)])", r"\1\\\2", escaped, flags=re.MULTILINE)


def now() -> datetime:
    """The time, for people only: nothing in a simulation depends on it."""
    return datetime.now(UTC)
