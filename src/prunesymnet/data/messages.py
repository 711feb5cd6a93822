"""How problems are reported: the words for rows, names and cells, the error, the warning.

What comes from a file may be megabytes long, or hold the characters that move a terminal's cursor. `shown` quotes a
cell or a name, and `printable` is a whole message for a terminal; both cut and escape.
"""

import inspect
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from prunesymnet.errors import DataError, DataWarning

MOST_OF_A_VALUE = 60  # characters of a cell or a name: it is to be recognised, not read
MOST_OF_A_REASON = 200  # characters of what another package says is wrong: a line or two
MOST_OF_A_MESSAGE = 2000  # characters on a terminal: a screenful, which no message of ours needs


def warn(message: str, category: type[Warning] = DataWarning) -> None:
    # The warning is to point at the caller's line, however many of our own lie between.
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_back and frame.f_globals.get("__name__", "").startswith("prunesymnet"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def printable(text: str, most: int = MOST_OF_A_MESSAGE) -> str:
    r"""A text on one line of a terminal: control characters escaped, and cut where it is long.

    >>> print(printable("two\nlines, \x1b[2Jcleared"))
    two lines, \x1b[2Jcleared
    """
    cut = text if len(text) <= most else f"{text[:most]}..."
    line = " ".join(cut.split()) if "\n" in cut else cut
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)


def shown(value: Any) -> str:
    r"""A cell or a name in quotes, its control characters escaped, and cut where it is long.

    >>> print(shown("red\x1b[31m"))
    'red\x1b[31m'
    >>> print(shown("1" * 10_000_000))
    '111111111111111111111111111111111111111111111111111111111111'... (10,000,000 characters)
    """
    if isinstance(value, str | bytes):
        rest = f"... ({len(value):,} characters)" if len(value) > MOST_OF_A_VALUE else ""
        return f"{value[:MOST_OF_A_VALUE]!r}{rest}"
    text = repr(value)
    return text if len(text) <= MOST_OF_A_VALUE else printable(text, MOST_OF_A_VALUE)


def reason_of(problem: Exception) -> str:
    """What a reader of files says is wrong, in one line of bounded length."""
    return printable(str(problem).strip().partition("\n")[0], MOST_OF_A_REASON) or type(problem).__name__


def listed(names: Iterable[Any], most: int = 12) -> str:
    names = list(names)
    some = ", ".join(printable(str(name), MOST_OF_A_VALUE) for name in names[:most])
    return some + (f" and {len(names) - most} more" if len(names) > most else "")


def counted(noun: str, numbers: Sequence[int]) -> str:
    """'row 3', 'rows 3 and 7', 'rows 3, 7, 9 and 12 more'."""
    if len(numbers) == 1:
        return f"{noun} {numbers[0]}"
    if len(numbers) > 3:
        return f"{noun}s {listed(numbers, 3)}"
    return f"{noun}s {listed(numbers[:-1])} and {numbers[-1]}"


def in_rows(rows: Sequence[int]) -> str:
    return counted("row", [row + 1 for row in rows])


def cell_error(message: str, rows: Sequence[int], kind: str = "") -> DataError:
    """An error that knows its rows (from 0), so that the reader of a file can add the lines, and its kind ("missing",
    "text", "dates", "decimal"), so that the command can add the option that helps."""
    error = DataError(message)
    vars(error).update(rows=rows, kind=kind)
    return error
