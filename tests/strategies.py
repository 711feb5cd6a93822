"""Random expressions for the property tests."""

from hypothesis import strategies as st

from prunesymnet.expression import Apply, Constant, Variable
from prunesymnet.operators import OPERATORS

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
# Any leaf that a tree may hold: for what must hold of structure, whatever its value.
odd_leaf = st.one_of(
    leaf,
    st.floats(allow_nan=False, allow_infinity=False).map(Constant),
    st.integers(-(2**53), 2**53).map(Constant),
    st.sampled_from(["_", "x1", "Größe", "λ", "e", "e1", "E5", "lambda_", "द्रव्यमान"]).map(Variable),
)


def expressions(operators=None, max_leaves=8, leaves=leaf, extra=()):
    """Trees of any of the shipped operators (or of those named), and of `extra` rows."""
    rows = [row for row in OPERATORS.values() if operators is None or row.name in operators]
    unary = [row for row in (*rows, *extra) if row.arity == 1]
    binary = [row for row in (*rows, *extra) if row.arity == 2]

    def extend(children):
        kinds = []
        if unary:
            kinds.append(st.builds(lambda op, a: Apply(op, (a,)), st.sampled_from(unary), children))
        if binary:
            kinds.append(st.builds(lambda op, a, b: Apply(op, (a, b)), st.sampled_from(binary), children, children))
        return st.one_of(*kinds)

    return st.recursive(leaves, extend, max_leaves=max_leaves)
