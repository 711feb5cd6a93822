"""Where a law was missed: is the law's description longer than that of what was returned, on the same rows?

    python -m benchmarks.why                   looks at what was missed of the textbook, and writes it into the rows
    python -m benchmarks.why --file some.jsonl

If it is longer, the rows speak against the law, and no method that goes by them could return it. If it is shorter, the
search has not proposed the law, or has lost it on the way. Both are fitted to the rows that the search was given, with
all numbers free and with round numbers where these make the description shorter, as at the end of a search.
"""

import argparse
from pathlib import Path
from typing import Any

from rich.progress import track

from benchmarks import record
from benchmarks.problems import QUANTITIES
from benchmarks.problems.units import draw_units, in_units
from benchmarks.run import FILE, rows, writing
from benchmarks.trial import Trial, find, tables
from prunesymnet.coefficients import Fit, FitSettings, fit, snap
from prunesymnet.coefficients.description import description_length
from prunesymnet.coefficients.fit import measure
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression, canonical, parse
from prunesymnet.search.error_shares import LARGEST_SHARE, makes_a_difference, share, weight_bits

SETS = QUANTITIES
STARTS = FitSettings(starts=4)  # besides the numbers that the formula comes with


def shortest(formula: Expression, data: Dataset) -> float:
    """The description length of a formula in bits: as it is, with its floats fitted, or with these rounded; with errors
    that are alike in all rows, or shares of the values."""
    lengths = []
    for table in (data, *((data.with_loss("relative"),) if makes_a_difference(data) else ())):
        fitted = fit(formula, table, settings=STARTS)
        readings: list[Fit] = [measure(formula, table), fitted, snap(fitted.expression, table)]
        if table is not data:  # larger ones no search counts as shares
            readings = [reading for reading in readings if share(table, reading.mse) <= LARGEST_SHARE]
        lengths += [description_length(reading, table) + weight_bits(table.weights) for reading in readings]
    return min(lengths)


def diagnosed(row: dict[str, Any]) -> dict[str, Any]:
    """A row with what became of the law; as it is where the law was found, or nothing was returned."""
    trial = Trial.of(row)
    problem = find(trial)
    if problem is None or row["formula"] is None or row.get("form"):
        return row
    data, _ = tables(trial, problem)
    if trial.other_units:  # the formulas of a row are in the problem's own
        back = draw_units(problem.formula.variables, trial.seed)
        data = in_units(data, back.inverse())
    returned = parse(row["formula"], variables=data.names)
    forms = [returned, *([parse(row["fitted"], variables=data.names)] if row.get("fitted") else [])]
    law = shortest(canonical(problem.formula), data)
    other = min(shortest(form, data) for form in forms)
    return row | {"law_bits": law, "returned_bits": other, "why": "longer" if law > other else "shorter"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--again", action="store_true", help="also rows that have been looked at")
    options = parser.parse_args()
    with writing(options.file):
        before = rows(options.file)
        wanted = [row["set"] in SETS and (options.again or "why" not in row) for row in before]
        after = [diagnosed(row) if now else row for row, now in track(list(zip(before, wanted, strict=True)), "why")]
        record.write(options.file, after)
    for row in after:
        if row["set"] in SETS and row.get("why") and not row.get("form"):
            condition = f"noise {row['noise']:g} of the {row.get('noise_of', 'rms')}"
            print(
                f"{row['method']} {row['problem']}, {condition}: the law takes {row['law_bits']:.1f} bits, "
                f"what was returned {row['returned_bits']:.1f}: {row['formula']}"
            )


if __name__ == "__main__":
    main()
