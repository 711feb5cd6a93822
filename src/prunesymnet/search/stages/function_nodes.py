"""Functions of products of columns, such as cos(w*t), as nodes: many columns would leave no room for them."""

from prunesymnet.bank.bank import LEAF, Term
from prunesymnet.expression import apply, evaluate
from prunesymnet.operators import UNNESTED
from prunesymnet.search.stages.base import Context, Stage, When

MOST = 80  # nodes: a fifth of the first bank


def nodes(context: Context) -> list[Term]:
    bank, operators = context.single_bank, context.problem.operators
    functions = [row for name, row in operators.items() if name in UNNESTED and row.arity == 1]
    products = [node for node in bank.monomials() if bank.operator[node] != LEAF][:MOST]
    trees = [apply(row, bank.expression(node)) for node in products for row in functions][:MOST]
    values = [evaluate(tree, context.problem.columns) for tree in trees]
    return [Term(value.values, tree) for tree, value in zip(trees, values, strict=True) if value.finite.all()]


FUNCTION_NODES = Stage("function_nodes", When.LEVEL, nodes=nodes)
