"""Functions that onnxruntime lacks in double precision on CPUs, computed by nodes that it has.

Each is as exact as rounding allows. `op` makes nodes, ``op.Sin(a)``, whose values add and multiply as numbers do
(`export.onnx` has it); nothing here needs the package onnx.
"""

import math
from typing import Any

import numpy as np

_POINTS = 24  # of an integral: they leave an error of 2e-15 in erf, rounding's size
_ERF_IS_ONE = 6.0  # from here on, erf is 1 in double precision
_LARGE = 1e100  # its square is a number, and the angle of a slope beyond it is a right one


def cos(op: Any, a: Any) -> Any:
    # Other than sin(a + pi/2), it is off by no more than a rounding of 1 however large a is.
    sine = op.Sin(0.5 * a)
    return 1.0 - 2.0 * (sine * sine)


def cosh(op: Any, a: Any) -> Any:
    return 0.5 * (op.Exp(a) + op.Exp(-a))


def asin(op: Any, a: Any) -> Any:
    return _angle(op, a, op.Sqrt((1.0 - a) * (1.0 + a)))


def acos(op: Any, a: Any) -> Any:
    # Half the angle lies in the first quadrant, where `_angle` is at home.
    return 2.0 * _angle(op, op.Sqrt(0.5 * (1.0 - a)), op.Sqrt(0.5 * (1.0 + a)))


def atan(op: Any, a: Any) -> Any:
    slope = op.Max(op.Min(a, _LARGE), -_LARGE)
    cosine = 1.0 / op.Sqrt(1.0 + slope * slope)
    return _angle(op, slope * cosine, cosine)


def _angle(op: Any, sine: Any, cosine: Any) -> Any:
    """The angle, at most a right one, whose sine and cosine these are."""
    tangent = sine / (1.0 + cosine)  # of half the angle; this approximation of its arctangent is off by 0.004
    angle = tangent * (math.pi / 2 + 0.546 * (1.0 - op.Abs(tangent)))
    for _ in range(2):  # adding the sine of what is missing leaves a sixth of its cube: 1e-7, then nothing
        angle = angle + (sine * cos(op, angle) - cosine * op.Sin(angle))
    return angle


def erf(op: Any, a: Any) -> Any:
    """2/sqrt(pi) times the integral of exp(-t**2) from 0 to a, by Gauss and Legendre's rule."""
    points, shares = np.polynomial.legendre.leggauss(_POINTS)  # from -1 to 1
    end = op.Max(op.Min(a, _ERF_IS_ONE), -_ERF_IS_ONE)
    squares = op.Unsqueeze(end * end, op.whole_numbers([-1]))
    terms = op.Exp(squares * op.numbers(-((points + 1) ** 2) / 4))
    return end * op.MatMul(terms, op.numbers(shares / math.sqrt(math.pi)))
