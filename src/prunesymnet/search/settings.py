"""What a search can be told, and how it can end."""

import enum
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from prunesymnet.coefficients import FitSettings, SnapSettings
from prunesymnet.coefficients.fit import METHODS
from prunesymnet.data import loss_of
from prunesymnet.data.losses import AUTO_LOSSES
from prunesymnet.expression import Expression
from prunesymnet.network.pruning import PRUNERS, PruningSettings
from prunesymnet.network.training import TrainingSettings
from prunesymnet.operators import DEFAULT, PAPER, Operator, select_operators
from prunesymnet.optional import check_device_name
from prunesymnet.search.constraints import Constraints, Rules, Vocabulary
from prunesymnet.selection import CRITERIA
from prunesymnet.settings import check_number, check_whole
from prunesymnet.units import TableUnits


class SearchStatus(enum.Enum):
    """How a search ended; the value is the message."""

    EXACT = "found a formula that is exact on held-out rows"
    EXACT_ON_FRESH = "found a formula that is exact on fresh rows"
    EXACT_ON_FITTED = "found a formula that is exact on the rows it was fitted to"
    NOISE_FLOOR = "what is left looks like noise"
    MAX_EPOCHS = "stopped at the limit of epochs"
    FINISHED = "all stages are through"
    TIME_LIMIT = "stopped at the time limit"
    FIT_LIMIT = "stopped at the limit of fits"
    EVALUATION_LIMIT = "stopped at the limit of evaluations"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped by a callback"

    @property
    def is_exact(self) -> bool:
        """Whether an exact formula ended the search."""
        return self in (SearchStatus.EXACT, SearchStatus.EXACT_ON_FRESH, SearchStatus.EXACT_ON_FITTED)

    @property
    def is_by_hand(self) -> bool:
        """Whether someone has ended the search, and waits."""
        return self in (SearchStatus.INTERRUPTED, SearchStatus.STOPPED)


