"""A front: the best equation of each complexity, which of them is believed, and which might as well be."""

import html
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from prunesymnet.coefficients.uncertainty import mixed_quantile
from prunesymnet.equations.equation import Columns, Equation
from prunesymnet.structure import Reduction

Array = NDArray[np.float64]

UNLIKELY = 1e-3  # of all odds: formulas that are less likely do not count
SHOWN = 78  # characters of a formula in a table for the terminal
NO_SHARE = 1e-9  # of a value: errors that are rounding are nothing to be said
TIES = "≈ the data hardly tell this formula from the chosen one"


@dataclass(frozen=True, eq=False)
class Front:
    """Equations from the simplest to the most exact, which of them is `chosen`, and how the search for them went.
    `ties` are the rows that the data hardly tell from the chosen one; `structure` are the reductions found."""

    equations: tuple[Equation, ...]
    chosen: int
    status: str = ""
    seconds: float = 0.0
    fits: int = 0
    ties: tuple[int, ...] = ()
    structure: tuple[Reduction, ...] = ()

    def __post_init__(self) -> None:
        if not self.equations:
            raise ValueError("equations must have at least one equation")
        if not 0 <= self.chosen < len(self.equations):
            raise ValueError(f"chosen must be from 0 to {len(self.equations) - 1}, got {self.chosen!r}")
        if not set(self.ties) <= set(range(len(self.equations))) - {self.chosen}:
            raise ValueError(f"ties must be rows of the front other than the chosen one, got {self.ties!r}")

    @property
    def best(self) -> Equation:
        """The chosen equation."""
        return self.equations[self.chosen]

    @property
    def target(self) -> str:
        """What the target is called."""
        return self.best.target

    def __len__(self) -> int:
        return len(self.equations)

    def __iter__(self) -> Iterator[Equation]:
        return iter(self.equations)

    def __getitem__(self, index: int) -> Equation:
        if not -len(self) <= index < len(self):
            raise IndexError(f"index must be a row of the front, 0 to {len(self) - 1}, got {index}")
        return self.equations[index]

    def interval(self, columns: Columns, confidence: float = 0.95, *, mean: bool = False) -> tuple[Array, Array]:
        """Between which values a new measurement will lie in that share of cases (with `mean`: the curve), whichever
        formula of the front is the right one. Each counts by the odds that its description gives it: one bit more is
        half as likely. Where formulas part ways, beyond the rows above all, this is wider than the chosen one's own."""
        low, high = self.best.interval(columns, confidence, mean=mean)
        lengths = np.nan_to_num([equation.description_length for equation in self], nan=math.inf)
        odds = np.exp2(lengths.min() - lengths) if math.isfinite(lengths.min()) else np.zeros(len(self))
        odds[self.chosen] = max(odds[self.chosen], UNLIKELY)
        counted = np.flatnonzero(odds >= UNLIKELY * odds.sum())
        if len(counted) == 1:
            return low, high
        equations = [self[int(k)] for k in counted]
        middles = np.array([equation.predict(columns) for equation in equations])
        spreads = np.array([equation.spread(columns, mean=mean) for equation in equations])
        freedom = np.array([equation.freedom for equation in equations])
        weights = np.where(np.isfinite(middles), odds[counted, None], 0.0)
        levels = (1 - confidence) / 2, (1 + confidence) / 2
        bounds = [mixed_quantile(level, weights, middles, spreads, freedom) for level in levels]
        defined = np.isfinite(self.best.predict(columns))
        return np.where(defined, bounds[0], low), np.where(defined, bounds[1], high)

    def table(self) -> pd.DataFrame:
        """One row per equation; floats of the formulas are shown with six digits."""
        return pd.DataFrame(
            {
                "complexity": [equation.complexity for equation in self],
                "loss": [equation.loss for equation in self],
                "r2": [equation.r2 for equation in self],
                "heldout_r2": [equation.heldout_r2 for equation in self],
                "description_length": [equation.description_length for equation in self],
                "tie": [i in self.ties for i in range(len(self))],
                "equation": [equation.text() for equation in self],
            }
        )

    def __repr__(self) -> str:
        return f"<Front of {len(self)} formulas for {self.target}; chosen: {self.best}>"

    def __str__(self) -> str:
        lines = [f"  {'':>2} {'complexity':>10} {'loss':>10} {'R²':>9} {'held-out':>9} {'bits':>8}  {self.target} ="]
        for i, e in enumerate(self):
            text = e.text()
            shown = text if len(text) <= SHOWN or i == self.chosen else text[: SHOWN - 1] + "…"
            lines.append(
                f"{self.mark(i) or ' '} {i:>2} {e.complexity:>10} {e.loss:>10.3g} {_share(e.r2):>9} "
                f"{_share(e.heldout_r2):>9} {e.description_length:>8.1f}  {shown}"
            )
        return "\n".join([*lines, *self.notes])

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said below the table: what the marks mean, and how errors were counted."""
        notes = [TIES] if self.ties else []
        share = math.sqrt(max(self.best.variance, 0.0))
        if self.best.relative and share > NO_SHARE:
            notes.append(f"errors are shares of the value, {share:.2g} of it, and counted so")
        if self.best.outliers:
            are = "row is an outlier" if self.best.outliers == 1 else "rows are outliers"
            notes.append(f"{self.best.outliers} of {self.best.rows} {are}, far from this formula, and hardly counted")
        if self.best.follows:
            lacks = "neighbouring rows are off to the same side: the formula may lack something"
            notes.append(f"along {self.best.follows}, {lacks}")
        return tuple(notes)

    def mark(self, row: int) -> str:
        """What stands before a row: > for the chosen one, ≈ for a tie with it."""
        return ">" if row == self.chosen else "≈" if row in self.ties else ""

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("", "complexity", "loss", "R²", "held-out R²", "bits"))
        rows = [f"<tr>{head}<th style='text-align:left'>{html.escape(self.target)} =</th></tr>"]
        for i, e in enumerate(self):
            style = " style='font-weight:bold;background:rgba(0,114,178,.15)'" if i == self.chosen else ""
            cells = (
                f"{self.mark(i).replace('>', '▸')} {i}".strip(), e.complexity, f"{e.loss:.3g}", _share(e.r2),
                _share(e.heldout_r2), f"{e.description_length:.1f}",
            )  # fmt: skip
            numbers = "".join(f"<td>{cell}</td>" for cell in cells)
            rows.append(
                f"<tr{style}>{numbers}<td style='text-align:left'><code>{html.escape(e.text())}</code></td></tr>"
            )
        note = "".join(f"<p>{text}</p>" for text in self.notes)
        return f"<table>{''.join(rows)}</table>{note}"


def _share(r2: float) -> str:
    """R² with the digits that count: 0.99999999 is not 1."""
    if not 0.999 < r2 < 1:
        return f"{round(r2, 4) + 0.0:.4f}" if abs(r2) < 1e4 else f"{r2:.3g}"
    return f"1 - {1 - r2:.0e}"
