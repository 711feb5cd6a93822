"""What a search has found so far: the lines of its run as they are written, and its front at the end.

Each formula gets its place on the front, its error on all rows, and its typeset form, once; after that it is known.
"""

import hashlib
import math
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from prunesymnet.coefficients.by_category import groups_of
from prunesymnet.coefficients.description import constant_bits, rough_length
from prunesymnet.data import Dataset, distinct_rows, repair_names
from prunesymnet.data.losses import ROBUST, Relative
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import FileFormatError
from prunesymnet.export.mathml import to_mathml
from prunesymnet.expression import canonical, evaluate, to_text
from prunesymnet.expression.categories import Groups, contract, named
from prunesymnet.runs import Run, read_run
from prunesymnet.runs.files import open_regular, read_json
from prunesymnet.runs.folder import LINES, MODEL
from prunesymnet.runs.model import load_model
from prunesymnet.runs.records import to_formula, to_reduction
from prunesymnet.structure import Reduction
from prunesymnet.studio.searches import Search

AT_A_TIME = 2**22  # bytes of a log that are read at once
KEPT = 6  # runs in memory, those that were looked at last
LONGEST_SHOWN = 4000  # characters of a formula that is typeset: a browser takes seconds for more, and nobody reads it
MOST_POINTS = 400  # rows of the plot of a structure
DIGITS = 4  # of a formula's numbers, in a list
HOPELESS = 64.0  # bits more than the shortest description: odds of 10**19 to 1
SMALLEST = 1e-300  # a mean squared error of 0 has no logarithm


