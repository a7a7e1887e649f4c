"""What an error of a model, an embedding or a resumed run says to do, somebody does; then it works."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from loopback.answering import Fault, natural_answer
from loopback.failing import Failing
from loopback.scripted import task_of
from loopback.server import LoopbackServer

Serve = Callable[..., LoopbackServer]
Run = Callable[..., Any]
pytestmark = [pytest.mark.proof(cases="all"), pytest.mark.usefixtures("quick_retries")]


@dataclass(frozen=True)
class Wrong:
    """What goes wrong, what is said, and what is done then.

    Attributes:
        says: words of the error.
        remedy: words of the remedy.
        answer: what the server answers, from itself and a request's body.
        begun: options of the run.
        followed: options of the next command, which do what the remedy says.
        environment: variables that the remedy says to set.
        mended: whether the server is mended, or started, by its owner.
        runs: whether a run began, which is resumed; else it is begun anew.
    """

    says: str
    remedy: str
    answer: Callable[[LoopbackServer, dict[str, Any]], Any] = lambda _, body: natural_answer(body)
    begun: tuple[str, ...] = ()
    followed: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    mended: bool = False
    runs: bool = True


def refusing(fault: Fault) -> Callable[[LoopbackServer, dict[str, Any]], Any]:
    """A server that fails from the first utterance on."""
    failing = Failing(fault, after=1)
    return lambda _, body: failing(body)


def wanting_a_key(server: LoopbackServer, body: dict[str, Any]) -> Any:
    asked = next(one for one in server.requests if one.body is body)
    return natural_answer(body) if "my-key" in str(asked.headers) else told("who are you?", 401)


def with_one_at_a_time() -> Callable[[LoopbackServer, dict[str, Any]], Any]:
    """A server that refuses everybody once two have come at once; its first answer waits for that."""
    crowded = threading.Event()

    def answer(server: LoopbackServer, body: dict[str, Any]) -> Any:
        if server.most_at_once > 1:
            crowded.set()
        crowded.wait(timeout=60)
        return told("one at a time", 429) if server.most_at_once > 1 else natural_answer(body)

    return answer


def slow_to_speak(_: LoopbackServer, body: dict[str, Any]) -> Any:
    time.sleep(1.5 * (task_of(body) == "utterance"))
    return natural_answer(body)


def of_another_model(fault: Fault) -> Callable[[LoopbackServer, dict[str, Any]], Any]:
    """A server whose second model works."""
    return lambda _, body: natural_answer(body) if body["model"] == "better" else fault


def told(message: str, status: int = 400, **more: Any) -> Fault:
    return Fault(status, {"error": {"message": message, **more}})


BETTER = ("--model", "BETTER")
OFFLINE = ("--model", "offline")
RIGHT = ("--model", "SERVER")
WRONG = {
    "no server": Wrong("nothing listens", "Is the server started?", mended=True, runs=False),
    "no such machine": Wrong(
        "there is no machine of that name",
        "Check the address",
        begun=("--model", "test-model@http://nowhere.invalid/v1"),
        followed=RIGHT,
        runs=False,
    ),
    "another path": Wrong("", "ends in /v1", begun=("--model", "test-model@HOST/else"), followed=RIGHT, runs=False),
    "a key": Wrong(
        "does not accept the key",
        "Set PERSIMCHAT_API_KEY",
        wanting_a_key,
        environment={"PERSIMCHAT_API_KEY": "my-key"},
    ),
    "unknown model": Wrong(
        "does not know the model",
        "Check the model's name",
        of_another_model(told("no such model", 404)),
        followed=BETTER,
    ),
    "busy": Wrong("is busy", "Lower max_concurrency", with_one_at_a_time(), followed=("--set", "max_concurrency=1")),
    "too slow": Wrong(
        "no answer within 1 seconds",
        "Raise timeout_s",
        slow_to_speak,
        begun=("--set", "timeout_s=1"),
        followed=("--set", "timeout_s=60"),
    ),
    "quota": Wrong(
        "the quota is used up",
        "choose another model",
        of_another_model(told("You exceeded your current quota", 429, code="insufficient_quota")),
        followed=BETTER,
    ),
    "filter": Wrong(
        "content filter", "or the model", of_another_model(told("x", code="content_filter")), followed=BETTER
    ),
    "broken": Wrong("answered HTTP 503", "Try again later", refusing(Fault(503)), mended=True),
    "cut": Wrong("cut in the middle", "Try again", refusing(Fault(partial="I was about")), mended=True),
    "no answer in the form": Wrong(
        "had no usable answer", "Go on with another model", of_another_model("I would rather not."), followed=BETTER
    ),
    "no key of a provider": Wrong(
        "OPENAI_API_KEY",
        "choose another model, for example offline",
        begun=("--model", "openai:gpt-5"),
        followed=OFFLINE,
        runs=False,
    ),
    "unknown provider": Wrong("unknown model", "offline", begun=("--model", "offlin"), followed=OFFLINE, runs=False),
    "unknown embedding": Wrong(
        "unknown embedding", "lexical", begun=("--embedding", "lexcal"), followed=("--embedding", "lexical"), runs=False
    ),
    "no key of an embedding": Wrong(
        "OPENAI_API_KEY",
        "choose another embedding, for example lexical",
        begun=("--embedding", "openai:text-embedding-3-small"),
        followed=("--embedding", "lexical"),
        runs=False,
    ),
    "budget": Wrong(
        "budget",
        "Raise it, for example with --budget-calls",
        begun=("--budget-calls", "12"),
        followed=("--budget-calls", "2000"),
    ),
    "messages": Wrong("the run has ended", "Raise --messages", followed=("--messages", "3")),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_the_error_says_works(name: str, command: Run, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = WRONG[name]
    server = serve(lambda body: wrong.answer(server, body))

    def given(options: tuple[str, ...]) -> list[str]:
        named = {"SERVER": server.model(), "BETTER": server.model("better")}
        return [named.get(one, one.replace("HOST", server.url.removesuffix("/v1"))) for one in options]

    def said(done: Any) -> str:
        return " ".join(f"{done.out} {done.err}".split())

    begin = ["run", "Tea or coffee?", "-n", "2", "--messages", "2", "--quiet"]
    of_server = ["--model", server.model()]
    if name == "no server":
        server.stop()
    first = command(*begin, *(of_server if "--model" not in wrong.begun else ()), *given(wrong.begun))
    if name in ("budget", "messages"):
        assert first.code == 0, said(first)
        first = command("resume", "latest", "--quiet")
    assert first.code != 0 and "Traceback" not in said(first)
    assert wrong.says in said(first) and wrong.remedy in said(first)
    if wrong.mended:
        server.start() if name == "no server" else setattr(server, "answer", None)
    server.most_at_once = 0
    for variable, value in wrong.environment.items():
        monkeypatch.setenv(variable, value)
    if wrong.runs:
        done = command("resume", "latest", "--quiet", *given(wrong.followed))
    else:
        done = command(*begin, *(of_server if "--model" not in wrong.followed else ()), *given(wrong.followed))
    assert done.code == 0, said(done)


def test_what_cannot_change_is_branched(command: Run) -> None:
    begin = ("run", "Tea or coffee?", "-n", "2", "--messages", "2", "--model", "offline", "--quiet")
    assert command(*begin).code == 0
    refused = command("resume", "latest", "--set", "utterance_words=9", "--messages", "3")
    named = re.search(r"persimchat (branch \S+ --at )TURN (--set utterance_words=)…", refused.err)
    assert refused.code == 2 and named is not None, refused.err
    done = command(*f"{named[1]}1 {named[2]}9 --quiet".split())
    assert done.code == 0, done.err
