"""Well-known laws from the tables that they were found in: from the numbers alone, with no form given."""

import typer

from prunesymnet.cli.printing import constants_text
from prunesymnet.data import load_example
from prunesymnet.runs import run
from prunesymnet.search import SearchSettings

LAWS = {
    "boyle": "Boyle's law (1662)",
    "planets": "Kepler's third law (1619)",
    "balmer": "Balmer's formula (1885)",
    "hubble": "Hubble's law (1929)",
}


def find_laws(time_limit: float) -> None:
    for name, title in LAWS.items():
        data = load_example(name)
        (front,) = run([data], SearchSettings(time_limit=time_limit)).fronts
        typer.echo(f"{title}: {data.rows} rows of {name}.csv")
        typer.echo(f"  found   {front.best}      R² = {front.best.r2:.7g}")
        for line in constants_text(front.best):
            typer.echo(f"          {line}")
        typer.echo(f"          {front.fits:,} formulas fitted in {front.seconds:.1f} s: {front.status}\n")
