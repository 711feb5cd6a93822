"""The folder of a run: all that is needed to go on with it, whatever happens.

    run/
      data.parquet     the table
      run.json         its columns and targets, and the settings
      progress.jsonl   a line for each step: time, stage, formulas, and the front and the structure where they changed
      model.json       what was found, when the run has ended

Files are written whole or not at all, and lines are appended in one piece: after a `kill -9` at any moment the folder
is readable, at most without its last line. While a run goes on, its folder is locked: a hidden file `.lock` is there,
and another run that would write here is refused. What can't be written once the search has begun (a full disk, a folder
that was deleted) does not end it.
"""

import dataclasses
import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from prunesymnet.data import Dataset, distinct_rows
from prunesymnet.data.messages import MOST_OF_A_VALUE, printable
from prunesymnet.errors import DataError, FileFormatError, FolderInUseError
from prunesymnet.expression import to_text
from prunesymnet.operators import Operator
from prunesymnet.runs import records
from prunesymnet.runs.files import MOST_OF_A_PROBLEM, read_regular, seal, unseal, write_whole
from prunesymnet.runs.log import Log, append, read_log
from prunesymnet.runs.model import Model, load_model
from prunesymnet.search import SearchSettings, Start, Update, front_of
from prunesymnet.version import __version__

KIND = "prunesymnet run"
TABLE, HEAD, LINES, MODEL, LOCK = "data.parquet", "run.json", "progress.jsonl", "model.json", ".lock"
LARGEST_TABLE = 2**32  # bytes of a table, in the file and in memory, where a search needs several times as many
WEIGHTS = "sample weights"  # no column of a formula can have this name
EVERY = 0.5  # seconds between two lines without a new formula: enough to see that the run is alive


@dataclass(frozen=True, eq=False)
class Run:
    """A run as its folder has it: the table once for each target, the settings, and how far the search for each got."""

    path: Path
    tables: tuple[Dataset, ...]
    columns: tuple[str, ...] | None
    settings: SearchSettings
    starts: tuple[Start, ...]
    model: Model | None
    log: Log = field(default_factory=Log)
    source: str = ""  # where the table comes from, a file's name; empty if that is not known

    @property
    def ended(self) -> Model | None:
        """The model of a run that has come to its end."""
        return self.model if self.log.ended else None

    def latest(self) -> Model:
        """What was found; where the run was cut off before it could write a model, its last formulas as they were
        fitted."""
        if self.ended is not None:
            return self.ended
        pairs = zip(self.tables, self.starts, strict=True)
        fronts = [front_of(distinct_rows(table), start.formulas, self.settings) for table, start in pairs]
        status = "the run was ended from outside"
        fronts = [dataclasses.replace(one, status=status) for one in fronts]
        return Model(tuple(fronts), self.tables[0].names, self.columns, self.settings)


