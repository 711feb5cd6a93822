"""Operators from a user's own functions, each probed before it may enter a table.

>>> softplus = make_operator("softplus", lambda u: np.log1p(np.exp(u)))
>>> softplus.arity, round(float(softplus.numpy(0.0)), 4)
(1, 0.6931)
"""

import functools
import inspect
import keyword
import re
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

from prunesymnet.errors import OperatorError
from prunesymnet.operators.operator import CALL, Form, Operator
from prunesymnet.operators.table import OPERATORS
from prunesymnet.optional import import_torch


def make_operator(
    name: str,
    function: Callable[..., Any],
    *,
    derivatives: Iterable[Callable[..., Any]] | Callable[..., Any] | None = None,
    inverse: Callable[..., Any] | None = None,
    domain: Callable[..., Any] | None = None,
    torch: Callable[..., Any] | None = None,
    sympy: Callable[..., Any] | None = None,
    latex: str | None = None,
    python: str | None = None,
    c: str | None = None,
    excel: str | None = None,
    onnx: Callable[..., Any] | None = None,
    parity: Literal["odd", "even"] | None = None,
    cost: int = 2,
) -> Operator:
    """An operator made from a plain Python function of one or two numpy arrays, probed on the spot.

    `derivatives` are functions of the same operands, one per operand (left out: five-point differences);
    `torch` and `sympy` are functions of tensors and of sympy expressions (left out: the function itself
    where it works on tensors, else a wrapper; an undefined sympy function). `inverse` is for one operand.
    `latex` has ``{0}`` and ``{1}`` where the operands stand, its own braces doubled (left out: the name). So have
    `python`, `c` and `excel`, without which a formula with the operator can't be exported to these; `onnx` makes
    nodes, ``lambda op, u: op.Max(u, 0.0)``. `parity`: "odd" where f(-u) is -f(u), "even" where it is f(u).
    An operator that fails a probe is refused with an `OperatorError` that says what was wrong.

    >>> make_operator("sinc", np.sinc, parity="even").arity
    1
    >>> make_operator("total", np.sum)
    Traceback (most recent call last):
    prunesymnet.errors.OperatorError: operator 'total': on 41 points it must return 41 values, ...
    """
    if not (isinstance(name, str) and name.isidentifier()) or keyword.iskeyword(name):
        raise OperatorError(f"operator name must be a Python identifier, got {name!r}")
    if name in OPERATORS:
        raise OperatorError(f"operator {name!r} ships with the package; choose another name for yours")
    if not callable(function):
        raise OperatorError(f"operator {name!r}: function must be callable, got {function!r}")
    if not isinstance(cost, int) or cost < 0:
        raise OperatorError(f"operator {name!r}: cost must be a whole number >= 0, got {cost!r}")

    def refuse(problem: str) -> OperatorError:
        return OperatorError(f"operator {name!r}: {problem}")

    if derivatives is not None:
        derivatives = (derivatives,) if callable(derivatives) else tuple(derivatives)
    texts = {"python": python, "c": c, "excel": excel}
    given: dict[str, Any] = {"inverse": inverse, "domain": domain, "torch": torch, "sympy": sympy, "latex": latex}
    given |= {**texts, "onnx": onnx, "parity": parity, "cost": cost}
    recipe = functools.partial(make_operator, name, function, derivatives=derivatives, **given)
    points = _probe_points(_arity(function, refuse))
    numpy_form = _in_floats(function)
    value = _probe_value(function, numpy_form, points, domain, refuse)
    numeric = tuple(_difference(numpy_form, i) for i in range(len(points)))
    if derivatives is None:
        partials: tuple[Callable[..., Any], ...] = numeric
    else:
        partials = tuple(_ignore_value(_in_floats(derivative)) for derivative in derivatives)
        if len(partials) != len(points):
            raise refuse(f"needs one derivative per operand: {len(points)}, got {len(partials)}")
        _probe_partials(partials, numeric, points, value, refuse)
    if inverse is not None:
        if len(points) != 1:
            raise refuse("inverse can be given for an operator of one operand only")
        _probe_inverse(inverse, numpy_form, value, refuse)
    for language, text in {"latex": latex, **texts}.items():
        if text is not None:
            _probe_template(language, text, points, refuse)
    if parity is not None:
        _probe_parity(parity, numpy_form, points, refuse)
    if torch is None:
        torch_form = _when_first_used(
            functools.partial(_tried_on_tensors, function, numpy_form, partials, points, value)
        )
    else:
        torch_form = _ignore_value(torch)
        _probe_torch(torch_form, points, value, refuse)
    return Operator(
        name=name,
        arity=len(points),
        numpy=numpy_form,
        torch=torch_form,
        sympy=_ignore_value(sympy) if sympy else lambda sp, *args: sp.Function(name)(*args),
        partials=partials,
        inverses=(inverse,) if inverse else (None,) * len(points),
        domain=domain,
        parity=parity,
        cost=cost,
        latex=latex,
        python=_form(python, len(points)),
        c=_form(c, len(points)),
        excel=_form(excel, len(points)),
        onnx=onnx,
        recipe=recipe,
    )


