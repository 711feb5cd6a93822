import numpy as np
import pytest

from prunesymnet.coefficients import fit
from prunesymnet.data import make_dataset
from prunesymnet.expression import parse
from prunesymnet.selection import choose, front

RNG = np.random.default_rng(0)
X = np.linspace(-2, 2, 80)
FORMS = ["1.0*x", "1.0*x**2 + 1.0", "1.0*x**3 + 1.0*x**2 + 1.0*x + 1.0", "1.0*x**2 + 1.0*sin(3.0*x) + 1.0"]


def fits(y):
    data = make_dataset(X, y, names=["x"])
    return [fit(parse(form), data) for form in FORMS], data


def test_terms_that_do_not_pay_for_themselves_are_not_chosen():
    found, data = fits(2 * X**2 + 1 + 0.1 * RNG.standard_normal(len(X)))
    assert choose(found, data) is found[1]
    assert min(found, key=lambda f: f.mse) is not found[1]  # the least error is that of a longer formula


def test_terms_that_do_are():
    found, data = fits(2 * X**2 + 0.5 * np.sin(3 * X) + 1 + 0.1 * RNG.standard_normal(len(X)))
    assert choose(found, data) is found[3]


def test_a_formula_that_is_not_finite_is_never_chosen():
    found, data = fits(X**2)
    assert choose([fit(parse("1.0*log(x)"), data), found[0]], data) is found[0]


def test_the_front_falls_in_error_as_it_grows_in_complexity():
    found, _ = fits(2 * X**2 + 1 + 0.1 * RNG.standard_normal(len(X)))
    kept = front(found)
    sizes, errors = [f.expression.complexity for f in kept], [f.mse for f in kept]
    assert sizes == sorted(sizes)
    assert errors == sorted(errors, reverse=True)
    assert found[1] in kept
    worse = fit(parse("1.0*x + 1.0*sin(1.0*x)"), make_dataset(X, X**2, names=["x"]))
    assert worse not in front([*found, worse])


def test_nothing_to_choose_from():
    with pytest.raises(ValueError, match="fits must have at least one"):
        choose([], make_dataset(X, X**2, names=["x"]))
