"""A formula as Python: an expression to paste, or a whole function that needs nothing but `math`.

>>> from prunesymnet.expression import parse
>>> to_python(parse("x**2*sin(y)/(2*pi) - 0.123456789"), digits=3)
'x**2*math.sin(y)/(2*math.pi) - 0.123'
>>> print(to_function(parse("2*log(x)"), target="y"))
import math
<BLANKLINE>
<BLANKLINE>
def formula(x: float) -> float:
    \"\"\"y = 2*log(x)
<BLANKLINE>
    nan where it is not defined.
    \"\"\"
    try:
        return 2*math.log(x)
    except (ArithmeticError, ValueError):
        return math.nan
<BLANKLINE>

Where numpy's value is inf because an exponential is too large, so is the function's. At a pole, where numpy has an
infinity too (1/0, log(0), 0**-1), the function has nan: the formula is not defined there. Where an infinity is only on
the way, as in exp(-1/x**2) at 0 or 1/(1/x), the value is the same as that of `predict`.
"""

import keyword
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping

from prunesymnet.export.common import column_names, form_of, forms_in, identifiers, temporaries, words_of, write
from prunesymnet.expression import Apply, Constant, Expression, Variable, to_text
from prunesymnet.expression.printing import number_text
from prunesymnet.operators import Operator
from prunesymnet.operators.operator import Form

# What the function calls where Python itself would raise: math.exp and powers, where a result is too large. And
# (-8)**(1/3) is a complex number. The last three are for infinities on the way.
_HELPERS = {
    "_or_inf": """
def _or_inf(function, u: float) -> float:
    try:
        return function(u)
    except OverflowError:
        return math.copysign(math.inf, function(math.copysign(1.0, u)))
""",
    "_power": """
def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
""",
    "_raised": """
def _raised(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):
        if 0 > base > -math.inf and exponent % 1 != 0:
            return math.nan
        return math.copysign(math.inf, base) if exponent % 2 == 1 else math.inf
""",
    "_over": """
def _over(above: float, below: float) -> float:
    return above / below if below else above * math.copysign(math.inf, below)
""",
    "_log": """
def _log(u: float) -> float:
    return math.log(u) if u else -math.inf
""",
}
# Forms that give an infinity where Python raises: needed where it is not what comes out in the end.
_ON_THE_WAY = {
    "/": "_over({0}, {1})", "inv": "_over(1.0, {0})", "log": "_log({0})", "pow": "_raised({0}, {1})",
    "square": "_raised({0}, 2.0)", "cube": "_raised({0}, 3.0)",
}  # fmt: skip
# Operators that have an infinity, or no value, where an operand is infinite.
_PASS_ON = {"+", "-", "*", "neg", "id", "sqrt", "abs", "square", "cube", "log", "sin", "cos", "tan", "asin", "acos"}
_TAKEN = {"abs", "math", "ArithmeticError", "ValueError", "__debug__", *_HELPERS}  # what the function itself refers to


def to_python(expression: Expression, *, module: str = "math", digits: int | None = None) -> str:
    """The formula as a Python expression that calls `module` ("math", or "np" for arrays, where `erf` is scipy's);
    a user's operator that has no form in Python is called by its name."""

    def form(operator: Operator) -> Form:
        if operator.python is None or (operator.recipe is not None and module != "math"):
            return Form(f"{operator.name}({', '.join(f'{{{i}}}' for i in range(operator.arity))})")
        own = form_of(operator, "python", "Python")
        if module == "math":
            return own
        template = operator.python_arrays or own.template.replace("math.", "np.")
        return own._replace(template=template.replace("np.", f"{module}."))

    return write(expression, lambda node: _leaf(node, digits, {}), form)


def to_function(
    expression: Expression,
    names: Iterable[str] | None = None,
    *,
    name: str = "formula",
    target: str | None = None,
    digits: int | None = None,
) -> str:
    """The text of a Python function of one float per column, in the order of `names`.

    A column whose name can't be an argument's gets another, which the docstring tells.

    >>> from prunesymnet.expression import parse
    >>> "def area(h: float, r: float) -> float:" in to_function(parse("2*pi*r*h"), name="area")
    True
    """
    columns = column_names(expression, names)
    if not (isinstance(name, str) and name.isidentifier()) or keyword.iskeyword(name) or name in _TAKEN:
        raise ValueError(f"name must be a Python identifier other than {', '.join(sorted(_TAKEN))}, got {name!r}")
    on_the_way = _not_passed_on(expression)
    forms = forms_in(expression, lambda operator: _safe(operator, on_the_way))
    words = words_of(forms)
    taken = {*_TAKEN, *words}
    arguments = identifiers(columns, _clean, {*taken, *keyword.kwlist})
    lines: list[str] = []
    temporary = temporaries({*arguments.values(), *taken})

    def assign(part: str) -> str:
        lines.append(f"{temporary(len(lines) + 1)} = {part}")
        return temporary(len(lines))

    result = write(
        expression, lambda node: _leaf(node, digits, arguments), lambda operator: forms[operator.name], assign
    )
    helpers = [text for helper, text in _HELPERS.items() if helper in words]
    formula = to_text(expression, digits=digits)
    said = [
        formula if target is None else f"{' '.join(target.split())} = {formula}",
        "",
        "nan where it is not defined.",
    ]
    said += [f"{ours}: the column {column!r}." for column, ours in arguments.items() if column != ours]
    docstring = "\n".join(f"    {_printable(line)}".rstrip() for line in said).strip()
    docstring = docstring.replace("\\", r"\\").replace('"', r"\"")
    return "\n".join(
        [
            "import math\n",
            *helpers,
            f"\ndef {name}({', '.join(f'{argument}: float' for argument in arguments.values())}) -> float:",
            f'    """{docstring}\n    """',
            "    try:",
            *(f"        {line}" for line in lines),
            f"        return {result}",
            "    except (ArithmeticError, ValueError):",
            "        return math.nan\n",
        ]
    )


def _not_passed_on(expression: Expression) -> set[str]:
    """The operators some of whose values could be infinite and still leave a formula with a value: what stands in a
    denominator, an exponent, an exp."""
    found: set[str] = set()
    stack = [(expression, True)]
    while stack:
        node, passed_on = stack.pop()
        if isinstance(node, Apply):
            name = node.operator.name
            found |= set() if passed_on else {name}
            stack += [
                (operand, passed_on and (name in _PASS_ON or (name == "/" and k == 0)))
                for k, operand in enumerate(node.operands)
            ]
    return found


def _printable(text: str) -> str:
    """Without what can't stand in a file of Python's, a NUL or half a pair of surrogates."""
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in text)


def _safe(operator: Operator, on_the_way: Collection[str]) -> Form:
    """The form in a function that must not raise."""
    if operator.name in on_the_way and operator.name in _ON_THE_WAY:
        return Form(_ON_THE_WAY[operator.name])
    if operator.python_function is not None:
        return Form(operator.python_function)
    return form_of(operator, "python", "a Python function")


def _leaf(node: Expression, digits: int | None, arguments: Mapping[str, str]) -> str:
    if isinstance(node, Constant):
        return number_text(node, digits)
    assert isinstance(node, Variable)  # noqa: S101 - the only other leaf
    return arguments.get(node.name, node.name)


def _clean(name: str) -> str:
    """An identifier as Python itself reads it: µ (micro) and μ (mu) are one letter to it."""
    name = unicodedata.normalize("NFKC", name)
    if not name.isidentifier():
        name = re.sub(r"[^0-9A-Za-z_]", "_", name)
    return name if name.isidentifier() else f"v{name}"
