"""When a search ends: an exact formula that is simple, nothing but noise left, or a limit."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import left_by_pairs
from prunesymnet.bank.regression import Regression, unexplained
from prunesymnet.coefficients import Fit
from prunesymnet.coefficients.description import has_rare_exponent
from prunesymnet.data import weighted_around
from prunesymnet.expression import Expression, compile_expression, evaluate
from prunesymnet.search.archive import SAME, Archive, Candidate
from prunesymnet.search.settings import SearchSettings, SearchStatus
from prunesymnet.search.stages.base import SAYS_SOMETHING, Context
from prunesymnet.selection import NEAR_TIE

TO_FINISH = 0.05  # of the time limit: for the last fits and the rounding
TO_SPARE = 0.4  # seconds beyond the limit that finishing may take: even of a limit of 0.1 s, an answer is rounded
SIMPLE = 10  # complexity: an exact formula that is longer is given some more batches to find a shorter one
MORE_BATCHES = 6  # about what a bank proposes until its pairs and single nodes are through
FINAL = ("polynomials", "networks")  # stages whose exact formulas are final: all terms at once, and shrunk at the end
MAY_BE_MISSED = (1e-4, 1e-3, 1e-2)  # of the variation, by level: if no more can be hidden, the level may end
# The same for the search, when a level is over: another takes ten times as long, and rarely finds it.
MAY_BE_LEFT = 1e-2
# Of the variation: instruments leave more, so that what is less may well be a formula's own error.
MEASURED = 1e-12
ROWS_TO_CHECK = 2000  # for noise: more rows than banks are scanned with, so that less can be hidden
BANK = 400  # nodes whose pairs are tried on the residuals
CLEARLY = 4.0  # bits more than chance
SPARE_SYMBOLS, SPARE_CONSTANTS = 6, 2  # of a short formula: beyond those that join its columns, and free ones
ALONE = 60.0  # bits that a law is ahead of all that fits worse: what is merely like it comes in crowds
WORSE = 1.3  # times the error: two samples of some fifty rows differ so much by chance
OUTDONE = 10.0  # bits that another explains more of: the best of a thousand by chance
SYMBOLS_ALONE, CONSTANTS_ALONE = 12, 3  # as above, of a formula that is so far ahead
LEAST_LEFT = 1e-300  # of a sum of squares, for its logarithm: where nothing is left, nothing stands out


def no_more_time() -> float:
    """Seconds that a search is given beyond its time limit while it runs."""
    return 0.0


class LimitReached(Exception):
    """A limit of time, of fits or of evaluations ends the search."""

    def __init__(self, status: SearchStatus) -> None:
        self.status = status


@dataclass(frozen=True)
class Limits:
    """Time as `clock` tells it, and the numbers of fits and of formulas that are scored or fitted (None: any). The
    limit of time is longer by what `more_time` says when it is asked."""

    first_limit: float = math.inf
    max_fits: int | None = None
    max_evaluations: int | None = None
    clock: Callable[[], float] = time.monotonic
    began: float = 0.0
    more_time: Callable[[], float] = no_more_time

    @classmethod
    def start(
        cls, settings: SearchSettings, clock: Callable[[], float], more_time: Callable[[], float] = no_more_time
    ) -> "Limits":
        return cls(settings.time_limit, settings.max_fits, settings.max_evaluations, clock, clock(), more_time)

    @property
    def time_limit(self) -> float:
        return self.first_limit + self.more_time()

    @property
    def seconds(self) -> float:
        return self.clock() - self.began

    def check(self, fits: int, evaluations: int = 0) -> None:
        """Raise if a limit is reached."""
        if self.seconds > (1 - TO_FINISH) * self.time_limit:
            raise LimitReached(SearchStatus.TIME_LIMIT)
        if self.max_fits is not None and fits >= self.max_fits:
            raise LimitReached(SearchStatus.FIT_LIMIT)
        if self.max_evaluations is not None and evaluations >= self.max_evaluations:
            raise LimitReached(SearchStatus.EVALUATION_LIMIT)


@dataclass
class Progress:
    """Whether the last level has made the shortest description shorter: `length` is what it was before."""

    length: float = math.inf

    def is_settled(self, length: float) -> bool:
        """Tell it the length after a level; whether it is clearly no shorter than the one before."""
        gained, self.length = self.length - length, length
        return gained < CLEARLY


@dataclass
class Patience:
    """Whether there is an exact formula, and it is simple, or has been there for some batches."""

    waited: int = 0

    def is_over(self, archive: Archive) -> bool:
        best = archive.best
        if best is None or not archive.exact:
            return False
        self.waited += 1
        simple = best.expression.complexity <= SIMPLE or best.stage in FINAL
        return simple or self.waited > MORE_BATCHES


def is_short(formula: Expression, symbols: int = SPARE_SYMBOLS, constants: int = SPARE_CONSTANTS) -> bool:
    """Whether a formula has little to spare: one that describes the rows as well could hardly be shorter. Behind an
    exponent that laws rarely have may be another.

    >>> from prunesymnet.expression import parse
    >>> [is_short(parse(text)) for text in ("0.5*x*y*z**2", "1.5*x*exp(-0.3*y)", "1.5*x**2 - 0.3*x*y + y**2")]
    [True, True, False]
    """
    spare = formula.complexity - (2 * len(formula.variables) - 1)
    fits = bool(formula.variables) and spare <= symbols and len(formula.constants) <= constants
    return fits and not has_rare_exponent(formula)


def stands_alone(candidate: Candidate, archive: Archive) -> bool:
    """Whether a formula is not too long, and far ahead of all others that leave clearly more, while no other describes
    the rows nearly as well. Approximations come in crowds: where one is found, there are others that fit about as
    well, or clearly better by what they leave."""
    if not is_short(candidate.expression, SYMBOLS_ALONE, CONSTANTS_ALONE) or is_outdone(candidate, archive):
        return False
    clearly_more, length = WORSE * archive.unexplained(candidate), archive.length(candidate)
    worse = [archive.length(other) for other in archive.known() if archive.unexplained(other) > clearly_more]
    nearly = (other for other in archive.known() if archive.length(other) < length + NEAR_TIE)
    return length + ALONE < min(worse, default=-math.inf) and all(
        is_same(candidate, other, archive) for other in nearly
    )


def is_same(one: Candidate, other: Candidate, archive: Archive) -> bool:
    """Whether they are one law, fitted or written in two ways: another would hardly leave as much."""
    return math.isclose(archive.unexplained(one), archive.unexplained(other), rel_tol=SAME)


def is_outdone(candidate: Candidate, archive: Archive) -> bool:
    """Whether another formula, of whatever length, explains more of the rows than its further constants, a bit each,
    and chance."""

    def left(of: Candidate) -> float:
        return archive.length(of) - archive.size(of) + len(of.expression.constants)

    return min(map(left, archive.known()), default=math.inf) + OUTDONE < left(candidate)


def looks_like_noise(
    context: Context,
    chosen: Fit | None,
    columns: Sequence[str] = (),
    *,
    settled: bool = False,
    may_be_left: float | None = None,
) -> bool:
    """Whether what a formula leaves looks like noise: nothing in a bank of the context's columns, the formula's and
    these `columns` explains more of it than chance would, and either a whole level of the search has found nothing
    better (it is `settled`), or what could hide behind that chance is a small part of the variation: what
    `may_be_left`, or by the level. Where it leaves less than a millionth of the target's spread, it must be settled: a
    formula that is nearly right leaves errors that are as hard to explain."""
    if chosen is None or (1 - chosen.r2 > SAYS_SOMETHING and not settled):
        return False
    settings = context.settings
    names = {*context.problem.columns, *columns, *chosen.expression.variables}
    train = weighted_around(context.train, evaluate(chosen.expression, context.train.columns).values)
    before = context.problem
    problem = Problem.of(
        train,
        settings.searched_operators,
        ROWS_TO_CHECK,
        settings.seed,
        groups=before.groups,
        dimensions=before.dimensions,
    )
    problem = problem.only(name for name in problem.columns if name in names)
    hidden = hidden_share(replace(context, problem=problem), chosen)
    by_level = MAY_BE_MISSED[min(context.budget.level, len(MAY_BE_MISSED) - 1)]
    most = by_level if may_be_left is None else may_be_left
    return hidden is not None and (settled or (1 - chosen.r2 > MEASURED and (1 - chosen.r2) * hidden < most))


def hidden_share(context: Context, chosen: Fit) -> float | None:
    """What share of its residual a formula may have missed without anyone seeing it: any pair of nodes that explains
    more than this would stand out from the best of as many pairs by chance. None if a pair does, or a single node."""
    problem = context.problem
    values, jacobian = compile_expression(chosen.expression).values_and_jacobian(problem.data.columns)
    jacobian = problem.scaled(jacobian)
    residual, rows = problem.y - problem.scaled(values), len(problem.y)
    bank = context.with_reciprocals(context.grow(BANK))
    if not len(bank):
        return None
    regression = Regression(residual, jacobian if len(jacobian) else None, problem.weights)
    before = max(float(unexplained(np.zeros((1, 0, rows)), regression)[0]), LEAST_LEFT)
    # Of M columns by chance the best leaves about M**(-2/freedom) of what has so many degrees of freedom.
    one = math.log2(len(bank))
    chance = 2 * one + math.log2(rows) + CLEARLY
    freedom = max(rows - len(jacobian) - 3, 1)

    def stands_out(least_left: float, chance: float) -> bool:
        return 0.5 * freedom * math.log2(before / max(least_left, LEAST_LEFT)) > chance

    # There are fewer single nodes than pairs, so that less of one stands out.
    if stands_out(float(unexplained(bank.values[:, None], regression).min()), one + math.log2(rows) / 2 + CLEARLY):
        return None
    for products in (True, False):
        (pairs,) = context.scanner.scan(bank, [regression], products=products)
        if stands_out(float(left_by_pairs(pairs, bank, products, regression).min(initial=before)), chance):
            return None
    return float(1 - 2 ** (-2 * chance / freedom))
