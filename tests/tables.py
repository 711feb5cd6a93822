"""Small tables of real measurements: those of the gallery, which says where they are from (docs/gallery/make.py)."""

from pathlib import Path

import numpy as np
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


def star_cluster():
    """Logarithms of the temperature and the light of 47 stars of the cluster CYG OB1; four are red giants (P. J.
    Rousseeuw and A. M. Leroy, Robust Regression and Outlier Detection, 1987; `star` in R's faraway)."""
    # fmt: off
    temp = [
        4.37, 4.56, 4.26, 4.56, 4.3, 4.46, 3.84, 4.57, 4.26, 4.37, 3.49, 4.43, 4.48, 4.01, 4.29, 4.42, 4.23, 4.42,
        4.23, 3.49, 4.29, 4.29, 4.42, 4.49, 4.38, 4.42, 4.29, 4.38, 4.22, 3.48, 4.38, 4.56, 4.45, 3.49, 4.23, 4.62,
        4.53, 4.45, 4.53, 4.43, 4.38, 4.45, 4.5, 4.45, 4.55, 4.45, 4.42,
    ]
    light = [
        5.23, 5.74, 4.93, 5.74, 5.19, 5.46, 4.65, 5.27, 5.57, 5.12, 5.73, 5.45, 5.42, 4.05, 4.26, 4.58, 3.94, 4.18,
        4.18, 5.89, 4.38, 4.22, 4.42, 4.85, 5.02, 4.66, 4.66, 4.9, 4.39, 6.05, 4.42, 5.1, 5.22, 6.29, 4.34, 5.62,
        5.1, 5.22, 5.18, 5.57, 4.62, 5.06, 5.34, 5.34, 5.54, 4.98, 4.5,
    ]
    # fmt: on
    return make_dataset(np.array(temp), np.array(light), names=["temp"], target="light")
