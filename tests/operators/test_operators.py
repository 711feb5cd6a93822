"""The operator table, and operators that a user adds to it."""

import copy
import dataclasses
import math
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import sympy
import torch
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.errors import OperatorError, ParseError
from prunesymnet.export.latex import to_latex
from prunesymnet.export.python import to_python
from prunesymnet.export.sympy import to_sympy
from prunesymnet.expression import (
    Apply,
    Constant,
    Variable,
    apply,
    canonical,
    compile_expression,
    evaluate,
    evaluate_torch,
    fingerprint,
    parse,
    skeleton,
    to_text,
)
from prunesymnet.operators import OPERATORS, PAPER, UNNESTED, Operator, make_operator, select_operators
from samples import COLUMNS, comparable, differ, values_and_gradient
from strategies import expressions

ROWS = [row for row in OPERATORS.values() if row.arity]
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
x = Variable("x")


def operands_of(row, points=200, low=0.1, high=3.0, seed=0):
    """Random operands of both signs inside the operator's domain, away from poles and kinks at 0."""
    rng = np.random.default_rng(seed)
    drawn = rng.uniform(low, high, (row.arity, points)) * rng.choice([-1.0, 1.0], (row.arity, points))
    inside = np.full(points, True) if row.domain is None else row.domain(*drawn)
    assert inside.sum() > points / 5
    return list(drawn[:, inside])


def refused(*parts):
    """Expect an OperatorError whose message holds all parts, in order."""
    return pytest.raises(OperatorError, match=".*".join(re.escape(part) for part in parts))


# The table


def test_the_table():
    assert list(OPERATORS) == [row.name for row in OPERATORS.values()]
    assert set(PAPER) < set(OPERATORS)
    assert len(PAPER) == 10
    assert dict(select_operators()) == {name: OPERATORS[name] for name in PAPER}
    with pytest.raises(TypeError):
        OPERATORS["sin"] = OPERATORS["cos"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        OPERATORS["sin"].cost = 7


@pytest.mark.parametrize("row", OPERATORS.values(), ids=lambda row: row.name)
def test_every_row_is_complete(row):
    assert len(row.partials) == row.arity
    assert len(row.inverses) == row.arity
    assert None not in row.inverses
    shown = row.latex.format(*["u", "v"][: row.arity])
    assert all(operand in shown for operand in ["u", "v"][: row.arity])
    assert isinstance(row.cost, int)
    assert repr(row) == f"<operator {row.name}>"


@pytest.mark.parametrize("row", OPERATORS.values(), ids=lambda row: row.name)
def test_copies_are_the_row_itself(row):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(row, protocol)) is row  # noqa: S301
    assert copy.copy(row) is row
    assert copy.deepcopy([row])[0] is row


def test_rows_are_equal_by_name_and_arity():
    sine = dataclasses.replace(OPERATORS["sin"], numpy=np.cos)
    assert sine == OPERATORS["sin"]
    assert hash(sine) == hash(OPERATORS["sin"])
    assert sine != dataclasses.replace(sine, arity=2)
    assert sine != OPERATORS["cos"]
    assert sine != "sin"


