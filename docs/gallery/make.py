"""The gallery: a formula for each of some well-known tables, its picture, and the page. At the root of the repository:

    python docs/gallery/make.py              searches, and writes docs/gallery/found.json, the pictures and the page
    python docs/gallery/make.py --page       writes the page alone, from the file that is there
    python docs/gallery/make.py trees nile   searches for these alone, and keeps what is there of the others

Every number of the page comes from the file, and the file from searches.
"""

import argparse
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from benchmarks import record
from prunesymnet import Equation
from prunesymnet.catalogue import known_as
from prunesymnet.data import Dataset, make_dataset
from prunesymnet.expression import parse
from prunesymnet.search import PRESETS, search

HERE = Path(__file__).parent
FOUND, PAGE = HERE / "found.json", HERE.parent / "gallery.md"
LIMIT = 20.0  # seconds of one core for a search
SEED = 0
NEARLY_ONE = 0.9999  # an R² above it is written by what it lacks
BLUE, ORANGE = "#0072B2", "#D55E00"
LOOK = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "savefig.dpi": 120,
}


@dataclass(frozen=True)
class Entry:
    """`file` is a table of this folder, whose columns but the target (and its standard errors) explain the target;
    `relative`: its errors are a part of each value. `labels` are those of the picture's axes, of which `log` says
    which are logarithmic."""

    name: str
    title: str
    target: str
    text: str
    source: str
    labels: tuple[str, str] = ("", "")
    error: str = ""
    relative: bool = False
    log: str = ""


ENTRIES = (
    Entry(
        "mercury", "Vapour pressure of mercury", "pressure",
        "The hotter a liquid, the more of it evaporates. Chemists write the pressure as an exponential of the inverse "
        "temperature (Clausius and Clapeyron), or, with one more constant, as Antoine did. The errors are taken to be "
        "a part of each pressure.",
        "Handbook of Chemistry and Physics, CRC Press 1973; `pressure` in R. In kelvin and millimetres of mercury.",
        labels=("temperature [K]", "pressure [mm Hg]"), relative=True, log="y",
    ),
    Entry(
        "n2o5", "Decay of nitrogen pentoxide", "k",
        "How fast a gas falls apart at six temperatures: the rates from which many chemists have learned Arrhenius's "
        "law. The errors are taken to be a part of each rate.",
        "F. Daniels and E. H. Johnston, J. Am. Chem. Soc. 43 (1921) 53. In kelvin and per second.",
        labels=("temperature [K]", "rate [1/s]"), relative=True, log="y",
    ),
    Entry(
        "puromycin", "An enzyme and its substrate", "rate",
        "More substrate makes an enzyme work faster, until all of it is busy.",
        "M. A. Treloar, University of Toronto 1974; the cells treated with puromycin in `Puromycin` of R. In parts per "
        "million and counts per minute squared.",
        labels=("concentration [ppm]", "rate [counts/min²]"),
    ),
    Entry(
        "firas", "The glow of the early universe", "intensity",
        "The spectrum of the cosmic background radiation, the most perfect black body that was ever measured: its "
        "error bars are far smaller than the points. They are known, and the search is given them.",
        "D. J. Fixsen et al., Astrophys. J. 473 (1996) 576, table 4: the monopole that the FIRAS instrument on the "
        "COBE satellite measured. In waves per centimetre and MJy/sr.",
        labels=("wavenumber [1/cm]", "intensity [MJy/sr]"), error="error",
    ),
    Entry(
        "mauna-loa", "Carbon dioxide in the air", "ppm",
        "The mean of each year at Mauna Loa, Hawaii: it grows, and faster every decade. A formula for it is a summary "
        "of these years, not a law.",
        "NOAA, Global Monitoring Laboratory. In parts per million.",
        labels=("year", "carbon dioxide [ppm]"),
    ),
    Entry(
        "cars", "Stopping distances", "dist",
        "How far cars went before they stood still, in the 1920s. Half the answer is the driver (a distance that grows "
        "with the speed), half is the brake (with its square); the scatter hides which.",
        "M. Ezekiel, Methods of Correlation Analysis, Wiley 1930; `cars` in R. In miles per hour and feet.",
        labels=("speed [mph]", "distance [ft]"),
    ),
    Entry(
        "trees", "The timber of a cherry tree", "volume",
        "A trunk is something between a cylinder and a cone, so its volume should go with the square of its girth, "
        "times its height.",
        "T. A. Ryan, B. L. Joiner and B. F. Ryan, The Minitab Student Handbook, 1976; `trees` in R. The diameter "
        "(there called girth) in inches, height in feet, volume in cubic feet.",
        labels=("volume by the formula [ft³]", "volume [ft³]"),
    ),
    Entry(
        "stackloss", "Ammonia lost in a factory", "loss",
        "On 21 days, how much ammonia went up the chimney, by the flow of air, the temperature of the cooling water "
        "and the acid. Statisticians have drawn many a line through it; some days are outliers.",
        "K. A. Brownlee, Statistical Theory and Methodology, Wiley 1960; `stackloss` in R.",
        labels=("loss by the formula", "loss"),
    ),
    Entry(
        "nile", "The flow of the Nile", "flow",
        "A century of yearly flows at Aswan. Statisticians know them for a step near the year 1898; a smooth formula "
        "explains little of that, and R² says so.",
        "`Nile` in R, from G. W. Cobb, Biometrika 65 (1978) 243. In 10⁸ cubic metres.",
        labels=("year", "flow [10⁸ m³]"),
    ),
)  # fmt: skip


