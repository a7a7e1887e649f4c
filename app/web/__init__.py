"""The web app: pages for users without a terminal, and a small REST API (extra `[web]`).

Runs belong to the server (`live_runs.py`); a page draws a run from its board (`board.py`). NiceGUI draws the pages.
"""
