"""gplearn: plain genetic programming, generation by generation until the time is up or the fit is exact.

`fit` is gplearn as it comes, with a penalty for length in the target's own unit, and the best of the last generation as
the answer. `gp_tuned.py` has settings that were chosen on random formulas.
"""

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from gplearn.functions import make_function
from gplearn.genetic import SymbolicRegressor

from prunesymnet.data import Dataset
from prunesymnet.expression import Constant, Expression, Variable, apply, evaluate

# Its logarithm and root are those of |u|; what it calls protected we write out, but for the division near 0.
FORMS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "sin": lambda a: apply("sin", a),
    "cos": lambda a: apply("cos", a),
    "exp": lambda a: apply("exp", a),
    "log": lambda a: apply("log", apply("abs", a)),
    "sqrt": lambda a: apply("sqrt", apply("abs", a)),
    "square": lambda a: apply("square", a),
}
EXACT = 1e-12  # mean squared error, relative to the target's variance


@dataclass(frozen=True)
class Settings:
    """Those of gplearn that we set; the values here are its own. `parsimony`: the cost of a node, in the target's own
    unit squared, or in its variance if `relative`; in `correlation`, the fitness is Pearson's, and the formula that has
    most of it gets a slope and an offset by least squares."""

    population: int = 1000
    tournament: int = 20
    parsimony: float = 0.001
    relative: bool = False
    correlation: bool = False
    crossover: float = 0.9  # the rest is mutation: of a subtree, of a point, or to a smaller tree, in equal parts
    deepest: int = 6  # tree of the first generation


def fit(data: Dataset, seconds: float, seed: int) -> Expression:
    return evolve(data, seconds, seed, Settings())


def evolve(data: Dataset, seconds: float, seed: int, settings: Settings, clock: Any = time.monotonic) -> Expression:
    functions = [
        *("add", "sub", "mul", "div", "sin", "cos", "log", "sqrt"),
        make_function(function=_exp, name="exp", arity=1, wrap=False),
        make_function(function=np.square, name="square", arity=1, wrap=False),
    ]
    variance = float(np.var(data.y))
    mutation = {
        f"p_{kind}_mutation": (1 - settings.crossover) / 3 - 1e-9 for kind in ("subtree", "point", "hoist")
    }  # below 1 together, whatever the rounding
    deadline = clock() + seconds
    model = SymbolicRegressor(
        population_size=settings.population, tournament_size=settings.tournament, generations=1,
        function_set=functions, const_range=(-5.0, 5.0), metric="pearson" if settings.correlation else "mse",
        parsimony_coefficient=settings.parsimony * (variance if settings.relative else 1.0),
        p_crossover=settings.crossover, init_depth=(2, settings.deepest), warm_start=True, random_state=seed,
        **({} if settings.crossover == Settings.crossover else mutation),
    )  # fmt: skip
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        while True:
            began = clock()
            model.fit(data.X, data.y)
            now = clock()
            fitness = model._program.raw_fitness_
            exact = 1 - fitness < EXACT if settings.correlation else fitness < EXACT * variance
            if exact or 2 * now - began > deadline:
                found = tree(model._program.program, data.names)
                return scaled(found, data) if settings.correlation else found
            model.set_params(generations=model.generations + 1)


def _exp(values: Any) -> Any:
    with np.errstate(over="ignore"):
        return np.exp(np.minimum(values, 100.0))


def scaled(found: Expression, data: Dataset) -> Expression:
    """With the slope and the offset of least squares."""
    values, finite = evaluate(found, data.columns)
    if not finite.all() or np.ptp(values) == 0:
        return found
    slope, offset = np.polyfit(values, data.y, 1)
    return Constant(float(offset)) + Constant(float(slope)) * found


def tree(program: list[Any], names: tuple[str, ...]) -> Expression:
    """From its prefix order: functions, numbers of columns, floats."""
    stack: list[Expression] = []
    for node in reversed(program):
        if isinstance(node, int | np.integer):
            stack.append(Variable(names[int(node)]))
        elif isinstance(node, float):
            stack.append(Constant(float(node)))
        else:
            operands = [stack.pop() for _ in range(node.arity)]
            stack.append(FORMS[node.name](*operands))
    return stack[0]
