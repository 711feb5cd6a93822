"""The core against its oracles: canonical form against sympy.simplify, fits against scipy's least_squares.

    python -m benchmarks.core          measures both, writes results/core.jsonl, prints the summary
    python -m benchmarks.core --table  prints the summary of the file that is there

Both sides of a comparison are timed in turn in one run, on the same input: the machine's moods cancel in the
ratio. Each line of the file is one formula.
"""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sympy
from scipy.optimize import least_squares

from benchmarks import record
from benchmarks.problems import Problem, free_weights, load, one_weight_per_edge, sample
from prunesymnet.coefficients.least_squares import levenberg_marquardt
from prunesymnet.export.sympy import to_sympy
from prunesymnet.expression import Constant, Expression, Variable, canonical, compile_expression, evaluate, fold
from prunesymnet.expression.tree import is_free

CONSTANTS, ROWS, PERTURBATION, SEEDS = 5, 128, 0.1, 3


def seconds(call: Callable[[], Any], repeat: int) -> float:
    """The least time of one call, of three rounds of `repeat`."""
    rounds = []
    for _ in range(3):
        began = time.perf_counter()
        for _ in range(repeat):
            call()
        rounds.append((time.perf_counter() - began) / repeat)
    return min(rounds)


def canonical_form(problem: Problem) -> dict[str, Any]:
    """One formula with a weight on every edge, simplified by us and by sympy."""
    rng = np.random.default_rng(0)
    formula = one_weight_per_edge(problem.formula, rng)
    symbolic = to_sympy(formula)
    began = time.perf_counter()
    sympy.simplify(symbolic)
    theirs = time.perf_counter() - began
    points = {name: rng.uniform(-5, 5, 200) for name in formula.variables}
    before, after = (evaluate(f, points) for f in (formula, canonical(formula)))
    close = np.isclose(before.values, after.values, rtol=1e-7, atol=0)
    return {
        "what": "canonical form",
        "problem": problem.name,
        "seconds": seconds(lambda: canonical(formula), 5),
        "sympy_seconds": theirs,
        "equal_values": bool(close[before.finite].all()),
        "constants_before": len(formula.constants),
        "constants_after": len(canonical(formula).constants),
    }


def five_constants(problem: Problem, rng: np.random.Generator) -> Expression:
    """The formula with free constants in front of its terms and inside its functions; terms of growing degree
    are added until there are five (formulas that have more keep them)."""
    formula = free_weights(problem.formula)
    names = problem.formula.variables
    degrees = [(0, names[0])] + [(degree, name) for degree in (1, 2, 3, 4) for name in names]
    for degree, name in degrees:
        if len(formula.constants) >= CONSTANTS:
            break
        term = Constant(float(rng.uniform(0.5, 2.0)))
        longer = canonical(formula + (term * Variable(name) ** degree if degree else term))
        if len(longer.constants) > len(formula.constants):
            formula = longer
    return formula


def as_numpy_function(formula: Expression) -> Callable[..., Any]:
    """What a user of scipy would write: the formula as plain numpy code of its constants and columns."""
    symbols = sympy.symbols(f"c0:{len(formula.constants)}")
    constants = iter(symbols)

    def leaf(node: Expression) -> Any:
        if is_free(node):
            return next(constants)
        return sympy.Symbol(node.name) if isinstance(node, Variable) else sympy.Integer(node.value)

    symbolic = fold(formula, leaf, lambda operator, operands: operator.sympy(sympy, *operands))
    return sympy.lambdify([symbols, *map(sympy.Symbol, formula.variables)], symbolic, "numpy")


def fit(problem: Problem, seed: int) -> dict[str, Any]:
    """One fit from constants that are 10% off, by us (compiling the formula included) and by scipy."""
    rng = np.random.default_rng([seed, *problem.name.encode()])
    formula = five_constants(problem, rng)
    data = sample(formula, ROWS, seed)
    true = np.array(formula.constants)
    start = true * (1 + PERTURBATION * rng.standard_normal(len(true)))
    function = as_numpy_function(formula)
    columns = [np.ascontiguousarray(data.columns[name]) for name in formula.variables]

    def ours() -> Any:
        return levenberg_marquardt(compile_expression(formula), data.columns, data.y, start[None]).constants

    def theirs() -> Any:
        try:
            return least_squares(lambda c: function(c, *columns) - data.y, start).x
        except ValueError:  # it stops at the first value that is not finite
            return np.full_like(start, np.nan)

    def exact(constants: Any) -> bool:
        return bool(np.allclose(constants, true, rtol=1e-4, atol=1e-8))

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return {
            "what": "fit",
            "problem": problem.name,
            "seed": seed,
            "constants": len(true),
            "linear": len(compile_expression(formula).linear),
            "seconds": seconds(ours, 20),
            "scipy_seconds": seconds(theirs, 5),
            "found": exact(ours()),
            "scipy_found": exact(theirs()),
        }


def run() -> Iterator[dict[str, Any]]:
    made_by = record.provenance()
    problems = load()
    settings = {"rows": ROWS, "perturbation": PERTURBATION}
    for i, problem in enumerate(problems):
        print(f"\r{i + 1}/{len(problems)} {problem.name:20}", end="", file=sys.stderr, flush=True)
        yield canonical_form(problem) | made_by
        for seed in range(SEEDS):
            yield fit(problem, seed) | made_by | {"settings": settings}
    print(file=sys.stderr)


def summary(rows: list[dict[str, Any]]) -> str:
    forms = [row for row in rows if row["what"] == "canonical form"]
    fits = [row for row in rows if row["what"] == "fit"]
    faster = [row["sympy_seconds"] / row["seconds"] for row in forms]
    total = sum(r["sympy_seconds"] for r in forms) / sum(r["seconds"] for r in forms)
    ratios = np.array([row["scipy_seconds"] / row["seconds"] for row in fits])
    linear = np.array([row["linear"] == row["constants"] for row in fits])
    lines = [
        f"| canonical form against `sympy.simplify`, {len(forms)} formulas | {np.median(faster):.0f}x (median), "
        f"{total:.0f}x (all together), {min(faster):.0f}x (least) |",
        f"| ... of which equal in value | {sum(r['equal_values'] for r in forms)} |",
        f"| ... median time | {1e6 * np.median([r['seconds'] for r in forms]):.0f} µs |",
        f"| fit of five constants against `scipy.optimize.least_squares`, {len(fits)} fits | "
        f"{np.median(ratios):.1f}x (median); linear in all constants {np.median(ratios[linear]):.1f}x, "
        f"others {np.median(ratios[~linear]):.1f}x |",
        f"| ... that found the true constants | {sum(r['found'] for r in fits)}, "
        f"scipy {sum(r['scipy_found'] for r in fits)} |",
        f"| ... median time | {1e6 * np.median([r['seconds'] for r in fits]):.0f} µs |",
    ]
    head = f"| measured at commit {rows[0]['commit']} | |\n|---|---|\n"
    return head + "\n".join(lines)


if __name__ == "__main__":
    if "--table" not in sys.argv:
        record.write("core", list(run()))
    print(summary(record.read("core")))
