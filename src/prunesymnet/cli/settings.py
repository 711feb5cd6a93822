"""From the options of a command to `SearchSettings`."""

import csv
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from prunesymnet.operators import select_operators
from prunesymnet.search import PRESETS, Constraints, SearchSettings


def names_in(text: str) -> list[str]:
    """The names of an option, which may be none; one with a comma in it is quoted.

    >>> names_in('a, "mass, dry"'), names_in("")
    (['a', 'mass, dry'], [])
    """
    cells = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in cells if name.strip()]


def preset_named(name: str) -> SearchSettings:
    """
    >>> preset_named("papr")
    Traceback (most recent call last):
    ValueError: --preset must be one of default, paper, ..., got 'papr'
    """
    if name not in PRESETS:
        raise ValueError(f"--preset must be one of {', '.join(PRESETS)}, got {name!r}")
    return PRESETS[name]


def network_settings(
    name: str,
    *,
    epochs: int | None = None,
    layers: int | None = None,
    no_gradient: bool = False,
    random_pruning: bool = False,
) -> SearchSettings:
    """A preset with another number of epochs or layers, without gradient steps, or with random pruning. These are
    of trained networks: with a preset that trains none they are an error.

    >>> settings = network_settings("paper", epochs=1000, no_gradient=True, random_pruning=True)
    >>> settings.max_epochs, settings.training.gradient, settings.pruner
    (1000, False, 'random')
    >>> network_settings("default", epochs=1000)
    Traceback (most recent call last):
    ValueError: --epochs is for trained networks, and the preset default trains none: add --preset paper
    """
    settings = preset_named(name)
    given = {"--epochs": epochs, "--layers": layers, "--no-gradient": no_gradient, "--random-pruning": random_pruning}
    said = [option for option, value in given.items() if value not in (None, False)]
    if said and settings.pruner == "exhaustive":
        raise ValueError(f"{said[0]} is for trained networks, and the preset {name} trains none: add --preset paper")
    return replace(
        settings,
        max_epochs=settings.max_epochs if epochs is None else epochs,
        layers=settings.layers if layers is None else layers,
        pruner="random" if random_pruning else settings.pruner,
        training=replace(settings.training, gradient=settings.training.gradient and not no_gradient),
    )


def with_operators(settings: SearchSettings, names: list[str]) -> SearchSettings:
    """The settings with these operators in place of the preset's; `id` is always one."""
    wanted = [*names, "id"]
    return replace(settings, operators=tuple(select_operators(dict.fromkeys(wanted))))


def limit_of(settings: SearchSettings, time_limit: float | None, max_evaluations: int | None) -> float:
    """The seconds that are asked for; else none where evaluations are counted instead, and those of the preset."""
    if time_limit is not None:
        return time_limit
    return settings.time_limit if max_evaluations is None else math.inf


def constraints_of(
    *,
    max_uses: str = "",
    max_argument: str = "",
    forbid_nested: str = "",
    max_nested: str = "",
    max_constants: int | None,
    requires: str = "",
    costs: str = "",
    shape: Sequence[str] = (),
    box: str = "",
) -> Constraints:
    """
    >>> rules = constraints_of(max_uses="exp=1,sin=2", forbid_nested="exp=sin,exp=log", max_constants=3)
    >>> rules.max_uses, rules.forbid_nested, rules.max_constants
    ({'exp': 1, 'sin': 2}, {'exp': ['sin', 'log']}, 3)
    >>> constraints_of(max_nested="sin=exp:1,sin=sin:0", max_constants=None).max_nested
    {'sin': {'exp': 1, 'sin': 0}}
    >>> constraints_of(shape=["increasing in x"], box="x=0:10,y=-1:1", max_constants=None).box
    {'x': (0.0, 10.0), 'y': (-1.0, 1.0)}
    >>> constraints_of(max_uses="exp", max_constants=None)
    Traceback (most recent call last):
    ValueError: --max-uses must be NAME=NUMBER, as in exp=1, got 'exp'
    """
    nested: dict[str, list[str]] = {}
    for outer, inner in _pairs(forbid_nested, "--forbid-nested", "NAME=NAME, as in exp=sin"):
        nested.setdefault(outer, []).append(inner)
    counts: dict[str, dict[str, int]] = {}
    form = "NAME=NAME:NUMBER, as in sin=exp:1"
    for outer, inner in _pairs(max_nested, "--max-nested", form):
        name, _, number = inner.rpartition(":")
        if not name or not number.isdecimal():
            raise ValueError(f"--max-nested must be {form}, got {f'{outer}={inner}'!r}")
        counts.setdefault(outer, {})[name] = int(number)
    return Constraints(
        max_uses=_limits(max_uses, "--max-uses"),
        max_argument=_limits(max_argument, "--max-argument"),
        forbid_nested=nested,
        max_nested=counts,
        costs=_limits(costs, "--costs"),
        shape=tuple(shape),
        box={name: _ends(name, ends) for name, ends in _pairs(box, "--box", "NAME=LOW:HIGH, as in x=0:10")},
        max_constants=max_constants,
        requires=tuple(names_in(requires)),
    )