def key_of(text: str) -> str:
    """A short name for a formula, for addresses."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass
class Lines:
    """The lines of a run, read as far as they are written."""

    path: Path
    offset: int = 0
    last: dict[str, Any] = field(default_factory=dict)  # the newest value of each entry
    front: list[str] = field(default_factory=list)
    structure: list[Any] = field(default_factory=list)  # as records, which are not checked yet

    def read(self) -> None:
        """Take in what is new. A line that is not whole yet waits for its end."""
        try:
            handle = open_regular(self.path)
        except OSError:
            return
        with os.fdopen(handle, "rb") as file:
            if os.fstat(file.fileno()).st_size < self.offset:  # another file is in its place
                self.offset, self.last, self.front, self.structure = 0, {}, [], []
            file.seek(self.offset)
            while content := file.read(AT_A_TIME):
                end = content.rfind(b"\n") + 1
                if not end:
                    break
                self.offset += end
                file.seek(self.offset)
                for line in content[:end].splitlines():
                    self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            record = read_json(line.decode("utf-8", "replace"), "a line")
        except FileFormatError:
            return  # cut off
        if isinstance(record, dict):
            self.last |= {name: value for name, value in record.items() if name not in ("front", "structure")}
            if "ended" not in record:
                self.last.pop("ended", None)
            if isinstance(record.get("front"), list):
                self.front = [text for text in record["front"] if isinstance(text, str)]
            if isinstance(record.get("structure"), list):
                self.structure = record["structure"]

    def number(self, name: str) -> float:
        value = self.last.get(name, 0)
        return float(value) if isinstance(value, int | float) and np.isfinite(value) else 0.0


@dataclass
class SearchInMemory:
    """What is known of a search in memory: its run as it was begun, its lines, its front, and formulas that were
    looked at."""

    run: Run
    data: Dataset  # rows merged, with the loss of the search: what formulas are fitted to
    lines: Lines
    changed: int = -1  # when the model was written
    model: Front | None = None
    points: dict[str, dict[str, Any]] = field(default_factory=dict)
    equations: OrderedDict[str, Equation] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def refresh(self) -> None:
        """Take in what the process of the search has written since."""
        self.lines.read()
        path = self.run.path / MODEL
        try:
            changed = path.stat().st_mtime_ns
        except OSError:
            return
        if changed != self.changed:
            self.model, self.changed = load_model(path).fronts[0], changed
            self._count_errors_like(self.model)

    def _count_errors_like(self, model: Front) -> None:
        """A search may have found that errors are shares of the values, or that there are outliers: formulas are fitted
        and shown so then."""
        best, loss = model.best, self.data.loss
        found = "relative" if best.relative else ROBUST if best.outliers and loss.quadratic else loss.name
        if found != loss.name:
            self.data = distinct_rows(self.run.tables[0]).with_loss(found)
            self.points.clear()
            self.equations.clear()

    def is_live(self) -> bool:
        """Whether the formulas of the lines are newer than the model."""
        return self.model is None or "ended" not in self.lines.last

    @property
    def relative(self) -> bool:
        """Whether errors are counted as shares of the values."""
        return isinstance(self.data.loss, Relative)

    def texts(self) -> list[str]:
        """The formulas of the front."""
        if self.is_live() or self.model is None:
            return self.lines.front
        return [to_text(equation.expression) for equation in self.model]

    @cached_property
    def groups(self) -> Groups:
        """The columns of categories: what each is called in formulas, and the column of 0 and 1 of each category."""
        labels, data = self.run.columns or (), self.run.tables[0]
        columns = dict.fromkeys(label.partition("=")[0] for label in labels if "=" in label)
        found = groups_of(labels, data.names if labels else (), dict(zip(repair_names(columns), columns, strict=True)))
        return {name: places for name, places in found.items() if _one_in_each_row(data, list(places.values()))}

    def structure(self) -> Sequence[Reduction]:
        """What was found of the table's structure so far."""
        if not self.is_live() and self.model is not None:
            return self.model.structure
        data = self.run.tables[0]
        try:
            return [to_reduction(record, (*data.names, data.target)) for record in self.lines.structure]
        except FileFormatError:
            return ()

    def point(self, text: str) -> dict[str, Any] | None:
        """What is shown of a formula in the front; None for a text that is none."""
        if text not in self.points:
            self.points[text] = self._point(text)
        return self.points[text] or None

    def _point(self, text: str) -> dict[str, Any]:
        try:
            expression = to_formula(text, self.data.names)
        except FileFormatError:
            return {}
        with np.errstate(all="ignore"):
            values = np.broadcast_to(evaluate(expression, self.data.columns).values, self.data.rows)
        error = self.data.mse(values)
        r2 = self.data.r2(error)
        if self.relative and self.data.weights is not None:  # the mean square of the errors as shares of the value
            error *= float(self.data.weights.sum()) / self.data.measurements
        shown, values_named = canonical(expression), dict[str, float]()
        if self.run.settings.constants_per is not None:  # with names for what differs between the categories
            form, values_named = named(expression, self.groups)
            shown = expression = contract(form)
        nothing = max(self.run.settings.exact**2 * self.data.variation, SMALLEST)  # as a search counts it
        bits = rough_length(expression, self.data.rows, max(error, nothing))
        short = to_text(shown, digits=DIGITS)
        return {
            "key": key_of(text),
            "text": short,
            "math": to_mathml(shown, digits=DIGITS) if len(short) <= LONGEST_SHOWN else "",
            "complexity": expression.complexity,
            "bits": bits + len(values_named) * constant_bits(self.data.rows),
            "error": error if np.isfinite(error) else None,
            "r2": r2 if np.isfinite(error) else None,
        }


def _one_in_each_row(data: Dataset, names: Sequence[str]) -> bool:
    """Whether in each row one of some columns is 1 and the others are 0."""
    columns = np.array([data.columns[name] for name in names])
    return len(names) > 1 and bool(np.isin(columns, (0, 1)).all() and (columns.sum(axis=0) == 1).all())


