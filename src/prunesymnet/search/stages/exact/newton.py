"""Newton's method for many constants at once, each of which begins at a point of a grid.

>>> def left_of_root(inside):
...     return np.abs(inside**2 - 2), (2 - inside**2) / (2 * inside)
>>> constants, left = refined(np.array([1.0, 2.0]), left_of_root)
>>> print(constants.round(9), (left < 1e-9).all())
[1.41421356 1.41421356] True
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEPS = 12  # from a point of the grid: the digits double in each, once it is near
STEPS_TO_TELL = 9  # after which one must be near, or no constant is right


def refined(
    inside: Array,
    look: Callable[[Array], tuple[Array, Array]],
    within: Callable[[Array], Array] = lambda inside: inside,
    near: float = np.inf,
) -> tuple[Array, Array]:
    """The constants, and what is left there. `look` says what is left at some, and the steps from there on; it is gone
    half as far as long as more is left than before. `within` keeps them where they may be. If none leaves less than
    `near` in time, the last steps are not taken."""
    best, step = np.full(len(inside), np.inf), np.zeros(len(inside))
    for number in range(STEPS):
        trial = within(inside + step)
        left, newton = look(trial)
        better = left < best
        inside, best = np.where(better, trial, inside), np.where(better, left, best)
        step = np.where(better, newton, step / 2)
        if number >= STEPS_TO_TELL and not (best < near).any():
            break
    return inside, best
