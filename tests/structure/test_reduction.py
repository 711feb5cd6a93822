"""A reduction in words, one inside another, and in a file."""

from dataclasses import replace

import pytest

from prunesymnet.errors import FileFormatError
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


def test_a_sum_of_functions_has_its_columns_in_parts():
    names = ("x", "z", "u", "v")
    told = Reduction(parse("force"), tuple(map(parse, names)), 1e-3, 0.1, sizes=(3, 1))
    assert str(told) == "force is a function of x, z and u plus a function of v; unexplained 1e-03"
    assert [len(part) for part in told.parts] == [3, 1]
    record = of_reduction(told)
    assert to_reduction(record, (*names, "force")) == told
    older = {key: value for key, value in record.items() if key != "sizes"}
    assert to_reduction(older, (*names, "force")).sizes == ()
    with pytest.raises(FileFormatError, match="do not add up to its 4 groups"):
        to_reduction({**record, "sizes": [3, 2]}, (*names, "force"))
