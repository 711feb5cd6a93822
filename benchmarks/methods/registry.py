"""Every method that is compared, one record each: the only place that knows them.

A rival is one module with `fit(data, seconds, seed) -> Expression` and one record here. Plans, tables and figures read
the records; their order here is the order there. What is no search for a formula may give a `Prediction` instead, and
is shown beside the others on the real tables alone: a *reference*, by which a reader sees what a formula costs.
"""

from dataclasses import dataclass

from benchmarks.conditions import HOUR, LIMIT, LONG

ALL = "+ - * / sin cos exp log sqrt, squares"  # the operators of our default search
WITHOUT = "without-"  # and a mechanism: the default search with that switched off


@dataclass(frozen=True)
class Method:
    """`name` is what runs are filed under, `title` what people read. `module` is one of benchmarks.methods; `package`
    is what it needs from PyPI, `program` a command it needs, `install` what brings them. `limit` is its usual time in
    seconds. `everywhere`: it is strong enough to be run on the further sets, the random formulas and the real tables.
    `ready`: nothing is left to load or compile in its first fit. `printed` is its name in the paper's tables, and
    `column` its column in problems/paper.csv. A method without a colour is only in the tables that ask for it.
    `operators` are those it is given, `ends` says what ends a fit, besides the time, and `better_of` names the methods
    of which this is, condition by condition, the better one: it has no runs of its own. `reference`: it does not search
    for a formula, and is compared on the real tables alone."""

    name: str
    title: str
    module: str
    about: str
    package: str = ""
    program: str = ""
    install: str = "pip install 'prunesymnet[bench]'"
    limit: float = LIMIT
    everywhere: bool = False
    ready: bool = False
    printed: str = ""
    column: str = ""
    colour: str = ""
    mark: str = ""
    operators: str = ALL
    ends: str = ""
    better_of: tuple[str, ...] = ()
    reference: bool = False


PAPERS = "+ - * / sin cos exp log, squares"

