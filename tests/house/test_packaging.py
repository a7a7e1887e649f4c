"""What is installed, built and run: pinned, complete, from nothing, in a fresh clone; and tests that reach nobody."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from pytest_socket import SocketConnectBlockedError
from rooms import ROOMS
from run_files import logged, run_json

from persimchat.app import cli
from persimchat.app.web.serving import HEALTH

NOT_PINNED = {"minilm", "pruning-torch"}
"""Extras left out of the lock: these bring PyTorch."""


@pytest.fixture
def pins(root: Path) -> list[Requirement]:
    lines = (root / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line.strip() and not line.lstrip().startswith("#")]


def test_every_line_is_a_plain_pin(pins: list[Requirement]):
    assert len(pins) > 50
    for pin in pins:
        assert [s.operator for s in pin.specifier] == ["=="], pin
        assert not pin.extras, f"pip refuses extras in constraints: {pin}"
        assert pin.url is None, pin


def test_no_address_is_written_down(root: Path):
    assert re.findall(r"https?:|file:|//|--index|--find-links", (root / "requirements.lock").read_text()) == []


def test_what_is_asked_for_is_pinned_within_its_bounds(root: Path, pins: list[Requirement]):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"]]
    for extra, requirements in project["optional-dependencies"].items():
        asked += [] if extra in NOT_PINNED else requirements
    for requirement in map(Requirement, asked):
        name = canonicalize_name(requirement.name)
        versions = [next(iter(p.specifier)).version for p in pins if canonicalize_name(p.name) == name]
        assert versions, f"{name} is not in requirements.lock; run: make lock"
        assert all(requirement.specifier.contains(v, prereleases=True) for v in versions), (requirement, versions)


@pytest.fixture(scope="module")
def lowest(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("lowest", root / "tools/lowest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def test_every_requirement_has_one_lower_bound(lowest: ModuleType, project: dict[str, Any]):
    found = lowest.bounds(project)
    assert {"chromadb", "langgraph", "pydantic", "pytest"} <= set(found)
    assert {name: least for name, least in found.items() if len(least) > 1} == {}


def test_all_that_an_extra_brings_is_tried(lowest: ModuleType, project: dict[str, Any]):
    """The environment has the extra `dev` alone, so what other extras name has to be in it."""
    extras = project["optional-dependencies"]
    own = lowest.bounds({"dependencies": project["dependencies"], "optional-dependencies": {"dev": extras["dev"]}})
    assert set(lowest.bounds(project)) == set(own)


def test_the_chosen_tests_are_there(lowest: ModuleType, root: Path):
    assert [path for path in lowest.TESTS if not (root / path).exists()] == []


ROOT = Path(__file__).resolve().parents[2]


TARGETS = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def make(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run make as if from a fresh shell (not as a part of the make that may be running the tests)."""
    unset = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES", "VENV", "PYTHON")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    return subprocess.run(["make", *arguments], cwd=cwd, env=environment, capture_output=True, text=True)


def test_help_lists_the_targets():
    assert {"run", "test", "check", "proof", "lock", "dist", "docs", "benchmarks", "clean"} <= set(TARGETS)
    shown = make().stdout
    assert [target for target in TARGETS if f"make {target} " not in shown] == []


