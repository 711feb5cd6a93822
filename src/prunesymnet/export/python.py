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
infinity too (1/0, log(0), 0**-1), the function has nan: the formula is not defined there.
"""

import keyword
import re
import unicodedata
from collections.abc import Iterable, Mapping

from prunesymnet.export.common import ARITHMETIC, Form, column_names, form_of, identifiers, temporaries, write
from prunesymnet.expression import Apply, Constant, Expression, Variable, postorder, to_text
from prunesymnet.expression.printing import number_text
from prunesymnet.operators import Operator
from prunesymnet.operators.table import CALL, POWER

FORMS: Mapping[str, Form] = {
    **ARITHMETIC,
    **{name: Form(f"math.{name}({{0}})") for name in ("sin", "cos", "exp", "log", "sqrt", "tanh")},
    "abs": Form("abs({0})"),
    "square": Form("{0}**2", POWER, (CALL,)),
    "cube": Form("{0}**3", POWER, (CALL,)),
    "pow": Form("{0}**{1}", POWER, (CALL, POWER)),
    "pi": Form("math.pi"),
}
"""How each operator is written in Python."""

# In a function that must not raise: Python's powers and math.exp raise where a result is too large, and
# (-8)**(1/3) is a complex number. Squares and cubes, which overflow beyond 1e102 only, stay as one writes them.
_SAFE: Mapping[str, Form] = {
    **FORMS,
    "exp": Form("_exp({0})"),
    "pow": Form("_power({0}, {1})"),
}
_HELPERS = {
    "_exp": """
def _exp(power: float) -> float:
    try:
        return math.exp(power)
    except OverflowError:
        return math.inf
""",
    "_power": """
def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
""",
}
_TAKEN = {"abs", "math", "ArithmeticError", "ValueError", "__debug__", *_HELPERS}  # what the function itself refers to


def to_python(expression: Expression, *, module: str = "math", digits: int | None = None) -> str:
    """The formula as a Python expression that calls `module` ("math", or "np" for arrays); a user's operator
    is called by its name."""

    def form(operator: Operator) -> Form:
        if operator.name not in FORMS:
            return Form(f"{operator.name}({', '.join(f'{{{i}}}' for i in range(operator.arity))})")
        own = FORMS[operator.name]
        return own._replace(template=own.template.replace("math.", f"{module}."))

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
    arguments = identifiers(columns, _clean, {*_TAKEN, *keyword.kwlist})
    lines: list[str] = []
    temporary = temporaries(set(arguments.values()))

    def assign(part: str) -> str:
        lines.append(f"{temporary(len(lines) + 1)} = {part}")
        return temporary(len(lines))

    result = write(
        expression,
        lambda node: _leaf(node, digits, arguments),
        lambda operator: form_of(operator, _SAFE, "a Python function"),
        assign,
    )
    used = {_SAFE[node.operator.name].template for node in postorder(expression) if isinstance(node, Apply)}
    helpers = [text for helper, text in _HELPERS.items() if any(helper in template for template in used)]
    formula = to_text(expression, digits=digits)
    said = [
        formula if target is None else f"{' '.join(target.split())} = {formula}",
        "",
        "nan where it is not defined.",
    ]
    said += [f"{ours}: the column {column!r}." for column, ours in arguments.items() if column != ours]
    docstring = "\n".join(f"    {line}".rstrip() for line in said).strip().replace("\\", r"\\").replace('"', r"\"")
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
