"""The language of a conversation: every prompt says it, a model that heeds it is understood, English is not told."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback.server import LoopbackServer, natural_answer
from talks import check_replay

import persimchat
from persimchat.runs.folder.reading import read_run
from persimchat.state.errors import InputError
from persimchat.state.language import name_of, tag_of
from persimchat.state.settings import Settings

TOLD = re.compile(r"Write every text of your answer in ([^;]+);")
SAYS = {
    "cs": "Podle mě je čaj lepší, protože voní po podzimu",
    "de": "Ich halte Tee für besser, denn er riecht nach Herbst",
    "ja": "お茶のほうが好きです。秋の香りがします",
    "ar": "أفضل الشاي لأن رائحته تشبه الخريف",
}
ROOT = Path(__file__).resolve().parents[2]
FERRY = ROOT / "examples/companion/ferry.yaml"
KINDS: dict[str, dict[str, Any]] = {
    "full": {"max_messages": 4},
    "compact": {"cognition": "compact", "max_messages": 3},
    "lean": {"cognition": "lean", "max_messages": 3},
    "debate": {"mode": "debate", "answer_format": "yesno", "max_messages": 4},
    "group_chat": {"baseline": "group_chat", "max_messages": 3},
    "single_agent": {"baseline": "single_agent", "max_messages": 4},
    "mad": {"mode": "debate", "baseline": "mad", "rounds": 2, "max_messages": 6},
}


def heeding(tag: str) -> Callable[[dict[str, Any]], Any]:
    """A model that speaks the language which its prompt asks for."""

    def answer(body: dict[str, Any]) -> Any:
        try:
            given = natural_answer(body)
        except ValueError:  # a question of a companion's mind, which may stay without an answer
            return "{}"
        told = TOLD.findall(str(body["messages"]))
        if isinstance(given, str) and set(told) == {name_of(tag)} and given.startswith("w"):
            return f"{SAYS[tag]} ({given.split()[0]})."
        return given

    return answer


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tag", SAYS)
@pytest.mark.proof(cases=8)
async def test_every_prompt_says_it(kind: str, tag: str, tmp_path: Path):
    with LoopbackServer(answer=heeding(tag)) as server:
        result = await persimchat.asimulate(
            "Tea or coffee?", 3, model=server.model(), language=tag, out=tmp_path, **KINDS[kind]
        )
        tasks = [one.text for one in server.requests if "<task name=" in one.text]
    assert tasks and all(set(TOLD.findall(text)) == {name_of(tag)} for text in tasks)
    worded = [text for text in tasks if '<task name="utterance">' in text or '<task name="group_chat">' in text]
    assert all(text.rstrip().removesuffix("</task>").rstrip().endswith(f"- Speak {name_of(tag)}.") for text in worded)
    if worded:
        assert all(SAYS[tag][:8] in said.text for said in result.utterances), [said.text for said in result.utterances]
    assert read_run(Path(str(result.folder))).manifest.settings.given["language"] == tag
    await check_replay(Path(str(result.folder)), tmp_path / "again")


def test_no_template_leaves_it_out():
    """Every prompt has the sentence from one file; the others are said behind a prompt, or are no prompts."""
    templates = {file.stem: file.read_text("utf-8") for file in (ROOT / "prompts/templates").rglob("[a-z]*.jinja")}
    told = ("_rules.jinja", "_data_notice.jinja", "_evaluator.jinja")
    without = [name for name, text in templates.items() if not any(f'include "{one}"' in text for one in told)]
    assert sorted(without) == ["correction", "cut", "fixed_questions", "json_answer", "script_correction"]


@pytest.mark.proof
def test_a_companion(tmp_path: Path):
    with LoopbackServer(answer=heeding("de")) as server:
        more = {"model": server.model(), "language": "de"}
        with persimchat.companion(FERRY, "Oda", "Petr", world=tmp_path / "w", **more) as oda:
            oda.say("Dobrý den.")
        said = [one.text for one in server.requests if '<task name="companion">' in one.text]
    assert said and all("- Answer in German, in whatever language" in text for text in said)


async def test_english_says_nothing_of_it(tmp_path: Path):
    with LoopbackServer() as server:
        result = await persimchat.asimulate("Tea?", 2, model=server.model(), max_messages=2, out=tmp_path)
        assert not any(TOLD.search(one.text) or "\n\n</task>" in one.text for one in server.requests)
    assert "language" not in read_run(Path(str(result.folder))).manifest.settings.given


async def test_the_offline_model_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="the offline model speaks English only, not Czech"):
        await persimchat.asimulate("Tea?", 2, model="offline", language="cs", out=tmp_path)
    await persimchat.asimulate("Tea?", 2, model="offline", language="en-GB", max_messages=2)


@pytest.mark.parametrize(
    ("written", "tag"), [("CS", "cs"), ("pt_br", "pt-BR"), ("en-GB", "en-GB"), ("zh-Hant", "zh-Hant"), ("en", "en")]
)
def test_tags(written: str, tag: str):
    assert tag_of(written) == Settings(language=written).language == tag


@pytest.mark.parametrize(
    ("written", "said"), [("xx", "such as cs, de"), ("Czech", "give cs"), ("", "such as"), ("../etc", "such as")]
)
def test_wrong_tags(written: str, said: str):
    with pytest.raises(ValueError, match=said):
        Settings(language=written)
