"""Laws that people know, out of the tables they were found in.

Boyle's law is found from the table alone. The other laws are given as forms with free constants: the package fits
them, rounds those that the data allow to be round, and says how sure the others are.
"""

import numpy as np

import prunesymnet as psn
from prunesymnet.progress import Progress
from prunesymnet.search import SearchSettings, search

# table, title, form, and the relative error below which the law is not expected to hold
LAWS = [
    ("planets", "Kepler's third law (1619)", "1.0*semi_major_axis**1.0", 1e-3),
    ("balmer", "Balmer's formula (1885)", "1.0*n**2/(n**2 + 1.0)", 0.0),
    ("hubble", "Hubble's law (1929)", "1.0*distance + 1.0", 0.0),
]


def relative(data: psn.Dataset) -> psn.Dataset:
    """The same table, each row weighted so that errors count in percent of the value."""
    return psn.make_dataset(data.X, data.y, names=data.names, target=data.target, weights=1 / data.y**2)


def search_for_a_law() -> None:
    data, settings = psn.load_example("boyle"), SearchSettings(time_limit=10)
    print(f"Boyle's law (1662): {data.rows} rows of boyle.csv, and no form given")
    with Progress(settings.time_limit) as progress:
        found = search(data, settings, watch=progress)
    print(f"  found   {data.target} = {psn.to_text(found.best.expression, digits=7)}      R² = {found.best.r2:.7g}")
    print(f"          {found.fits} formulas fitted in {found.seconds:.1f} s: {found.status.value}")
    print()


def main() -> None:
    search_for_a_law()
    for name, title, form, noise in LAWS:
        data = psn.load_example(name)
        if np.all(data.y > 0):
            data = relative(data)
        law = psn.snap(psn.parse(form), data, settings=psn.SnapSettings(noise=noise))
        print(f"{title}: {data.rows} rows of {name}.csv")
        print(f"  form    {data.target} = {form}")
        print(f"  found   {data.target} = {psn.to_text(law.expression, digits=7)}      R² = {law.r2:.7g}")
        for estimate in psn.estimate_constants(law.expression, data):
            print(f"          {estimate}")
        print()


if __name__ == "__main__":
    main()
