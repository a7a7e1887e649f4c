"""A real language model behind the product: SmolLM2-135M in llama.cpp's server (`make real`, all of them: `make long`).

It is small and weak, so nothing is asked of what it says; what is asked is that everything around it holds. It is
fetched once, into build/models, and these tests are skipped where it cannot be had.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from run_files import logged, run_json

from persimchat.models.asking import Answer, UselessAnswer, ask
from persimchat.models.exchange import Exchange
from persimchat.models.local import server
from persimchat.models.local.files import Stored
from persimchat.models.registry import close_models, ready_model
from persimchat.state.errors import InputError, ModelError
from persimchat.state.minds.judgement import NeedToTalk
from persimchat.state.settings import Settings

pytestmark = [pytest.mark.real, pytest.mark.timeout(480)]

COMMAND = (sys.executable, "-c", "import sys; from persimchat.app.cli import main; sys.exit(main())")
CHEAP = ["--cognition", "lean", "--set", "planning_and_reflection=false", "--set", "timeout_s=240"]
TWO = """
topic: Is tea better than coffee?
participants:
  - {name: Ann, description: A baker who likes tea.}
  - {name: Bo, description: A driver who likes coffee.}
settings: {max_messages: 2, cognition: compact, planning_and_reflection: false, utterance_words: 3, timeout_s: 240,
  answer_tokens: 120, module_models: {judge: offline}}
"""
"""A judge who is wrong twice ends a run, and SmolLM2 lists one of two people twice, so the offline model judges."""
QUESTION: dict[str, Any] = {"agent": "Ann", "module": "need_to_talk", "turn": 0, "schema": "{}"}


@pytest.fixture(autouse=True)
def here(smollm2: Stored, models: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PERSIMCHAT_MODELS", str(models))
    yield
    server.stop_all()
    assert servers_of(os.getpid()) == []


def servers_of(process: int) -> list[psutil.Process]:
    """llama.cpp's servers that a process has started."""
    return [child for child in psutil.Process(process).children() if "process.py" in " ".join(child.cmdline())]


def persimchat(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], cwd=cwd, capture_output=True, text=True, timeout=470)


async def asked(model: str = "smollm2", **options: Any) -> int:
    settings = Settings(model=model, timeout_s=240, **options)
    answer = await ask("json_answer", NeedToTalk, settings=settings, **QUESTION)
    return answer.value.need_to_talk


@pytest.mark.long
async def test_two_at_once_share_one_server_which_is_started_anew_when_it_died(models: Path) -> None:
    both = await asyncio.gather(
        ready_model("smollm2", Settings()), ready_model(f"llamacpp:{models}/smollm2.gguf", Settings(seed=1))
    )
    assert len(servers_of(os.getpid())) == 1
    assert both[0].openai_api_base == both[1].openai_api_base  # type: ignore[attr-defined]
    (first,) = servers_of(os.getpid())
    # Neither its arguments nor its environment have the key.
    key = both[0].openai_api_key.get_secret_value()  # type: ignore[attr-defined]
    assert key not in " ".join(first.cmdline()) + str(first.environ())
    first.kill()
    first.wait(60)
    await ready_model("smollm2", Settings())
    (second,) = servers_of(os.getpid())
    assert second.pid != first.pid
    await close_models()


