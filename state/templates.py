"""A folder of prompt templates of one's own, which the setting `prompts` puts in the place of those shipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

ENDING: Final = ".jinja"
"""The ending of a template's file."""
SHIPPED: Final = "shipped"
"""In place of a folder: no templates of one's own."""
_MOST: Final = 200
_LONGEST: Final = 100_000


def templates_in(given: Any) -> Any:
    """The templates of a folder: texts by name, without the ending; anything but a folder's name stays as it is.

    Args:
        given: the folder, or `SHIPPED`; a relative one counts from the working directory. Folders in it count, too.

    Raises:
        ValueError: the folder or a file in it cannot be read, is too large, or there is no template.
    """
    if not isinstance(given, str | Path):
        return given
    if given == SHIPPED:
        return {}
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise ValueError(f"prompts={str(given)!r} is no folder; give one with templates (utterance{ENDING}, …)")
    found: dict[str, str] = {}
    files = sorted(folder.rglob(f"*{ENDING}"))
    if not 0 < len(files) <= _MOST:
        raise ValueError(f"prompts={str(given)!r} has {len(files)} templates (NAME{ENDING}); give 1 to {_MOST}")
    for file in files:
        try:
            text = file.read_bytes()
            if len(text) > _LONGEST:
                raise ValueError(f"{file} in prompts is too large; keep it below {_LONGEST:,} bytes")
            if file.stem in found:
                raise ValueError(f"prompts={str(given)!r} has two templates {file.name}; keep one of them")
            found[file.stem] = text.decode("utf-8-sig")
        except OSError as error:
            raise ValueError(f"{file} in prompts cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ValueError(f"{file} in prompts is no text in UTF-8; save it as UTF-8") from error
    return dict(sorted(found.items()))
