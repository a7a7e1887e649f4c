"""Personas that a model makes, from a sentence or to quotas."""
