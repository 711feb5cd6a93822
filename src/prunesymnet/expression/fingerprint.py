"""A short key that formulas of equal value share: their values on fixed probe points, rounded and hashed.

>>> from prunesymnet.expression.parsing import parse
>>> fingerprint(parse("x*(x + 1)")) == fingerprint(parse("x**2 + x"))
True
>>> fingerprint(parse("sqrt(x**2)")) == fingerprint(parse("x"))
False

Each variable has the same probe points in every formula, drawn from its name: some near 1 and some far
out, of both signs. The values are those of the canonical form, so that a domain which only the way of
writing narrows (``sqrt(x)**2``) does not count. The cost is one canonical form and one evaluation.
"""

import hashlib
import zlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression.canonical import canonical
from prunesymnet.expression.program import compile_expression
from prunesymnet.expression.tree import Expression

POINTS = 24  # at which formulas are compared: that many agree by chance never
DIGITS = 9  # of the values that count: rounding errors are far below, what tells formulas apart far above


def fingerprint(expression: Expression) -> str:
    """Sixteen hexadecimal digits that formulas with the same values share, in every process and on every machine of one
    float format."""
    columns = {name: _probe(name) for name in expression.variables} or {"": np.zeros(POINTS)}
    return hash_values(compile_expression(canonical(expression)).values(columns))


def hash_values(values: NDArray[np.float64]) -> str:
    """The key of a vector of values: rounded to nine digits, relative to each value."""
    finite = np.isfinite(values) & (np.abs(values) > 1e-250)
    safe = np.where(finite, values, 1.0)
    exponent = np.floor(np.log10(np.abs(safe)))
    # Mantissa and exponent apart; a value that rounds up to the next power of ten must carry over.
    mantissa = np.round(safe / 10.0**exponent * 10.0 ** (DIGITS - 1))
    carried = np.abs(mantissa) >= 10.0**DIGITS
    mantissa = np.where(carried, np.sign(mantissa) * 10.0 ** (DIGITS - 1), mantissa)
    exponent = exponent + carried
    code = np.where(finite, mantissa, 0.0).astype(np.int64), np.where(finite, exponent, 0.0).astype(np.int64)
    kind = np.where(np.isnan(values), 1, np.where(np.isinf(values), 2, 0)).astype(np.int64)
    return hashlib.blake2b(np.concatenate([*code, kind]).tobytes(), digest_size=8).hexdigest()


@lru_cache(maxsize=1024)
def _probe(name: str) -> NDArray[np.float64]:
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    size = rng.uniform(0.3, 3.0, POINTS)
    size[POINTS // 2 :] *= 4.0
    # Half of the points have every variable positive: most formulas are defined there.
    sign = np.where(np.arange(POINTS) % 2 == 0, 1.0, rng.choice([-1.0, 1.0], POINTS))
    probe = size * sign
    probe.flags.writeable = False
    return probe
