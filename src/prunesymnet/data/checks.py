"""The checks that every table passes on its way into a Dataset: of its shape, names and cells."""

import hashlib
import keyword
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from prunesymnet.data.cells import AMBIGUOUS, NUMBER
from prunesymnet.data.messages import cell_error, in_rows, listed, shown, warn
from prunesymnet.errors import DataError
from prunesymnet.operators import OPERATORS

Floats = NDArray[np.float64]

LARGEST = 1e150  # of a value: its square is still a float
LEAST_ROWS = 3  # for a search: every line goes through two points, and there is nothing to choose by
MOST_LISTED = 5  # names in a warning, which says how many there are
TOO_LONG = "leave the column out if they are labels, give them as floats if they are sizes"
WITH_UNIT = re.compile(r"\s*([^\[\]]*[^\[\]\s])\s*\[([^\[\]]*)\]\s*")  # v [m/s]
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
_DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([T ].*)?", re.DOTALL)
_AS_DATES = "holds dates; give the time since a start as a number, (t - t.min()).dt.total_seconds()"
# Columns that hold no numbers, by the class of their dtype or by the letter that numpy and pandas have for it.
_REMEDIES = {
    pd.SparseDtype: "is sparse; convert it first (.sparse.to_dense())",
    pd.CategoricalDtype: "is categorical; name it in `categories`, or give 0/1 columns (pandas.get_dummies)",
    "c": "is complex; give real and imaginary part, or modulus and phase, as columns",
    "M": _AS_DATES,
    "m": "holds durations; give them as numbers, .dt.total_seconds()",
}


# Shape


def as_table(values: Any, what: str) -> Any:
    """A frame or a two-dimensional array, of whatever type; one dimension becomes one column."""
    if isinstance(values, pd.Series):
        return values.to_frame()
    if isinstance(values, pd.DataFrame):
        return values
    if hasattr(values, "toarray"):
        raise DataError(f"{what} is a sparse matrix; pass {what}.toarray()")
    try:
        array = np.asanyarray(values)  # a masked array keeps its mask
    except ValueError:  # ragged
        sizes = [len(row) if hasattr(row, "__len__") else 1 for row in values]
        odd = next((i for i, size in enumerate(sizes) if size != sizes[0]), 0)
        found = f"row 1 has {sizes[0]} values, row {odd + 1} has {sizes[odd]}" if odd else "a cell holds a list"
        raise DataError(f"{what} is not a table: {found}; give all rows the same columns") from None
    if array.dtype.names:
        raise DataError(f"{what} is a structured array; pass pandas.DataFrame({what})")
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        array = np.array(values, dtype=object)  # one cell of text makes numpy turn all into text
    if array.ndim not in (1, 2):
        kind = type(values).__name__
        raise DataError(f"{what} must be [rows] or [rows, columns]; this {kind} has shape {array.shape}")
    return array[:, None] if array.ndim == 1 else array


def as_frame(values: Any, what: str) -> pd.DataFrame:
    return pd.DataFrame(as_table(values, what), copy=False)


def as_column(values: Any, what: str, X: Any) -> "pd.Series[Any]":
    """One column with a value for each row of X, paired by position."""
    table = as_frame(values, what)
    if table.shape[1] != 1:
        raise DataError(f"{what} must have shape [rows] or [rows, 1], not {table.shape}; pass one column")
    if len(table) != len(X):
        raise DataError(f"X has {len(X)} rows and {what} has {len(table)}; give one value per row")
    indexed = all(isinstance(part, (pd.DataFrame, pd.Series)) for part in (X, values))
    if indexed and not X.index.equals(values.index):
        warn(
            f"X and {what} have different indexes, and rows are paired by position; pass "
            f"{what}.reindex(X.index) to pair them by index, {what}.to_numpy() if the order is right"
        )
    return table.iloc[:, 0]


# Names


def check_names(names: Iterable[str], target: str, count: int) -> tuple[str, ...]:
    if isinstance(names, str):
        raise DataError(f"names must be a list of names; write names=[{names!r}]")
    names = tuple(names)
    if count == 0:
        raise DataError("X has no columns; a formula needs at least one feature")
    if len(names) != count:
        raise DataError(f"X has {count} columns and names has {len(names)}; give one name per column")
    problems = []
    for position, name in enumerate((*names, target), start=1):
        if name == "":
            reason = "is empty (row numbers? then leave them out)"
        elif is_name(name):
            continue
        else:
            reason = "is the name of an operator" if name in OPERATORS else "is not a Python identifier"
        what = "target" if position > count else "column"
        problems.append(f"{what} {shown(name)} {reason}: rename it, e.g. to {shown(_repaired(str(name), position))}")
    if problems:
        raise DataError("; ".join(problems))
    check_unique(names)
    if target in names:
        raise DataError(
            f"target {shown(target)} is also a feature; take it out of the features, or give the target another "
            "name (target=...)"
        )
    return names


