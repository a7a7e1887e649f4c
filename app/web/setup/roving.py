"""Rows of buttons that are one stop of the Tab key: the arrow keys go from one to the next."""

from __future__ import annotations

from typing import Final

from nicegui import ui

_KEYS: Final = """(event) => {
  const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: 'first', End: 'last'}[event.key];
  const all = [...event.currentTarget.querySelectorAll('[data-rove]')].filter((one) => one.offsetParent);
  const at = all.indexOf(document.activeElement.closest('[data-rove]'));
  if (step === undefined || at < 0) return;
  event.preventDefault();
  const next = step === 'first' ? 0 : step === 'last' ? all.length - 1 : (at + step + all.length) % all.length;
  all.forEach((one, number) => { one.tabIndex = number === next ? 0 : -1; });
  all[next].focus();
}"""


def roves(row: ui.element) -> None:
    """Let the arrow keys go along a row."""
    row.on("keydown", js_handler=_KEYS)


def stop(button: ui.element, *, first: bool) -> None:
    """Make a button one of the row.

    Args:
        button: in a row that roves.
        first: whether the Tab key comes to it.
    """
    button.props["data-rove"] = True
    button.props["tabindex"] = 0 if first else -1
