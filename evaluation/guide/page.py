"""The summary of a focus group as one page to print: one HTML file without scripts and without a network."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from jinja2 import Environment

from persimchat.evaluation.guide.summary import GroupSummary
from persimchat.runs.folder.lines import DISCLAIMER
from persimchat.runs.reports.report import page_environment, write_page
from persimchat.runs.reports.words import decimal, listed

NAME: Final = "summary.html"
"""The name of the file that the page offers."""
MOST_QUOTES: Final = 3
"""Quotes of a theme on the page."""


@cache
def _environment() -> Environment:
    text = (files("persimchat.evaluation.guide") / "page.html.jinja").read_text(encoding="utf-8")
    environment = page_environment({"page.html.jinja": text})
    environment.filters.update({"decimal": decimal, "listed": listed})
    return environment


def summary_page(summary: GroupSummary) -> str:
    """The page of a summary."""
    template = _environment().get_template("page.html.jinja")
    return template.render(s=summary, most_quotes=MOST_QUOTES, disclaimer=DISCLAIMER)


def write_summary(summary: GroupSummary, path: Path, *, force: bool = False) -> None:
    """Write the page of a summary; raises as `write_page`."""
    write_page(path, lambda: summary_page(summary), what="the summary", force=force)
