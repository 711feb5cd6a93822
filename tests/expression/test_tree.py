"""Trees: what they are made of, what they refuse, and that nothing about them depends on how deep they are."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.export.latex import to_latex
from prunesymnet.export.python import to_python
from prunesymnet.expression import (
    Apply,
    Constant,
    Expression,
    Variable,
    apply,
    compile_expression,
    evaluate,
    fold,
    parse,
    postorder,
)
from prunesymnet.expression.tree import as_expression, is_free, leaves, power, transform
from prunesymnet.operators import OPERATORS
from strategies import NAMES, expressions, odd_leaf

x, y = Variable("x"), Variable("y")
trees = expressions(leaves=odd_leaf)


def rebuilt(tree):
    """The same tree of new nodes."""

    def leaf(node):
        return Variable(node.name) if isinstance(node, Variable) else Constant(node.value)

    return fold(tree, leaf, Apply)


# Immutable, and equal by structure


@pytest.mark.parametrize("node", [Constant(1), Constant(0.5), x, x + 1, apply("pi")], ids=str)
def test_nodes_cannot_be_changed(node):
    before = (str(node), hash(node), node.complexity)
    for name in ["value", "name", "operator", "operands", "complexity", "_hash", "new"]:
        with pytest.raises(AttributeError, match="immutable"):
            setattr(node, name, 3)
        with pytest.raises(AttributeError, match="immutable"):
            delattr(node, name)
    assert not hasattr(node, "__dict__")
    assert (str(node), hash(node), node.complexity) == before


@given(trees)
def test_equality_hash_and_copies_are_by_structure(tree):
    for again in (
        rebuilt(tree),
        copy.copy(tree),
        copy.deepcopy(tree),
        *(pickle.loads(pickle.dumps(tree, protocol)) for protocol in (0, 2, 5)),  # noqa: S301
    ):
        assert again == tree
        assert hash(again) == hash(tree)
        assert (again.complexity, again.size, str(again)) == (tree.complexity, tree.size, str(tree))
        assert [node.label for node in postorder(again)] == [node.label for node in postorder(tree)]
    assert {tree: 1}[rebuilt(tree)] == 1


@given(trees, trees)
def test_trees_are_equal_when_their_texts_are(one, other):
    assert (one == other) == (str(one) == str(other))
    assert (one != other) == (str(one) != str(other))


@given(trees, st.data())
def test_one_leaf_makes_a_difference(tree, data):
    where = data.draw(st.integers(0, len(list(leaves(tree))) - 1)) if list(leaves(tree)) else None
    if where is None:
        return
    places = iter(range(tree.size))
    other = transform(tree, lambda node: Variable("q") if next(places) == where else node)
    assert other != tree
    assert other.variables == tuple(sorted({"q", *other.variables}))


def test_what_is_different():
    different = [
        Constant(1), Constant(1.0), Constant(-1), Constant(0), Constant(0.0), Constant(-0.0), x, y, Variable("x1"),
        x + y, y + x, x - y, x * y, x / y, -x, x**2, apply("pow", x, 2), x**2.0, x**3, apply("id", x),
        (x + y) + x, x + (y + x), apply("pi"), apply("sin", x), apply("sin", y),
    ]  # fmt: skip
    assert len(set(different)) == len(different)
    assert all((a == b) == (i == j) for i, a in enumerate(different) for j, b in enumerate(different))
    assert Constant(1) != 1
    assert x != "x"
    assert x is not None


# Building


def test_arithmetic_builds_trees():
    assert x + 1 == Apply(OPERATORS["+"], (x, Constant(1)))
    for built, text in [
        (1 + x, "1 + x"), (x - 0.5, "x - 0.5"), (1 - x, "1 - x"), (x * y, "x*y"), (2 * x, "2*x"),
        (x / 2, "x/2"), (1 / x, "1/x"), (-x, "-x"), (x**2, "x**2"), (x**3, "x**3"), (x**4, "x**4"),
        (x**0.5, "x**0.5"), (2**x, "2**x"), (x**y, "x**y"), (np.float64(2.5) * x, "2.5*x"),
        (x * np.float64(2.5), "x*2.5"),
    ]:  # fmt: skip
        assert isinstance(built, Expression)
        assert built == parse(text)


def test_powers_have_one_form():
    assert power(x, Constant(2)) == apply("square", x) == x**2
    assert power(x, Constant(3)) == apply("cube", x) == x**3
    assert power(x, Constant(2.0)) == apply("pow", x, 2.0)
    assert power(x, Constant(4)) == apply("pow", x, 4)


def test_nothing_is_simplified():
    assert str(x + 0) == "x + 0"
    assert str(1 * x * 1) == "1*x*1"
    assert str(x - x) == "x - x"


def test_a_numpy_float_becomes_a_float():
    constant = Constant(np.float64(0.1))
    assert type(constant.value) is float
    assert str(constant) == "0.1"
    assert constant == Constant(0.1)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_constants_are_finite(value):
    with pytest.raises(ValueError, match="a constant must be finite, got"):
        Constant(value)
    with pytest.raises(ValueError, match="a constant must be finite"):
        x + value


@pytest.mark.parametrize("value", [True, False, "1", None, 1j, [1.0], np.array([1.0]), np.bool_(True)])
def test_constants_are_numbers(value):
    with pytest.raises(TypeError, match="a constant must be an int or a float, got"):
        Constant(value)
    with pytest.raises(TypeError, match="a constant must be an int or a float, got"):
        as_expression(value)


def test_whole_constants_are_exact_as_floats():
    for value in (2**53, -(2**53)):
        assert evaluate(Constant(value) + x, {"x": np.zeros(1)}).values[0] == value
    for value in (2**53 + 1, -(2**53) - 1, 10**400):
        with pytest.raises(ValueError, match=r"at most 2\*\*53 in size"):
            Constant(value)
        with pytest.raises(ValueError, match=r"at most 2\*\*53 in size"):
            x * value


@pytest.mark.parametrize("name", ["", "2x", "a b", "x²", "x-y", "x\n", "a.b", "lambda", 3, None])
def test_variables_are_identifiers(name):
    with pytest.raises(ValueError, match="a variable's name must be an identifier and no keyword of Python, got "):
        Variable(name)


@pytest.mark.parametrize("name", [name for name in OPERATORS if name.isidentifier()])
def test_variables_are_not_operators(name):
    with pytest.raises(ValueError, match=f"a variable's name must not be an operator's, got '{name}'"):
        Variable(name)


@pytest.mark.parametrize(("name", "operands"), [("sin", ()), ("sin", (x, y)), ("+", (x,)), ("pi", (x,))])
def test_operators_take_what_they_take(name, operands):
    message = f"takes {OPERATORS[name].arity} operands, got {len(operands)}"
    with pytest.raises(ValueError, match=message):
        Apply(OPERATORS[name], operands)
    with pytest.raises(ValueError, match=message):
        apply(name, *operands)


# What a tree says of itself


@pytest.mark.parametrize(
    ("text", "complexity", "size"),
    [
        ("x", 1, 1), ("2", 1, 1), ("0.5", 1, 1), ("pi", 1, 1), ("x + y", 3, 3), ("2*x**2 + 0.5", 6, 6),
        ("-x", 2, 2), ("x**2", 2, 2), ("x**3", 2, 2), ("sqrt(x)", 2, 2), ("inv(x)", 2, 2), ("abs(x)", 2, 2),
        ("id(x)", 1, 2), ("sin(x)", 3, 2), ("exp(log(cos(tanh(x))))", 10, 5), ("x**y", 4, 3), ("x**4", 4, 3),
        ("x - y/(x*y)", 7, 7),
    ],
)  # fmt: skip
def test_complexity_and_size(text, complexity, size):
    assert (parse(text).complexity, parse(text).size) == (complexity, size)


@given(trees)
def test_complexity_is_the_sum_of_its_parts(tree):
    costs = [node.operator.cost if isinstance(node, Apply) else 1 for node in postorder(tree)]
    assert tree.complexity == sum(costs)


def test_constants_and_variables():
    tree = parse("b*0.5 + sin(2*a - 1.5)/0.25**b + 3")
    assert tree.constants == (0.5, 1.5, 0.25)
    assert tree.variables == ("a", "b")
    assert (parse("2*pi").constants, parse("2*pi").variables) == ((), ())
    assert [str(leaf) for leaf in leaves(tree)] == ["b", "0.5", "2", "a", "1.5", "0.25", "b", "3"]
    assert [is_free(leaf) for leaf in leaves(tree)] == [False, True, False, False, True, True, False, False]


@given(trees)
def test_with_constants(tree):
    assert tree.with_constants(tree.constants) == tree
    fresh = [float(i) for i in range(len(tree.constants))]
    other = tree.with_constants(np.array(fresh))
    assert other.constants == tuple(fresh)
    assert other.with_constants(tree.constants) == tree
    assert (other.complexity, other.variables) == (tree.complexity, tree.variables)
    columns = {name: np.array([0.7, 1.9]) for name in tree.variables} or {"x": np.zeros(2)}
    np.testing.assert_array_equal(
        evaluate(other, columns).values, compile_expression(tree).values(columns, np.array(fresh))
    )
    for wrong in ([*fresh, 1.0], fresh[1:] if fresh else [1.0]):
        with pytest.raises(ValueError, match=f"values must be {len(fresh)} numbers, one per constant, got"):
            tree.with_constants(wrong)


def test_with_constants_refuses_what_is_no_number():
    with pytest.raises(ValueError, match="must be finite"):
        parse("0.5*x").with_constants([math.nan])
    assert parse("0.5*x").with_constants([2]) == parse("2.0*x")


def test_substitute():
    tree = parse("x**2 + sin(x*y)")
    assert tree.substitute({"x": y + 1}) == parse("(y + 1)**2 + sin((y + 1)*y)")
    assert tree.substitute({"x": y, "y": x}) == parse("y**2 + sin(y*x)")  # at once, not one after the other
    assert tree.substitute({"x": 2, "y": 0.5, "z": 7}) == parse("2**2 + sin(2*0.5)")
    assert tree.substitute({}) == tree
    with pytest.raises(TypeError, match="a constant must be"):
        tree.substitute({"x": "y"})


@given(expressions(), expressions(max_leaves=3))
def test_substitution_is_evaluation_in_two_steps(tree, inner):
    columns = {name: np.linspace(0.3, 2.0, 7) + i for i, name in enumerate(NAMES)}
    replaced = columns | {"x": evaluate(inner, columns).values}
    np.testing.assert_allclose(
        evaluate(tree.substitute({"x": inner}), columns).values, evaluate(tree, replaced).values, rtol=1e-9
    )


def test_fold_and_postorder():
    tree = parse("a - b*sin(2)")
    assert [str(node) for node in postorder(tree)] == ["a", "b", "2", "sin(2)", "b*sin(2)", "a - b*sin(2)"]
    seen = []
    fold(tree, str, lambda operator, operands: seen.append((operator.name, operands)) or operator.name)
    assert seen == [("sin", ("2",)), ("*", ("b", "sin")), ("-", ("a", "*"))]
    assert fold(apply("pi"), str, lambda operator, operands: (operator.name, operands)) == ("pi", ())
    assert fold(tree, lambda leaf: 1, lambda operator, depths: 1 + max(depths)) == 4


# Depth is no limit


def chain(depth, grow=lambda tree: apply("sin", tree)):
    tree = x
    for _ in range(depth):
        tree = grow(tree)
    return tree


def test_thirty_thousand_levels():
    tree = chain(30_000)
    assert (tree.size, tree.complexity) == (30_001, 60_001)
    again = pickle.loads(pickle.dumps(tree))  # noqa: S301
    assert bool(again == tree)
    assert hash(again) == hash(tree)
    values = evaluate(tree, {"x": np.array([0.0, 1.0])}).values
    assert values[0] == 0
    assert values[1] == pytest.approx(math.sqrt(3 / 30_000), rel=1e-3)  # how slowly sin(sin(...)) goes to 0


@pytest.mark.parametrize("grow", [lambda tree: tree + 1, lambda tree: 1 + tree], ids=["to the left", "to the right"])
def test_ten_thousand_terms(grow):
    tree = chain(10_000, grow)
    other = tree.substitute({"x": y})
    assert other.variables == ("y",)
    assert bool(other != tree)
    assert bool(other.substitute({"y": x}) == tree)
    assert bool(copy.deepcopy(tree) == tree)
    assert evaluate(tree, {"x": np.array([0.5])}).values.tolist() == [10_000.5]


def test_a_deep_tree_has_a_text():
    tree = chain(900)
    text = str(tree)
    assert text == "sin(" * 900 + "x" + ")" * 900
    assert bool(parse(text) == tree)
    right = chain(450, lambda t: y - t)
    assert bool(parse(str(right)) == right)
    assert len(to_latex(tree)) > len(to_python(tree)) > len(text)
