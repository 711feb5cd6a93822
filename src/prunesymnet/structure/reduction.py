"""A reduction: what of the target depends on fewer quantities than there are columns, with the evidence for it.

>>> from prunesymnet.expression import parse
>>> print(Reduction(parse("period/sqrt(l)"), (parse("theta"),), unexplained=3.14e-6, second=0.04))
period/sqrt(l) depends on theta only; unexplained 3e-06
>>> print(Reduction(parse("crop"), (parse("x"), parse("z"), parse("u")), unexplained=2e-3, second=0.04, sizes=(2, 1)))
crop is a function of x and z plus a function of u; unexplained 2e-03
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate

from prunesymnet.expression import Expression, Variable, canonical, to_text

TARGET = "_target_"  # stands for the target until its name is known; no column is called so
DIGITS = 4  # of exponents and constants in a sentence
TIMES, PLUS = "times", "plus"


@dataclass(frozen=True)
class Reduction:
    """`quantity`, made of the target and the columns, depends on the `groups` only, but for a share `unexplained` of
    the target's variation; the next best groups leave a share `second` of what no group explains. With `product`, it is
    a function of the one group times a function of the other.

    With `sizes`, it is a sum of functions (with `product`, a product of them): the first is one of the first so many
    groups, and so on. `unexplained` is then of rows that are predicted from all others, and `second` the same of one
    function of all groups."""

    quantity: Expression
    groups: tuple[Expression, ...]
    unexplained: float
    second: float
    product: bool = False
    sizes: tuple[int, ...] = ()

    @property
    def parts(self) -> tuple[tuple[Expression, ...], ...]:
        """What each function is one of: all groups where there is one function."""
        sizes = self.sizes or ((1,) * len(self.groups) if self.product else (len(self.groups),))
        ends = list(accumulate(sizes))
        return tuple(self.groups[end - size : end] for end, size in zip(ends, sizes, strict=True))

    def __str__(self) -> str:
        what = to_text(self.quantity, digits=DIGITS)
        parts = [_listed([to_text(group, digits=DIGITS) for group in part]) for part in self.parts]
        if len(parts) > 1:
            said = f"{what} is a function of {f' {TIMES if self.product else PLUS} a function of '.join(parts)}"
        else:
            said = f"{what} depends on {parts[0]} only"
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


def _listed(texts: list[str]) -> str:
    """As in a sentence: a, b and c."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
