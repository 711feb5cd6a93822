"""Templates: frames fitted and undone, and the parts that a search finds for them."""

from dataclasses import replace

import numpy as np
import pytest

from models import SHORTCUTS
from prunesymnet.coefficients import FitSettings
from prunesymnet.data import make_dataset
from prunesymnet.errors import DataError, DataWarning, NothingFoundError
from prunesymnet.expression import evaluate, parse
from prunesymnet.expression.templates import read_template
from prunesymnet.search import Constraints, SearchSettings, search, search_templates
from prunesymnet.search.frames import Frames

RNG = np.random.default_rng(0)
X = RNG.uniform(0.3, 3, (120, 3))
x, y, z = X.T
NAMES = ["x", "y", "z"]


def table(values, target="t", noise=0.0):
    off = noise * np.std(values) * np.random.default_rng(1).normal(size=len(values))
    return make_dataset(X, values + off, names=NAMES, target=target)


def frames(text, values):
    return Frames([read_template(text, NAMES)], [table(values)])


def found(text, values, noise=0.0, settings=SHORTCUTS, **more):
    (front,) = search_templates([table(values, noise=noise)], replace(settings, template=text, **more))
    return front


# ---- frames -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "inside", "others"),
    [
        ("f(x)*exp(-g(y))", "g", y**2 / 2, {"f": x + 1}),
        ("f(x)*exp(-g(y))", "f", x + 1, {"g": y**2 / 2}),
        ("f(x)**2 + f(x)*z", "f", x, {}),
        ("sin(f(x))", "f", x / 3, {}),
        ("a*f(x)/(1 + g(z))", "g", z, {"f": x}),
    ],
)
def test_a_frame_that_is_undone_gives_the_part(text, name, inside, others):
    template = read_template(text, NAMES)
    columns = {"x": x, "y": y, "z": z, "a": np.full(len(x), 2.0), name: inside, **others}
    made = Frames([template], [table(evaluate(template.frame, columns).values)])
    near = {name: inside * 1.1 + 0.05, **others}
    target, weights = made.undone(name, near, {"a": 2.0} if template.constants else {})
    rows = weights > 0
    assert rows.mean() > 0.5
    assert target[rows] == pytest.approx(inside[rows], rel=1e-6)


def test_polynomials_say_what_the_parts_are_like():
    made = frames("f(x)*exp(-g(y))", (x + 1) * np.exp(-np.sqrt(y)))
    smooth, rng = None, np.random.default_rng(0)
    for degree in (0, 1, 2, 3, 5):
        smooth = made.smooth(degree, smooth, FitSettings(max_iterations=40), rng)
    assert smooth.found.r2 > 0.9999
    assert abs(np.corrcoef(smooth.values["g"], np.sqrt(y))[0, 1]) > 0.999


def test_a_constant_of_a_part_that_stands_twice_is_one():
    made = frames("f(x) + y*f(x)", 2.5 * x * (1 + y))
    filled = made.fit({"f": parse("1.0*x")}, {}, FitSettings())
    assert filled.parts["f"].constants == pytest.approx((2.5,))


# ---- searches -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values", "parts"),
    [
        ("f(x, z)*exp(-g(y))", (x * z + 1) * np.exp(-(y**2) / 2), {"f(x, z)": "x*z + 1", "g(y)": "y**2/2"}),
        ("a*f(x)/(1 + g(z))", 2.5 * x**2 / (1 + z**3), {"f(x)": "x**2", "g(z)": "z**3"}),
        ("f(x*y) + z", (x * y) ** 2 + z, {"f(x*y)": "(x*y)**2"}),
    ],
)
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_parts_are_found(text, values, parts, noise):
    best = found(text, values, noise).best
    assert [str(part) for part in best.parts] == list(parts)
    made = {
        name: formula.with_constants([round(c, 1) for c in formula.constants]) for name, formula in best.parts.items()
    }
    columns = {"x": x, "y": y, "z": z}
    for name, text_of_part in parts.items():
        right, mine = evaluate(parse(text_of_part), columns).values, evaluate(made[name], columns).values
        assert np.abs(np.corrcoef(right, mine))[0, 1] > 0.9999
    assert best.r2 > (0.9999999 if not noise else 0.999)


def test_an_exact_formula_is_said_to_be_one_and_has_the_frame():
    front = found("f(x, z)*exp(-g(y))", (x * z + 1) * np.exp(-(y**2) / 2))
    assert "exact" in front.status
    assert str(front.best) == "t = (x*z + 1)*exp(-(y**2/2))"


def test_outliers_do_not_decide_by_a_loss_that_bounds_them():
    values = (x**2 + 1) * y * (1 + 0.001 * RNG.normal(size=len(x)))
    values[::10] += RNG.normal(0, 50, len(values[::10]))
    best = found("f(x)*y", values, loss="huber").best
    assert np.abs(best.predict(dict(zip(NAMES, X.T, strict=True))) / ((x**2 + 1) * y) - 1).max() < 0.05
    assert best.r2 > 0.999  # as the loss counts


