"""Operators as nodes of a network, kept finite whatever comes in, with gradients that do not vanish.

Where a product, a quotient, an exponential or a square would grow beyond its limit, it is scaled down to it by
a factor that the gradient takes for a constant: the gradient shrinks and does not vanish. Wherever no limit is
reached, the values are the table's, except for ``log``, which is log|u|.

A protected form takes a library (`xp`, numpy or torch) and the operands, and gives the value, the partial derivatives,
and the factor, which is below 1 where a limit was reached (None: it has no limit).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from prunesymnet.operators.operator import Operator

# Below the square root of what float32 holds, so that a square of it is a number; quotients explode more easily.
LARGEST_PRODUCT, LARGEST_QUOTIENT = 1e8, 1e4
LARGEST_EXPONENT = 17.0  # exp(17) is 2e7, near the largest product
SMALLEST = 1e-10  # of a denominator, and of what a logarithm is taken of
STEEPEST = 1e6  # of a partial derivative: beyond it lies a pole
INFINITE = 1e30  # stands for an infinity in the value of an operator: float32 holds it

Protected = Callable[..., tuple[Any, list[Any], Any]]


def protected_form(row: Operator) -> Protected:
    """The protected form of an operator: its own, or its plain one with value and derivatives kept within limits."""
    if row.protected is not None:
        return row.protected

    def protected(xp: Any, *operands: Any) -> tuple[Any, list[Any], Any]:
        with np.errstate(all="ignore"):
            value, *slopes = _by_table(row, *operands) if xp is np else _by_autograd(row, *operands)
            value, *slopes = (xp.nan_to_num(v, nan=0.0, posinf=INFINITE, neginf=-INFINITE) for v in (value, *slopes))
            factor = held(xp, abs(value), LARGEST_PRODUCT)
            return value * factor, [_not_too_steep(xp, slope * factor) for slope in slopes], factor

    return protected


def _by_table(row: Operator, *operands: Any) -> list[Any]:
    """The value and the derivatives as the table has them."""
    value = np.asarray(row.numpy(*operands))
    slopes = [p if isinstance(p, float) else p(value, *operands) for p in row.partials]
    return [value, *(np.broadcast_to(np.asarray(slope, dtype=value.dtype), value.shape) for slope in slopes)]


def _by_autograd(row: Operator, *operands: Any) -> list[Any]:
    import torch

    with torch.enable_grad():
        leaves = [operand.detach().requires_grad_() for operand in operands]
        value = row.torch(torch, *leaves)
        flows = value.requires_grad  # a form that leaves torch on the way has no gradient to give
        slopes = torch.autograd.grad(value.sum(), leaves, allow_unused=True) if flows else [None] * len(leaves)
    return [value.detach(), *(torch.zeros_like(value) if slope is None else slope for slope in slopes)]


def held(xp: Any, size: Any, limit: float) -> Any:
    """The factor that brings a value of this size down to the limit."""
    factor = limit / size
    return np.minimum(factor, 1.0) if xp is np else factor.clamp_(max=1.0)


def within(xp: Any, values: Any, limit: float) -> Any:
    if xp is np:  # np.clip takes three times as long
        return np.maximum(np.minimum(values, limit), -limit)
    return values.clamp(-limit, limit)


def _not_too_steep(xp: Any, slope: Any) -> Any:
    return within(xp, slope, STEEPEST)


# ---- the operators that need more than that, or less: a call saved counts where networks are trained ----


def add(xp: Any, a: Any, b: Any) -> tuple[Any, list[Any], None]:
    return a + b, [1.0, 1.0], None


def subtract(xp: Any, a: Any, b: Any) -> tuple[Any, list[Any], None]:
    return a - b, [1.0, -1.0], None


def negative(xp: Any, u: Any) -> tuple[Any, list[Any], None]:
    return -u, [-1.0], None


def absolute(xp: Any, u: Any) -> tuple[Any, list[Any], None]:
    return abs(u), [xp.sign(u)], None


def product(xp: Any, a: Any, b: Any) -> tuple[Any, list[Any], Any]:
    value = a * b
    factor = held(xp, abs(value), LARGEST_PRODUCT)
    return value * factor, [b * factor, a * factor], factor


def quotient(xp: Any, a: Any, b: Any) -> tuple[Any, list[Any], Any]:
    inverse = 1.0 / xp.where(abs(b) < SMALLEST, SMALLEST, b)
    value = a * inverse
    factor = held(xp, abs(value), LARGEST_QUOTIENT)
    scaled = value * factor
    return scaled, [_not_too_steep(xp, inverse * factor), _not_too_steep(xp, -scaled * inverse)], factor


def reciprocal(xp: Any, u: Any) -> tuple[Any, list[Any], Any]:
    value, (_, slope), factor = quotient(xp, xp.ones_like(u), u)
    return value, [slope], factor


def square(xp: Any, u: Any) -> tuple[Any, list[Any], Any]:
    value = u * u
    factor = held(xp, value, LARGEST_PRODUCT)
    return value * factor, [2 * u * factor], factor


def cube(xp: Any, u: Any) -> tuple[Any, list[Any], Any]:
    squared = u * u
    value = squared * u
    factor = held(xp, abs(value), LARGEST_PRODUCT)
    return value * factor, [3 * squared * factor], factor


def sin(xp: Any, u: Any) -> tuple[Any, list[Any], None]:
    return xp.sin(u), [xp.cos(u)], None


def cos(xp: Any, u: Any) -> tuple[Any, list[Any], None]:
    return xp.cos(u), [-xp.sin(u)], None


def tanh(xp: Any, u: Any) -> tuple[Any, list[Any], None]:
    value = xp.tanh(u)
    return value, [1 - value * value], None


def exp(xp: Any, u: Any) -> tuple[Any, list[Any], Any]:
    factor = xp.where(u > LARGEST_EXPONENT, LARGEST_EXPONENT / u, 1.0)
    value = xp.exp(u * factor)
    return value, [value * factor], factor


def log(xp: Any, u: Any) -> tuple[Any, list[Any], None]:
    size = xp.clip(abs(u), SMALLEST, None)
    return xp.log(size), [_not_too_steep(xp, xp.sign(u) / size)], None


def sqrt(xp: Any, u: Any) -> tuple[Any, list[Any], None]:
    root = xp.sqrt(xp.clip(u, 0.0, None))
    return root, [xp.where(u > 0, _not_too_steep(xp, 0.5 / xp.clip(root, SMALLEST, None)), 0.0)], None


def asin(xp: Any, u: Any) -> tuple[Any, list[Any], None]:
    """Beyond -1 and 1 it stays what it is there: a jump to 0 would be a step that no gradient leads over."""
    inside = xp.clip(u, -1.0, 1.0)
    slope = _not_too_steep(xp, 1.0 / xp.sqrt((1.0 - inside) * (1.0 + inside)))
    return xp.arcsin(inside), [xp.where(abs(u) > 1, 0.0, slope)], None


def acos(xp: Any, u: Any) -> tuple[Any, list[Any], None]:
    value, (slope,), _ = asin(xp, u)
    return xp.pi / 2 - value, [-slope], None
