"""What a search can be told, as a form: each option is one record, which says how it is asked for and what it means.

A page draws the form from these records, and an answer becomes a parameter of `PruneSymRegressor`. So an option that
the estimator learns is a line here, whatever its kind.

>>> parameters({"max_complexity": 12, "max_uses": [["exp", 1]], "loss": "auto"})
{'max_complexity': 12, 'constraints': {'max_uses': {'exp': 1}}}
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from prunesymnet.operators import DEFAULT, OPERATORS

Values = Mapping[str, Any]
LONGEST_SEARCH = 7 * 24 * 3600.0  # seconds: who needs more gives it more
LONGEST_TEXT = 10_000  # characters of an answer: a formula that a person writes has some dozens
MOST_ANSWERS = 100  # names or pairs in one answer: far more than there are operators and columns to name


@dataclass(frozen=True)
class Option:
    """`kind` says how it is asked for: "seconds", "number" (a whole one), "choice", "operators" (a set of them),
    "limits" (names with numbers), "nesting" (names with names), "nested limits" (a name, a number, a name), "columns"
    (a set of them), "by column" (a text for each of some columns), "ranges" (two numbers for each of some), "column"
    (one of them), "switch" (yes or no), "text" (a line), "lines", "parts" (what is known of a template's parts).

    The answer is the parameter `parameter` of the estimator; with a dot, a field of one that is a record. `usual` is
    the answer that needs not be said."""

    name: str
    label: str
    kind: str
    group: str
    about: str
    parameter: str
    example: str = ""
    usual: Any = None
    least: float = 0
    choices: tuple[tuple[str, str], ...] = ()


TIME, BUILDING, FRAME, RULES, UNITS = "Time", "What formulas are made of", "What you expect", "Rules", "Units"
JUDGING = "What counts as good"
OPTIONS: tuple[Option, ...] = (
    Option(
        "time_limit", "Search for", "seconds", TIME,
        "A search ends sooner if it finds an exact formula, or if what is left looks like noise.",
        "time_limit", "60", 60.0, 1,
    ),
    Option(
        "operators", "Operators", "operators", BUILDING,
        "Sums and products with numbers are always there. Fewer operators make a search faster.",
        "operators", usual=[name for name in DEFAULT if name != "id"],
    ),
    Option(
        "max_complexity", "Longest formula", "number", BUILDING,
        "The largest complexity: one for each variable, number and operator, two for functions. Empty: any.",
        "max_complexity", "15", least=1,
    ),
    Option(
        "costs", "What operators cost", "limits", BUILDING,
        "What an operator adds to the length of a formula, in place of one or two: what you expect less costs more.",
        "constraints.costs", "exp: 5", [],
    ),
    Option(
        "start_from", "Formulas that you expect", "lines", FRAME,
        "One in each line. The search begins with them, and builds on them. Names that are no columns are constants.",
        "start_from", "a*exp(-b*x) + c", [],
    ),
    Option(
        "template", "A frame for the formula", "text", FRAME,
        "A formula of which some parts are functions to be found, each in its own columns.",
        "template", "f(x)*exp(-g(y))",
    ),
    Option(
        "parts", "What is known of its parts", "parts", FRAME,
        "Once the frame names them: what each may be made of, how long it may be, what you expect.",
        "parts", usual=[],
    ),
    Option(
        "constants_per", "Other constants in each category of", "column", FRAME,
        "One formula for all rows, whose constants may differ between the categories of a column.",
        "constants_per", "site",
    ),
    Option(
        "shape", "What the law is like", "lines", FRAME,
        "One sentence in each line. Formulas that break one are not accepted.",
        "constraints.shape", "increasing in x", [],
    ),
    Option(
        "box", "Where it is like that", "ranges", FRAME,
        "From where to where, for columns in which it is like that beyond the rows. Empty: the range of the column.",
        "constraints.box", "0 to 10", [],
    ),
    Option(
        "max_constants", "Most constants", "number", RULES,
        "How many numbers of a formula may be fitted. Empty: any.", "constraints.max_constants", "3",
    ),
    Option(
        "requires", "Columns that must appear", "columns", RULES,
        "A formula without one of these is not accepted.", "constraints.requires", usual=[],
    ),
    Option(
        "max_uses", "Used at most", "limits", RULES,
        "How often an operator or a column may appear in a formula.", "constraints.max_uses", "exp: 1", [],
    ),
    Option(
        "max_argument", "Arguments at most", "limits", RULES,
        "The largest complexity of what an operator is applied to.", "constraints.max_argument", "sin: 5", [],
    ),
    Option(
        "forbid_nested", "Not inside another", "nesting", RULES,
        "An operator that may not stand anywhere inside another one.", "constraints.forbid_nested", "sin in exp", [],
    ),
    Option(
        "max_nested", "Nested at most", "nested limits", RULES,
        "How many of an operator may stand one inside the other, within another one.", "constraints.max_nested",
        "1 exp in sin", [],
    ),
    Option(
        "units", "What columns are measured in", "by column", UNITS,
        "Only formulas that are dimensionally sound are tried then, and constants come with their units. Columns that "
        "are left empty are pure numbers; names with units in brackets, v [m/s], need nothing here.",
        "units", "m/s", [],
    ),
    Option(
        "constant_units", "Fitted constants may carry units", "switch", UNITS,
        "As a spring constant does. Where all that matters is among the columns, say no: then far fewer formulas are "
        "possible.", "constant_units", usual=True,
    ),
    Option(
        "loss", "What an error costs", "choice", JUDGING,
        "Squares are right for normal scatter. Where some rows may be far off, take one that bounds what they cost.",
        "loss", usual="auto",
        choices=(
            ("auto", "its square, or that of its share of the target: what the rows show (usual)"),
            ("squared", "its square"), ("relative", "the square of its share of the target"),
            ("huber", "its square, less for outliers"), ("absolute", "its absolute value"),
            ("poisson", "as for counts (Poisson)"), ("quantile:0.9", "so that 90% lie below the formula"),
            ("quantile:0.1", "so that 10% lie below the formula"),
        ),
    ),
    Option(
        "selection", "Which formula is chosen", "choice", JUDGING,
        "All formulas of the front are shown; this decides which of them is marked.", "selection", usual="mdl",
        choices=(
            ("mdl", "the shortest description of the data (usual)"), ("bic", "Bayes’ information criterion"),
            ("aic", "Akaike’s information criterion"), ("heldout", "the best on rows that were held out"),
            ("accuracy", "the smallest error"),
        ),
    ),
    Option(
        "preset", "Method", "choice", JUDGING,
        "The usual one scores all small formulas; the others train a network and prune it, as the paper does.",
        "preset", usual="default",
        choices=(
            ("default", "banks of formulas (usual)"), ("paper", "the paper’s"), ("paper+", "the paper’s, improved"),
        ),
    ),
    Option(
        "random_state", "Seed", "number", JUDGING, "Of the random numbers: another one, another search.",
        "random_state", "0", 0,
    ),
)  # fmt: skip
BY_NAME = {option.name: option for option in OPTIONS}
OF_A_PART = ("operators", "max_complexity", "start_from")  # options that a part of a template has, too
# Operators as the form has them: those that every formula may use, and numbers, are not asked for.
SHOWN_OPERATORS = tuple(name for name in OPERATORS if name not in ("id", "pi", "neg"))


def parameters(values: Values) -> dict[str, Any]:
    """The parameters of the estimator that the answers of a form ask for; usual ones are left out. An answer that is
    not of its option's kind raises a ValueError that names it."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        option = BY_NAME.get(name)
        if option is None:
            raise ValueError(f"there is no option {name[:40]!r}")
        answer = _READERS[option.kind](option, value)
        if answer is None or answer == option.usual:
            continue
        record, dot, field = option.parameter.rpartition(".")
        (found.setdefault(record, {}) if dot else found)[field] = _ANSWERS.get(option.kind, lambda it: it)(answer)
    return found


def in_formulas(values: Values, labels: Mapping[str, str]) -> dict[str, Any]:
    """The answers with the names that columns have in formulas, where rules name columns; `labels` are what the file
    calls them, by these names."""
    names = {label: name for name, label in labels.items()}
    found = dict(values)
    for name, value in values.items():
        kind = BY_NAME[name].kind if name in BY_NAME else ""
        if kind == "columns" and isinstance(value, list):
            found[name] = [names.get(one, one) if isinstance(one, str) else one for one in value]
        if kind in ("limits", "ranges") and isinstance(value, list):
            pairs = [one if isinstance(one, list) and one and isinstance(one[0], str) else [one] for one in value]
            found[name] = [
                [names.get(first, first) if isinstance(first, str) else first, *rest] for first, *rest in pairs
            ]
    return found


def _seconds(option: Option, value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST_SEARCH:
        raise ValueError(f"{option.label}: a number of seconds from 1 to {LONGEST_SEARCH:.0f} is needed")
    return float(value) if math.isfinite(value) else None


def _number(option: Option, value: Any) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < option.least or value >= 2**31:
        raise ValueError(f"{option.label}: a whole number from {option.least:.0f} on is needed")
    return value


def _choice(option: Option, value: Any) -> str:
    known = [name for name, _ in option.choices]
    if value not in known:
        raise ValueError(f"{option.label}: one of {', '.join(known)} is needed")
    return str(value)


def _text(option: Option, value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or len(value) > LONGEST_TEXT):
        raise ValueError(f"{option.label}: a text is needed, as {option.example}")
    return value.strip() or None if value else None


def _lines(option: Option, value: Any) -> list[str]:
    """The lines that are not empty, of a text or of a list of them."""
    value = "\n".join(_names(option, value)) if isinstance(value, list) else value
    lines = [line.strip() for line in (_text(option, value) or "").splitlines() if line.strip()]
    if len(lines) > MOST_ANSWERS:
        raise ValueError(f"{option.label}: at most {MOST_ANSWERS} lines")
    return lines


def _names(option: Option, value: Any) -> list[str]:
    if not isinstance(value, list) or len(value) > MOST_ANSWERS or not all(isinstance(name, str) for name in value):
        raise ValueError(f"{option.label}: a list of names is needed")
    return list(dict.fromkeys(value))


def _operators(option: Option, value: Any) -> list[str]:
    names = _names(option, value)
    unknown = [name for name in names if name not in OPERATORS]
    if unknown or not names:
        raise ValueError(f"{option.label}: choose at least one of {', '.join(SHOWN_OPERATORS)}")
    return [name for name in SHOWN_OPERATORS if name in names] if set(names) != set(option.usual) else option.usual


def _pairs(option: Option, value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, list) or len(value) > MOST_ANSWERS:
        raise ValueError(f"{option.label}: pairs are needed, as in {option.example}")
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise ValueError(f"{option.label}: pairs are needed, as in {option.example}")
        if option.kind == "limits" and (type(pair[1]) is not int or pair[1] < 0):
            raise ValueError(f"{option.label}: {pair[0]!r} needs a whole number beside it")
        if option.kind != "limits" and not isinstance(pair[1], str):
            raise ValueError(f"{option.label}: {pair[0]!r} needs a {'name' if option.kind == 'nesting' else 'text'}")
    return [(first, second) for first, second in value]


def _switch(option: Option, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{option.label}: yes or no is needed")
    return value


def _by_column(option: Option, value: Any) -> list[tuple[str, str]]:
    """The columns that have a text; those that are left empty have none."""
    return [(name, text.strip()) for name, text in _pairs(option, value) if text.strip()]


def _rows(option: Option, value: Any, kinds: Sequence[tuple[type, ...]], needed: str) -> list[Any]:
    """A list of rows whose entries are of these kinds."""
    fine = isinstance(value, list) and len(value) <= MOST_ANSWERS
    for row in value if fine else [None]:
        if not isinstance(row, list) or len(row) != len(kinds):
            raise ValueError(f"{option.label}: {needed}")
        if not all(type(entry) in of for entry, of in zip(row, kinds, strict=True)):  # True is no number here
            raise ValueError(f"{option.label}: {needed}")
    return list(value)


def _nested_limits(option: Option, value: Any) -> list[Any]:
    needed = "an operator, a whole number and another operator are needed"
    rows = _rows(option, value, ((str,), (int,), (str,)), needed)
    if any(most < 0 for _, most, _ in rows):
        raise ValueError(f"{option.label}: {needed}")
    return rows


def _ranges(option: Option, value: Any) -> list[tuple[str, list[float]]]:
    rows = _rows(option, value, ((str,), (int, float), (int, float)), f"two numbers are needed, as {option.example}")
    for name, low, high in rows:
        if not -math.inf < low <= high < math.inf:
            raise ValueError(f"{option.label}: {name!r} must go from the smaller number to the larger")
    return [(name, [low, high]) for name, low, high in rows]


def _parts(option: Option, value: Any) -> list[tuple[str, dict[str, Any]]]:
    """What is said of each part; a part of which nothing is said is left out."""
    needed = f"a name with {', '.join(OF_A_PART)} is needed for each"
    found = []
    for name, given in _rows(option, value, ((str,), (dict,)), needed):
        if not set(given) <= set(OF_A_PART):
            raise ValueError(f"{option.label}: {needed}")
        said = {key: answer for key, answer in given.items() if answer not in ([], "", None)}
        for key, answer in said.items():
            of_part = replace(BY_NAME[key], label=f"{option.label} ({name[:40]})")
            said[key] = _READERS[of_part.kind](of_part, answer)
        if said:
            found.append((name, said))
    return found


def _counts(triples: list[Any]) -> dict[str, dict[str, int]]:
    """Inner operators with their numbers, by the outer one."""
    found: dict[str, dict[str, int]] = {}
    for inner, most, outer in triples:
        found.setdefault(outer, {})[inner] = most
    return found


def _nested(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Inner and outer operators, by the outer one."""
    found: dict[str, list[str]] = {}
    for inner, outer in pairs:
        found.setdefault(outer, []).append(inner)
    return found


_READERS: dict[str, Any] = {
    "seconds": _seconds, "number": _number, "choice": _choice, "columns": _names, "operators": _operators,
    "limits": _pairs, "nesting": _pairs, "switch": _switch, "by column": _by_column,
    "text": _text, "lines": _lines, "column": _text, "nested limits": _nested_limits, "ranges": _ranges,
    "parts": _parts,
}  # fmt: skip
_ANSWERS: dict[str, Any] = {
    "limits": dict, "nesting": _nested, "by column": dict, "nested limits": _counts, "ranges": dict, "parts": dict,
}  # fmt: skip
