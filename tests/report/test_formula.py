"""The picture of a formula computes what the formula does, shows each number of it, and stays legible."""

import matplotlib.colors
import numpy as np
import pytest
from hypothesis import given, settings

from prunesymnet.expression import Variable, apply, evaluate, parse
from prunesymnet.operators import OPERATORS, make_operator
from prunesymnet.report import draw_formula
from prunesymnet.report.drawing import BLUE, ORANGE, RADIUS
from prunesymnet.report.formula import weight_text
from prunesymnet.report.graph import make_graph
from samples import COLUMNS, comparable, differ
from strategies import expressions

LONG = " + ".join(f"1.{k}*x{k}*exp(-0.{k}*y)" for k in range(1, 10))
FORMULAS = {
    "law": "2.5*wind_speed**2 - 1.3*b*theta + 0.7",
    "quotient": "b/5 - 2*wind_speed*(0.25*theta - sin(1.05*theta)**2/theta)",
    "polynomial": "0.08*b**2*t - 0.015*b*t*w - 0.05*b*t**2 - 0.04*b*w + 1.2*b**3 + 4.4*t**3 - 0.3*w**2 + 1.01",
    "many": LONG,
    "shared": "sin(x + y)/(x + y) - log(sin(x + y))*x",
    "one": "1407/volume",
    "variable": "x",
    "number": "3.5",
}
by_formula = pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)


def artists(figure, start):
    found = figure.findobj(lambda artist: artist.get_gid() is not None and artist.get_gid().startswith(start))
    return {artist.get_gid()[len(start) :].strip(): artist for artist in found}


def value(weight):
    return 1.0 if weight is None else float(np.ravel(evaluate(weight, {}).values)[0])


def computed(graph, columns):
    """What comes out of the network."""
    values = []
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            ends = [values[edge.source] * value(edge.weight) for edge in node.operands]
            if node.kind == "input":
                values.append(1.0 if node.text == "1" else columns[node.text])
            else:
                values.append(ends[0] if node.kind == "output" else OPERATORS[node.text].numpy(*ends))
    return values[-1]


@given(expressions())
def test_the_network_computes_the_formula(formula):
    values, slack, usable = comparable(formula)
    graph = make_graph(formula)
    assert not differ(computed(graph, COLUMNS), values, slack, usable)
    assert graph.nodes[-1].kind == "output"
    for i, node in enumerate(graph.nodes):
        assert all(edge.source < i and graph.nodes[edge.source].layer == node.layer - 1 for edge in node.operands)
        assert node.kind in ("input", "output") or len(node.operands) == OPERATORS[node.text].arity


@given(expressions(max_leaves=14))
@settings(max_examples=15)
def test_any_formula_can_be_drawn(formula):
    graph, figure = make_graph(formula), draw_formula(formula, target="f")
    drawn = {i: node for i, node in enumerate(graph.nodes) if node.kind != "id"}
    assert set(artists(figure, "node")) == {str(i) for i in drawn}
    assert set(artists(figure, "edge")) == {f"{i}.{k}" for i, node in drawn.items() for k in range(len(node.operands))}
    assert set(artists(figure, "chain")) == {str(i) for i in range(len(graph.nodes)) if i not in drawn}


def test_equal_parts_are_there_once():
    graph = make_graph(parse(FORMULAS["shared"]))
    texts = [node.text for node in graph.nodes]
    assert texts.count("+") == texts.count("sin") == texts.count("x") == 1


@pytest.mark.parametrize(
    ("formula", "weights"),
    [
        ("2.5*x**2 - 1.3*x*y + 0.7", ["2.5", "−1.3", "0.7"]),
        ("-x", ["−1"]),
        ("x - y", []),
        ("x/3", ["1/3"]),
        ("sin(2*pi*x)", ["2π"]),
        ("1.5e-9*x + 12345.6*y", ["1.50e−9", "1.23e4"]),
        ("3*(x + y)*z", ["3"]),
        ("x**1.5", ["1.5"]),
        ("2 - x", ["2"]),
    ],
)
def test_a_number_that_multiplies_is_the_weight_of_an_edge(formula, weights):
    found = artists(draw_formula(parse(formula)), "weight")
    assert sorted(text.get_text() for text in found.values()) == sorted(weights)


