"""Pruning: the losses against running the whole network, the pruners against each other, and what comes out."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from prunesymnet.expression import canonical, evaluate, skeleton
from prunesymnet.network import Network
from prunesymnet.network.pruning import PRUNERS, PruningSettings, Subnetwork, Trained, beam, greedy, random, reverse
from prunesymnet.network.pruning.beam import chosen, logits
from prunesymnet.network.pruning.subnetwork import retain, score_edges
from prunesymnet.operators import OPERATORS, PAPER, UNNESTED, make_operator
from torch_network import forward_pass, initial_weights, input_rows, only

ALL = tuple(name for name in OPERATORS if name not in ("id", "pow", "pi"))
CERTAIN = PruningSettings(sampled_layers=0)


def columns_of(network, seed=0, points=20):
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(-2, 2, points) for name in network.inputs}


def target_of(columns):
    first, *_, last = *columns.values(), *columns.values()
    return first * last + 0.5 * np.sin(2 * last) + 0.3


def trained_network(seed=0, operators=PAPER, layers=3, inputs=("x", "y"), quotients=True):
    """A network with random weights, of which none is zero, and its nodes, in float64."""
    network = Network(inputs, operators, layers)
    weights = initial_weights(network, 1, seed, dtype=torch.float64)
    if quotients:
        weights[weights == 0] = 0.1
    columns = columns_of(network, seed)
    passed = forward_pass(network, weights, input_rows(network, columns, dtype=torch.float64))
    return Trained(network, weights[0].numpy(), passed.nodes[0].numpy(), target_of(columns))


def losses_by_force(trained, columns, chosen, group):
    """The error of the whole network, run once per edge of the group, with what is pruned at zero."""
    network = trained.network
    pruned = trained.weights.copy()
    for i, source in chosen.items():
        g = network.groups[i]
        kept = pruned[g.start + source]
        pruned[g.start : g.start + g.width] = 0.0
        pruned[g.start + source] = kept
    g = network.groups[group]
    every = np.repeat(pruned[None], g.width, 0)
    every[:, g.start : g.start + g.width] *= np.eye(g.width)
    output = forward_pass(network, torch.from_numpy(every), input_rows(network, columns, dtype=torch.float64)
    ).output.numpy()  # fmt: skip
    return np.mean((output - trained.target) ** 2, axis=1)


def skip_nothing(trained, seed, rescale, forbidden=()):
    """Walk to a random complete subnetwork; each step's state, group, scores and the edge retained."""
    rng = np.random.default_rng(seed)
    state = Subnetwork.whole()
    while (group := state.next_group(trained.network)) is not None:
        scores = score_edges(trained, state, group, forbidden, rescale)
        source = int(rng.choice(np.flatnonzero(np.isfinite(scores.losses))))
        yield state, group, scores, source
        state = retain(trained.network, state, scores, source, forbidden)


# ---- the losses ---------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10_000),
    operators=st.sampled_from([PAPER, ALL, ("+", "*"), ("-", "/", "exp")]),
    inputs=st.sampled_from([("x",), ("x", "y", "z")]),
)
@settings(max_examples=25)
def test_the_loss_of_an_edge_is_that_of_the_network_run_with_it_alone(seed, operators, inputs):
    trained = trained_network(seed, operators, 3, inputs)
    columns = columns_of(trained.network, seed)
    for state, group, scores, _ in skip_nothing(trained, seed, rescale=False):
        expected = losses_by_force(trained, columns, state.chosen, group)
        np.testing.assert_allclose(scores.losses, expected, rtol=1e-6)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_a_rescaled_loss_is_the_least_over_the_weight_of_the_output(seed):
    trained = trained_network(seed, ALL, 2)
    network, y = trained.network, trained.target
    columns = columns_of(network, seed)
    last = network.groups[-1]
    for state, group, scores, source in skip_nothing(trained, seed, rescale=True):
        chosen = {**state.chosen, group: source}
        pruned = trained.weights.copy()
        for i, kept in chosen.items():
            g = network.groups[i]
            pruned[g.start : g.start + g.width] *= np.arange(g.width) == kept
        output = forward_pass(network, torch.from_numpy(pruned[None]), input_rows(network, columns, dtype=torch.float64)
        ).output[0].numpy()  # fmt: skip
        (scale,), *_ = np.linalg.lstsq(output[:, None], y, rcond=None)
        assert scores.losses[source] == pytest.approx(np.mean((scale * output - y) ** 2), rel=1e-6)
        assert last.node == -1


