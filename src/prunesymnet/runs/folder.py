"""The folder of a run: all that is needed to go on with it, whatever happens.

    run/
      data.parquet     the table
      run.json         its columns and targets, and the settings
      progress.jsonl   a line for each step: time, stage, formulas, and the front where it has changed
      model.json       what was found, when the run has ended

Files are written whole or not at all, and lines are appended in one piece: after a `kill -9` at any moment the folder
is readable, at most without its last line.
"""

import dataclasses
import hashlib
import io
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from prunesymnet.data import Dataset, distinct_rows
from prunesymnet.errors import DataError, FileFormatError
from prunesymnet.expression import Expression, to_text
from prunesymnet.operators import Operator
from prunesymnet.runs import records
from prunesymnet.runs.files import line, read_json, seal, unseal, write_whole
from prunesymnet.runs.model import Model, load_model
from prunesymnet.search import SearchSettings, Start, Update, front_of
from prunesymnet.version import __version__

KIND = "prunesymnet run"
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
    ended: bool = True

    def latest(self) -> Model:
        """What was found; where the run was cut off before it could write a model, its last formulas as they were
        fitted."""
        if self.model is not None and self.ended:
            return self.model
        pairs = zip(self.tables, self.starts, strict=True)
        fronts = [front_of(distinct_rows(table), start.formulas, self.settings) for table, start in pairs]
        status = "the run was ended from outside"
        fronts = [dataclasses.replace(one, status=status) for one in fronts]
        return Model(tuple(fronts), self.tables[0].names, self.columns, self.settings)


