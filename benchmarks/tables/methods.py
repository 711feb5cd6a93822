"""Methods beside each other on known formulas: by set, noise, points and seconds."""

import pandas as pd

from benchmarks.conditions import FURTHER, LIMIT, POINTS, RANDOM
from benchmarks.methods.ours import WITH_UNITS
from benchmarks.methods.registry import METHODS, REFERENCES, RIVALS, SHOWN
from benchmarks.problems import load, units_of
from benchmarks.problems.random_formulas import GRADES, VARIABLES
from benchmarks.statistics import CLOSE, MACHINE, holm, machine_words, mcnemar, methods_in, of, plain, sizes
from benchmarks.tables.layout import Table, by_data_set, called, count, interval, probability, seconds, with_heads

EVEN = f"{POINTS} points, {LIMIT:g} s on one core, seed 0"


def at_limit(runs: pd.DataFrame, *sets: str) -> pd.DataFrame:
    """The runs of the named methods with the usual points and the same seconds for all, at any noise."""
    return plain(runs[runs["method"].isin(SHOWN) & (runs["limit"] == LIMIT)], *sets)


def first_at_limit(runs: pd.DataFrame, *sets: str) -> pd.DataFrame:
    chosen = at_limit(runs, *sets)
    return chosen[chosen["seed"] == 0]


def against_ours(first: pd.DataFrame) -> dict[str, float]:
    """McNemar's p-value of each method against ours on the problems that both have, corrected for their number."""
    ours = of(first, "ours").set_index("problem")["recovered"]
    values = {}
    for method in methods_in(first):
        both = pd.concat([ours, of(first, method).set_index("problem")["recovered"]], axis=1, join="inner").to_numpy()
        if method != "ours" and len(both):
            values[method] = mcnemar(both[:, 0], both[:, 1])
    return holm(values)


def methods(runs: pd.DataFrame) -> Table | None:
    """All methods at each level of noise: what they recover, how sure that is, and how long they take."""
    every_seed = at_limit(runs, "paper")
    lines = []
    for noise, first in every_seed[every_seed["seed"] == 0].groupby("noise"):
        values = against_ours(first)
        for method in methods_in(first):
            own = of(first, method)
            seeds = of(every_seed[every_seed["noise"] == noise], method)
            lines.append(
                {"noise": f"{noise:g}", "method": called(own, method), **by_data_set(own, "recovered", sizes())}
                | {
                    "all": count(own["recovered"]),
                    "strictly": count(own["strict"], len(own)),
                    "95%": interval(own["recovered"]),
                    "all seeds": count(seeds["recovered"]) if seeds["seed"].nunique() > 1 else "",
                    "right form": count(own["form"], len(own)),
                    f"R² > {CLOSE:g}": count(own["r2"] > CLOSE, len(own)),
                    "median time": seconds(own["seconds"].median()),
                    "failed": count(own["status"] != "done", len(own)),
                    "p": probability(values.get(method)),
                    "machine": _machines(own),
                }
            )
    caption = (
        f"The paper's expressions recovered by each method: {EVEN}. Noise is a part of the target's root mean square. "
        "*Strictly*: the same formula but for rounding. *95%*: Wilson's interval of the total. *Right form*: recovered "
        "once its floats are fitted to points without noise. *p*: exact McNemar test against PruneSymNet on the same "
        "problems, Holm-corrected over the methods of a noise level. *Failed*: runs without an answer."
    )
    return Table("Methods", caption, with_heads(lines), every_seed) if lines else None


def _machines(runs: pd.DataFrame) -> str:
    return "; ".join(machine_words(*line) for line in runs[MACHINE].dropna().drop_duplicates().itertuples(index=False))


def rivals(runs: pd.DataFrame) -> Table:
    """What each method is, in words."""
    lines = [
        {"method": METHODS[name].title, "package": METHODS[name].package, "what it is": METHODS[name].about}
        for name in (*SHOWN, *REFERENCES)
    ]
    return Table("The methods", "What each method is.", with_heads(lines), runs.iloc[:0])


def further(runs: pd.DataFrame) -> Table | None:
    """The other sets of formulas."""
    caption = (
        f"Further sets, without noise: recovered (with R² > {CLOSE:g}) of how many, and how many of all strictly; "
        f"{EVEN}."
    )
    return _by_part("Further sets", caption, runs, {name: name for name in FURTHER})


