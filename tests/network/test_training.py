"""Training: the norm, the steps, and what keeps them finite."""

import numpy as np
import pytest
import torch

from prunesymnet.data import make_dataset
from prunesymnet.network import Network
from prunesymnet.network.training import Trainer, TrainingSettings, smoothed_half_norm
from prunesymnet.operators import OPERATORS
from torch_network import forward_pass, input_rows

ALL = tuple(name for name in OPERATORS if name not in ("id", "pow", "pi"))
SMOOTH = 0.05


def table(function=lambda x: x**2, rows=40, weights=None, low=-2.0, high=2.0):
    x = np.linspace(low, high, rows)
    return make_dataset(x, function(x), names=["x"], weights=weights)


def trainer(data=None, operators=("+", "*", "square"), layers=2, **settings):
    data = table() if data is None else data
    return Trainer(Network(data.names, operators, layers), data, TrainingSettings(**settings))


def rows_of(training, operator, operand=0):
    """Where the edges of these groups lie."""
    groups = [g for g in training.network.groups if g.operator == operator and g.operand == operand]
    return [slice(g.start, g.start + g.width) for g in groups]


# ---- the norm -------------------------------------------------------------------------------------


@pytest.mark.parametrize("xp", [np, torch])
def test_above_the_threshold_the_norm_is_the_sum_of_roots(xp):
    numbers = np.array([[0.06, -0.5, 3.0], [-2.0, 0.051, 100.0]])
    norm, slope = smoothed_half_norm(xp, numbers if xp is np else torch.from_numpy(numbers), SMOOTH)
    np.testing.assert_allclose(norm, np.sqrt(np.abs(numbers)).sum(-1), rtol=1e-12)
    np.testing.assert_allclose(slope, np.sign(numbers) / (2 * np.sqrt(np.abs(numbers))), rtol=1e-12)


@pytest.mark.parametrize("smooth", [0.05, 0.5])
@pytest.mark.parametrize("sign", [1, -1])
def test_norm_and_slope_are_continuous_at_the_threshold(smooth, sign):
    around = sign * smooth * np.array([[1 - 1e-9], [1 + 1e-9]])
    norm, slope = smoothed_half_norm(np, around, smooth)
    np.testing.assert_allclose(norm[0], norm[1], rtol=1e-7)
    np.testing.assert_allclose(slope[0], slope[1], rtol=1e-7)
    assert np.sign(slope[0, 0]) == sign


def test_the_slope_is_the_derivative_of_the_norm():
    weights = np.linspace(-0.2, 0.2, 81)[:, None] + 1e-4
    _, slope = smoothed_half_norm(np, weights, SMOOTH)
    up, down = (smoothed_half_norm(np, weights + h, SMOOTH)[0] for h in (1e-6, -1e-6))
    np.testing.assert_allclose(slope[:, 0], (up - down) / 2e-6, rtol=1e-5, atol=1e-7)


def test_the_norm_has_its_least_value_and_no_slope_at_zero():
    norm, slope = smoothed_half_norm(np, np.zeros((1, 3)), SMOOTH)
    assert norm[0] > 0
    assert (slope == 0).all()
    small, _ = smoothed_half_norm(np, np.array([[0.0, 0.01, 0.0]]), SMOOTH)
    assert small[0] > norm[0]


# ---- steps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_loss_falls_on_an_easy_problem(seed):
    training = trainer(table(lambda x: x**2 + x), seed=seed)
    losses = [float(training.step()[0]) for _ in range(200)]
    assert min(losses[-20:]) < 0.2 * losses[0]


def test_a_step_is_adams_on_the_clipped_gradient_of_error_and_norm():
    settings = {"sparsity": 0.01, "clip": 0.5, "seed": 3}
    training = trainer(table(lambda x: np.sin(x) + 3), **settings)
    data, network = table(lambda x: np.sin(x) + 3), training.network
    weights = torch.from_numpy(np.array(training.weights)).requires_grad_()
    adam = torch.optim.Adam([weights], lr=0.01)
    for _ in range(5):
        adam.zero_grad()
        output = forward_pass(network, weights, input_rows(network, data.columns)).output
        error = ((output - torch.tensor(data.y, dtype=torch.float32)) ** 2).mean()
        size = weights.abs()
        rounded = -(size**4) / (8 * SMOOTH**3) + 3 * size**2 / (4 * SMOOTH) + 3 * SMOOTH / 8
        (error + 0.01 * torch.where(size < SMOOTH, rounded, size).sqrt().sum()).backward()
        torch.nn.utils.clip_grad_norm_([weights], 0.5)
        adam.step()
        assert float(training.step()[0]) == pytest.approx(error.item(), rel=1e-4)
        np.testing.assert_allclose(training.weights, weights.detach().numpy(), rtol=1e-3, atol=1e-5)


