"""Cases for studies of pruning from memory streams that Generative Agents released (Apache-2.0): a file of tasks.

Run: `python benchmarks/pruning_cases.py OUT.yaml [--shared DIR]`, then `tasks: {file: OUT.yaml}` in an experiment. Two
agents' streams are there, of one simulated day. At four times of that day both meet, each with the 40 memories of the
highest recency, importance and relevance to the other and the place. So there are four cases; the paper's twenty need
the logs of all 25 agents. The streams have no traits: who somebody is stands among the memories.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml

from persimchat.memory.lexical import LexicalEmbeddings
from persimchat.memory.retrieval import Candidates, Cue, retrieve
from persimchat.state.minds.emotion import EMOTIONS
from persimchat.state.settings import RetrievalWeights

STREAMS: Final = {"Isabella Rodriguez": "isabella_rodriguez", "Maria Lopez": "maria_lopez"}
DAY: Final = "2023-02-13"
TIMES: Final = ("12:00", "15:00", "18:00", "21:00")
PLACE: Final = "Hobbs Cafe"
KEPT: Final = 40
_IDLE: Final = (" is idle", " is being used")
"""Endings of what says nothing about anybody."""


def nodes_before(path: Path, time: str) -> list[dict[str, Any]]:
    """What an agent knew at a time of the day, oldest first; of equal texts the newest.

    Args:
        path: of a memory stream.
        time: hours and minutes.
    """
    nodes = list(json.loads(path.read_text(encoding="utf-8")).values())
    known = [node for node in nodes if node["created"] <= f"{DAY} {time}:00"]
    known.sort(key=lambda node: (node["created"], node["node_count"]))
    newest = {node["description"]: node for node in known if not node["description"].endswith(_IDLE)}
    return sorted(newest.values(), key=lambda node: (node["created"], node["node_count"]))


def best(nodes: list[dict[str, Any]], asked: str) -> list[dict[str, Any]]:
    """The memories of highest recency, importance and relevance, best first.

    Args:
        nodes: what is known, oldest first.
        asked: what memories are to be relevant to.
    """
    steps = {created: step for step, created in enumerate(sorted({node["created"] for node in nodes}))}
    lexical = LexicalEmbeddings()
    candidates = Candidates(
        ids=[str(place) for place in range(len(nodes))],
        last_access=np.array([steps[node["created"]] for node in nodes], dtype=np.int64),
        importance=np.array([node["poignancy"] for node in nodes], dtype=np.float64),
        emotions=np.zeros((len(nodes), len(EMOTIONS))),
        vectors=np.array(lexical.embed_documents([node["description"] for node in nodes]), dtype=np.float32),
    )
    cue = Cue(np.array([lexical.embed_query(asked)], dtype=np.float32), stm=None, emotion=None, turn=len(steps))
    return [nodes[int(one["id"])] for one in retrieve(candidates, cue, RetrievalWeights(), KEPT)]


def participant(name: str, nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """A persona with memories."""
    memories = [
        {
            "text": node["description"],
            "importance": min(10, int(node["poignancy"])),
            "keywords": sorted({str(word) for word in node["keywords"]})[:20],
        }
        for node in nodes
    ]
    return {"name": name, "description": f"{name} lives in a small town.", "memories": memories}


def cases(folder: Path) -> dict[str, Any]:
    """The file of tasks.

    Args:
        folder: of the memory streams.
    """
    tasks = []
    for time in TIMES:
        people = []
        for name, file in STREAMS.items():
            (other,) = STREAMS.keys() - {name}
            known = nodes_before(folder / f"{file}.json", time)
            people.append(participant(name, best(known, f"{other} {PLACE}")))
        first, second = STREAMS
        rules = [f"The place is {PLACE} at {time}."]
        tasks.append(
            {
                "id": f"cafe-{time.replace(':', '')}",
                "category": "generative agents",
                "topic": f"{first} and {second} meet.",
                "scenario": {"participants": people, "rules": rules},
            }
        )
    return {"tasks": tasks}


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, metavar="OUT.yaml", help="printed if not given")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("PERSIMCHAT_SHARED") or "../shared"))
    given = parser.parse_args()
    folder = given.shared / "data" / "memory_streams"
    if not folder.is_dir():
        print(f"There are no memory streams in {folder}. Name their folder with --shared.", file=sys.stderr)
        raise SystemExit(2)
    text = yaml.safe_dump(cases(folder), allow_unicode=True, sort_keys=False, width=120)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
