"""The lines of Python that do the same as a search of the studio.

>>> print(cell("planets.csv", {"time_limit": 30.0}, target="period", features=["axis"]))
from prunesymnet import PruneSymRegressor
from prunesymnet.data import read_frame
<BLANKLINE>
table = read_frame("planets.csv").frame
model = PruneSymRegressor(time_limit=30.0, n_jobs=1)
model.fit(table[["axis"]], table["period"])
print(model)
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any


def cell(
    file: str,
    parameters: Mapping[str, Any],
    *,
    target: str,
    features: Sequence[str],
    weights: str | None = None,
    y_err: str | None = None,
    categories: Sequence[str] = (),
    drop_missing: bool = False,
    reading: Mapping[str, str | None] | None = None,
) -> str:
    """The lines, for a table in a file of that name beside the notebook."""
    read = "".join(f", {name}={_text(value)}" for name, value in (reading or {}).items() if value is not None)
    said = {**parameters, **({"categories": list(categories)} if categories else {}), "n_jobs": 1}
    given = ", ".join(f"{name}={_value(value)}" for name, value in said.items())
    used = [*features, *(name for name in (target, weights, y_err) if name)]
    more = "".join(
        f", {name}=table[{_text(column)}]"
        for name, column in (("sample_weight", weights), ("y_err", y_err))
        if column is not None
    )
    lines = [
        "from prunesymnet import PruneSymRegressor",
        "from prunesymnet.data import read_frame",
        "",
        f"table = read_frame({_text(file)}{read}).frame",
        *([f"table = table.dropna(subset={_value(used)})"] if drop_missing else []),
        f"model = PruneSymRegressor({given})",
        f"model.fit(table[{_value(list(features))}], table[{_text(target)}]{more})",
        "print(model)",
    ]
    return "\n".join(lines)


def _text(value: Any) -> str:
    return json.dumps(str(value), ensure_ascii=False)


def _value(value: Any) -> str:
    """A value as Python writes it, with the quotes that people use."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)}: {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _text(value) if isinstance(value, str) else repr(value)
