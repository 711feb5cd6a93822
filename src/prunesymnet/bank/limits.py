"""What a node of a bank may not have in it: rules of the user that no formula made of the node could keep either.

A node that breaks one is never made, so that a bank of the same size has more of what is allowed. Rules are looked at
here as far as they are about functions, such as sin and exp: sums, products and powers are written in another way when
a formula is simplified, and are looked at there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from prunesymnet.operators import Operator

Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

REWRITTEN = ("+", "-", "*", "/", "pow", "square", "cube", "sqrt", "inv", "neg", "id")  # when a formula is simplified
SHORTER = 2  # times as complex as its simplified form a node may be: x*x is x**2


@dataclass(frozen=True)
class NodeLimits:
    """`costs` of operators in place of the table's; `max_uses` of an operator; `max_nested`, by outer and inner
    operator; `max_argument`, the largest complexity of what an operator is applied to."""

    costs: Mapping[str, int] = field(default_factory=dict)
    max_uses: Mapping[str, int] = field(default_factory=dict)
    max_nested: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    max_argument: Mapping[str, int] = field(default_factory=dict)

    def cost(self, operator: Operator) -> int:
        return max(self.costs.get(operator.name, operator.cost), 1)  # of 0, it would have to be applied without end

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """The functions that are counted in every node."""
        inner = {name for counts in self.max_nested.values() for name in counts}
        return tuple(sorted({*self.max_uses, *inner} - {*REWRITTEN}))

    def counts(self, operator: Operator) -> Index:
        """One for the function that it is, of those that are counted."""
        return np.array([name == operator.name for name in self.counted], dtype=np.int64)

    def allow(self, operator: Operator, uses: Index, depths: Index, complexity: Index) -> Mask:
        """Which nodes may be made by an operator: `uses` [nodes, counted] are those of both operands together, `depths`
        how many stand one inside the other in either, `complexity` that of the more complex operand."""
        fine = np.ones(len(uses), dtype=bool)
        after = uses + self.counts(operator)
        for k, name in enumerate(self.counted):
            if name in self.max_uses:
                fine &= after[:, k] <= self.max_uses[name]
        if operator.name in REWRITTEN:
            return fine
        for name, most in self.max_nested.get(operator.name, {}).items():
            if name in self.counted:
                fine &= depths[:, self.counted.index(name)] <= most
        if operator.name in self.max_argument:
            fine &= complexity <= SHORTER * self.max_argument[operator.name]
        return fine