@by_formula
def test_each_constant_is_on_an_edge_in_the_colour_of_its_sign(formula):
    formula = parse(formula)
    graph, figure = make_graph(formula), draw_formula(formula)
    shown = artists(figure, "weight")
    for i, node in enumerate(graph.nodes):
        for k, edge in enumerate(node.operands if node.kind != "id" else ()):
            negative = value(edge.weight) < 0
            if edge.weight is not None:
                assert shown[f"{i}.{k}"].get_text() == weight_text(edge.weight)
            colour = artists(figure, f"edge {i}.{k}")[""].get_edgecolor()
            assert matplotlib.colors.to_hex(colour).upper() == (ORANGE if negative else BLUE)
    values = [abs(float(text.get_text().replace("−", "-"))) for text in shown.values() if "/" not in text.get_text()]
    for constant in formula.constants:
        assert any(value == pytest.approx(abs(constant), rel=5.1e-3) for value in values)


@by_formula
def test_nothing_overlaps_and_nothing_is_cut_off(formula):
    figure = draw_formula(parse(formula), target="a_long_name_of_a_target")
    axes = figure.axes[0]
    figure.canvas.draw()
    centres = np.array([patch.center for patch in artists(figure, "node").values()])
    apart = np.linalg.norm(centres[:, None] - centres, axis=-1) + 9 * np.eye(len(centres))
    assert apart.min() > 2 * RADIUS
    boxes = [text.get_window_extent() for text in artists(figure, "weight").values()]
    assert not [1 for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]
    for text in axes.texts:
        box = text.get_window_extent()
        assert min(box.x0, box.y0) >= 0, text
        assert box.x1 <= figure.bbox.width, text
        assert box.y1 <= figure.bbox.height, text


@by_formula
def test_layers_go_from_the_inputs_to_the_output(formula):
    graph, figure = make_graph(parse(formula)), draw_formula(parse(formula))
    nodes = artists(figure, "node")
    left = {layer: {nodes[i].center[0] for i in nodes if graph.nodes[int(i)].layer == layer} for layer in range(99)}
    columns = [places for places in left.values() if places]
    assert all(len(places) == 1 for places in columns)
    assert columns == sorted(columns, key=min)
    first = [nodes[str(i)].center[0] for i, node in enumerate(graph.nodes) if node.kind == "input" and node.text != "1"]
    assert set(first) <= {0.0}


def test_a_long_sum_has_few_layers():
    terms = " + ".join(f"1.5*x{k}" for k in range(32))
    assert make_graph(parse(terms)).layers == 6  # five of sums, and the output
    assert make_graph(parse(terms.replace("+", "-"))).layers == 6


def test_a_deep_formula_needs_no_recursion():
    tall = Variable("x")
    for _ in range(3000):
        tall = apply("exp", tall) - 0.5
    assert make_graph(tall).layers == 6001


def test_names_are_written_as_they_are():
    both = make_operator("hypotenuse", lambda a, b: np.sqrt(a * a + b * b))
    formula = parse("hypotenuse(mass_of_it, 温)", operators=[both])
    figure = draw_formula(formula, target="длина")
    figure.canvas.draw()
    names = {t.get_text() for t in artists(figure, "name").values()}
    assert names == {"mass_of_it", "□", "hypot…", "длина"}
    dollars = draw_formula(parse("x"), target="$x$")
    assert artists(dollars, "name 1")[""].get_parse_math() is False


@pytest.mark.parametrize(
    ("text", "shown"),
    [("-0.123456", "−0.123"), ("2*pi", "2π"), ("-pi/2", "−π/2"), ("sqrt(2.0)/3.3333", "0.424"), ("-17", "−17")],
)
def test_weights_take_little_room(text, shown):
    assert weight_text(parse(text)) == shown
