"""What a formula may be with fewer constants: a sum that is nearly a square, a higher power or a product of sums, waves
that are nearly one, exponentials that are nearly a hyperbolic function, a quotient that nearly divides, a power of a
sum in which a term may be 1, two constants that are nearly the same.

>>> from prunesymnet.expression.parsing import parse
>>> print(*fewer_constants(parse("4.0*x**2 - 12.0*x*y + 9.0*y**2 + 1.5")), sep=" | ")
4.0*(x - 1.5*y)**2 + 1.5
>>> print(*fewer_constants(parse("2.0*x**3 - 6.0*x**2 + 6.0*x + y")), sep=" | ")
y + 2.0*(x - 1)**3 + 2.0
>>> print(*fewer_constants(parse("x*y + 3.0*x + 0.5*y + 1.5 - z")), sep=" | ")
(x + 0.5)*(y + 3) - z | (x + 0.5)*(y + 3.0) - z
>>> print(*fewer_constants(parse("0.6*cos(x) + 0.8*sin(x) + exp(x)")), sep=" | ")
cos(x - 0.9272952180016123) + exp(x)
>>> print(*fewer_constants(parse("2.0*exp(0.5*x) + 2.0*exp(-0.5*x) + y - 2*y/(exp(z) + 1)")), sep=" | ")
y - 2*y/(exp(z) + 1) + 4.0*cosh(0.5*x) | y*tanh(z/2) + 2.0*exp(-0.5*x) + 2.0*exp(0.5*x)
>>> print(*fewer_constants(parse("(0.6*y - x + 2.4)/(y + 4.0)")), sep=" | ")
0.6 - x/(y + 4.0)
>>> print(*fewer_constants(parse("3.01*x/sqrt(9.06 - x**2)")), sep=" | ")
x/sqrt(1 - 0.11037527593818984*x**2)
>>> print(*tied(parse("2.5 - 2.499*exp(-x)")), sep=" | ")
2.5*(1 - exp(-x))

A search finds a law in the form in which its terms stand side by side, as that is linear in its constants, and there it
has more of them than the law: of a square of two terms three. These forms have the constants that follow from the
formula's; whether they are the law, a fit must say.
"""

from collections.abc import Iterator

from prunesymnet.expression.canonical import canonical, to_terms
from prunesymnet.expression.canonical.numbers import OutOfRange
from prunesymnet.expression.canonical.terms import to_tree
from prunesymnet.expression.rewriting.hyperbolic import one_hyperbolic
from prunesymnet.expression.rewriting.likeness import flat
from prunesymnet.expression.rewriting.powers import no_square, one_power, one_square
from prunesymnet.expression.rewriting.products import divided, one_product
from prunesymnet.expression.rewriting.ties import tied
from prunesymnet.expression.rewriting.unit_terms import with_unit_term
from prunesymnet.expression.rewriting.waves import one_wave
from prunesymnet.expression.tree import Apply, Expression, postorder, replaced

__all__ = ["fewer_constants", "tied"]


def fewer_constants(expression: Expression) -> Iterator[Expression]:
    """The forms, each with one sum, product or quotient written in another way; the outermost first."""
    as_it_is = canonical(expression)
    nodes = postorder(expression)
    in_sums, in_terms = (
        {id(part) for node in nodes if kind(node) for part in node.operands} for kind in (_is_sum, _is_term)
    )
    for place in reversed(range(len(nodes))):
        node = nodes[place]
        if not isinstance(node, Apply) or (id(node) in in_sums and _is_sum(node)):
            continue
        try:
            forms = _other_forms(node)
            if _is_term(node) and id(node) not in in_terms:
                forms += map(to_tree, with_unit_term(to_terms(node)))
            others = (canonical(replaced(expression, place, other)) for other in forms)
            yield from (other for other in others if other != as_it_is)
        except (OverflowError, OutOfRange):
            continue


def _other_forms(node: Apply) -> list[Expression]:
    """Of a sum or a quotient, those that are no longer, and a sum without a square."""
    longer: list[Expression] = []
    if _is_sum(node):
        terms = flat(to_terms(node))
        kinds = (one_square, one_power, one_wave, one_hyperbolic)
        forms = [to_tree(form) for form in (terms, *(form for kind in kinds for form in kind(terms)))]
        forms += one_product(terms)
        longer = list(map(to_tree, no_square(to_terms(node))))
    elif node.operator.name == "/":
        above, below = node.operands
        steps = divided(flat(to_terms(above)), flat(to_terms(below)))
        forms = [to_tree(whole) + to_tree(rest) / below for whole, rest in steps]
        forms += [to_tree(form) for whole in forms for form in one_hyperbolic(to_terms(whole))]
        free = len(node.constants)  # a quotient of lines has as many as a number and one over a line: it stays
        forms = [form for form in forms if len(form.constants) < free or not free]
    else:
        return []
    return [form for form in dict.fromkeys(forms) if form.complexity <= node.complexity] + longer


def _is_term(node: Expression) -> bool:
    """Whether it is a sum of products, or one of them."""
    return isinstance(node, Apply) and node.operator.name in ("+", "-", "*", "/")


def _is_sum(node: Expression) -> bool:
    return isinstance(node, Apply) and node.operator.name in ("+", "-")
