"""A reduction: what of the target depends on fewer quantities than there are columns, with the evidence for it.

>>> from prunesymnet.expression import parse
>>> print(Reduction(parse("period/sqrt(l)"), (parse("theta"),), unexplained=3.14e-6, second=0.04))
period/sqrt(l) depends on theta only; unexplained 3e-06
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from prunesymnet.expression import Expression, Variable, canonical, to_text

TARGET = "_target_"  # stands for the target until its name is known; no column is called so
DIGITS = 4  # of exponents and constants in a sentence


@dataclass(frozen=True)
class Reduction:
    """`quantity`, made of the target and the columns, depends on the `groups` only, but for a share `unexplained` of
    the target's variation; the next best groups leave a share `second` of what no group explains. With `product`, it is
    a function of the one group times a function of the other."""

    quantity: Expression
    groups: tuple[Expression, ...]
    unexplained: float
    second: float
    product: bool = False

    def __str__(self) -> str:
        what, *groups = (to_text(formula, digits=DIGITS) for formula in (self.quantity, *self.groups))
        if self.product:
            said = f"{what} is a function of {' times a function of '.join(groups)}"
        else:
            said = f"{what} depends on {' and '.join(groups)} only"
        return f"{said}; unexplained {max(self.unexplained, 0.0):.0e}"

    def mapped(self, change: Callable[[Expression], Expression]) -> "Reduction":
        """With its formulas changed."""
        return replace(self, quantity=change(self.quantity), groups=tuple(map(change, self.groups)))

    def inside(self, outer: "Reduction", names: Mapping[str, Expression]) -> "Reduction":
        """A reduction of what another one has left, in terms of the table; `names` are the other's groups."""
        return self.mapped(lambda formula: canonical(formula.substitute({TARGET: outer.quantity, **names})))

    def of(self, target: str) -> "Reduction":
        """With the target's name."""
        return self.mapped(lambda formula: canonical(formula.substitute({TARGET: Variable(target)})))
