"""Experiments: many conversations from one file, their measures and comparisons, tables and one report."""

from typing import TYPE_CHECKING

from ..state.public_names import loader

if TYPE_CHECKING:
    from .api import Results, arun_experiment, run_experiment
    from .file import Experiment

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