@each_row
def test_partials_equal_differences(row):
    operands = operands_of(row)
    value = row.numpy(*operands)
    for i, partial in enumerate(row.partials):
        h = 1e-6 * np.maximum(1, np.abs(operands[i]))
        up, down = (row.numpy(*(u + sign * h if i == j else u for j, u in enumerate(operands))) for sign in (1, -1))
        got = partial if isinstance(partial, float) else partial(value, *operands)
        expected = (up - down) / (2 * h)
        np.testing.assert_allclose(np.broadcast_to(got, expected.shape), expected, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("exponent", [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 7.0, 40.0])
def test_the_derivative_of_a_whole_power_of_a_negative_number(exponent):
    power = OPERATORS["pow"]
    base = np.linspace(-2, -0.5, 20)
    got = power.partials[0](power.numpy(base, exponent), base, exponent)
    np.testing.assert_allclose(got, exponent * base ** (exponent - 1), rtol=1e-12)


@each_row
def test_numpy_equals_torch_equals_sympy(row):
    operands = operands_of(row, points=25)
    value = row.numpy(*operands)
    np.testing.assert_allclose(row.torch(torch, *map(torch.from_numpy, operands)).numpy(), value, rtol=1e-13)
    exact = [float(row.sympy(sympy, *map(sympy.Float, point)).evalf(30)) for point in zip(*operands, strict=True)]
    np.testing.assert_allclose(exact, value, rtol=1e-13)


def test_pi_is_pi_everywhere():
    pi = OPERATORS["pi"]
    assert pi.numpy() == pi.torch(torch) == float(pi.sympy(sympy)) == math.pi


@each_row
def test_torch_differentiates_what_the_partials_say(row):
    operands = [torch.from_numpy(u).requires_grad_() for u in operands_of(row, points=25)]
    row.torch(torch, *operands).sum().backward()
    arrays = [u.detach().numpy() for u in operands]
    for operand, partial in zip(operands, row.partials, strict=True):
        expected = partial if isinstance(partial, float) else partial(row.numpy(*arrays), *arrays)
        np.testing.assert_allclose(
            operand.grad.numpy(), np.broadcast_to(expected, operand.shape), rtol=1e-10, atol=1e-14
        )


@each_row
def test_the_domain_says_where_values_are_finite(row):
    some = [50.0, 7.3, 5.0, 3.0, 2.0, 1.5, 1.0, 0.5, 1e-3, 0.0]
    grid = np.meshgrid(*[[*some, *(-u for u in some)]] * row.arity)
    with np.errstate(all="ignore"):
        finite = np.isfinite(row.numpy(*grid))
    inside = np.full(finite.shape, True) if row.domain is None else row.domain(*grid)
    np.testing.assert_array_equal(inside, finite)
    assert finite.any()


def test_a_domain_works_on_arrays():
    base, exponent = np.array([2.0, -2.0, -2.0, 0.0, 0.0, 0.0]), np.array([0.5, 0.5, 3.0, 2.0, 0.0, -1.0])
    assert OPERATORS["pow"].domain(base, exponent).tolist() == [True, False, True, True, True, False]


@each_row
def test_an_inverse_gives_an_operand_that_gives_the_value(row):
    operands = operands_of(row)
    if row.name == "pow":
        operands = [np.abs(u) for u in operands]
    value = row.numpy(*operands)
    for i, inverse in enumerate(row.inverses):
        others = operands[:i] + operands[i + 1 :]
        found = inverse(value, *others)
        again = row.numpy(*operands[:i], found, *operands[i + 1 :])
        np.testing.assert_allclose(again, value, rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("sin", -1.5, 1.5), ("cos", 0.1, 3), ("exp", -5, 5), ("log", 0.1, 9), ("square", 0.1, 9), ("id", -9, 9),
     ("sqrt", 0.1, 9), ("inv", 0.1, 9), ("neg", -9, 9), ("abs", 0.1, 9), ("tanh", -3, 3), ("cube", -9, 9),
     ("tan", -1.5, 1.5), ("asin", -1, 1), ("acos", -1, 1), ("atan", -9, 9), ("sinh", -9, 9), ("cosh", 0.1, 9),
     ("erf", -2, 2)],
)  # fmt: skip
def test_an_inverse_recovers_the_operand_on_the_principal_branch(name, low, high):
    operand = np.linspace(low, high, 50)
    value = OPERATORS[name].numpy(operand)
    np.testing.assert_allclose(OPERATORS[name].inverses[0](value), operand, rtol=1e-9)


@each_row
def test_whole_numbers_are_as_good_as_floats(row):
    whole = [np.array([1, 2, 3]), np.array([3, 1, 2])][: row.arity]
    with np.errstate(invalid="ignore"):  # arcsines of 2 and 3
        np.testing.assert_allclose(row.numpy(*whole), row.numpy(*[u.astype(float) for u in whole]), rtol=1e-15)
        np.testing.assert_allclose(row.numpy(*[2, 3][: row.arity]), row.numpy(*[2.0, 3.0][: row.arity]), rtol=1e-15)


@given(st.integers(1, 40), st.floats(-3, 3))
def test_a_whole_power_by_products_is_the_power(exponent, base):
    np.testing.assert_allclose(OPERATORS["pow"].numpy(base, float(exponent)), base**exponent, rtol=1e-13)


