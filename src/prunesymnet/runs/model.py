"""A model: the fronts of one table, one for each target; saved as JSON, and read back without trust.

>>> import tempfile
>>> from prunesymnet.data import load_example
>>> from prunesymnet.search import SearchSettings, search
>>> boyle = load_example("boyle")
>>> settings = SearchSettings(max_fits=20)
>>> model = Model((search(boyle, settings).front,), boyle.names, boyle.names, settings)
>>> with tempfile.TemporaryDirectory() as folder:
...     model.save(f"{folder}/boyle.json")
...     print(load_model(f"{folder}/boyle.json").fronts[0].best)
pressure = 1407/volume
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prunesymnet.data.messages import printable
from prunesymnet.equations import Front
from prunesymnet.errors import FileFormatError
from prunesymnet.operators import Operator
from prunesymnet.runs import records
from prunesymnet.runs.files import MOST_OF_A_PROBLEM, seal, unseal, write_whole
from prunesymnet.search import SearchSettings
from prunesymnet.version import __version__

KIND = "prunesymnet model"


@dataclass(frozen=True, eq=False)
class Model:
    """What a search has found, as it is saved: a front for each target, and the settings. `names` are the columns as
    formulas have them, `columns` as the user's table has them (None: it has no names)."""

    fronts: tuple[Front, ...]
    names: tuple[str, ...]
    columns: tuple[str, ...] | None
    settings: SearchSettings
    version: str = __version__

    @property
    def labels(self) -> tuple[str, ...]:
        """What to call the columns before their owner."""
        return self.names if self.columns is None else self.columns

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file, whole or not at all."""
        write_whole(Path(path), seal(KIND, self.record(), f"prunesymnet {self.version}"))

    def record(self) -> records.Record:
        return {
            "version": self.version,
            "names": self.names,
            "columns": self.columns,
            "settings": records.of_settings(self.settings),
            "fronts": [records.of_front(front) for front in self.fronts],
        }

    def __repr__(self) -> str:
        return f"<Model {'; '.join(str(front.best) for front in self.fronts)}>"

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.fronts))


def load_model(
    path: str | os.PathLike[str],
    *,
    operators: Sequence[Operator] = (),
    functions: Mapping[str, Any] | None = None,
) -> Model:
    """A model from its file; `operators` and `functions` (selection, allow, loss) are those of the user's own that it
    was made with: a file holds no code. A file that is cut off, changed or of a newer version raises a FileFormatError.
    """
    path = Path(path)
    content = unseal(path, KIND)
    try:
        take = records.Reader(content, "the model")
        names = tuple(records.identifier(name) for name in take("names", list))
        columns = records.labels(take("columns"), len(names))
        if len(set(names)) != len(names):
            raise FileFormatError("two columns have the same name")
        fronts = tuple(records.to_front(front, names, operators) for front in take("fronts", list))
        if not fronts:
            raise FileFormatError("it has no front")
        if len({front.target for front in fronts}) != len(fronts):
            raise FileFormatError("two targets have the same name")
        settings = records.to_settings(take("settings"), operators, functions)
        return Model(fronts, names, columns, settings, take("version", str)[:40])
    except FileFormatError as problem:
        raise FileFormatError(f"{path}: {printable(str(problem), MOST_OF_A_PROBLEM)}") from None
