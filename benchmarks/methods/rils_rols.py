"""RILS-ROLS (rils-rols): iterated local search over forms, ordinary least squares for their constants.

Its operators are fixed, and are ours. It does not stop when a fit is exact, looks at the clock once a second
or so, and writes its constants with six decimals. Its C++ part is called as its Python class does, without the
`sympy.simplify` at the end: we have a canonical form of our own for everyone.
"""

import numpy as np
import rils_rols_cpp

from prunesymnet.data import Dataset
from prunesymnet.expression import Expression, Variable, parse

# Its own defaults: the weight of a formula's size, the size it may have, and the part of the rows it looks at.
PENALTY, LARGEST, SAMPLE = 0.001, 50, 1.0


def fit(data: Dataset, seconds: float, seed: int) -> Expression:
    # It ends up to a second after its limit, which is a whole number.
    search = rils_rols_cpp.rils_rols(False, 10**9, max(round(seconds) - 1, 1), PENALTY, LARGEST, SAMPLE, False, seed)
    search.fit(np.array(data.X, order="C").reshape(-1, 1), np.array(data.y), data.rows, data.features)
    return read(search.get_model_string(), data.names)


def read(text: str, names: tuple[str, ...]) -> Expression:
    """Its formula, whose variables are x0, x1, ..., in ours."""
    columns = {f"x{i}": Variable(name) for i, name in enumerate(names)}
    return parse(text.replace("ln(", "log("), variables=columns).substitute(columns)