@each_row
def test_parity_and_order_are_what_the_row_says(row):
    operands = [np.linspace(-0.99, 0.99, 40), np.roll(np.linspace(-0.9, 0.95, 40), 7)][: row.arity]
    with np.errstate(all="ignore"):
        value = row.numpy(*operands)
        if row.arity == 1:
            mirrored = row.numpy(-operands[0])
            signs = [sign for sign in (1, -1) if np.allclose(mirrored, sign * value, rtol=1e-12, equal_nan=True)]
            said = {"even": [1], "odd": [-1], None: []}[row.parity]
            # What canonical forms take apart by themselves needs no parity: powers, and what is linear.
            assert signs == said or row.name in ("square", "cube", "id", "neg", "inv", "abs")
        else:
            assert np.allclose(row.numpy(*operands[::-1]), value, equal_nan=True) == row.commutative
        assert all(row.numpy(float(at)) == number for at, number in row.exact.items())


@each_row
def test_what_follows_from_other_operators_is_a_known_operator(row):
    assert all(names <= set(OPERATORS) for names in row.follows_from)


def test_which_functions_do_not_nest():
    assert set(UNNESTED) == {"sin", "cos", "exp", "log", "tan", "sinh", "cosh"}


def test_the_slope_of_max_and_min_is_shared_where_operands_are_equal():
    for name in ("max", "min"):
        columns = {"x": np.array([1.0, 2.0, 3.0]), "y": np.full(3, 2.0)}
        _, gradient = values_and_gradient(compile_expression(parse(f"{name}(x, y)")), columns)
        np.testing.assert_array_equal(gradient.sum(0), [1, 1, 1])
        np.testing.assert_array_equal(gradient[:, 1], [0.5, 0.5])


def test_importing_the_table_imports_no_library_of_a_form():
    code = "import sys, prunesymnet.operators; print(*({'torch', 'sympy', 'onnx', 'scipy'} & set(sys.modules)), 'none')"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["none"]


def test_select_operators():
    mine = make_operator("sinc", np.sinc)
    table = select_operators(["sqrt", mine, OPERATORS["+"], "sqrt"])
    assert list(table) == ["sqrt", "sinc", "+"]
    assert table["sinc"] is mine
    with pytest.raises(TypeError):
        table["-"] = OPERATORS["-"]
    assert dict(select_operators([])) == {}
    assert list(select_operators([mine, copy.deepcopy(mine)])) == ["sinc"]


def test_select_operators_refuses():
    with refused("operators must be a list of names or operators, got the text 'sin'"):
        select_operators("sin")
    with refused("unknown operator 'add'; did you mean '+'? Known: +, -"):
        select_operators(["add"])  # as gplearn has it
    with refused("unknown operator 'sine'; did you mean 'sin'? Known: +, -, *, /, sin", "make_operator"):
        select_operators(["+", "sine"])
    with refused("unknown operator 'gamma'. Known: +"):
        select_operators(["gamma"])
    with refused("unknown operator 3. Known"):
        select_operators([3])
    with refused("two different operators are called 'sinc'; rename one of them"):
        select_operators([make_operator("sinc", np.sinc), make_operator("sinc", np.sinc)])
    with refused("two different operators are called 'sin'"):
        select_operators(["sin", dataclasses.replace(OPERATORS["sin"], cost=9)])


# A user's operator


def softplus(u):
    return np.logaddexp(0.0, u)


def logistic(u):
    return 1 / (1 + np.exp(-u))


def gauss(u, v):
    return np.exp(-u * u) * v


SOFTPLUS = make_operator("softplus", softplus, derivatives=logistic, inverse=lambda v: np.log(np.expm1(v)))
GAUSS = make_operator("gauss", gauss)  # by differences, in torch by a wrapper
BUMP = make_operator(
    "bump",
    lambda u: 1 / (1 + u * u),
    derivatives=[lambda u: -2 * u / (1 + u * u) ** 2],
    sympy=lambda u: 1 / (1 + u**2),
)  # in torch as it stands
HYPOT = make_operator(
    "hypot", np.hypot, derivatives=[lambda u, v: u / np.hypot(u, v), lambda u, v: v / np.hypot(u, v)],
    torch=lambda u, v: torch.hypot(u, v), sympy=lambda u, v: sympy.sqrt(u**2 + v**2),
    latex=r"\left\lVert {0}, {1} \right\rVert", cost=3,
)  # fmt: skip
MINE = [SOFTPLUS, GAUSS, BUMP, HYPOT]
each_of_mine = pytest.mark.parametrize("row", MINE, ids=lambda row: row.name)


