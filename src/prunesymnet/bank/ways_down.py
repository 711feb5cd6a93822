"""Thousands of targets at once: y divided by factors, or less some terms, and what is inside of functions of these.

Where `targets` takes operators off y one by one, these are matrices [targets, rows], which products of matrices test
all together (`dictionary`); the steps that lead to a target are made when it is asked for.

>>> from prunesymnet.data import make_dataset
>>> from prunesymnet.expression import Variable
>>> x = np.array([1.0, 2.0, 3.0])
>>> problem = Problem.of(make_dataset(x, x * np.exp(x), names=["x"]), ["*", "exp"], rows=3, seed=0)
>>> for targets in divided(problem, Factors.of([Term(x, Variable("x"))], rows=3), functions=1):
...     print(targets.values.round(3), [type(step).__name__ for step in targets.steps(0)])
[[ 2.718  7.389 20.086]] ['Factor']
[[  2.718  29.556 180.77 ]] ['Factor']
[[1. 2. 3.]] ['Factor', 'Function']
[[1.    3.386 5.197]] ['Factor', 'Function']
"""

from collections.abc import Callable, Iterator
from functools import partial
from operator import add, mul, sub, truediv
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Bank, Term
from prunesymnet.bank.dictionary import Dictionary
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.targets import Factor, Function, Step, Summand, Target, invertible
from prunesymnet.expression import apply
from prunesymnet.operators import Operator

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

A_FUNCTION = 2  # symbols: its own, and a sign


class ExactSum(NamedTuple):
    """A target, by the steps that lead to it, and the dictionary of whose terms it is a sum. With a `denominator`, it
    is the target times that which is a sum, and one of the terms may be the target `itself`. `rough`: a constant in a
    term is known to some digits, and so are the coefficients."""

    complexity: int
    steps: tuple[Step, ...]
    dictionary: Dictionary
    denominator: Term | None = None
    itself: Term | None = None
    rough: bool = False


Undo = Callable[[Term], Step]
_TIMES: Undo = partial(Factor, divides=False)
_ADDED: Undo = partial(Summand, taken_off=False)
ExactSums = tuple[list[ExactSum], int]  # and how many targets were tested


class Factors(NamedTuple):
    """What y is divided by, multiplied with, or what is taken off it: values [factors, rows], and each as a term."""

    values: Array
    term: Callable[[int], Term]

    @classmethod
    def of(cls, terms: list[Term], rows: int) -> "Factors":
        return cls(np.array([term.values for term in terms]).reshape(-1, rows), terms.__getitem__)

    @classmethod
    def nodes(cls, bank: Bank) -> "Factors":
        return cls(bank.values, bank.term)

    def first(self, count: int) -> "Factors":
        return Factors(self.values[:count], self.term)

    @classmethod
    def functions_of_sums(cls, terms: list[Term], functions: list[Operator]) -> "Factors":
        """Each function of the sums and differences of any two terms, where it is finite on all rows."""
        sums = cls._of_two(terms, add, sub)
        with np.errstate(all="ignore"):
            made = [(row, np.asarray(row.numpy(sums.values))) for row in functions]
        there = [(row, np.flatnonzero(np.isfinite(part).all(axis=1) & part.any(axis=1))) for row, part in made]
        places = [(row, int(k)) for row, kept in there for k in kept]

        def term(number: int) -> Term:
            row, k = places[number]
            return Term(found[number], apply(row, sums.term(k).expression))

        found = np.concatenate(
            [sums.values[:0], *(part[kept] for (_, part), (_, kept) in zip(made, there, strict=True))]
        )
        return cls(found, term)

    @classmethod
    def sums_of(cls, terms: list[Term]) -> "Factors":
        """The sums and differences of any two terms, and the squares of these."""
        return cls._of_two(terms, add, sub, lambda a, b: (a + b) ** 2, lambda a, b: (a - b) ** 2)

    @classmethod
    def products_of(cls, terms: list[Term]) -> "Factors":
        """The products and quotients of any two terms."""
        return cls._of_two(terms, mul, truediv)

    @classmethod
    def _of_two(cls, terms: list[Term], *operations: Callable[[Any, Any], Any]) -> "Factors":
        """What each operation makes of any two terms: of their values, and of their formulas."""
        values = np.array([term.values for term in terms])
        one, two = np.triu_indices(len(terms), k=1)
        with np.errstate(all="ignore"):
            made = np.concatenate([operation(values[one], values[two]) for operation in operations])

        def term(number: int) -> Term:
            operation, k = divmod(number, len(one))
            left, right = terms[one[k]].expression, terms[two[k]].expression
            return Term(made[number], operations[operation](left, right))

        return cls(made.reshape(-1, values.shape[-1]), term)


