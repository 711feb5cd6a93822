"""Each formula that can be drawn is drawn whole, and one that can't says so."""

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib.backends.backend_agg import FigureCanvasAgg

from prunesymnet.export.latex import to_latex
from prunesymnet.expression import parse
from prunesymnet.operators import OPERATORS, make_operator
from prunesymnet.report.typeset import LONGEST, draw_latex
from strategies import expressions

both = make_operator("hypo_tenuse", lambda a, b: np.sqrt(a * a + b * b))


def pixels(figure):
    """How dark each of them is."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return 255 - np.asarray(canvas.buffer_rgba())[..., :3].min(axis=2)


def assert_whole(figure):
    """There is something to see, and none of it is cut off at an edge of the picture."""
    dark = pixels(figure)
    assert dark.max() > 100
    assert max(dark[0].max(), dark[-1].max(), dark[:, 0].max(), dark[:, -1].max()) < 30


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_is_typeset(name):
    operands = ", ".join(["x", "y"][: OPERATORS[name].arity])
    infix = {"+": "x + y", "-": "x - y", "*": "x*y", "/": "x/y", "pi": "pi", "id": "x", "neg": "-x"}
    assert draw_latex(to_latex(parse(infix.get(name, f"{name}({operands})")), target="f")) is not None


@pytest.mark.parametrize(
    "formula",
    ["semi_major_axis_2**1.5", "alpha_1*Omega/gamma", "abs(x + abs(y))", "hypo_tenuse(x, y_z)", "exp(exp(x/y)/z)",
     "1.5e-12*x", "-x*(-2)", "((x + 1)/y)**3", "Δx*ü"],
)  # fmt: skip
@pytest.mark.parametrize("target", ["speed_km_s", "µ", "x_1"])
def test_names_and_functions_of_all_kinds_are_typeset(formula, target):
    figure = draw_latex(to_latex(parse(formula, operators=[both]), target=target, digits=6))
    assert figure is not None
    assert_whole(figure)


@given(expressions(max_leaves=12))
@settings(max_examples=25)
def test_any_formula_is_typeset(formula):
    latex = to_latex(formula, target="y", digits=4)
    assert draw_latex(latex) is not None or len(latex) > LONGEST


def test_a_sign_that_computer_modern_has_elsewhere_is_the_right_one():
    assert len({pixels(draw_latex(latex)).tobytes() for latex in ("µ", r"\theta", "ü")}) == 3


def test_parentheses_do_not_shrink_and_fractions_stand_tall():
    def height(latex):
        return draw_latex(latex).get_figheight()

    assert height(r"\sin\left(x\right)") == pytest.approx(height("x + ("), rel=0.05)
    assert height(r"\frac{a}{b}") > 1.25 * height(r"x^{\frac{a}{b}}")


@pytest.mark.parametrize("latex", ["x" * (LONGEST + 1), r"\mathrm{温度}", r"\unknown{x}", r"\frac{x}{", ""])
def test_what_cant_be_typeset_is_none(latex):
    assert draw_latex(latex) is None


def test_no_setting_is_changed():
    before = dict(matplotlib.rcParams)
    assert_whole(draw_latex(r"y = \frac{x^{2}}{\sqrt{z}}"))
    assert dict(matplotlib.rcParams) == before
