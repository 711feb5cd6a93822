"""The exceptions that are the package's own; a parameter out of range is a plain ValueError or TypeError.

    PruneSymNetError
    ├── DataError           a table that can't be used as it is        (also a ValueError)
    ├── ExportError         a formula that can't become what was asked (also a ValueError)
    ├── FileFormatError     a saved model or run that can't be trusted (also a ValueError)
    ├── FolderInUseError    a folder that another run is writing to    (also an OSError)
    ├── NothingFoundError   a search that found nothing it may return  (also a ValueError)
    ├── OperatorError       an operator that can't be added            (also a ValueError)
    ├── ParseError          a text that is not a formula               (also a ValueError)
    └── UnitError           units that are not known, or do not fit    (also a ValueError)

Warnings:

    DataWarning             a table that can be used, with something its owner should know
    DomainWarning           rows on which a formula has no value
    InterruptedWarning      a fit that was stopped by hand
    NotWrittenWarning       a run whose folder does not have all that was found

A message names what was wrong, where, and what to do about it.
"""

MOST_OF_A_PROBLEM = 200  # characters of what is wrong with a formula: it may quote a name of any length


class PruneSymNetError(Exception):
    """The root: catch this to catch them all."""


class DataError(PruneSymNetError, ValueError):
    """The data can't be used as they are: the message names the column, the row and the remedy."""


class ExportError(PruneSymNetError, ValueError):
    """A formula that a target can't say: the message names what it can't, the target and what to do."""


class FileFormatError(PruneSymNetError, ValueError):
    """A saved model or run that is cut off, edited, of a newer version, or not ours: the message names the file."""


class FolderInUseError(PruneSymNetError, OSError):
    """A run's folder to which another run is writing: the message names the folder."""


class NothingFoundError(PruneSymNetError, ValueError):
    """No formula keeps the constraints: the message says what to relax."""


class OperatorError(PruneSymNetError, ValueError):
    """An operator that failed its probes: the message says which probe, and what came out of it."""


class ParseError(PruneSymNetError, ValueError):
    """A text that is not a formula. ``text`` is the whole text, ``column`` (from 0) where it went wrong.

    >>> print(ParseError("expected an operand", "x + * y", 4))
    expected an operand, at column 5:
      x + * y
          ^
    """

    def __init__(self, problem: str, text: str, column: int) -> None:
        if len(problem) > MOST_OF_A_PROBLEM:
            problem = f"{problem[:MOST_OF_A_PROBLEM]}..."
        self.problem, self.text, self.column = problem, text, column
        start = max(0, column - 60)
        # One character for each, so that the mark below is in its place, and none that a terminal would obey.
        shown = "".join(c if c.isprintable() else " " for c in text[start : column + 20])
        super().__init__(f"{problem}, at column {column + 1}:\n  {shown}\n  {' ' * (column - start)}^")

    def __reduce__(self) -> tuple[object, ...]:
        return ParseError, (self.problem, self.text, self.column)  # as made, so that workers can pass it on


class UnitError(PruneSymNetError, ValueError):
    """A unit that is not known, or units that do not fit together: the message names the columns and the remedy."""


class DataWarning(UserWarning):
    """Something in the data that the owner should know, but that stops nothing."""


class DomainWarning(UserWarning):
    """A formula has no value on some rows: what is predicted there is nan."""


class InterruptedWarning(UserWarning):
    """A fit was stopped by hand: what it gives is the best so far."""


class NotWrittenWarning(UserWarning):
    """A file does not have what was found (a full disk, a folder that was deleted): it is printed or returned all the
    same."""
