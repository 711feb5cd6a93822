"""Tables that are larger than memory, read in chunks: folders of Parquet or CSV files, and Dask frames.

A table is gone through several times, and each time a function is applied to every chunk (`map`): by threads of this
process for files, and on Dask's workers for its frames, so that their rows stay where they are. What comes back is
small, and in the order of the chunks, so that sums do not depend on the number of threads.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from prunesymnet.data.checks import check_unique
from prunesymnet.data.messages import cell_error, listed, reason_of, shown
from prunesymnet.data.sources import MOST_BYTES, MOST_CELLS
from prunesymnet.errors import DataError

Array = NDArray[np.float64]
T = TypeVar("T")

CHUNK_ROWS = 2**16  # of files: arrays of half a mebibyte, with which a processor's cache can work
PARTITIONS_AT_A_TIME = 64  # of a Dask frame: keeps many workers busy, and their results are small
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv"}


@dataclass(frozen=True)
class Chunk:
    """Some rows of a table: its columns by label, as floats that may be nan; `where` says what row they begin with."""

    number: int
    columns: Mapping[str, Array]
    where: str = "row"
    first: int = 0

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))

    def complete(self, *, drop_missing: bool = False) -> "Chunk":
        """Without rows that lack a value, or an error that names the first; an infinite value is always an error."""
        lacking = np.zeros(self.rows, dtype=bool)
        for label, values in self.columns.items():
            infinite = np.isinf(values)
            if infinite.any():
                place = self.place(int(infinite.argmax()))
                raise cell_error(f"column {shown(label)}: infinite value in {place}; drop or correct it first", [])
            missing = np.isnan(values)
            if missing.any() and not drop_missing:
                place = self.place(int(missing.argmax()))
                message = f"column {shown(label)}: no value (NaN) in {place}; drop or fill what is missing first"
                raise cell_error(message, [], "missing")
            lacking |= missing
        if not lacking.any():
            return self
        kept = {label: values[~lacking] for label, values in self.columns.items()}
        return Chunk(self.number, kept, self.where, self.first)

    def place(self, row: int) -> str:
        return f"{self.where} {self.first + row + 1:,}"


class Chunks:
    """A table in chunks. `labels` are the names of its columns, `rows` how many it has (None: that is not known before
    all is read); `not_numbers` says of columns that hold something else what it is."""

    name: str
    labels: tuple[str, ...]
    rows: int | None
    not_numbers: Mapping[str, str]

    def map(
        self, work: Callable[[Chunk, Any], T], columns: Sequence[str], given: Callable[[], Any] = lambda: None
    ) -> Iterator[T]:
        """The work on each chunk, in their order; `given` is asked for its second argument just before each."""
        raise NotImplementedError

    def check_numbers(self, columns: Sequence[str]) -> None:
        """An error for the first column that holds no numbers."""
        for label in columns:
            if label in self.not_numbers:
                raise DataError(
                    f"{self.name}: column {shown(label)} holds no numbers ({self.not_numbers[label]}); leave it out "
                    "of the features, or put numbers in its place"
                )


class FileChunks(Chunks):
    """The files of a folder that have one format, read by pyarrow; folders named `site=north` are columns, as Hive has
    them."""

    def __init__(self, path: str | os.PathLike[str], *, threads: int = 0, chunk_rows: int = CHUNK_ROWS) -> None:
        import pyarrow.dataset

        self.name, self.threads, self.chunk_rows = str(path), threads or os.cpu_count() or 1, chunk_rows
        files, kind = _files(Path(path))
        try:
            root = str(path) if Path(path).is_dir() else None
            self.dataset = pyarrow.dataset.dataset(
                files, format=kind, partitioning=pyarrow.dataset.partitioning(flavor="hive"),
                partition_base_dir=root,
            )  # fmt: skip
            schema = self.dataset.schema
            self.labels = tuple(schema.names)
            check_unique(self.labels)
            self._check_same_columns()
            self.rows = self.dataset.count_rows() if kind == "parquet" else None  # which the files themselves say
        except DataError as problem:
            raise DataError(f"{self.name}: {problem}") from None
        except Exception as problem:  # what damaged files make the reader raise can't be listed
            raise DataError(f"{self.name}: can't be read as {kind} ({reason_of(problem)}); write it again") from None
        self.not_numbers = {field.name: str(field.type) for field in schema if not _is_number(field.type)}

    def _check_same_columns(self) -> None:
        """All files must have the columns of the first: where one is missing, all its values would be."""
        first: dict[str, Any] | None = None
        for fragment in self.dataset.get_fragments():
            here = {field.name: _kind(field.type) for field in fragment.physical_schema}
            first = here if first is None else first
            for label in first.keys() | here.keys():
                one, other = first.get(label), here.get(label)
                if one != other:
                    raise DataError(
                        f"{Path(fragment.path).name}: column {shown(label)} is {other or 'not there'}, and "
                        f"{one or 'not there'} in the first file; give all files the same columns"
                    )

    def map(
        self, work: Callable[[Chunk, Any], T], columns: Sequence[str], given: Callable[[], Any] = lambda: None
    ) -> Iterator[T]:
        waiting: deque[Future[T]] = deque()
        # pyarrow's own threads read ahead as far as they may: each batch is memory.
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                for chunk in self._chunks(columns):
                    waiting.append(pool.submit(work, chunk, given()))
                    if len(waiting) > self.threads:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for left in waiting:
                    left.cancel()

    def _chunks(self, columns: Sequence[str]) -> Iterator[Chunk]:
        options = {"batch_size": self.chunk_rows, "batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
        first = 0
        try:
            batches = self.dataset.to_batches(columns=list(columns), **options)
            for number, batch in enumerate(batch for batch in batches if batch.num_rows):
                yield Chunk(number, {label: _floats(batch.column(label)) for label in columns}, "row", first)
                first += batch.num_rows
        except DataError:
            raise
        except OSError as problem:
            raise DataError(f"{self.name}: can't be read ({reason_of(problem)}); check the files") from None
        except ValueError as problem:  # pyarrow's own errors are such
            raise DataError(f"{self.name}: {reason_of(problem)}; check the files") from None


class DaskChunks(Chunks):
    """The partitions of a Dask frame; the work is done by Dask's workers."""

    def __init__(self, frame: Any) -> None:
        self.frame, self.name = frame, "the Dask frame"
        self.labels = tuple(map(str, frame.columns))
        check_unique(self.labels)
        self.rows = len(frame)  # which Dask reads from the files where it can
        kinds = zip(self.labels, frame.dtypes, strict=True)
        self.not_numbers = {label: str(kind) for label, kind in kinds if kind.kind not in "biuf"}

    def map(
        self, work: Callable[[Chunk, Any], T], columns: Sequence[str], given: Callable[[], Any] = lambda: None
    ) -> Iterator[T]:
        import dask

        parts = self.frame[list(columns)].to_delayed()
        on_partition = dask.delayed(_on_partition)
        for start in range(0, len(parts), PARTITIONS_AT_A_TIME):
            here = parts[start : start + PARTITIONS_AT_A_TIME]
            tasks = [on_partition(part, work, start + k, given()) for k, part in enumerate(here)]
            yield from (one for many in dask.compute(*tasks) for one in many)


