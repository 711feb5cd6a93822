"""What many fits give: a model for each key, a table of all, and whether they share one form."""

import hashlib
import os
import re
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from prunesymnet.coefficients.rounded import exact_numbers, freed_at
from prunesymnet.data.messages import shown
from prunesymnet.equations import Equation
from prunesymnet.errors import FileFormatError
from prunesymnet.estimator import PruneSymRegressor
from prunesymnet.expression import Expression, Variable, canonical, postorder, skeleton, to_text
from prunesymnet.expression.canonical.terms import constant_value
from prunesymnet.expression.tree import is_free, transform
from prunesymnet.operators import Operator
from prunesymnet.runs import load_model, records
from prunesymnet.runs.files import seal, unseal, write_whole
from prunesymnet.search import SearchStatus
from prunesymnet.version import __version__

KIND = "prunesymnet models"
INDEX = "models.json"  # in a folder of models: which key has which file, and what became of the others
SECONDS_BETWEEN = 5.0  # after which the file that names the models is written again: what a killed process may lose
MOST_OF_A_KEY = 40  # characters in the name of a file
NOT_FITTED = "not fitted"
FAILED = "failed"
INTERRUPTED = SearchStatus.INTERRUPTED.value


@dataclass(frozen=True, eq=False)
class TableFit:
    """What became of one table: its model, or why there is none. `test_r2` is that of rows which were not fitted to,
    where there are such; `notes` are the warnings. `digest` is that of rows and settings, where fits are kept in a
    folder."""

    key: Hashable
    model: PruneSymRegressor | None = None
    seconds: float = 0.0
    error: str = ""
    notes: tuple[str, ...] = ()
    test_r2: float | None = None
    digest: str = ""

    @property
    def status(self) -> str:
        if self.model is None:
            return FAILED if self.error else NOT_FITTED
        return "; ".join(dict.fromkeys(front.status for front in self.model.fronts_))

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended its search."""
        return self.model is not None and any(front.status == INTERRUPTED for front in self.model.fronts_)


@dataclass(frozen=True, eq=False)
class ManyModels:
    """The fits of many tables, in the order of the tables; `names` are those of the parts of a key.

    >>> import numpy as np
    >>> from prunesymnet import fit_many
    >>> x = np.linspace(1, 2, 20)
    >>> found = fit_many({k: (x[:, None], k * x**2) for k in (2, 3)}, n_jobs=1)
    >>> print(found[3].best_)
    y = 3*x1**2
    >>> found.table()[["key", "formula", "complexity"]]
       key  formula  complexity
    0    2  2*x1**2           4
    1    3  3*x1**2           4
    >>> found.shared_form
    'c1*x1**2'
    """

    fits: tuple[TableFit, ...]
    names: tuple[str, ...] = ("key",)

    @cached_property
    def by_key(self) -> dict[Hashable, TableFit]:
        return {one.key: one for one in self.fits}

    @property
    def models(self) -> dict[Hashable, PruneSymRegressor]:
        """The models that were found, by key."""
        return {one.key: one.model for one in self.fits if one.model is not None}

    @property
    def errors(self) -> dict[Hashable, str]:
        """What went wrong with the others, by key; a table that was not fitted since the call ended has none."""
        return {one.key: one.error for one in self.fits if one.error}

    def __getitem__(self, key: Hashable) -> PruneSymRegressor:
        """The model of a table."""
        found = self.by_key[key]
        if found.model is None:
            raise KeyError(f"table {shown(key)} has no model: {found.error or NOT_FITTED}")
        return found.model

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.by_key)

    def __len__(self) -> int:
        return len(self.fits)

    def table(self) -> pd.DataFrame:
        """One row for each table, and for each target of a table: key, target, formula, R², complexity, seconds, how it
        ended. Floats of the formulas are shown with six digits."""
        tested = any(one.test_r2 is not None for one in self.fits)
        rows = [row for one in self.fits for row in _rows(one, self._parts(one.key), tested)]
        return pd.DataFrame(rows)

    def _parts(self, key: Any) -> dict[str, Any]:
        parts = (key,) if len(self.names) == 1 else key
        return dict(zip(self.names, parts, strict=True))

    def forms(self) -> pd.DataFrame:
        """Which forms were found, formulas that differ in their numbers alone being one (whole exponents aside): in how
        many tables each was chosen, in how many others it is one that the data hardly tell from the chosen one, and in
        how many it is either (`tables`). The most frequent first."""
        chosen: dict[str, set[Hashable]] = {}
        ties: dict[str, set[Hashable]] = {}
        texts: dict[str, str] = {}
        for one in self.fits:
            for front in one.model.fronts_ if one.model is not None else ():
                for place in (front.chosen, *front.ties):
                    form = form_of(front[place])
                    name = skeleton(form)
                    texts.setdefault(name, _named(form))
                    (chosen if place == front.chosen else ties).setdefault(name, set()).add(one.key)
        rows = []
        for name, text in texts.items():
            here, near = chosen.get(name, set()), ties.get(name, set())
            rows.append((text, len(here), len(near - here), len(here | near)))
        rows.sort(key=lambda row: (-row[3], -row[1], len(row[0])))
        return pd.DataFrame(rows, columns=["form", "chosen", "ties", "tables"])

    @property
    def shared_form(self) -> str | None:
        """The form that is chosen in every table, or hardly told from the chosen one by its rows; None if there is
        none."""
        forms, models = self.forms(), self.models
        if len(models) < 2 or forms["tables"].iloc[0] < len(models):
            return None
        return str(forms["form"].iloc[0])

    def __str__(self) -> str:
        return f"{self.table().to_string(index=False)}\n{self.summary()}"

    def summary(self) -> str:
        """How many have a model, and whether they share one form."""
        models, failed = len(self.models), len(self.errors)
        parts = [f"{models} of {len(self)} tables have a formula"]
        parts += [f"{failed} failed"] * bool(failed)
        shared = self.shared_form
        if shared is not None:
            parts.append(f"all share the form {shared}")
        elif models > 1:
            most = self.forms().iloc[0]
            parts.append(f"no form is shared by all: {most['form']} by {most['tables']}")
        return "; ".join(parts)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write all to a folder, which is made if it is not there: a file for each model, and one that names them."""
        kept = KeptFits(folder, self.names)
        for one in self.fits:
            kept.add(one)
        kept.write_index()

    @classmethod
    def load(
        cls,
        folder: str | os.PathLike[str],
        *,
        operators: Sequence[Operator] = (),
        selection: Any = None,
        allow: Any = None,
        loss: Any = None,
    ) -> "ManyModels":
        """What was saved in a folder; your own `operators`, and `selection`, `allow` and `loss` where they were
        functions, must be passed again. A key that is neither text nor a number comes back as text."""
        return read_models(folder, operators, {"selection": selection, "allow": allow, "loss": loss})


