"""Laws that people know, out of the tables they were found in: from the numbers alone, with no form given."""

import prunesymnet as psn
from prunesymnet.progress import Progress
from prunesymnet.search import SearchSettings, search

LAWS = [
    ("boyle", "Boyle's law (1662)"),
    ("planets", "Kepler's third law (1619)"),
    ("balmer", "Balmer's formula (1885)"),
    ("hubble", "Hubble's law (1929)"),
]


def main() -> None:
    settings = SearchSettings(time_limit=8)
    for name, title in LAWS:
        data = psn.load_example(name)
        with Progress(settings.time_limit) as progress:
            found = search(data, settings, watch=progress)
        law = found.best
        print(f"{title}: {data.rows} rows of {name}.csv")
        print(f"  found   {data.target} = {psn.to_text(law.expression, digits=6)}      R² = {law.r2:.7g}")
        for estimate in psn.estimate_constants(law.expression, data):
            print(f"          {estimate}")
        print(f"          {found.fits:,} formulas fitted in {found.seconds:.1f} s: {found.status.value}")
        print()


if __name__ == "__main__":
    main()
