"""The words in an answer, whole and in a stream: what stands around them goes, and prose stays as it is."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from companion_talks import FERRY
from hypothesis import given
from hypothesis import strategies as st
from loopback.failing import retry_at_once
from loopback.modes import MARKS, MODES, THOUGHT, answering
from loopback.scripted import ANSWERS, Scripted
from loopback.server import LoopbackServer
from run_files import logged

import persimchat
from persimchat.app.cli import main
from persimchat.models import capacity
from persimchat.models.spoken import StreamedWords, spoken_words
from persimchat.state.errors import ModelError

WORDS = "Well, I would rather walk home."

AROUND = {
    "an opening that is not closed": (f"<think>{THOUGHT}", ""),
    "Cohere": (f"<|START_THINKING|>{THOUGHT}<|END_THINKING|><|START_RESPONSE|>{WORDS}<|END_RESPONSE|>", WORDS),
    "Kimi": (f"◁think▷{THOUGHT}◁/think▷{WORDS}", WORDS),
    "harmony, two channels": (
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>commentary<|message|>{THOUGHT}"
        f"<|end|><|start|>assistant<|channel|>final<|message|>{WORDS}<|return|>",
        WORDS,
    ),
    "harmony, cut": (f"<|channel|>analysis<|message|>{THOUGHT}", ""),
    "harmony without marks, cut": (f"analysis{THOUGHT}", ""),
    "a header": (f"<|start_header_id|>assistant<|end_header_id|>\n\n{WORDS}<|eot_id|>", WORDS),
    "Gemma": (f"<start_of_turn>model\n{WORDS}<end_of_turn>\n", WORDS),
    "wrappers in a wrapper": (f'```json\n{{"response": "<p>{WORDS}</p>"}}\n```', WORDS),
    "a name and words": (f'{{"name": "Ann", "text": "{WORDS}"}}', WORDS),
    "Apertus": (f"<|inner_prefix|>{THOUGHT}<|inner_suffix|>{WORDS}", WORDS),
    "DeepSeek": (f"<｜Assistant｜><think>{THOUGHT}</think>\n{WORDS}<｜end▁of▁sentence｜><｜User｜>Qxthought?", WORDS),
    "an element in an answer": (f"<think>{THOUGHT}</think><answer>{WORDS}</answer>", WORDS),
    "square marks": (f"[REASONING]{THOUGHT}[/REASONING] {WORDS}", WORDS),
    "a note in brackets": (f"{WORDS} [Note: about nine words]", WORDS),
}

HEADED = {
    "ReAct": f"Thought: {THOUGHT}\nFinal Answer: {WORDS}",
    "bold": f"**Reasoning:** {THOUGHT}\n\n**Response:**\n{WORDS}",
    "Granite": f"Here is my thought process:\n{THOUGHT}\n\nHere is my response:\n{WORDS}",
}
"""What only the whole answer shows."""

PROSE = [
    "My thoughts: the ferry is late.\nIt was late yesterday, too.",
    "Reasoning: that is what she calls it. The answer: no.",
    "Žluťoučký kůň pěl ďábelské ódy. Myslím: ano, ve 12:30.",
    "I think: yes. We meet at 12:30 (note the time) and go.",
    "« Ça n'a coûté que 12 €… », dit-elle.",
    "Καλημέρα, τι κάνεις;",
    "Пчёлы живут в улье: «Не хочу!»",
    "这是真的吗？我不知道。",
    "今日は行きません。「はい」と彼は言った。",
    "مرحبا، كيف حالك؟",
    "שלום, מה שלומך?",
    "नमस्ते, आप कैसे हैं?",
    "สวัสดีครับ สบายดีไหม",
    "안녕하세요, 잘 지내세요?",
    "Xin chào, bạn khỏe không?",
    "¿Qué tal? ¡Muy bien!",
    "Olá! Tudo bem?",
    "Wie geht's? Gut – danke.",
    "Hej! Hur mår du?",
    "Merhaba, nasılsın?",
    "Dzień dobry; jak się masz?",
    "Jó napot! Hogy vagy?",
    "Analysis shows this. As analysis goes, it is fine.",
    "analysis is hard, and final assistants are few",
    "3 < 5 and 7 > 2, as [you] know; a <b>bold</b> word.",
    "First:\n- milk\n- bread\n\nThen we see.",
    'He said "User: root" and laughed. `x = {1}` works.',
    "{smile} That's all, {really}.",
    "assist me, a",
    "Note: the ferry is late. Words fail me (and you).",
]


def streamed(text: str, seed: int) -> str:
    draw, words, out, at = random.Random(seed), StreamedWords(), "", 0
    while at < len(text):
        length = draw.choice((1, 2, 3, 7, 20))
        out, at = out + words.take(text[at : at + length]), at + length
    return out + words.rest()


@pytest.mark.parametrize("name", AROUND)
def test_what_is_around_words_goes(name: str) -> None:
    text, words = AROUND[name]
    assert spoken_words(text) == words
    for seed in range(20):
        shown = streamed(text, seed)
        assert spoken_words(shown) == words
        assert not any(mark in shown for mark in ("Qxthought", "<|", "|>", "◁"))


@pytest.mark.parametrize("name", HEADED)
def test_thinking_under_a_heading_goes(name: str) -> None:
    assert spoken_words(HEADED[name]) == WORDS


@pytest.mark.parametrize("text", PROSE)
def test_prose_stays_as_it_is(text: str) -> None:
    assert spoken_words(text) == text
    assert {streamed(text, seed) for seed in range(20)} == {text}


@given(st.text(alphabet=st.characters(exclude_characters="<>[]{}◁▷`#*_()", exclude_categories=("Cs", "Cc"))))
def test_text_without_signs_stays_as_it_is(text: str) -> None:
    if not text.strip().startswith(("analysis", "assistant")):
        assert spoken_words(text) == text.strip()
        assert streamed(text, len(text)) == text


@given(st.text(alphabet="<|>[]/{}`◁▷# \nthinkINSTseo_channelfima"), st.integers(0, 9))
def test_no_text_breaks_it(text: str, seed: int) -> None:
    assert isinstance(spoken_words(streamed(text, seed)), str)


@pytest.mark.proof(cases=8)
@pytest.mark.parametrize("name", MODES)
def test_a_conversation_in_every_mode(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    retry_at_once(monkeypatch)
    capacity.forget()
    mode, tokens = MODES[name], []
    with LoopbackServer(answer=answering(name)) as server:
        options: dict[str, Any] = {"model": server.model(), "max_messages": 3, "out": tmp_path, "cognition": "lean"}
        events = persimchat.stream_events("Where to?", participants=2, **options)
        try:
            tokens = [event.text for event in events if event.event == "token"]
        except ModelError as error:
            assert mode.ends and mode.ends in str(error), error
            assert error.remedy
        else:
            assert not mode.ends
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    said = logged(folder, "utterance")
    assert len(said) == (0 if mode.ends else 3)
    shown = [(folder / "transcript.md").read_text("utf-8").partition("\n\n")[2], *(one["text"] for one in said)]
    prompts = [str(message["content"]) for body in server.bodies() for message in body["messages"]]
    assert [text for text in [*shown, str(logged(folder, "mind"))] if any(mark in text for mark in MARKS)] == []
    assert [text for text in prompts if "Qxthought" in text] == []
    whole_only = name in ("a closing tag alone", "a note", "roles")
    assert whole_only or "Qxthought" not in "".join(tokens)
    if said:
        assert all(bool(one.get("corrections")) is mode.corrects for one in said), said


@pytest.mark.proof(cases=3)
@pytest.mark.parametrize("name", MODES)
def test_a_debate_a_poll_and_a_companion_in_every_mode(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each ends as it should, or in one sentence with the cause; nobody reads or hears what the model thinks."""
    retry_at_once(monkeypatch)
    capacity.forget()
    mode, cause = MODES[name], ""
    with LoopbackServer(answer=answering(name)) as server:
        model = ["--model", server.model()]
        debate = ["debate", "Tea?", "-n", "2", "--messages", "2", "--out", str(tmp_path / "d")]
        assert main([*debate, *model]) == (3 if mode.ends else 0)
        shown = capsys.readouterr()
        cause += shown.err
        (folder,) = (tmp_path / "d").iterdir()
        polled = main(["poll", str(folder), "--ask", "Tea?", "--answer", "yesno"])
        assert polled == 0 or mode.ends, capsys.readouterr().err
        server.answer = answering(
            name,
            Scripted(
                companion=WORDS,
                reaction={
                    "perception": ANSWERS["perception"],
                    "emotion": ANSWERS["emotion"],
                    "trust": ANSWERS["trust"],
                },
            ),
        )
        with persimchat.companion(FERRY, "Oda", "Petr", world=tmp_path / "w", model=server.model()) as oda:
            try:
                said = oda.say("Good morning!").utterance
            except ModelError as error:
                said, cause = "", f"{cause}{error}"
        read = [str(body["messages"]) for body in server.bodies()]
    printed = capsys.readouterr()
    assert bool(said) is not bool(mode.ends)
    assert not mode.ends or cause.count(mode.ends) == 2
    for text in (shown.out, shown.err, printed.out, printed.err, said, *read):
        assert "Traceback" not in text and "Qxthought" not in text
