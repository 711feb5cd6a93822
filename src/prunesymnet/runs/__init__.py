"""A run and what is kept of it: the model as one JSON file, and the folder from which a run can be taken up again."""

from prunesymnet.runs.folder import Run, RunFolder, read_run
from prunesymnet.runs.model import Model, load_model
from prunesymnet.runs.run import ended_by_hand, keep, resume, run, save_or_warn

__all__ = [
    "Model",
    "Run",
    "RunFolder",
    "ended_by_hand",
    "keep",
    "load_model",
    "read_run",
    "resume",
    "run",
    "save_or_warn",
]