def test_restarts_trained_together_are_those_trained_alone():
    together = trainer(restarts=3, seed=1, reinitialise_every=10_000)
    start = np.array(together.weights)
    errors = np.array([np.array(together.step()) for _ in range(40)])
    assert errors.shape == (40, 3)
    for i in range(3):
        alone = trainer(seed=9, reinitialise_every=10_000)
        alone.weights[:] = start[i : i + 1]
        mine = np.array([float(alone.step()[0]) for _ in range(40)])
        np.testing.assert_allclose(mine, errors[:, i], rtol=1e-3)
        np.testing.assert_allclose(alone.weights[0], together.weights[i], rtol=1e-2, atol=1e-4)


def test_a_restart_that_starts_again_is_one_that_starts():
    both = trainer(restarts=2, seed=1)
    for _ in range(7):
        both.step()
    both.reinitialise(np.array([False, True]))
    alone = trainer(seed=2)
    alone.weights[:] = both.weights[1:]
    for _ in range(10):
        both.step()
        alone.step()
    np.testing.assert_allclose(both.weights[1], alone.weights[0], rtol=1e-3, atol=1e-5)


def test_the_same_seed_trains_the_same():
    first, second, other = (trainer(seed=seed, restarts=2) for seed in (5, 5, 6))
    for _ in range(10):
        for training in (first, second, other):
            training.step()
    np.testing.assert_array_equal(first.weights, second.weights)
    assert np.abs(first.weights - other.weights).max() > 0.1


def test_without_gradient_the_weights_stay():
    training = trainer(gradient=False)
    before = np.array(training.weights)
    errors = []
    for _ in range(8):
        errors.append(float(training.step()[0]))
        training.after_pruning(0, 0.0)
    np.testing.assert_array_equal(training.weights, before)
    assert len(set(errors)) == 1


def test_without_gradient_weights_are_drawn_anew_when_it_is_time():
    training = trainer(gradient=False, reinitialise_every=3)
    errors = [float(training.step()[0]) for _ in range(6)]
    assert errors[0] == errors[1] == errors[2] != errors[3] == errors[4] == errors[5]


NESTING = ("+", "*", "sin", "exp", "log", "square")


def nested_edges(network):
    """By definition, one edge after the other."""
    four = {"sin", "cos", "exp", "log"}
    for group in network.groups:
        for node in range(group.width):
            row = network.operator_of(node)
            if group.operator in four and row is not None and row.name in four:
                yield group.start + node


def test_no_weight_puts_one_function_inside_another_at_the_start_and_after_each_step():
    training = trainer(operators=NESTING, layers=3, restarts=2)
    nested = sorted(nested_edges(training.network))
    assert len(nested) == 3 * 3 + 3 * 6  # each of three functions reads three others in layer 2, and six in layer 3
    for _ in range(5):
        assert (training.weights[:, nested] == 0).all()
        training.step()
    assert (training.weights[:, nested] == 0).all()
    others = np.delete(training.weights, nested, axis=1)
    assert (others != 0).all()


def test_other_operators_may_be_named_that_do_not_nest():
    free = trainer(operators=NESTING, layers=2, unnested=())
    assert (free.weights != 0).all()


def test_the_first_weights_are_those_of_a_linear_layer_in_torch():
    training = trainer(operators=("+", "square"), layers=2, restarts=500)
    for group in training.network.groups:
        drawn = training.weights[:, group.start : group.start + group.width]
        most = group.width**-0.5
        assert np.abs(drawn).max() <= most * (1 + 1e-6)
        assert drawn.std() == pytest.approx(most / 3**0.5, rel=0.1)