def read(entry: Entry) -> Dataset:
    table = pd.read_csv(HERE / f"{entry.name}.csv")
    columns = [name for name in table.columns if name not in (entry.target, entry.error)]
    y = table[entry.target].to_numpy(float)
    errors = {"y_err": table[entry.error].to_numpy(float)} if entry.error else {}
    weights = {"weights": 1 / y**2} if entry.relative else {}
    return make_dataset(table[columns].to_numpy(float), y, names=columns, target=entry.target, **errors, **weights)


def find(entry: Entry) -> dict[str, Any]:
    """What a search finds, as the page shows it; draws its picture, too."""
    data = read(entry)
    settings = replace(PRESETS["default"], time_limit=LIMIT, seed=SEED, workers=1)
    front = search(data, settings, clock=time.process_time).front
    best = front.best
    with plt.rc_context(LOOK):
        draw(entry, data, best)
    return {
        "formula": str(best),
        "named": best.named_text(),
        "constants": [str(constant) for constant in best.constants],
        "r2": best.r2,
        "rows": data.rows,
        "status": front.status,
        "ties": [str(front[i]) for i in front.ties],
        "commit": record.commit(),
    }


def draw(entry: Entry, data: Dataset, best: Equation) -> None:
    """The curve through the points, and where 95% of new measurements would lie; of several columns, what was measured
    against what the formula says."""
    figure, axes = plt.subplots(figsize=(5.4, 3.4))
    if data.features == 1:
        (name,) = data.names
        x = np.linspace(data.X.min(), data.X.max(), 300)
        low, high = best.interval({name: x})
        if np.isfinite(low).all() and np.isfinite(high).all() and data.weights is None:
            axes.fill_between(x, low, high, color=BLUE, alpha=0.15, lw=0)
        axes.plot(x, best.predict({name: x}), color=BLUE)
        axes.plot(data.X, data.y, "o", color=ORANGE, ms=4)
    else:
        values = best.predict(data.columns)
        ends = [min(values.min(), data.y.min()), max(values.max(), data.y.max())]
        axes.plot(ends, ends, color=BLUE)
        axes.plot(values, data.y, "o", color=ORANGE, ms=4)
    axes.set(xlabel=entry.labels[0], ylabel=entry.labels[1])
    if entry.log:
        axes.set_yscale("log")
    figure.savefig(HERE / f"{entry.name}.png", metadata={"Software": None})
    plt.close(figure)


def page(found: dict[str, dict[str, Any]]) -> str:
    """The page, from what was found."""
    parts = [
        "# Gallery",
        "Well-known tables, and the formula that a search finds for each: with its default settings, nothing but the "
        f"table, and {LIMIT:g} s of one core. `make gallery` makes this page; its numbers come from the searches. "
        "Where a formula has a well-known form, it is called by its name; the search does not know these names. Curves "
        "have a band in which 95% of new measurements would lie, unless the rows have weights.",
    ]
    for entry in ENTRIES:
        if entry.name in found:
            parts += section(entry, found[entry.name])
    return "\n\n".join(parts) + "\n"


def section(entry: Entry, row: dict[str, Any]) -> list[str]:
    lines = [row["formula"]]
    lines += ["", row["named"], *(f"  {constant}" for constant in row["constants"])] if row["constants"] else []
    name = known_as(parse(row["formula"].partition(" = ")[2]))
    known = f"Has the form of {name}. " if name else ""
    ties = ", ".join(f"`{tie.partition(' = ')[2]}`" for tie in row["ties"])
    others = f" The data hardly tell it from {ties}." if ties else ""
    return [
        f"## {entry.title}",
        entry.text,
        "```text\n" + "\n".join(lines) + "\n```",
        f"{known}R² = {share(row['r2'])} on {row['rows']} rows.{others}",
        f"![{entry.title}: the table and the formula](gallery/{entry.name}.png){{ width=560 }}",
        f"*[The table](gallery/{entry.name}.csv): {entry.source} Measured at commit {row['commit']}: {row['status']}.*",
    ]


def share(r2: float) -> str:
    """R² with the digits that count: 0.99999999 is not 1."""
    return f"1 - {1 - r2:.0e}" if NEARLY_ONE < r2 < 1 else f"{r2:.4g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="table", help="those to search for (left out: all)")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    known = [entry.name for entry in ENTRIES]
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"tables must be of {', '.join(known)}, got {', '.join(unknown)}")
    found = json.loads(FOUND.read_text()) if FOUND.exists() else {}
    for entry in () if options.page else ENTRIES:
        if not options.names or entry.name in options.names:
            found[entry.name] = find(entry)
            sys.stdout.write(f"{found[entry.name]['formula']}\n")
            FOUND.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(page(found))


if __name__ == "__main__":
    main()
