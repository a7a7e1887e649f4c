"""The library of personas: choose, create, edit, generate and convert them in the page."""
