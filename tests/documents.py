"""The fenced blocks of the documents, and what stands in for what a reader has and a test has not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
FENCE = re.compile(r"^( *)```(\S*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
COMMANDS = ("sh", "bash", "console")
SCRIPTS = ("python", "py")

TESTED_ELSEWHERE = {
    "javascript": "test_docs.py gives it to Node.js",
    "mermaid": "test_docs.py: fresh or not",
    "toml": "tests/web/test_own_module.py: a part of a file that it installs",
}
"""Languages whose blocks another test tries."""
OUTPUT = ("text",)
"""Languages of blocks that show what a program prints; test_docs.py compares those with a form of their own."""

FETCHED = "needs a model that is fetched first: make real does, and tests/models/test_getting.py gets from loopback"
HUB_FILE = "hf:bartowski/Llama-3.2-3B-Instruct-GGUF/Llama-3.2-3B-Instruct-Q4_K_M.gguf"
EFFECT = "takes minutes: tests/experiments/test_stories.py runs the example with fewer seeds (`make long`)"
CLUSTER = "needs several machines: tests/experiments/test_engines.py runs workers on this one"

SERVED = "needs a world that is served: tests/web/test_v1_served.py"

DOCKER = "needs Docker: tests/house/test_packaging.py reads the Dockerfile, and builds and runs it where Docker is"
NOT_RUN = {
    ("docs/companion.md", "persimchat companion key worlds/ferry --person Petr"): SERVED,
    ("docs/companion.md", "from openai import OpenAI"): SERVED,
    ("README.md", "persimchat models get smollm2"): FETCHED,
    ("README.md", 'persimchat run "Tea or coffee?" -n 2 --messages 3 --model smollm2'): FETCHED,
    ("docs/models.md", "persimchat models get smollm2"): FETCHED,
    ("docs/models.md", 'persimchat run "Tea or coffee?" -n 2 --messages 3 --model smollm2'): FETCHED,
    ("docs/models.md", "persimchat models remove smollm2"): FETCHED,
    ("docs/models.md", "persimchat models try smollm2"): FETCHED,
    ("docs/models.md", f"persimchat models get {HUB_FILE}"): FETCHED,
    ("docs/pruning.md", "persimchat models get smollm2"): FETCHED,
    ("docs/pruning.md", "persimchat doctor --set pruning.lambda=0.6"): FETCHED,
    ("docs/pruning.md", 'persimchat run "Tea or coffee?" -n 3 --messages 4 --set pruning.lambda=0.6'): FETCHED,
    ("docs/models.md", f'persimchat run "Tea or coffee?" --model {HUB_FILE}'): FETCHED,
    (
        "docs/start.md",
        "ollama pull llama3.1",
    ): "downloads a model of several GB; Ollama's place takes a loopback server",
    ("docs/studio.md", "langgraph dev"): "does not end by itself; tests/studio starts the server",
    (
        "docs/studio.md",
        "LANGSMITH_TRACING=false LANGGRAPH_CLI_NO_ANALYTICS=1 LANGGRAPH_NO_VERSION_CHECK=1 langgraph dev --no-browser",
    ): "does not end by itself; tests/studio starts the server with these variables",
    (
        "docs/studio.md",
        "import asyncio",
    ): "needs that server: tests/studio/test_graphs.py runs it (`make proof`)",
    (
        "docs/web.md",
        "curl -s -X POST http://127.0.0.1:8080/api/runs -H 'content-type: application/json' "
        """-d '{"topic": "Tea or coffee?", "settings": {"max_messages": 6}}'""",
    ): "needs the server, which does not end by itself; the tests of the API ask these addresses",
    ("docs/web.md", "docker build -t persimchat ."): DOCKER,
    (
        "docs/web.md",
        "docker run --read-only -v persimchat:/data -p 127.0.0.1:8080:8080 -e PERSIMCHAT_TOKEN persimchat",
    ): DOCKER,
    (
        "docs/web.md",
        "curl -sN http://127.0.0.1:8080/api/runs/RUN/events",
    ): "the same; RUN is the id of the reader's run",
    (
        "docs/pruning.md",
        'curl -s "http://127.0.0.1:8080/api/runs/RUN/pruning?turn=3&lambda=0.6&method=embedding"',
    ): "the same: tests/web/test_pruning_api.py asks this address",
    ("docs/stories.md", "persimchat experiment run examples/experiments/one_story.yaml --yes"): EFFECT,
    ("docs/stories.md", "persimchat experiment run examples/experiments/private_word.yaml --yes"): EFFECT,
    ("docs/experiments.md", "RAY_USAGE_STATS_ENABLED=0 ray start --head --port 6379"): CLUSTER,
    ("docs/experiments.md", "RAY_USAGE_STATS_ENABLED=0 OPENAI_API_KEY=… ray start --address HEAD:6379"): CLUSTER,
    (
        "docs/experiments.md",
        "persimchat experiment run town.yaml --yes --engine ray --workers 16 --address HEAD:6379",
    ): CLUSTER,
    (
        "docs/companion.md",
        "persimchat companion serve examples/companion/ferry.yaml --udp 9091",
    ): "does not end by itself; tests/app/companion serves the place",
    (
        "docs/companion.md",
        "python examples/companion/game.py",
    ): "needs that server: tests/app/companion/test_udp_game.py plays it",
}
"""(document, command, or a script's first line): why it is not run with the others."""

STANDS_FOR = {
    ("docs/export.md", "runs delete 20261121-0304"): "runs delete --yes {run[0]}",  # nobody is there to be asked
    ("docs/export.md", "20261121-0304"): "{run[0]}",
    ("docs/analysis.md", "20261121-0304"): "{run[0]}",
    ("docs/stories.md", "20261121-1801"): "{run[0]}",
    ("docs/runs.md", "20261121-1801"): "{run[0]}",
    ("docs/runs.md", "20261121-1802"): "{run[2]}",  # the branch in which Jarmila has changed her mind
    # nothing has failed there: the run has ended, and goes on only with a higher limit
    ("docs/runs.md", "resume latest --model ollama:llama3.2"): "resume latest --model ollama:llama3.2 --messages 11",
    (
        "docs/focus_groups.md",
        "branch latest --at 5",
    ): "branch {run[0]} --at 2",  # in the latest, nobody was there to speak
    # a reader's length would take long here
    ("docs/start.md", "-n 4 --messages 8"): "-n 4 --messages 2",
    ("docs/start.md", "-n 4 --messages 10"): "-n 2 --messages 2",
    ("docs/personas.md", "town/a.yaml,town/b.yaml"): "{town[0]},{town[1]}",
    ("docs/langsmith.md", "LANGSMITH_API_KEY=…"): "LANGSMITH_API_KEY=lsv2_pt_loopback",
    ("docs/langsmith.md", "http://localhost:4318"): "{receiver}",
    ("docs/benchmarks.md", "--data test.jsonl"): "--data test.jsonl --items 2 --rounds 1",
    ("docs/benchmarks.md", "--items 8"): "--items 2",
    ("docs/evaluation.md", 'data="orchard debates"'): "data=examples, client=client, upload_results=False",
}
"""(document, words): what a test reads in their place. `run` are the runs in the folder, the first began first; `town`
the files there; `receiver` takes traces; `examples` and `client` are LangSmith's, without an account."""

GOES_ON = ("docs/evaluation.md",)
"""Documents in which a script goes on with the names of those before it; in all others each stands alone."""


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        document: the file, from the repository's root.
        line: where it begins, for the failure's message.
        language: the word behind the fence; empty where there is none.
        text: what stands in it, without a list's indentation.
    """

    document: str
    line: int
    language: str
    text: str

    @property
    def where(self) -> str:
        return f"{self.document}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """The block's commands, without comments, continued lines joined; where there are prompts, without output."""
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
        if any(line.startswith("$ ") for line in lines):
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]

    @property
    def first(self) -> str:
        """The first line."""
        return self.text.partition("\n")[0].strip()

    @property
    def left_out(self) -> bool:
        """Whether this is a script that is not run with the others."""
        return (self.document, self.first) in NOT_RUN


def blocks_in(text: str, document: str = "") -> list[Block]:
    """The blocks of a text, in order."""
    found = []
    for match in FENCE.finditer(text):
        indent, language, body = match.groups()
        lines = "".join(line.removeprefix(indent) for line in body.splitlines(keepends=True))
        found.append(Block(document, text.count("\n", 0, match.start()) + 1, language, lines))
    return found


BLOCKS = [block for name in DOCUMENTS for block in blocks_in((ROOT / name).read_text(encoding="utf-8"), name)]
