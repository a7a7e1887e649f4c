"""The summary of a focus group as one page to print: HTML without scripts and without a network."""

from __future__ import annotations

from pathlib import Path

from persimchat.runs.folder.lines import DISCLAIMER
from persimchat.runs.reports.guide_summary import GroupSummary
from persimchat.runs.reports.report import page_environment, write_page


def summary_page(summary: GroupSummary) -> str:
    """The page."""
    return page_environment({}).get_template("guide.html.jinja").render(s=summary, disclaimer=DISCLAIMER)


def write_summary(summary: GroupSummary, path: Path, *, force: bool = False) -> None:
    """Write the page; raises as `write_page`."""
    write_page(path, lambda: summary_page(summary), what="the summary", force=force)