def is_name(name: Any) -> bool:
    """Whether a column can be called so in a formula."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name in OPERATORS:
        return False
    # Signs of punctuation are none of a name: the dot of a·b.
    return name.isascii() or not any(unicodedata.category(letter)[0] in "PS" for letter in name.replace("_", ""))


def check_unique(names: Iterable[Any]) -> None:
    name, times = next(iter(Counter(names).most_common(1)), (None, 0))
    if times > 1:
        raise DataError(f"{times} columns are named {shown(name)}; give each a name of its own")


def repair_names(names: Iterable[Any], taken: Iterable[str] = ()) -> tuple[str, ...]:
    """Names that formulas can have, each its own, as near as possible to those that a table has.

    >>> repair_names(["speed (m/s)", "mass", "mass", 7, "log", "force [N]"])
    ('speed_m_s', 'mass', 'mass_2', 'x7', 'log_', 'force')
    """
    used, repaired = set(taken), []
    for position, name in enumerate(names, start=1):
        stem = fixed = str(name) if is_name(name) else _repaired(str(name), position)
        count = 2
        while fixed in used:
            fixed, count = f"{stem}_{count}", count + 1
        used.add(fixed)
        repaired.append(fixed)
    return tuple(repaired)


def apart_from_operators(names: Iterable[Any], taken: Iterable[Any] = ()) -> tuple[Any, ...]:
    """A table's own names, but for those of operators, which get an underscore: a column called `min` is common. Units
    in brackets are left out.

    >>> apart_from_operators(["min", "max", "x", "max_", "v [m/s]"])
    ('min_', 'max__2', 'x', 'max_', 'v')
    """
    found = [split_label(name)[0] for name in names]
    for place, name in enumerate(found):
        if isinstance(name, str) and name in OPERATORS:
            (found[place],) = repair_names([name], taken=[*found, *taken])
    return tuple(found)


def split_label(label: Any) -> tuple[Any, str]:
    """A column's name and its unit, where a header has one in brackets.

    >>> split_label("v [m/s]"), split_label("v"), split_label("[1]")
    (('v', 'm/s'), ('v', ''), ('[1]', ''))
    """
    found = WITH_UNIT.fullmatch(label) if isinstance(label, str) else None
    return (found[1], found[2].strip()) if found else (label, "")


def labelled(names: Iterable[str], labels: Iterable[Any]) -> list[str]:
    """The labels of a table that are meant by names, which may be without the unit.

    >>> labelled(["v", "t [s]", "m"], ["v [m/s]", "t [s]"])
    ['v [m/s]', 't [s]', 'm']
    """
    known = list(labels)
    without_unit = {split_label(label)[0]: label for label in reversed(known)}
    return [name if name in known else without_unit.get(name, name) for name in names]


def _repaired(name: str, position: int) -> str:
    name = split_label(name)[0]
    plain = unicodedata.normalize("NFKC", name)  # m² to m2
    fixed = re.sub(r"\W+", "_", plain).strip("_") or f"x{position}"
    if not fixed.isidentifier():
        fixed = f"x{fixed}"
    return f"{fixed}_" if keyword.iskeyword(fixed) or fixed in OPERATORS else fixed


# Cells


def as_matrix(table: Any, names: Sequence[Any]) -> Floats:
    """A frame or a two-dimensional array as finite float64, column by column in new memory. A table that is such
    numbers already is taken as a whole: column by column, twenty thousand of them would take seconds."""
    kinds = set(table.dtypes) if isinstance(table, pd.DataFrame) else {table.dtype}
    if kinds == {np.dtype(np.float64)} and not np.ma.isMaskedArray(table):
        matrix: Floats = np.array(table.to_numpy() if isinstance(table, pd.DataFrame) else table, order="F")
        if np.isfinite(matrix).all():
            return matrix
    frame = pd.DataFrame(table, copy=False)
    matrix = np.empty(frame.shape, order="F")
    rounded: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        matrix[:, i] = as_floats(frame.iloc[:, i], f"column {shown(name)}", rounded)
    _warn_of_rounded(rounded)
    return matrix


def as_floats(column: "pd.Series[Any]", label: str, rounded: dict[str, list[int]] | None = None) -> Floats:
    """The column as finite float64, in new memory. The rows of whole numbers that float64 rounds are put into
    `rounded`; without it there is a warning."""
    if column.dtype == object:  # often plain numbers, made objects by a text column beside them
        column = column.infer_objects()
    kind = column.dtype.kind
    for key in (type(column.dtype), kind):
        if key in _REMEDIES:
            kinds = {pd.CategoricalDtype: "text", "M": "dates", "m": "dates"}
            raise cell_error(f"{label} {_REMEDIES[key]}", [], kinds.get(key, ""))
    if kind not in "biuf":
        raise _not_numbers(column.to_numpy(object), label)
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, reported below
        floats: Floats = column.to_numpy(np.float64, copy=True)
    if not np.isfinite(floats).all():
        if np.isnan(floats).any():
            raise _missing(np.isnan(floats), label)
        rows = _where(np.isinf(floats))
        raise cell_error(f"{label}: infinite value in {in_rows(rows)}; drop or correct it first", rows)
    if kind in "iu" and (rows := _rounded_rows(column, floats)):
        if rounded is None:
            _warn_of_rounded({label: rows})
        else:
            rounded[label] = rows
    return floats


def _rounded_rows(column: "pd.Series[Any]", floats: Floats) -> list[int]:
    """The rows whose whole numbers no float64 is equal to: beyond 2**53 these are apart by 2 and more."""
    large = np.flatnonzero(np.abs(floats) >= 2.0**53)
    if not large.size:
        return []
    kind = np.uint64 if column.dtype.kind == "u" else np.int64
    wholes, apart = column.iloc[large].to_numpy(kind), np.spacing(np.abs(floats[large])).astype(kind)
    rows: list[int] = large[wholes % apart != 0].tolist()
    return rows


def _warn_of_rounded(rounded: Mapping[str, Sequence[int]]) -> None:
    """One warning, whatever the number of columns."""
    remedy = "leave the column out if they are labels, subtract an offset if they are counts"
    if len(rounded) == 1:
        ((label, rows),) = rounded.items()
        warn(f"{label}: whole numbers beyond 2**53 in {in_rows(rows)}, which float64 rounds; {remedy}")
    elif rounded:
        cells = sum(map(len, rounded.values()))
        which = listed((label.removeprefix("column ") for label in rounded), MOST_LISTED)
        found = f"{len(rounded)} columns have whole numbers beyond 2**53, of which float64 rounds {cells:,}: {which}"
        warn(f"{found}; {remedy.replace('the column', 'a column')}")


def check_cells(table: Any) -> None:
    """An error that names the first cell of an array or of lists that is text, or another thing that is no number."""
    try:
        cells = np.asarray(table)
    except ValueError:
        raise DataError("X must be rows of numbers, all of one length; it has lists of different lengths") from None
    if cells.ndim != 2 or cells.dtype.kind not in "OUS":
        return
    for k, column in enumerate(cells.astype(object).T):
        try:
            column.astype(np.float64)  # text that is a number will do
        except (TypeError, ValueError):
            as_floats(pd.Series(column), f"column {shown(f'x{k + 1}')}")


def check_finite(table: Floats, names: Iterable[Any]) -> None:
    """An error that names the first column with a cell that is not finite, and its row."""
    if not np.isfinite(table).all():
        for name, column in zip(names, table.T, strict=True):
            as_floats(pd.Series(column), f"column {shown(name)}")


def is_fine_size(largest: Any) -> Any:
    """Whether the squares of values whose largest is of this size are numbers, too."""
    return (largest == 0) | ((largest <= LARGEST) & (largest >= 1 / LARGEST))


def check_size(values: Floats, label: str) -> None:
    """Squares of the values must be numbers too."""
    largest = float(np.abs(values).max())
    if not is_fine_size(largest):
        raise DataError(f"{label} reaches {largest:.0e}, and its square is out of range; use another unit")


def check_rows_of_a_search(rows: int) -> None:
    if rows < LEAST_ROWS:
        raise DataError(
            f"the table has {rows} rows; a search needs at least {LEAST_ROWS}, since formulas of every kind go through "
            f"{LEAST_ROWS - 1} points"
        )


def as_weights(column: "pd.Series[Any]", called: str = "weights") -> Floats:
    weights = as_floats(column, called)
    if negative := _where(weights < 0):
        message = f"{called} must be at least 0; negative in {in_rows(negative)}; correct them"
        raise cell_error(message, negative)
    positive = np.count_nonzero(weights)
    if positive < 2:
        raise DataError(
            f"{called} must be above zero in at least 2 rows, got {positive} of {len(weights)}; correct or omit them"
        )
    return weights


def check_not_both(weights: Any, called: str) -> None:
    """Standard errors are weights, too."""
    if weights is not None:
        raise DataError(
            f"y_err and {called} can't both be given: standard errors are weights 1/y_err**2; to change how much a row "
            "counts, divide its standard error by the root of the factor"
        )


def weights_of_errors(y_err: Any, X: Any) -> Floats:
    """The weights 1/sigma**2 of standard errors, which must be positive."""
    errors = as_floats(as_column(y_err, "y_err", X), "y_err")
    if wrong := _where(~(errors > 0)):
        raise cell_error(f"y_err must be standard errors > 0; it is {errors[wrong[0]]:g} in {in_rows(wrong)}", wrong)
    check_size(errors, "y_err")
    return 1 / errors**2


def warn_of_oddities(X: Floats, y: Floats, names: Sequence[str], target: str) -> None:
    """Warn of a constant target, of one that stands among the columns, and of constant and equal columns, each kind
    once; all stay in the table."""
    warn_of_target(X, y, names, target)
    constant = np.flatnonzero(X.min(axis=0) == X.max(axis=0)).tolist()
    if len(constant) == 1:
        (one,) = constant
        warn(f"column {shown(names[one])} is {X[0, one]:g} in every row, so it can't explain anything; leave it out")
    elif constant:
        which = listed((names[k] for k in constant), MOST_LISTED)
        warn(f"{len(constant)} columns have one value in every row, so they can't explain anything: {which}")
    seen: dict[bytes, str] = {}
    equal = []
    for k in sorted({*range(len(names))} - {*constant}):
        first = seen.setdefault(_digest(X[:, k]), names[k])
        equal += [(first, names[k])] if first != names[k] else []
    if len(equal) == 1:
        warn(f"columns {shown(equal[0][0])} and {shown(equal[0][1])} are equal in every row; leave one out")
    elif equal:
        which = listed((f"{again} ({first})" for first, again in equal), MOST_LISTED)
        warn(f"{len(equal)} columns equal one before them in every row; leave them out: {which}")


def warn_of_target(X: Floats, y: Floats, names: Sequence[str], target: str) -> None:
    """Warn of a target that is constant, or equal to a column."""
    if y.min() == y.max():
        warn(f"target {shown(target)} is {y[0]:g} in every row; any formula will be that constant")
    same = np.flatnonzero((X[0] == y[0]) & (X[-1] == y[-1])).tolist()  # few are left to compare in full
    leaks = [names[k] for k in same if np.array_equal(X[:, k], y)]
    if leaks:
        whose = f"column {shown(leaks[0])} equals" if len(leaks) == 1 else f"columns {listed(leaks, MOST_LISTED)} equal"
        warn(f"{whose} target {shown(target)} in every row; leave it out unless that is meant")


def _digest(column: Floats) -> bytes:
    return hashlib.blake2b((column + 0.0).data).digest()  # adding 0 gives -0 and 0 the same bytes


def _missing(blank: NDArray[np.bool_], label: str) -> DataError:
    rows = _where(blank)
    message = f"{label}: no value (NaN) in {in_rows(rows)}; drop or fill what is missing first"
    return cell_error(message, rows, "missing")


def _not_numbers(cells: NDArray[Any], label: str) -> DataError:
    """The error for a column of objects: the first cell to blame, and the remedy."""
    blank = pd.isna(cells)
    present = _where(~blank)
    text = [i for i in present if isinstance(cells[i], (str, bytes)) and not NUMBER.fullmatch(str(cells[i]))]
    if not text and blank.any():
        return _missing(blank, label)
    large = (i for i in present if isinstance(cells[i], int) and not -(2**63) <= cells[i] < 2**64)
    row = text[0] if text else next(large, 0)
    found = f"{label}: {shown(cells[row])} in {in_rows([row])}"
    if not text and isinstance(cells[row], int):
        return cell_error(f"{found} is a whole number of more than 64 bits; {TOO_LONG}", [row])
    if not text:
        kind = type(cells[row]).__name__
        return DataError(f"{found} is an object of type {kind}; convert the column first (.astype(float))")
    if len(text) == len(present) and all(_DATE.fullmatch(str(cells[i])) for i in text):
        return cell_error(f"{label} {_AS_DATES}", [], "dates")
    kind = ""
    if all(AMBIGUOUS.fullmatch(str(cells[i])) for i in text):
        whole, _, decimals = str(cells[row]).strip().partition(",")
        kind, remedy = (
            "decimal",
            f"it may be {whole}.{decimals} or {whole}{decimals}: say which sign is before decimals",
        )
    elif _DECIMAL_COMMA.fullmatch(str(cells[row])):
        remedy = f"if the comma is a decimal point, write {cells[row].strip().replace(',', '.')}"
    elif len(text) == len(present):
        kind, remedy = (
            "text",
            "leave the column out of the features, name it in `categories`, or put numbers in its place",
        )
        if label.startswith("target"):
            kind, remedy = "", "a target must be numbers"
    else:
        remedy = "correct it or drop the row"
    others = f" (and {len(text) - 1} more like it)" if len(text) > 1 else ""
    return cell_error(f"{found} is not a number{others}; {remedy}", [row], kind)


def _where(mask: NDArray[np.bool_]) -> list[int]:
    rows: list[int] = np.flatnonzero(mask).tolist()
    return rows