# ---- the probes of a user's operator ------------------------------------------------------------

_PROBE = np.concatenate([-np.logspace(1.5, -1.5, 20), [0.0], np.logspace(-1.5, 1.5, 20)])
_Refuse = Callable[[str], OperatorError]


def _ignore_value(function: Callable[..., Any]) -> Callable[..., Any]:
    """A user's function of the operands alone, where the table passes something before them."""
    return lambda _, *operands: function(*operands)


def _in_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """A user's function of arrays, for constants too (``u.clip(0)``); truth values come out as numbers."""
    return lambda *operands: np.asarray(function(*map(np.asarray, operands)), dtype=np.float64)


def _arity(function: Callable[..., Any], refuse: _Refuse) -> int:
    if isinstance(function, np.ufunc):
        arity = function.nin
    else:
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            raise refuse("its number of operands can't be read; wrap it: lambda u: f(u)") from None
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            raise refuse("takes any number of operands (*args); wrap it: lambda u, v: f(u, v)")
        required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
        if any(p.kind is p.KEYWORD_ONLY for p in required):
            raise refuse("has a keyword argument without a default; wrap it: lambda u: f(u, option=...)")
        arity = len(required)
    if arity not in (1, 2):
        raise refuse(f"must take one or two operands, takes {arity}")
    return arity


def _probe_points(arity: int) -> tuple[np.ndarray, ...]:
    if arity == 1:
        return (_PROBE,)
    # The same magnitudes for the second operand, in another order, so that no structure is shared.
    return (_PROBE, np.roll(_PROBE[::-1], 7) * 0.9 + 0.1)