def test_formulas_are_told_while_parts_are_searched_and_what_is_found_is_the_same():
    data, settings, said = table((x**2 + 1) * y, noise=0.05), replace(SHORTCUTS, template="f(x)*y"), []
    (watched,) = search_templates([data], settings, watchers=[said.append])
    (alone,) = search_templates([data], settings)
    assert [str(one) for one in watched] == [str(one) for one in alone]
    stages = list(dict.fromkeys(update.stage for update in said))
    assert "template" in stages[1:]  # before that, those of the search of the part
    assert all(set(update.best.expression.variables) == {"x", "y"} for update in said)
    assert all(update.best in update.front for update in said)
    assert said[-1].scored >= said[0].scored > 0


def test_a_watcher_ends_a_search_of_a_template():
    def stop(update):
        if update.stage == "template":
            raise StopIteration

    settings = replace(SHORTCUTS, template="f(x)*y")
    (front,) = search_templates([table((x**2 + 1) * y, noise=0.05)], settings, watchers=[stop])
    assert front.status == "stopped by a callback"


def test_targets_share_a_part():
    tables = [table(x**2 * y + 1, "u"), table(x**2 + z, "v")]
    settings = replace(SHORTCUTS, template={"u": "f(x)*y + a", "v": "f(x) + g(z)"})
    u, v = (front.best for front in search_templates(tables, settings))
    assert u.parts["f(x)"] == v.parts["f(x)"] == parse("x**2")
    assert (u.target, v.target) == ("u", "v")
    assert u.r2 > 0.9999999
    assert v.r2 > 0.9999999


def test_parts_are_constrained_apart_and_the_whole_keeps_the_constraints():
    said = {"f": {"max_complexity": 3}, "g": {"operators": ["+", "*"], "constraints": {"max_uses": {"pow": 0}}}}
    front = found("f(x)*g(y)", (x**2 + 1) * np.sqrt(y), parts=said, constraints=Constraints(max_constants=4))
    for equation in front:
        assert equation.parts["f(x)"].complexity <= 3
        assert "**0" not in str(equation.parts["g(y)"])
        assert len(equation.expression.constants) <= 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x + y", "template must have a function to be found, such as f"),
        ("f(q)", "'q' is no column"),
        ("f(x) + f(y)", r"the same arguments wherever it stands, got f\(x\) and f\(y\)"),
        ("x(y)", r"a part must not have the name of a column, got x\(y\)"),
        ("f(g(x))", r"f\(g\) must be of columns .* and 'g' is a part"),
        ("f(2)", "every argument of a part must have a column"),
        ("f(x, x)", "the arguments of a part must differ"),
        ("x + 1 = f(x)", "with the target alone on the left"),
    ],
)
def test_a_template_that_is_none_is_refused_in_words(text, message):
    with pytest.raises(ValueError, match=message):
        found(text, x + y)


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"template": 5}, TypeError, "template must be text, or a dict"),
        ({"template": {"u": "f(x)"}}, ValueError, r"a formula for each target \(t\)"),
        (
            {"template": "f(x)", "parts": ["f"]},
            TypeError,
            "parts must be a dict of what is known of a template's parts",
        ),
        ({"parts": {"f": {}}}, ValueError, "parts are functions in a template, and there is none; got parts for f"),
        ({"template": "f(x)", "parts": {"g": {}}}, ValueError, r"functions of the template \(f\), got 'g'"),
        ({"template": "f(x)", "parts": {"f": {"size": 3}}}, ValueError, "no keys but operators, .*, got 'size'"),
        ({"template": "f(x)", "parts": {"f": {"max_complexity": 0}}}, ValueError, "max_complexity must be a whole"),
        ({"template": "f(x)", "parts": {"f": {"constraints": {"uses": 1}}}}, TypeError, r"parts\['f'\]: constraints"),
        ({"template": "f(x)", "constants_per": "y"}, ValueError, "can't be used together: write a"),
        ({"template": {"t": "f(x)"}, "loss": "huber"}, ValueError, "loss must be 'squared' where targets share"),
    ],
)
def test_settings_of_parts_that_are_none_are_refused_in_words(settings, kind, message):
    with pytest.raises(kind, match=message):
        search_templates([table(x + y)], SearchSettings(**settings))


def test_what_no_template_can_be():
    with pytest.raises(NothingFoundError):
        found("f(x) + y", x**2 + y, constraints=Constraints(requires=("z",)))
    with pytest.raises(DataError, match="has no value on these data, whatever its parts are"):
        found("f(x) + log(-y)", x + y)
    with pytest.raises(ValueError, match="a template is searched by search_templates"):
        search(table(x + y), SearchSettings(template="f(x)"))


def test_numbers_of_a_frame_are_fitted_and_whole_numbers_stay():
    best = found("2*f(x) + 1.5*y", 2 * x**2 + 3.7 * y).best
    assert str(best) == "t = 2*x**2 + 3.7*y"


def test_a_part_that_is_called_nearly_as_an_operator_is_told_of():
    with pytest.warns(DataWarning, match="'sine' in the template is a function to be found; did you mean 'sin'?"):
        assert list(read_template("sine(x) + g(z)", NAMES).parts) == ["sine", "g"]


def test_a_function_chooses_a_row():
    values = x**2 * np.exp(-y)
    usual = found("f(x)*exp(-g(y))", values, noise=0.02)
    longest = found("f(x)*exp(-g(y))", values, noise=0.02, selection=lambda frame: len(frame) - 1)
    assert usual.chosen < longest.chosen == len(longest) - 1
