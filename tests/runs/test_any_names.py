"""Whatever people are called and talk about: a clear error, or a run whose every file and view is well-formed."""

from __future__ import annotations

import asyncio
import csv
import os
import re
import tempfile
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from run_files import read_records

from persimchat.personas.scenario import make_scenario
from persimchat.runs.events import Event
from persimchat.runs.folder.past import past_events
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.export import export_runs
from persimchat.runs.reports.report import report_html
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]  # some 50 runs with their replays and exports

HARD = [
    "{{ 7*7 }}",
    "{% raw %}",
    "{name}",
    "%s%n",
    "<script>alert(1)</script>",
    "</td><b>",
    "../../etc/passwd",
    "C:\\x",
    "a/b.yaml",
    "'; DROP TABLE x;--",
    "=1+1",
    "**bold** [x](y)",
    "# Topic",
    "Anna: hello",
    "null",
    "true",
    "__proto__",
    "Moderator",
    "Judge",
    "everybody",
    "👩‍👩‍👧‍👦",
    "🏴\U000e0067\U000e0062\U000e007f",
    "שלום",
    "مرحبا بالعالم",
    "\u200fعمر\u200e",
    "नमस्ते",
    "Z̷̢͝a̸l̵g̶o̴" + "\u0301" * 40,
    "\ue000private",
    "\U000e1fff",
    "\ufdd0x",
    os.fsdecode(b"caf\xe9"),
    "x\x00y",
    "x\x1b[31my",
    "x\u2028y",
    "x\u202ey",
    "n" * 300,
    "ﷺ" * 300,
    "İstanbul ǅ ﬁ ß",
]
ANY = (
    st.text(st.characters(), min_size=1, max_size=40)
    | st.sampled_from(HARD)
    | st.text("ab\u0301\u200b\n ,:", max_size=9)
)
VOID = {"meta", "link", "br", "hr", "img", "input"}


class WellFormed(HTMLParser):
    """Reads a page of which every element is closed, and none is a script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.waiting: list[str] = []
        self.feed(page)
        self.close()
        assert self.waiting == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "script"
        if tag not in VOID:
            self.waiting.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.waiting.pop() == tag


async def held(scenario: Scenario, how: Settings, out: Path) -> Path:
    async for _ in run_simulation(scenario, how, out=out):
        pass
    (folder,) = out.iterdir()
    return folder


def check(folder: Path, scenario: Scenario, how: Settings, scratch: Path) -> None:
    names = [person.name for person in scenario.participants]
    assert folder.name.isascii()
    assert folder.parent == scratch / "runs"
    said = read_records(folder / "transcript.jsonl")
    assert len(said) == how.max_messages
    assert {line["speaker"] for line in said} <= set(names)
    shown = (folder / "transcript.md").read_text(encoding="utf-8")
    assert sum(line.startswith("**") for line in shown.splitlines()) >= len(said)
    assert re.search(r"(?<!\\)<script", shown) is None, "a backslash takes its meaning away in Markdown"
    record = read_run(folder)
    events = TypeAdapter(list[Event])
    past = list(past_events(record))
    assert events.validate_json(events.dump_json(past)) == past
    WellFormed(report_html(record))
    for form in ("csv", "md", "html"):
        export_runs([folder], scratch / form, form, eyes=names[0] if form == "md" else None)
    WellFormed((scratch / "html" / "utterances.html").read_text(encoding="utf-8"))
    with (scratch / "csv" / "utterances.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(said)
    asyncio.run(replayed(folder))


async def replayed(folder: Path) -> None:
    replay = Replay(folder)
    async for _ in replay.events():
        pass
    assert replay.comparison is not None
    assert replay.comparison.same


@settings(
    max_examples=50, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)
@example(topic="0", one="0", other=":\u200b", about="0", debate=True, seed=0)
@given(topic=ANY, one=ANY, other=ANY, about=ANY, debate=st.booleans(), seed=st.integers(0, 3))
def test_a_clear_error_or_a_well_formed_run(
    topic: str, one: str, other: str, about: str, debate: bool, seed: int
) -> None:
    more = {"mode": "debate", "answer_format": "choice", "choices": [about[:300], "B"]} if debate else {}
    with tempfile.TemporaryDirectory() as kept:
        scratch = Path(kept)
        try:
            people = [{"name": one, "description": about}, {"name": other, "description": "Somebody."}]
            scenario = make_scenario(
                topic, people, rules=[about], relationships=[{"from": one, "to": other, "type": "ally"}]
            )
            how = Settings(model="offline", max_messages=2, seed=seed, **more)
            how = how.model_copy(update={"judge_every": 5})
        except InputError as error:
            assert str(error).isprintable()
            assert error.remedy
            return
        except ValueError:  # of Settings
            return
        folder = asyncio.run(held(scenario, how, scratch / "runs"))
        check(folder, scenario, how, scratch)
