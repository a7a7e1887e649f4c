"""How long imports take, beside the start of the bare interpreter and the modules that are loaded later.

Run: `python benchmarks/imports.py [--rounds 5]`. Every line is a fresh process. The lines take turns, round by round,
so that a busy machine slows all of them; the median counts. The last column names the heavy libraries that are loaded
afterwards. Exits with 1 if `import persimchat` takes 0.5 s or more above the bare interpreter, or loads any of them.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

ALLOWED_S = 0.5
HEAVY = ("chromadb", "langchain_openai", "openai", "nicegui", "langgraph", "langchain_core", "pydantic", "typer")
PACKAGE = "import persimchat"
CASES = {
    "bare interpreter": "pass",
    PACKAGE: PACKAGE,
    "from persimchat import Settings": "from persimchat import Settings",
    "persimchat --help": "from persimchat.app.cli import main; main(['--help'])",
    "from persimchat import simulate": "from persimchat import simulate",
    "import langchain_openai": "import langchain_openai",
    "import chromadb": "import chromadb",
}
"""Name: what the process does. The last two are imports that `import persimchat` avoids."""

_REPORT = """
import sys
try:
    {code}
except SystemExit:
    pass
print(*[name for name in {heavy!r} if name in sys.modules], file=sys.stderr)
"""


def measure(code: str) -> tuple[float, str]:
    """Seconds of wall time of a fresh process, and the heavy libraries that it has loaded at its end."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _REPORT.format(code=code, heavy=HEAVY)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    return time.perf_counter() - started, (done.stderr.strip().splitlines() or [""])[-1]


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="after one that warms the file cache and is not counted")
    given = parser.parse_args()
    seconds: dict[str, list[float]] = {name: [] for name in CASES}
    loaded: dict[str, str] = {}
    for turn in range(given.rounds + 1):
        for name, code in CASES.items():
            taken, loaded[name] = measure(code)
            if turn:
                seconds[name].append(taken)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    bare = medians["bare interpreter"]
    print(f"{'process':34s}  median s   least s  x bare  loads")
    for name, median in medians.items():
        print(f"{name:34s}  {median:8.3f}  {min(seconds[name]):8.3f}  {median / bare:6.1f}  {loaded[name] or '-'}")
    own = medians[PACKAGE] - bare
    print(f"{PACKAGE}: {own:.3f} s above the bare interpreter (allowed {ALLOWED_S} s)")
    return int(own >= ALLOWED_S or bool(loaded[PACKAGE]))


if __name__ == "__main__":
    sys.exit(main())