class RunFolder:
    """Where a run writes what it does: `create` begins a run there and `open` takes one up again. Both lock the folder,
    until the `with` that it is used in ends."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.told: tuple[int, float] = (-1, -1.0)
        self.fronts: dict[int, list[str]] = {}
        self.structures: dict[int, list[records.Record]] = {}
        self.unwritten: dict[str, OSError] = {}  # by the file's name, what kept it from being written
        self.lock: Any = None
        self.place: tuple[int, int] | None = None  # the device and the number of the folder

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def create(
        self, tables: Sequence[Dataset], columns: Sequence[str] | None, settings: SearchSettings, source: str = ""
    ) -> None:
        """Begin a run here, with a table that comes from a file of the name `source`. A folder that has one already is
        left as it is."""
        targets = [table.target for table in tables]
        if len(set(targets)) != len(targets):
            raise ValueError(f"tables must have targets of different names, got {', '.join(targets)}")
        self._check_free()
        if self.path.is_file():
            raise FileExistsError(f"{self.path} is a file, and a run needs a folder; name another")
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock()
        self._check_free()  # again: another run may have begun and ended here before the folder was ours
        first = tables[0]
        columns_ = dict(first.columns) | {table.target: table.y for table in tables}
        if first.weights is not None:
            columns_[WEIGHTS] = first.weights
        data = pd.DataFrame(columns_).to_parquet(index=False)
        write_whole(self.path / TABLE, data)
        content = {
            "names": first.names,
            "columns": columns,
            "measurements": first.measurements,
            "errors_known": first.errors_known,
            "data": hashlib.sha256(data).hexdigest(),
            "targets": targets,
            "settings": records.of_settings(settings),
            "source": source,
        }
        write_whole(self.path / HEAD, seal(KIND, content, f"prunesymnet {__version__}"))

    def _check_free(self) -> None:
        if any(os.path.lexists(self.path / name) for name in (HEAD, MODEL, LINES)):
            raise FileExistsError(
                f"{self.path} has a run already; go on with it (prunesymnet resume, or PruneSymRegressor.resume), or "
                "name another folder"
            )

    def open(self) -> None:
        """Take up the run that is here."""
        check_has_run(self.path)
        self._lock()

    def _lock(self) -> None:
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / LOCK, timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            raise FolderInUseError(
                f"{self.path}: another run is writing to this folder; wait for its end, or name another folder"
            ) from None
        self.lock, self.place = lock, _place(self.path)

    def close(self) -> None:
        """Let others write here."""
        if self.lock is not None:
            # It is removed while it is held: whoever waited for this file sees that it is gone, and makes another.
            with suppress(OSError):
                if _place(self.path) == self.place:
                    (self.path / LOCK).unlink()
            self.lock.release()
            self.lock = None

    def tell(self, output: int, update: Update) -> None:
        """A line about where the search for a target is."""
        formulas = [to_text(candidate.fit.expression) for candidate in update.front]
        structure = [records.of_reduction(reduction) for reduction in update.structure]
        new: records.Record = {}
        if formulas != self.fronts.get(output):
            new["front"] = self.fronts[output] = formulas
        if structure != self.structures.get(output, []):
            new["structure"] = self.structures[output] = structure
        if not new and self.told[0] == output and update.seconds - self.told[1] < EVERY:
            return
        self.told = output, update.seconds
        best = update.best
        record: records.Record = {
            "time": time.time(),
            "output": output,
            "seconds": round(update.seconds, 3),
            "stage": update.stage,
            "fits": update.fits,
            "scored": update.scored,
            "levels": update.levels,
            "epoch": update.epoch,
            "heldout_mse": best.heldout_mse,
            "best": to_text(best.fit.expression),
        }
        with self._without_fail(LINES):
            self.append(record | new)

    def append(self, record: records.Record) -> None:
        """One line at the end of the others."""
        self._check_same()
        append(self.path / LINES, record)

    def finish(self, model: Model) -> None:
        with self._without_fail(MODEL):
            self._check_same()
            model.save(self.path / MODEL)
        for output, found in enumerate(model.fronts):
            with self._without_fail(LINES):
                self.append({"time": time.time(), "output": output, "ended": found.status, "seconds": found.seconds})

    def _check_same(self) -> None:
        if self.place is not None and _place(self.path) != self.place:
            raise FileNotFoundError(f"{self.path}: the folder was removed, and another is in its place")

    @contextmanager
    def _without_fail(self, name: str) -> Iterator[None]:
        """A search goes on whatever happens to its folder; what could not be written is remembered."""
        try:
            yield
        except OSError as problem:
            self.unwritten.setdefault(name, problem)


def _place(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def check_has_run(path: Path) -> None:
    if not path.is_dir():
        raise FileFormatError(f"{path}: is no folder of a run")
    if not os.path.lexists(path / HEAD):
        raise FileFormatError(f"{path}: has no {HEAD}: no run was begun here")


def read_run(
    path: str | os.PathLike[str],
    *,
    operators: Sequence[Operator] = (),
    functions: Mapping[str, Any] | None = None,
) -> Run:
    """A run from its folder; see `load_model` for `operators` and `functions`."""
    path = Path(path)
    check_has_run(path)
    content = unseal(path / HEAD, KIND)
    try:
        take = records.Reader(content, "the run")
        names = tuple(records.identifier(name) for name in take("names", list))
        targets = tuple(records.identifier(name) for name in take("targets", list))
        columns = records.labels(take("columns"), len(names))
        measurements = records.whole(take("measurements"), "measurements")
        settings = records.to_settings(take("settings"), operators, functions)
        digest = str(take("data"))
    except FileFormatError as problem:
        raise FileFormatError(f"{path / HEAD}: {printable(str(problem), MOST_OF_A_PROBLEM)}") from None
    if not targets or len(set(targets)) != len(targets) or not measurements:
        raise FileFormatError(f"{path / HEAD}: has no targets, or two of one name, or no rows")
    known = content.get("errors_known") is True  # not written before version 0.7
    tables = _tables(path / TABLE, names, targets, measurements, digest, known)
    model = None
    if os.path.lexists(path / MODEL):
        model = load_model(path / MODEL, operators=operators, functions=functions)
        if model.names != names or tuple(front.target for front in model.fronts) != targets:
            raise FileFormatError(f"{path / MODEL}: is the model of another run")
    log = read_log(path / LINES, names, len(targets), operators)
    starts = log.starts
    if model is not None:
        starts = tuple(
            Start((*(equation.expression for equation in found), *start.formulas), start.levels, start.again)
            for found, start in zip(model.fronts, starts, strict=True)
        )
    source = printable(str(content.get("source", "")), MOST_OF_A_VALUE)  # not written before version 0.6
    return Run(path, tables, columns, settings, starts, model, log, source)


def _tables(
    file: Path, names: tuple[str, ...], targets: tuple[str, ...], count: int, digest: str, known: bool
) -> tuple[Dataset, ...]:
    data = read_regular(file, KIND, LARGEST_TABLE)
    try:
        if hashlib.sha256(data).hexdigest() != digest:
            raise ValueError("it was changed after it was written")
        columns = _columns(data, (*names, *targets))
        weights = columns.get(WEIGHTS)
        X = np.asfortranarray(np.column_stack([columns[name] for name in names]))
        merged = None if count == len(X) else count
        return tuple(Dataset(X, columns[target], names, target, weights, merged, known) for target in targets)
    except (OSError, ValueError, TypeError, KeyError, NotImplementedError, MemoryError, DataError) as problem:
        reason = printable(str(problem), MOST_OF_A_PROBLEM)
        raise FileFormatError(f"{file}: is not the table of this run ({reason})") from None


def _columns(data: bytes, wanted: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Columns of a Parquet file, and the weights where it has some, if they are numbers that fit into the memory: a
    compressed column of a few bytes can be as long as its maker likes."""
    from pyarrow import BufferReader, types
    from pyarrow.parquet import ParquetFile

    # Bytes that pyarrow has itself are read by this thread. A file of Python's is read by a thread of pyarrow's pool,
    # and one that is still at it when the process ends aborts it.
    file = ParquetFile(BufferReader(data))
    schema = {column.name: column.type for column in file.schema_arrow}
    chosen = [*dict.fromkeys(wanted), *([WEIGHTS] if WEIGHTS in schema else [])]
    for name in chosen:
        if not types.is_floating(schema[name]):
            raise ValueError(f"column {name!r} has no numbers with a point")
    groups = range(file.metadata.num_row_groups)
    rows = max(file.metadata.num_rows, sum(file.metadata.row_group(group).num_rows for group in groups))
    if rows * len(chosen) * np.dtype(np.float64).itemsize > LARGEST_TABLE:
        raise ValueError(f"it has {rows:,} rows, more than a search can hold")
    table = file.read(columns=chosen, use_threads=False)
    return {name: table.column(name).to_numpy().astype(np.float64) for name in chosen}