def _probe_value(  # noqa: C901 - a list of probes, one branch for each way to fail
    function: Callable[..., Any],
    numpy_form: Callable[..., Any],
    points: tuple[np.ndarray, ...],
    domain: Any,
    refuse: _Refuse,
) -> np.ndarray:
    def call(*operands: np.ndarray) -> np.ndarray:
        try:
            with np.errstate(all="ignore"):
                out = np.asarray(function(*operands))
        except Exception as error:
            raise refuse(f"raised {type(error).__name__} on arrays: {error}") from error
        if out.shape != operands[0].shape:
            raise refuse(
                f"on {operands[0].size} points it must return {operands[0].size} values, "
                f"returned shape {out.shape} for shape {operands[0].shape}"
            )
        if out.dtype.kind not in "fiub":
            raise refuse(f"must return real numbers, returned dtype {out.dtype}")
        return out.astype(np.float64)

    value = call(*points)
    if not np.array_equal(value, call(*points), equal_nan=True):
        raise refuse("must give the same values each time; it did not")
    # Elementwise: some of the points in another order, alone or laid out in two dimensions, give the same values.
    some = np.random.default_rng(0).permutation(_PROBE.size)[:20]
    same = call(*(p[some] for p in points))
    grid = call(*(np.stack([p[:20], p[some]]) for p in points))
    if not (
        np.allclose(same, value[some], rtol=1e-12, equal_nan=True)
        and np.allclose(grid, np.stack([value[:20], same]), rtol=1e-12, equal_nan=True)
    ):
        raise refuse("must work element by element; its value at a point depends on the other points")
    finite = np.isfinite(value)
    if not finite.any():
        raise refuse("is finite at none of the probe points (from -30 to 30)")
    if domain is not None:
        try:
            inside = np.broadcast_to(np.asarray(domain(*points), dtype=bool), value.shape)
        except Exception as error:
            raise refuse(f"its domain raised {type(error).__name__} on arrays: {error}") from error
        if not inside.any():
            raise refuse("its domain contains none of the probe points (from -30 to 30)")
        if not finite[inside].any():
            raise refuse("is finite at none of the probe points inside its domain")
    for i, column in enumerate(points):
        moved = call(*(np.roll(column, 5) if i == j else p for j, p in enumerate(points)))
        if np.array_equal(moved[finite], value[finite]):
            raise refuse(f"does not depend on operand {i + 1}")
    # In a formula an operand may be one number, or a column of numbers against a row of points.
    for i, column in enumerate(points):
        for number in (column[30], np.full((2, 1), column[30])):
            mixed = [number if i == j else p for j, p in enumerate(points)]
            try:
                with np.errstate(all="ignore"):
                    got = numpy_form(*mixed)
            except Exception as error:
                raise refuse(f"raised {type(error).__name__} on operands of different shape: {error}") from error
            alike = call(*np.broadcast_arrays(*map(np.atleast_1d, mixed)))
            if got.size != alike.size or not np.allclose(got.ravel(), alike.ravel(), rtol=1e-12, equal_nan=True):
                raise refuse("gives other values for a number than for an array of that number")
    return value


def _difference(function: Callable[..., Any], index: int) -> Callable[..., Any]:
    """The derivative with respect to one operand by the five-point rule (error of order h^4)."""

    def derivative(_: Any, *operands: Any) -> Any:
        u = np.asarray(operands[index], dtype=np.float64)
        h = 1e-3 * np.maximum(np.abs(u), 0.1)

        def at(k: int) -> Any:
            return function(*(u + k * h if i == index else v for i, v in enumerate(operands)))

        return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)

    return derivative


def _probe_partials(
    partials: tuple[Callable[..., Any], ...],
    numeric: tuple[Callable[..., Any], ...],
    points: tuple[np.ndarray, ...],
    value: np.ndarray,
    refuse: _Refuse,
) -> None:
    with np.errstate(all="ignore"):
        for i, (partial, difference) in enumerate(zip(partials, numeric, strict=True)):
            try:
                got = np.broadcast_to(np.asarray(partial(value, *points), dtype=np.float64), value.shape)
            except Exception as error:
                raise refuse(f"derivative {i + 1} raised {type(error).__name__}: {error}") from error
            expected = difference(value, *points)
            both = np.isfinite(expected) & np.isfinite(value)
            wrong = both & ~np.isclose(got, expected, rtol=1e-4, atol=1e-6)
            # Kinks (abs, relu) and the edge of a domain spoil differences at a few points, not at most.
            if wrong.sum() > both.sum() // 4:
                k = int(np.flatnonzero(wrong)[0])
                where = ", ".join(f"{p[k]:.4g}" for p in points)
                raise refuse(
                    f"derivative {i + 1} at ({where}) is {got[k]:.6g}, but finite differences of the "
                    f"function give {expected[k]:.6g}"
                )


def _probe_inverse(
    inverse: Callable[..., Any], function: Callable[..., Any], value: np.ndarray, refuse: _Refuse
) -> None:
    try:
        with np.errstate(all="ignore"):
            again = function(inverse(value))
    except Exception as error:
        raise refuse(f"inverse raised {type(error).__name__}: {error}") from error
    finite = np.isfinite(value) & np.isfinite(again)
    if not finite.any() or not np.allclose(again[finite], value[finite], rtol=1e-6, atol=1e-9):
        raise refuse("inverse is not one: function(inverse(v)) must give back v")


