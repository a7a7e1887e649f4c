"""What does not fit on a page, measured in a browser: type that is too small, and what is wider than its place."""

from __future__ import annotations

import time
from typing import Final

import pytest
from selenium import webdriver

AT_WIDTHS: Final = pytest.mark.parametrize("widths", [(1440, 390), pytest.param((1024, 768), marks=pytest.mark.long)])
"""A window and a phone in `make proof`; what lies between in `make long`."""

WIDE: Final = """
const page = document.documentElement;  // a phone shrinks a wide page: its window is then as wide as the page
return page.scrollWidth > page.clientWidth;
"""

_LAID_OUT_S: Final = 20
"""Seconds within which a chart takes the width of its place, which the page asks the server for."""
_SMALLEST: Final = 12
"""Pixels of the smallest type."""

_TEXTS: Final = """
const found = {};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const at = walker.currentNode.parentElement;
  const unread = '[aria-hidden=true], .q-icon, script, style, .sr-only';
  if (!walker.currentNode.textContent.trim() || at.closest(unread)) continue;
  const box = at.getBoundingClientRect();
  if (!box.width || !at.checkVisibility()) continue;
  const own = parseFloat(getComputedStyle(at).fontSize);
  const drawn = at.closest('svg') ? own * box.height / Math.max(1, at.getBBox ? at.getBBox().height : box.height) : own;
  if (at.closest('[role=heading], .brand') && drawn > 16) continue;
  (found[Math.round(drawn * 10) / 10] ??= []).push(walker.currentNode.textContent.trim().slice(0, 40));
}
return found;
"""

_SIDEWAYS: Final = """
return [...document.querySelectorAll('.scroll:not(.story-stages)')]
  .filter(one => one.checkVisibility() && one.scrollWidth > one.clientWidth).map(one => one.className);
"""


def small(browser: webdriver.Chrome) -> list[str]:
    """The texts that are too small to read, with their size."""
    sizes: dict[str, list[str]] = browser.execute_script(_TEXTS)
    return [f"{size} px: {text}" for size, texts in sizes.items() if float(size) < _SMALLEST for text in texts]


def unfit(browser: webdriver.Chrome) -> list[str]:
    """What is wrong with the page, as lines to read; empty if it fits, once charts have been laid out."""
    until = time.monotonic() + _LAID_OUT_S
    while (found := _unfit(browser)) and time.monotonic() < until:
        time.sleep(0.2)
    return found


def _unfit(browser: webdriver.Chrome) -> list[str]:
    wide = ["the page is wider than its window"] if browser.execute_script(WIDE) else []
    return [*wide, *(f"scrolls sideways: {one}" for one in browser.execute_script(_SIDEWAYS)), *small(browser)]
