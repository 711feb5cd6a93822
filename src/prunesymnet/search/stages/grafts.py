"""Back to front along a formula that is nearly right: what would have to stand in place of each of its branches?

A search often meets `q*(B*v*sin(theta) + 3)` before `q*(B*v*sin(theta) + E)`. With the rest as it stands, each branch
has a target of its own: the values by which the formula would give y. The bank is asked for them in four ways: one more
term beside the branch, one more factor, another term in place of one of a sum, and another branch in its place.

>>> from prunesymnet.data import make_dataset
>>> from prunesymnet.expression import parse
>>> x = np.linspace(1, 3, 20)
>>> scene = Scene.of(make_dataset(x, np.exp(x + x**2), names=["x"]), ("+", "exp", "square"), rows=20, seed=0)
>>> [asked.frame.text for asked in questions(parse("exp(2.5*x)"), scene)]
['g*exp(2.5*x)', 'sqrt(g)*exp(2.5*x)', 'exp(g)*exp(2.5*x)', 'g**2*exp(2.5*x)', 'g', 'exp(g)', 'exp(g)',
 'exp(g*(2.5*x))']
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.asked import Asked, Scene
from prunesymnet.bank.targets import Factor, Frame, Step, further, plain
from prunesymnet.expression import Apply, Constant, Expression, evaluate
from prunesymnet.operators import Operator

Array = NDArray[np.float64]
Term = tuple[Array, Expression]

NEWTON = 8  # steps towards the value of an operand, from the one that it has
SAME = 1e-9  # relative: values that are equal but for rounding


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """t is an operator of g and perhaps another operand: g is its operand number `place`, and has values `now`. Of
    several values that g could have, as below a sine, the one near to these is meant."""

    operator: Operator
    place: int
    now: Array
    other: Term | None

    def operands(self, inside: Array) -> tuple[Array, ...]:
        if self.other is None:
            return (inside,)
        return (inside, self.other[0]) if self.place == 0 else (self.other[0], inside)

    def up(self, inside: Array) -> Array:
        return np.asarray(self.operator.numpy(*self.operands(inside)))

    def slope(self, inside: Array) -> Array:
        partial = self.operator.partials[self.place]
        if not callable(partial):
            return np.full(inside.shape, float(partial))
        return np.broadcast_to(partial(self.up(inside), *self.operands(inside)), inside.shape)

    def down(self, target: Array) -> Array:
        inverse = self.operator.inverses[self.place] if self.operator.inverses else None
        others = () if self.other is None else (self.other[0],)
        if inverse is not None:
            inside = np.asarray(inverse(target, *others), dtype=float)
            principal = _same(np.asarray(inverse(self.up(self.now), *others)), self.now)
        else:
            inside, principal = self.now, np.zeros(self.now.shape, dtype=bool)
        if not principal.all():
            inside = np.where(principal, inside, self.nearest(target))
        return np.where(_same(self.up(inside), target), inside, np.nan)

    def nearest(self, target: Array) -> Array:
        """By Newton's steps from where it is now."""
        inside = self.now
        for _ in range(NEWTON):
            inside = inside - (self.up(inside) - target) / self.slope(inside)
        return inside

    def wrap(self, inside: Expression) -> Expression:
        if self.other is None:
            return Apply(self.operator, (inside,))
        other = self.other[1]
        return Apply(self.operator, (inside, other) if self.place == 0 else (other, inside))


def _same(one: Array, two: Array) -> NDArray[np.bool_]:
    return np.abs(one - two) <= SAME * (np.abs(one) + np.abs(two)) + 1e-300


def questions(formula: Expression, scene: Scene, beside: Iterable[tuple[Term, ...]] = ()) -> list[Asked]:
    """What may be asked about a formula, from its root to its leaves; nothing where it is not finite on all rows. About
    what it lacks as a factor it is asked with other terms `beside` it, too."""
    root = plain(scene.y, scene.weights)
    with np.errstate(all="ignore"):
        values, finite = evaluate(formula, scene.columns)
        if not finite.all():
            return []
        divided = root.take_off(Factor(values, formula, divides=True))
        factors = [] if divided is None else further(divided, (), scene.operators)
        asked = [Asked(frame, terms) for frame in factors for terms in ((), *beside)]
        return [*asked, *_ask(formula, (), "", root, scene)]


def _ask(node: Expression, steps: tuple[Step, ...], above: str, root: Frame, scene: Scene) -> Iterator[Asked]:
    """About a node and all below it; `above` is the operator that it is an operand of, or "c*" for a coefficient."""
    frame = root.take_off(*steps) if steps else root
    if frame is None or not node.variables:
        return
    terms = [(evaluate(term, scene.columns).values, term) for term in _terms(node)]
    if above not in ("+", "-", "neg", "c*"):  # where it is a term, the sum is asked
        yield Asked(frame, tuple(terms))
        if len(terms) > 1:
            yield from (Asked(frame, tuple(terms[:k] + terms[k + 1 :])) for k in range(len(terms)))
        if steps:
            yield Asked(frame)
    if steps and above not in ("*", "/", "neg", "c*"):  # where it is a factor, the product is asked
        divided = root.take_off(*steps, Factor(evaluate(node, scene.columns).values, node, divides=True))
        if divided is not None:
            yield Asked(divided)
    if not isinstance(node, Apply):
        return
    values = [evaluate(operand, scene.columns).values for operand in node.operands]
    for place, operand in enumerate(node.operands):
        if node.operator.name == "pow" and place == 1:
            continue  # exponents are no operands of the network
        other = None if len(values) == 1 else (values[1 - place], node.operands[1 - place])
        branch = Branch(node.operator, place, values[place], other)
        name = "c*" if node.operator.name == "*" and not node.operands[1 - place].variables else node.operator.name
        yield from _ask(operand, (*steps, branch), name, root, scene)


def _terms(node: Expression) -> list[Expression]:
    """The terms of a sum that vary, without sign and coefficient."""
    if not node.variables:
        return []
    if isinstance(node, Apply):
        if node.operator.name in ("+", "-", "neg"):
            return [term for operand in node.operands for term in _terms(operand)]
        if node.operator.name == "*" and isinstance(node.operands[0], Constant):
            return _terms(node.operands[1])
    return [node]
