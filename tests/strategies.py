"""Random expressions for the property tests."""

from hypothesis import strategies as st

from prunesymnet.expression import Apply, Constant, Variable
from prunesymnet.operators import OPERATORS

UNARY = [row for row in OPERATORS.values() if row.arity == 1]
BINARY = [row for row in OPERATORS.values() if row.arity == 2]
NAMES = ("x", "y", "z")

floats = st.floats(0.05, 20.0).flatmap(lambda v: st.sampled_from([v, -v]))
integers = st.integers(-6, 6)
leaf = st.one_of(
    st.sampled_from(NAMES).map(Variable),
    st.sampled_from(NAMES).map(Variable),
    integers.map(Constant),
    floats.map(Constant),
    st.just(Apply(OPERATORS["pi"], ())),
)


def expressions(operators=None, max_leaves=8, leaves=leaf):
    """Trees of any of the shipped operators (or of those named)."""
    unary = [r for r in UNARY if operators is None or r.name in operators]
    binary = [r for r in BINARY if operators is None or r.name in operators]

    def extend(children):
        kinds = []
        if unary:
            kinds.append(st.builds(lambda op, a: Apply(op, (a,)), st.sampled_from(unary), children))
        if binary:
            kinds.append(
                st.builds(lambda op, a, b: Apply(op, (a, b)), st.sampled_from(binary), children, children)
            )
        return st.one_of(*kinds)

    return st.recursive(leaves, extend, max_leaves=max_leaves)