def test_edges_of_weight_zero_can_not_be_retained():
    trained = trained_network(0, quotients=False)
    scores = score_edges(trained, Subnetwork.whole(), len(trained.network.groups) - 1, (), rescale=True)
    quotients = [n for n in range(trained.network.sizes[-1]) if (r := trained.network.operator_of(n)) and r.name == "/"]
    assert quotients
    assert np.flatnonzero(np.isinf(scores.losses)).tolist() == quotients


@pytest.mark.parametrize("seed", range(3))
def test_a_users_operator_is_scored_as_the_network_runs_it(seed):
    trained = trained_network(seed, ("+", make_operator("bump", lambda u: 1 / (1 + u * u)), "*"))
    columns = columns_of(trained.network, seed)
    for state, group, scores, _ in skip_nothing(trained, seed, rescale=False):
        np.testing.assert_allclose(scores.losses, losses_by_force(trained, columns, state.chosen, group), rtol=1e-6)


def test_a_users_operator_is_protected_when_it_is_scored():
    trained = trained_network(0, ("+", make_operator("root", np.sqrt, domain=lambda u: u >= 0)), layers=1)
    columns = columns_of(trained.network, 0)
    node = trained.network.sizes[0] + 1
    last = len(trained.network.groups) - 1
    first = score_edges(trained, Subnetwork.whole(), last, (), rescale=False)
    state = retain(trained.network, Subnetwork.whole(), first, node, ())
    group = state.next_group(trained.network)
    scores = score_edges(trained, state, group, (), rescale=False)
    np.testing.assert_allclose(scores.losses, losses_by_force(trained, columns, state.chosen, group), rtol=1e-6)


# ---- the pruners --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_greedy_is_a_beam_of_one_without_chance(seed):
    trained = trained_network(seed)
    (mine,) = greedy(trained, PruningSettings(), np.random.default_rng(0))
    (theirs,) = beam(trained, PruningSettings(beam=1, sampled_layers=0), np.random.default_rng(1))
    assert mine.chosen == theirs.chosen
    assert mine.loss == theirs.loss


