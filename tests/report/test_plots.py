"""The pictures of equations show their numbers: predictions, residuals, effects and the front, as they are."""

from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import prunesymnet.report
from prunesymnet.coefficients import fit
from prunesymnet.data import load_example, make_dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.expression import parse
from prunesymnet.report import draw_effects, draw_front, draw_predictions, draw_residuals
from prunesymnet.report.drawing import drawable
from prunesymnet.report.effects import MOST_PANELS, effect, effective
from prunesymnet.report.panels import MOST_POINTS, sample

rng = np.random.default_rng(0)
X = rng.uniform(0.5, 4.0, (120, 3))
NOISY = make_dataset(
    X, 2.0 * X[:, 0] ** 2 - X[:, 1] * X[:, 2] + rng.normal(0, 0.3, 120), names=["a", "b", "c"], target="y"
)


def fitted(formula, data):
    return Equation.of(fit(parse(formula), data), data)


LAW = fitted("1.0*a**2 - 1.0*b*c", NOISY)


def artists(figure, start=""):
    found = figure.findobj(lambda artist: artist.get_gid() is not None and artist.get_gid().startswith(start))
    return {artist.get_gid()[len(start) :].strip(): artist for artist in found}


def points(line):
    return np.column_stack([line.get_xdata(), line.get_ydata()])


def drawn(figure):
    figure.canvas.draw()
    return artists(figure)


def front_of(*losses, chosen=0, data=NOISY):
    forms = ["1.0*a", "1.0*a + 1.0", "1.0*a**2 + 1.0*b", "1.0*a**2 + 1.0*b*c", "1.0*a**3 + 1.0*b*c*a"][: len(losses)]
    return Front(tuple(replace(fitted(form, data), loss=x) for form, x in zip(forms, losses, strict=True)), chosen)


def test_the_front_is_complexity_against_error_with_the_choice_marked():
    front = front_of(30.0, 2.0, 0.5, 0.4, chosen=2)
    found = drawn(draw_front(front))
    expected = [(equation.complexity, equation.loss) for equation in front]
    np.testing.assert_allclose(points(found["front"]), expected)
    np.testing.assert_allclose(points(found["chosen"]), [expected[2]])
    assert found["chosen name"].get_text() == "chosen"
    assert found["front"].axes.get_yscale() == "log"
    heights = found["steps"].get_ydata()
    assert (np.diff(heights) <= 0).all()


def test_near_ties_have_a_ring_where_their_error_is_known():
    front = replace(front_of(30.0, 2.0, 0.5, float("nan"), chosen=2), ties=(1, 3))
    found = drawn(draw_front(front))
    np.testing.assert_allclose(points(found["ties"]), [(front[1].complexity, front[1].loss)])
    assert "ties" not in drawn(draw_front(replace(front, ties=())))


def test_an_error_of_zero_has_a_tick_of_its_own():
    figure = draw_front(front_of(3.0, 1e-3, 0.0, chosen=2))
    found = drawn(figure)
    axes = figure.axes[0]
    labels = {tick: text.get_text() for tick, text in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)}
    assert found["chosen"].get_ydata()[0] == 0
    assert [tick for tick, text in labels.items() if text == r"$\mathdefault{0}$"] == [0]
    heights = axes.transData.transform([(1, loss) for loss in (0.0, 1e-3, 3.0)])[:, 1]
    assert (np.diff(heights) > 20).all()  # points, told apart at a glance
    assert min(heights) > axes.bbox.y0


@pytest.mark.parametrize(
    "losses", [(0.0,), (1.0,), (float("inf"), 1.0), (float("nan"),), (1e-100, 1e100), (0.0, 0.0), (0.0, 1e-200, 1e200)]
)
def test_a_front_with_little_or_strange_errors(losses):
    figure = draw_front(front_of(*losses))
    found = drawn(figure)
    known = [loss for loss in losses if np.isfinite(loss)]
    assert ("front" in found) == bool(known)
    assert ("chosen" in found) == bool(np.isfinite(losses[0]))
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels() if text.get_text()]
    assert len(labels) == len(set(labels))


def test_predictions_are_against_what_was_observed():
    figure = draw_predictions(LAW, NOISY)
    found = drawn(figure)
    np.testing.assert_allclose(points(found["points"]), np.column_stack([NOISY.y, LAW.predict(NOISY.columns)]))
    line = points(found["identity"])
    np.testing.assert_array_equal(line[:, 0], line[:, 1])
    axes = figure.axes[0]
    assert axes.get_xlim() == axes.get_ylim()
    assert axes.get_xlabel() == "y, observed"
    assert "note" not in found


def test_values_over_decades_are_on_logarithmic_axes():
    planets = load_example("planets")
    law = fitted("1.0*semi_major_axis**1.5", planets)
    for figure in (draw_predictions(law, planets), draw_effects(law, planets)):
        drawn(figure)
        assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "log"
    assert draw_predictions(LAW, NOISY).axes[0].get_xscale() == "linear"


