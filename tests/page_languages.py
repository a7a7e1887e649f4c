"""What a page shows in one language and not in another, for tests of reports."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from persimchat.state.wording import LANGUAGES, catalogue

OTHERS = [tag for tag in LANGUAGES if tag != "en"]
SHOWN = re.compile(r'(?:aria-label|title)="([^"]+)"|>([^<>]+)<')


def shown(page: str) -> set[str]:
    """What a page shows or says to screen readers, piece by piece, without the settings and the style."""
    body = re.split(r"<dl class=\"settings\">\s*<dt>[^<]*</dt><dd>[0-9a-f]{16}", page.partition("</style>")[2])[0]
    return {unescape(" ".join((one or other).split())).strip(" .,:;()") for one, other in SHOWN.findall(body)}


def english() -> dict[str, dict[str, Any]]:
    """English texts without places, with their entries."""
    found = {key: entry for key, entry in catalogue().items() if isinstance(entry["en"], str)}
    return {
        text.strip(" .,:;()"): entry
        for entry in found.values()
        for text in [str(entry["en"])]
        if "{" not in text and len(text) > 3  # shorter ones are names of things, too
    }


def english_left(before: str, after: str, tag: str) -> set[str]:
    """Texts of the catalogue that a page shows in English, and still in another language; at least a few are shown."""
    known = english()
    told = shown(before) & set(known)
    assert f'<html lang="{tag}">' in after
    assert len(told) > 5
    assert after.count("<tr") == before.count("<tr")
    return {text for text in told & shown(after) if known[text][tag].strip(" .,:;()") != text}
