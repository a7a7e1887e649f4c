"""How often utterances repeat earlier ones or speak for others, with and without the wording check; what it costs.

Run: `python benchmarks/repetition.py [--topics 80] [--utterances 12] [--repeats 0.4] [--obeys 0.8]`. Conversations are
held with the offline model and with a model on the loopback server of `tests/loopback` that repeats itself on purpose:
the share `--repeats` of its answers is an earlier utterance word for word, or slightly reworded, or also speaks for
others; when asked to avoid words, it obeys in the share `--obeys`. A separate measure decides what counts as repeated
(difflib's ratio of words, 0.75 or more), not the one that the check uses. Topics come from `../shared`, if present.

Results on two busy cores (80 topics, 12 utterances, four personas, limits 0.45 and 0.9; "as answered" are the
first answers as they came from the model; "% still" repeat although they were asked for again; "ended" are
conversations that ended because the model spoke for others only twice running):

    model                     utterances  % repeated  % for others  % own name  % asked again  % still  ended
    offline, check off               960         0.0           0.0         0.0            0.0      0.0      0
    offline, check on                960         0.0           0.0         0.0            0.0      0.0      0
    repeats itself, check off        951        26.6           0.0         0.0            3.4      0.0      1
      as answered                    952        26.2           6.5         4.1
    repeats itself, check on         944         4.3           0.0         0.0           31.4      4.3      2
      as answered                    946        28.0           7.1         3.0

Offline conversations of 60 utterances (10 topics) repeat 0.7 % without the check and 0.0 % with it; 4.8 % are asked for
again. The comparison with 50 utterances takes 1.2 ms of CPU a turn (25 words each; 3.1 ms at 100 words). An embedding
on a server is asked for one text a turn.

At these limits nothing is caught in short real and offline conversations, and every verbatim and near-verbatim pair of
`tests/state/repetition_pairs.yaml` is (lexical embedding; share of n-grams and cosine: of each utterance the greatest
with any of the 50 before it):

    texts                                       compared  share 99 %  greatest  cosine 99 %  greatest  caught
    offline conversations, 25 words                  880        0.08      0.18         0.53      0.59  0
    offline conversations, 60 words                  110        0.19      0.20         0.62      0.64  0
    chats of two generative agents (real model)      109        0.36      0.36         0.65      0.74  0
    scientific prose in pieces of 100 words          561        0.28      0.44         0.85      0.94  2 (tables)
    pairs: verbatim, near-verbatim                10, 10                                               10, 10
    pairs: paraphrased, other point, greeting 10, 10, 10                                                0, 1, 0

At a share of 0.5 one near-verbatim pair of ten gets through. The cosine of lexical embeddings grows with the texts'
length, regardless of their content: the median of scientific prose is 0.46 at 25 words and 0.86 at 800. So only the
first 600 bytes are compared. Embeddings that know meanings were not measured; 0.9 errs on the safe side for them.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import json
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from loopback.answering import natural_answer  # noqa: E402
from loopback.scripted import Scripted, prompt_of, task_of  # noqa: E402
from loopback.server import LoopbackServer  # noqa: E402

import persimchat  # noqa: E402
from persimchat.memory.utterance_vectors import UtteranceVectors  # noqa: E402
from persimchat.runs.events import Uttered  # noqa: E402
from persimchat.state.errors import ModelError  # noqa: E402
from persimchat.state.minds.speech import nearness  # noqa: E402
from persimchat.state.settings import Settings  # noqa: E402

SHARED = Path(os.environ.get("PERSIMCHAT_SHARED") or ROOT.parent / "shared") / "data"
FEW = ["What should our town do with the old railway station?", "Is it ever right to lie?", "Which pet suits a flat?"]
ALIKE = 0.75


def topics(count: int) -> list[str]:
    """The first conversation tasks of FairEval, or a few of our own if these are missing."""
    file = SHARED / "topics" / "faireval_questions.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return ([json.loads(line)["text"] for line in lines] or FEW)[:count]


class Repeater:
    """An answerer that repeats itself on purpose, the same way every time.

    Args:
        repeats: share of its answers that repeat an utterance, or speak for others, or begin with the own name.
        obeys: share of second requests that it answers with something new.
    """

    def __init__(self, repeats: float, obeys: float) -> None:
        self.repeats, self.obeys = repeats, obeys
        self.count = Count()
        self._others = Scripted()

    def __call__(self, body: dict[str, Any]) -> Any:
        """Words for an utterance; as scripted otherwise."""
        if task_of(body) != "utterance":
            return self._others(body)
        prompt = prompt_of(body)
        again = "A first try " in prompt
        recent = re.search(r"^<last_utterances>\n(.*?)^</last_utterances>$", prompt, re.MULTILINE | re.DOTALL)
        said = re.findall(r"^- (.+?): (.+)$", recent.group(1) if recent else "", re.MULTILINE)
        name = re.findall(r"^- Name: (.+)$", prompt, re.MULTILINE)[0]
        others = [speaker for speaker, _ in said if speaker != name]
        new = str(natural_answer(body))
        chance = random.Random(f"{again} {prompt}")
        answer = new
        if others and chance.random() < (1 - self.obeys if again else self.repeats):
            text = chance.choice(said)[1]
            kind = chance.choices(("verbatim", "reworded", "script", "for others", "own name"), (4, 3, 1, 1, 1))[0]
            answer = {
                "verbatim": text,
                "reworded": _reworded(text),
                "script": f"{new}\n{others[0]}: That is true.\n\n{name}: {text}",
                "for others": f"**{others[0]}:** {new}\n\n**{others[-1]}:** {text}",
                "own name": f"**{name}:** {new}",
            }[kind]
            self.count.add(answer, [text] if kind in ("verbatim", "reworded") else [], name, others, (), again=again)
        else:
            self.count.add(answer, [], name, others, (), again=again)
        return answer


def _reworded(text: str) -> str:
    parts = text.split()
    parts[len(parts) // 2] = "simply"
    return f"As I see it, {' '.join(parts)}"


@dataclass
class Count:
    """Counts over a number of conversations.

    Attributes:
        utterances: how many.
        repeated: those that nearly repeat an earlier one of their conversation.
        for_others: those in which a line begins with another participant's name and a colon.
        own_name: those that begin with the speaker's name and a colon.
        ended: conversations that ended because the model spoke for others only, twice.
        corrections: by name.
    """

    utterances: int = 0
    repeated: int = 0
    for_others: int = 0
    own_name: int = 0
    ended: int = 0
    corrections: Counter[str] = field(default_factory=Counter)

    def add(
        self,
        text: str,
        said: Sequence[str],
        name: str,
        others: Sequence[str],
        corrections: Sequence[str],
        *,
        again: bool = False,
    ) -> None:
        """Count an utterance, unless it is a second answer."""
        if again:
            return
        self.utterances += 1
        self.repeated += is_repeated(text, said)
        self.for_others += speaks_for(text, others)
        self.own_name += speaks_for(text.partition("\n")[0], [name])
        self.corrections.update(corrections)

    def row(self, name: str) -> str:
        """One line of the table."""
        asked = sum(n for correction, n in self.corrections.items() if correction.startswith("asked_again"))
        counts = (self.repeated, self.for_others, self.own_name, asked, self.corrections["still_repeats"])
        shares = "".join(f"{100 * n / self.utterances:14.1f}" for n in counts)
        return f"{name:28s}{self.utterances:11d}{shares}{self.ended:8d}"


HEADING = (
    f"{'model':28s}{'utterances':>11s}"
    + "".join(f"{column:>14s}" for column in ("% repeated", "% for others", "% own name", "% asked again", "% still"))
    + "   ended"
)


def is_repeated(text: str, said: Sequence[str]) -> bool:
    """Whether a text has nearly the words of an earlier one; very short ones never do."""
    words = re.findall(r"\w+", text.lower())
    earlier = (re.findall(r"\w+", one.lower()) for one in said)
    return len(words) > 5 and any(difflib.SequenceMatcher(None, words, one).ratio() >= ALIKE for one in earlier)


def speaks_for(text: str, names: Sequence[str]) -> bool:
    """Whether a line of a text begins with one of these names and a colon."""
    return any(re.search(rf"^\W*{re.escape(name)}\W*:", text, re.MULTILINE) for name in names)


async def held(about: Sequence[str], **settings: Any) -> Count:
    """Hold a conversation on each topic and count."""
    count = Count()
    for topic in about:
        said: list[str] = []
        try:
            async for event in persimchat.astream_events(topic, **settings):
                if isinstance(event, Uttered):
                    others = [name for name in event.need_to_talk if name != event.speaker]
                    count.add(event.text, said, event.speaker, others, event.corrections)
                    said.append(event.text)
        except ModelError:  # it spoke for others only, twice
            count.ended += 1
    return count


def before_and_after(about: Sequence[str], utterances: int, repeats: float, obeys: float) -> dict[str, Count]:
    """The table's rows by name: both models, without the check and with it."""
    rows: dict[str, Count] = {}
    for check in (False, True):
        options = {"max_messages": utterances, "repetition_check": check}
        how = "check on" if check else "check off"
        rows[f"offline, {how}"] = asyncio.run(held(about, model="offline", **options))
        repeater = Repeater(repeats, obeys)
        with LoopbackServer(answer=repeater) as server:
            rows[f"repeats itself, {how}"] = asyncio.run(held(about, model=server.model(), **options))
        rows[f"  as answered, {how}"] = repeater.count
    return rows