def test_a_row_made_from_a_function():
    assert (SOFTPLUS.name, SOFTPLUS.arity, SOFTPLUS.cost, SOFTPLUS.latex) == ("softplus", 1, 2, None)
    assert (HYPOT.arity, HYPOT.cost) == (2, 3)
    assert isinstance(SOFTPLUS, Operator)
    assert float(SOFTPLUS.numpy(0.0)) == pytest.approx(math.log(2))
    assert HYPOT.numpy(3.0, 4.0) == 5.0
    assert SOFTPLUS.inverses[0](SOFTPLUS.numpy(0.3)) == pytest.approx(0.3)
    assert GAUSS.inverses == (None, None)
    assert "softplus" not in OPERATORS


@pytest.mark.parametrize(
    ("function", "arity"),
    [
        (np.sinc, 1), (np.cbrt, 1), (np.arctan2, 2), (np.maximum, 2), (lambda u, k=2.0: np.sin(k * u), 1),
        (lambda u, *, k=2.0: np.sin(k * u), 1), (lambda u, **rest: np.sin(u), 1), (np.log, 1), (np.sqrt, 1),
        (lambda u: np.where(u > 5, 1.0, 0.0), 1), (np.sign, 1), (lambda u: u > 0, 1), (lambda u: u.clip(0), 1),
        (np.heaviside, 2),
    ],
)  # fmt: skip
def test_functions_that_are_accepted(function, arity):
    assert make_operator("mine", function).arity == arity


@each_of_mine
def test_derivatives_of_a_users_operator(row):
    operands = operands_of(row)
    value = row.numpy(*operands)
    for i, partial in enumerate(row.partials):
        up, down = (row.numpy(*(u + h if i == j else u for j, u in enumerate(operands))) for h in (1e-5, -1e-5))
        np.testing.assert_allclose(partial(value, *operands), (up - down) / 2e-5, rtol=1e-6, atol=1e-8)


@each_of_mine
def test_torch_form_of_a_users_operator(row):
    operands = [torch.from_numpy(u) for u in operands_of(row, points=8)]
    np.testing.assert_allclose(row.torch(torch, *operands).numpy(), row.numpy(*(u.numpy() for u in operands)))
    # A number against points, and float32, as in a network.
    operands[-1] = operands[-1][0].clone()
    for operand in operands:
        operand.requires_grad_()
    assert torch.autograd.gradcheck(lambda *u: row.torch(torch, *u), operands)
    assert row.torch(torch, *(u.detach().float() for u in operands)).dtype == torch.float32


def test_a_torch_form_is_the_function_itself_where_that_works():
    seen = []

    def spied(u):
        seen.append(type(u))
        return u * u + u

    row = make_operator("spied", spied)
    row.torch(torch, torch.ones(3))  # which also tries it on tensors
    seen.clear()
    row.torch(torch, torch.ones(3))
    assert seen == [torch.Tensor]


def test_a_wrapped_torch_form_does_not_pretend_to_a_second_derivative():
    u = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(u * SOFTPLUS.torch(torch, u), u, create_graph=True)
    assert first.item() == pytest.approx(0.5 * logistic(0.5) + softplus(0.5))
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.backward()


def test_a_wrapped_torch_form_overflows_in_silence():
    row = make_operator("expexp", lambda u: np.exp(np.exp(u)))
    u = torch.tensor([1.0, 9.0], requires_grad=True)
    out = row.torch(torch, u)
    out[0].backward()
    assert out.tolist() == [pytest.approx(math.exp(math.e)), math.inf]
    assert u.grad[0].item() == pytest.approx(math.exp(math.e + 1), rel=1e-5)


def test_truth_values_are_numbers():
    step = make_operator("step", lambda u: u > 0)
    tree = -Apply(step, (x,)) - Apply(step, (Constant(0.5),))
    columns = {"x": np.array([-1.0, 2.0])}
    assert evaluate(tree, columns).values.tolist() == [-1, -2]
    assert values_and_gradient(compile_expression(tree), columns)[1].tolist() == [[0, 0]]
    assert evaluate_torch(tree, {"x": torch.tensor([-1.0, 2.0])}).tolist() == [-1, -2]


def test_methods_of_arrays_work_on_constants():
    relu = make_operator("relu", lambda u: u.clip(0), derivatives=lambda u: (u > 0).astype(float))
    program = compile_expression(Apply(relu, (Constant(0.5),)) * x)
    values, jacobian = program.values_and_jacobian({"x": np.array([1.0, 3.0])})
    assert values.tolist() == [0.5, 1.5]
    assert jacobian.tolist() == [[1, 3]]


