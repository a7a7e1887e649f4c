"""The graphs of a mind: how it hears, thinks and awakens."""