def random(runs: pd.DataFrame) -> Table | None:
    """The random formulas, by their number of variables and by their grade."""
    chosen = runs[runs["set"] == RANDOM]
    variables, grades = (chosen["problem"].str.split("-").str[part] for part in (2, 3))
    caption = (
        f"The random formulas of this release ({RANDOM}), without noise, by their number of variables and by grade "
        f"(operators beyond one for each variable): recovered (with R² > {CLOSE:g}) of how many, and how "
        f"many of all strictly; {EVEN}."
    )
    by_variables = _by_part(
        "Random formulas", caption, chosen.assign(group=variables), {f"{v}v": _few(v) for v in VARIABLES}
    )
    by_grade = _by_part(
        "Random formulas", caption, chosen.assign(group=grades), {f"grade{g}": f"grade {g}" for g in GRADES}
    )
    if by_variables is None or by_grade is None:
        return None
    left, right = by_variables.cells, by_grade.cells
    cells = pd.concat([left.drop(columns=["all", "strictly", "95%"]), right.drop(columns="method")], axis=1)
    return by_variables._replace(cells=cells)


def _few(variables: int) -> str:
    return "1 variable" if variables == 1 else f"{variables} variables"


def _by_part(heading: str, caption: str, runs: pd.DataFrame, parts: dict[str, str]) -> Table | None:
    """A line for each method, with a column for each part (a value of `group`) of the problems."""
    chosen = first_at_limit(runs, *FURTHER, RANDOM)
    chosen = chosen[(chosen["noise"] == 0) & chosen["group"].isin(parts)]

    def cell(own: pd.DataFrame) -> str:
        return f"{own['recovered'].sum()} ({(own['r2'] > CLOSE).sum()}) of {len(own)}" if len(own) else ""

    lines = []
    for method in methods_in(chosen):
        own = of(chosen, method)
        cells = {
            head: cell(own[own["group"] == part]) for part, head in parts.items() if (chosen["group"] == part).any()
        }
        lines.append(
            {"method": called(own, method), **cells, "all": cell(own), "strictly": count(own["strict"], len(own))}
            | {"95%": interval(own["recovered"])}
        )
    return Table(heading, caption, with_heads(lines), chosen) if lines else None


def _spread(chosen: pd.DataFrame, kinds: tuple[str, ...] = ("recovered",)) -> list[dict[str, str]]:
    """Lines for each method that was tried at more than one value of the column `at`, with a count for each value."""
    words = {"recovered": "recovered", "form": "right form"}
    full = sum(sizes().values())
    lines = []
    for method in methods_in(chosen):
        own = of(chosen, method)
        if own["at"].nunique() < 2:
            continue
        for kind in kinds:
            cells = {at: count(own.loc[own["at"] == at, kind], full) for at in dict.fromkeys(chosen["at"])}
            lines.append({"method": called(own, method), "": words[kind], **cells})
    return lines


def noise(runs: pd.DataFrame) -> Table | None:
    """What is left when the points are not exact."""
    chosen = first_at_limit(runs, "paper")
    chosen = chosen.sort_values("noise").assign(at=lambda runs: runs["noise"].map("{:g}".format))
    lines = _spread(chosen, ("recovered", "form"))
    caption = (
        f"The paper's expressions at several levels of noise; {EVEN}. A free constant is rarely right to 1e-4 where "
        "points are noisy: *right form* says what is recovered once floats are fitted to points without noise."
    )
    return Table("Noise", caption, with_heads(lines), chosen) if lines else None


def noise_by_seed(runs: pd.DataFrame) -> Table | None:
    """Ours with noise, seed by seed: points and noise are other ones."""
    own = of(at_limit(runs, "paper"), "ours")
    chosen = own[own["noise"] > 0].sort_values(["noise", "seed"])
    lines = []
    for noise, part in chosen.groupby("noise"):
        seeds = part.groupby("seed")["form"]
        mean = {"noise": f"{noise:g}", "mean": f"{part['form'].mean() * sum(sizes().values()):.1f}"}
        lines.append(mean | {f"seed {seed:g}": count(form, sum(sizes().values())) for seed, form in seeds})
    caption = (
        f"How many of the paper's {sum(sizes().values())} expressions PruneSymNet returns in the right form, with "
        f"other points and other noise for each seed; {POINTS} points, {LIMIT:g} s on one core."
    )
    return Table("Noise, seed by seed", caption, with_heads(lines), chosen) if lines else None


def told_units(runs: pd.DataFrame) -> Table | None:
    """The Feynman laws without and with the units of their columns."""
    usual = (runs["limit"] == LIMIT) & (runs["seed"] == 0) & runs["method"].isin(("ours", *WITH_UNITS))
    known = runs["problem"].isin([problem.name for problem in load("feynman") if units_of(problem.name, "target")])
    chosen = plain(runs[usual & known], "feynman").sort_values("noise")
    lines = []
    for method in ("ours", *WITH_UNITS):
        for noise, part in of(chosen, method).groupby("noise"):
            both = {"recovered": count(part["recovered"]), "right form": count(part["form"])}
            times = {"median seconds": seconds(part["seconds"].median()), "in all": seconds(part["seconds"].sum())}
            lines.append({"method": called(part, method), "noise": f"{noise:g}"} | both | times)
    caption = (
        "The Feynman laws without the units of their columns and with them, at several levels of noise: how many are "
        f"recovered, and in how many seconds; {EVEN}."
    )
    told = set(chosen["method"]) & set(WITH_UNITS)
    return Table("Told the units", caption, with_heads(lines), chosen) if told else None


