"""A group beside linear terms: where y, without some columns times constants, depends on one group of columns only,
that is a problem of one column (`structure/beside.py`).

`2*z - x + exp(cos(x*y))` has three columns; y - 2*z + x as a function of `x*y` has one. What is found is put back and
fitted on y itself, the constants of the linear terms with it, which were known roughly before.
"""

from collections.abc import Iterator
from dataclasses import replace

from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal
from prunesymnet.expression import Apply, Constant, Expression, Variable, evaluate, postorder
from prunesymnet.expression.tree import LARGEST_INT
from prunesymnet.search.stages.base import Batch, Context, Part, Stage, When
from prunesymnet.search.stages.groups import GROUPS, batches_of, free_names, orientations, reduced_problem
from prunesymnet.search.stages.polynomials import weighted_sum
from prunesymnet.structure.beside import Beside
from prunesymnet.structure.quantities import Quantity
from prunesymnet.structure.reduction import TARGET, Reduction

KNOWN = 1e-4  # of a coefficient: beside a spline it is known no better, and a whole number is told as one


def parts(context: Context) -> Iterator[Part]:
    """The search of what linear terms leave, as a function of the group, and of one over it."""
    if GROUPS in context.stages and context.beside is not None:
        for way, _ in enumerate(_ways(context.problem, context.beside)):
            yield Part(context, propose, (way,))


def _ways(problem: Problem, found: Beside) -> list[tuple[Quantity, ...]]:
    """The group and one over it, if they can be written with the operators that there are."""
    ways = orientations((found.group,))
    return ways if problem.divides else [way for way in ways if not _is_quotient(way[0].formula)]


def _is_quotient(formula: Expression) -> bool:
    return any(isinstance(node, Apply) and node.operator.name == "/" for node in postorder(formula))


def propose(context: Context, way: int) -> Iterator[Batch]:
    found, problem = context.beside, context.problem
    if found is None:
        return
    if way == 0 and problem.target_in_full is not None:  # of y itself: constants would be others in a reduced problem
        yield Batch([], structure=(_reduction(found, problem),))
    linear = weighted_sum([(value, Variable(name)) for name, value in found.coefficients.items()])
    left = replace(problem, y=problem.y - evaluate(linear, problem.columns).values)
    reduced = reduced_problem(left, found.factor, _ways(problem, found)[way], free_names(problem, 1))
    if reduced is None:
        return

    def put_back(proposal: Proposal) -> Proposal:
        formula = linear + reduced.put_back(proposal).expression
        return replace(proposal, expression=formula, unexplained=problem.unexplained(formula))

    for batch in batches_of(context, reduced.problem):
        yield replace(batch, proposals=list(map(put_back, batch.proposals)), structure=())


def _reduction(found: Beside, problem: Problem) -> Reduction:
    """In the units of the table."""
    left: Expression = Variable(TARGET)
    for name, here in found.coefficients.items():
        value = problem.scale * here / problem.scales.get(name, 1.0)
        whole = abs(value) <= LARGEST_INT and abs(value - round(value)) < KNOWN * abs(value)
        left = left - Constant(round(value) if whole else value) * Variable(name)
    quantity = left if found.factor.formula == Constant(1) else left / found.factor.shown
    return Reduction(quantity, (found.group.shown,), found.unexplained, found.second)


BESIDE = Stage("beside", When.LEVEL, parts=parts)
