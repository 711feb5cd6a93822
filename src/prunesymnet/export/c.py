"""A formula as a C99 function.

>>> from prunesymnet.expression import parse
>>> print(to_c(parse("2*exp(-x**2)/gamma"), name="bell"))
#include <math.h>
<BLANKLINE>
/* 2*exp(-x**2)/gamma
 *
 * gamma_: column gamma
 * x: column x
 */
double bell(double gamma_, double x)
{
    return 2.0*exp(-pow(x, 2.0))/gamma_;
}
<BLANKLINE>

Every literal is a double that C reads back to the same bits. Where the formula is not defined, the function
returns what the C library does: nan or an infinity.
"""

import re
import unicodedata
from collections.abc import Iterable

from prunesymnet.export.common import column_names, form_of, forms_in, identifiers, temporaries, words_of, write
from prunesymnet.expression import Constant, Expression, Variable

# Words of C and of C++ (a function of doubles should compile as either), macros, and what compilers define.
_WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl complex concept const const_cast
consteval constexpr constinit continue co_await co_return co_yield decltype default delete do double dynamic_cast else
enum explicit export extern false float for friend goto if imaginary inline int long mutable namespace new noexcept not
not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict return short
signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid
typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq

DOMAIN HUGE I INFINITY MAXFLOAT NAN NULL OVERFLOW PLOSS SING TLOSS UNDERFLOW X_TLOSS linux main unix
abs double_t float_t fpclassify isfinite isgreater isgreaterequal isless islessequal islessgreater isnormal isunordered
math_errhandling signbit signgam
"""
_FUNCTIONS = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 fabs fdim finite
floor fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan j0 j1 jn ldexp lgamma lgamma_r llrint llround log log10
log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint round scalb scalbln
scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn
"""
_RESERVED = frozenset([*_WORDS.split(), *(name + kind for name in _FUNCTIONS.split() for kind in ("", "f", "l"))])
_MACRO = re.compile("(FP|HUGE|M|MATH)_[A-Z0-9_]+")


def to_c(expression: Expression, names: Iterable[str] | None = None, *, name: str = "formula") -> str:
    """The text of a C function of one double per column, in the order of `names`.

    A column's name becomes a C identifier, which the comment explains.

    >>> from prunesymnet.expression import parse
    >>> to_c(parse("λ + y1")).splitlines()[-4]
    'double formula(double y1_, double lambda)'
    """
    columns = column_names(expression, names)
    if not (isinstance(name, str) and re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) and _is_free(name)):
        raise ValueError(f"name must be a C identifier that neither C nor <math.h> has taken, got {name!r}")
    forms = forms_in(expression, lambda operator: form_of(operator, "c", "C"))
    taken = {name, *words_of(forms)}
    arguments = identifiers(columns, _clean, taken)
    lines: list[str] = []
    temporary = temporaries({*arguments.values(), *taken})

    def leaf(node: Expression) -> str:
        if isinstance(node, Constant):
            return repr(float(node.value))  # 1/3 is 0 in C, 1.0/3.0 is not
        assert isinstance(node, Variable)  # noqa: S101 - the only other leaf
        return arguments[node.name]

    def assign(part: str) -> str:
        lines.append(f"const double {temporary(len(lines) + 1)} = {part};")
        return temporary(len(lines))

    result = write(expression, leaf, lambda operator: forms[operator.name], assign)
    needed = expression.variables
    about = [f" * {ours}: column {_in_comment(column)}" for column, ours in arguments.items()]
    return "\n".join(
        [
            "#include <math.h>\n",
            f"/* {_in_comment(str(expression))}",
            *([" *", *about] if about else []),
            " */",
            f"double {name}({', '.join(f'double {argument}' for argument in arguments.values()) or 'void'})",
            "{",
            *(f"    (void){ours};" for column, ours in arguments.items() if column not in needed),  # or compilers warn
            *(f"    {line}" for line in lines),
            f"    return {result};",
            "}\n",
        ]
    )


def _is_free(name: str) -> bool:
    return name not in _RESERVED and not _MACRO.fullmatch(name)


def _clean(name: str) -> str:
    """An identifier of ASCII letters that is not taken: é is e, ß is ss, λ is lambda, other letters are their code."""
    letters = unicodedata.normalize("NFKD", name)
    clean = "".join(map(_spell, letters))
    if not re.match("[A-Za-z]", clean):
        clean = f"v{clean}"  # names that begin with an underscore belong to the compiler
    return clean if _is_free(clean) else f"{clean}_"


def _spell(letter: str) -> str:
    if letter.isascii():
        return letter if letter.isalnum() else "_"
    if unicodedata.combining(letter):
        return ""
    if letter.casefold().isascii():
        return letter.casefold()  # ß is ss
    described = unicodedata.name(letter, "")
    if described.startswith("GREEK ") and " LETTER " in described:
        spelled = described.split(" WITH ")[0].split()[-1].lower().replace("lamda", "lambda")
        return spelled.capitalize() if "CAPITAL" in described else spelled
    return f"u{ord(letter):04x}"


def _in_comment(text: str) -> str:
    """Text that neither ends a comment nor begins another."""
    return " ".join(text.split()).replace("*/", "* /").replace("/*", "/ *")
