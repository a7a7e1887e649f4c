"""The prompts: one Jinja2 template per module, blocks of items, and `render()`."""

from .rendering import prompt_hash, render, templates

__all__ = ["prompt_hash", "render", "templates"]
