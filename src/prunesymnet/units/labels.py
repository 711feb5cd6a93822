"""Which units the columns of a table have: those that were given, and those in its header, `v [m/s]`.

>>> units_of_labels({"v": "v [m/s]", "n": "n", "E": "E [J]"}, {"n": "1"})
{'v': 'm/s', 'E': 'J', 'n': '1'}
>>> units_of_labels({"v": "v [m/s]"}, {"v": "km/h"})
Traceback (most recent call last):
prunesymnet.errors.UnitError: the unit of v is 'm/s' in the header and 'km/h' in units: leave out the wrong one
"""

from collections.abc import Mapping

from prunesymnet.data.checks import split_label
from prunesymnet.data.messages import listed, shown, warn
from prunesymnet.errors import UnitError
from prunesymnet.units.parsing import parse_unit


def units_of_labels(labels: Mapping[str, str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The units by the names that formulas have, from the `labels` of these in the table, and those that are `given` by
    name or label. What is in a header counts only if all of it is known: brackets may mean something else."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"units must map names of columns to units, as {{'v': 'm/s'}}, got {given!r}")
    if given is not None and not given:
        return {}  # none are wanted
    told = {name: unit for name, label in labels.items() if (unit := split_label(label)[1])}
    found: dict[str, str] = {}
    by_label = {label: name for name, label in labels.items()}
    for key, text in (given or {}).items():
        name = key if key in labels else by_label.get(key)
        if name is None:
            raise UnitError(f"units has {shown(key)}, which is no column; the columns are {listed(list(labels))}")
        one = parse_unit(text, f"the unit of {name}")
        if name in told and (one.powers, one.factor) != _meaning(told[name], name):
            raise UnitError(
                f"the unit of {name} is {told[name]!r} in the header and {text!r} in units: leave out the wrong one"
            )
        found[name] = text
    if not found and told and not _all_known(told):
        return {}
    for name, text in told.items():
        if name not in found:
            parse_unit(text, f"the unit of {name}")  # or an error
    return {**told, **found}


def _meaning(text: str, name: str) -> tuple[object, float]:
    unit = parse_unit(text, f"the unit of {name}")
    return unit.powers, unit.factor


def _all_known(told: Mapping[str, str]) -> bool:
    """Whether all units of a header are known; a warning says which is not, or that pint is not there."""
    try:
        for name, text in told.items():
            parse_unit(text, f"the unit of {name}")
    except (UnitError, ImportError) as problem:
        warn(f"what the header has in brackets is not used as units: {problem}")
        return False
    return True
