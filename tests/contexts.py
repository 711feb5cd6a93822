"""Problems and contexts for the tests of stages: what a search would hand to them, without the search."""

from dataclasses import replace

import numpy as np

from prunesymnet.bank.bank import Term
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Scanner
from prunesymnet.data import make_dataset
from prunesymnet.expression import Apply, Constant, evaluate, parse, postorder
from prunesymnet.operators import DEFAULT, PAPER
from prunesymnet.search import STAGES, SearchSettings
from prunesymnet.search.archive import Archive
from prunesymnet.search.budget import Budget
from prunesymnet.search.fitting import Fitter
from prunesymnet.search.rows import Rows
from prunesymnet.search.stages import Context, When


def columns_of(rows=60, low=-2.0, high=2.0, names="xy", seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(low, high, rows) for name in names}


def table_of(columns, target, weights=None):
    X = np.array(list(columns.values())).T
    return make_dataset(X, target, names=list(columns), target="target", weights=weights)


def table(text, noise=0.0, **options):
    """A formula's values, with noise if one likes."""
    columns = columns_of(**options)
    target = evaluate(parse(text), columns).values
    return table_of(columns, target + noise * np.random.default_rng(1).normal(size=len(target)))


def problem_of(columns, target, operators=PAPER, rows=256, weights=None):
    return Problem.of(table_of(columns, target, weights), operators, rows, 0)


def problem(text, operators=PAPER, **options):
    return Problem.of(table(text, **options), operators, 256, 0)


def term(columns, text):
    return Term(evaluate(parse(text), columns).values, parse(text))


def stages_named(*names):
    """Only some of the stages."""
    chosen = tuple(stage for stage in STAGES if stage.name in names)
    assert len(chosen) == len(names)
    return chosen


def all_stages_but(*names):
    return tuple(stage for stage in STAGES if stage.name not in names)


def context_of(given, *, stages=STAGES, formulas=(), workers=1, keep=5, settings=None, check=None):
    """The context of a problem (or of a table, with the default operators) at the first level; its archive has the
    formulas, fitted."""
    if not isinstance(given, Problem):
        given = Problem.of(given, DEFAULT, 256, 0)
    settings = settings or replace(SearchSettings(), operators=tuple(given.operators.values()))
    rows = Rows.of(given.data, settings)
    archive = Archive(rows)
    fitter = Fitter(rows, settings.rules(), archive, settings.fits_per_form)
    for text in formulas:
        fitter.candidate(parse(text), "given")
    return Context(
        problem=given,
        budget=Budget.of(0),
        scanner=Scanner(keep, workers, "cpu", settings.exhaustive.memory),
        archive=archive,
        stages=stages,
        settings=settings,
        train=given.data,
        check=check or (lambda: None),
    )


def fitter_of(context):
    """Which puts more formulas into the context's archive."""
    settings, archive = context.settings, context.archive
    return Fitter(archive.rows, settings.rules(), archive, settings.fits_per_form)


def run(context, levels=(0,), *, start=True):
    """(name of the stage, its proposals) of all batches at the start and at these levels."""
    batches = [*context.run(When.START)] if start else []
    for level in levels:
        batches += context.at(level).run(When.LEVEL)
    return [(stage.name, batch.proposals) for stage, batch in batches]


def proposals_of(batches):
    return [proposal for _, proposals in batches for proposal in proposals]


def names_of(batches):
    """The stages that had their turn."""
    return {name for name, _ in batches}


def best_r2(proposals, problem):
    """Of all proposals with a factor and a constant at their best, how much the best explains."""
    best = 0.0
    for proposal in proposals:
        values, finite = evaluate(proposal.expression, problem.columns)
        if finite.all() and np.ptp(values) > 0 and np.abs(values).max() < 1e100:
            best = max(best, np.corrcoef(values, problem.y)[0, 1] ** 2)
    return best


def values_of(proposal, columns):
    values = evaluate(proposal.expression, columns).values
    return np.broadcast_to(values, next(iter(columns.values())).shape)


def proportional(values, target):
    """A factor before the whole, and its sign, are the fit's to find."""
    if not np.isfinite(values).all():
        return False
    return np.allclose(values * (target @ values) / (values @ values), target, rtol=1e-6)


def operators_in(tree):
    return {node.operator.name for node in postorder(tree) if isinstance(node, Apply)}


def terms_of(tree):
    """The terms of a sum of coefficients times monomials, without a nought."""
    todo, found = [tree], []
    while todo:
        node = todo.pop()
        if isinstance(node, Apply) and node.operator.name == "+":
            todo += node.operands
        elif node != Constant(0):
            found.append(node)
    return found
