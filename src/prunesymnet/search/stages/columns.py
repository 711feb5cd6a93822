"""Many columns: which of them matter, and what is found while asking.

A bank of many columns has no room for anything but sums of two. So first each column is taken alone, with the
operators of one operand (x, x**2, sin(x), 1/x ...), and matching pursuit over all products and pairs of these says
which columns come up; the columns of the best linear model join them. A column that acts only through a product with
another is seen, because products are scored.
"""

from collections.abc import Callable

import numpy as np

from prunesymnet.bank.asked import Proposal, Scene
from prunesymnet.bank.bank import Bank, grow_bank
from prunesymnet.bank.targets import Frame
from prunesymnet.expression import postorder
from prunesymnet.expression.tree import Variable
from prunesymnet.operators import select_operators
from prunesymnet.search.stages.pursuit import pursue

MOST_NODES = 1200  # of all columns together, each alone


def alone(scene: Scene) -> Bank:
    """Each column with operators of one operand only, as deep as there is room."""
    unary = [row for row in select_operators(scene.operators).values() if row.arity == 1]
    bank = grow_bank(scene.columns, unary, MOST_NODES)
    return bank.with_reciprocals() if {"/", "inv"} & set(select_operators(scene.operators)) else bank


def screen(
    scene: Scene, frame: Frame, *, count: int, keep: int, workers: int, check: Callable[[], None] = lambda: None
) -> tuple[list[str], list[Proposal]]:
    """The `count` columns that matter most, in the table's order, and the formulas that say so."""
    found = pursue(
        frame, alone(scene), starts=[()], beam=4, steps=4, keep=keep, workers=workers, source="columns", check=check
    )
    names: dict[str, None] = {}
    for proposal in found:
        for node in postorder(proposal.expression):
            if isinstance(node, Variable):
                names.setdefault(node.name)
    table = np.array(list(scene.columns.values()))
    centred = table - np.average(table, axis=1, weights=scene.weights)[:, None]
    y = scene.y - np.average(scene.y, weights=scene.weights)
    with np.errstate(all="ignore"):
        linear = np.abs(centred @ (scene.weights * y)) / np.sqrt((centred**2) @ scene.weights)
    for k in np.argsort(-np.nan_to_num(linear), kind="stable"):
        names.setdefault(list(scene.columns)[k])
    chosen = set(list(names)[:count])
    return [name for name in scene.columns if name in chosen], found
