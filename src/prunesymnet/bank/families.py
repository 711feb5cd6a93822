"""Families: formulas with constants inside, such as exp(t*g), 1/(g + t) or exp(t*(g - m)**2), each known on a grid.

A bank has exp(x), but not exp(-0.3*x). A family has one formula for every t, and no grid of t is fine enough to hit the
right one. But beside phi(t) there is its derivative in t, and

    phi(t + d) = phi(t) + d*phi'(t) + ...

so the two together, as two columns of a regression, stand for all t nearby. A *member* of a family is a point of the
grid with these columns, and is asked about in the same way as a node (`family_scan`): what does it explain, with the
best coefficients? The ratio of the two is a step to the best t, and a few such steps lead there (`family_fit`).

The grid follows the values of g, in whatever units they are: rates over its range, shifts and centres within and around
it.

>>> from prunesymnet.expression import to_text
>>> x = np.linspace(0, 10, 40)
>>> found = members([Term(x, Variable("x"))], SIMPLE[:1])
>>> print(to_text(found.expression(17), digits=3), found.columns[17].shape)
exp(-0.102*x) (2, 40)
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.coefficients.bases import of_length_one
from prunesymnet.expression import (
    Apply,
    Constant,
    Expression,
    Program,
    Variable,
    apply,
    canonical,
    compile_expression,
    parse,
)
from prunesymnet.operators import Operator

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# Grids, in units of the range of g.
RATES = np.geomspace(0.3, 60.0, 14)  # from nearly a straight line to a spike
SHIFTS = np.geomspace(0.02, 20.0, 10)  # beyond the end of the range: from a pole beside it to nearly a straight line
NEAR_SHIFTS = 8  # of these: up to some four ranges away
CENTRES = np.linspace(0.0, 1.0, 9)
WIDTHS = np.geomspace(0.03, 1.0, 7)
TURNS = np.arange(1, 201)  # radians: a step by one is less than a fifth of a wave at either end
SWELLS = np.arange(3, 61)  # radians: up to ten waves over the range, of an envelope that has waves in it
# Grids of what has no unit.
EXPONENTS = np.array([-4.0, -3.0, -2.5, -1.7, -1.3, -0.7, -0.3, 0.3, 0.7, 1.3, 1.7, 2.5, 3.5, 4.5])
STRETCHES = np.array([0.4, 0.7, 1.4, 2.0, 3.0])  # exponents inside an exponential
BENDS = np.array([-4.0, -1.7, -0.8, -0.3, 0.5])  # exponents of a step, which make one end sharper than the other
SIZES = np.geomspace(0.1, 10.0, 6)  # of what stands in that exponential, at the median of g
PHASES = np.arange(4) * np.pi / 2  # of a wave: the right one is within an eighth of a turn
DEPTH = 0.7  # of a modulation, between none and one that falls to nought

DEPENDENT = 1e-6  # of a column's length: what others leave of it is not to be told from its rounding
CONSTANTS = ("t", "m", "p", "d")  # inside templates


@dataclass(frozen=True, eq=False)
class Family:
    """`template` is a formula of g; its free constants are those inside, and `grid` says which are tried for the values
    of g: [members, constants], in the order in which they stand in the template. `centre`: which of them says where
    among the values of g it is (None: none does)."""

    template: Expression
    grid: Callable[[Array], Array]
    centre: int | None = None

    @classmethod
    def of(cls, template: str, grid: Callable[[Array], Array]) -> "Family":
        """From a text in which t, m, p and d are the constants; m is the centre."""
        places = [name for name in re.findall(r"\b\w+\b", template) if name in CONSTANTS]
        centre = places.index("m") if "m" in places else None
        return cls(parse(template).substitute(dict.fromkeys(CONSTANTS, Constant(1.0))), grid, centre)

    @cached_property
    def program(self) -> Program:
        return compile_expression(self.template)

    def complexity(self, of: Expression) -> int:
        """Of its members' formulas; an exponential of a logarithm is a power, and simpler than it is written."""
        if isinstance(of, Apply) and of.operator.name == "log":
            return self._of_logarithm + of.operands[0].complexity - 1
        return self.template.complexity + of.complexity - 1

    @cached_property
    def _of_logarithm(self) -> int:
        return canonical(self.template.substitute({"g": apply("log", Variable("g"))})).complexity

    def expression(self, of: Expression, inside: Sequence[float] | Array) -> Expression:
        return self.template.with_constants([float(value) for value in inside]).substitute({"g": of})

    def term(self, node: Term, inside: Array) -> Term:
        """The member with these constants inside."""
        return Term(self.program.values({"g": node.values}, inside), self.expression(node.expression, inside))


