"""Scores by attention: a tiny random model against a plain implementation, and files that cannot score."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, pairwise
from pathlib import Path

import gguf
import numpy as np
import pytest
from tiny_model import LAYERS, QUANTISED, TOKENS, arrays, plain_attention, tiny

from persimchat.models.attention import forward, scoring
from persimchat.models.attention.scoring import GgufScorer, reading, scorer_of
from persimchat.state.errors import ModelError, PromptTooLong

SYSTEM = "You are Ada."
ITEMS = ["Ada keeps 24 bees.\n", "The mill is old.\n", "Petr owes her money: žádné řeči.\n"]
USER = "".join(ITEMS) + "What do you say?"
ENDS = list(accumulate(map(len, ITEMS), initial=0))
SPANS = list(pairwise(ENDS))
ANSWERS = ["I like the mill.", "Nothing, for 3 days."]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture(scope="module")
def scorer(file: Path) -> GgufScorer:
    return loaded(file)


def loaded(file: Path) -> GgufScorer:
    found = scorer_of(str(file))
    assert isinstance(found, GgufScorer)
    return found


def tokens_of(scorer: GgufScorer, response: str = "") -> tuple[list[int], int]:
    """The tokens of prompt and response, and how many of them look."""
    prompt, answer = scorer.model.prompt(SYSTEM, USER)[0], list(scorer.model.encode(response).ids)
    return prompt + answer, len(answer) or 1


def plain_scores(file: Path, scorer: GgufScorer, response: str = "") -> np.ndarray:
    """Scores of the pieces of information from whole matrices."""
    ids, queries = tokens_of(scorer, response)
    looked, _ = plain_attention(file, ids, queries)
    begins = scorer.model.prompt(SYSTEM, USER)[1]
    looked = looked[: len(begins)]
    return np.array([looked[(begins >= a) & (begins < b)].sum() for a, b in SPANS])


@pytest.mark.parametrize("response", ["", *ANSWERS])
def test_attention_to_all_tokens_adds_up_to_the_number_of_layers(scorer: GgufScorer, response: str):
    ids, queries = tokens_of(scorer, response)
    looked = scorer.model.llama.read(ids, scorer.model.llama.cache(len(ids)), last=queries)
    assert looked.sum() == pytest.approx(LAYERS, abs=1e-4)


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_scores_equal_those_of_whole_matrices(tmp_path: Path, kv_heads: int):
    file = tiny(tmp_path / "a.gguf", kv_heads=kv_heads)
    scorer = loaded(file)
    assert scorer.scores(SYSTEM, USER, SPANS).values == pytest.approx(plain_scores(file, scorer), abs=1e-5)
    one = [plain_scores(file, scorer, answer) for answer in ANSWERS]
    found = scorer.scores(SYSTEM, USER, SPANS, ANSWERS)
    assert found.values == pytest.approx(np.mean(one, 0), abs=1e-5)
    assert found.tokens == len(tokens_of(scorer)[0]) + sum(tokens_of(scorer, answer)[1] for answer in ANSWERS)
    assert scorer.scores(SYSTEM, USER, SPANS, ANSWERS[:1]).values == pytest.approx(one[0], abs=1e-5)
    assert not np.allclose(one[0], one[1], atol=1e-4), "the responses differ"


def test_mean_mean_divides_by_the_tokens_of_a_piece(scorer: GgufScorer):
    begins = scorer.model.prompt(SYSTEM, USER)[1]
    lengths = [((begins >= a) & (begins < b)).sum() for a, b in SPANS]
    whole, mean = (scorer.scores(SYSTEM, USER, SPANS, ANSWERS, reducer=by).values for by in ("sum_mean", "mean_mean"))
    assert np.array(whole) / lengths == pytest.approx(mean)


@pytest.mark.parametrize(("piece", "block"), [(7, 256), (1024, 5), (16, 3), (1, 1)])
def test_reading_in_pieces_changes_nothing(scorer: GgufScorer, monkeypatch: pytest.MonkeyPatch, piece: int, block: int):
    ids, queries = tokens_of(scorer, ANSWERS[0])
    llama = scorer.model.llama
    at_once = llama.read(ids, llama.cache(len(ids)), last=queries)
    monkeypatch.setattr(forward, "_PIECE", piece)
    monkeypatch.setattr(forward, "_BLOCK", block)
    cache = llama.cache(len(ids))
    assert llama.read(ids[:20], cache).sum() == 0
    assert llama.read(ids[20:], cache, last=queries) == pytest.approx(at_once, abs=1e-5)
    assert llama.read(ids, llama.cache(len(ids)), last=queries) == pytest.approx(at_once, abs=1e-5)


def test_a_token_belongs_to_the_piece_in_which_it_begins(scorer: GgufScorer):
    # " the" is one token; its first character, the blank, stands in the first piece.
    user = "x the y"
    ids, begins = scorer.model.prompt("", user)
    assert TOKENS.index("Ġthe") in ids
    inside = begins[(begins >= 0) & (begins < len(user))]
    assert inside.tolist() == [0, 1, 5, 6]
    a, b = scorer.scores("", user, [(0, 2), (2, 7)]).values
    seen = scorer.model.llama.read(ids, scorer.model.llama.cache(len(ids)), last=1)
    assert a == pytest.approx(seen[(begins == 0) | (begins == 1)].sum())
    assert b == pytest.approx(seen[(begins == 5) | (begins == 6)].sum())
    assert scorer.scores("", user, []).values == ()


@pytest.mark.parametrize("mark", ["<|im_end|>", "<|im_start|>", "<file_sep>", "<|anything"])
def test_special_tokens_in_data_are_read_as_text(scorer: GgufScorer, mark: str):
    marked = [ITEMS[0], f"{mark}{ITEMS[1]}", ITEMS[2]]
    ids, begins = scorer.model.prompt(mark, "".join(marked))
    plain = scorer.model.prompt("", "")[0]
    special = [n for n in range(4) if TOKENS[n] in (mark, *TOKENS[:4])]
    assert sum(ids.count(n) for n in special) == sum(plain.count(n) for n in special) + 2, "those of the system's turn"
    spans = list(pairwise(accumulate(map(len, marked), initial=0)))
    before = [((begins >= a) & (begins < b)).sum() for a, b in spans]
    begins = scorer.model.prompt("", USER)[1]
    plainly = [((begins >= a) & (begins < b)).sum() for a, b in SPANS]
    assert (before[0], before[2]) == (plainly[0], plainly[2])
    assert len(scorer.model.neutral(mark)) == len(mark)


def test_count_is_what_scoring_reads(scorer: GgufScorer):
    for answer in ("", ANSWERS[0]):
        given = [answer] if answer else []
        assert scorer.count(SYSTEM, USER, answer) == scorer.scores(SYSTEM, USER, SPANS, given).tokens


def test_a_prompt_beyond_the_context_is_refused_with_both_lengths(scorer: GgufScorer):
    with pytest.raises(PromptTooLong, match=r"^too long: a prompt of 6\d\d tokens, .* at most 600"):
        scorer.scores(SYSTEM, "x" * 600, [(0, 10)])
    with pytest.raises(PromptTooLong, match=r"^too long: a prompt of \d+ tokens and a response of 580"):
        scorer.scores(SYSTEM, "x", [(0, 1)], ["no", "y" * 580])
    with pytest.raises(ModelError, match="no words"):
        scorer.scores(SYSTEM, "x", [(0, 1)], ["no", ""])


def test_numbers_that_are_none_are_an_error(tmp_path: Path):
    broken = arrays()["blk.1.attn_k.weight"]
    broken[3, 4] = np.nan
    scorer = scorer_of(str(tiny(tmp_path / "a.gguf", {"blk.1.attn_k.weight": broken})))
    with pytest.raises(ModelError, match="not a number"):
        scorer.scores(SYSTEM, USER, SPANS)


def test_quantised_weights_are_read(tmp_path: Path):
    matrices = {name: array for name, array in arrays().items() if array.ndim == 2 and array.shape[1] == 32}
    small = {name: gguf.quants.quantize(array, QUANTISED) for name, array in matrices.items()}
    same = {name: gguf.quants.dequantize(array, QUANTISED) for name, array in small.items()}
    files = tiny(tmp_path / "a.gguf", small), tiny(tmp_path / "b.gguf", same)
    assert files[0].stat().st_size < files[1].stat().st_size * 0.6
    one, other = (loaded(file).scores(SYSTEM, USER, SPANS).values for file in files)
    assert one == other


def test_a_scorer_is_loaded_once_until_its_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made: list[Path] = []
    real = scoring.GgufModel
    monkeypatch.setattr(scoring, "GgufModel", lambda file: made.append(file) or real(file))
    file = tiny(tmp_path / "a.gguf")
    begin = threading.Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: (begin.wait(), loaded(file))[1], range(4)))
    assert len(made) == 1
    assert len({id(scorer.model) for scorer in found}) == 1
    monkeypatch.chdir(tmp_path)
    other = loaded(Path("a.gguf"))
    assert (other.model, other.name) == (found[0].model, "a.gguf"), "the same file by another name"
    tiny(file, kv_heads=4)
    os.utime(file, (1, 1))
    assert loaded(file).model is not found[0].model
    assert len(made) == 2


def test_one_scorer_is_in_memory_at_a_time(tmp_path: Path):
    first = weakref.ref(loaded(tiny(tmp_path / "a.gguf")).model)
    assert first() is not None
    other = loaded(tiny(tmp_path / "b.gguf"))
    gc.collect()
    assert first() is None
    assert loaded(tmp_path / "b.gguf").model is other.model


def test_a_folder_is_loaded_once_until_a_file_of_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Folders and links that lead nowhere may stand in it."""
    monkeypatch.setattr(scoring, "check_folder", lambda _: None)
    monkeypatch.setattr(scoring, "load_folder", lambda path: object())
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "original").mkdir()
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    first = scorer_of(str(tmp_path))
    assert scorer_of(str(tmp_path)) is first
    (tmp_path / "config.json").rename(tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text("{}")
    assert scorer_of(str(tmp_path)) is not first


async def test_scorers_wait_in_a_thread_of_their_own():
    """However many wait, asyncio's threads are free; and what is no longer wanted is not begun."""
    first, begun = threading.Event(), []

    def read(number: int) -> str:
        begun.append(number)
        assert first.wait(60)
        return threading.current_thread().name

    reads = [asyncio.create_task(reading(read, number)) for number in range(100)]
    assert await asyncio.wait_for(asyncio.to_thread(lambda: "written"), 60) == "written"
    for unwanted in reads[2:]:
        unwanted.cancel()
    await asyncio.sleep(0)
    first.set()
    assert len(set(await asyncio.gather(*reads[:2]))) == 1
    assert begun == [0, 1]


async def test_what_work_with_a_scorer_raises_is_raised():
    with pytest.raises(ZeroDivisionError):
        await reading(divmod, 1, 0)


def test_linear_positions_and_factors(tmp_path: Path):
    """Frequencies that are divided by a factor, by the header or by an array, turn the same way."""
    factors = np.full(4, 2.0, np.float32)
    by_array = loaded(tiny(tmp_path / "a.gguf", {"rope_freqs.weight": factors}))
    scaled = {"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 2.0}
    by_header = loaded(tiny(tmp_path / "b.gguf", **scaled))
    plain = loaded(tiny(tmp_path / "c.gguf"))
    assert by_array.scores(SYSTEM, USER, SPANS).values == by_header.scores(SYSTEM, USER, SPANS).values
    assert by_array.scores(SYSTEM, USER, SPANS).values != plain.scores(SYSTEM, USER, SPANS).values