@pytest.mark.parametrize("version", ["Python 3.9.2", ""])
def test_an_old_or_missing_python_is_named(tmp_path: Path, version: str):
    python = tmp_path / "python3"
    if version:
        python.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}" && exit 0\nexit 1\n')
        python.chmod(0o755)
    done = make("setup", f"PYTHON={python}", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert version in done.stderr
    assert not (tmp_path / "venv").exists()


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder with the Makefile, and a virtual environment whose pip writes down how it was called."""
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text(encoding="utf-8"))
    for name in ("pyproject.toml", "requirements.lock"):
        (tmp_path / name).touch()
    program(tmp_path / "venv/bin/python", "exit 0")
    program(tmp_path / "venv/bin/pip", f'echo "pip $@" >> {tmp_path}/installs')
    program(tmp_path / "venv/bin/persimchat", "exit 0")
    program(tmp_path / "venv/bin/pytest", "exit 0")
    return tmp_path


def program(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def installed(folder: Path, target: str, uv: str = "/nowhere/uv") -> list[str]:
    """What `make target` installed: who was asked, and for what."""
    done = make(target, f"VENV={folder / 'venv'}", f"UV={uv}", cwd=folder)
    assert done.returncode == 0, done.stderr
    log = folder / "installs"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return [f"{line.split()[0]} {line.split()[-1]}" for line in lines]


def test_running_needs_less_than_testing(bare: Path):
    assert installed(bare, "run") == ["pip setuptools", "pip ."]
    assert installed(bare, "run") == []
    assert installed(bare, "test") == ["pip setuptools", "pip .[dev]"]
    assert installed(bare, "run") == installed(bare, "test") == []
    (bare / "requirements.lock").touch()
    assert installed(bare, "test") == ["pip setuptools", "pip .[dev]"]
    assert installed(bare, "run") == []


def test_uv_is_used_where_it_is_and_pip_where_it_fails(bare: Path):
    program(bare / "uv", f'echo "uv $@" >> {bare}/installs')
    assert installed(bare, "run", str(bare / "uv")) == ["uv setuptools", "uv ."]
    program(bare / "uv", "echo this index is unknown >&2; exit 2")
    assert installed(bare, "test", str(bare / "uv")) == ["pip setuptools", "pip .[dev]"]


PYRIGHT = "pyright@1.1.414"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone, a virtual environment with nothing in it, and a module that uses what a room defines."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone: there is no .git")
    folder = tmp_path_factory.mktemp("clone") / "persimchat"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / ".venv")], check=True)
    (folder / "src" / "probe.py").write_text(
        "from persimchat.graph.routing import draw\n"
        "from persimchat.state.minds.emotion import nothing_there\n"
        "reveal_type(draw)\n"
    )
    return folder


def test_no_link_leads_out_of_the_project(root: Path):
    """Every link under version control is one of `src/persimchat/`, to a room beside it."""
    if not (root / ".git").exists():
        pytest.skip("not under version control")
    listed = subprocess.run(["git", "ls-files", "-s"], cwd=root, capture_output=True, text=True, check=True).stdout
    links = [line.partition("\t")[2] for line in listed.splitlines() if line.startswith("120000 ")]
    assert links and [one for one in links if not one.startswith("src/persimchat/")] == []
    assert [one for one in links if not (root / one).resolve().is_relative_to(root.resolve())] == []


def test_a_clone_keeps_the_links(clone: Path):
    assert (clone / "src/persimchat/graph").is_symlink()
    assert (clone / "src/persimchat/graph/routing.py").samefile(clone / "graph/routing.py")


@pytest.mark.long
@pytest.mark.proof
def test_mypy_finds_the_rooms(clone: Path):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--python-executable", ".venv/bin/python", "--follow-imports", "silent"]
        + ["src/probe.py"],
        cwd=clone,
        capture_output=True,
        text=True,
    )
    found(done.stdout)


@pytest.mark.long
@pytest.mark.proof
def test_pyright_finds_the_rooms(clone: Path, tmp_path: Path):
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, by which pyright comes")
    got = subprocess.run(
        [npm, "install", "--silent", "--prefix", str(tmp_path), PYRIGHT], capture_output=True, text=True, timeout=240
    )
    if got.returncode:
        pytest.skip(f"npm could not get {PYRIGHT}: {got.stderr[-200:]}")
    done = subprocess.run(
        [str(tmp_path / "node_modules/.bin/pyright"), "--pythonpath", ".venv/bin/python", "src/probe.py"],
        cwd=clone,
        capture_output=True,
        text=True,
    )
    found(done.stdout)


def found(output: str) -> None:
    """The function's signature is known; of the package, what does not exist is the one thing not found."""
    shown = output.replace('"', "")
    assert "probe.py:3" in shown and "purpose: str" in shown, output
    assert "nothing_there" in shown
    assert not [line for line in shown.splitlines() if "persimchat.graph" in line and "resolved" in line], output


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
@pytest.mark.xdist_group("wheel")
def test_wheel_holds_everything_and_nothing_else(root: Path, wheel: Path):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    packaged = {name for name in names if name.startswith("persimchat/")}
    assert {name.split("/")[0] for name in names - packaged} == {f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"}
    assert packaged == source_files(root)
    assert any(name.endswith("/licenses/LICENSE") for name in names)


@pytest.mark.proof
@pytest.mark.xdist_group("wheel")
@pytest.mark.parametrize(
    ("folder", "ending", "least"),
    [
        ("persimchat/prompts/templates", ".jinja", 10),
        ("persimchat/prompts/templates/minds", ".jinja", 20),
        ("persimchat/reports/templates", ".jinja", 7),
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
        ("persimchat/state/strings", ".yaml", 8),
        ("persimchat/models/offline", ".yaml", 1),
    ],
)
def test_wheel_holds_its_data(wheel: Path, folder: str, ending: str, least: int):
    names = zipfile.ZipFile(wheel).namelist()
    assert len([n for n in names if n.rpartition("/")[0] == folder and n.endswith(ending)]) >= least


@pytest.mark.proof
@pytest.mark.xdist_group("wheel")
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


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.xdist_group("wheel")
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


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.xdist_group("wheel")
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
    said = logged(run, "utterance")
    assert [u["turn"] for u in said] == [1, 2, 3]
    assert all(u["text"].strip() for u in said)
    assert run_json(run)["stop_reason"] == "message_limit"


@pytest.mark.filterwarnings("ignore:A test tried to use socket")
@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1"])
def test_the_network_is_closed(address: str):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as client, pytest.raises(SocketConnectBlockedError):
        client.connect((address, 80))


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_loopback_is_open(name: str):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect((name, server.getsockname()[1]))


def test_no_key_and_no_setting_is_inherited():
    inherited = [name for name in os.environ if name.startswith(("PERSIMCHAT_", "OPENAI_", "AZURE_"))]
    assert inherited == []
    assert os.environ["ANONYMIZED_TELEMETRY"] == "False"
    assert os.environ["LANGSMITH_TRACING"] == "false"


def test_shared_data_is_documented(shared: Path):
    assert (shared / "data/README.md").is_file()


def test_the_container(root: Path):
    """What its file says is there; tests/app/test_bare_machine.py runs the program under such conditions."""
    lines = (root / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    said = dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))
    extras = re.search(r"--constraint requirements\.lock \"\.\[([\w,-]+)\]\"", said["RUN"])
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert extras is not None
    assert set(extras[1].split(",")) <= set(project["optional-dependencies"])
    assert SpecifierSet(project["requires-python"]).contains(said["FROM"].removeprefix("python:").partition("-")[0])
    assert said["USER"].isdigit()
    program, *words = json.loads(said["CMD"])
    assert program in project["scripts"]
    assert cli.main([*words, "--help"]) == 0
    assert f"urlopen('http://127.0.0.1:{said['EXPOSE']}{HEALTH}')" in said["HEALTHCHECK"]
    kept = (root / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".git", ".venv", ".env"} <= set(kept)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("docker") is None, reason="Docker is not installed")
def test_the_container_runs(root: Path):
    if subprocess.run(["docker", "info"], capture_output=True, check=False).returncode:
        pytest.skip("Docker's daemon does not run")
    subprocess.run(["docker", "build", "-t", "persimchat-test", "."], cwd=root, check=True)
    ran = ["docker", "run", "--rm", "--read-only", "--user", "54321", "--tmpfs", "/data:mode=777", "persimchat-test"]
    subprocess.run([*ran, "persimchat", "run", "Tea?", "--messages", "2", "--model", "offline"], check=True)
