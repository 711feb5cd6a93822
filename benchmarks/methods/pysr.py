"""PySR: genetic programming in Julia, its own choice of the front. Needs Julia, so it runs where that is."""

import tempfile

from pysr import PySRRegressor

from prunesymnet.data import Dataset
from prunesymnet.expression import Expression, Variable, parse


def fit(data: Dataset, seconds: float, seed: int) -> Expression:
    columns = {f"x{i}": Variable(name) for i, name in enumerate(data.names)}  # some names are words of sympy
    with tempfile.TemporaryDirectory() as folder:
        model = PySRRegressor(
            binary_operators=["+", "-", "*", "/"],
            unary_operators=["sin", "cos", "exp", "log", "sqrt", "square"],
            niterations=10**6,  # the time decides
            timeout_in_seconds=seconds,
            early_stop_condition=1e-20,
            parallelism="serial",
            deterministic=True,
            random_state=seed,
            precision=64,
            progress=False,
            verbosity=0,
            output_directory=folder,
            temp_equation_file=True,
        )
        model.fit(data.X, data.y, variable_names=list(columns))
        return parse(str(model.get_best()["equation"]).replace("^", "**"), variables=columns).substitute(columns)
