"""The web app: a page for people who never saw a terminal, and a small REST API beside it (extra `[web]`).

Runs belong to the server (`live_runs`); a page draws what it sees of one (`viewing`, `board`). NiceGUI draws the pages.
"""
