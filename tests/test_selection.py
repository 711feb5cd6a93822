import math
from dataclasses import replace

import numpy as np
import pytest

from prunesymnet.coefficients import fit
from prunesymnet.data import make_dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.expression import parse
from prunesymnet.selection import CRITERIA, choose, chosen_by, criterion_of, front

RNG = np.random.default_rng(0)
X = np.linspace(-2, 2, 80)
FORMS = ["1.0*x", "1.0*x**2 + 1.0", "1.0*x**3 + 1.0*x**2 + 1.0*x + 1.0", "1.0*x**2 + 1.0*sin(3.0*x) + 1.0"]


def equations(y, forms=FORMS):
    data = make_dataset(X, y, names=["x"])
    return [Equation.of(fit(parse(form), data), data) for form in forms]


NOISY = equations(2 * X**2 + 1 + 0.1 * RNG.standard_normal(len(X)))


def test_terms_that_do_not_pay_for_themselves_are_not_chosen():
    assert choose(NOISY) is NOISY[1]
    assert choose(NOISY, "bic") is NOISY[1]
    assert choose(NOISY, "accuracy") is not NOISY[1]  # the least error is that of a longer formula


def test_terms_that_do_are():
    found = equations(2 * X**2 + 0.5 * np.sin(3 * X) + 1 + 0.1 * RNG.standard_normal(len(X)))
    assert all(choose(found, by) is found[3] for by in ("mdl", "bic", "aic", "accuracy"))


def test_held_out_rows_can_decide():
    rated = [replace(e, heldout_r2=r2) for e, r2 in zip(NOISY, (0.1, 0.2, math.nan, 0.3), strict=True)]
    assert choose(rated, "heldout") is rated[3]


@pytest.mark.parametrize("by", CRITERIA)
def test_a_formula_that_is_not_finite_is_never_chosen(by):
    found = [replace(e, heldout_r2=0.5) for e in equations(X**2, ["1.0*log(x)", "1.0*x"])]
    found[0] = replace(found[0], heldout_r2=math.nan)
    assert choose(found, by) is found[1]


def test_the_front_falls_in_error_as_it_grows_in_complexity():
    worse = replace(NOISY[2], form=parse("1.0*x + 1.0*sin(1.0*x) + 1.0*cos(x)"), loss=1e3)
    kept = front([*NOISY, worse])
    sizes, errors = [e.complexity for e in kept], [e.loss for e in kept]
    assert sizes == sorted(set(sizes))
    assert errors == sorted(errors, reverse=True)
    assert NOISY[1] in kept
    assert worse not in kept
    assert worse in front([*NOISY, worse], keep=worse)


def test_of_the_same_complexity_the_shorter_description_is_on_the_front():
    rounded = replace(NOISY[1], loss=NOISY[1].loss * 1.01, description_length=NOISY[1].description_length - 5)
    assert front([NOISY[1], rounded]) == [rounded]
    assert front([NOISY[1], rounded], keep=NOISY[1]) == [NOISY[1]]
    assert front([rounded, NOISY[1]], keep=NOISY[1]) == [NOISY[1]]


def test_nothing_to_choose_from():
    with pytest.raises(ValueError, match="equations must have at least one"):
        choose([])
    with pytest.raises(ValueError, match="selection must be one of mdl"):
        choose(NOISY, "score")


def test_what_cannot_rank_equations_leaves_it_to_the_shortest_description():
    assert [criterion_of(by) for by in ("bic", "heldout", len)] == ["bic", "mdl", "mdl"]
    assert criterion_of("heldout", holds_out=True) == "heldout"


def test_a_function_chooses_a_row_of_the_front():
    shown = Front(tuple(NOISY), 1)
    assert chosen_by("accuracy", shown) is shown
    assert chosen_by(lambda frame: np.int64(len(frame) - 1), shown).chosen == 3
    for row in (4, -1, 1.0, True, None):
        with pytest.raises(ValueError, match="must return a row of the front, 0 to 3"):
            chosen_by(lambda _, row=row: row, shown)
