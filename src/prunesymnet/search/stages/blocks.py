"""Fewer columns: what a formula that is nearly right makes of several columns becomes one.

`n*(B*m/(k*T) - 3.9)**2` is not n/cosh(B*m/(k*T)), but it says that four of the five columns may matter through one
quantity only. With `B*m/(k*T)` as a column in place of the four, the same bank reaches several levels deeper.

>>> from prunesymnet.expression import parse
>>> {name: str(block) for name, block in blocks(parse("2.5*n*(B*m/(k*T) - 3.9)**2")).items()}
{'n': 'n', 'block_1': 'B*m/(k*T)'}

A block is the largest part of a formula, at least two columns, whose columns are nowhere else in it; or the largest
such product. What is taken off its outside (functions, powers, a factor, a constant term) the bank can put on again.
The whole formula is a block only if that leaves a product.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from prunesymnet.bank.problem import Problem
from prunesymnet.expression import Apply, Expression, Variable, evaluate, postorder
from prunesymnet.search.stages.base import Batch, Context, Stage, When, passes, substituted

NEARLY_RIGHT = 0.02  # of the variation is left by a formula whose columns are worth a try
PRODUCTS = ("*", "/", "pow", "square", "cube", "sqrt", "inv", "neg")


def propose(context: Context) -> Iterator[Batch]:
    """The first level again with fewer columns, as the shortest formula has them that does and is nearly right; as long
    as that makes the best formula much better."""
    done: set[frozenset[str]] = set()

    def reduce() -> Iterator[Batch]:
        parts = _next_blocks(context, done)
        reduced = with_blocks(context.problem, parts) if parts else None
        if reduced is not None:
            inside = context.of(reduced).parts(When.START, When.LEVEL)
            yield from (batch for _, batch in context.ask(part.then(partial(_put_back, parts)) for part in inside))
        done.add(frozenset(map(str, parts.values())))

    yield from passes(context, reduce)


def _put_back(parts: dict[str, Expression], batch: Batch) -> Batch:
    structure = tuple(one.mapped(lambda formula: formula.substitute(parts)) for one in batch.structure)
    return replace(batch, proposals=substituted(batch.proposals, parts), structure=structure)


def _next_blocks(context: Context, done: set[frozenset[str]]) -> dict[str, Expression]:
    """The blocks of the shortest description that have not been tried yet; nothing if there are none."""
    near = [c for c in context.archive.by_length() if context.archive.unexplained(c) < NEARLY_RIGHT]
    for candidate, only_products in product(near, (True, False)):
        parts = blocks(context.formula(candidate), only_products=only_products)
        known = all(context.problem.has(part) for part in parts.values())
        if parts and known and frozenset(map(str, parts.values())) not in done:
            return parts
    return {}


def blocks(formula: Expression, *, only_products: bool = False) -> dict[str, Expression]:
    """The columns that take the place of a formula's columns, and what each is; nothing if no two become one."""
    uses = Counter(node.name for node in postorder(formula) if isinstance(node, Variable))
    found = dict.fromkeys(_parts(formula, uses, only_products, root=True))
    taken = set(formula.variables)
    names = (name for k in range(1, 100) if (name := f"block_{k}") not in taken)
    out = {part.name if isinstance(part, Variable) else next(names): part for part in found}
    return out if len(out) < len(taken) else {}


def _parts(node: Expression, uses: Counter[str], only_products: bool, *, root: bool = False) -> Iterator[Expression]:
    inside = Counter(n.name for n in postorder(node) if isinstance(n, Variable))
    core = _core(node)
    fine = not (root or only_products) or (_is_product(core) and not (root and core is node))
    nowhere_else = all(uses[name] == count for name, count in inside.items())
    if isinstance(core, Variable) or (fine and nowhere_else and len(inside) > 1):
        yield _bare(core)
    else:
        for operand in core.operands:
            if operand.variables:
                yield from _parts(operand, uses, only_products)


def _is_product(node: Expression) -> bool:
    return all(n.operator.name in PRODUCTS for n in postorder(node) if isinstance(n, Apply))


def _core(node: Expression) -> Expression:
    """Without functions and constants on the outside."""
    while isinstance(node, Apply):
        varying = [operand for operand in node.operands if operand.variables]
        if len(varying) != 1:
            break
        node = varying[0]
    return node


def _bare(node: Expression) -> Expression:
    """Without the constant factors and the sign of a product."""
    if isinstance(node, Apply) and node.operator.name == "neg":
        return _bare(node.operands[0])
    if isinstance(node, Apply) and node.operator.name in ("*", "/"):
        one, two = node.operands
        if node.operator.name == "*" and not (one.variables and two.variables):
            return _bare(one if one.variables else two)
        return Apply(node.operator, (_bare(one), _bare(two)))
    return node


def with_blocks(problem: Problem, parts: dict[str, Expression]) -> Problem | None:
    """The problem with these columns instead of its own; None where one is not finite or does not vary."""
    made = {name: evaluate(part, problem.columns) for name, part in parts.items()}
    if not all(column.finite.all() and np.ptp(column.values) > 0 for column in made.values()):
        return None
    return problem.with_columns({name: column.values for name, column in made.items()})


BLOCKS = Stage("blocks", When.AFTER_LEVEL, propose)
