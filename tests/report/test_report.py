"""The pictures show what the network and the search have: no node, edge or number more or less."""

from dataclasses import replace
from itertools import pairwise

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib.patches import Circle
from PIL import Image

from prunesymnet.coefficients import fit
from prunesymnet.data import make_dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.expression import canonical, parse, to_text
from prunesymnet.network import Network
from prunesymnet.operators import make_operator
from prunesymnet.report import draw_loss, draw_network, draw_pruning, draw_subnetwork, save_pictures
from prunesymnet.report.loss import drawn_formula
from prunesymnet.search import Candidate, Pruned, SearchResult, SearchStatus

NAMES = ("x", "y", "z", "mass", "semi_major_axis_of_the_orbit")
NETWORKS = [Network(NAMES[:1]), Network(NAMES), Network(("x", "y"), ("+", "*", "sin"), 1)]
by_network = pytest.mark.parametrize("network", NETWORKS, ids=["1 input", "5 inputs", "1 layer"])


def random_choice(network, rng):
    """A subnetwork that is neither the smallest nor huge."""
    while True:
        choice, nodes = {}, [-1]
        while nodes:
            for group in network.groups_of[nodes.pop()]:
                choice[group] = int(rng.integers(network.groups[group].width))
                if choice[group] >= network.sizes[0] and len(choice) < 60:
                    nodes.append(choice[group])
        if (
            all(group in choice for n in set(choice.values()) for group in network.groups_of.get(n, ()))
            and len(choice) > 1
        ):
            needed = list(network.needed(choice))
            return {group: choice[group] for group in needed}


def weights_of(network, rng):
    return rng.normal(size=network.edges) * 10.0 ** rng.integers(-6, 6, network.edges)


def artists(figure, start):
    """What was drawn under names that begin so, by the rest of the name."""
    found = figure.findobj(lambda artist: artist.get_gid() is not None and artist.get_gid().startswith(start))
    return {artist.get_gid()[len(start) :].strip(): artist for artist in found}


def circles(axes):
    return {int(a.get_gid().split()[1]) for a in axes.patches if isinstance(a, Circle)}


def overlapping(figure, texts):
    boxes = [text.get_window_extent() for text in texts]
    return [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]


