"""Model files on this machine: what they say of themselves, their names, the list of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fixtures import Refused
from hypothesis import given
from hypothesis import strategies as st
from models.gguf_files import gguf

from persimchat.models.local import files, server
from persimchat.models.local import gguf as gguf_reading
from persimchat.models.local.files import Stored, alone, keep, model_file, stored
from persimchat.models.local.gguf import read_header
from persimchat.models.naming import parse_model_name
from persimchat.models.registry import ready_model
from persimchat.state.errors import InputError, MissingExtraError
from persimchat.state.settings import Settings

HUB = "hf:owner/Some-Model-GGUF/some-Q4.gguf"
WHOLE = gguf()


@pytest.fixture(autouse=True)
def folder(models_folder: Path) -> Path:
    return models_folder


def entry(name: str) -> Stored:
    return Stored(name=name, file=files.place(name), size=4, sha256="0" * 64, source="test")


def put(name: str) -> Path:
    with alone() as where:
        file = where / files.place(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"GGUF")
        keep(entry(name))
    return file


def test_a_header_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(WHOLE)
    header = read_header(file)
    assert (header.architecture, header.context, header.licence, header.size_label) == (
        "llama",
        2048,
        "apache-2.0",
        "135M",
    )
    # 4 blocks of 2 heads that are 64 / 8 wide, keys and values, 2 bytes each
    assert header.kv_bytes == 4 * 2 * 8 * 2 * 2


@pytest.mark.parametrize(
    "entry", [{"head_count_kv": "x" * 9000}, {"head_count_kv": ["x"]}, {"key_length": "x"}, {"value_length": [0.5]}]
)
def test_entries_that_are_no_numbers_take_no_memory(tmp_path: Path, entry: dict[str, object]) -> None:
    """A text as a number of heads was once repeated for each block."""
    file = tmp_path / "a.gguf"
    changes = {f"llama.attention.{key}": value for key, value in entry.items()}
    file.write_bytes(gguf(**{"llama.block_count": 4_000_000_000, **changes}))
    assert read_header(file).kv_bytes == 0


def test_a_file_that_memory_does_not_hold_is_refused(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    file = tmp_path / "a.gguf"
    file.write_bytes(WHOLE)
    monkeypatch.setattr(gguf_reading, "_header", full)
    refused(lambda: read_header(file), "asks for more memory than there is")


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 255), st.booleans())
def test_a_damaged_header_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: int, cut: bool
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged.gguf"
    file.write_bytes(WHOLE[:at] if cut else WHOLE[:at] + bytes([byte]) + WHOLE[at + 1 :])
    try:
        read_header(file)
    except InputError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "does not begin with GGUF"),
        (b"PK\x03\x04" + b"0" * 100, "does not begin with GGUF"),
        (WHOLE[:60], "not a complete GGUF file"),
        (b"GGUF" + b"\x09\0\0\0" + b"\0" * 16, "its version is 9"),
        (b"GGUF\x03\0\0\0" + b"\0" * 8 + b"\xff" * 8, "more than fit"),
        (gguf(**{"general.architecture": None}), "does not name its architecture"),
    ],
)
def test_what_is_no_model_is_refused_in_one_line(tmp_path: Path, refused: Refused, content: bytes, words: str) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(content)
    refused(lambda: read_header(file), words)


def test_a_folder_and_nothing_are_no_models(tmp_path: Path, refused: Refused) -> None:
    refused(lambda: read_header(tmp_path), "is a folder")
    refused(lambda: read_header(tmp_path / "none.gguf"), "there is no model file")


def test_names_of_local_models() -> None:
    for name in ("smollm2", HUB, "llamacpp:a/b.gguf"):
        parsed = parse_model_name(name)
        assert (parsed.provider, parsed.written) == ("llamacpp", name)


@pytest.mark.parametrize(
    "name",
    [
        "hf:",
        "hf:owner/repo",
        "hf:owner/repo/file.bin",
        "hf:owner/repo/../../x.gguf",
        "hf:../repo/x.gguf",
        "hf:owner/repo//x.gguf",
        "hf:owner/repo/x-00001-of-00002.gguf",
        "hf:https://huggingface.co/o/r/x.gguf",
        "hf:owner/repo/a\nb.gguf",
    ],
)
def test_names_that_are_no_file_of_the_hub(refused: Refused, name: str) -> None:
    refused(lambda: parse_model_name(name))


def test_a_model_that_is_not_there_names_the_command_that_gets_it(refused: Refused) -> None:
    for name in ("smollm2", HUB):
        refused(lambda name=name: model_file(parse_model_name(name)), f"Get it with: persimchat models get {name}")
    refused(lambda: model_file(parse_model_name("llamacpp:/nowhere/x.gguf")), "there is no model file")


def test_list_and_remove(folder: Path, refused: Refused) -> None:
    assert stored() == []
    there = {name: put(name) for name in (HUB, "smollm2")}
    assert [found.name for found in stored()] == [HUB, "smollm2"]
    assert model_file(parse_model_name(HUB)) == there[HUB] == folder / "hf/owner/Some-Model-GGUF/some-Q4.gguf"
    refused(lambda: files.remove("smolm2"), "Did you mean 'smollm2'?")
    assert files.remove("smollm2").name == "smollm2"
    assert not there["smollm2"].exists()
    assert [found.name for found in stored()] == [HUB]
    there[HUB].unlink()
    assert stored() == []


@pytest.mark.parametrize(
    "text", ["", "[]", '{"models": [1]}', '{"models": 3}', "[" * 9000, json.dumps({"models": [{"name": "smollm2"}]})]
)
def test_a_damaged_list_is_named(folder: Path, refused: Refused, text: str) -> None:
    folder.mkdir()
    (folder / "index.json").write_text(text)
    refused(stored, "is damaged")


def test_a_list_that_leads_elsewhere_is_damaged(folder: Path, refused: Refused) -> None:
    folder.mkdir()
    wrong = {**entry("smollm2").model_dump(), "file": "../../etc/passwd"}
    (folder / "index.json").write_text(json.dumps({"models": [wrong]}))
    refused(lambda: files.remove("smollm2"), "is damaged")


def test_a_folder_that_is_a_file_is_named(folder: Path, refused: Refused) -> None:
    folder.write_text("")
    refused(lambda: put("smollm2"), "cannot be written", "PERSIMCHAT_MODELS")


async def test_the_extra_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(WHOLE)
    monkeypatch.setattr(server, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'persimchat\[local\]'"):
        await ready_model(f"llamacpp:{file}", Settings())


async def test_a_context_without_room_is_refused_before_anything_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(gguf(**{"llama.block_count": 4_000_000, "llama.context_length": 1_000_000}))
    monkeypatch.setattr(server.LocalServer, "_begin", lambda *_: pytest.fail("it was started"))
    with pytest.raises(InputError, match=r"takes .* GB of memory.*Lower local_context"):
        await ready_model(f"llamacpp:{file}", Settings(local_context=1_000_000))


def test_slots() -> None:
    assert server.slots(Settings()) == 4
    assert server.slots(Settings(max_concurrency=2)) == 2
    assert server.slots(Settings(concurrent=False)) == 1
    assert server.slots(Settings(max_concurrency=2, local_slots=9)) == 9
