"""Which runs there are to make: plans, each some combinations of methods, sets, noise, points, limits and seeds."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from benchmarks.conditions import (
    FURTHER,
    HOUR,
    LAWS,
    LAWS_LIMIT,
    LIMIT,
    LONG,
    MORE_NOISE,
    MUCH_NOISE,
    NOISE,
    OUTLIERS,
    POINTS,
    RANDOM,
    SHORT,
    TEXTBOOK_LIMIT,
    TEXTBOOK_POINTS,
    UNRELATED,
)
from benchmarks.methods.ours import ABLATIONS, WITH_ONE, WITH_UNITS
from benchmarks.methods.registry import EVERYWHERE, QUICK, REFERENCES, WITHOUT
from benchmarks.problems import load
from benchmarks.problems.real import names as real_names
from benchmarks.trial import Trial


@dataclass(frozen=True)
class Runs:
    """Every combination of these. The seeds are 0, 1, ..."""

    methods: tuple[str, ...]
    sets: tuple[str, ...] = ("paper",)
    noise: tuple[float, ...] = (0.0,)
    points: tuple[int, ...] = (POINTS,)
    span: tuple[float, float] | None = None
    seconds: tuple[float, ...] = (LIMIT,)
    seeds: int = 1
    outliers: tuple[float, ...] = (0.0,)
    noise_of: tuple[str, ...] = ("rms",)
    other_units: tuple[bool, ...] = (False,)
    unrelated: tuple[int, ...] = (0,)

    def trials(self) -> Iterator[Trial]:
        for limit, points, noise, of, outliers, units, unrelated, seed, group, method in product(
            self.seconds, self.points, self.noise, self.noise_of, self.outliers, self.other_units, self.unrelated,
            range(self.seeds), self.sets, self.methods,
        ):  # fmt: skip
            if not noise and of != self.noise_of[0]:
                continue  # nothing is a part of anything
            if group == "real":  # as they are
                yield from (Trial(method, group, name, 0.0, None, None, limit, seed) for name in real_names())
            else:
                names = (problem.name for problem in load(group))
                of = of if noise else "rms"
                rest = (limit, seed, outliers, of, units, unrelated)
                yield from (Trial(method, group, name, noise, points, self.span, *rest) for name in names)


TEXTBOOK: dict[str, Any] = {"points": (TEXTBOOK_POINTS,), "seconds": (TEXTBOOK_LIMIT,)}
PLANS: dict[str, tuple[Runs, ...]] = {
    # every method on the paper's 87
    "comparison": (
        Runs(("ours", *QUICK), seeds=3),
        Runs(("ours", *QUICK), noise=(NOISE,)),
        Runs(("ours",), noise=(0.0, NOISE), seeds=5),
    ),
    # the paper's own tables; where its method runs, the epochs decide when it ends
    "paper": (
        Runs(("eql", "gp", "gp-tuned", "dsr"), seeds=5),
        Runs(("ours",), seeds=5),
        Runs(("paper",), seconds=(LONG,), seeds=5),
        Runs(("paper-1000", "no-gradient-1000", "random-pruning-1000"), seconds=(LONG,), seeds=3),
    ),
    # DSR with the formulas of its paper
    "dsr-full": (Runs(("dsr-full",), seconds=(HOUR,)),),
    # the preset "paper", with each of our differences alone, and with all of them
    "presets": (Runs(("paper", *WITH_ONE, "paper+"), seconds=(LONG,), seeds=5),),
    # the default search, and without each of its mechanisms
    "ablations": (
        Runs(("ours", *ABLATIONS), noise=(0.0, NOISE), seconds=(SHORT,)),
        Runs(("ours", *ABLATIONS), sets=(*FURTHER, RANDOM), seconds=(SHORT,)),
    ),
    "further": (Runs(EVERYWHERE, sets=FURTHER),),
    "random": (Runs(EVERYWHERE, sets=(RANDOM,)),),
    # random laws of four to eight columns, with and without the stage that finds their groups
    "laws": (Runs(("ours", f"{WITHOUT}groups"), sets=(LAWS,), seconds=(LAWS_LIMIT,)),),
    "real": (Runs((*EVERYWHERE, *REFERENCES), sets=("real",), seeds=3),),
    "noise": (Runs(("ours", "operon", "operon-mdl"), noise=(0.0, 0.001, NOISE, MUCH_NOISE)),),
    # gross outliers, and a loss that they do not decide
    "outliers": (Runs(("ours", "huber"), outliers=(0.0, OUTLIERS)),),
    "points": (Runs(("ours", "operon", "operon-mdl"), points=(20, 50, POINTS, 500)),),
    "range": (Runs(("ours", "operon", "operon-mdl"), span=(1.0, 2.0)),),
    # curves and laws from textbooks, with errors of a part of each value or of the spread of all
    "textbook": (
        Runs(
            ("ours", "operon", "operon-mdl"),
            sets=("textbook",),
            **TEXTBOOK,
            noise=(0.0, NOISE, MORE_NOISE),
            noise_of=("value", "spread"),
        ),
        Runs(("ours", "operon", "operon-mdl"), sets=("textbook-fair",), **TEXTBOOK),
    ),
    # more laws, with errors of a part of each value, or more of them, of the spread of all
    "laboratory": (
        Runs(("ours",), sets=("laboratory",), **TEXTBOOK, noise=(0.0, NOISE), noise_of=("value",)),
        Runs(("ours",), sets=("laboratory",), **TEXTBOOK, noise=(MORE_NOISE,), noise_of=("spread",)),
    ),
    "handbook": (
        Runs(("ours",), sets=("handbook",), **TEXTBOOK, noise=(0.0, NOISE), noise_of=("value",)),
        Runs(("ours",), sets=("handbook",), **TEXTBOOK, noise=(MORE_NOISE,), noise_of=("spread",)),
    ),
    # sums of peaks, decays and steps, with errors of a part of the spread
    "spectra": (
        Runs(
            ("ours",),
            sets=("spectra",),
            seconds=(TEXTBOOK_LIMIT,),
            noise=(0.0, NOISE, MORE_NOISE),
            noise_of=("spread",),
        ),
    ),
    # laws in SI units, with errors of a part of each value: their values reach over many decades
    "si": (Runs(("ours", "operon", "operon-mdl"), sets=("si",), noise=(0.0, NOISE), noise_of=("value",)),),
    # the same problems in other units, and beside columns that have nothing to do with them
    "units": (
        Runs(("ours",), sets=("paper", *FURTHER), other_units=(False, True)),
        Runs(("ours",), sets=("textbook",), **TEXTBOOK, other_units=(False, True)),
    ),
    # the Feynman laws without and with the units of their columns
    "told-units": (Runs(("ours", *WITH_UNITS), sets=("feynman",), noise=(0.0, NOISE, MUCH_NOISE)),),
    "unrelated": (
        Runs(("ours",), sets=("paper",), unrelated=(0, *UNRELATED)),
        Runs(("ours",), sets=("textbook",), **TEXTBOOK, unrelated=(0, *UNRELATED)),
    ),
    "limits": (Runs(("ours", "operon", "operon-mdl"), noise=(0.0, NOISE), seconds=(1.0, LIMIT, LONG)),),
}
