"""The summary of a conversion in a few lines: per file, or per group of files with the same result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from persimchat.personas.conversion.conversion import Conversion, Converted
from persimchat.state.plain_text import one_line

NAMED: Final = 6
"""The most files that a summary names."""


@dataclass
class Summary:
    """The result of one or several files.

    Attributes:
        by: the mapping or model that read them, in words.
        files: the files.
        people: how many were converted.
        facts: (kind, what) → for how many people it holds; kinds are "taken", "left out", "technical", "empty".
        values: left-out field → its first value, shortened.
        skipped: entries that describe no person.
    """

    by: str
    files: list[Path]
    people: int = 0
    facts: Counter[tuple[str, str]] = field(default_factory=Counter)
    values: dict[str, str] = field(default_factory=dict)
    skipped: int = 0

    def add(self, one: Converted) -> None:
        """Add one converted description."""
        draft = one.draft
        self.people += 1
        self.facts.update(
            ("taken", f"{ours} ← {', '.join(theirs) or 'the mapping itself'}") for ours, theirs in draft.mapped.items()
        )
        self.facts.update(("left out", path) for path in draft.left_out)
        self.facts.update(("technical", path) for path in draft.technical)
        self.facts.update(("empty", name) for name in one.empty)
        self.values = {**draft.left_out, **self.values}

    def is_like(self, other: Summary) -> bool:
        """Whether both can share one summary: one person per file, and the same fields."""
        single = self.people == len(self.files) and other.people == len(other.files)
        same = self.by == other.by and set(self.facts) == set(other.facts)
        return single and same and not self.skipped and not other.skipped

    def lines(self) -> Iterator[str]:
        """The summary in words, its head first."""
        unlike = list(dict.fromkeys(file.name for file in self.files))
        names = ", ".join(unlike[:NAMED]) + (", …" if len(unlike) > NAMED else "")
        of = f"{len(self.files):,} files ({names})" if len(self.files) > 1 else names
        yield one_line(f"{of}: {'1 person' if self.people == 1 else f'{self.people:,} people'}, with {self.by}")
        for kind in ("taken", "left out", "technical", "empty"):
            found = [(what, number) for (of, what), number in self.facts.items() if of == kind]
            if kind in ("taken", "left out"):
                for what, number in found:
                    value = f": {self.values[what]}" if kind == "left out" else ""
                    yield f"  {kind:<10} {one_line(what + value)}{self._of(number)}"
            elif found:
                listed = ", ".join(f"{what}{self._of(number)}" for what, number in found)
                yield f"  {kind:<10} {one_line(listed)}"
        if self.skipped:
            what = "1 entry that describes" if self.skipped == 1 else f"{self.skipped:,} entries that describe"
            yield f"  {'skipped':<10} {what} nobody"

    def _of(self, number: int) -> str:
        return f" ({number:,} of {self.people:,})" if number < self.people else ""


def summaries(conversion: Conversion) -> list[Summary]:
    """The summaries of a conversion, in the order of the files."""
    by_file: dict[tuple[Path, str], Summary] = {}
    for one in conversion.people:
        file, by = one.draft.record.file, one.draft.by
        by_file.setdefault((file, by), Summary(by, [file], skipped=conversion.skipped.get(file, 0))).add(one)
    found: list[Summary] = []
    for summary in by_file.values():
        like = next((other for other in found if other.is_like(summary)), None)
        if like is None:
            found.append(summary)
            continue
        like.files += summary.files
        like.people += summary.people
        like.facts.update(summary.facts)
    return found