@pytest.mark.parametrize("rescale", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_greedy_retains_the_edge_of_least_loss_in_each_group(seed, rescale):
    trained = trained_network(seed)
    found = greedy(trained, PruningSettings(rescale=rescale), np.random.default_rng(0))[0]
    state, steps = Subnetwork.whole(), 0
    while (group := state.next_group(trained.network)) is not None:
        scores = score_edges(trained, state, group, UNNESTED, rescale)
        assert scores.losses[found.chosen[group]] == scores.losses.min()
        state = retain(trained.network, state, scores, found.chosen[group], UNNESTED)
        steps += 1
    assert steps == len(found.chosen)
    assert state.loss == found.loss


def test_a_beam_is_as_good_as_greedy_on_most_networks():
    better = 0
    for seed in range(10):
        trained = trained_network(seed)
        best = beam(trained, CERTAIN, np.random.default_rng(0))[0].loss
        better += best <= greedy(trained, CERTAIN, np.random.default_rng(0))[0].loss * (1 + 1e-12)
    assert better >= 8


@pytest.mark.parametrize("name", PRUNERS)
@pytest.mark.parametrize("seed", range(5))
def test_what_is_returned_is_complete_sorted_and_has_its_loss(name, seed):
    trained = trained_network(seed)
    network = trained.network
    columns = columns_of(network, seed)
    found = PRUNERS[name](trained, PruningSettings(rescale=False), np.random.default_rng(seed))
    assert [s.loss for s in found] == sorted(s.loss for s in found)
    assert len({tuple(sorted(s.chosen.items())) for s in found}) == len(found) or name == "random"
    for state in found:
        assert sorted(network.needed(state.chosen)) == sorted(state.chosen)
        expression = network.expression(torch.from_numpy(trained.weights), state.chosen)
        values, finite = evaluate(expression, columns)
        merged = canonical(expression)
        np.testing.assert_allclose(evaluate(merged, columns).values[finite], values[finite], rtol=1e-6, atol=1e-9)
        assert skeleton(canonical(merged)) == skeleton(merged)
        passed = forward_pass(
            network,
            only(network, torch.from_numpy(trained.weights), state.chosen)[None],
            input_rows(network, columns, dtype=torch.float64),
        )
        if finite.all() and not passed.fired.any():
            assert state.loss == pytest.approx(np.mean((values - trained.target) ** 2), rel=1e-6)


def nestings(network, chosen):
    """How often one of sin, cos, exp, log stands inside another, over all paths from the output."""

    def below(group, inside):
        source = chosen[group]
        row = network.operator_of(source)
        if row is None:
            return 0
        one = row.name in UNNESTED
        return (one and inside) + sum(below(g, inside or one) for g in network.groups_of[source])

    return below(len(network.groups) - 1, False)


@pytest.mark.parametrize("name", PRUNERS)
def test_operators_that_may_not_be_nested_are_not(name):
    nested = 0
    for seed in range(8):
        trained = trained_network(seed, ("+", "*", "sin", "cos", "exp", "log"), layers=4)
        rng = np.random.default_rng(seed)
        for state in PRUNERS[name](trained, PruningSettings(), rng):
            assert nestings(trained.network, state.chosen) == 0
        free = PRUNERS[name](trained, PruningSettings(unnested=()), rng)
        nested += sum(nestings(trained.network, state.chosen) > 0 for state in free)
    assert nested > 0


@pytest.mark.parametrize("name", PRUNERS)
def test_pruning_leaves_the_network_as_it_was(name):
    trained = trained_network(1)
    before = trained.weights.copy(), trained.nodes.copy(), trained.target.copy()
    PRUNERS[name](trained, PruningSettings(), np.random.default_rng(0))
    for array, old in zip((trained.weights, trained.nodes, trained.target), before, strict=True):
        np.testing.assert_array_equal(array, old)


@pytest.mark.parametrize("width", [1, 3, 7])
def test_as_many_subnetworks_come_out_as_the_beam_is_wide(width):
    trained = trained_network(2)
    for pruner in (beam, random):
        assert len(pruner(trained, PruningSettings(beam=width), np.random.default_rng(0))) == width


def test_the_same_random_numbers_give_the_same_subnetworks_and_others_others():
    trained = trained_network(3)
    for pruner in (beam, random):
        first, same, other = (
            [s.chosen for s in pruner(trained, PruningSettings(), np.random.default_rng(seed))] for seed in (1, 1, 2)
        )
        assert first == same
        assert first != other


def test_without_chance_the_random_numbers_do_not_matter():
    trained = trained_network(3)
    first, other = ([s.chosen for s in beam(trained, CERTAIN, np.random.default_rng(seed))] for seed in (1, 2))
    assert first == other


# ---- where chance decides, and how -------------------------------------------------------------------


@pytest.mark.parametrize(("end", "drawn"), [("input", {1, 2}), ("output", {4, 5})])
def test_edges_are_drawn_in_two_layers_counted_from_an_end(monkeypatch, end, drawn):
    """A network of four hidden layers: 1 is next to the input, and the output counts as 5."""
    trained, seen = trained_network(0, layers=4), {True: set(), False: set()}
    module = sys.modules[beam.__module__]
    layer_of_scores = []

    def scored(trained, state, group, *rest):
        layer_of_scores.append(trained.network.groups[group].layer)
        return score_edges(trained, state, group, *rest)

    def noted(losses, count, by, rng):
        if layer_of_scores:  # a group was scored; else this is the end of a layer
            seen[by is not None].add(layer_of_scores[-1])
            layer_of_scores.clear()
        return chosen(losses, count, by, rng)

    monkeypatch.setattr(module, "score_edges", scored)
    monkeypatch.setattr(module, "chosen", noted)
    for seed in range(20):
        beam(trained, PruningSettings(sampled_from=end), np.random.default_rng(seed))
    assert PruningSettings().sampled_from == "input"
    assert seen[True] <= drawn
    assert not seen[False] & drawn
    assert seen[True] | seen[False] == {1, 2, 3, 4, 5}


def test_all_subnetworks_are_through_with_a_layer_before_the_next_begins(monkeypatch):
    layers, module = [], sys.modules[beam.__module__]

    def scored(trained, state, group, *rest):
        layers.append(trained.network.groups[group].layer)
        return score_edges(trained, state, group, *rest)

    monkeypatch.setattr(module, "score_edges", scored)
    beam(trained_network(1, layers=4), PruningSettings(), np.random.default_rng(0))
    assert layers == sorted(layers, reverse=True)


LOSSES = np.array([0.5, 40.0, 3.0, np.inf, 1e6, 0.0])


def test_probabilities_are_the_softmax_of_negative_losses_over_their_norm():
    finite = np.isfinite(LOSSES)
    for scale in (1.0, 1e-9, 1e200):
        losses = LOSSES * scale
        expected = softmax(-LOSSES[finite] / np.linalg.norm(LOSSES[finite]))
        np.testing.assert_allclose(softmax(logits(losses))[finite], expected, rtol=1e-12)
        assert softmax(logits(losses))[~finite] == 0


def test_by_the_logarithm_probabilities_are_one_over_the_loss():
    losses = np.array([0.5, 4.0, 2.0])
    np.testing.assert_allclose(softmax(logits(losses, "log")), (1 / losses) / (1 / losses).sum(), rtol=1e-12)


def test_losses_of_nought_are_all_as_likely():
    assert logits(np.array([0.0, 0.0, np.inf])).tolist() == [0.0, 0.0, -np.inf]


def test_edges_are_drawn_as_often_as_the_softmax_says():
    losses, rng, times = np.array([0.1, 1.0, 3.0, np.inf]), np.random.default_rng(0), 4000
    first = [chosen(losses, 1, "loss", rng)[0] for _ in range(times)]
    shares = np.bincount(first, minlength=4) / times
    np.testing.assert_allclose(shares, softmax(logits(losses)), atol=0.04)  # five standard errors


def test_what_is_drawn_is_drawn_once_and_only_what_is_allowed():
    drawn = chosen(LOSSES, 10, "loss", np.random.default_rng(0))
    assert sorted(drawn.tolist()) == [0, 1, 2, 4, 5]


def test_without_chance_the_least_losses_are_chosen_in_order():
    assert chosen(LOSSES, 3, None, np.random.default_rng(0)).tolist() == [5, 0, 2]


def of_scale(trained, scale):
    """The same network and target in other units: the output's edges and the target are scaled."""
    weights = trained.weights.copy()
    weights[trained.network.groups[-1].start :] *= scale
    return replace(trained, weights=weights, target=trained.target * scale)


def test_the_scale_of_the_target_does_not_matter_to_the_beam():
    for seed in range(6):
        trained = trained_network(seed, layers=2)
        last = trained.network.groups[-1]
        trained = replace(trained, target=trained.weights[last.start] * trained.nodes[0])  # the answer is w*x
        small, large = (
            [s.chosen for s in beam(of_scale(trained, scale), PruningSettings(), np.random.default_rng(seed))]
            for scale in (2.0**-10, 2.0**10)
        )
        assert small == large, seed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("beam", 0),
        ("beam", 2.5),
        ("sampled_layers", -1),
        ("sampled_layers", None),
        ("sampled_from", "middle"),
        ("sampled_by", "rank"),
    ],
)
def test_bad_settings_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be .*got {value!r}"):
        PruningSettings(**{name: value})


