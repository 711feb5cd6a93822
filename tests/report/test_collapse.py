"""The picture of a reduction, also in the report."""

import numpy as np

from contexts import table
from prunesymnet.coefficients import fit
from prunesymnet.equations import Equation, Front
from prunesymnet.expression import parse
from prunesymnet.report import draw_collapse
from prunesymnet.report.section import Section
from prunesymnet.structure import Reduction

DATA = table("x**2*y*exp(-(x*y/z)**2)", names="xyz", rows=100, low=1.0, high=3.0)


def test_all_rows_are_drawn_where_the_reduction_says():
    reduction = Reduction(parse("target/(x*z)"), (parse("x*y/z"),), 1e-9, 0.1)
    (axes,) = draw_collapse(reduction, DATA).axes
    (line,) = [line for line in axes.lines if line.get_gid() == "rows"]
    x, y, z = DATA.columns.values()
    np.testing.assert_allclose(line.get_xdata(), x * y / z)
    np.testing.assert_allclose(line.get_ydata(), DATA.y / (x * z))


def test_of_two_groups_the_second_is_the_colour_and_a_quantity_without_values_is_no_error():
    two = Reduction(parse("target/x"), (parse("y"), parse("z")), 1e-9, 0.1)
    assert [axes.get_ylabel() for axes in draw_collapse(two, DATA).axes] == ["target/x", "z"]
    nowhere = Reduction(parse("log(0 - x)"), (parse("y"),), 1e-9, 0.1)
    assert draw_collapse(nowhere, DATA).axes


def test_a_section_of_the_report_has_a_picture_of_each_reduction():
    reduction = Reduction(parse("target/x"), (parse("y/z"),), 1e-9, 0.1)
    law = Equation.of(fit(parse("1.0*x"), DATA), DATA)
    section = Section(Front((law,), 0, structure=(reduction,)), DATA, {}, "mdl", 1.0, 1)
    ((told, figure),) = section.reductions()
    assert told is reduction
    assert figure is section.figures["structure-1"]
    parted = Reduction(parse("target"), (parse("x"), parse("y"), parse("z")), 1e-9, 0.1, sizes=(2, 1))
    assert Section(Front((law,), 0, structure=(parted,)), DATA, {}, "mdl", 1.0, 1).reductions() == [(parted, None)]
    assert not Section(Front((law,), 0), DATA, {}, "mdl", 1.0, 1).reductions()