def test_a_users_operator_travels():
    again = pickle.loads(pickle.dumps(GAUSS))  # noqa: S301
    assert again == GAUSS
    assert again.numpy(0.5, 2.0) == GAUSS.numpy(0.5, 2.0)
    tree = apply(GAUSS, x, 2.5)
    assert pickle.loads(pickle.dumps(tree)) == tree  # noqa: S301
    assert copy.deepcopy(tree) == tree
    assert copy.deepcopy(SOFTPLUS) is SOFTPLUS
    full = make_operator(
        "soft",
        softplus,
        derivatives=iter([logistic]),
        torch=torch.nn.functional.softplus,
        domain=np.isfinite,
        latex="s({0})",
        cost=5,
    )
    again = pickle.loads(pickle.dumps(full))  # noqa: S301
    assert (again.latex, again.cost, again.domain) == ("s({0})", 5, np.isfinite)
    assert again.partials[0](None, 0.3) == pytest.approx(logistic(0.3), abs=1e-15)


def raising(u):
    raise FloatingPointError("no such thing")


@pytest.mark.parametrize(
    ("function", "options", "parts"),
    [
        (3, {}, ["function must be callable, got 3"]),
        (lambda *u: u[0], {}, ["takes any number of operands (*args)", "wrap it: lambda u, v: f(u, v)"]),
        (lambda u, v, w: u + v + w, {}, ["must take one or two operands, takes 3"]),
        (lambda: 1.0, {}, ["must take one or two operands, takes 0"]),
        (lambda u, *, k: u * k, {}, ["keyword argument without a default", "f(u, option=...)"]),
        (max, {}, ["number of operands can't be read", "wrap it"]),
        (np.sum, {}, ["on 41 points it must return 41 values, returned shape () for shape (41,)"]),
        (np.frexp, {}, ["on 41 points it must return 41 values"]),
        (lambda u: u[:5], {}, ["on 41 points it must return 41 values, returned shape (5,)"]),
        (np.sort, {}, ["must work element by element"]),
        (lambda u: np.cumsum(u).reshape(u.shape), {}, ["must work element by element"]),
        (lambda u: u - u.mean(), {}, ["must work element by element"]),
        (lambda u: u - u.mean(axis=-1, keepdims=True), {}, ["must work element by element"]),
        (lambda u, v: np.sqrt(u) * np.sort(v), {}, ["must work element by element"]),
        (np.emath.sqrt, {}, ["must return real numbers, returned dtype complex128"]),
        (lambda u: u.astype(str), {}, ["must return real numbers, returned dtype <U"]),
        (raising, {}, ["raised FloatingPointError on arrays: no such thing"]),
        (math.sin, {}, ["raised TypeError on arrays"]),
        (lambda u: u if u > 0 else -u, {}, ["raised ValueError on arrays", "ambiguous"]),
        (lambda u, v: np.where(v > 0, u, v)[v > 0].sum() + u + v[v > u], {}, ["raised ValueError on arrays"]),
        (lambda u, v: np.stack([u, v]).max(axis=0), {}, ["raised ValueError on operands of different shape"]),
        (lambda u: u if u.ndim else 2 * u, {}, ["gives other values for a number than for an array of that"]),
        (lambda u: u * np.nan, {}, ["is finite at none of the probe points"]),
        (lambda u: np.log(-1 - u * u), {}, ["is finite at none of the probe points"]),
        (lambda u: np.ones_like(u), {}, ["does not depend on operand 1"]),
        (lambda u, v: np.sin(u), {}, ["does not depend on operand 2"]),
        (lambda u, v: v * v, {}, ["does not depend on operand 1"]),
        (lambda u: u + np.random.default_rng().normal(size=u.shape), {}, ["must give the same values each time"]),
        (np.tan, {"derivatives": np.cos}, ["derivative 1 at (", ") is ", "but finite differences", "give "]),
        (np.hypot, {"derivatives": [lambda u, v: u / np.hypot(u, v), lambda u, v: u]}, ["derivative 2 at ("]),
        (np.hypot, {"derivatives": np.hypot}, ["needs one derivative per operand: 2, got 1"]),
        (np.tan, {"derivatives": [np.cos, np.cos]}, ["needs one derivative per operand: 1, got 2"]),
        (np.tan, {"derivatives": []}, ["needs one derivative per operand: 1, got 0"]),
        (np.tan, {"derivatives": raising}, ["derivative 1 raised FloatingPointError: no such thing"]),
        (np.tan, {"derivatives": [1.0]}, ["derivative 1 raised TypeError"]),
        (np.cbrt, {"inverse": np.square}, ["inverse is not one: function(inverse(v)) must give back v"]),
        (np.cbrt, {"inverse": lambda v: v * np.nan}, ["inverse is not one"]),
        (np.cbrt, {"inverse": raising}, ["inverse raised FloatingPointError: no such thing"]),
        (np.hypot, {"inverse": np.square}, ["inverse can be given for an operator of one operand only"]),
        (np.cbrt, {"torch": lambda u: u}, ["torch form and numpy form give different values"]),
        (np.cbrt, {"torch": lambda u: u[:3]}, ["torch form and numpy form give different values"]),
        (np.cbrt, {"torch": raising}, ["torch form raised FloatingPointError: no such thing"]),
        (np.cbrt, {"cost": -1}, ["cost must be a whole number >= 0, got -1"]),
        (np.cbrt, {"cost": 1.5}, ["cost must be a whole number >= 0, got 1.5"]),
        (np.cbrt, {"domain": lambda u: u > 100}, ["its domain contains none of the probe points"]),
        (np.log, {"domain": lambda u: u < 0}, ["is finite at none of the probe points inside its domain"]),
        (np.cbrt, {"domain": raising}, ["its domain raised FloatingPointError on arrays: no such thing"]),
        (np.cbrt, {"latex": r"\mathrm{cbrt}({0})"}, ["latex must be a template", "braces doubled"]),
        (np.cbrt, {"latex": "{0} {1}"}, ["latex must be a template"]),
        (np.cbrt, {"latex": 3}, ["latex must be a template"]),
        (np.cbrt, {"c": "cbrt(x)"}, ["c must show its operands, {0} for the first, got 'cbrt(x)'"]),
        (np.cbrt, {"python": "cbrt({1})"}, ["python must be a template", "e.g. 'f({0})', got 'cbrt({1})'"]),
        (np.cbrt, {"excel": 3}, ["excel must be a template"]),
        (np.cbrt, {"parity": "even"}, ["is not even: its value at -u must be that at u"]),
        (np.exp, {"parity": "odd"}, ["is not odd: its value at -u must be minus that at u"]),
        (np.cbrt, {"parity": "both"}, ["parity must be 'odd' or 'even', and is for one operand only, got 'both'"]),
        (np.hypot, {"parity": "even"}, ["parity must be 'odd' or 'even', and is for one operand only, got 'even'"]),
        (np.cbrt, {"latex": r"\Box"}, [r"latex must show its operands, {0} for the first, got '\\Box'"]),
    ],
)  # fmt: skip
def test_operators_that_are_refused(function, options, parts):
    with refused("operator 'mine': ", *parts):
        make_operator("mine", function, **options)


