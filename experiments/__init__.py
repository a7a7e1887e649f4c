"""Experiments: many conversations from one file, their measures and comparisons, tables and one report."""

from persimchat.experiments.api import Results, arun_experiment, run_experiment
from persimchat.experiments.file import Experiment

__all__ = ["Experiment", "Results", "arun_experiment", "run_experiment"]
