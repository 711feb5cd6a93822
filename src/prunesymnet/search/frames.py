"""The frames of templates on their tables: fit all parts at once, and undo the frame around one of them.

Several targets may share parts: their tables are put below one another, with a column of 0 and 1 for each target, so
that one formula says them all, and its errors count in units of each target's spread.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations_with_replacement, count
from math import comb

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.targets import even_out
from prunesymnet.coefficients import FitSettings, fit
from prunesymnet.coefficients.fit import Fit
from prunesymnet.data import Dataset
from prunesymnet.expression import Constant, Expression, Variable, canonical, compile_expression, evaluate
from prunesymnet.expression.templates import Part, Template
from prunesymnet.expression.tree import is_free, transform

Array = NDArray[np.float64]

LOW = 2  # degrees that are fitted from points by chance, too: from these, higher ones go on
CHANCES = 8  # such points of each size
ROWS_PER_TERM = 3  # rows for each term of all polynomials together, so that they do not go through every point
NEWTON = 30  # steps towards the value of a part in a row
HALVINGS = 5  # of a step that leads away
UNDONE = 1e-9  # of the target's spread: a frame is undone where it gives the target back to so many digits


@dataclass(frozen=True)
class Filled:
    """Templates with formulas for their parts: in terms of the parts' own arguments, numbers with a point for free
    constants; the constants of the frames by name; and the mean squared error (or the mean loss in such units), of
    several targets in units of their spread."""

    parts: Mapping[str, Expression]
    constants: Mapping[str, float]
    mse: float


class Frames:
    """Templates and the tables of their targets, which have the same columns and rows."""

    def __init__(self, templates: Sequence[Template], tables: Sequence[Dataset]) -> None:
        self.templates, self.tables = tuple(templates), tuple(tables)
        self.parts: dict[str, Part] = {}
        for template in templates:
            for name, part in template.parts.items():
                if self.parts.setdefault(name, part).arguments != part.arguments:
                    both = f"{self.parts[name].text} and {part.text}"
                    raise ValueError(f"template: a part must have the same arguments in all targets, got {both}")
        self.constants = {name: value for template in templates for name, value in template.constants.items()}

    @cached_property
    def data(self) -> Dataset:
        """All targets below one another."""
        first, *others = self.tables
        if not others:
            return first
        columns = dict(first.columns)
        X = np.vstack([np.column_stack(list(columns.values()))] * len(self.tables))
        which = np.repeat(np.eye(len(self.tables)), first.rows, axis=0)
        weights = np.concatenate(
            [
                (1.0 if one.weights is None else one.weights) * np.ones(one.rows) / (one.variation or 1.0)
                for one in self.tables
            ]
        )
        stacked = first.with_rows(X[first.rows :], np.concatenate([one.y for one in others]), 1.0).with_weights(weights)
        return stacked.with_more_columns(dict(zip(self.places, which.T, strict=True)))

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The columns of 0 and 1 that say whose row it is; none for one target."""
        fresh = (f"target_{k}" for k in count(1))
        names = (name for name in fresh if name not in self.tables[0].names)
        return tuple(next(names) for _ in self.tables) if len(self.tables) > 1 else ()

    @cached_property
    def frame(self) -> Expression:
        """One formula of the parts for all targets."""
        if not self.places:
            return self.templates[0].frame
        terms = [Variable(place) * one.frame for place, one in zip(self.places, self.templates, strict=True)]
        return reduce(Expression.__add__, terms)

    @cached_property
    def variation(self) -> float:
        """What a constant for each target leaves, in the units of the errors."""
        return 1.0 if self.places else self.data.variation

    def arguments(self, name: str) -> dict[str, Array]:
        """The values of a part's arguments, by the names that these have in its formula."""
        part = self.parts[name]
        values = [evaluate(argument, self.data.columns).values for argument in part.arguments]
        return dict(zip(part.columns, values, strict=True))

    def values(self, filled: Filled) -> dict[str, Array]:
        """The values of the parts on all rows."""
        rows = self.data.rows
        return {
            name: np.broadcast_to(evaluate(formula, self.arguments(name)).values, rows)
            for name, formula in filled.parts.items()
        }

    # Fits

    def fit(self, parts: Mapping[str, Expression], constants: Mapping[str, float], look: FitSettings) -> Filled:
        """All constants of all parts, and those of the frames, at once, from where they are."""
        named, values = self._named(parts)
        start = {**values, **self.constants, **constants}
        in_columns = {name: self.parts[name].in_columns(formula) for name, formula in named.items()}
        whole = self.frame.substitute(in_columns)
        names = [name for name in start if name in whole.variables]
        found = fit(whole, self.data, parameters=names, settings=look, first=[start] if names else ())
        after = {name: found.parameters.get(name, start[name]) for name in start}
        filled = {name: canonical(formula.substitute(after)) for name, formula in named.items()}
        return Filled(filled, {name: after[name] for name in self.constants}, found.mse)

    def _named(self, parts: Mapping[str, Expression]) -> tuple[dict[str, Expression], dict[str, float]]:
        """The parts with a name for each free constant, so that one in several places is one; and their values."""
        taken = {*self.data.names, *self.constants, *self.parts}
        fresh = (name for name in map("constant_{}".format, count(1)) if name not in taken)
        values: dict[str, float] = {}

        def name(node: Expression) -> Expression:
            if not is_free(node):
                return node
            made = next(fresh)
            values[made] = node.value  # type: ignore[attr-defined]
            return Variable(made)

        return {part: transform(formula, name) for part, formula in parts.items()}, values

    def smooth(self, degree: int, before: "Smooth | None", look: FitSettings, rng: np.random.Generator) -> "Smooth":
        """All parts as polynomials of their arguments, of a degree or as high a one as the rows allow, fitted at once:
        from those of a lower degree, and (where there are none yet) from points by chance."""
        bases = {name: self.basis(name, degree) for name in self.parts}
        columns = {f"{name}_basis_{k}": row for name, rows in bases.items() for k, row in enumerate(rows)}
        sums = {
            name: reduce(
                Expression.__add__,
                (Variable(f"{name}_weight_{k}") * Variable(f"{name}_basis_{k}") for k in range(len(rows))),
            )
            for name, rows in bases.items()
        }
        whole = self.frame.substitute(sums)
        names = [name for name in whole.variables if "_weight_" in name or name in self.constants]
        known = dict.fromkeys(names, 0.0) | self.constants
        known |= {name: value for name, value in (before.weights if before else {}).items() if name in known}
        starts = [known]
        if degree <= LOW:
            size = float(np.sqrt(self.data.mean(self.data.y**2))) or 1.0
            sizes = (0.1, 0.3, 1.0, 3.0, 10.0, size) * CHANCES  # of parts inside functions, and of those that are terms
            starts += [{name: value + one * rng.normal() for name, value in known.items()} for one in sizes]
        found = fit(whole, self.data.with_more_columns(columns), parameters=names, settings=look, first=starts)
        values = {
            name: np.array([found.parameters[f"{name}_weight_{k}"] for k in range(len(rows))]) @ rows
            for name, rows in bases.items()
        }
        return Smooth(found.parameters, values, {name: found.parameters[name] for name in self.constants}, found)

    def basis(self, name: str, degree: int) -> Array:
        """Chebyshev's polynomials of a part's arguments and their products, [terms, rows]."""
        columns = list(self.arguments(name).values())
        most = self.data.rows // (ROWS_PER_TERM * len(self.parts))
        while degree > 1 and comb(len(columns) + degree, degree) > most:
            degree -= 1
        scaled = [2 * (column - column.min()) / (np.ptp(column) or 1.0) - 1 for column in columns]
        waves = np.array([np.cos(k * np.arccos(np.clip(one, -1, 1))) for one in scaled for k in range(degree + 1)])
        waves = waves.reshape(len(columns), degree + 1, -1)
        rows = []
        for total in range(degree + 1):
            for chosen in combinations_with_replacement(range(len(columns)), total):
                powers = [chosen.count(k) for k in range(len(columns))]
                rows.append(np.prod([waves[k, power] for k, power in enumerate(powers)], axis=0))
        return np.array(rows)

    # Undoing

    def undone(self, name: str, values: Mapping[str, Array], constants: Mapping[str, float]) -> tuple[Array, Array]:
        """The values that a part must have for the frame to give the targets, with the others as they are; and the
        weights by which an error there counts as the error that it makes: 0 where there is no such value. By another
        loss than the squared one, the targets are those of the squares that move the frame the same way."""
        filled = evaluate(self.frame.substitute(_numbers(constants)), {**self.data.columns, **values}).values
        data = self.data.as_squares(np.broadcast_to(filled, self.data.rows))
        others = {one: column for one, column in values.items() if one != name}
        every = {**data.columns, **others, **{one: np.full(data.rows, value) for one, value in constants.items()}}
        program = compile_expression(self.frame, [name])
        place = program.labels.index(name)
        columns = {one: np.asarray(column)[:, None] for one, column in every.items()}
        table = np.tile(program.constants, (data.rows, 1))

        def at(inside: Array) -> tuple[Array, Array]:
            table[:, place] = inside
            found, slopes = program.values_and_jacobian(columns, table)
            return data.y - found[:, 0], slopes[:, place, 0]

        with np.errstate(all="ignore"):
            now = np.array(values[name], dtype=float)
            rest, slope = at(now)
            linear, first_slope = now + rest / slope, slope
            for _ in range(NEWTON):
                step = np.nan_to_num(rest / slope, nan=0.0, posinf=0.0, neginf=0.0)
                for _ in range(HALVINGS):
                    worse = ~(np.abs(at(now + step)[0]) <= np.abs(rest))
                    step = np.where(worse, step / 2, step)
                    if not worse.any():
                        break
                step = np.where(worse, 0.0, step)
                now = now + step
                rest, slope = at(now)
            size = np.sqrt(data.variation) or 1.0
            done = np.abs(rest) <= UNDONE * size
            target, slope = np.where(done, now, linear), np.where(done, slope, first_slope)
            weights = slope**2 * (1.0 if data.weights is None else data.weights)
        rows = np.isfinite(target) & np.isfinite(weights) & (weights > 0)
        if not rows.any():
            return np.zeros(data.rows), np.zeros(data.rows)
        return np.where(rows, target, 0.0), even_out(np.where(rows, weights, 0.0))

    # Answers

    def wholes(self, filled: Filled) -> list[Expression]:
        """The formula of each target, as the template has it, or simplified where that is shorter."""
        in_columns = {name: self.parts[name].in_columns(formula) for name, formula in filled.parts.items()}
        found = [one.filled({**in_columns, **_numbers(filled.constants)}) for one in self.templates]
        return [min(whole, canonical(whole), key=lambda one: one.complexity) for whole in found]


@dataclass(frozen=True)
class Smooth:
    """Parts as polynomials: the weights of these by name, their values on all rows, the constants of the frames."""

    weights: Mapping[str, float]
    values: Mapping[str, Array]
    constants: Mapping[str, float]
    found: Fit


def _numbers(constants: Mapping[str, float]) -> dict[str, Expression]:
    return {name: Constant(value) for name, value in constants.items()}