def read_models(
    folder: str | os.PathLike[str], operators: Sequence[Operator], functions: Mapping[str, Any]
) -> ManyModels:
    """What was saved in a folder; see `ManyModels.load`."""
    path = Path(folder)
    content = unseal(path / INDEX, KIND)
    try:
        take = records.Reader(content, "the folder of models")
        names = tuple(map(str, take("names", list)))
        fits = tuple(_read(records.Reader(row, "a table"), path, operators, functions) for row in take("tables", list))
    except FileFormatError as problem:
        raise FileFormatError(f"{path}: {problem}") from None
    return ManyModels(fits, names)


class KeptFits:
    """A folder in which fits are kept from the moment they are there. The file that names them is written again and
    again, and at the end."""

    def __init__(self, folder: str | os.PathLike[str], names: Sequence[str]) -> None:
        self.path, self.names = Path(folder), tuple(names)
        self.path.mkdir(parents=True, exist_ok=True)
        self.index: list[dict[str, Any]] = []
        self.written = time.monotonic()

    def add(self, one: TableFit) -> None:
        file = _file_name(one.key) if one.model is not None else ""
        if one.model is not None:
            one.model.save(self.path / file)
        self.index.append(
            {
                "key": as_kept(one.key),
                "file": file,
                "seconds": one.seconds,
                "error": one.error,
                "notes": list(one.notes),
                "test_r2": one.test_r2,
                "digest": one.digest,
            }
        )
        if time.monotonic() - self.written > SECONDS_BETWEEN:
            self.write_index()

    def write_index(self) -> None:
        content = {"names": list(self.names), "tables": self.index}
        write_whole(self.path / INDEX, seal(KIND, content, f"prunesymnet {__version__}"))
        self.written = time.monotonic()