@pytest.mark.parametrize("name", ["", "2nd", "my op", "a.b", "lambda", "x²", 3, None])
def test_names_that_are_refused(name):
    with refused("operator name must be a Python identifier, got ", repr(name)):
        make_operator(name, np.cbrt)


@pytest.mark.parametrize("name", [name for name in OPERATORS if name.isidentifier()])
def test_shipped_names_are_taken(name):
    with refused(f"operator {name!r} ships with the package; choose another name"):
        make_operator(name, np.cbrt)


# A user's operator works everywhere


def test_text_of_a_users_operator():
    tree = parse("2*softplus(x - 1)**2 + gauss(x, hypot(x, 0.5))/bump(x)", operators=MINE)
    assert tree == parse(str(tree), operators={row.name: row for row in MINE})
    assert tree == parse(str(tree), operators=select_operators([*PAPER, *MINE]))
    assert str(tree) == "2*softplus(x - 1)**2 + gauss(x, hypot(x, 0.5))/bump(x)"
    assert to_python(tree) == str(tree)
    assert to_latex(tree) == (
        r"2 \operatorname{softplus}\left(x - 1\right)^{2} + "
        r"\frac{\operatorname{gauss}\left(x, \left\lVert x, 0.5 \right\rVert\right)}"
        r"{\operatorname{bump}\left(x\right)}"
    )
    assert tree.complexity == 21
    with pytest.raises(ParseError, match="unknown function 'softplus'"):
        parse("softplus(x)")
    with pytest.raises(ParseError, match="unknown function 'softplus_'; did you mean 'softplus'"):
        parse("softplus_(x)", operators=MINE)
    with pytest.raises(ParseError, match=r"'gauss' takes 2 operand\(s\), got 1"):
        parse("gauss(x)", operators=MINE)


