"""Curves and laws from textbooks, why some are missed with noise, and problems in other units or beside columns that
have nothing to do with them."""

import pandas as pd

from benchmarks.conditions import FURTHER, LIMIT, POINTS, TEXTBOOK_LIMIT, TEXTBOOK_POINTS
from benchmarks.methods.registry import title
from benchmarks.problems import load
from benchmarks.statistics import methods_in, of
from benchmarks.tables.layout import HEADS, Table, called, count, seconds, with_heads

SETS = ("textbook", "textbook-fair")
PARTS = {"value": "of each value", "spread": "of the spread"}  # what noise is a part of, as people read it
CONDITIONS = f"{TEXTBOOK_POINTS} points, {TEXTBOOK_LIMIT:g} s on one core, seed 0"
WORD = {"longer": "the law's description is longer", "shorter": "the law's description is shorter"}


def first_runs(runs: pd.DataFrame, *sets: str) -> pd.DataFrame:
    """On the points and in the seconds of the textbook's curves."""
    usual = (runs["points"] == TEXTBOOK_POINTS) & (runs["limit"] == TEXTBOOK_LIMIT) & (runs["span"] == "")
    return runs[usual & (runs["seed"] == 0) & runs["set"].isin(sets)]


def textbook(runs: pd.DataFrame) -> Table | None:
    """What each method finds, without noise and with errors of both kinds."""
    chosen = first_runs(runs, *SETS).sort_values("noise", kind="stable")
    lines = []
    for method in methods_in(chosen):
        own = of(chosen, method)
        line = {"method": called(own, method)}
        for group in SETS:
            exact = own[(own["set"] == group) & (own["noise"] == 0)]
            line[f"{HEADS[group]}, exact"] = count(exact["recovered"])
        known = own[own["set"] == "textbook"]
        for kind, words in PARTS.items():
            for noise, part in known[(known["noise_of"] == kind) & (known["noise"] > 0)].groupby("noise"):
                line[f"{noise:.0%} {words}"] = count(part["form"])
        lines.append(line | {"median time, exact": seconds(known.loc[known["noise"] == 0, "seconds"].median())})
    caption = (
        f"Curves and laws from textbooks ({len(load('textbook'))}, and {len(load('textbook-fair'))} more for which "
        "nothing was made): recovered where points are exact, and with the right form where they have errors, of a "
        f"part of each value or of a part of the target's standard deviation; {CONDITIONS}."
    )
    return Table("Curves from textbooks", caption, with_heads(lines), chosen) if lines else None


def si(runs: pd.DataFrame) -> Table | None:
    """Laws in SI units, without noise and with errors of a part of each value."""
    usual = (runs["points"] == POINTS) & (runs["limit"] == LIMIT) & (runs["seed"] == 0)
    chosen = runs[usual & (runs["set"] == "si")]
    lines = _exact_and_noisy(chosen)
    caption = (
        f"{len(load('si'))} laws of physics and chemistry in SI units, with the constants of nature as numbers and "
        "columns over many decades: recovered where points are exact, and with the right form where they have errors "
        f"of a part of each value; {POINTS} points, {LIMIT:g} s on one core, seed 0."
    )
    return Table("Laws in SI units", caption, with_heads(lines), chosen) if lines else None


def laboratory(runs: pd.DataFrame) -> Table | None:
    return _more_laws(runs, "laboratory", "Laws of a laboratory", "hydraulics to psychology")


def handbook(runs: pd.DataFrame) -> Table | None:
    return _more_laws(runs, "handbook", "Laws from handbooks", "finance to linguistics")


def _more_laws(runs: pd.DataFrame, group: str, heading: str, fields: str) -> Table | None:
    """Laws with ordinary constants from many fields, without noise and with errors of both kinds."""
    chosen = first_runs(runs, group)
    lines = _exact_and_noisy(chosen)
    caption = (
        f"{len(load(group))} more laws from {fields}, with ordinary constants and ranges: "
        "recovered where points are exact, and with the right form where they have errors, of a part of each value or "
        f"of a part of the target's standard deviation; {CONDITIONS}."
    )
    return Table(heading, caption, with_heads(lines), chosen) if lines else None


def spectra(runs: pd.DataFrame) -> Table | None:
    """Sums of peaks, decays and steps, without noise and with errors of a part of the spread."""
    usual = (runs["points"] == POINTS) & (runs["limit"] == TEXTBOOK_LIMIT) & (runs["seed"] == 0)
    chosen = runs[usual & (runs["set"] == "spectra")]
    lines = _exact_and_noisy(chosen)
    caption = (
        f"{len(load('spectra'))} sums of curves of one column, two to four Gaussian lines or other peaks, decays and "
        "steps, with constants drawn at random: recovered where points are exact, and with the right form where they "
        f"have errors of a part of the target's standard deviation; {POINTS} points, {TEXTBOOK_LIMIT:g} s on one core, "
        "seed 0."
    )
    return Table("Spectra", caption, with_heads(lines), chosen) if lines else None