def _rates(g: Array) -> Array:
    """Of both signs."""
    rates = RATES / np.ptp(g)
    return np.concatenate([rates, -rates])[:, None]


def _rates_of_one_sign(g: Array) -> Array:
    """For functions that are even or odd."""
    return (RATES / np.ptp(g))[:, None]


def _rising(g: Array) -> Array:
    """Rates by which exp(t*g) stays above 1, if there are such."""
    sign = float((g > 0).all()) - float((g < 0).all())
    return sign * (RATES / np.ptp(g))[:, None] if sign else np.empty((0, 1))


def _falling(g: Array) -> Array:
    """Rates by which exp(t*g) stays below 1."""
    return -_rising(g)


def _above(g: Array) -> Array:
    """Shifts by which g + t is positive."""
    return np.asarray(SHIFTS * np.ptp(g) - g.min())[:, None]


def _below(g: Array) -> Array:
    """Shifts by which t - g is positive."""
    return np.asarray(SHIFTS * np.ptp(g) + g.max())[:, None]


def _exponents(g: Array) -> Array:
    return EXPONENTS[:, None] if (g > 0).all() else np.empty((0, 1))


def _peaks(g: Array) -> Array:
    """-1/(2*width**2) and centre."""
    return _every(-1 / (2 * (WIDTHS * np.ptp(g)) ** 2), g.min() + CENTRES * np.ptp(g))


def _squared_widths(g: Array) -> Array:
    """Centre and width**2."""
    return _every(g.min() + CENTRES * np.ptp(g), (WIDTHS * np.ptp(g)) ** 2)


def _steps(g: Array) -> Array:
    """Steepness and centre."""
    return _every(2 / (WIDTHS * np.ptp(g)), g.min() + CENTRES * np.ptp(g))


def _steps_either_way(g: Array) -> Array:
    up = _steps(g)
    return np.concatenate([up, up * [-1, 1]])


def _bent_steps(exponent: float, g: Array) -> Array:
    """Steepness, centre and the exponent, at every second centre of the grid of steps: with their derivatives by all
    three, points stand for more of what is around them."""
    steep, centre = 2 / (WIDTHS * np.ptp(g)), g.min() + CENTRES[::2] * np.ptp(g)
    steps = _every(np.concatenate([steep, -steep]), centre)
    return np.column_stack([steps, np.full(len(steps), exponent)])


def _shifted_powers(shifts: Callable[[Array], Array], g: Array) -> Array:
    """Shift and exponent; much further away, all powers are nearly the same line."""
    return _every(shifts(g)[:NEAR_SHIFTS, 0], EXPONENTS)


def _stretches(g: Array) -> Array:
    """Rate and exponent."""
    if not (g > 0).all():
        return np.empty((0, 2))
    size, power = _every(SIZES, STRETCHES).T
    return np.stack([size ** (1 / power) / np.median(g), power], axis=1)


def _frequencies(g: Array) -> Array:
    """Frequency and a phase of 0: the derivative by the phase is the other one of sine and cosine."""
    return np.stack([TURNS / np.ptp(g), np.zeros(len(TURNS))], axis=1)


def _swells(g: Array) -> Array:
    """Depth, frequency and phase of what swells and ebbs, from half a wave on: less is a slope or a peak."""
    turns = SWELLS / np.ptp(g)
    return np.column_stack([np.full(turns.size * len(PHASES), DEPTH), _every(turns, PHASES)])


