"""All routes of the REST API."""

from __future__ import annotations

from fastapi import FastAPI

from persimchat.app.web.place import Place


def add(api: FastAPI, place: Place) -> None:
    """Add the routes to an application, before its pages."""