def template_of(given: Sequence[str]) -> str | dict[str, str] | None:
    """
    >>> template_of(["f(x) + g(z)"])
    'f(x) + g(z)'
    >>> template_of(["u = f(x)", "v = f(x)*g(z)"])
    {'u': 'f(x)', 'v': 'f(x)*g(z)'}
    """
    pairs = [text.partition("=") for text in given]
    if len(given) > 1 and not all(equals for _, equals, _ in pairs):
        raise ValueError(f"--template must be TARGET=FORMULA for each of several targets, got {given[0]!r}")
    if len(given) < 2:
        return given[0] if given else None
    return {target.strip(): formula.strip() for target, _, formula in pairs}


def parts_of(given: Sequence[str]) -> dict[str, dict[str, Any]]:
    """
    >>> parts_of(["f: operators=+,*; max_complexity=9", "g: start_from=a*exp(y)"])
    {'f': {'operators': ['+', '*'], 'max_complexity': 9}, 'g': {'start_from': ['a*exp(y)']}}
    """
    form = "NAME: operators=+,*; max_complexity=9; start_from=FORMULA"
    found: dict[str, dict[str, Any]] = {}
    for text in given:
        name, _, rest = text.partition(":")
        said = found.setdefault(name.strip(), {})
        for part in filter(str.strip, rest.split(";")):
            key, value = (piece.strip() for piece in part.partition("=")[::2])
            if key == "operators" and value:
                said[key] = [one.strip() for one in value.split(",")]
            elif key == "max_complexity" and value.isdecimal():
                said[key] = int(value)
            elif key == "start_from" and value:
                said[key] = [value]
            else:
                raise ValueError(f"--part must be {form}, got {text!r}")
        if not said:
            raise ValueError(f"--part must be {form}, got {text!r}")
    return found


def _ends(name: str, text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise ValueError(f"--box must be NAME=LOW:HIGH, as in x=0:10, got {f'{name}={text}'!r}") from None


def units_given(text: str | None, *, none: bool = False) -> dict[str, str] | None:
    """The units of an option; none at all where they are not wanted, and None where the table's header decides.

    >>> units_given("v=m/s, E=J"), units_given(None), units_given(None, none=True)
    ({'v': 'm/s', 'E': 'J'}, None, {})
    """
    if none:
        if text:
            raise ValueError("--units and --no-units can't both be")
        return {}
    return None if text is None else dict(_pairs(text, "--units", "NAME=UNIT, as in v=m/s,m=kg"))


def _pairs(text: str, option: str, form: str) -> list[tuple[str, str]]:
    found = [part.strip().rpartition("=")[::2] for part in text.split(",") if part.strip()]
    for (name, value), part in zip(found, filter(str.strip, text.split(",")), strict=True):
        if not name.strip() or not value.strip():
            raise ValueError(f"{option} must be {form}, got {part.strip()!r}")
    return [(name.strip(), value.strip()) for name, value in found]


def _limits(text: str, option: str) -> dict[str, int]:
    form = "NAME=NUMBER, as in exp=1"
    pairs = _pairs(text, option, form)
    wrong = next((f"{name}={value}" for name, value in pairs if not value.isdecimal()), None)
    if wrong is not None:
        raise ValueError(f"{option} must be {form}, got {wrong!r}")
    return {name: int(value) for name, value in pairs}