def outliers(runs: pd.DataFrame) -> Table | None:
    """What gross outliers do to squares, and to a loss that bounds them."""
    usual = (runs["limit"] == LIMIT) & (runs["noise"] == 0) & (runs["seed"] == 0)
    chosen = plain(runs[usual & runs["method"].isin(("ours", "huber"))], "paper").sort_values("outliers")
    lines = []
    for method in ("ours", "huber"):
        own = of(chosen, method)
        if own["outliers"].nunique() > 1:
            parts = own.groupby("outliers")["form"]
            cells = {f"{share:.0%} outliers": count(form, sum(sizes().values())) for share, form in parts}
            lines.append({"method": called(own, method)} | cells)
    caption = (
        "The paper's expressions where some rows are moved by 10 to 30 standard deviations of the target: how many "
        f"have the right form; {EVEN}."
    )
    return Table("Outliers", caption, with_heads(lines), chosen) if lines else None


def points(runs: pd.DataFrame) -> Table | None:
    """What is left when there are fewer points, or when they lie closer together."""
    chosen = runs[(runs["set"] == "paper") & (runs["noise"] == 0) & (runs["limit"] == LIMIT) & (runs["seed"] == 0)]
    chosen = chosen[chosen["method"].isin(SHOWN)].sort_values(["span", "points"])
    where = zip(chosen["points"], chosen["span"], strict=True)
    lines = _spread(chosen.assign(at=[f"{number:g} in {span}" if span else f"{number:g}" for number, span in where]))
    caption = (
        f"The paper's expressions with several numbers of points, and with all variables in one range; {LIMIT:g} s on "
        "one core, without noise, seed 0."
    )
    return Table("Points", caption, with_heads(lines), chosen) if lines else None


def limits(runs: pd.DataFrame) -> Table | None:
    """What more time gives."""
    timed = runs[runs["method"].isin(("ours", *RIVALS))]
    chosen = plain(timed[timed["seed"] == 0], "paper")
    chosen = chosen.sort_values("limit").assign(at=lambda runs: runs["limit"].map("{:g} s".format))
    lines = []
    for level, part in chosen.groupby("noise"):
        kinds = ("recovered", "form") if level else ("recovered",)
        lines += [{"noise": f"{level:g}"} | line for line in _spread(part, kinds)]
    caption = f"The paper's expressions with several time limits; {POINTS} points, one core, seed 0."
    return Table("Time limits", caption, with_heads(lines), chosen) if lines else None


def ratios(runs: pd.DataFrame) -> pd.DataFrame:
    """How many times longer than ours each method took for each problem that both have on the same machine: its first
    run there beside the median of ours."""
    chosen = at_limit(runs, "paper")
    chosen = chosen[chosen["noise"] == 0]
    ours = (
        of(chosen, "ours")
        .groupby(["problem", "machine"], as_index=False)
        .agg({"seconds": "median", "recovered": "all"})
    )
    rivals = chosen[(chosen["method"] != "ours") & (chosen["seed"] == 0)]
    both = rivals.merge(ours, on=["problem", "machine"], suffixes=("", "_ours"))
    return both.assign(ratio=both["seconds"] / both["seconds_ours"], both=both["recovered"] & both["recovered_ours"])


def times(runs: pd.DataFrame) -> Table | None:
    """How much longer the others take."""
    paired = ratios(runs)
    lines = []
    for method in methods_in(paired):
        own = of(paired, method)
        alike = own[own["both"]]
        lines.append(
            {
                "method": called(own, method),
                "median time": seconds(own["seconds"].median()),
                "PruneSymNet": seconds(own["seconds_ours"].median()),
                "median ratio": f"{own['ratio'].median():.3g}",
                "problems": str(len(own)),
                "ratio where both recover": f"{alike['ratio'].median():.3g}" if len(alike) else "",
                "of these": str(len(alike)),
            }
        )
    caption = (
        "How many times longer than PruneSymNet a method takes: the median of the ratios, problem by problem; without "
        f"noise, {EVEN}, both on the same machine. A method that does not know when it is done takes all it has."
    )
    return Table("Seconds", caption, with_heads(lines), paired) if lines else None
