"""The one chart module: models of charts, and SVG from them, for the report of a run and for the pages."""
