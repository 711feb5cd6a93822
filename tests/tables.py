"""Small tables of real measurements: those of the gallery, which says where they are from (docs/gallery/make.py)."""

from pathlib import Path

import pandas as pd

from prunesymnet.data import make_dataset

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"


def _table(name, **options):
    """A file whose last column is the target."""
    frame = pd.read_csv(GALLERY / f"{name}.csv")
    *columns, target = frame.columns
    y = frame[target].to_numpy(float)
    options = {key: value(y) for key, value in options.items()}
    return make_dataset(frame[columns].to_numpy(float), y, names=columns, target=target, **options)


def nitrogen_pentoxide():
    """How fast N2O5 decays. The errors are relative, so each row has the weight 1/k**2."""
    return _table("n2o5", weights=lambda k: 1 / k**2)


def cars():
    """Speed and stopping distance of 50 cars."""
    return _table("cars")


def stackloss():
    """Loss of ammonia in a plant on 21 days, by air flow, water temperature and acid."""
    return _table("stackloss")


def nile():
    """The flow of the Nile at Aswan in each year from 1871 to 1970."""
    return _table("nile")


def carbon_dioxide():
    """Carbon dioxide in the air at Mauna Loa: the mean of each year, 1959 to 2000."""
    return _table("mauna-loa")