def _every(one: Array, two: Array) -> Array:
    return np.stack([grid.reshape(-1) for grid in np.meshgrid(one, two)], axis=1)


SIMPLE = (
    Family.of("exp(t*g)", _rates),
    Family.of("log(exp(t*g) - 1)", _rising),
    Family.of("log(1 - exp(t*g))", _falling),
    *(Family.of(text, _above) for text in ("1/(g + t)", "1/(g + t)**2", "1/sqrt(g + t)", "sqrt(g + t)", "log(g + t)")),
    *(Family.of(text, _below) for text in ("1/(t - g)", "1/(t - g)**2", "1/sqrt(t - g)", "sqrt(t - g)", "log(t - g)")),
    Family.of("g**t", _exponents),
    *(Family.of(text, _rates_of_one_sign) for text in ("tanh(t*g)", "cosh(t*g)", "sinh(t*g)")),
)
"""With one constant inside."""

FACTORS = (Family.of("1/(exp(t*g) - 1)", _rising), Family.of("1 - exp(t*g)", _falling))
"""Of products with a node. Their logarithms are among the simple ones; but where points are noisy, those of the target
are far off, or there are none."""

BEFORE_SUMS = (
    Family.of("exp(t*g)", _rates),
    Family.of("g**t", _exponents),
    *(Family.of(text, _above) for text in ("g + t", "1/(g + t)**2", "1/sqrt(g + t)", "sqrt(g + t)", "log(g + t)")),
    *(Family.of(text, _below) for text in ("1/(t - g)**2", "1/sqrt(t - g)", "sqrt(t - g)", "log(t - g)")),
    Family.of("1 - exp(t*g)", _falling),
    *(Family.of(text, _rising) for text in ("exp(t*g) - 1", "1/(exp(t*g) - 1)")),
)
"""Of products with a sum. Of one over g + t, what y is multiplied with is linear in t."""

QUOTIENTS = (
    Family.of("exp(t*g)", _rates),
    Family.of("g**t", _exponents),
    *(Family.of(text, _above) for text in ("sqrt(g + t)", "log(g + t)")),
)
"""Of quotients of sums: what is not one itself."""

LOCATED = (
    Family.of("exp(t*(g - m)**2)", _peaks),
    Family.of("1/((g - m)**2 + t)", _squared_widths),
    Family.of("1/(1 + exp(t*(g - m)))", _steps),
    Family.of("log(1 + exp(t*(g - m)))", _steps_either_way),
    Family.of("exp(-(t*g)**p)", _stretches),
)
"""With two: peaks, steps, and what falls in another way than an exponential."""

SHIFTED_POWERS = (
    Family.of("(g + t)**p", partial(_shifted_powers, _above)),
    Family.of("(t - g)**p", partial(_shifted_powers, _below)),
)
"""With an exponent besides: powers about another origin, of a column or of its square, as in `p*(1 + M**2/5)**(7/2)`.
In sums of several they would be nearly anything, as would those that follow."""

BENT = tuple(Family.of("(1 + exp(t*(g - m)))**p", partial(_bent_steps, exponent)) for exponent in BENDS)
"""Steps that are sharper at one end, as in growth by Richards and, of a logarithm, the water in a soil: a family for
each exponent to begin with, since from one of them the others are hardly reached."""

WAVES = (Family.of("sin(t*g + p)", _frequencies), Family.of("cos(t*g + p)", _frequencies))

ENVELOPES = (*SIMPLE, *LOCATED, Family.of("1 + d*sin(t*g + p)", _swells))
"""Of waves: what decays or grows, packets, and waves whose amplitude is modulated."""


def enveloped(family: Family, wave: Family) -> Family:
    """A wave times an envelope: the constants inside are those of the envelope, then frequency and phase."""
    return Family(family.template * wave.template, lambda g: np.empty((0, len(family.program.constants) + 2)))


LINE = Family.of("g", lambda g: np.empty((1, 0)))
"""With none: what stands beside others."""


def family_of(operator: Operator) -> Family:
    """Of any other function, with a rate and a centre."""
    return Family(apply(operator, Constant(1.0) * (Variable("g") - Constant(1.0))), _steps_either_way)


