"""What is built holds all that it needs, puts nothing but `persimchat` into site-packages, and holds a conversation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
from rooms import ROOMS
from run_files import read_records, run_json

pytestmark = [pytest.mark.proof, pytest.mark.xdist_group("wheel")]

LEFT_OUT = shutil.ignore_patterns(
    ".*", "build", "dist", "out", "conversations", "*.egg-info", "__pycache__", "node_modules"
)
DATA = ("*.jinja", "*.yaml", "*.css", "*.py", "py.typed")


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist, built from a copy, so that nothing left from an earlier build gets in."""
    folder = tmp_path_factory.mktemp("built")
    shutil.copytree(root, folder / "source", ignore=LEFT_OUT, symlinks=True)
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), str(folder / "source")],
        check=True,
        capture_output=True,
        text=True,
    )
    return folder / "dist"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


def source_files(root: Path) -> set[str]:
    """Every file that belongs into the package, by its path in the wheel."""
    found = {f"persimchat/{p.name}" for p in (root / "src/persimchat").iterdir() if p.is_file()}
    for room in ROOMS:
        for pattern in DATA:
            found |= {f"persimchat/{p.relative_to(root).as_posix()}" for p in (root / room).rglob(pattern)}
    return found


@pytest.mark.proof
def test_wheel_holds_everything_and_nothing_else(root: Path, wheel: Path):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    packaged = {name for name in names if name.startswith("persimchat/")}
    assert {name.split("/")[0] for name in names - packaged} == {f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"}
    assert packaged == source_files(root)
    assert any(name.endswith("/licenses/LICENSE") for name in names)


@pytest.mark.parametrize(
    ("folder", "ending", "least"),
    [
        ("persimchat/prompts/templates", ".jinja", 10),
        ("persimchat/runs/reports/templates", ".jinja", 7),
        ("persimchat/personas/mappings", ".yaml", 6),
        ("persimchat/personas/shipped", ".yaml", 10),
        ("persimchat/personas/fragments", ".yaml", 1),
        ("persimchat/evaluation/published", ".yaml", 1),
        ("persimchat/evaluation/benchmarks", ".yaml", 2),
        ("persimchat/evaluation/survey", ".jinja", 3),
        ("persimchat/evaluation/survey", ".yaml", 1),
        ("persimchat/experiments", ".yaml", 1),
        ("persimchat/experiments/templates", ".jinja", 1),
        ("persimchat/models", ".yaml", 1),
        ("persimchat/app/web", ".css", 1),
        ("persimchat/app/web/strings", ".yaml", 8),
        ("persimchat/models/offline", ".yaml", 1),
    ],
)
def test_wheel_holds_its_data(wheel: Path, folder: str, ending: str, least: int):
    names = zipfile.ZipFile(wheel).namelist()
    assert len([n for n in names if n.rpartition("/")[0] == folder and n.endswith(ending)]) >= least


def test_sdist_holds_files_not_links(built: Path, root: Path):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        members = {member.name.partition("/")[2]: member for member in archive.getmembers()}
    assert [name for name, member in members.items() if not (member.isfile() or member.isdir())] == []
    assert members.keys() >= {"pyproject.toml", "README.md", "LICENSE", *(f"src/{file}" for file in source_files(root))}


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel alone; its dependencies are this environment's, reached by a path file.

    The path file comes after the environment's own packages, and does not carry over this environment's editable
    install, so `persimchat` can only be the wheel's.
    """
    folder = tmp_path_factory.mktemp("clean") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(folder / "bin/python")]
        + ["install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", str(wheel)],
        check=True,
        capture_output=True,
    )
    (site_packages,) = folder.glob("lib/python*/site-packages")
    assert {p.name.split("-")[0] for p in site_packages.iterdir()} == {"persimchat"}
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def outside(clean: Path, home: Path) -> dict[str, str]:
    """An environment in which nothing is set but what a fresh account has; whatever asks for the network, fails."""
    nowhere = "http://127.0.0.1:9"
    return {
        "PATH": f"{clean / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
    }


@pytest.mark.proof
def test_the_installed_wheel_is_what_runs(clean: Path, tmp_path: Path):
    done = subprocess.run(
        [clean / "bin/python", "-c", "import persimchat.prompts; print(persimchat.prompts.__file__)"],
        env=outside(clean, tmp_path),
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert Path(done.stdout.strip()).is_relative_to(clean)


@pytest.mark.proof
def test_the_installed_wheel_holds_a_conversation(clean: Path, tmp_path: Path):
    done = subprocess.run(
        [clean / "bin/persimchat", "run", "Which ice cream should we make?"]
        + ["--messages", "3", "--quiet", "--out", str(tmp_path / "runs")],
        env=outside(clean, tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    said = read_records(run / "transcript.jsonl")
    assert [u["turn"] for u in said] == [1, 2, 3]
    assert all(u["text"].strip() for u in said)
    assert run_json(run)["stop_reason"] == "message_limit"
