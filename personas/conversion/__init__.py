"""Personas of other programs and tables: read, mapped and written as persona files."""
