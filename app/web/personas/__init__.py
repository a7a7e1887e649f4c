"""The library of personas: choose, create, edit, generate and convert personas on the page."""
