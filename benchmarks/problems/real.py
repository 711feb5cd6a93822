"""Real tables with no known formula: what counts is R² on a quarter of the rows, held out.

They come inside installed packages (scikit-learn, statsmodels, and `faraway`, the data of Julian Faraway's books):
nothing is downloaded when one is loaded, and no copy of them is kept here. The last two packages are optional:
`pip install 'prunesymnet[bench]'`.

Every table is made ready alike. Rows with a missing value are dropped, then columns with one value in every row. A
column of k words becomes k - 1 columns of 0 and 1; where all of them are 0, it is the first word of the alphabet. Names
that formulas can't have are repaired (`pass` becomes `pass_`).

>>> flowers = load_real("iris")
>>> flowers
Dataset(petal_width_cm from sepal_length_cm, sepal_width_cm, petal_length_cm; 150 rows)
>>> [part.rows for part in split(flowers, seed=0)]
[112, 38]
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

import pandas as pd
from pandas.api.types import is_numeric_dtype

from prunesymnet.data import Dataset, from_frame

HELD_OUT = 0.25


@dataclass(frozen=True)
class Table:
    """A data set of a package: which column to explain, which rows to take, and what must not explain it."""

    package: str  # one of `READERS`
    name: str  # in that package, and here
    target: str
    without: tuple[str, ...] = ()  # identifiers, other targets, what is worked out from the target or from the rest
    rows: str = ""  # those to keep, as `DataFrame.query` reads it


# Products that the table of schools has beside their factors.
INTERACTIONS = (
    "PERMINTE_AVYRSEXP", "PERMINTE_AVSAL", "AVYRSEXP_AVSAL", "PERSPEN_PTRATIO", "PERSPEN_PCTAF", "PTRATIO_PCTAF",
    "PERMINTE_AVYRSEXP_AVSAL", "PERSPEN_PTRATIO_PCTAF",
)  # fmt: skip
MEASURED = "glucose > 0 and diastolic > 0 and triceps > 0 and insulin > 0 and bmi > 0"  # 0 says that nobody did

TABLES = (
    Table("scikit-learn", "diabetes", "target"),
    Table("scikit-learn", "iris", "petal width (cm)", ("target",)),  # the species, as a number
    Table("scikit-learn", "wine", "alcohol", ("target",)),  # the grower, as a number
    Table("statsmodels", "anes96", "selfLR", ("logpopul",)),  # the population once more
    Table("statsmodels", "cancer", "cancer"),
    Table("statsmodels", "elnino", "DEC", ("YEAR",)),  # December from the months before it
    Table("statsmodels", "engel", "foodexp"),
    Table("statsmodels", "fair", "yrs_married", ("affairs",)),  # worked out per year of marriage
    Table("statsmodels", "grunfeld", "invest", ("firm",)),  # eleven names: a formula would be one per firm
    Table("statsmodels", "macrodata", "unemp", ("realint",)),  # the difference of two others
    Table("statsmodels", "star98", "LOWINC", ("NABOVE", "NBELOW", *INTERACTIONS)),  # those two are the study's targets
    Table("faraway", "air", "pass"),
    Table("faraway", "cars", "dist"),
    Table("faraway", "cornnit", "yield"),
    # Children are numbered by height, and the height midway between the parents is worked out from theirs.
    Table("faraway", "families", "childHeight", ("family", "midparentHeight", "childNum")),
    Table("faraway", "fat", "brozek", ("siri", "density", "free")),  # one weighing under water gave them all
    Table("faraway", "fruitfly", "longevity"),
    Table("faraway", "gammaray", "flux", ("error",)),  # of the flux, and it grows with it
    Table("faraway", "globwarm", "nhtemp"),
    Table("faraway", "jsp", "math", ("school", "class", "id", "year"), "year == 0"),  # a pupil has a row per year
    Table("faraway", "kanga", "mandible_length"),
    Table("faraway", "newhamp", "pObama", ("Obama", "Clinton", "dem")),  # the votes whose share is the target
    Table("faraway", "ozone", "O3"),
    Table("faraway", "pima", "glucose", ("test",), MEASURED),  # the diagnosis, made from the glucose
    Table("faraway", "pipeline", "Lab", ("Batch",)),  # a new pipe has none of these six
    Table("faraway", "prostate", "lpsa"),
    Table("faraway", "sat", "total", ("verbal", "math")),  # its two parts
    Table("faraway", "star", "light"),
    Table("faraway", "tvdoctor", "life"),
    Table("faraway", "whiteside", "Gas"),
)


def names() -> tuple[str, ...]:
    """What `load_real` can be asked for."""
    return tuple(table.name for table in TABLES)


def absent_tables() -> dict[str, str]:
    """The tables whose package is not installed, and what to do about it."""
    modules = {"scikit-learn": "sklearn"}
    absent = {name for name in READERS if find_spec(modules.get(name, name)) is None}
    return {
        table.name: f"the tables of {table.package} are left out: pip install 'prunesymnet[bench]' brings them"
        for table in TABLES
        if table.package in absent
    }


def load_real(name: str) -> Dataset:
    """A table by name, ready for a fit."""
    table = next((table for table in TABLES if table.name == name), None)
    if table is None:
        raise ValueError(f"no real table is named {name!r}; there are {', '.join(names())}")
    try:
        frame = READERS[table.package](name)
    except ModuleNotFoundError as problem:
        raise ModuleNotFoundError(
            f"the table {name!r} comes with {table.package}, which is not installed: pip install 'prunesymnet[bench]'"
        ) from problem
    return _ready(frame, table)


def split(data: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """The rows to fit and the quarter to be judged on, drawn by the seed."""
    return data.split(HELD_OUT, seed)


def _ready(frame: pd.DataFrame, table: Table) -> Dataset:
    chosen = frame.query(table.rows) if table.rows else frame
    whole = chosen.drop(columns=list(table.without)).dropna()
    words = [column for column in whole if not is_numeric_dtype(whole[column])]
    numbers = pd.get_dummies(whole, columns=words, drop_first=True, dtype=float)
    return from_frame(numbers.loc[:, numbers.nunique() > 1], table.target, repair=True)


def _scikit_learn(name: str) -> pd.DataFrame:
    # The columns of diabetes come scaled to small numbers around 0, unless one asks for what was measured.
    measured = {"scaled": False} if name == "diabetes" else {}
    return getattr(import_module("sklearn.datasets"), f"load_{name}")(as_frame=True, **measured).frame


def _statsmodels(name: str) -> pd.DataFrame:
    return import_module(f"statsmodels.datasets.{name}").load_pandas().data


def _faraway(name: str) -> pd.DataFrame:
    return import_module(f"faraway.datasets.{name}").load()


READERS: dict[str, Callable[[str], pd.DataFrame]] = {
    "scikit-learn": _scikit_learn,
    "statsmodels": _statsmodels,
    "faraway": _faraway,
}
