"""What the tests of past runs do on a page."""

from __future__ import annotations

from nicegui import ui
from nicegui.testing import User


def named(user: User, name: str, *, begins: bool = False) -> ui.element:
    """The control of a name for screen readers, or of one that begins like this."""

    def fits(given: str) -> bool:
        return given.startswith(name) if begins else given == name

    found = [one for one in user.find(kind=ui.element).elements if fits(str(one.props.get("aria-label")))]
    assert len(found) == 1, (name, found)
    return found[0]


def press(user: User, element: ui.element) -> None:
    """Click one element."""
    interaction = user.find(kind=type(element))
    interaction.elements = {element}
    interaction.click()


def line(user: User, menu_of: str, text: str) -> ui.element:
    """A line of the menu that belongs to a button, whether the menu is open or not."""
    menu = next(child for child in named(user, menu_of) if isinstance(child, ui.menu))
    menu.open()
    lines = [one for one in menu.descendants() if isinstance(one, ui.menu_item)]
    return next(one for one in lines if any(isinstance(e, ui.label) and e.text == text for e in one))