def _file_name(key: Hashable) -> str:
    """For the model of a table: a name that tells its key, as far as names of files can, and no other has.

    >>> _file_name(("north", 2021))
    'model-north-2021-...json'
    """
    parts = [str(part) for part in (key if isinstance(key, tuple) else (key,))]
    shown = re.sub(r"[^A-Za-z0-9.-]+", "_", "-".join(parts))[:MOST_OF_A_KEY].strip(".")
    return f"model-{shown}-{hashlib.blake2b(repr(key).encode(), digest_size=4).hexdigest()}.json"


def form_of(equation: Equation) -> Expression:
    """The formula with all its numbers free but whole exponents and roots: what formulas of one form share.

    >>> from prunesymnet.coefficients import fit
    >>> from prunesymnet.data import load_example
    >>> from prunesymnet.expression import parse
    >>> table = load_example("boyle")
    >>> form = form_of(Equation.of(fit(parse("3*volume**2 + volume**(2/3)"), table), table))
    >>> print(form.with_constants([7.0, 0.5]))
    7.0*volume**2 + volume**0.5
    """
    formula = equation.free_form or equation.expression
    nodes = postorder(formula)
    free = [place for place, exponent in exact_numbers(formula).items() if not exponent or _is_broken(nodes[place])]
    return canonical(freed_at(formula, free))


def _is_broken(number: Expression) -> bool:
    """Whether it is a number, and none of the whole ones that powers are written with."""
    return not number.variables and not float(constant_value(number)).is_integer()


def _named(form: Expression) -> str:
    """With names for its constants: c1*x + c2."""
    count = iter(range(1, len(form.constants) + 1))
    return to_text(transform(form, lambda node: Variable(f"c{next(count)}") if is_free(node) else node))


def _rows(one: TableFit, parts: dict[str, Any], tested: bool) -> Iterator[dict[str, Any]]:
    fronts = one.model.fronts_ if one.model is not None else (None,)
    for front in fronts:
        best = None if front is None else front.best
        row = dict(parts)
        row.setdefault("target", "" if best is None else best.target)
        row |= {
            "formula": "" if best is None else best.text(),
            "r2": float("nan") if best is None else best.r2,
            "heldout_r2": float("nan") if best is None else best.heldout_r2,
        }
        if tested:
            row["test_r2"] = float("nan") if one.test_r2 is None else one.test_r2
        yield row | {
            "complexity": pd.NA if best is None else best.complexity,
            "seconds": round(one.seconds, 3),
            "status": one.status,
            "notes": "; ".join([one.error] * bool(one.error) + list(one.notes)),
        }


def as_kept(key: Any) -> Any:
    """A key as a folder has it: text and numbers as they are, anything else as text.

    >>> from datetime import date
    >>> as_kept(("north", 3, date(2021, 5, 1)))
    ('north', 3, '2021-05-01')
    """
    if isinstance(key, tuple):
        return tuple(map(as_kept, key))
    return key if isinstance(key, str | int | float | bool | None) else str(key)


def _hashable(key: Any) -> Any:
    """A key that was read: the tuples in it are lists in the file."""
    return tuple(map(_hashable, key)) if isinstance(key, list) else key


def _read(take: Any, folder: Path, operators: Sequence[Operator], functions: Mapping[str, Any]) -> TableFit:
    key, file, notes = take("key"), take("file", str), take("notes", list)
    if Path(file).name != file:  # a file of another folder would be read
        raise FileFormatError(f"a model's file must be in the folder, got {shown(file)}")
    score = take("test_r2")
    model = None
    if file:
        model = PruneSymRegressor._of(load_model(folder / file, operators=operators, functions=functions))
    return TableFit(
        key=_hashable(key),
        model=model,
        seconds=float(take("seconds")),
        error=take("error", str),
        notes=tuple(map(str, notes)),
        test_r2=None if score is None else float(score),
        digest=str(take.record.get("digest", "")),
    )
