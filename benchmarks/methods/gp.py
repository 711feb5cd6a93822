"""gplearn: plain genetic programming, generation by generation until the time is up or the fit is exact.

As it comes, with a penalty for length in the target's own unit, and the best of the last generation as the answer.
"""

import time
import warnings
from typing import Any

import numpy as np
from gplearn.functions import make_function
from gplearn.genetic import SymbolicRegressor

from prunesymnet.data import Dataset
from prunesymnet.expression import Constant, Expression, Variable, apply

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


def _exp(values: Any) -> Any:
    with np.errstate(over="ignore"):
        return np.exp(np.minimum(values, 100.0))


def fit(data: Dataset, seconds: float, seed: int) -> Expression:
    functions = [
        *("add", "sub", "mul", "div", "sin", "cos", "log", "sqrt"),
        make_function(function=_exp, name="exp", arity=1, wrap=False),
        make_function(function=np.square, name="square", arity=1, wrap=False),
    ]
    deadline = time.monotonic() + seconds
    model = SymbolicRegressor(
        population_size=1000, generations=1, function_set=functions, const_range=(-5.0, 5.0), metric="mse",
        warm_start=True, random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        while True:
            model.fit(data.X, data.y)
            last = time.monotonic()
            taken = model.run_details_["generation_time"][-1]
            if last + taken > deadline or model._program.raw_fitness_ < EXACT * np.var(data.y):
                return tree(model._program.program, data.names)
            model.set_params(generations=model.generations + 1)


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
