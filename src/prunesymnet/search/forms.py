"""Formulas made from formulas: with a weight on every edge, with one operator less, without the smallest terms of its
sums, without a needless abs, with exponentials and logarithms for powers that are nearly these."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients import Fit
from prunesymnet.coefficients.uncertainty import covariance
from prunesymnet.data import Dataset
from prunesymnet.expression import (
    Apply,
    Constant,
    Expression,
    apply,
    canonical,
    canonical_and_skeleton,
    evaluate,
    expanded_and_skeleton,
    fold,
    postorder,
    summands,
)
from prunesymnet.expression.tree import is_free, replaced
from prunesymnet.operators import Operator

Array = NDArray[np.float64]
Terms = list[tuple[int, Expression]]  # of a sum, with their signs

SMALL = tuple(10.0**-k for k in range(2, 9))  # of a sum: terms below may be rounding errors that were fitted
HIGH_POWER, LOW_POWER = 10.0, 0.1  # beyond those that laws have
MOST_CONSTANTS = 20  # of a formula that is multiplied out: of more, hardly any is ever exact and short


def freed(expression: Expression) -> Expression:
    """With a free weight on every edge, as in the network: what a bank has as `1/(1 + x**2)` is `1/(a + b*x**2)`.

    Exponents stay: they are no operands of the network. `canonical` merges the weights that say the same.
    """

    def weighted(operand: Expression) -> Expression:
        return operand if isinstance(operand, Constant) and operand.is_free else Constant(1.0) * operand

    def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
        if operator.name == "pow":
            return Apply(operator, operands)
        return Apply(operator, tuple(map(weighted, operands)))

    return fold(expression, lambda leaf: leaf, combine)


def without_needless_abs(expression: Expression, data: Dataset) -> Expression:
    """|u| is u where that is positive on all rows, and -u where it is negative: log|u|, as the network has it, or
    |x|**1.5, which is (x**2)**0.75."""

    def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
        if operator.name == "abs":
            values = evaluate(operands[0], data.columns).values
            if (values > 0).all():
                return operands[0]
            if (values < 0).all():
                return apply("neg", operands[0])
        return Apply(operator, operands)

    return fold(expression, lambda leaf: leaf, combine) if "abs(" in str(expression) else expression


def with_canonical_formula(found: Fit, data: Dataset) -> Fit:
    """With its formula written as it should be: a fit may have changed signs. Its whole numbers are those that a search
    has tried, and count as rounded."""
    formula = _plain(canonical(found.expression), data)
    return replace(found, expression=formula, before_rounding=formula)


def with_plain_formula(found: Fit, data: Dataset) -> Fit:
    """Without a needless abs in its formula or in that before rounding: an exponent that was rounded may bring one."""
    before = found.before_rounding and _plain(found.before_rounding, data)
    return replace(found, expression=_plain(found.expression, data), before_rounding=before)


def _plain(formula: Expression, data: Dataset) -> Expression:
    simpler = without_needless_abs(formula, data)
    return formula if simpler is formula else canonical(simpler)


def merged_form(expression: Expression, data: Dataset, *, expand: bool = False) -> tuple[Expression, str]:
    """The formula with its constants merged, and its form: equal formulas with other constants have the same. With
    `expand`, products of sums are multiplied out, unless that makes more constants than can be told apart."""
    sums = expanded_and_skeleton(expression) if expand else None
    short = sums is not None and len(sums[0].constants) <= MOST_CONSTANTS
    merged, form = sums if sums is not None and short else canonical_and_skeleton(expression)
    simpler = without_needless_abs(merged, data)
    return (merged, form) if simpler is merged else canonical_and_skeleton(simpler)


def reductions(expression: Expression, columns: Mapping[str, Array] | None = None) -> list[Expression]:
    """The formulas with one operator less: each operator replaced by one of its operands, with a free coefficient; a
    function by its operand alone, where that would be no shorter. On a table's `columns` also by the line through its
    values, where that takes no symbol more: constants around it may make up for the offset.

    >>> from prunesymnet.expression import parse
    >>> print(*reductions(parse("sin(x) - y")), sep=" | ")
    x - y | 1.0*y
    >>> smaller = reductions(parse("1.0*exp(0.5*x**2)"), {"x": np.array([1.0, 3.0])})[0]
    >>> print(smaller.with_constants(np.round(smaller.constants, 3)))
    0.223*exp(2.0*x)
    """
    found: dict[str, Expression] = {}
    for i, node in enumerate(postorder(expression)):
        for operand in node.operands:
            times = Constant(1.0) * operand
            lines = [] if columns is None else _lines(node, operand, columns)
            for tried in (lines, [times, operand] if len(node.operands) == 1 else [times]):
                forms = (canonical_and_skeleton(replaced(expression, i, instead)) for instead in tried)
                smaller = (entry for entry in forms if entry[0].complexity < expression.complexity)
                for reduced, form in islice(smaller, 1):
                    found.setdefault(form, reduced)
    return list(found.values())


def _lines(node: Expression, operand: Expression, columns: Mapping[str, Array]) -> list[Expression]:
    """The line of its operand that is nearest to an operator; none where there is none."""
    if not operand.variables:
        return []
    values, of = (evaluate(part, columns).values for part in (node, operand))
    if not np.isfinite(values + of).all():
        return []
    with np.errstate(all="ignore"):
        off = (of - of.mean()) / np.ptp(of)  # squares of what is near the end of floats are none
        slope = float(off @ (values / (off @ off)) / np.ptp(of))
        offset = float(values.mean() - slope * of.mean())
    if not math.isfinite(slope + offset):
        return []
    return [Constant(offset) + Constant(slope) * operand]


def limits_of_powers(expression: Expression) -> list[Expression]:
    """The formula with an exponential for a power that is so high, and a logarithm for one that is so low, that it is
    one in disguise: `(u + a)**b` is nearly a multiple of `exp(b*u/a)` where a and b are large, and `u**b` of
    `1 + b*log(u)` where b is small.

    >>> from prunesymnet.expression import parse
    >>> print(*limits_of_powers(parse("2.0*(x**2 + 80.0)**(-40.0) + y**0.01")), sep=" | ")
    y**0.01 + 2.0*exp(-0.5*x**2) | 2.0*(x**2 + 80.0)**(-40.0) + 0.01*log(y) + 1.0
    """
    found = []
    for i, node in enumerate(postorder(expression)):
        if isinstance(node, Apply) and node.operator.name == "pow" and is_free(node.operands[1]):
            base, power = node.operands[0], node.operands[1].value  # type: ignore[attr-defined]
            constants = [term for term in summands(base) if is_free(term)]
            if abs(power) >= HIGH_POWER and len(constants) == 1 and base.variables:
                (at,) = (k for k, part in enumerate(postorder(base)) if part is constants[0])
                rate = Constant(power / (constants[0].value or 1.0))  # type: ignore[attr-defined]
                found.append(replaced(expression, i, apply("exp", rate * replaced(base, at, Constant(0)))))
            elif 0 < abs(power) <= LOW_POWER and base.variables:
                logarithm = Constant(power) * apply("log", base) + Constant(1.0)
                found.append(replaced(expression, i, logarithm))
    return [canonical(form) for form in found]


def without_offset(expression: Expression, most: float) -> Expression | None:
    """The formula without a free constant that it adds, if that is at most so large; None if there is none.

    >>> from prunesymnet.expression import parse
    >>> print(without_offset(parse("2.0*x + 0.01"), 0.1), without_offset(parse("2.0*x + 0.5"), 0.1))
    2.0*x None
    """
    shorter = _without_constants(expression, most)
    return None if shorter is None or shorter == expression else shorter


def error_of_offset(expression: Expression, data: Dataset) -> float:
    """The standard error of a free constant that the formula adds; 0 if there is none."""
    added = {id(term) for term in summands(expression) if is_free(term)}
    free = [id(node) for node in postorder(expression) if is_free(node)]
    at = next((k for k, node in enumerate(free) if node in added), None)
    return 0.0 if at is None else float(np.sqrt(covariance(expression, data)[at, at]))


def without_likely_zero(expression: Expression, data: Dataset, errors: float) -> Expression | None:
    """A product without a free constant that is added in one of its factors, if that is 0 within so many standard
    errors; None if there is none."""
    nodes, factors = postorder(expression), _factors(expression)
    free = [id(node) for node in nodes if is_free(node)]
    added = {
        id(term): place
        for place, node in enumerate(nodes)
        if id(node) in factors and isinstance(node, Apply) and node.operator.name in ("+", "-")
        for term in summands(node)
        if is_free(term)
    }
    if not added:
        return None
    known = np.sqrt(np.diagonal(covariance(expression, data)))
    for k, constant in enumerate(free):
        if constant in added and abs(expression.constants[k]) <= errors * known[k]:
            shorter = _without_constants(nodes[added[constant]], abs(expression.constants[k]))
            return None if shorter is None else replaced(expression, added[constant], shorter)
    return None


def _factors(expression: Expression) -> set[int]:
    """What a formula multiplies, of which no constant can be left out alone."""
    todo, found = [expression], set()
    while todo:
        node = todo.pop()
        if isinstance(node, Apply) and node.operator.name in ("*", "/", "neg"):
            todo += node.operands[:1] if node.operator.name == "/" else node.operands
        elif node is not expression:
            found.add(id(node))
    return found


def _without_constants(total: Expression, most: float) -> Expression | None:
    """A sum without its small constants; None if nothing else is in it."""
    if isinstance(total, Constant):
        return None if total.is_free and abs(total.value) <= most else total
    if not isinstance(total, Apply) or total.operator.name not in ("+", "-", "neg"):
        return total
    parts = [_without_constants(operand, most) for operand in total.operands]
    left = [part for part in parts if part is not None]
    if len(left) == len(parts):
        return apply(total.operator, *left)
    if not left or total.operator.name == "neg":
        return None
    return left[0] if total.operator.name == "+" or parts[0] is not None else apply("neg", left[0])


def without_small_terms(expression: Expression, data: Dataset) -> Iterator[Expression]:
    """The formulas without all terms that are small in their sums, wherever these stand, by several measures of what is
    small; the simplest first.

    >>> from prunesymnet.data import make_dataset
    >>> from prunesymnet.expression import parse
    >>> table = make_dataset(np.linspace(1, 2, 9), np.arange(9.0), names=["x"])
    >>> print(*without_small_terms(parse("1/(x + 2e-5*x**2 - 3e-7*sin(x)) + 1e-5*exp(x)"), table), sep=" | ")
    1/x | 1/(2e-05*x**2 + x) + 1e-05*exp(x)
    """
    known: set[str] = set()
    before: Expression | None = None
    for share in SMALL:  # the largest first: where that takes nothing out, none does
        shorter = _without_terms_below(expression, data, share)
        if shorter.size >= expression.size:
            break
        if shorter == before:
            continue
        before = shorter
        smaller, form = canonical_and_skeleton(shorter)
        if smaller.complexity < expression.complexity and form not in known:
            known.add(form)
            yield smaller


def _without_terms_below(expression: Expression, data: Dataset, share: float) -> Expression:
    """The tree without the terms whose root mean square is below this share of their sum's."""

    def as_sum(terms: Terms) -> Expression:
        if len(terms) > 1:
            values = [sign * evaluate(term, data.columns).values for sign, term in terms]
            least = share * _rms(sum(values, np.zeros(data.rows)))
            terms = [one for one, value in zip(terms, values, strict=True) if not _rms(value) < least] or terms
        (sign, total), *others = terms
        total = total if sign > 0 else apply("neg", total)
        for sign, term in others:
            total = total + term if sign > 0 else total - term
        return total

    def combine(operator: Operator, operands: tuple[Terms, ...]) -> Terms:
        if operator.name == "+":
            return [*operands[0], *operands[1]]
        if operator.name in ("-", "neg"):
            return [*(operands[0] if operator.name == "-" else []), *((-sign, term) for sign, term in operands[-1])]
        return [(1, Apply(operator, tuple(map(as_sum, operands))))]

    return as_sum(fold(expression, lambda leaf: [(1, leaf)], combine))


def _rms(values: Array) -> float:
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.mean(values**2)))
