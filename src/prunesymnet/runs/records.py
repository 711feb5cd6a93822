"""Equations, fronts and settings as JSON values, and back, with every value checked on the way back."""

import dataclasses
import keyword
import math
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.rounded import counterparts
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import FileFormatError, ParseError
from prunesymnet.expression import Expression, parse, to_text
from prunesymnet.operators import OPERATORS, Operator
from prunesymnet.search import SearchSettings
from prunesymnet.structure import Reduction

Record = dict[str, Any]
LONGEST = 1_000_000  # characters of a formula, as many as `parse` accepts
FUNCTION = "function"  # what is written for one: a file holds no code
FUNCTIONS = ("selection", "allow", "loss")  # the settings that may be one


def of_equation(equation: Equation) -> Record:
    return {
        "formula": to_text(equation.form),
        "parameters": equation.parameters,
        "complexity": equation.complexity,
        "loss": equation.loss,
        "r2": equation.r2,
        "heldout_r2": equation.heldout_r2,
        "description_length": equation.description_length,
        "rows": equation.rows,
        "variance": equation.variance,
        "covariance": equation.covariance.tolist(),
        "free_formula": None if equation.free_form is None else to_text(equation.free_form),
        "costs": dict(equation.costs),
        "shape": list(equation.shape),
        "parts": {name: to_text(part) for name, part in equation.parts.items()},
        "relative": equation.relative,
        "outliers": equation.outliers,
        **({"units": list(equation.units)} if equation.units else {}),
        **({"follows": equation.follows} if equation.follows else {}),
    }


def to_equation(record: Any, names: tuple[str, ...], target: str, operators: Sequence[Operator] = ()) -> Equation:
    take = Reader(record, "an equation")
    parameters = {name: number(value, f"parameter {name!r}") for name, value in take("parameters", dict).items()}
    clash = set(parameters) & set(names)
    if clash:
        raise FileFormatError(f"{clash.pop()!r} is a column and a parameter")
    form = to_formula(take("formula", str), (*names, *parameters), operators)
    lost = [name for name, value in parameters.items() if name not in form.variables or not math.isfinite(value)]
    if lost:
        raise FileFormatError(f"{lost[0]!r} is no parameter of {take('formula')[:60]!r}, or has no value")
    costs = take("costs", dict) if "costs" in take.record else {}  # older files
    shape = take("shape", list) if "shape" in take.record else []
    if not all(isinstance(text, str) and text.isprintable() for text in shape):
        raise FileFormatError("the shape of an equation is no list of texts that can be printed")
    parts = take("parts", dict) if "parts" in take.record else {}
    if not all(name.isprintable() and isinstance(text, str) for name, text in parts.items()):
        raise FileFormatError("the parts of an equation are no formulas by name")
    free_form = _to_free_form(take.record.get("free_formula"), form, names, operators)
    constants = len(form.constants) + len(parameters) if free_form is None else len(free_form.constants)
    return Equation(
        form=form,
        names=names,
        target=target,
        loss=number(take("loss"), "loss"),
        r2=number(take("r2"), "r2"),
        heldout_r2=number(take("heldout_r2"), "heldout_r2"),
        description_length=number(take("description_length"), "description_length"),
        rows=whole(take("rows"), "rows"),
        variance=number(take("variance"), "variance"),
        covariance=_to_covariance(take("covariance", list), constants),
        parameters=parameters,
        free_form=free_form,
        costs={name: whole(cost, f"the cost of {name!r}") for name, cost in costs.items()},
        shape=tuple(shape),
        parts={name: to_formula(text, names, operators) for name, text in parts.items()},
        relative=take.record.get("relative") is True,  # older files have none
        outliers=whole(take.record.get("outliers", 0), "outliers"),
        units=_to_units(take.record.get("units", []), constants),
        follows=_to_column(take.record.get("follows", ""), names),
    )


def _to_column(name: Any, names: tuple[str, ...]) -> str:
    """One of the columns, or none; older files have none."""
    if name not in ("", *names):
        raise FileFormatError("what is left of an equation follows no column of its table")
    return str(name)


def _to_units(texts: Any, constants: int) -> tuple[str, ...]:
    """Of the constants, one each; none where the table had none."""
    fine = isinstance(texts, list) and all(isinstance(text, str) and text.isprintable() for text in texts)
    if not fine or len(texts) not in (0, constants):
        raise FileFormatError(f"the units of an equation are no list of {constants} texts")
    return tuple(texts)