@dataclass(frozen=True, eq=False)
class Members:
    """Points of the grids of some families, each of some node g: `columns` [members, 1 + constants, rows] are the value
    and its derivatives (0 where there are fewer), `complexity` and `inside` those of its formula."""

    families: tuple[Family, ...]
    nodes: tuple[Term, ...]
    family: Numbers
    node: Numbers
    inside: Array
    columns: Array
    complexity: Numbers

    def __len__(self) -> int:
        return len(self.family)

    def expression(self, member: int) -> Expression:
        family = self.families[int(self.family[member])]
        count = len(family.program.constants)
        return family.expression(self.nodes[int(self.node[member])].expression, self.inside[member, :count])

    def take(self, some: Numbers) -> "Members":
        return replace(
            self, family=self.family[some], node=self.node[some], inside=self.inside[some],
            columns=self.columns[some], complexity=self.complexity[some],
        )  # fmt: skip

    def values(self, member: int, inside: Array) -> Array:
        """Those of a member with other constants inside."""
        program = self.families[int(self.family[member])].program
        return program.values({"g": self.nodes[int(self.node[member])].values}, inside[: len(program.constants)])

    @cached_property
    def groups(self) -> list[slice]:
        """The members of each family and node: they lie side by side."""
        changes = (np.diff(self.family) != 0) | (np.diff(self.node) != 0)
        edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(self)]
        return [slice(*ends) for ends in pairwise(edges)]

    @cached_property
    def basis(self) -> Array:
        """The columns made orthonormal, beside a constant."""
        rest = self.columns - self.columns.mean(axis=2, keepdims=True)
        return orthonormal(rest)


def orthonormal(columns: Array) -> Array:
    """Each set of columns [sets, columns, rows] made orthonormal; what is left of one only by rounding is 0."""
    out = np.empty_like(columns)
    for k in range(columns.shape[1]):
        column = of_length_one(columns[:, k])[0]
        for _ in range(2):
            for other in range(k):
                column = column - np.einsum("mn,mn->m", column, out[:, other])[:, None] * out[:, other]
        column, length = of_length_one(column)
        out[:, k] = np.where(length[:, None] > DEPENDENT, column, 0.0)
    return out


def members(nodes: Sequence[Term], families: Iterable[Family]) -> Members:
    """All points of the grids of the families, for each node; those that are finite and vary."""
    families, nodes = tuple(families), tuple(nodes)
    rows = len(nodes[0].values) if nodes else 0
    most = max((len(family.program.constants) for family in families), default=1)
    parts: list[tuple[Numbers, Numbers, Array, Array]] = [
        (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty((0, most)), np.empty((0, 1 + most, rows)))
    ]
    with np.errstate(all="ignore"):
        for f, family in enumerate(families):
            grids = [family.grid(node.values) for node in nodes]
            of = np.repeat(np.arange(len(nodes)), [len(grid) for grid in grids])
            if not len(of):
                continue
            theta = np.concatenate(grids)
            values, slopes = family.program.values_and_jacobian({"g": np.array([nodes[k].values for k in of])}, theta)
            columns = np.concatenate([values[:, None], slopes], axis=1)
            largest = np.abs(columns).max(axis=2, keepdims=True)
            columns /= np.where(largest > 0, largest, 1.0)
            good = np.isfinite(columns).all(axis=(1, 2)) & (np.ptp(columns[:, 0], axis=1) > DEPENDENT)
            missing = most - theta.shape[1]
            inside = np.pad(theta[good], ((0, 0), (0, missing)))
            padded = np.pad(columns[good], ((0, 0), (0, missing), (0, 0)))
            parts.append((np.full(len(inside), f), of[good], inside, padded))
    number, node, inside, columns = (np.concatenate(part) for part in zip(*parts, strict=True))
    sizes = np.array([[family.complexity(node.expression) for node in nodes] for family in families], dtype=np.int64)
    complexity = sizes[number, node] if len(number) else number
    return Members(families, nodes, number, node, inside, columns, complexity)
