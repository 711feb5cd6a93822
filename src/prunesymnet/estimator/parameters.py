"""From the estimator's parameters to `SearchSettings`, each one checked by name."""

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from numbers import Integral
from typing import Any

import numpy as np
from joblib import cpu_count
from joblib.parallel import get_active_backend
from sklearn.utils import check_random_state

from prunesymnet.equations import Equation
from prunesymnet.errors import DataError
from prunesymnet.expression import Expression, to_text
from prunesymnet.operators import OPERATORS, Operator, select_operators
from prunesymnet.optional import check_device
from prunesymnet.search import PRESETS, Constraints, SearchSettings
from prunesymnet.units import units_of_constants, units_of_labels


def settings_of(estimator: Any) -> SearchSettings:
    """The settings that the parameters of an estimator ask for, checked."""
    preset = estimator.preset
    if isinstance(preset, str):
        if preset not in PRESETS:
            raise ValueError(f"preset must be SearchSettings or one of {', '.join(PRESETS)}, got {preset!r}")
        preset = PRESETS[preset]
    if not isinstance(preset, SearchSettings):
        raise TypeError(f"preset must be a name or SearchSettings, got {type(preset).__name__}")
    _check_others(estimator)
    changes: dict[str, Any] = {}
    if estimator.max_epochs is not None and preset.pruner == "exhaustive":
        given = f"got {estimator.max_epochs!r} with a preset that trains none"
        raise ValueError(f'max_epochs is for trained networks (preset="paper" and its variants), {given}')
    if estimator.max_evaluations is not None:
        # Unless one is given, too: a limit that is the same everywhere is without a clock.
        changes["time_limit"] = math.inf
    for name in (
        "max_complexity", "max_epochs", "max_evaluations", "time_limit", "selection", "loss", "constants_per",
        "template", "parts",
    ):  # fmt: skip
        if getattr(estimator, name) is not None:
            changes[name] = getattr(estimator, name)
    if estimator.operators is not None:
        if isinstance(estimator.operators, str) or not isinstance(estimator.operators, Iterable):
            raise TypeError(f"operators must be a list of names or operators, got {estimator.operators!r}")
        rows = select_operators(estimator.operators).values()
        changes["operators"] = tuple(row.name if OPERATORS.get(row.name) is row else row for row in rows)
    if estimator.constraints is not None:
        changes["constraints"] = _constraints(estimator.constraints)
    if estimator.start_from is not None:
        changes["start_from"] = _formulas(estimator.start_from)
    if estimator.device is not None:
        preset = preset.on_device(estimator.device)
    changes["workers"] = _workers(estimator.n_jobs)
    if isinstance(estimator.preset, str) or estimator.random_state != 0:
        changes["seed"] = _seed(estimator.random_state)
    return replace(preset, **changes)


def _constraints(given: Any) -> Constraints:
    if isinstance(given, Constraints):
        return given
    known = [field.name for field in fields(Constraints)]
    if not isinstance(given, Mapping):
        raise TypeError(f"constraints must be Constraints, or a dict of {', '.join(known)}, got {given!r}")
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise TypeError(f"constraints must be of {', '.join(known)}, got {unknown!r}")
    return Constraints(**given)


def _formulas(given: Any) -> tuple[str, ...]:
    """Formulas as text."""
    if isinstance(given, str | Expression) or not isinstance(given, Iterable):
        raise TypeError(f"start_from must be a list of formulas; write start_from=[{str(given)!r}]")
    return tuple(to_text(one) if isinstance(one, Expression) else one for one in given)


def with_units(settings: SearchSettings, estimator: Any, labels: Mapping[str, str]) -> SearchSettings:
    """The settings with the units that were given, and those that are in the `labels` of names."""
    given = estimator.units if estimator.units is not None else settings.units or None
    if not isinstance(estimator.constant_units, bool | np.bool_):
        raise TypeError(f"constant_units must be True or False, got {estimator.constant_units!r}")
    may_carry = bool(estimator.constant_units) and settings.constant_units
    return replace(settings, units=units_of_labels(labels, given), constant_units=may_carry)


def with_units_of_constants(equation: Equation, settings: SearchSettings) -> Equation:
    """A user's form with the units of its constants, where the table has units."""
    units = settings.units_of(equation.names, equation.target)
    if units is None:
        return equation
    named = [constant.name for constant in equation.constants]
    return replace(equation, units=units_of_constants(equation.form, units, parameters=named))


def _check_others(estimator: Any) -> None:
    for name in ("progress", "warm_start"):
        if not isinstance(getattr(estimator, name), bool | np.bool_):
            raise TypeError(f"{name} must be True or False, got {getattr(estimator, name)!r}")
    calls = estimator.callbacks
    if not isinstance(calls, list | tuple) or not all(map(callable, calls)):
        raise TypeError(f"callbacks must be a list of functions, got {calls!r}")
    if estimator.run_dir is not None and not isinstance(estimator.run_dir, str | os.PathLike):
        raise TypeError(f"run_dir must be a path, got {estimator.run_dir!r}")
    if estimator.device is not None:
        check_device(estimator.device)


def categories_of(estimator: Any) -> list[str]:
    """The columns of categories that the parameters name."""
    given = estimator.categories
    if isinstance(given, str):
        raise DataError(f"categories must be a list of column names; write categories=[{given!r}]")
    return [*dict.fromkeys([*(given or ()), *([estimator.constants_per] if estimator.constants_per else [])])]


def own_operators(settings: SearchSettings) -> list[Operator]:
    """The operators that the user made."""
    return [operator for operator in settings.operators if isinstance(operator, Operator)]


def is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_jobs(n_jobs: Any) -> None:
    """An error for what is no number of workers."""
    if not is_whole(n_jobs) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a number of workers, or -1 for one per core, got {n_jobs!r}")


def _workers(n_jobs: Any) -> int:
    if n_jobs is None:  # as everywhere in scikit-learn: one, unless a `parallel_config` says otherwise
        backend, said = get_active_backend()
        n_jobs = said or getattr(backend, "default_n_jobs", 1)  # of a cluster: all
    check_jobs(n_jobs)
    return max(int(n_jobs), 0) if int(n_jobs) >= -1 else max(cpu_count() + 1 + int(n_jobs), 1)


def _seed(random_state: Any) -> int:
    if is_whole(random_state) and int(random_state) >= 0:
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        raise ValueError(
            f"random_state must be a whole number >= 0, a RandomState or None, got {random_state!r}"
        ) from None