def _on_partition(frame: pd.DataFrame, work: Callable[[Chunk, Any], T], number: int, given: Any) -> list[T]:
    """On a worker of Dask: the work on a partition, of which nothing is left where it has no rows."""
    if not len(frame):
        return []
    columns = {str(label): frame[label].to_numpy(np.float64, na_value=np.nan) for label in frame.columns}
    return [work(Chunk(number, columns, f"partition {number + 1}, row"), given)]


def chunks_of(source: Any, *, threads: int = 0) -> Chunks:
    """A folder of Parquet or CSV files, one such file, or a Dask frame, as chunks."""
    if isinstance(source, str | os.PathLike):
        return FileChunks(source, threads=threads)
    if hasattr(source, "to_delayed") and hasattr(source, "npartitions"):
        return DaskChunks(source)
    raise TypeError(
        f"a large table must be the path of a folder or a file, or a Dask frame, got {type(source).__name__}; "
        "what is in memory is for fit"
    )


def is_large(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder of tables, or a file that is too large to be read at once."""
    file = Path(path)
    if file.is_dir():
        return True
    kind = FORMATS.get(file.suffix.lower())
    if kind is None or not file.is_file():
        return False
    if file.stat().st_size > MOST_BYTES:
        return True
    if kind != "parquet":
        return False
    from pyarrow.parquet import read_metadata

    try:
        told = read_metadata(file)
    except Exception:  # who reads it says what is wrong
        return False
    size = sum(told.row_group(k).total_byte_size for k in range(told.num_row_groups))
    return bool(told.num_rows * told.num_columns > MOST_CELLS or size > MOST_BYTES)


def _files(path: Path) -> tuple[list[str], str]:
    """The files of a folder in the order of their names, or the one file, and their format."""
    if not path.exists():
        raise DataError(f"{path}: no such file or folder; check the path")
    every = [path] if path.is_file() else sorted(part for part in path.rglob("*") if _is_data(part, path))
    found: dict[str, list[str]] = {}
    for file in every:
        if file.suffix.lower() in FORMATS:
            found.setdefault(FORMATS[file.suffix.lower()], []).append(str(file))
    if not found:
        raise DataError(f"{path}: has no files that end with {listed(FORMATS)}; name a folder that has some")
    if len(found) > 1:
        raise DataError(f"{path}: has Parquet files and CSV files; name a folder that has one kind")
    kind, files = found.popitem()
    return files, kind


def _is_data(part: Path, root: Path) -> bool:
    """Whether it is a file of the table: what begins with a dot or an underscore is about it."""
    names = part.relative_to(root).parts
    return part.is_file() and not any(name.startswith((".", "_")) for name in names)


def _kind(kind: Any) -> str:
    """What counts as the same type in all files: numbers of any size are one."""
    return "a number" if _is_number(kind) else str(kind)


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(test(kind) for test in tests) or types.is_null(kind)


def _floats(column: Any) -> Array:
    """A column of pyarrow's as floats, nan where there is none."""
    import pyarrow

    values = column if pyarrow.types.is_float64(column.type) else column.cast(pyarrow.float64(), safe=False)
    floats: Array = values.to_numpy(zero_copy_only=False)
    return floats