def _probe_template(language: str, text: str, points: tuple[np.ndarray, ...], refuse: _Refuse) -> None:
    names = ["u", "v"][: len(points)]
    example = r"\mathrm{{f}}({0})" if language == "latex" else "f({0})"
    try:
        shown = text.format(*names)
    except (AttributeError, IndexError, KeyError, ValueError):
        raise refuse(
            f"{language} must be a template with {{0}} and {{1}} for the operands and its own braces doubled, "
            f"e.g. {example!r}, got {text!r}"
        ) from None
    if shown == text:
        raise refuse(f"{language} must show its operands, {{0}} for the first, got {text!r}")


def _form(template: str | None, arity: int) -> Form | None:
    """A user's template: a single call as it stands, anything else in parentheses, as are its operands."""
    if template is None or re.fullmatch(r"[\w.]+\([^()]*\)", template):
        return None if template is None else Form(template)
    return Form(f"({template})", needs=(CALL,) * arity)


def _probe_parity(parity: str, function: Callable[..., Any], points: tuple[np.ndarray, ...], refuse: _Refuse) -> None:
    if len(points) != 1 or parity not in ("odd", "even"):
        raise refuse(f"parity must be 'odd' or 'even', and is for one operand only, got {parity!r}")
    with np.errstate(all="ignore"):
        value, mirrored = function(points[0]), function(-points[0])
    if not np.allclose(mirrored, -value if parity == "odd" else value, rtol=1e-9, equal_nan=True):
        raise refuse(f"is not {parity}: its value at -u must be {'minus ' * (parity == 'odd')}that at u")


def _probe_torch(form: Callable[..., Any], points: tuple[np.ndarray, ...], value: np.ndarray, refuse: _Refuse) -> None:
    torch = import_torch("torch=")
    try:
        got = form(torch, *(torch.from_numpy(p.copy()) for p in points)).numpy()
    except Exception as error:
        raise refuse(f"torch form raised {type(error).__name__}: {error}") from error
    if got.shape != value.shape or not np.allclose(got, value, rtol=1e-9, equal_nan=True):
        raise refuse("torch form and numpy form give different values")


def _when_first_used(make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """A torch form that is made when it is first used: most who make an operator never need torch."""
    made: list[Callable[..., Any]] = []

    def form(torch: Any, *operands: Any) -> Any:
        if not made:
            made.append(make())
        return made[0](torch, *operands)

    return form


def _tried_on_tensors(
    function: Callable[..., Any],
    numpy_form: Callable[..., Any],
    partials: tuple[Callable[..., Any], ...],
    points: tuple[np.ndarray, ...],
    value: np.ndarray,
) -> Callable[..., Any]:
    """The function itself where it works on tensors, else a wrapper of its numpy form."""
    import torch
    from torch.autograd.function import once_differentiable

    direct = _ignore_value(function)
    try:
        tensors = [torch.from_numpy(p.copy()).requires_grad_() for p in points]
        out = direct(torch, *tensors)
        if out.requires_grad and np.allclose(out.detach().numpy(), value, rtol=1e-9, equal_nan=True):
            return direct
    except Exception:  # noqa: S110 - whatever it raised, it does not work on tensors, and that is the answer
        pass

    class Wrapped(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *operands: Any) -> Any:
            ctx.save_for_backward(*operands)
            with np.errstate(all="ignore"):
                out = numpy_form(*(v.detach().cpu().numpy() for v in operands))
            return torch.as_tensor(out, dtype=operands[0].dtype, device=operands[0].device)

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, *upstream: Any) -> Any:
            arrays = [v.detach().cpu().numpy() for v in ctx.saved_tensors]
            with np.errstate(all="ignore"):
                value = numpy_form(*arrays)
                return tuple(
                    upstream[0] * torch.as_tensor(partial(value, *arrays), dtype=v.dtype, device=v.device)
                    for partial, v in zip(partials, ctx.saved_tensors, strict=True)
                )

    return lambda _, *operands: Wrapped.apply(*operands)  # type: ignore[no-untyped-call]
