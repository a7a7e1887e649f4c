"""Experiments: many conversations from one file, their measures and comparisons, tables and one report."""

from typing import TYPE_CHECKING

from persimchat.state.public_names import loader

if TYPE_CHECKING:
    from persimchat.experiments.api import Results, arun_experiment, run_experiment
    from persimchat.experiments.file import Experiment

__all__ = ["Experiment", "Results", "arun_experiment", "run_experiment"]

__getattr__ = loader(
    __name__,
    {
        "Experiment": "experiments.file",
        "Results": "experiments.api",
        "arun_experiment": "experiments.api",
        "run_experiment": "experiments.api",
    },
)
