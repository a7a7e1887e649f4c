"""A folder of prompt templates of one's own, which the setting `prompts` puts in the place of those shipped."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from .plain_text import without_credentials

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
    folder = _home(Path(given))
    if not str(given).strip() or not folder.is_dir():
        raise ValueError(f"prompts={str(given)!r} is no folder; give one with templates (utterance{ENDING}, …)")
    found: dict[str, str] = {}
    files = sorted(path for path in folder.rglob(f"*{ENDING}") if path.is_file() and not _is_hidden(path, folder))
    if not 0 < len(files) <= _MOST:
        raise ValueError(f"prompts={str(given)!r} has {len(files)} templates (NAME{ENDING}); give 1 to {_MOST}")
    for file in files:
        try:
            if file.stem in found:
                raise ValueError(f"prompts={str(given)!r} has two templates {file.name}; keep one of them")
            if file.stat().st_size > _LONGEST:
                raise _too_long(file.stem)
            found[file.stem] = file.read_text("utf-8-sig")
        except OSError as error:
            raise ValueError(f"{file} in prompts cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ValueError(f"{file} in prompts is no text in UTF-8; save it as UTF-8") from error
    return dict(sorted(found.items()))


def usable(templates: dict[str, str]) -> dict[str, str]:
    """Templates, as they were given.

    Raises:
        ValueError: one is too long, or has an address with a password, which a run's record would lack.
    """
    for name, text in templates.items():
        if len(text) > _LONGEST:
            raise _too_long(name)
        if without_credentials(text) != text:
            raise ValueError(f"{name}{ENDING} in prompts has an address with a password; leave the password out")
    return templates


def _too_long(name: str) -> ValueError:
    return ValueError(f"{name}{ENDING} in prompts is too long; keep it below {_LONGEST:,} characters")


def _home(path: Path) -> Path:
    """The path, with the user's own folder for ~, as far as there is one."""
    with suppress(RuntimeError):
        return path.expanduser()
    return path


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)