# ---- reverse ------------------------------------------------------------------------------------------


def network_with_few_edges():
    """1.5*x*(y + 0.5) - 2*sin(3*x) + 0.7, with every other edge nearly zero."""
    network = Network(("x", "y"), ("+", "*", "sin"), layers=2)
    x, y, one, times, sine = 0, 1, 2, 4, 5
    weights = np.full(network.edges, 0.0099) * np.random.default_rng(0).choice([-1, 1], network.edges)

    def put(group, source, value):
        weights[network.groups[group].start + source] = value

    first, second = network.groups_of[times]
    put(first, x, 1.0)
    put(second, y, 1.0)
    put(second, one, 0.5)
    put(network.groups_of[sine][0], x, 3.0)
    for source, value in ((times, 1.5), (sine, -2.0), (one, 0.7)):
        put(len(network.groups) - 1, source, value)
    columns = columns_of(network)
    return Trained(network, weights, np.zeros((network.sizes[-1], 20)), np.zeros(20)), columns


def test_reverse_gives_the_formula_of_the_edges_that_are_left():
    trained, columns = network_with_few_edges()
    x, y = columns["x"], columns["y"]
    values, finite = evaluate(reverse(trained), columns)
    assert finite.all()
    np.testing.assert_allclose(values, 1.5 * x * (y + 0.5) - 2 * np.sin(3 * x) + 0.7, rtol=1e-12)
    kept = np.where(np.abs(trained.weights) >= 0.01, trained.weights, 0.0)
    inputs = input_rows(trained.network, columns, dtype=torch.float64)
    np.testing.assert_allclose(
        values, forward_pass(trained.network, torch.from_numpy(kept[None]), inputs).output[0], rtol=1e-9
    )