def test_a_logarithmic_axis_shows_all_points_whatever_the_band_reaches_down_to():
    x = np.geomspace(0.01, 1000.0, 200)
    data = make_dataset(x, 3 * x * (1 + 0.05 * rng.normal(size=200)), names=["x"], target="y")
    figure = draw_effects(fitted("1.0*x", data), data)
    found = drawn(figure)
    low, high = figure.axes[0].get_ylim()
    assert figure.axes[0].get_yscale() == "log"
    moved = found["points x"].get_ydata()
    assert low < moved[moved > 0].min() < moved.max() < high


def test_a_prediction_far_off_does_not_squeeze_the_others():
    far = make_dataset([1.0, 2, 3, 1e-9], [1.0, 0.5, 0.33, 5.0], names=["x"], target="y")
    figure = draw_predictions(replace(fitted("1.0/x", far), form=parse("1/x")), far)
    assert drawn(figure)["note"].get_text() == "1 beyond the picture"
    assert figure.axes[0].get_ylim()[1] < 10


def test_residuals_are_observed_minus_predicted():
    found = drawn(draw_residuals(LAW, NOISY))
    predicted = LAW.predict(NOISY.columns)
    np.testing.assert_allclose(points(found["residuals"]), np.column_stack([predicted, NOISY.y - predicted]))
    quantiles = points(found["quantiles"])
    np.testing.assert_allclose(quantiles[:, 1], np.sort(NOISY.y - predicted))
    np.testing.assert_allclose(quantiles[:, 0], -quantiles[::-1, 0], atol=1e-12)
    slope = np.diff(found["normal"].get_ydata()) / np.diff(found["normal"].get_xdata())
    assert slope == pytest.approx(np.sqrt(LAW.loss))


def test_weights_weigh_the_residuals_and_rows_of_weight_zero_are_left_out():
    weights = np.where(np.arange(NOISY.rows) < 20, 0.0, np.where(np.arange(NOISY.rows) < 60, 1.0, 4.0))
    data = make_dataset(NOISY.X, NOISY.y, names=NOISY.names, target="y", weights=weights)
    law = fitted("1.0*a**2 - 1.0*b*c", data)
    found = drawn(draw_residuals(law, data))
    seen = weights > 0
    residual = (data.y - law.predict(data.columns))[seen] * np.sqrt(weights[seen] / weights[seen].mean())
    np.testing.assert_allclose(found["residuals"].get_ydata(), residual)
    assert draw_residuals(law, data).axes[0].get_ylabel() == "weighted residual (observed − predicted)"


def test_an_exact_fit_has_residuals_like_any_other():
    data = make_dataset(X, X[:, 0] ** 2 / X[:, 1], names=["a", "b", "c"], target="y")
    for form in ("a**2/b", "1.0*a**2/b", "a**2*(1/b)"):
        found = drawn(draw_residuals(fitted(form, data), data))
        assert found["note"].get_text() == "no larger than rounding errors"


@pytest.mark.parametrize("draw", [draw_predictions, draw_residuals, draw_effects])
def test_rows_where_the_formula_is_not_defined_are_counted(draw):
    data = make_dataset(np.linspace(-1, 3, 41), np.linspace(0, 2, 41), names=["x"], target="y")
    some = replace(fitted("1.0*x", data), form=parse("1.5*log(x)"))
    figure = draw(some, data)
    found = drawn(figure)
    assert found["note"].get_text().startswith("not defined in 11 of 41 rows")
    assert all(np.isfinite(points(line)).all() for name, line in found.items() if name.startswith("points"))
    none = replace(some, form=parse("1.5*log(-1 - x**2)"))
    assert drawn(draw(none, data))["empty"].get_text() == "the formula is defined\nin no row of the table"


def test_effects_are_predictions_with_the_others_at_their_medians():
    figure = draw_effects(LAW, NOISY)
    found = drawn(figure)
    for name in ("a", "b", "c"):
        curve = points(found[f"curve {name}"])
        medians = {other: np.full(len(curve), np.median(column)) for other, column in NOISY.columns.items()}
        table = medians | {name: curve[:, 0]}
        np.testing.assert_allclose(curve[:, 1], LAW.predict(table))
        assert curve[0, 0] == NOISY.columns[name].min()
        assert curve[-1, 0] == NOISY.columns[name].max()
        x, values, lower, upper = effect(LAW, NOISY, name)
        np.testing.assert_allclose(np.column_stack([x, values]), curve)
        np.testing.assert_allclose([lower, upper], LAW.interval(table))
        band = found[f"band {name}"].get_paths()[0].vertices
        assert band[:, 1].min() == pytest.approx(lower.min())
        assert band[:, 1].max() == pytest.approx(upper.max())
        # A point is where its row would be: as far from the curve as it is from the formula.
        moved = points(found[f"points {name}"])
        at = {other: np.full(NOISY.rows, np.median(column)) for other, column in NOISY.columns.items()}
        off = moved[:, 1] - LAW.predict(at | {name: moved[:, 0]})
        np.testing.assert_allclose(off, NOISY.y - LAW.predict(NOISY.columns), atol=1e-9)
    assert [axes.get_xlabel() for axes in figure.axes[:3]] == ["a", "b", "c"]


