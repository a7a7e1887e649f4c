"""What models are asked: one Jinja2 template a module, blocks of items, and `render()`."""

from persimchat.prompts.rendering import prompt_hash, render

__all__ = ["prompt_hash", "render"]