# The colours are Okabe and Ito's, which can be told apart by everyone; yellow is too pale for lines.
_RECORDS = (
    Method(
        "ours", "PruneSymNet", "ours",
        "The default search.",
        operators=f"{ALL}; exp(y*log(x)) is written x**y", ends="exact, or nothing left but noise",
        everywhere=True, colour="#0072B2", mark="o",
    ),
    Method(
        "with-units", "PruneSymNet, told the units", "ours",
        "The default search with the units of columns and target; constants may carry units.",
    ),
    Method(
        "with-pure-numbers", "PruneSymNet, told the units; constants are pure numbers", "ours",
        "The same with `constant_units=False`.",
    ),
    Method("huber", "PruneSymNet, Huber's loss", "ours", "The default search with `loss=\"huber\"`."),
    Method(
        "paper", "paper preset", "ours",
        "The paper's method to the letter: one network is trained for 3,000 epochs and pruned by beam search. It has "
        "no `sqrt`.",
        limit=LONG, printed="PruneSymNet", column="prunesymnet", colour="#4BA3DB", mark="D",
        operators=PAPERS, ends="3,000 epochs",
    ),
    Method(
        "paper+", "paper preset with our differences", "ours",
        "The same with what we would do better: docs/the-paper.md lists it.",
        limit=LONG, operators=PAPERS, ends="3,000 epochs",
    ),
    Method("paper-1000", "complete", "ours", "The paper's method with 1,000 epochs, for its ablation.", limit=LONG,
           operators=PAPERS, ends="1,000 epochs"),
    Method("no-gradient-1000", "no gradient steps", "ours", "The same without gradient steps.", limit=LONG,
           operators=PAPERS, ends="1,000 epochs"),
    Method("random-pruning-1000", "random pruning", "ours", "The same with random pruning.", limit=LONG,
           operators=PAPERS, ends="1,000 epochs"),
    Method(
        "eql", "EQL", "eql",
        "Kim et al. 2020 with the division of Sahoo et al. 2018 in its last layer, written anew: our network without "
        "pruning. Every operand is a weighted sum of all nodes before it, the output a quotient of two such sums (in "
        "every other round), a smoothed L0.5 norm drives weights to zero, those below 0.01 are cut, and the formula "
        "is whatever is left. Depth, norm, phases and learning rates are the published ones, but the phases are "
        "shortened to the time there is. It gets more than the publication gives it: columns and target in units of "
        "their own size, Adam, skip connections, repeated batches of networks within the time, a choice by BIC, and a "
        "least-squares fit of the weights that are left. So it is stronger than the EQL of the paper's tables, which "
        "recovered nothing. It has no `sqrt`, and divides in its last layer only.",
        operators="+ * sin cos exp log, squares; / once, as the last", ends="exact",
        printed="EQL", column="eql", colour="#CC79A7", mark="v",
    ),
    Method(
        "gp", "GP (gplearn)", "gp",
        "Plain genetic programming, a population of 1,000, until the time is up or the fit is exact. As it comes: a "
        "penalty for length in the target's own unit, and the best of the last generation as the answer.",
        package="gplearn", ready=True, printed="GP", column="gp", colour="#E69F00", mark="^", ends="exact",
    ),
    Method(
        "gp-tuned", "GP (gplearn), tuned", "gp_tuned",
        "The same with settings that were chosen on random formulas of another seed: correlation as the fitness, with "
        "slope and offset by least squares at the end, and a tenth of the penalty for length.",
        package="gplearn", ready=True, colour="#F2C879", mark="h", ends="exact",
    ),
    Method(
        "dsr", "DSR", "dsr",
        "Petersen et al. 2021, written anew from its paper, since the original needs versions of Python and "
        "TensorFlow that are no longer available: a recurrent network writes formulas token by token, and learns from "
        "the best twentieth of each batch. The page of the benchmarks compares it with the published rates.",
        printed="DSR", column="dsr", colour="#009E73", mark="p", ends="exact, or 2,000,000 formulas",
    ),
    Method(
        "dsr-full", "DSR, full budget", "dsr",
        "The same with the 2,000,000 formulas of its paper, and no other end within an hour.",
        limit=HOUR, ends="exact, or 2,000,000 formulas",
    ),
    Method(
        "operon", "Operon", "operon",
        "Genetic programming with Levenberg-Marquardt for the constants, errors and length as two objectives, and BIC "
        "for the choice. It computes in single precision.",
        package="pyoperon", everywhere=True, ready=True, colour="#D55E00", mark="s",
        operators=f"{ALL}, constants",
    ),
    Method(
        "operon-mdl", "Operon, by its MDL", "operon_mdl",
        "The same with its default criterion, a description length that takes errors to be of size 1, whatever the "
        "target's unit.",
        package="pyoperon", everywhere=True, ready=True, colour="#E8A37C", mark="d", operators=f"{ALL}, constants",
    ),
    Method(
        "operon-best", "Operon, the better criterion", "operon",
        "In each condition (a set, noise, points, seconds), the one of the two before that recovers more: a choice "
        "that nobody has who does not know the answer.",
        package="pyoperon", ready=True, colour="#9C4400", mark="P", operators=f"{ALL}, constants",
        better_of=("operon", "operon-mdl"),
    ),
    Method(
        "rils-rols", "RILS-ROLS", "rils_rols",
        "Iterated local search with least squares, as its authors set it. It never stops early, and writes constants "
        "with six decimals.",
        package="rils-rols", install="make bench-setup", everywhere=True, ready=True, colour="#444444", mark="<",
        operators=f"{ALL}, its own set",
    ),
    Method(
        "pysr", "PySR", "pysr",
        "Genetic programming in Julia, on several populations; it is run where the command `julia` is there, which it "
        "has not been so far.",
        package="pysr", program="julia", colour="#8C6D31", mark=">",
    ),
    Method(
        "linear", "linear model", "linear",
        "Not a search: least squares with a coefficient for every column. On the real tables alone.",
        ready=True, colour="#7A7A7A", mark="x", operators="+, a constant before each column", ends="its one fit",
        reference=True,
    ),
    Method(
        "boosting", "gradient boosting", "boosting",
        "Not a formula: scikit-learn's `GradientBoostingRegressor` as it comes, with as many of at most 300 trees as "
        "predict best in five-fold cross-validation. On the real tables alone.",
        ready=True, colour="#000000", mark="*", operators="none: trees", ends="its trees", reference=True,
    ),
)  # fmt: skip

METHODS: dict[str, Method] = {method.name: method for method in _RECORDS}
REFERENCES = tuple(method.name for method in _RECORDS if method.reference)
SHOWN = tuple(method.name for method in _RECORDS if method.colour and not method.reference)
RIVALS = tuple(m.name for m in _RECORDS if m.module != "ours" and not m.better_of and not m.reference)
QUICK = tuple(name for name in RIVALS if METHODS[name].limit == LIMIT)  # those that have the seconds of everyone
EVERYWHERE = tuple(method.name for method in _RECORDS if method.everywhere)
PRINTED = tuple(name for name in (*RIVALS, "paper") if METHODS[name].column)  # those with numbers in the paper


def title(name: str) -> str:
    """What people read.

    >>> title("operon-mdl"), title("without-grafts")
    ('Operon, by its MDL', 'without grafts')
    """
    return METHODS[name].title if name in METHODS else name.replace("-", " ", 1)