def test_one_panel_alone_with_the_users_name():
    figure = draw_effects(LAW, NOISY, ["b"], labels={"b": "$x_1$ <b> 温\nm/s"})
    drawn(figure)
    (axes,) = figure.axes
    assert axes.get_xlabel() == "$x_1$ <b> □ m/s"
    assert axes.xaxis.label.get_parse_math() is False


def test_constants_that_are_not_determined_leave_no_band():
    lost = replace(LAW, covariance=np.full((2, 2), np.inf))
    found = drawn(draw_effects(lost, NOISY))
    assert all(not len(path.vertices) for path in found["band a"].get_paths())
    assert np.isfinite(points(found["curve a"])).all()


def test_of_many_variables_those_are_shown_that_matter_most():
    names = [f"x{k}" for k in range(20)]
    many = rng.uniform(size=(600, 20))
    data = make_dataset(many, many @ np.arange(20.0), names=names, target="y")
    law = replace(fitted("1.0*x0", data), form=parse(" + ".join(f"{k}*x{k}" for k in range(20))))
    shown = effective(law, data)
    assert len(shown) == MOST_PANELS
    assert set(shown) == set(names[-MOST_PANELS:])
    assert shown == [name for name in names if name in shown]
    assert len([axes for axes in draw_effects(law, data).axes if axes.axison]) == MOST_PANELS


@pytest.mark.filterwarnings("ignore:column 'x' is")
def test_a_column_of_one_value_a_pole_and_a_formula_without_variables():
    flat = make_dataset([[2.0, 1], [2, 2], [2, 3]], [1.0, 2.0, 4.0], names=["x", "z"], target="y")
    found = drawn(draw_effects(replace(fitted("1.0*z", flat), form=parse("x*z/2")), flat))
    np.testing.assert_allclose(found["curve x"].get_xdata()[[0, -1]], [1, 3])
    pole = make_dataset(np.linspace(-1, 1, 40), 1 / np.linspace(-1, 1, 40), names=["x"], target="y")
    figure = draw_effects(replace(fitted("1.0/x", pole), form=parse("1/x")), pole)
    assert np.isnan(drawn(figure)["curve x"].get_ydata()).any()  # no line goes through it
    drawn(draw_effects(fitted("1.5", NOISY), NOISY))
    assert effective(fitted("1.5", NOISY), NOISY) == []


def test_of_a_large_table_some_rows_are_drawn_and_the_picture_says_so():
    column = np.linspace(0, 1, 5000)
    data = make_dataset(column, 2 * column, names=["x"], target="y")
    law = fitted("1.0*x", data)
    for draw in (draw_predictions, draw_residuals, draw_effects):
        found = drawn(draw(law, data))
        assert found["note"].get_text().startswith("2,000 of 5,000 rows, drawn at random")
        dots = next(line for name, line in found.items() if name.startswith(("points", "residuals")))
        assert len(dots.get_xdata()) == MOST_POINTS
        assert dots.get_rasterized()
    again = sample(law, data)
    np.testing.assert_array_equal(again.observed, sample(law, data).observed)
    x, *_ = effect(law, data, "x")
    assert (x[0], x[-1]) == (0, 1)  # the range is that of all rows


def test_nothing_global_is_touched():
    before = dict(matplotlib.rcParams)
    for figure in (draw_front(front_of(1.0, 0.1)), draw_residuals(LAW, NOISY)):
        drawn(figure)
    assert dict(matplotlib.rcParams) == before
    for path in Path(prunesymnet.report.__file__).parent.glob("*.py"):
        assert "pyplot" not in path.read_text(), path


def test_letters_that_the_font_lacks():
    assert drawable("温 °C\n") == "□ °C"


def test_the_effect_of_a_column_is_drawn_in_the_most_frequent_category():
    rng = np.random.default_rng(0)
    x, site = rng.uniform(1, 3, 60), np.arange(60) % 3 // 2  # twice as often in the north
    table = make_dataset(np.column_stack([x, site == 0, site == 1]), (2 + 3 * site) * x, names=["x", "north", "south"])
    law = Equation.of(fit(parse("(2.0*north + 5.0*south)*x"), table), table)
    assert effective(law, table) == ["x"]  # a category is not a number that grows
    grid, values, _, _ = effect(law, table, "x")
    np.testing.assert_allclose(values, 2 * grid)
    grid, values, _, _ = effect(law, table, "south")
    assert values[[0, -1]] == pytest.approx([2 * np.median(x), 5 * np.median(x)])