def _to_free_form(
    text: Any, form: Expression, names: tuple[str, ...], operators: Sequence[Operator]
) -> Expression | None:
    """The formula with its rounded constants free; older files have none."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise FileFormatError(f"'free_formula' of an equation is {type(text).__name__}, not str")
    free_form = to_formula(text, names, operators)
    try:
        counterparts(free_form, form)
    except ValueError as problem:
        raise FileFormatError(str(problem)) from None
    return free_form


def _to_covariance(rows: list[Any], constants: int) -> NDArray[np.float64]:
    if len(rows) != constants or not all(isinstance(row, list) and len(row) == constants for row in rows):
        raise FileFormatError(f"a covariance is no table of {constants} times {constants} numbers")
    cells = [[number(cell, "covariance") for cell in row] for row in rows]
    covariance = np.array(cells).reshape(constants, constants)
    if (np.diagonal(covariance) < 0).any():
        raise FileFormatError("a covariance has a variance below 0")
    return covariance


def of_front(front: Front) -> Record:
    return {
        "target": front.target,
        "chosen": front.chosen,
        "status": front.status,
        "seconds": front.seconds,
        "fits": front.fits,
        "ties": list(front.ties),
        "structure": [of_reduction(reduction) for reduction in front.structure],
        "equations": [of_equation(equation) for equation in front],
    }


def to_front(record: Any, names: tuple[str, ...], operators: Sequence[Operator] = ()) -> Front:
    take = Reader(record, "a front")
    target = identifier(take("target", str))
    if target in names:
        raise FileFormatError(f"{target!r} is a column and the target")
    if not take("status", str).isprintable():
        raise FileFormatError("the status is no text that can be printed")
    equations = tuple(to_equation(item, names, target, operators) for item in take("equations", list))
    try:
        chosen, fits = whole(take("chosen"), "chosen"), whole(take("fits"), "fits")
        ties = tuple(whole(row, "a tie") for row in take("ties", list)) if "ties" in take.record else ()  # older files
        seconds = number(take("seconds"), "seconds")
        if not 0 <= seconds < math.inf:
            raise FileFormatError(f"seconds is {seconds!r}, not a time that a search can take")
        found = take("structure", list) if "structure" in take.record else []  # older files
        structure = tuple(to_reduction(item, (*names, target), operators) for item in found)
        return Front(equations, chosen, take("status", str), seconds, fits, ties, structure)
    except ValueError as problem:
        raise FileFormatError(str(problem)) from None


def of_reduction(reduction: Reduction) -> Record:
    return {
        "quantity": to_text(reduction.quantity),
        "groups": [to_text(group) for group in reduction.groups],
        "unexplained": reduction.unexplained,
        "second": reduction.second,
        "product": reduction.product,
        "sizes": list(reduction.sizes),
    }


def to_reduction(record: Any, names: tuple[str, ...], operators: Sequence[Operator] = ()) -> Reduction:
    """`names` are the columns and the target."""
    take = Reader(record, "a reduction")
    groups = take("groups", list)
    if not groups or not all(isinstance(group, str) for group in groups):
        raise FileFormatError("the groups of a reduction are not formulas")
    found = take("sizes", list) if "sizes" in take.record else []  # older files
    sizes = tuple(whole(size, "the size of a part") for size in found)
    if sizes and (min(sizes) < 1 or sum(sizes) != len(groups)):
        raise FileFormatError(f"the sizes of a reduction's parts do not add up to its {len(groups)} groups")
    return Reduction(
        to_formula(take("quantity", str), names, operators),
        tuple(to_formula(group, names, operators) for group in groups),
        number(take("unexplained"), "unexplained"),
        number(take("second"), "second"),
        take("product", bool),
        sizes,
    )


def to_formula(text: str, names: Sequence[str], operators: Sequence[Operator] = ()) -> Expression:
    """A formula from a file: parsed, never run."""
    if len(text) > LONGEST:
        raise FileFormatError(f"a formula has {len(text):,} characters, more than {LONGEST:,}")
    try:
        return parse(text, variables=names, operators=operators)
    except ParseError as problem:
        hint = "; pass your own operators (operators=...)" if "unknown function" in problem.problem else ""
        raise FileFormatError(f"{text[:60]!r} is not a formula: {problem.problem}{hint}") from None


def of_settings(settings: Any) -> Any:
    """Settings, and all settings inside, as JSON values. A function becomes a note that there was one."""
    if dataclasses.is_dataclass(settings) and not isinstance(settings, type):
        if isinstance(settings, Operator):
            return settings.name
        fields = dataclasses.fields(settings)
        return {field.name: of_settings(getattr(settings, field.name)) for field in fields}
    if isinstance(settings, Mapping):
        return {key: of_settings(value) for key, value in settings.items()}
    if isinstance(settings, list | tuple):
        return [of_settings(value) for value in settings]
    return {FUNCTION: getattr(settings, "__name__", "?")} if callable(settings) else settings


def to_settings(record: Any, operators: Sequence[Operator] = (), functions: Mapping[str, Any] | None = None) -> Any:
    """`SearchSettings` from what `of_settings` gave; `operators` and `functions` are those of the user, by name."""
    own = {operator.name: operator for operator in operators}
    settings = _settings(SearchSettings, record, dict(functions or {}))
    unknown = [name for name in settings.operators if name not in own and name not in OPERATORS]
    if unknown:
        raise FileFormatError(f"unknown operator {unknown[0]!r}; pass your own operators (operators=...)")
    return dataclasses.replace(settings, operators=tuple(own.get(name, name) for name in settings.operators))


def _as_today(record: Any) -> Any:
    """Settings of version 0.5 under today's names: what can be switched off was one setting each."""
    if not isinstance(record, dict) or "rounds" not in record:
        return record
    kept = {name: value for name, value in record.items() if not isinstance(value, bool) and name != "workers"}
    return {"levels" if name == "rounds" else name: value for name, value in kept.items()}