class SearchesInMemory:
    """What is known of the searches that were looked at last."""

    def __init__(self) -> None:
        self.cache: OrderedDict[str, SearchInMemory] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, search: Search) -> SearchInMemory:
        with self.lock:
            if search.id not in self.cache:
                run = read_run(search.run)
                data = distinct_rows(run.tables[0]).with_loss(run.settings.loss)
                self.cache[search.id] = SearchInMemory(run, data, Lines(search.run / LINES))
            self.cache.move_to_end(search.id)
            while len(self.cache) > KEPT:
                self.cache.popitem(last=False)
            found = self.cache[search.id]
        with found.lock:
            found.refresh()
        return found

    def forget(self, known_as: str) -> None:
        with self.lock:
            self.cache.pop(known_as, None)


def front_points(found: SearchInMemory, pins: Iterable[str]) -> list[dict[str, Any]]:
    """The formulas of the front and those that were pinned, by complexity, each with its marks."""
    with found.lock:
        texts, kept = found.texts(), list(pins)
        chosen, ties = None, set()
        if not found.is_live() and found.model is not None:
            chosen, ties = texts[found.model.chosen], {texts[k] for k in found.model.ties}
        else:  # the shortest description so far, as a search that ends would choose
            chosen = min(texts, key=lambda text: (found.point(text) or {}).get("bits", math.inf), default=None)
            texts = _worth_showing(found, texts, chosen)
        points = []
        for text in dict.fromkeys([*texts, *kept]):
            point = found.point(text)
            if point is not None:
                marks = {"chosen": text == chosen, "tie": text in ties, "pinned": text in kept, "front": text in texts}
                points.append(point | marks)
    return sorted(points, key=lambda point: (point["complexity"], -(point["error"] or 0)))


def _worth_showing(found: SearchInMemory, texts: Sequence[str], chosen: str | None) -> list[str]:
    """Without those that are longer than the chosen one and say so little for their length that a search would leave
    them out at its end, too: a polynomial of a hundred terms makes a blot of all others."""
    best = found.point(chosen or "") or {"bits": math.inf, "complexity": math.inf}

    def is_worth(text: str) -> bool:
        point = found.point(text) or best
        return bool(point["complexity"] <= best["complexity"] or point["bits"] <= best["bits"] + HOPELESS)

    return list(filter(is_worth, texts))


def structure_of(found: SearchInMemory) -> list[dict[str, Any]]:
    """What was found of the table's structure, each with the rows of its plot: a quantity against the group that it
    depends on; of two groups, the second is told by the size of its value, from 0 to 1. A sum or product of functions
    of several columns has no plot."""
    with found.lock:
        reductions = found.structure()
    data = found.run.tables[0]
    rows = np.arange(data.rows)
    if data.rows > MOST_POINTS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_POINTS, replace=False))
    columns = {name: column[rows] for name, column in (*data.columns.items(), (data.target, data.y))}
    shown = []
    for reduction in reductions:
        formulas = (reduction.quantity, *reduction.groups)
        with np.errstate(all="ignore"):
            values = np.array([np.broadcast_to(evaluate(one, columns).values, len(rows)) for one in formulas])
        values = values[:, np.isfinite(values).all(axis=0)]
        ranks = np.argsort(np.argsort(values[2])) / max(values.shape[1] - 1, 1) if len(values) > 2 else None
        shown.append({
            "math": [to_mathml(one, digits=DIGITS) for one in formulas],
            "names": [to_text(one, digits=DIGITS) for one in formulas],
            "sizes": [len(part) for part in reduction.parts],
            "product": reduction.product,
            "points": [] if reduction.sizes else values[[1, 0]].T.tolist(),
            "shades": None if ranks is None else ranks.tolist(),
        })  # fmt: skip
    return shown


def text_of(found: SearchInMemory, key: str, pins: Iterable[str]) -> str | None:
    """The formula that an address means."""
    with found.lock:
        known = [*found.texts(), *pins, *found.points]
    return next((text for text in known if key_of(text) == key), None)
