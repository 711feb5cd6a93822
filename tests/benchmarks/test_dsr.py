"""Deep symbolic regression, as written here, keeps to the paper's rules and learns by its gradient."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from benchmarks.dsr_nguyen import RATES, conditions, problems, table
from benchmarks.methods.dsr import EXACT, NGUYEN, Settings, fit, learn, run
from benchmarks.methods.dsr_policy import INVERSE, TRIGONOMETRIC, Policy, Tokens
from benchmarks.methods.dsr_rewards import Rewards, Score, batch_values, tree
from clocks import Clock
from prunesymnet.data import make_dataset
from prunesymnet.expression import Apply, Constant, canonical, evaluate, parse, postorder

FULL = Tokens(Settings().operators, ("x", "y"), 3)
PLAIN = Tokens(NGUYEN.operators, ("x",))
X = np.random.default_rng(0).uniform(0.5, 2, (40, 2))


def data_of(text, names=("x", "y")):
    points = X[:, : len(names)]
    return make_dataset(points, evaluate(parse(text), dict(zip(names, points.T, strict=True))).values, names=names,
                        target="target")  # fmt: skip


def policy_of(tokens, seed=0, spread=0.0, **settings):
    """With weights that are not 0 where `spread` is not, so that what it reads and remembers matters."""
    chosen = replace(NGUYEN, **settings)
    policy = Policy(tokens, chosen.units, chosen.shortest, chosen.longest, seed)
    if spread:
        for weight in policy.parameters():
            weight.data += spread * torch.randn(weight.shape, generator=policy.random)
    return policy


def programs_of(sample, tokens):
    return [tuple(t for t in column if t < tokens.none) for column in sample.tokens.T.tolist()]


def score_of(program, tokens):
    return Score(program, 0.0, (1.0,) * (program.count(tokens.none - 1) if tokens.constants else 0))


def operators_below(node):
    return {each.operator.name for each in postorder(node) if isinstance(each, Apply)}


@pytest.mark.parametrize(("tokens", "longest"), [(FULL, 30), (FULL, 12), (PLAIN, 30), (PLAIN, 5)])
def test_every_formula_is_whole_and_keeps_the_rules(tokens, longest):
    for spread in (0.0, 1.0):
        sample = policy_of(tokens, spread=spread, longest=longest).sample(200)
        for column, program in zip(sample.tokens.T.tolist(), programs_of(sample, tokens), strict=True):
            assert column[: len(program)] == list(program)  # nothing after the end
            assert 4 <= len(program) <= longest
            awaited = 1 + np.cumsum(tokens.arity[list(program)] - 1)
            assert awaited[-1] == 0
            assert (awaited[:-1] > 0).all()
            whole = tree(score_of(program, tokens), tokens)
            assert whole.variables
            assert len(whole.constants) <= tokens.constants
            for node in postorder(whole):
                if isinstance(node, Apply):
                    assert not all(isinstance(operand, Constant) for operand in node.operands)
                    first = node.operands[0]
                    assert not (isinstance(first, Apply) and first.operator.name == INVERSE.get(node.operator.name))
                    if node.operator.name in TRIGONOMETRIC:
                        assert not operators_below(first) & set(TRIGONOMETRIC)


def test_every_token_and_length_is_written():
    lengths, seen = set(), set()
    for program in programs_of(policy_of(FULL, longest=8).sample(2000), FULL):
        lengths.add(len(program))
        seen |= set(program)
    assert lengths == {4, 5, 6, 7, 8}
    assert seen == set(range(FULL.none))


def test_places_tell_parent_and_sibling():
    sample = policy_of(FULL).sample(200)
    parents, siblings = (sample.places // 2 // (FULL.none + 1)).T, (sample.places // 2 % (FULL.none + 1)).T
    for i, program in enumerate(programs_of(sample, FULL)):
        waiting = [[FULL.none, FULL.none]]
        for step, token in enumerate(program):
            parent, sibling = waiting.pop()
            assert (parents[i, step], siblings[i, step]) == (parent, sibling)
            if waiting and sibling == FULL.none and parent < FULL.none and FULL.arity[parent] == 2:
                waiting[-1][1] = token
            waiting += [[token, FULL.none] for _ in range(FULL.arity[token])]


def test_the_first_formulas_are_uniform_choices():
    policy = policy_of(PLAIN)
    sample = policy.sample(3000)
    first = np.bincount(sample.tokens[0], minlength=PLAIN.none)
    assert first[-1] == 0  # a variable would be the whole formula
    assert abs(first[:-1] / 3000 - 1 / 8).max() < 0.03
    likelihood, entropy = policy.log_likelihood_and_entropy(sample[torch.arange(200)])
    torch.testing.assert_close(likelihood, -entropy)  # log(1/n), where there are n choices


@pytest.mark.parametrize("tokens", [FULL, PLAIN])
def test_likelihood_is_that_of_the_sampling(tokens):
    """Of a short language, frequencies are the probabilities that the second pass computes; what is after the end of
    the shorter formulas does not count."""
    policy = policy_of(tokens, spread=0.7, longest=5)
    sample = policy.sample(10_000)
    likelihood, entropy = policy.log_likelihood_and_entropy(sample)
    assert bool((entropy > 0).all())
    programs = programs_of(sample, tokens)
    for length in (4, 5):
        counts = Counter(program for program in programs if len(program) == length)
        ((common, count),) = counts.most_common(1)
        assert count > 50
        expected = 10_000 * math.exp(likelihood[programs.index(common)].item())
        assert abs(count - expected) < 4 * math.sqrt(expected)


@pytest.mark.parametrize("tokens", [FULL, PLAIN])
def test_values_of_a_batch_are_those_of_the_trees(tokens):
    programs = programs_of(policy_of(tokens).sample(300), tokens)
    points = X[:, : len(tokens.columns)]
    finite = 0
    for program, values in zip(programs, batch_values(programs, tokens, points), strict=True):
        columns = dict(zip(tokens.columns, points.T, strict=True))
        expected = evaluate(tree(score_of(program, tokens), tokens), columns).values
        if np.isfinite(values).all():
            finite += 1
            np.testing.assert_allclose(values, expected, rtol=1e-12)
        else:
            assert np.isnan(values).all()
    assert finite > 30


def test_reward_is_that_of_the_normalised_error():
    data = data_of("x*y + x")
    rewards = Rewards(data, Tokens(NGUYEN.operators, ("x", "y")))
    names = rewards.tokens.names
    words = (["*", "x", "/", "y", "y"], ["+", "*", "x", "y", "x"], ["log", "-", "x", "x", None])
    tokens = np.array([[rewards.tokens.none if w is None else names.index(w) for w in line] for line in words]).T
    off, exact, bad = rewards(tokens)
    error = np.sqrt(np.mean((data.y - X[:, 0]) ** 2)) / np.std(data.y)
    assert off.reward == pytest.approx(1 / (1 + error))
    assert exact.reward == 1
    assert bad.reward == 0


def test_constants_are_fitted_and_remembered():
    data = data_of("1.5*x + 2.5")
    rewards = Rewards(data, FULL)
    program = np.array([[FULL.names.index(word)] for word in ("+", "*", "const", "x", "const")])
    (score,) = rewards(program)
    assert score.error < EXACT
    assert score.constants == pytest.approx((1.5, 2.5))
    assert rewards(program)[0] is score
    assert tree(score, FULL) == parse("a*x + b").substitute(dict(zip("ab", score.constants, strict=True)))
    late = Rewards(data, FULL)(program, deadline=-math.inf)[0]
    assert late.constants == (1.0, 1.0)


def test_a_step_makes_the_best_likelier():
    policy = policy_of(PLAIN)
    optimizer = torch.optim.Adam(policy.parameters(), 0.01)
    sample, rewards = policy.sample(200), torch.linspace(0, 1, 200)
    before = policy.log_likelihood_and_entropy(sample)[0]
    for _ in range(5):
        learn(policy, optimizer, sample, rewards, replace(NGUYEN, entropy=0.0))
    gain = (policy.log_likelihood_and_entropy(sample)[0] - before).detach()
    assert gain[-10:].mean() > 0.3  # the best twentieth
    assert gain[-10:].mean() > gain[:-10].mean() + 0.3


def test_the_gradient_is_that_of_the_paper():
    """Of rewards above their quantile alone, weighted by what they are above it."""
    policy = policy_of(PLAIN, spread=0.3)
    sample, rewards = policy.sample(100), torch.rand(100, generator=policy.random)
    likelihood, entropy = policy.log_likelihood_and_entropy(sample)
    order = rewards.argsort(descending=True).tolist()[:5]
    weight = [rewards[i] - rewards[order[-1]] for i in order]
    gain = sum(w * likelihood[i] + 0.005 * entropy[i] for w, i in zip(weight, order, strict=True)) / 5
    expected = torch.autograd.grad(-gain, list(policy.parameters()))
    optimizer = torch.optim.Adam(policy.parameters(), 0.0)
    learn(policy, optimizer, sample, rewards, NGUYEN)
    for weight, gradient in zip(policy.parameters(), expected, strict=True):
        torch.testing.assert_close(weight.grad, gradient)


def test_entropy_alone_is_raised():
    policy = policy_of(PLAIN, spread=1.0)
    optimizer = torch.optim.Adam(policy.parameters(), 0.01)
    sample = policy.sample(100)
    before = policy.log_likelihood_and_entropy(sample)[1].mean()
    for _ in range(5):
        learn(policy, optimizer, sample, torch.ones(100), replace(NGUYEN, entropy=1.0))
    assert policy.log_likelihood_and_entropy(sample)[1].mean() > before + 1


def test_a_formula_is_found_and_the_same_one_again():
    data = data_of("x**2 + x", ("x",))
    found = [run(data, replace(NGUYEN, batch=200, samples=20_000), seed=seed) for seed in (1, 1)]
    assert found[0].error < EXACT
    assert canonical(found[0].expression) in (parse("x**2 + x"), canonical(parse("x*(x + 1)")))
    assert found[0].expression == found[1].expression
    assert found[0].samples == found[1].samples < 20_000


def test_the_time_is_kept_and_threads_are_left_as_they_were(monkeypatch):
    monkeypatch.setattr("time.monotonic", Clock(step=1e-4))
    threads = torch.get_num_threads()
    data = data_of("sin(3*x)*exp(y) + log(x)/(y + 0.3)")
    found = run(data, Settings(), 0.5)
    assert found.seconds < 1.5
    assert torch.get_num_threads() == threads
    assert evaluate(fit(data, 0.3, 0), data.columns).finite.all()


def test_settings_are_those_of_the_paper():
    assert Settings(operators=NGUYEN.operators, constants=0) == NGUYEN
    assert (NGUYEN.batch, NGUYEN.risk, NGUYEN.entropy, NGUYEN.learning_rate) == (1000, 0.05, 0.005, 0.0005)
    assert (NGUYEN.units, NGUYEN.shortest, NGUYEN.longest, NGUYEN.samples) == (32, 4, 30, 2_000_000)
    with pytest.raises(ValueError, match="longest must be a whole number >= 4, got 3"):
        Settings(longest=3)


def test_the_papers_problems_have_its_ranges_and_average():
    ranges = [set(problem.ranges.values()) for problem in problems()]
    assert ranges == [{(-1, 1)}] * 6 + [{(0, 2)}, {(0, 4)}] + [{(0, 1)}] * 4
    assert np.mean(RATES) == pytest.approx(83.6, abs=0.05)


def test_the_table_beside_the_published_rates_says_how_many_runs_there_were():
    runs = [("nguyen-01", 0, True), ("nguyen-01", 1, False), ("nguyen-02", 0, True)]
    made = [
        {"problem": problem, "seed": seed, "recovered": hit, "strict": hit, "samples": 1000, "seconds": 2.0}
        | {"limit": None, "most_samples": 2_000_000, "machine": "a small machine"}
        for problem, seed, hit in runs
    ]
    cells = table(made).set_index("problem")
    assert cells.loc[["nguyen-01", "nguyen-02", "nguyen-03"], "recovered"].tolist() == ["1 of 2", "1 of 1", "0 of 0"]
    assert cells.loc["all", "recovered"] == "75%"  # the mean of the rates, as the published one is
    said = "3 runs of at most 2,000,000 formulas, no time limit, each on one core of a small machine."
    assert conditions(made) == said