def _settings(kind: Any, record: Any, functions: Mapping[str, Any]) -> Any:
    take = Reader(_as_today(record), kind.__name__)
    hints = typing.get_type_hints(kind)
    unknown = set(take.record) - set(hints)
    if unknown:
        raise FileFormatError(f"{kind.__name__} has no setting {sorted(unknown)[0]!r}")
    values: Record = {}
    for name, value in take.record.items():
        hint = hints[name]
        if dataclasses.is_dataclass(hint):
            values[name] = _settings(hint, value, functions)
        elif isinstance(value, dict) and set(value) == {FUNCTION} and name in FUNCTIONS:
            if functions.get(name) is None:
                called = str(value[FUNCTION])[:40]
                raise FileFormatError(f"{name} was a function ({called}); a file holds none: pass it again ({name}=)")
            values[name] = functions[name]
        else:
            values[name] = _value(value, hint)
    try:
        return kind(**values)
    except (TypeError, ValueError, AttributeError) as problem:
        raise FileFormatError(f"{kind.__name__}: {problem}") from None


def _value(value: Any, hint: Any) -> Any:
    """JSON has no tuples, and no floats that are not finite."""
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise FileFormatError(f"a setting is {str(value)[:40]!r}, not a list of names")
        return tuple(value)
    if hint in (bool, str) and not isinstance(value, hint):
        raise FileFormatError(f"a setting is {str(value)[:40]!r}, not {hint.__name__}")
    of = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    if float in of and isinstance(value, str) and str not in of:
        return number(value, "a setting")
    return value


class Reader:
    """What a JSON object has under a name, if it is of the right kind."""

    def __init__(self, record: Any, what: str) -> None:
        if not isinstance(record, dict):
            raise FileFormatError(f"{what} is {type(record).__name__}, not an object")
        self.record: Record = record
        self.what = what

    def __call__(self, name: str, kind: type = object) -> Any:
        if name not in self.record:
            raise FileFormatError(f"{self.what} lacks {name!r}")
        value = self.record[name]
        if not isinstance(value, kind):
            raise FileFormatError(f"{name!r} of {self.what} is {type(value).__name__}, not {kind.__name__}")
        return value


def number(value: Any, what: str) -> float:
    """A float; those that are not finite are written as text."""
    if value in ("nan", "inf", "-inf"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise FileFormatError(f"{what} is {str(value)[:40]!r}, not a number")
    return float(value)


def whole(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise FileFormatError(f"{what} is {str(value)[:40]!r}, not a whole number")
    return value


def labels(columns: Any, count: int) -> tuple[str, ...] | None:
    """What the user's table calls its columns; None where it has no names."""
    if columns is None:
        return None
    if not isinstance(columns, list) or len(columns) != count or not all(isinstance(c, str) for c in columns):
        raise FileFormatError("its columns are not named one by one")
    return tuple(columns)


def identifier(name: Any) -> str:
    """The name of a column, as formulas have it."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name in OPERATORS:
        raise FileFormatError(f"{str(name)[:40]!r} is no name for a column")
    return name
