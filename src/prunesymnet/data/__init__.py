"""Arrays, frames and files to one checked, immutable table: the ``Dataset``.

Whatever way a Dataset comes about, it passes the same checks. What can't be used is a ``DataError``, what
can but looks wrong is a ``DataWarning``; both name the column and the row and say what to do. Nothing is
dropped or filled in silently. Rows are counted from 1, as a reader counts them.

>>> planets = load_example("planets")
>>> planets
Dataset(period from semi_major_axis; 9 rows)
>>> train, holdout = planets.split(0.25, seed=1)
>>> train.rows, holdout.rows
(7, 2)
>>> make_dataset([[1.0], [float("nan")]], [1.0, 2.0], names=["mass"])
Traceback (most recent call last):
...
prunesymnet.errors.DataError: column 'mass': no value (NaN) in row 2; drop or fill what is missing first
"""

from prunesymnet.data.categories import indicators_like, with_indicators
from prunesymnet.data.checks import check_finite, repair_names
from prunesymnet.data.dataset import Dataset, from_frame, make_dataset
from prunesymnet.data.files import EXAMPLES, Table, load_example, read_frame, read_table
from prunesymnet.data.losses import loss_of
from prunesymnet.data.neighbours import weighted_around, weighted_by_neighbours
from prunesymnet.data.rows import distinct_rows

__all__ = [
    "EXAMPLES",
    "Dataset",
    "Table",
    "check_finite",
    "distinct_rows",
    "from_frame",
    "indicators_like",
    "load_example",
    "loss_of",
    "make_dataset",
    "read_frame",
    "read_table",
    "repair_names",
    "weighted_around",
    "weighted_by_neighbours",
    "with_indicators",
]