class Targets(NamedTuple):
    """What is left of y on a way down [targets, rows]: by some factors (None: by none), of which each target has one
    (`which`), undone by a `step`, and then inside of functions; others may come `first`."""

    values: Array
    factors: Factors | None
    which: Numbers
    step: Undo = Factor
    functions: tuple[Function, ...] = ()
    first: tuple[Function, ...] = ()

    def steps(self, k: int) -> tuple[Step, ...]:
        if self.factors is None:
            return self.functions
        return (*self.first, self.step(self.factors.term(int(self.which[k]))), *self.functions)

    def hit(self, k: int, dictionary: Dictionary, more: int = 0) -> ExactSum:
        """That a target is a sum, in a formula with so many symbols more."""
        factor = 0 if self.factors is None else self.factors.term(int(self.which[k])).expression.complexity
        functions = len(self.first) + len(self.functions)
        return ExactSum(factor + A_FUNCTION * functions + more, self.steps(k), dictionary)


def target_of(problem: Problem, steps: tuple[Step, ...]) -> Target | None:
    """One target, with the weights of its rows; None where too few rows have it."""
    return problem.target.undo(*steps) if steps else problem.target


def itself(problem: Problem, functions: int) -> Iterator[Targets]:
    """y, and what is inside of up to so many functions of it."""
    yield from _inside_functions(problem, [Targets(problem.y[None], None, np.zeros(1, dtype=np.int64))], 0, functions)


def divided(problem: Problem, factors: Factors, functions: int, *, least: int = 0, first: int = 0) -> Iterator[Targets]:
    """y divided by the factors, and times them, and what is inside of at least and at most so many functions of these;
    and the same with what is inside of a function of y, if one may come `first`."""
    which = np.arange(len(factors.values))
    for start in itself(problem, first):
        with np.errstate(all="ignore"):
            both: list[tuple[Array, Undo]] = [
                (start.values / factors.values, Factor),
                (start.values * factors.values, _TIMES),
            ]
        states = [Targets(values, factors, which, step, (), start.functions) for values, step in both]
        yield from _inside_functions(problem, states, least, functions)


def less(problem: Problem, terms: Factors, functions: int, least: int = 1) -> Iterator[Targets]:
    """What is inside of so many functions of y less a term, or of both together."""
    which = np.arange(len(terms.values))
    with np.errstate(all="ignore"):
        both: list[tuple[Array, Undo]] = [(problem.y - terms.values, Summand), (problem.y + terms.values, _ADDED)]
    states = [Targets(values, terms, which, step) for values, step in both]
    yield from _inside_functions(problem, states, least, functions)


def _inside_functions(problem: Problem, states: list[Targets], least: int, most: int) -> Iterator[Targets]:
    signed = [Function(row, sign) for row in invertible(problem.operators) for sign in (1, -1)]
    for depth in range(most + 1):
        if depth >= least:
            yield from states
        if depth < most:
            states = [inner for state in states for inner in _inside(state, signed)]


def _inside(state: Targets, functions: list[Function]) -> Iterator[Targets]:
    """What is inside of each function, of those targets that have it in all rows."""
    for function in functions:
        with np.errstate(all="ignore"):
            values = function.down(state.values)
        there = np.flatnonzero(np.isfinite(values).all(axis=1))
        if len(there):
            further = (*state.functions, function)
            yield state._replace(values=values[there], which=state.which[there], functions=further)