@pytest.mark.long
async def test_prompts_that_fill_the_context_together_are_answered_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two at once, each of which has more than half of what they share: no request fails, whatever is answered."""
    failed: list[Exception] = []
    asks_again = Exchange._asks_again

    def noted(exchange: Exchange, error: Exception, *rest: Any) -> bool:
        failed.append(error)
        return asks_again(exchange, error, *rest)

    monkeypatch.setattr(Exchange, "_asks_again", noted)
    settings = Settings(model="smollm2", timeout_s=240, local_context=1024, max_concurrency=2)
    asked = [{**QUESTION, "agent": name, "schema": f"{name} " * 560} for name in ("tea", "sun")]
    answers = await asyncio.gather(
        *(ask("json_answer", NeedToTalk, settings=settings, **one) for one in asked), return_exceptions=True
    )
    assert failed == []
    assert all(isinstance(answer, Answer | UselessAnswer) for answer in answers), answers
    await close_models()


@pytest.mark.long
async def test_a_server_that_dies_is_a_model_error(models: Path) -> None:
    await ready_model("smollm2", Settings())
    (running,) = servers_of(os.getpid())

    async def kill() -> None:
        await asyncio.sleep(0.3)
        running.kill()

    settings = Settings(model="smollm2", timeout_s=240)
    words = "Tell all that you know, in a thousand words. " * 40
    with pytest.raises(ModelError, match=r"llama.cpp's server has ended \(signal 9\)"):
        await asyncio.gather(ask("json_answer", NeedToTalk, settings=settings, **{**QUESTION, "schema": words}), kill())
    await close_models()


@pytest.mark.long
@pytest.mark.parametrize("damage", ["cut", "architecture", "permission"])
async def test_a_file_that_llama_cpp_cannot_load_is_told_in_one_line(
    models: Path, tmp_path: Path, damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = (models / "smollm2.gguf").read_bytes()
    file = tmp_path / "model.gguf"
    match damage:
        case "cut":
            file.write_bytes(whole[: len(whole) // 2])
        case "architecture":
            file.write_bytes(whole.replace(b"\x05\0\0\0\0\0\0\0llama", b"\x05\0\0\0\0\0\0\0wxyzq", 1))
        case "permission":
            file.write_bytes(whole[:1000])
            file.chmod(0)
            if os.access(file, os.R_OK):
                pytest.skip("this user may read everything")
    with pytest.raises(InputError) as caught:
        await asked(f"llamacpp:{file}")
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
async def test_giving_up_while_it_starts_leaves_nothing() -> None:
    starting = asyncio.create_task(ready_model("smollm2", Settings()))
    await asyncio.sleep(0.2)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert servers_of(os.getpid()) == []


@pytest.mark.long
def test_models_try(tmp_path: Path) -> None:
    options = ["--questions", "1", "--set", "timeout_s=240"]
    done = persimchat("models", "try", "smollm2", *options, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    trial = json.loads(done.stdout)
    rows = trial["rows"]
    total = {name: sum(row[name] for row in rows) for name in ("asked", "valid", "in_range", "cut", "read", "cached")}
    print(f"\nmodels try smollm2: {total}\n{trial['verdict']}")
    assert trial["form"] == "json_schema"
    assert trial["context"] == 8192
    assert total["asked"] >= 8
    structured = [row for row in rows if row["module"] != "natural_language"]
    assert all(row["valid"] == row["asked"] for row in structured), structured


@pytest.mark.long
def test_a_debate_with_compact_cognition(tmp_path: Path) -> None:
    """To its end, which may be a consensus that such a model sees in anything, and once more from its record."""
    (tmp_path / "two.yaml").write_text(TWO, encoding="utf-8")
    done = persimchat("debate", "--scenario", "two.yaml", "--model", "smollm2", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "conversations").glob("*-*")
    about = run_json(folder)
    assert about["stop_reason"] in ("consensus", "closed", "message_limit")
    assert said(tmp_path) == 2
    modules = {row["module"] for row in logged(folder, "asked_model")}
    assert {"hearing", "appraisal", "natural_language", "judge"} <= modules
    assert about["judgements"].keys() == {"perception", "focal_points", "emotion", "need_to_talk", "openness"}
    minds = logged(folder, "mind")
    assert [mind["turn"] for mind in minds] == [0, 0, 1, 1, 2, 2]
    assert all(mind["openness"] in range(11) for mind in minds)
    replayed = replay_without_models(tmp_path)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    show(folder)


def test_a_discussion_killed_resumed_and_replayed(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(TWO, encoding="utf-8")
    asked_for = ["run", "--scenario", "two.yaml", "--model", "smollm2", *CHEAP]
    process = subprocess.Popen(
        [*COMMAND, *asked_for], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 240
    while process.poll() is None and time.monotonic() < until and not said(tmp_path):
        time.sleep(0.1)
    running = servers_of(process.pid) if process.poll() is None else []
    process.send_signal(signal.SIGKILL)
    process.communicate()
    gone, alive = psutil.wait_procs(running, timeout=60)
    assert len(gone) == 1
    assert alive == []
    done = persimchat("resume", "latest", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert said(tmp_path) == 2
    replayed = replay_without_models(tmp_path)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    (folder,) = (tmp_path / "conversations").glob("*-*")
    show(folder)


def replay_without_models(cwd: Path) -> subprocess.CompletedProcess[str]:
    """A replay asks nobody, also where the model is gone."""
    return subprocess.run(
        [*COMMAND, "replay", "latest"],
        cwd=cwd,
        env={**os.environ, "PERSIMCHAT_MODELS": str(cwd / "none")},
        capture_output=True,
        text=True,
        timeout=120,
    )


def show(folder: Path) -> None:
    """Print what was said, how judgements came out, and the share of prompts that was cached."""
    answered = [row for row in logged(folder, "asked_model") if row.get("answer")]
    given = sum(row["input_tokens"] for row in answered)
    cached = sum(row.get("cached_tokens", 0) for row in answered)
    print(f"\n{len(answered)} answers, {given} prompt tokens, {cached / given:.0%} of them cached")
    print(run_json(folder)["judgements"])
    print((folder / "transcript.md").read_text(encoding="utf-8"))


def said(cwd: Path) -> int:
    """How many utterances the one run below a folder has on disk."""
    with suppress(InputError):  # it is being made
        return sum(len(logged(log.parent, "utterance")) for log in (cwd / "conversations").glob("*/run.sqlite"))
    return 0


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
