"""How often 95% intervals hold the truth: of constants, of the curve, and of new measurements.

python -m benchmarks.coverage             both parts: writes results/coverage.jsonl
python -m benchmarks.coverage --known     the form is known, its constants are fitted: 1,000 noisy tables of ten laws
python -m benchmarks.coverage --search    the form is searched for: 100 tables of four of them (ten minutes)

The tables of a law differ in their noise alone. After a search, a formula has the right form if constants can be found
with which it is the law; these are then the true values of its constants.
"""

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from prunesymnet.coefficients import fit
from prunesymnet.data import Dataset, make_dataset
from prunesymnet.equations import Equation
from prunesymnet.expression import Expression, compile_expression, parse
from prunesymnet.search import SearchSettings, search

Array = NDArray[np.float64]
REPEATS, SEARCHES = 1000, 100
MAX_FITS = 200  # of a search, one or two seconds: there are hundreds, and the load of the machine is to play no part
ROWS = 40
PLACES = 25  # at which the curve and new measurements are looked at, over the range of the rows
CONFIDENCE = 0.95
LEAST, MOST = 0.93, 0.97  # about three standard errors of a share of 1,000 from 0.95
SAME = 1e-6  # of the curve's root mean square: it is the law


@dataclass(frozen=True)
class Law:
    """A law with its true constants; each column goes from its low to its high end. `noise` is the standard deviation
    of a measurement, or where it is `relative` the part of the value that it is (rows then have weights)."""

    name: str
    formula: str
    ranges: dict[str, tuple[float, float]]
    noise: float
    relative: bool = False

    @property
    def expression(self) -> Expression:
        return parse(self.formula)

    def columns(self, rows: int, seed: int) -> dict[str, Array]:
        """One column evenly, further ones in an order drawn once."""
        rng = np.random.default_rng(seed)
        spread = {name: np.linspace(low, high, rows) for name, (low, high) in self.ranges.items()}
        return {name: rng.permutation(column) if i else column for i, (name, column) in enumerate(spread.items())}

    def values(self, columns: dict[str, Array]) -> Array:
        return compile_expression(self.expression).values(columns)

    def draw(self, seed: int, count: int, *, new: bool = False) -> Array:
        """Standard normal errors, others for each law and seed, and others for `new` measurements."""
        return np.random.default_rng([int(new), seed, *self.name.encode()]).standard_normal(count)

    def table(self, seed: int) -> Dataset:
        columns = self.columns(ROWS, 0)
        values = self.values(columns)
        spread = self.noise * (values if self.relative else np.ones(ROWS))
        y = values + spread * self.draw(seed, ROWS)
        weights = 1 / values**2 if self.relative else None
        features = np.column_stack(list(columns.values()))
        return make_dataset(features, y, names=list(columns), target="measured", weights=weights)

    def noise_of_new(self, data: Dataset) -> float:
        """The standard deviation of a new measurement; of average weight, where rows have weights."""
        return self.noise if data.weights is None else self.noise / float(np.sqrt(data.weights.mean()))


X = {"x": (0.0, 10.0)}
LAWS = (
    Law("line", "2.0*x + 1.0", X, 1.0),
    Law("exponential decay", "5.0*exp(-0.7*x) + 1.0", {"x": (0.0, 6.0)}, 0.2),
    Law("Michaelis and Menten", "4.0*x/(x + 1.5)", X, 0.15),
    Law("power law", "2.0*x**1.5", {"x": (0.5, 5.0)}, 0.5),
    Law("sine", "1.5*sin(2.0*x + 0.5)", {"x": (0.0, 6.0)}, 0.3),
    Law("Gaussian peak", "3.0*exp(-((x - 2.0)/0.8)**2)", {"x": (0.0, 5.0)}, 0.2),
    Law("quotient of lines", "(1.0 + 2.0*x)/(1 + 0.5*x)", X, 0.1),
    Law("logistic growth", "10.0/(1 + exp(-1.2*(x - 4.0)))", X, 0.5),
    Law("product of two powers", "2.0*x**0.7*y**1.3", {"x": (1.0, 5.0), "y": (1.0, 5.0)}, 0.5),
    Law("Arrhenius, 5% of the value", "3e13*exp(-12000.0/T)", {"T": (700.0, 1000.0)}, 0.05, relative=True),
)
SEARCHED = ("line", "exponential decay", "power law", "product of two powers")


def looked_at(equation: Equation, law: Law, data: Dataset, true: Array | None, seed: int) -> dict[str, Any]:
    """Which intervals of a fitted law hold the truth; `true` are its constants, None where the form is another."""
    columns = law.columns(PLACES, 1)
    new = law.values(columns) + law.noise_of_new(data) * law.draw(seed, PLACES, new=True)
    measurement = equation.interval(columns, CONFIDENCE)
    estimates = equation.estimates(CONFIDENCE)
    return {
        "constants": None if true is None else [e.low <= t <= e.high for e, t in zip(estimates, true, strict=True)],
        "curve": within(equation.interval, law, mean=True),
        "measurement": (measurement[0] <= new) & (new <= measurement[1]),
    }


