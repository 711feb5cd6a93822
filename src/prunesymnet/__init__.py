"""Symbolic regression: from a table of numbers to the short formula that made it."""

__version__ = "0.1.0"
