"""Hooks for MkDocs: pages made from files outside docs/, and the links to them.

The documents link to files of the repository (`../examples/…`, `../CONTRIBUTING.md`), which is right for readers
of the repository. In the site those files are pages: the hooks make them and change the links. Code has no pages, so a
link to code (`../graph/edges.py`) becomes its text, which names the file.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import persimchat

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "README.md": "index.md"}
"""File of the repository: its page. The README's is docs/index.md; the others are made here."""
LINK = re.compile(r"\]\((?![a-z]+:|#|/)([^)#\s]+)(#[^)\s]*)?\)")
CODE = re.compile(r"\[([^\]]+)\]\(\.\./(?!examples/)[\w/]+\.(?:py|yaml)\)")
MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add the pages that are made from other files."""
    made = {page: (ROOT / name).read_text(encoding="utf-8") for name, page in PAGES.items() if page != "index.md"}
    for uri, content in {**made, "examples.md": examples(), "api.md": reference()}.items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links to files of the repository into links to pages or, to code, into their text; fold Mermaid drawings."""
    uri = page.file.src_uri
    folder = "" if uri in PAGES.values() and uri != "index.md" else "docs"

    def renewed(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, match[1]))
        return f"]({link(target, match[2] or '')})"

    return MERMAID.sub(_folded, LINK.sub(renewed, CODE.sub(r"\1", markdown)))


def link(target: str, anchor: str) -> str:
    """The address of a repository's path in the site; unknown paths are left as they are, so MkDocs reports them."""
    if target == "examples" or target.startswith("examples/"):
        return f"examples.md{'' if target == 'examples' else '#' + slug(target)}"
    if target in PAGES:
        return PAGES[target] + anchor
    return target.removeprefix("docs/") + anchor


def slug(path: str) -> str:
    """The anchor of a file on the page of examples."""
    return re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-")


def examples() -> str:
    """The page of examples: every file of examples/, word for word."""
    parts = [
        "# Examples",
        "Scenarios run with `persimchat run --scenario FILE`, scripts with `python FILE`.",
    ]
    root = ROOT / "examples"
    for folder in [root, *sorted(path for path in root.iterdir() if path.is_dir() and path.name != "__pycache__")]:
        name = folder.relative_to(ROOT).as_posix()
        if folder != root:
            parts.append(f"## {name}/ {{ #{slug(name)} }}")
        for path in sorted(folder.iterdir()):
            if path.suffix in FORMS:
                name = path.relative_to(ROOT).as_posix()
                parts += [f"### {name} {{ #{slug(name)} }}", *(_fenced(path.suffix, text) for text in _texts(path))]
    return "\n\n".join(parts)


FORMS = {".yaml": "yaml", ".py": "python", ".ipynb": "python", ".csv": "text", ".txt": "text"}


def reference() -> str:
    """The page of the Python API: everything that `persimchat` exports, from its docstrings, and the events."""
    parts = ["# Python API", "Everything that `import persimchat` offers, made from the docstrings."]
    for name in sorted(persimchat.__all__, key=str.lower):
        home = getattr(persimchat, name).__module__
        parts.append(f"::: {home}.{name}\n    options:\n      heading_level: 2")
    return "\n\n".join(parts)


def _texts(path: Path) -> list[str]:
    """A file's text, or a notebook's cells of code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return [text]
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


def _fenced(suffix: str, text: str) -> str:
    return f"~~~~{FORMS[suffix]}\n{text.rstrip()}\n~~~~"


def _folded(match: re.Match[str]) -> str:
    """The drawing as text in a part that opens: to draw it, the page would have to load Mermaid from another host."""
    lines = "\n".join(f"    {line}".rstrip() for line in f"```text\n{match[1]}```".splitlines())
    return f'??? abstract "Drawing, as Mermaid text"\n\n{lines}'