class RunFolder:
    """Where a run writes what it does."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.told: tuple[int, float] = (-1, -1.0)
        self.fronts: dict[int, list[str]] = {}

    def create(self, tables: Sequence[Dataset], columns: Sequence[str] | None, settings: SearchSettings) -> None:
        """Begin a run here. A folder that has one already is left as it is."""
        if any((self.path / name).exists() for name in ("run.json", "model.json", "progress.jsonl")):
            raise FileExistsError(
                f"{self.path} has a run already; go on with it (prunesymnet resume, or PruneSymRegressor.resume), or "
                "name another folder"
            )
        self.path.mkdir(parents=True, exist_ok=True)
        first = tables[0]
        targets = [table.target for table in tables]
        if len(set(targets)) != len(targets):
            raise ValueError(f"tables must have targets of different names, got {', '.join(targets)}")
        columns_ = dict(first.columns) | {table.target: table.y for table in tables}
        if first.weights is not None:
            columns_[WEIGHTS] = first.weights
        data = pd.DataFrame(columns_).to_parquet(index=False)
        write_whole(self.path / "data.parquet", data)
        content = {
            "names": first.names,
            "columns": columns,
            "measurements": first.measurements,
            "errors_known": first.errors_known,
            "data": hashlib.sha256(data).hexdigest(),
            "targets": [table.target for table in tables],
            "settings": records.of_settings(settings),
        }
        write_whole(self.path / "run.json", seal(KIND, content, f"prunesymnet {__version__}"))

    def tell(self, output: int, update: Update) -> None:
        """A line about where the search for a target is."""
        formulas = [to_text(candidate.fit.expression) for candidate in update.front]
        new = formulas != self.fronts.get(output)
        if not new and self.told[0] == output and update.seconds - self.told[1] < EVERY:
            return
        self.told = output, update.seconds
        self.fronts[output] = formulas
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
        self.append(record | ({"front": formulas} if new else {}))

    def append(self, record: records.Record) -> None:
        """One line, in one piece, at the end."""
        handle = os.open(self.path / "progress.jsonl", os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            end = os.fstat(handle).st_size
            # A line that was cut off is ended first, so that the next one stands alone.
            cut = end > 0 and os.pread(handle, 1, end - 1) != b"\n"
            os.write(handle, b"\n" * cut + line(record))
        finally:
            os.close(handle)

    def finish(self, model: Model) -> None:
        model.save(self.path / "model.json")
        for output, found in enumerate(model.fronts):
            self.append({"time": time.time(), "output": output, "ended": found.status, "seconds": found.seconds})


def read_run(
    path: str | os.PathLike[str],
    *,
    operators: Sequence[Operator] = (),
    functions: Mapping[str, Any] | None = None,
) -> Run:
    """A run from its folder; see `load_model` for `operators` and `functions`."""
    path = Path(path)
    if not path.is_dir():
        raise FileFormatError(f"{path}: is no folder of a run")
    if not (path / "run.json").exists():
        raise FileFormatError(f"{path}: has no run.json: no run was begun here")
    content = unseal(path / "run.json", KIND)
    try:
        take = records.Reader(content, "the run")
        names = tuple(records.identifier(name) for name in take("names", list))
        targets = tuple(records.identifier(name) for name in take("targets", list))
        columns = records.labels(take("columns"), len(names))
        measurements = records.whole(take("measurements"), "measurements")
        settings = records.to_settings(take("settings"), operators, functions)
    except FileFormatError as problem:
        raise FileFormatError(f"{path / 'run.json'}: {problem}") from None
    if not targets or len(set(targets)) != len(targets) or not measurements:
        raise FileFormatError(f"{path / 'run.json'}: has no targets, or two of one name, or no rows")
    known = content.get("errors_known") is True  # not written before version 0.7
    tables = _tables(path / "data.parquet", names, targets, measurements, str(take("data")), known)
    model = None
    if (path / "model.json").exists():
        model = load_model(path / "model.json", operators=operators, functions=functions)
        if model.names != names or tuple(front.target for front in model.fronts) != targets:
            raise FileFormatError(f"{path / 'model.json'}: is the model of another run")
    starts = _starts(path / "progress.jsonl", names, len(targets), operators)
    if model is not None:
        starts = tuple(
            Start((*(equation.expression for equation in found), *start.formulas), start.levels, start.again)
            for found, start in zip(model.fronts, starts, strict=True)
        )
    return Run(path, tables, columns, settings, starts, model, _ended(path / "progress.jsonl"))


def _ended(file: Path) -> bool:
    last = file.read_bytes().rstrip(b"\n").rpartition(b"\n")[2] if file.exists() else b""
    return b'"ended"' in last


def _tables(
    file: Path, names: tuple[str, ...], targets: tuple[str, ...], count: int, digest: str, known: bool
) -> tuple[Dataset, ...]:
    try:
        data = file.read_bytes()
        if hashlib.sha256(data).hexdigest() != digest:
            raise ValueError("it was changed after it was written")
        frame = pd.read_parquet(io.BytesIO(data), engine="pyarrow")
        weights = frame[WEIGHTS].to_numpy(np.float64) if WEIGHTS in frame.columns else None
        X = np.asfortranarray(frame[list(names)].to_numpy(np.float64))
        merged = None if count == len(frame) else count
        return tuple(Dataset(X, frame[t].to_numpy(), names, t, weights, merged, known) for t in targets)
    except (OSError, ValueError, KeyError, NotImplementedError, DataError) as problem:
        reason = str(problem).partition("\n")[0]
        raise FileFormatError(f"{file}: is not the table of this run ({reason})") from None


def _starts(file: Path, names: tuple[str, ...], outputs: int, operators: Sequence[Operator]) -> tuple[Start, ...]:
    """How far the search for each target got, by the lines that were written. The last one may be cut off."""
    formulas: list[tuple[Expression, ...]] = [()] * outputs
    levels, again = [0] * outputs, 0
    lines = file.read_bytes().split(b"\n") if file.exists() else []
    for i, content in enumerate(lines[:-1]):  # what follows the last line break was not written to its end
        where = f"{file}, line {i + 1}"
        try:
            record = records.Reader(read_json(content.decode("utf-8", "replace"), where), where).record
        except FileFormatError:
            if i + 1 < len(lines) - 1 and lines[i + 1].startswith(b'{"time": ') and b'"resumed"' in lines[i + 1]:
                continue  # cut off, when the run was ended before it was resumed
            raise
        if "resumed" in record:
            again += 1
        output = record.get("output")
        if not isinstance(output, int) or not 0 <= output < outputs:
            continue
        try:
            levels[output] = max(levels[output], records.whole(record.get("levels", 0), "levels"))
            if isinstance(record.get("front"), list):
                formulas[output] = tuple(records.to_formula(str(t), names, operators) for t in record["front"])
        except FileFormatError as problem:
            raise FileFormatError(f"{where}: {problem}") from None
    return tuple(Start(formulas[k], levels[k], again) for k in range(outputs))
