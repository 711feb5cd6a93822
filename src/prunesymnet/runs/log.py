"""The lines of a run: one writer, and one reader for whoever asks how far a run got.

Each line is a JSON object that begins with its time. A line that was being written when the run was ended from outside
is cut off. It is left out by the reader, wherever it stands: a run that goes on ends it and begins the next.
"""

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prunesymnet.errors import FileFormatError
from prunesymnet.expression import Expression
from prunesymnet.operators import Operator
from prunesymnet.runs import records
from prunesymnet.runs.files import LARGEST, line, open_regular, read_json
from prunesymnet.search import Start

START = b'{"time": '  # of each line of ours
LARGEST_LOG = 2**30  # bytes: two lines a second, for about three weeks
LATEST_TIME = 1e11  # seconds since 1970, three thousand years: later ones can't be written as a date
LONGEST_TIME = 1e10  # seconds that a search may say it has taken, three hundred years


@dataclass(frozen=True)
class Log:
    """What the lines say: when the last was written (None: not known), whether it says that the run has ended, how far
    the search for each target got, and, by the number of the target, the seconds and fits it has taken."""

    written: float | None = None
    ended: bool = True
    starts: tuple[Start, ...] = ()
    seconds: dict[int, float] = field(default_factory=dict)
    fits: dict[int, int] = field(default_factory=dict)


def append(path: Path, record: records.Record) -> None:
    """One line, in one piece, at the end: all of it or, with an OSError, nothing."""
    handle = open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        end = os.fstat(handle).st_size
        # A line that was cut off is ended first, so that the next one stands alone.
        cut = end > 0 and os.lseek(handle, end - 1, os.SEEK_SET) >= 0 and os.read(handle, 1) != b"\n"
        content = b"\n" * cut + line(record)
        if os.write(handle, content) < len(content):  # the disk was full in the middle of it
            os.ftruncate(handle, end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    finally:
        os.close(handle)


def read_log(path: Path, names: tuple[str, ...], outputs: int, operators: Sequence[Operator] = ()) -> Log:
    """What the lines of a run say of each of its targets; without a file, nothing was found yet."""
    fronts: list[tuple[Expression, ...]] = [()] * outputs
    levels, again, ended, written = [0] * outputs, 0, False, None
    seconds: dict[int, float] = {}
    fits: dict[int, int] = {}
    for where, record in _lines(path):
        ended = "ended" in record
        again += "resumed" in record
        moment, output = _number(record.get("time"), LATEST_TIME), record.get("output")
        written = written if moment is None else moment
        if not isinstance(output, int) or isinstance(output, bool) or not 0 <= output < outputs:
            continue
        try:
            levels[output] = max(levels[output], records.whole(record.get("levels", 0), "levels"))
            if isinstance(record.get("front"), list):
                fronts[output] = tuple(records.to_formula(str(t), names, operators) for t in record["front"])
        except FileFormatError as problem:
            raise FileFormatError(f"{where}: {problem}") from None
        took, tried = _number(record.get("seconds"), LONGEST_TIME), record.get("fits")
        if took is not None:
            seconds[output] = took
        if isinstance(tried, int) and not isinstance(tried, bool) and 0 <= tried < 2**53:
            fits[output] = tried
    starts = tuple(Start(fronts[k], levels[k], again) for k in range(outputs))
    return Log(written, ended, starts, seconds, fits)


def _lines(path: Path) -> Iterator[tuple[str, records.Record]]:
    """Where each line stands, and what it says. What follows the last line break was not written to its end."""
    try:
        handle = open_regular(path)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise FileFormatError(f"{path}: can't be read ({problem.strerror or problem})") from None
    with os.fdopen(handle, "rb") as file:
        count = size = 0
        while (content := file.readline(LARGEST + 1)).endswith(b"\n"):
            count, size = count + 1, size + len(content)
            where = f"{path}, line {count}"
            if size > LARGEST_LOG:
                raise FileFormatError(f"{where}: it has more than {LARGEST_LOG / 2**20:.0f} MiB before it")
            try:
                record = records.Reader(read_json(content[:-1].decode("utf-8", "replace"), where), where).record
            except FileFormatError:
                if content.startswith(START) or START.startswith(content[:-1] or b"\n"):
                    continue  # cut off
                raise
            yield where, record
        if len(content) > LARGEST:
            raise FileFormatError(f"{path}: line {count + 1} has more than {LARGEST / 2**20:.0f} MiB")


def _number(value: object, most: float) -> float | None:
    """A number from 0 to `most`; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        return None
    return float(value)
