"""Constants that have another value in each category: `a[site]` in a formula, one constant for each site.

A column of categories is a column of 0 and 1 for each of them (`data.categories`). So `a[site]` is a sum of which one
term is left in every row:

>>> from prunesymnet.expression.parsing import parse
>>> form = parse("a[site]*x + b")
>>> full = expand(form, {"site": {"north": "site_north", "south": "site_south"}})
>>> print(full)
(a[site=north]*site_north + a[site=south]*site_south)*x + b
>>> print(contract(full))
a[site]*x + b
>>> contract(full).complexity
5

From numbers, the names are found again:

>>> places = {"site": {"north": "site_north", "south": "site_south"}}
>>> form, values = named(parse("(1.5*site_north - 2*site_south)*x"), places)
>>> print(contract(form), values)
c1[site]*x {'c1[site=north]': 1.5, 'c1[site=south]': -2.0}
"""

from collections.abc import Mapping
from functools import reduce
from itertools import count

from prunesymnet.expression.tree import Apply, Constant, Expression, Variable, fold, index_of
from prunesymnet.operators import Operator

Groups = Mapping[str, Mapping[str, str]]
"""For each column of categories: the column of 0 and 1 that each category has."""


def indexed(form: Expression) -> dict[str, str]:
    """The constants of a form that have a value for each category, and the columns of these: {"a[site]": "site"}."""
    found = {name: index_of(name) for name in form.variables}
    return {name: index[1] for name, index in found.items() if index is not None}


def constant_of(name: str, category: str) -> str:
    """The name of a constant in one category: `a[site=north]` of `a[site]`. Brackets of the category become round."""
    base, column = index_of(name) or (name, "")
    plain = "".join(sign if sign.isprintable() else " " for sign in category).replace("[", "(").replace("]", ")")
    return f"{base}[{column}={plain}]"


def expand(form: Expression, groups: Groups) -> Expression:
    """With a sum over the categories in place of each constant that has an index."""
    sums = {}
    for name, column in indexed(form).items():
        terms = [Variable(constant_of(name, one)) * Variable(place) for one, place in groups[column].items()]
        sums[name] = reduce(Expression.__add__, terms)
    return form.substitute(sums)


def contract(form: Expression) -> Expression:
    """With `a[site]` in place of the sum over its categories."""

    def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
        one, two = operands if len(operands) == 2 else (None, None)
        if operator.name == "*" and isinstance(one, Variable) and isinstance(two, Variable):
            base, inside = index_of(one.name) or ("", "")
            column, equals, _ = inside.partition("=")
            if equals:
                return Variable(f"{base}[{column}]")
        if operator.name == "+" and isinstance(one, Variable) and one == two and index_of(one.name):
            return one
        return Apply(operator, operands)

    return fold(form, lambda leaf: leaf, combine)


def named(formula: Expression, groups: Groups) -> tuple[Expression, dict[str, float]]:
    """A formula with a name for each number in a sum over all categories of a column, and these numbers."""
    fresh = (name for name in map("c{}".format, count(1)) if name not in formula.variables)
    values: dict[str, float] = {}

    def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
        node = Apply(operator, operands)
        numbers = _numbers(node) if operator.name in ("+", "-") else {}
        for column, places in groups.items():
            if len(places) > 1 and set(numbers) == set(places.values()):
                name = f"{next(fresh)}[{column}]"
                values.update({constant_of(name, one): numbers[place] for one, place in places.items()})
                return expand(Variable(name), {column: places})
        return node

    return fold(formula, lambda leaf: leaf, combine), values


def _numbers(node: Expression) -> dict[str, float]:
    """The factors of the columns in a sum of columns with factors; nothing for another formula."""
    found: dict[str, float] = {}
    waiting = [(node, 1.0)]
    while waiting:
        one, sign = waiting.pop()
        name = one.operator.name if isinstance(one, Apply) else ""
        if isinstance(one, Variable) and one.name not in found:
            found[one.name] = sign
        elif name in ("+", "-"):
            waiting += [(one.operands[0], sign), (one.operands[1], -sign if name == "-" else sign)]
        elif name == "neg":
            waiting.append((one.operands[0], -sign))
        elif name == "*" and any(isinstance(operand, Constant) for operand in one.operands):
            number, other = sorted(one.operands, key=lambda operand: not isinstance(operand, Constant))
            waiting.append((other, sign * float(number.value)))  # type: ignore[attr-defined]
        else:
            return {}
    return found