def test_rows_of_no_weight_do_not_count_and_the_others_count_by_theirs():
    wrong = table(lambda x: np.where(x > 0, 1e3, x), weights=np.where(np.linspace(-2, 2, 40) > 0, 0.0, 2.0))
    right = wrong.take(wrong.weights > 0)
    first, second = trainer(wrong, seed=4), trainer(right, seed=4)
    for _ in range(10):
        assert float(first.step()[0]) == pytest.approx(float(second.step()[0]), rel=1e-4)
    weights = np.linspace(1, 5, 40)
    training = trainer(table(np.sin, weights=weights))
    output = (
        forward_pass(training.network, torch.tensor(training.weights), torch.tensor(training.inputs)).output[0].numpy()
    )
    expected = np.average((output - table(np.sin).y) ** 2, weights=weights)
    assert float(training.step()[0]) == pytest.approx(expected, rel=1e-4)


def test_a_snapshot_is_the_network_as_it_is_in_float64():
    training = trainer(restarts=2)
    training.step()
    weights, nodes = training.snapshot(1)
    assert weights.dtype == nodes.dtype == np.float64
    np.testing.assert_array_equal(weights, training.weights[1])
    passed = forward_pass(training.network, torch.tensor(training.weights), torch.tensor(training.inputs))
    np.testing.assert_allclose(nodes, passed.nodes[1].numpy(), rtol=1e-4, atol=1e-5)
    weights[:] = 0
    assert (np.asarray(training.weights[1]) != 0).any()


# ---- nothing infinite -------------------------------------------------------------------------------