def test_reverse_gives_nothing_where_more_edges_are_left():
    trained, _ = network_with_few_edges()
    assert reverse(trained, most_edges=7) is not None
    assert reverse(trained, most_edges=6) is None
    assert reverse(trained, least=0.001) is None
    assert reverse(trained_network(0)) is None


def test_edges_that_lead_nowhere_count_unless_only_connected_ones_do():
    trained, _ = network_with_few_edges()
    idle = trained.network.groups[trained.network.groups_of[6][0]]  # of the + of layer 2, which nothing reads
    trained.weights[idle.start] = 1.0
    assert reverse(trained, most_edges=7) is None
    assert reverse(trained, most_edges=8) is not None
    assert reverse(trained, most_edges=7, connected=True) is not None


def test_reverse_of_a_network_without_edges_is_nought():
    trained, columns = network_with_few_edges()
    assert (evaluate(reverse(trained, least=100.0), columns).values == 0).all()


def test_reverse_writes_out_what_nodes_share():
    network = Network(("x",), ("+", "square"), layers=3)
    weights = np.zeros(network.edges)
    for layer in range(3):  # each + adds its predecessor to itself: 8*x
        before = 0 if layer == 0 else network.sizes[layer - 1]
        for group in network.groups_of[network.sizes[layer]]:
            weights[network.groups[group].start + before] = 1.0
    weights[network.groups[-1].start + network.sizes[2]] = 1.0
    trained = Trained(network, weights, np.zeros((network.sizes[-1], 20)), np.zeros(20))
    columns = columns_of(network)
    np.testing.assert_allclose(evaluate(reverse(trained), columns).values, 8 * columns["x"], rtol=1e-12)