def result(**changes):
    """A search that found x*y in 40 epochs, made by hand: two prunings, a loss that was not finite once."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (20, 2))
    network = Network(("x", "y"), ("+", "*", "sin"), 2)
    product = next(node for node in range(network.sizes[-1]) if (row := network.operator_of(node)) and row.name == "*")
    first, second = network.groups_of[product]
    choice = {len(network.groups) - 1: product, first: 0, second: 1}
    data = make_dataset(X, X[:, 0] * X[:, 1], names=["x", "y"], target="f")
    fitted = fit(parse("1.5*x*y"), data)
    made = SearchResult(
        best=replace(fitted, expression=parse("x*y")),
        status=SearchStatus.EXACT,
        epochs=40,
        seconds=1.0,
        candidate=Candidate(fitted, 0.0, "networks", Pruned(40, choice, rng.normal(size=network.edges))),
        network=network,
        losses=(float("inf"), float("nan"), *np.geomspace(1e3, 1e-2, 38)),
        prunings=(20, 40),
        improvements=((0, "x + y", float("inf")), (20, "x*sin(y)", 0.3), (40, "x*y", 1e-30)),
        front=Front((Equation.of(fitted, data),), 0),
    )
    return replace(made, **changes)


@by_network
def test_the_full_network_has_all_nodes_edges_and_ids(network):
    figure = draw_network(network)
    figure.canvas.draw()
    assert circles(figure.axes[0]) == set(range(-1, network.sizes[-1]))
    collections = artists(figure, "")
    assert len(collections["edges"].get_segments()) == network.edges
    assert len(collections["ids"].get_offsets()) == len(collections["fixed"].get_segments()) == sum(network.sizes[:-1])
    assert f"{network.edges:,}" in artists(figure, "title")[""].get_text()


@by_network
def test_nodes_do_not_overlap(network):
    figure = draw_network(network)
    centres = np.array([patch.center for patch in figure.axes[0].patches if isinstance(patch, Circle)])
    apart = np.linalg.norm(centres[:, None] - centres, axis=-1) + 9 * np.eye(len(centres))
    assert apart.min() > 2 * figure.axes[0].patches[0].radius


@by_network
@pytest.mark.parametrize("seed", range(3))
def test_the_subnetwork_shows_each_retained_edge_with_its_weight(network, seed):
    rng = np.random.default_rng(seed)
    choice, weights = random_choice(network, rng), weights_of(network, rng)
    figure = draw_subnetwork(network, weights, choice)
    shown = {int(i): float(t.get_text().replace("−", "-")) for i, t in artists(figure, "weight").items()}
    assert shown == {i: pytest.approx(weights[network.groups[i].start + n], rel=5.1e-3) for i, n in choice.items()}
    assert {int(i) for i in artists(figure, "edge ")} == set(choice)
    assert circles(figure.axes[0]) == set(range(-1, network.sizes[-1]))  # the others are there, but faint
    bold = {int(n) for n, patch in artists(figure, "node").items() if patch.get_zorder() > 6}
    assert bold == {-1, *choice.values()}
    titles = figure.findobj(lambda a: a.get_gid() in ("title", "caption"))
    assert not overlapping(figure, [*artists(figure, "weight").values(), *titles])


@by_network
def test_nothing_is_written_outside_the_picture(network):
    rng = np.random.default_rng(1)
    for figure in (
        draw_network(network),
        draw_subnetwork(network, weights_of(network, rng), random_choice(network, rng)),
    ):
        for text in [*figure.texts, *figure.axes[0].texts]:
            box = text.get_window_extent()
            assert box.x0 >= 0, text
            assert box.x1 <= figure.bbox.width, text
            assert box.y0 >= 0, text
            assert box.y1 <= figure.bbox.height, text


def test_an_id_chain_is_one_line_with_a_dot_per_layer():
    network = Network(("x",), ("+", "sin"), 4)
    figure = draw_subnetwork(network, np.ones(network.edges), {len(network.groups) - 1: 0})
    (chain,) = artists(figure, "chain").values()
    x = chain.get_path().vertices[:, 0]
    assert x[-1] == pytest.approx(max(n.center[0] for n in artists(figure, "node").values()) * 4 / 5)
    assert [len(line.get_xdata()) for line in figure.axes[0].lines] == [4]


def test_the_title_is_the_formula_and_what_it_became():
    network, rng = NETWORKS[2], np.random.default_rng(5)
    choice, weights = random_choice(network, rng), rng.normal(size=network.edges)
    formula = to_text(canonical(network.expression(torch.from_numpy(weights), choice)), digits=3)
    assert artists(draw_subnetwork(network, weights, choice), "title")[""].get_text() == formula
    figure = draw_subnetwork(network, weights, choice, fitted=parse("x + 0.33333"))
    assert artists(figure, "title")[""].get_text() == f"trained: {formula}"
    assert artists(figure, "fitted")[""].get_text() == "fitted: x + 0.333"


def test_a_users_operator_has_its_name_in_the_node():
    both = make_operator("hypotenuse", lambda a, b: np.sqrt(a * a + b * b))
    network = Network(("a_1", "b"), (both, "sin", "square"), 2)
    choice = random_choice(network, np.random.default_rng(2))
    for figure in (draw_network(network), draw_subnetwork(network, np.ones(network.edges), choice)):
        figure.canvas.draw()
        names = {t.get_text() for t in artists(figure, "name").values()}
        assert names == {"a_1", "b", "1", "hypot…", "sin", "x²", "out"}


@by_network
def test_pruning_goes_from_the_full_network_to_the_subnetwork(network):
    rng = np.random.default_rng(2)
    choice, weights = random_choice(network, rng), weights_of(network, rng)
    figure = draw_pruning(network, weights, choice, steps=8)
    panels = figure.axes
    still = [len(next(c for c in p.collections if c.get_gid() == "open").get_segments()) for p in panels]
    kept = [{int(a.get_gid().split()[1]) for a in p.patches if a.get_gid().startswith("edge")} for p in panels]
    assert (still[0], kept[0]) == (network.edges, set())
    assert (still[-1], kept[-1]) == (0, set(choice))
    assert still == sorted(set(still), reverse=True)
    assert all(a < b for a, b in pairwise(kept))
    assert circles(panels[0]) == set(range(-1, network.sizes[-1]))
    assert circles(panels[-1]) == {-1, *choice.values()}


@pytest.mark.parametrize("steps", [2, 3, 4])
def test_pruning_has_as_many_panels_as_asked_for(steps):
    made = result()
    figure = draw_pruning(made.network, made.candidate.pruned.weights, made.candidate.pruned.choice, steps)
    assert len(figure.axes) == min(steps, 3)  # whole, output, subnetwork: there is no more to show


@pytest.mark.parametrize("steps", [1, 2.5])
def test_too_few_steps_are_refused(steps):
    made = result()
    with pytest.raises(ValueError, match=rf"steps must be a whole number >= 2, got {steps}"):
        draw_pruning(made.network, made.candidate.pruned.weights, made.candidate.pruned.choice, steps)


def test_the_loss_is_on_a_log_axis_with_prunings_and_improvements():
    made = result()
    figure = draw_loss(made)
    figure.canvas.draw()
    upper, lower = figure.axes
    assert upper.get_yscale() == lower.get_yscale() == "log"
    found = artists(figure, "")
    losses = found["loss"].get_ydata()
    assert np.isnan(losses[:2]).all()
    np.testing.assert_array_equal(losses[2:], made.losses[2:])
    assert [segment[0, 0] for segment in found["prunings"].get_segments()] == [20, 40]
    assert list(found["improvements"].get_xdata()) == [20, 40]
    assert list(found["improvements"].get_ydata()) == [0.3, 1e-30]
    assert list(found["held-out"].get_ydata()) == [0.3, 1e-30, 1e-30]
    assert found["formula"].get_text() == "x*y"
    assert artists(draw_loss(result(status=SearchStatus.MAX_EPOCHS)), "formula")[""].get_text() == "1*x*y"


def test_a_held_out_error_of_zero_is_called_zero():
    figure = draw_loss(result(improvements=((0, "x", 3.0), (20, "x*y", 0.0))))
    figure.canvas.draw()
    last = artists(figure, "improvements")[""].get_ydata()[-1]
    lower = figure.axes[1]
    labels = {tick: text.get_text() for tick, text in zip(lower.get_yticks(), lower.get_yticklabels(), strict=True)}
    assert last == 0
    assert [tick for tick, text in labels.items() if text == r"$\mathdefault{0}$"] == [0]


@pytest.mark.parametrize(
    "changes",
    [
        {"losses": (), "prunings": (), "epochs": 0, "improvements": ((0, "x", 0.0),)},
        {"losses": (float("nan"),) * 3, "epochs": 3, "improvements": ((0, "x", float("inf")),)},
        {"losses": (1.0,), "epochs": 1, "improvements": ((0, "x", 1.0),)},
        {"losses": (1.0,) * 3000, "epochs": 3000, "prunings": tuple(range(20, 3001, 20))},
    ],
    ids=["no epoch", "nothing finite", "one epoch", "150 prunings"],
)
def test_a_search_with_little_or_much_to_show(changes):
    draw_loss(result(**changes)).canvas.draw()


def test_four_files_are_written(tmp_path):
    before = dict(matplotlib.rcParams)
    saved = save_pictures(result(), tmp_path / "new" / "folder")
    assert dict(matplotlib.rcParams) == before
    assert [path.name for path in saved.paths] == ["network.png", "subnetwork.png", "pruning.png", "loss.png"]
    assert saved.left_out == []
    for path in saved.paths:
        with Image.open(path) as image:
            assert image.info["dpi"] == pytest.approx((150, 150), abs=0.1)
            assert len(image.convert("RGB").getcolors()) > 20


@pytest.mark.parametrize(("file_format", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_other_formats_are_the_same_each_time(tmp_path, file_format, start):
    for name in ("a", "b"):
        saved = save_pictures(result(), tmp_path / name, file_format)
        assert [path.suffix for path in saved.paths] == [f".{file_format}"] * 4
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes().startswith(start)
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match="file_format must be one of svg, png, pdf, got 'gif'"):
        save_pictures(result(), tmp_path, "gif")


def test_a_formula_that_is_not_exact_is_that_of_the_subnetwork():
    made = result(status=SearchStatus.MAX_EPOCHS)
    assert drawn_formula(made) == made.candidate.fit.expression != made.best.expression
    assert drawn_formula(result()) == made.best.expression


def test_a_wide_network_has_one_panel_across():
    network = Network(("x",), layers=12)
    panels = draw_pruning(network, np.ones(network.edges), {len(network.groups) - 1: 0}).axes
    assert len({axes.get_position().x0 for axes in panels}) == 1


def test_pictures_of_a_subnetwork_that_is_not_there_are_left_out(tmp_path):
    made = result()
    saved = save_pictures(replace(made, candidate=replace(made.candidate, pruned=None)), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loss.png", "network.png"]
    assert [path.name for path in saved.paths] == ["network.png", "loss.png"]
    assert saved.left_out == ["subnetwork.png", "pruning.png"]