@dataclass(frozen=True, slots=True)
class ExhaustiveSettings:
    """How banks are searched. `levels`: how often they grow; `memory` (GiB) bounds them; at most `rows` rows and
    `columns` columns (those that matter most) are scanned; `keep` answers of each complexity come out of a scan; `fits`
    proposals of a level are fitted beside the most promising of each stage; `device`: cpu, cuda, mps, or auto, which is
    a GPU where there is one and the banks are large enough. Stages named in `without` are left out
    (`prunesymnet.search.STAGES` has them all)."""

    levels: int = 4
    memory: float = 2.0
    rows: int = 256
    columns: int = 10
    keep: int = 5
    fits: int = 200
    device: str = "cpu"
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_device_name(self.device)
        check_whole(self, levels=0, rows=10, columns=1, keep=1, fits=1)
        check_number(self, "memory", "a number of GiB > 0", lambda v: v > 0)
        if self.without:
            from prunesymnet.search.stages import STAGES  # which are made of modules that need these settings

            known = [stage.name for stage in STAGES]
            unknown = [name for name in self.without if name not in known]
            if unknown:
                raise ValueError(f"without must name stages ({', '.join(known)}), got {unknown[0]!r}")


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a search tries, when it ends, and how it chooses among the formulas that it has found.

    `pruner`: "exhaustive" (banks of small formulas), or one of the paper's, on a trained network.
    `time_limit` is in seconds; `max_fits` ends the search after so many fits, `max_evaluations` after so many
    formulas that were scored or fitted (at the end of the batch that reaches it): these are the same on every machine.
    `holdout` is the part of the rows that is held out to judge by (0: all are fitted to); `exact` is the relative error
    on them, or on the fresh rows that `search` was given, that ends the search (0: nothing does);
    `fits_per_form` limits how often the same form with other weights is fitted again; at most `rows` rows are used
    until the last fit, which is on all of them; `start_from` are formulas, as text, that the search begins with and
    builds on: names in them that are no columns are constants to be fitted; `constants_per` is a column of
    categories, each of which may have other constants in the same formula (`runs.run` has its columns of 0
    and 1); `template` has functions for parts that are to be found, one text or one for each target by name, and
    `parts` says more of these (`prunesymnet.search.templates`); `workers` share the work (0: one for
    each core), and their number does not change the result. A formula may have a `max_complexity` (None: any) and
    must keep the `constraints`; `loss` is what an error costs, a name or a function (`prunesymnet.data.losses`), and
    `auto_losses` are those that "auto" may choose besides "squared";
    `selection` is one of the CRITERIA, or a function of the front's table that returns a row. Of the network: its
    `layers`, `max_epochs` and how often to prune; `reverse`: try the formula of all edges that are not nearly
    zero, too, where these are few.

    How candidates become formulas: `fit_method` is "lm" or "bfgs"; `expand`: products of sums are multiplied out before
    the fit; `remove_operators`: operators are taken out of the best as long as it stays as good; `linear_model`: it
    starts the search, and is what the answer must not fall behind; `between_rows`: a formula with poles or waves that
    no row shows is not believed.

    `units` are those of columns and targets, by their names in formulas: only formulas that are dimensionally sound are
    tried then. `constant_units`: a fitted constant may carry a unit; if not, all constants are pure numbers."""

    operators: tuple[str | Operator, ...] = DEFAULT
    pruner: str = "exhaustive"
    time_limit: float = 60.0
    max_fits: int | None = None
    max_evaluations: int | None = None
    holdout: float = 0.2
    exact: float = 1e-10
    rows: int = 3000
    fits_per_form: int = 3
    workers: int = 1
    seed: int = 0
    max_complexity: int | None = None
    constraints: Constraints = field(default_factory=Constraints)
    start_from: tuple[str, ...] = ()
    constants_per: str | None = None
    template: str | Mapping[str, str] | None = None
    parts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    selection: str | Callable[[Any], int] = "mdl"
    loss: str | Callable[..., Any] = "auto"
    auto_losses: tuple[str, ...] = AUTO_LOSSES
    layers: int = 6
    max_epochs: int = 3000
    prune_every: int = 20
    reverse: bool = True
    fit_method: str = "lm"
    expand: bool = False
    remove_operators: bool = True
    linear_model: bool = True
    between_rows: bool = True
    units: Mapping[str, str] = field(default_factory=dict)
    constant_units: bool = True
    exhaustive: ExhaustiveSettings = field(default_factory=ExhaustiveSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    pruning: PruningSettings = field(default_factory=PruningSettings)
    snapping: SnapSettings = field(default_factory=SnapSettings)

    def __post_init__(self) -> None:
        known = ("exhaustive", *PRUNERS)
        if self.pruner not in known:
            raise ValueError(f"pruner must be one of {', '.join(known)}, got {self.pruner!r}")
        check_whole(self, max_epochs=1, prune_every=1, layers=1, fits_per_form=1, seed=0, rows=10, workers=0)
        if self.max_fits is not None:
            check_whole(self, max_fits=1)
        if self.max_evaluations is not None:
            check_whole(self, max_evaluations=1)
        if self.max_complexity is not None:
            check_whole(self, max_complexity=1)
        if not isinstance(self.constraints, Constraints):
            raise TypeError(f"constraints must be Constraints, got {type(self.constraints).__name__}")
        if not callable(self.selection) and not (isinstance(self.selection, str) and self.selection in CRITERIA):
            raise ValueError(f"selection must be a function or one of {', '.join(CRITERIA)}, got {self.selection!r}")
        if isinstance(self.start_from, str) or not all(isinstance(text, str) for text in self.start_from):
            raise TypeError(f"start_from must be a list of formulas as text, got {self.start_from!r}")
        object.__setattr__(self, "start_from", tuple(self.start_from))
        loss_of(self.loss)  # or an error
        if not set(self.auto_losses) <= {*AUTO_LOSSES}:
            raise ValueError(f"auto_losses must be of {', '.join(AUTO_LOSSES)}, got {self.auto_losses!r}")
        self._check_frame()
        if not isinstance(self.units, Mapping) or not all(isinstance(text, str) for text in self.units.values()):
            raise TypeError(f"units must map names of columns to units, as {{'v': 'm/s'}}, got {self.units!r}")
        if not isinstance(self.constant_units, bool):
            raise TypeError(f"constant_units must be True or False, got {self.constant_units!r}")
        if not self.constant_units and not self.units:
            raise ValueError("constant_units=False is for tables with units, and there are none: give units")
        check_number(self, "time_limit", "a number of seconds > 0", lambda v: v > 0)
        check_number(self, "exact", "a relative error >= 0", lambda v: v >= 0)
        check_number(self, "holdout", "a fraction from 0 to below 1", lambda v: 0 <= v < 1)
        if self.fit_method not in METHODS:
            raise ValueError(f"fit_method must be one of {', '.join(METHODS)}, got {self.fit_method!r}")

    def _check_frame(self) -> None:
        """What is known of the formula: a template with parts, or a form whose constants differ by category."""
        if self.template is not None and not isinstance(self.template, str | Mapping):
            raise TypeError(f"template must be text, or a dict of texts by target, got {self.template!r}")
        if not isinstance(self.parts, Mapping):
            raise TypeError(f"parts must be a dict of what is known of a template's parts, got {self.parts!r}")
        if self.parts and self.template is None:
            names = ", ".join(map(str, self.parts))
            raise ValueError(f"parts are functions in a template, and there is none; got parts for {names}")
        if self.constants_per is not None and not isinstance(self.constants_per, str):
            raise TypeError(f"constants_per must be the name of a column, got {self.constants_per!r}")
        if self.template is not None and self.constants_per is not None:
            raise ValueError("template and constants_per can't be used together: write a[site] in a form for fit_form")
        if isinstance(self.template, Mapping) and self.loss not in ("auto", "squared"):
            raise ValueError(f"loss must be 'squared' where targets share parts of a template, got {self.loss!r}")

    @property
    def device(self) -> str:
        """Where the search runs: banks are scanned there, or networks trained."""
        return self.exhaustive.device if self.pruner == "exhaustive" else self.training.device

    def on_device(self, device: str) -> "SearchSettings":
        """The same settings, with banks scanned and networks trained there."""
        exhaustive, training = replace(self.exhaustive, device=device), replace(self.training, device=device)
        return replace(self, exhaustive=exhaustive, training=training)

    @property
    def searched_operators(self) -> tuple[str | Operator, ...]:
        """The operators that a formula may have: what is used no time is not even tried."""
        return self.constraints.searched(self.operators)

    def rules(
        self,
        units: TableUnits | None = None,
        columns: Mapping[str, Any] | None = None,
        put_back: Callable[[Expression], Expression] = lambda formula: formula,
    ) -> Rules:
        """All that a formula must keep, that of a table's units too, where these are given; with the `columns` of a
        table, the shapes. `put_back` puts a formula of
        a search in terms of these columns."""
        shapes = None if columns is None else self.constraints.shapes(columns)
        vocabulary = Vocabulary(select_operators(self.operators))
        return Rules(self.constraints, vocabulary, self.max_complexity, units, shapes, put_back)

    def units_of(self, names: Sequence[str], target: str) -> TableUnits | None:
        """The units of a table; None where there are none. An error where no formula could be right."""
        if not self.units:
            return None
        units = TableUnits.of(self.units, names, target, constants=self.constant_units)
        if not self.constant_units:
            units.check_pure()
        return units


EVERY_TIME = 10**9  # fits of one form: the paper fits each candidate of each pruning
PAPER_SETTINGS = SearchSettings(
    operators=PAPER,
    pruner="beam",
    time_limit=math.inf,
    holdout=0.0,
    exact=1e-6,
    fits_per_form=EVERY_TIME,
    fit_method="bfgs",
    expand=True,
    remove_operators=False,
    linear_model=False,
    between_rows=False,
    selection="accuracy",
    snapping=SnapSettings(only_integers=True, noise=1e-6, fit=FitSettings(method="bfgs")),
)
"""The paper to the letter, as far as it has letters: docs/the-paper.md goes through it sentence by sentence."""


@dataclass(frozen=True)
class Difference:
    """One thing that the preset "paper+" does differently: the settings that it changes, and what that is."""

    settings: dict[str, Any]
    about: str

    def applied(self, settings: SearchSettings) -> SearchSettings:
        """The settings with this difference; a dict changes some fields of the settings that stand under its name."""
        said = {
            name: replace(getattr(settings, name), **value) if isinstance(value, dict) else value
            for name, value in self.settings.items()
        }
        return replace(settings, **said)


DIFFERENCES: dict[str, Difference] = {
    "rescaled": Difference(
        {"pruning": {"rescale": True}},
        "An edge is scored at the best weight of the output's edge: the constants are fitted afterwards anyway, so the "
        "shape should decide.",
    ),
    "lm": Difference(
        {"fit_method": "lm"}, "Levenberg-Marquardt with the linear constants eliminated takes the place of BFGS."
    ),
    "near-output": Difference(
        {"pruning": {"sampled_from": "output"}},
        "The layers with chance are the two next to the output, which decide what kind of formula it is.",
    ),
    "log-loss": Difference(
        {"pruning": {"sampled_by": "log"}},
        "Edges are drawn by 1/loss. A softmax of losses that are divided by their norm is all but uniform as soon as "
        "one edge is very bad.",
    ),
    "normal-start": Difference(
        {"training": {"uniform": False}},
        "The first weights are normal, which makes them larger by a factor of 1.7: more frequencies are within reach.",
    ),
    "fewer-operators": Difference(
        {"remove_operators": True},
        "Operators are taken out of the best formula as long as it stays as good.",
    ),
    "linear-first": Difference(
        {"linear_model": True, "selection": "mdl"},
        "The linear model starts the search, and the formula of shortest description is the answer instead of that of "
        "least error.",
    ),
    "between-rows": Difference(
        {"between_rows": True}, "Formulas with poles or waves that no row shows are not believed."
    ),
    "closed-forms": Difference(
        {"snapping": {"only_integers": False, "noise": 0.0}},
        "Constants are rounded as far as their standard errors allow, to rationals, multiples of pi and roots too.",
    ),
    "held-out": Difference(
        {"holdout": 0.2, "exact": 1e-10},
        "A fifth of the rows is held out to judge candidates, and fresh rows are not needed.",
    ),
}
"""What "paper+" does differently, each by name: the preset, the benchmark's variants and the docs are made from it."""


def with_differences(settings: SearchSettings, names: Iterable[str]) -> SearchSettings:
    """The settings with some of the DIFFERENCES applied."""
    for name in names:
        settings = DIFFERENCES[name].applied(settings)
    return settings


PRESETS: dict[str, SearchSettings] = {
    "default": SearchSettings(),
    "paper": PAPER_SETTINGS,
    "paper+": with_differences(PAPER_SETTINGS, DIFFERENCES),
    "no-gradient": replace(PAPER_SETTINGS, training=TrainingSettings(gradient=False)),
    "random-pruning": replace(PAPER_SETTINGS, pruner="random"),
}
"""What we recommend; the paper's method; the same with all DIFFERENCES; and the paper's two ablations: ModelNoGd and
ModelRandPrune."""