def odd_problem(seed):
    """1 to 5 variables, a target of some scale between 1e-6 and 1e6; poles, constants, exponentials, noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-5, 5, (24, int(rng.integers(1, 6)))) * 10.0 ** rng.integers(-2, 3)
    kinds = (
        lambda: 1 / X[:, 0],
        lambda: np.full(24, 3.0) + np.arange(24) * 1e-9,
        lambda: np.exp(np.clip(X[:, -1], -30, 30)),
        lambda: rng.normal(size=24),
        lambda: X.prod(1),
        lambda: np.tan(X[:, 0]),
    )
    y = kinds[seed % len(kinds)]()
    return make_dataset(X, y / np.abs(y).max() * 10.0 ** rng.uniform(-6, 6))


@pytest.mark.parametrize("operators", [None, ALL], ids=["paper", "all"])
def test_no_loss_gradient_or_weight_is_ever_infinite(operators):
    for seed in range(10):
        data = odd_problem(seed if operators else seed + 20)
        network = Network(data.names, layers=3) if operators is None else Network(data.names, operators, 3)
        training = Trainer(network, data, TrainingSettings(seed=seed, learning_rate=0.05))
        for _ in range(60):
            assert np.isfinite(training.step()).all(), seed
            assert np.isfinite(training.gradient).all(), seed
            assert np.linalg.norm(training.gradient) <= 0.5 * (1 + 1e-4)
            assert np.isfinite(training.weights).all(), seed


@pytest.mark.parametrize(
    ("data", "column"),
    [(table(lambda x: x / 1e25, low=1e25, high=5e25), "'x'"), (table(lambda x: 1e21 * x), "up to")],
)
def test_numbers_too_large_for_training_are_named(data, column):
    with pytest.raises(ValueError, match=rf"{column}.*give it in larger units"):
        trainer(data)


def test_the_largest_numbers_that_are_taken():
    training = trainer(table(lambda x: x / 2, low=1e11, high=9e11))
    for _ in range(20):
        assert np.isfinite(training.step()).all()
        assert np.isfinite(training.weights).all()


# ---- re-initialisation and cuts -----------------------------------------------------------------------


def starts_again(training, epochs):
    """The epochs after which a weight has moved further than any step of Adam."""
    found = []
    for epoch in range(1, epochs + 1):
        before = np.array(training.weights)
        training.step()
        if np.abs(training.weights - before).max() > 0.2:
            found.append(epoch)
    return found


def test_it_starts_again_after_so_many_epochs():
    assert starts_again(trainer(reinitialise_every=7), 30) == [7, 14, 21, 28]


def test_it_starts_again_after_protections_fired_in_a_row():
    big = table(np.sqrt, low=1e6, high=2e6)
    assert starts_again(trainer(big, reinitialise_after_fired=4, jump=1e6), 13) == [4, 8, 12]
    assert starts_again(trainer(reinitialise_after_fired=4), 13) == []


def test_only_the_restart_whose_time_has_come_starts_again():
    training = trainer(restarts=2, reinitialise_every=10)
    for _ in range(4):
        training.step()
    training.reinitialise(np.array([True, False]))
    moved = []
    for _ in range(10):
        before = np.array(training.weights)
        training.step()
        moved.append((np.abs(training.weights - before).max(1) > 0.2).tolist())
    assert [i for i, m in enumerate(moved, 1) if m[1]] == [6]
    assert [i for i, m in enumerate(moved, 1) if m[0]] == [10]


def provoke(training, restart):
    """Let the square of layer 1 fire in the next pass, with an error that jumps."""
    group = training.network.groups[training.network.groups_of[training.network.sizes[0] + 2][0]]
    assert group.operator == "square"
    training.weights[restart, group.start : group.start + group.width] = 1e6
    return slice(group.start, group.start + group.width)


ONE_STEP = 0.0101  # what Adam may move a weight by that was cut before the step


def test_a_jump_cuts_the_operand_of_the_operator_whose_protection_fired():
    training = trainer(restarts=2)
    training.step()
    row = provoke(training, 0)
    training.step()
    assert (np.abs(training.weights[0, row]) <= ONE_STEP).all()
    assert (np.abs(training.weights[1, row]) > ONE_STEP).all()
    assert (np.abs(training.weights[0, rows_of(training, "+")[0]]) > ONE_STEP).any()


def test_without_a_jump_nothing_is_cut():
    training = trainer(jump=1e30)
    training.step()
    row = provoke(training, 0)
    training.step()
    assert (training.weights[0, row] != 0).all()


def test_a_jump_is_seen_when_another_restart_has_just_started_again():
    training = trainer(restarts=2)
    training.step()
    training.reinitialise(np.array([False, True]))
    row = provoke(training, 0)
    training.step()
    assert (np.abs(training.weights[0, row]) <= ONE_STEP).all()


def test_the_first_error_after_a_pruning_is_no_jump():
    training = trainer()
    training.step()
    row = provoke(training, 0)
    training.after_pruning(0, 0.0)
    training.step()
    assert (np.abs(training.weights[0, row]) > ONE_STEP).all()


# ---- the learning rate ------------------------------------------------------------------------------


def rates_after(training, overlaps, restart=0):
    found = []
    for overlap in overlaps:
        training.after_pruning(restart, overlap)
        found.append(round(float(training.rates[restart, 0]), 6))
    return found


def test_the_learning_rate_rises_with_candidates_that_stay_the_same():
    assert rates_after(trainer(), [0.8, 1.0, 0.9, 0.8]) == [0.01, 0.01, 0.02, 0.03]
    assert rates_after(trainer(raise_after=0, learning_rate=0.02), [0.8, 0.8]) == [0.04, 0.06]


def test_the_learning_rate_is_capped():
    assert rates_after(trainer(), [1.0] * 12)[-4:] == [0.08] * 4
    assert rates_after(trainer(most_learning_rate=0.025), [1.0] * 5) == [0.01, 0.01, 0.02, 0.025, 0.025]


def test_the_learning_rate_comes_back_when_the_overlap_falls():
    assert rates_after(trainer(), [1, 1, 1, 1, 0.79, 1, 1, 1]) == [0.01, 0.01, 0.02, 0.03, 0.01, 0.01, 0.01, 0.02]


def test_each_restart_has_its_own_learning_rate_and_starts_again_with_the_first():
    training = trainer(restarts=2)
    rates_after(training, [1.0] * 5, restart=1)
    assert [round(float(r), 6) for r in training.rates[:, 0]] == [0.01, 0.04]
    before = np.array(training.weights)
    training.step()
    slow, fast = np.abs(training.weights - before).max(1)
    assert fast == pytest.approx(4 * slow, rel=1e-3)  # the first step of Adam has the size of its rate
    training.reinitialise(np.array([False, True]))
    assert rates_after(training, [1.0, 1.0], restart=1) == [0.01, 0.01]


def test_a_cap_below_the_rate_does_not_lower_it():
    training = trainer(learning_rate=0.1)
    assert rates_after(training, [1.0] * 4)[-1] >= 0.1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("restarts", 0),
        ("restarts", 1.5),
        ("reinitialise_every", 0),
        ("reinitialise_after_fired", -1),
        ("seed", -1),
        ("seed", "a"),
        ("learning_rate", 0.0),
        ("learning_rate", float("nan")),
        ("most_learning_rate", -1.0),
        ("clip", 0.0),
        ("smooth", 0.0),
        ("overlap", 0.0),
        ("overlap", 1.1),
        ("sparsity", -0.1),
        ("device", "tpu"),
        ("sparsity", float("nan")),
    ],
)
def test_bad_settings_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be .*got {value!r}"):
        TrainingSettings(**{name: value})