def test_latex_of_an_operator_whose_name_has_an_underscore():
    assert to_latex(Apply(make_operator("my_op", np.cbrt), (x,))) == r"\operatorname{my\_op}\left(x\right)"


with_mine = expressions(["+", "*", "neg", "sin", "square"], extra=MINE)


@given(with_mine)
def test_print_and_parse_with_users_operators(tree):
    assert parse(to_text(tree), operators=MINE) == tree


@given(with_mine)
def test_numpy_equals_torch_with_users_operators(tree):
    tensors = {name: torch.from_numpy(column.copy()) for name, column in COLUMNS.items()}
    assert not differ(evaluate_torch(tree, tensors).numpy(), *comparable(tree))


@given(with_mine)
def test_canonical_forms_with_users_operators(tree):
    form = canonical(tree)
    assert not differ(evaluate(form, COLUMNS).values, *comparable(tree))
    assert parse(to_text(form), operators=MINE) == form


def test_derivatives_through_users_operators():
    tree = parse("gauss(x*1.5, softplus(0.5*x))*hypot(x, 2.0) + bump(0.3)", operators=MINE)
    program = compile_expression(tree)
    columns = {"x": np.linspace(-2, 2, 9)}
    _, jacobian = program.values_and_jacobian(columns)
    for i in range(len(program.constants)):
        step = np.zeros_like(program.constants)
        step[i] = 1e-5
        up, down = (program.values(columns, program.constants + s) for s in (step, -step))
        np.testing.assert_allclose(jacobian[i], (up - down) / 2e-5, rtol=1e-6, atol=1e-8)
    _, gradient = values_and_gradient(program, columns)
    up, down = (program.values({"x": columns["x"] + h}) for h in (1e-5, -1e-5))
    np.testing.assert_allclose(gradient[0], (up - down) / 2e-5, rtol=1e-6, atol=1e-8)
    # Many vectors of constants at once.
    starts = program.constants * np.array([[1.0], [1.1], [0.7]])
    values, many = program.values_and_jacobian(columns, starts)
    for k, start in enumerate(starts):
        one = program.values_and_jacobian(columns, start)
        np.testing.assert_allclose(values[k], one[0], rtol=1e-12)
        np.testing.assert_allclose(many[k], one[1], rtol=1e-7, atol=1e-9)


def test_equal_formulas_with_users_operators_are_found_out():
    one = parse("softplus(x + x)*3.0 + gauss(y, x)", operators=MINE)
    other = parse("gauss(y, x) + 3.0*softplus(2*x)", operators=MINE)
    assert canonical(one) == canonical(other)
    assert fingerprint(one) == fingerprint(other)
    assert skeleton(one) == skeleton(other)
    assert fingerprint(one) != fingerprint(parse("softplus(2*x)*3.0 + gauss(x, y)", operators=MINE))


def test_sympy_of_users_operators():
    symbol = sympy.Symbol("x", real=True)
    assert to_sympy(parse("bump(x) + hypot(x, 1)", operators=MINE)) == 1 / (1 + symbol**2) + sympy.sqrt(symbol**2 + 1)
    unknown = to_sympy(parse("2*softplus(x)", operators=MINE))
    assert unknown == 2 * sympy.Function("softplus")(symbol)
    assert sympy.lambdify(symbol, unknown, [{"softplus": softplus}, "numpy"])(0.0) == pytest.approx(2 * math.log(2))


def test_the_parity_of_a_users_operator_is_used():
    root = make_operator("root", np.cbrt, parity="odd")
    tree = parse("root(-2*x) + root(2*x)", operators=[root])
    assert canonical(tree) == Constant(0)
    bell = make_operator("bell", lambda u: np.exp(-u * u), parity="even")
    assert canonical(parse("bell(y - x)", operators=[bell])) == canonical(parse("bell(x - y)", operators=[bell]))