def within(interval: Callable[..., tuple[Array, Array]], law: Law, *, mean: bool) -> NDArray[np.bool_]:
    """Where the law lies in an interval."""
    columns = law.columns(PLACES, 1)
    low, high = interval(columns, CONFIDENCE, mean=mean)
    values = law.values(columns)
    return (low <= values) & (values <= high)


def known(law: Law, repeats: int = REPEATS) -> dict[str, Any]:
    """The law's own form, fitted to table after table."""
    began = time.process_time()
    true = np.array(law.expression.constants)
    hits = []
    for seed in range(repeats):
        data = law.table(seed)
        hits.append(looked_at(Equation.of(fit(law.expression, data), data), law, data, true, seed))
    constants = np.mean([hit["constants"] for hit in hits], axis=0)
    return {
        "what": "known form",
        "law": law.name,
        "formula": law.formula,
        "noise": law.noise,
        "rows": ROWS,
        "repeats": repeats,
        "constants": constants.tolist(),
        "curve": _share(hits, "curve"),
        "measurement": _share(hits, "measurement"),
        "seconds": time.process_time() - began,
    }


def searched(law: Law, repeats: int = SEARCHES, max_fits: int = MAX_FITS) -> dict[str, Any]:
    """What a search finds, with its intervals, on table after table."""
    began = time.process_time()
    hits, rounded = [], 0
    for seed in range(repeats):
        data = law.table(seed)
        front = search(data, SearchSettings(max_fits=max_fits, seed=seed)).front
        rounded += front.best.free_form is not None
        hit = looked_at(front.best, law, data, true_constants(front.best, law, data), seed)
        hits.append(hit | {"curve_of_forms": within(front.interval, law, mean=True)})
    right = [hit["constants"] for hit in hits if hit["constants"] is not None]
    every = [value for values in right for value in values]
    return {
        "what": "after a search",
        "law": law.name,
        "formula": law.formula,
        "noise": law.noise,
        "rows": ROWS,
        "repeats": repeats,
        "max_fits": max_fits,
        "right_form": len(right),
        "rounded": rounded,
        "constants": float(np.mean(every)) if every else None,
        "intervals": len(every),
        "curve": _share(hits, "curve"),
        "curve_of_forms": _share(hits, "curve_of_forms"),
        "curve_of_right_form": _share([hit for hit in hits if hit["constants"] is not None], "curve"),
        "measurement": _share(hits, "measurement"),
        "seconds": time.process_time() - began,
    }


def true_constants(equation: Equation, law: Law, data: Dataset) -> Array | None:
    """The constants with which the formula is the law, None if there are none."""
    form = equation.free_form or equation.form
    exact = make_dataset(data.X, law.values(data.columns), names=data.names, target=data.target, weights=data.weights)
    found = fit(form, exact)
    if not found.mse <= SAME**2 * exact.mean(exact.y**2):
        return None
    return np.array(found.expression.constants)


def _share(hits: list[dict[str, Any]], name: str) -> float | None:
    return float(np.mean([hit[name] for hit in hits])) if hits else None


def summary(rows: Iterable[dict[str, Any]]) -> str:
    """Two tables, of the known forms and of those that were searched for."""
    rows = list(rows)
    tables = []
    ours = [row for row in rows if row["what"] == "known form"]
    if ours:
        lines = [
            f"| {ours[0]['repeats']:,} tables of {ours[0]['rows']} rows each, commit {ours[0]['commit']} | constants "
            "| the curve | new measurements |",
            "|---|---|---|---|",
        ]
        for row in ours:
            constants = ", ".join(map(_percent, row["constants"]))
            cells = (f"{row['law']}: `{row['formula']}`", constants, _percent(row["curve"]))
            lines.append(f"| {' | '.join((*cells, _percent(row['measurement'])))} |")
        tables.append("\n".join(lines))
    ours = [row for row in rows if row["what"] == "after a search"]
    if ours:
        lines = [
            f"| {ours[0]['repeats']} searches of {ours[0]['max_fits']} fits each, commit {ours[0]['commit']} "
            "| right form | constants of these | the curve of these | the curve of all | ... with other forms "
            "| new measurements |",
            "|---|---|---|---|---|---|---|",
        ]
        for row in ours:
            names = ("constants", "curve_of_right_form", "curve", "curve_of_forms", "measurement")
            shares = [row.get(name) for name in names]
            lines.append(f"| {row['law']} | {row['right_form']} | {' | '.join(map(_percent, shares))} |")
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}%"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--known", action="store_true", help="measure this part alone, and keep the other")
    parser.add_argument("--search", action="store_true", help="measure this part alone, and keep the other")
    parser.add_argument("--searches", type=int, default=SEARCHES, help="how many of each law")
    options = parser.parse_args()
    made_by = record.provenance()
    parts = {"known form": [], "after a search": []}  # type: dict[str, list[dict[str, Any]]]
    for row in record.read("coverage"):
        parts[row["what"]].append(row)
    if options.known or not options.search:
        parts["known form"] = [known(law) | made_by for law in LAWS]
    if options.search or not options.known:
        parts["after a search"] = [searched(law, options.searches) | made_by for law in LAWS if law.name in SEARCHED]
    record.write("coverage", [*parts["known form"], *parts["after a search"]])
    print(summary(record.read("coverage")))
