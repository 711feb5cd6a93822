"""An equation: a fitted formula with what is known about it, and all that it can become.

>>> from prunesymnet.coefficients import fit
>>> from prunesymnet.data import load_example
>>> from prunesymnet.expression import parse
>>> hubble = load_example("hubble")
>>> law = Equation.of(fit(parse("1.0*distance"), hubble), hubble)
>>> print(law)
velocity = 423.937*distance
>>> print(law.named_text())
velocity = c1*distance
>>> law.known_as
"proportionality; also Hooke's law, Ohm's law, Hubble's law"
>>> print(*law.constants)
c1 = 424 ± 42  (95%: 337 to 511)
>>> law.predict({"distance": [1.0, 2.0]}).round()
array([424., 848.])
>>> low, high = law.interval({"distance": [1.0, 2.0]})
>>> low.round(), high.round()
(array([-58., 343.]), array([ 906., 1353.]))
>>> print(law.latex(digits=3))
\\mathrm{velocity} = 424 \\, \\mathrm{distance}
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients import Estimate, Fit, FitSettings, covariance
from prunesymnet.coefficients.description import description_length
from prunesymnet.coefficients.rounded import counterparts, free_fit
from prunesymnet.coefficients.uncertainty import estimates, students_t
from prunesymnet.data import Dataset
from prunesymnet.data.losses import Huber, Relative
from prunesymnet.data.neighbours import FAR
from prunesymnet.equations.pattern import followed
from prunesymnet.expression import Constant, Expression, Program, Variable, apply, compile_expression, fold, to_text
from prunesymnet.expression.canonical.terms import constant_value
from prunesymnet.expression.categories import contract
from prunesymnet.expression.tree import complexity_with, index_of, is_free, transform
from prunesymnet.operators import Operator

INVISIBLE = 1e-9  # of the target's root mean square: a row that is off by less is not off

Array = NDArray[np.float64]
Columns = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Equation:
    """A formula with its constants fitted, how good it is, and what it can become.

    `form` is the formula as it was fitted, with `parameters` for those of its constants that have a name; `names`
    are the table's columns. `loss` is the mean squared error on all rows; `heldout_r2` is that of the same form
    fitted without the held-out rows, on these. `rows` is the number of measurements, `variance` the residual's.

    `relative`: errors are shares of the value, and `variance` is that of these shares. `outliers`: so many rows are far
    off, and hardly counted in the fit (with Huber's loss).

    Where constants were rounded, `free_form` is the formula in which they are free again, fitted (None: there are
    none); `covariance` and `variance` are those of that fit. `units` are those of the constants that were fitted, one
    each ("": a pure number), where the table has units. `costs` are those of operators that add something else
    to the complexity than the table says; `shape` says of each shape that the law must have how it is known; `parts`
    are the functions of a template, {"f(x)": ...}. `follows` is the column along which neighbouring rows are off to the
    same side ("": none)."""

    form: Expression
    names: tuple[str, ...]
    target: str
    loss: float
    r2: float
    heldout_r2: float
    description_length: float
    rows: int
    variance: float
    covariance: Array
    parameters: dict[str, float] = field(default_factory=dict)
    free_form: Expression | None = None
    costs: Mapping[str, int] = field(default_factory=dict)
    shape: tuple[str, ...] = ()
    parts: Mapping[str, Expression] = field(default_factory=dict)
    relative: bool = False
    outliers: int = 0
    units: tuple[str, ...] = ()
    follows: str = ""

    @classmethod
    def of(
        cls,
        found: Fit,
        data: Dataset,
        *,
        heldout_r2: float = math.nan,
        length: float | None = None,
        look: FitSettings | None = None,
        costs: Mapping[str, int] | None = None,
    ) -> "Equation":
        """A fit, on the data that it was made with; `look` is how the formula is fitted in which rounded constants are
        free again."""
        form = found.expression if found.form is None else found.form
        parameters = found.parameters if found.form is not None else {}
        free = free_fit(found, data, look)
        spread = covariance(free.expression if free else form, data, parameters=parameters)
        rows = data.measurements
        freedom = rows - len(spread)
        relative = isinstance(data.loss, Relative)
        equation = cls(
            form=form,
            names=data.names,
            target=data.target,
            loss=found.mse,
            r2=found.r2,
            heldout_r2=heldout_r2,
            description_length=description_length(found, data) if length is None else length,
            rows=rows,
            variance=_variance(free or found, data) * rows / freedom if freedom > 0 else math.inf,
            covariance=spread,
            parameters=dict(parameters),
            free_form=free.expression if free else None,
            costs=dict(costs or {}),
            relative=relative,
            follows=_follows(found, data),
        )
        if not isinstance(data.loss, Huber):
            return equation
        return replace(equation, outliers=int(np.count_nonzero(equation.is_far_off(data.columns, data.y))))

    @cached_property
    def expression(self) -> Expression:
        """The formula with numbers for all its constants."""
        return _with_signs(self.form.substitute(self.parameters)) if self.parameters else self.form

    @property
    def free_form_as_written(self) -> Expression:
        """The form that its `constants` are those of, each with the value that stands in the formula: an exponent is 2
        there, and not the 2.003 that was fitted."""
        if self.free_form is None:
            return self.form
        return self.free_form.with_constants([constant_value(n) for n in counterparts(self.free_form, self.form)])

    @property
    def complexity(self) -> int:
        """That of the formula; a constant with a value in each category counts once."""
        return complexity_with(self._short_form if self.has_categories else self.expression, self.costs)

    @cached_property
    def has_categories(self) -> bool:
        """Whether some of its constants have a value in each category."""
        return any(map(index_of, self.parameters))

    @cached_property
    def _short_form(self) -> Expression:
        """With numbers for its constants, but for those that have a value in each category: `a[site]*x + 2.5`."""
        numbers = {name: value for name, value in self.parameters.items() if index_of(name) is None}
        return _with_signs(contract(self.form).substitute(numbers))

    @cached_property
    def known_as(self) -> str:
        """What a formula of this form is called where it is well known, with any constants and columns; else ""."""
        from prunesymnet.catalogue import known_as

        forms = (self.expression, *([self.free_form] if self.free_form is not None else []))
        return next(filter(None, map(known_as, forms)), "")

    @cached_property
    def _program(self) -> tuple[Program, Array]:
        program = compile_expression(self.form, self.parameters)
        pairs = zip(program.labels, program.constants, strict=True)
        return program, np.array([value if label is None else self.parameters[label] for label, value in pairs])

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # a program does not travel

    @cached_property
    def _free_program(self) -> tuple[Program, Array]:
        """That of the fit which the covariance belongs to."""
        if self.free_form is None:
            return self._program
        program = compile_expression(self.free_form)
        return program, program.constants

    @property
    def constants(self) -> tuple[Estimate, ...]:
        """Each constant that was fitted: value, standard error, 95% interval."""
        return self.estimates()

    def estimates(self, confidence: float = 0.95) -> tuple[Estimate, ...]:
        """The same with intervals of another confidence."""
        program, values = self._free_program
        errors = np.sqrt(np.diagonal(self.covariance))
        freedom, taken = self.rows - len(values), (*self.names, self.target)
        here = None
        if self.free_form is not None:
            numbers = counterparts(self.free_form, self.form)
            here = [(constant_value(node), "" if is_free(node) else to_text(node)) for node in numbers]
        return estimates(
            program.labels, values, errors, freedom, confidence, taken=taken, in_formula=here,
            units=self.units,
        )  # fmt: skip

    @property
    def named_form(self) -> Expression:
        """The formula with the names of its constants, those of `constants`, in their places."""
        fresh = iter([estimate.name for estimate in self.constants if estimate.name not in self.parameters])
        form = self.form if self.free_form is None else self.free_form
        form = contract(form) if self.has_categories else form
        return transform(form, lambda node: Variable(next(fresh)) if is_free(node) else node)

    def named_text(self) -> str:
        """The formula with the names of its constants: `velocity = c1*distance`."""
        return f"{self.target} = {to_text(self.named_form)}"

    def predict(self, columns: Columns) -> Array:
        """Its values on columns by name; nan where the formula is not defined, or too large for a float."""
        program, constants = self._program
        return _finite(program.values(self._table(columns), constants))

    def interval(self, columns: Columns, confidence: float = 0.95, *, mean: bool = False) -> tuple[Array, Array]:
        """Between which values a new measurement will lie in that share of cases: the scatter of the data and the
        uncertainty of the constants together. With `mean`, between which values the mean of many measurements lies,
        the curve itself: the uncertainty of the constants alone. Neither has that of the form, as
        `Front.interval` has."""
        width = students_t(self.freedom, confidence) * self.spread(columns, mean=mean)
        middle = self.predict(columns)
        return middle - width, middle + width

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the residuals."""
        return self.rows - len(self.covariance)

    def spread(self, columns: Columns, *, mean: bool = False) -> Array:
        """The standard deviation of a new measurement about its prediction; with `mean`, of the curve. Infinite where
        the data do not determine a constant that it takes."""
        program, constants = self._free_program
        with np.errstate(all="ignore"):
            values, jacobian = program.values_and_jacobian(self._table(columns), constants)
            scatter = self.variance * values**2 if self.relative else self.variance
            variance = np.einsum("in,ij,jn->n", jacobian, self.covariance, jacobian) + (0.0 if mean else scatter)
            spread = np.sqrt(np.maximum(variance, 0.0))
            return np.where(np.isnan(spread), np.inf, spread)

    def is_far_off(self, columns: Columns, y: Any) -> NDArray[np.bool_]:
        """For each row of a table whether its target `y` is more than six standard deviations of the residuals from the
        formula: which rows the `outliers` are."""
        values, target = self.predict(columns), np.asarray(y, dtype=np.float64)
        deviation = math.sqrt(max(self.variance, 0.0)) * (np.abs(values) if self.relative else 1.0)
        nothing = INVISIBLE * math.sqrt(float(np.mean(target**2)))
        return ~(np.abs(target - values) <= np.maximum(FAR * deviation, nothing))

    def _table(self, columns: Columns) -> dict[str, Array]:
        missing = [name for name in self.expression.variables if name not in columns]
        if missing:
            raise KeyError(f"the formula needs the column {missing[0]!r}; the table has {', '.join(map(str, columns))}")
        return {
            name: np.atleast_1d(np.asarray(columns[name], dtype=np.float64)) for name in columns if name in self.names
        }

    def text(self, digits: int | None = 6) -> str:
        """The right-hand side as text; where constants have a value in each category, with names for these, `a[site]`.
        `expression` and the exports have them all."""
        return to_text(self._short_form if self.has_categories else self.expression, digits=digits)

    def __str__(self) -> str:
        return f"{self.target} = {self.text()}"

    def __repr__(self) -> str:
        return f"<Equation {self}; R² = {self.r2:.6g}, complexity {self.complexity}>"

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    # What it can become; the libraries are imported when they are asked for.

    def sympy(self) -> Any:
        """A sympy expression of plain symbols: `sympy.diff(equation.sympy(), "x")`."""
        from prunesymnet.export.sympy import to_sympy

        return to_sympy(self.expression, real=False)

    def latex(self, digits: int | None = 6) -> str:
        """LaTeX, with the target on the left-hand side."""
        from prunesymnet.export.latex import to_latex

        return to_latex(self.expression, digits=digits, target=self.target)

    def mathml(self, digits: int | None = 6, *, block: bool = False) -> str:
        """MathML, with the target on the left-hand side; browsers typeset it by themselves."""
        from prunesymnet.export.mathml import to_mathml

        return to_mathml(self.expression, digits=digits, target=self.target, block=block)

    def python(self, name: str = "formula") -> str:
        """A Python function as text, which needs nothing but the standard library."""
        from prunesymnet.export.python import to_function

        return to_function(self.expression, self.names, name=name, target=self.target)

    def numpy(self) -> Any:
        """A function of a table [rows, columns], or of one array per column."""
        from prunesymnet.export.numpy import to_numpy

        return to_numpy(self.expression, self.names)

    def torch(self, *, trainable: bool = False) -> Any:
        """A torch module from [rows, columns] to [rows]; its constants are parameters if `trainable`."""
        from prunesymnet.export.torch import to_torch

        return to_torch(self.expression, self.names, trainable=trainable)

    def c(self, name: str = "formula") -> str:
        """A C function as text."""
        from prunesymnet.export.c import to_c

        return to_c(self.expression, self.names, name=name)

    def onnx(self) -> Any:
        """An ONNX model from X [rows, columns] to [rows], in double precision."""
        from prunesymnet.export.onnx import to_onnx

        return to_onnx(self.expression, self.names, target=self.target)

    def excel(self, cells: Mapping[str, str] | None = None) -> str:
        """A formula for a spreadsheet; `cells` says where each column's value is (left out: A2, B2, ...)."""
        from prunesymnet.export.excel import to_excel

        return to_excel(self.expression, cells, names=self.names)


def _variance(found: Fit, data: Dataset) -> float:
    """The mean square of the residuals, without outliers where the loss bounds them; at least what the known standard
    errors of the target make."""
    if isinstance(data.loss, Relative) and data.weights is not None:  # of the residuals as shares of the target
        return found.mse * float(data.weights.sum()) / data.measurements
    if data.loss.quadratic:
        return max(found.mse, data.known_variance)
    values = compile_expression(found.expression).values(data.columns)
    return data.loss.variance(data.y, values, data.weights) if math.isfinite(found.mse) else math.inf


def _follows(found: Fit, data: Dataset) -> str:
    """The column that the residuals follow, where they are more than rounding errors."""
    if not INVISIBLE**2 * data.mean(data.y**2) < found.mse < math.inf:
        return ""
    root = 1.0 if data.weights is None else np.sqrt(data.weights)
    return followed((data.y - compile_expression(found.expression).values(data.columns)) * root, data.columns)


def _with_signs(expression: Expression) -> Expression:
    """As one would write it: x - 2.0 for x + -2.0, and -2.0 for -(2.0)."""

    def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
        last = operands[-1] if operands else None
        if isinstance(last, Constant) and isinstance(last.value, float):
            if operator.name == "neg":
                return Constant(-last.value)
            if operator.name in ("+", "-") and last.value < 0:
                return apply("-" if operator.name == "+" else "+", operands[0], Constant(-last.value))
        return apply(operator, *operands)

    return fold(expression, lambda leaf: leaf, combine)


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), values, np.nan)
