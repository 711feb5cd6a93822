"""Operon (pyoperon): genetic programming with a local search of the constants.

The choice from its front is by BIC, one of its own criteria, since its default depends on the target's unit
(`operon_mdl`).
"""

import numpy as np
from pyoperon.sklearn import SymbolicRegressor

from prunesymnet.data import Dataset
from prunesymnet.expression import Expression, parse

SYMBOLS = "add,sub,mul,div,sin,cos,exp,log,square,sqrt,constant,variable"


def fit(data: Dataset, seconds: float, seed: int) -> Expression:
    return evolve(data, seconds, seed, "bayesian_information_criterion")


def evolve(data: Dataset, seconds: float, seed: int, criterion: str) -> Expression:
    model = SymbolicRegressor(
        allowed_symbols=SYMBOLS,
        objectives=["r2", "length"],
        optimizer_iterations=10,
        epsilon=1e-10,
        model_selection_criterion=criterion,
        generations=10**6,  # the time decides
        max_evaluations=10**9,
        max_time=max(round(seconds), 1),
        n_threads=1,
        random_state=seed + 1,  # 0 draws a seed
    )
    model.fit(np.array(data.X), np.array(data.y))  # it refuses arrays that may not be written to
    return parse(model.get_model_string(model.model_, 17, list(data.names)), variables=data.names)
