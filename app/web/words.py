"""The texts of the pages: those of the catalogue, in the language of the page that is being drawn."""

from __future__ import annotations

from nicegui import context

from ...state.wording import LANGUAGES, number, of_pages, t, t_or

__all__ = ["LANGUAGES", "language", "number", "t", "t_or"]


def language() -> str:
    """The language of the current page; English outside of pages."""
    try:
        chosen = context.client.storage.get("language")
    except RuntimeError:  # outside of a page
        return "en"
    return chosen if chosen in LANGUAGES else "en"


of_pages(language)
