"""Candidates from networks that are trained and pruned. Nothing here depends on what a network has learned."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from contexts import context_of, problem
from prunesymnet.expression import evaluate
from prunesymnet.network.training import TrainingSettings
from prunesymnet.search import SearchSettings
from prunesymnet.search.stages import When
from prunesymnet.search.stages.networks import NETWORKS, network_of

SHORT = SearchSettings(
    operators=("+", "*", "sin"),
    pruner="beam",
    layers=2,
    max_epochs=12,
    prune_every=4,
    training=TrainingSettings(restarts=2),
)


def batches_of(settings=SHORT, text="sin(1.7*x)*y", check=None):
    truth = problem(text, settings.operators, rows=40)
    context = context_of(truth, stages=(NETWORKS,), settings=settings, check=check)
    return context, [batch for _, batch in context.run(When.START)]


def test_each_network_is_pruned_every_few_epochs():
    checks = []
    _, batches = batches_of(check=lambda: checks.append(1))
    assert len(batches) == 3 * 2 + 1  # and one for the epochs after the last pruning
    assert len(checks) == 12
    training = batches[-1].training
    assert training.prunings == [4, 8, 12]
    assert len(training.losses) == 12
    assert np.isfinite(training.losses).all()


def test_a_proposal_says_where_in_a_network_it_comes_from():
    context, batches = batches_of()
    network = network_of(context.train.names, context.settings)
    seen = 0
    for batch in batches:
        assert len(batch.pruned) == len(batch.proposals)
        for proposal, pruned in zip(batch.proposals, batch.pruned, strict=True):
            assert pruned.epoch in (4, 8, 12)
            if pruned.choice is not None:
                assert network.expression(pruned.weights, pruned.choice) == proposal.expression
                seen += 1
    assert seen


def test_edges_that_have_been_retained_often_enough_are_not_proposed_again():
    _, batches = batches_of(replace(SHORT, fits_per_form=1, max_epochs=40))
    choices = [frozenset(pruned.choice.items()) for batch in batches for pruned in batch.pruned if pruned.choice]
    assert max(Counter(choices).values()) == 1


def test_without_reverse_every_operand_has_one_edge():
    _, batches = batches_of(replace(SHORT, reverse=False))
    assert all(pruned.choice is not None for batch in batches for pruned in batch.pruned)


def test_numbers_too_large_for_networks_are_refused_by_name():
    with pytest.raises(ValueError, match=r"'target' has values up to .*give it in larger units"):
        batches_of(text="1e30*x*y")


@pytest.mark.parametrize("pruner", ["beam", "random"])
def test_proposals_are_formulas_of_the_columns(pruner):
    context, batches = batches_of(replace(SHORT, pruner=pruner))
    proposals = [proposal for batch in batches for proposal in batch.proposals]
    assert proposals
    for proposal in proposals:
        assert set(proposal.expression.variables) <= {"x", "y"}
        evaluate(proposal.expression, context.problem.columns)
