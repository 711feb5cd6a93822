"""Each formula that can be drawn is drawn whole, and one that can't says so."""

import re

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings

from prunesymnet.export.latex import to_latex
from prunesymnet.expression import parse
from prunesymnet.operators import OPERATORS, make_operator
from prunesymnet.report.svg import Gallery
from prunesymnet.report.typeset import LONGEST, draw_latex, to_svg, typeset
from strategies import expressions

both = make_operator("hypo_tenuse", lambda a, b: np.sqrt(a * a + b * b))


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_is_typeset(name):
    operands = ", ".join(["x", "y"][: OPERATORS[name].arity])
    infix = {"+": "x + y", "-": "x - y", "*": "x*y", "/": "x/y", "pi": "pi", "id": "x", "neg": "-x"}
    assert typeset(to_latex(parse(infix.get(name, f"{name}({operands})")), target="f")) is not None


@pytest.mark.parametrize(
    "formula",
    ["semi_major_axis_2**1.5", "alpha_1*Omega/gamma", "abs(x + abs(y))", "hypo_tenuse(x, y_z)", "exp(exp(x/y)/z)",
     "1.5e-12*x", "-x*(-2)", "((x + 1)/y)**3", "Δx*ü"],
)  # fmt: skip
@pytest.mark.parametrize("target", ["speed_km_s", "µ", "x_1"])
def test_names_and_functions_of_all_kinds_are_typeset(formula, target):
    made = typeset(to_latex(parse(formula, operators=[both]), target=target, digits=6))
    assert made is not None
    assert made.box.width > made.box.height / 4 > 0


@given(expressions(max_leaves=12))
@settings(max_examples=25)
def test_any_formula_is_typeset(formula):
    latex = to_latex(formula, target="y", digits=4)
    assert typeset(latex) is not None or len(latex) > LONGEST


def letters(latex):
    made = typeset(latex)
    return {path.vertices.tobytes() for path, *_ in made.letters}


def test_a_sign_that_computer_modern_has_elsewhere_is_the_right_one():
    assert not letters("µ") & letters(r"\theta")
    assert not letters("µ") & letters("ü")


def test_parentheses_do_not_shrink_and_fractions_stand_tall():
    height = typeset("x + (").box.height
    assert typeset(r"\sin\left(x\right)").box.height == pytest.approx(height, rel=0.05)
    assert typeset(r"\frac{a}{b}").box.height > 1.25 * typeset(r"x^{\frac{a}{b}}").box.height


@pytest.mark.parametrize("latex", ["x" * (LONGEST + 1), r"\mathrm{温度}", r"\unknown{x}", r"\frac{x}{", ""])
def test_what_cant_be_typeset_is_none(latex):
    gallery = Gallery()
    assert typeset(latex) is None
    assert to_svg(latex, gallery) is None
    assert draw_latex(latex) is None
    assert not gallery.shapes


def test_an_element_shares_its_letters_and_has_the_colour_of_the_text():
    gallery = Gallery()
    svg = to_svg("x + x + x + x", gallery)
    assert svg.count("<use") == 7
    assert len(gallery.shapes) == 2
    assert "currentColor" in svg
    assert set(re.findall(r'href="#(\w+)"', svg)) == set(gallery.shapes.values())
    assert all(f'id="{name}"' in gallery.definitions() for name in gallery.shapes.values())
    to_svg("x + 1", gallery)
    assert len(gallery.shapes) == 3


def test_the_picture_holds_the_whole_formula_and_no_setting_is_changed():
    before = dict(matplotlib.rcParams)
    figure = draw_latex(r"y = \frac{x^{2}}{\sqrt{z}}")
    (patch,) = figure.axes[0].patches
    box = patch.get_path().get_extents()
    assert figure.axes[0].get_xlim()[0] < box.x0 < box.x1 < figure.axes[0].get_xlim()[1]
    assert figure.axes[0].get_ylim()[0] < box.y0 < box.y1 < figure.axes[0].get_ylim()[1]
    assert dict(matplotlib.rcParams) == before
