"""Every method that is compared, one record each: the only place that knows them.

A rival is one module with `fit(data, seconds, seed) -> Expression` and one record here. Plans, tables and figures read
the records; their order here is the order there.
"""

from dataclasses import dataclass

from benchmarks.conditions import LIMIT, LONG

WITHOUT = "without-"  # and a mechanism: the default search with that switched off


@dataclass(frozen=True)
class Method:
    """`name` is what runs are filed under, `title` what people read. `module` is one of benchmarks.methods; `package`
    is what it needs from PyPI, `program` a command it needs, `install` what brings them. `limit` is its usual time in
    seconds. `everywhere`: it is strong enough to be run on the further sets, the random formulas and the real tables.
    `ready`: nothing is left to load or compile in its first fit. `printed` is its name in the paper's tables, and
    `column` its column in problems/paper.csv. A method without a colour is only in the tables that ask for it."""

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


# The colours are Okabe and Ito's, which can be told apart by everyone; yellow is too pale for lines.
_RECORDS = (
    Method(
        "ours", "PruneSymNet", "ours",
        "The default search.",
        everywhere=True, colour="#0072B2", mark="o",
    ),
    Method("huber", "PruneSymNet, Huber's loss", "ours", "The default search with `loss=\"huber\"`."),
    Method(
        "paper", "paper preset", "ours",
        "The paper's method alone: one network is trained for 3,000 epochs and pruned by beam search. It has no "
        "`sqrt`.",
        limit=LONG, printed="PruneSymNet", column="prunesymnet", colour="#4BA3DB", mark="D",
    ),
    Method(
        "trained-weights", "paper preset, edges scored at their trained weights", "ours",
        "The same, with edges scored at the weight they were trained to, as the paper does; ours scores them at the "
        "best weight of the output's edge.",
        limit=LONG,
    ),
    Method("paper-1000", "complete", "ours", "The paper's method with 1,000 epochs, for its ablation.", limit=LONG),
    Method("no-gradient-1000", "no gradient steps", "ours", "The same without gradient steps.", limit=LONG),
    Method("random-pruning-1000", "random pruning", "ours", "The same with random pruning.", limit=LONG),
    Method(
        "eql", "EQL", "eql",
        "Kim et al. 2020, written anew: our network without pruning. Every operand is a weighted sum of all nodes "
        "before it, a smoothed L0.5 norm drives weights to zero, those below 0.01 are cut, and the formula is "
        "whatever is left. Depth, norm, phases and learning rates are the published ones, but the phases are "
        "shortened to the time there is. It gets more than the publication gives it: columns and target in units of "
        "their own size, Adam, skip connections, repeated batches of networks within the time, a choice by BIC, and a "
        "least-squares fit of the weights that are left. So it is stronger than the EQL of the paper's tables, which "
        "recovered nothing. It has neither division nor `sqrt`.",
        printed="EQL", column="eql", colour="#CC79A7", mark="v",
    ),
    Method(
        "gp", "GP (gplearn)", "gp",
        "Plain genetic programming, a population of 1,000, until the time is up or the fit is exact. As it comes: a "
        "penalty for length in the target's own unit, and the best of the last generation as the answer.",
        package="gplearn", ready=True, printed="GP", column="gp", colour="#E69F00", mark="^",
    ),
    Method(
        "dsr", "DSR", "dsr",
        "Petersen et al. 2021, written anew from its paper, since the original needs versions of Python and "
        "TensorFlow that are no longer available: a recurrent network writes formulas token by token, and learns from "
        "the best twentieth of each batch. The page of the benchmarks compares it with the published rates.",
        printed="DSR", column="dsr", colour="#009E73", mark="p",
    ),
    Method(
        "operon", "Operon", "operon",
        "Genetic programming with Levenberg-Marquardt for the constants, errors and length as two objectives, and BIC "
        "for the choice. It computes in single precision.",
        package="pyoperon", everywhere=True, ready=True, colour="#D55E00", mark="s",
    ),
    Method(
        "operon-mdl", "Operon, by its MDL", "operon_mdl",
        "The same with its default criterion, a description length that takes errors to be of size 1, whatever the "
        "target's unit.",
        package="pyoperon", ready=True, colour="#E8A37C", mark="d",
    ),
    Method(
        "rils-rols", "RILS-ROLS", "rils_rols",
        "Iterated local search with least squares, as its authors set it. It never stops early, and writes constants "
        "with six decimals.",
        package="rils-rols", install="make bench-setup", everywhere=True, ready=True, colour="#444444", mark="<",
    ),
    Method(
        "pysr", "PySR", "pysr",
        "Genetic programming in Julia, on several populations; it is run where the command `julia` is there, which it "
        "has not been so far.",
        package="pysr", program="julia", colour="#8C6D31", mark=">",
    ),
)  # fmt: skip

METHODS: dict[str, Method] = {method.name: method for method in _RECORDS}
SHOWN = tuple(method.name for method in _RECORDS if method.colour)
RIVALS = tuple(method.name for method in _RECORDS if method.module != "ours")
EVERYWHERE = tuple(method.name for method in _RECORDS if method.everywhere)
PRINTED = tuple(name for name in (*RIVALS, "paper") if METHODS[name].column)  # those with numbers in the paper


def title(name: str) -> str:
    """What people read.

    >>> title("operon-mdl"), title("without-grafts")
    ('Operon, by its MDL', 'without grafts')
    """
    return METHODS[name].title if name in METHODS else name.replace("-", " ", 1)