def cost(window: int, words: int, turns: int = 100) -> float:
    """CPU milliseconds of a turn's comparison with the last utterances, with the lexical embedding."""
    chance = random.Random(0)
    vocabulary = [f"{chance.choice('bdfglmnprst')}{chance.choice('aeiou')}{n}" for n in range(2000)]
    said = [" ".join(chance.choices(vocabulary, k=words)) for _ in range(window + turns)]
    settings, vectors = Settings(), UtteranceVectors()

    async def compare(turn: int) -> None:
        earlier = said[turn : turn + window]
        cosines = await vectors.similarities(settings, "benchmark", said[turn + window], earlier, agent="")
        nearness(said[turn + window], earlier, cosines, overlap=0.45, similarity=0.9)

    async def all_turns() -> float:
        await compare(0)
        begun = time.process_time()
        for turn in range(1, turns):
            await compare(turn)
        return 1000 * (time.process_time() - begun) / (turns - 1)

    return asyncio.run(all_turns())


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=80, help="conversations a row")
    parser.add_argument("--utterances", type=int, default=12)
    parser.add_argument("--repeats", type=float, default=0.4, help="share of answers that go wrong on purpose")
    parser.add_argument("--obeys", type=float, default=0.8, help="share of second requests answered with something new")
    given = parser.parse_args()
    about = topics(given.topics)
    print(f"{len(about)} topics, {given.utterances} utterances each")
    print(HEADING)
    for name, count in before_and_after(about, given.utterances, given.repeats, given.obeys).items():
        print(count.row(name))
    print(f"CPU ms a turn, 50 earlier utterances of 25 words: {cost(50, 25):.2f}; of 100 words: {cost(50, 100):.2f}")


if __name__ == "__main__":
    main()
