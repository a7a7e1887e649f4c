"""The library of personas: choose, create, edit, generate and import personas on the page."""