def _exact_and_noisy(chosen: pd.DataFrame) -> list[dict[str, str]]:
    """A line for each method: what it finds without noise and with it, and in how many seconds (medians)."""
    lines = []
    for method in methods_in(chosen):
        own = of(chosen, method).sort_values("noise", kind="stable")
        exact, noisy = own[own["noise"] == 0], own[own["noise"] > 0]
        line = {"method": called(own, method), "exact": count(exact["recovered"])}
        for (noise, kind), part in noisy.groupby(["noise", "noise_of"]):
            line[f"{noise:.0%} {PARTS[str(kind)]}"] = count(part["form"])
        times = {"median time, exact": exact, "with noise": noisy}
        lines.append(line | {name: seconds(part["seconds"].median()) for name, part in times.items()})
    return lines


def why(runs: pd.DataFrame) -> Table | None:
    """Of the laws that were missed: could a search have known?"""
    chosen = first_runs(runs, "textbook")
    chosen = chosen[(chosen["method"] == "ours") & ~chosen["form"] & chosen["why"].isin(list(WORD))]
    lines = []
    for (noise, kind), part in chosen.groupby(["noise", "noise_of"]):
        names = {why: sorted(own["problem"]) for why, own in part.groupby("why")}
        cells = {word: _listed(names.get(why, [])) for why, word in WORD.items()}
        lines.append({"noise": f"{noise:g} {PARTS.get(str(kind), '')}".strip(), "missed": str(len(part)), **cells})
    caption = (
        f"Where {title('ours')} returns another form than the law's: both fitted to the same rows, whose description "
        "is longer? Where the law's is, the rows speak against it, and no method that goes by them could return it. "
        "Where it is shorter, the search has not proposed the law, or has lost it on the way."
    )
    return Table("Why laws were missed", caption, with_heads(lines), chosen) if lines else None


def _listed(names: list[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if names else "0"


def units(runs: pd.DataFrame) -> Table | None:
    """The same problems as they are and with every column and the target times a random power of ten."""
    chosen = _usual_conditions(runs)
    chosen = chosen.assign(at=["in other units" if other else "as they are" for other in chosen["other_units"]])
    caption = (
        "Problems as they are, and with every column and the target times a random power of ten between 1e-30 and "
        "1e30: how many are recovered, and in how many seconds (median). What is found is judged in the units of the "
        f"problem; without noise, {_conditions_in_words()}."
    )
    return _both_ways("Other units", caption, chosen)


def unrelated(runs: pd.DataFrame) -> Table | None:
    """The same problems beside columns that have nothing to do with the target."""
    chosen = _usual_conditions(runs)
    chosen = chosen.assign(at=[f"{number:g} more" if number else "as they are" for number in chosen["unrelated"]])
    caption = (
        "Problems as they are, and beside columns that have nothing to do with the target, of any size: how many are "
        f"recovered, and in how many seconds (median); without noise, {_conditions_in_words()}."
    )
    return _both_ways("Unrelated columns", caption, chosen)


def _conditions_in_words() -> str:
    return f"{POINTS} points and {LIMIT:g} s ({TEXTBOOK_POINTS} and {TEXTBOOK_LIMIT:g} s for the textbook's), seed 0"


def _usual_conditions(runs: pd.DataFrame) -> pd.DataFrame:
    """Ours without noise, on the usual points of each set and with its usual seconds."""
    plain = (runs["points"] == POINTS) & (runs["limit"] == LIMIT) & runs["set"].isin(("paper", *FURTHER))
    curves = (runs["points"] == TEXTBOOK_POINTS) & (runs["limit"] == TEXTBOOK_LIMIT) & runs["set"].isin(SETS)
    first = (runs["noise"] == 0) & (runs["seed"] == 0) & (runs["span"] == "") & (runs["method"] == "ours")
    return runs[(plain | curves) & first].sort_values(["unrelated", "other_units"], kind="stable")


def _both_ways(heading: str, caption: str, chosen: pd.DataFrame) -> Table | None:
    """A line for each set: what is recovered at each value of the column `at`, of the problems tried at all."""
    ways = list(dict.fromkeys(chosen["at"]))
    if len(ways) < 2:
        return None
    tried = chosen.groupby(["set", "problem"])["at"].transform("nunique") == len(ways)
    used = chosen[tried]
    lines = []
    for group in ("paper", *FURTHER, *SETS):
        own = used[used["set"] == group]
        if own.empty:
            continue
        parts = {way: own[own["at"] == way] for way in ways}
        found = {way: count(part["recovered"]) for way, part in parts.items()}
        times = {f"seconds, {way}": seconds(part["seconds"].median()) for way, part in parts.items()}
        lines.append({"set": HEADS.get(group, "the paper's"), **found, **times})
    return Table(heading, caption, with_heads(lines), used) if lines else None
