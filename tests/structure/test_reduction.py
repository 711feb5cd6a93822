"""A reduction in words, one inside another, and in a file."""

from dataclasses import replace

from prunesymnet.expression import Variable, parse
from prunesymnet.runs.records import of_reduction, to_reduction
from prunesymnet.structure import Reduction
from prunesymnet.structure.reduction import TARGET

OUTER = Reduction(Variable(TARGET) / parse("u"), (parse("x/z"), parse("v")), 1e-4, 0.1)


def test_a_reduction_inside_another_is_told_in_terms_of_the_table():
    inner = Reduction(Variable(TARGET) * parse("group_1"), (parse("group_1*v"),), 1e-6, 0.2)
    told = inner.inside(OUTER, {"group_1": parse("x/z")}).of("force")
    assert str(told) == "force*x/(u*z) depends on v*x/z only; unexplained 1e-06"
    assert str(OUTER.of("force")) == "force/u depends on x/z and v only; unexplained 1e-04"


def test_a_file_has_all_of_it():
    named = replace(OUTER.of("force"), product=True)
    assert str(named) == "force/u is a function of x/z times a function of v; unexplained 1e-04"
    assert to_reduction(of_reduction(named), ("x", "z", "u", "v", "force")) == named
