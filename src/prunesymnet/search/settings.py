"""What a search can be told, and how it can end."""

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from prunesymnet.coefficients import SnapSettings
from prunesymnet.data import loss_of
from prunesymnet.network.pruning import PRUNERS, PruningSettings
from prunesymnet.network.training import TrainingSettings
from prunesymnet.operators import DEFAULT, PAPER, Operator, select_operators
from prunesymnet.search.constraints import Constraints, Rules, Vocabulary
from prunesymnet.selection import CRITERIA
from prunesymnet.settings import check_number, check_whole


class SearchStatus(enum.Enum):
    """How a search ended; the value is the message."""

    EXACT = "found a formula that is exact on held-out rows"
    NOISE_FLOOR = "what is left looks like noise"
    MAX_EPOCHS = "stopped at the limit of epochs"
    FINISHED = "all stages are through"
    TIME_LIMIT = "stopped at the time limit"
    FIT_LIMIT = "stopped at the limit of fits"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped by a callback"


@dataclass(frozen=True, slots=True)
class ExhaustiveSettings:
    """How banks are searched. `levels`: how often they grow; `memory` (GiB) bounds them; at most `rows` rows and
    `columns` columns (those that matter most) are scanned; `keep` answers of each complexity come out of a scan; `fits`
    proposals of a level are fitted beside the most promising of each stage; `device`: cpu or cuda. Stages named in
    `without` are left out (`prunesymnet.search.STAGES` has them all)."""

    levels: int = 4
    memory: float = 2.0
    rows: int = 256
    columns: int = 10
    keep: int = 5
    fits: int = 200
    device: str = "cpu"
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.device.partition(":")[0] not in ("cpu", "cuda"):
            raise ValueError(f"device must be cpu or cuda (or cuda:1 ...), got {self.device!r}")
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
    """`pruner`: "exhaustive" (banks of small formulas), or one of the paper's, on a trained network.
    `time_limit` is in seconds; `max_fits` ends the search after so many formulas, which is the same on every machine.
    `holdout` rows judge; `exact` is the relative error on held-out rows that ends the search (0: nothing does);
    `fits_per_form` limits how often the same form with other weights is fitted again; at most `rows` rows are used
    until the last fit, which is on all of them; `workers` threads share the work (0: one for each core), and their
    number does not change the result. A formula may have a `max_complexity` (None: any) and must keep the
    `constraints`; `loss` is what an error costs, a name or a function (`prunesymnet.data.losses`); `selection` is one
    of the CRITERIA, or a function of the front's table that returns a row. Of the network: its `layers`, `max_epochs`
    and how often to prune; `reverse`: try the formula of all edges that are not nearly zero, too, where these are few.
    """

    operators: tuple[str | Operator, ...] = DEFAULT
    pruner: str = "exhaustive"
    time_limit: float = 60.0
    max_fits: int | None = None
    holdout: float = 0.2
    exact: float = 1e-10
    rows: int = 3000
    fits_per_form: int = 3
    workers: int = 0
    seed: int = 0
    max_complexity: int | None = None
    constraints: Constraints = field(default_factory=Constraints)
    selection: str | Callable[[Any], int] = "mdl"
    loss: str | Callable[..., Any] = "squared"
    layers: int = 6
    max_epochs: int = 3000
    prune_every: int = 20
    reverse: bool = True
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
        if self.max_complexity is not None:
            check_whole(self, max_complexity=1)
        if not isinstance(self.constraints, Constraints):
            raise TypeError(f"constraints must be Constraints, got {type(self.constraints).__name__}")
        if not callable(self.selection) and not (isinstance(self.selection, str) and self.selection in CRITERIA):
            raise ValueError(f"selection must be a function or one of {', '.join(CRITERIA)}, got {self.selection!r}")
        loss_of(self.loss)  # or an error
        check_number(self, "time_limit", "a number of seconds > 0", lambda v: v > 0)
        check_number(self, "exact", "a relative error >= 0", lambda v: v >= 0)
        check_number(self, "holdout", "a fraction between 0 and 1, both excluded", lambda v: 0 < v < 1)

    def rules(self) -> Rules:
        """All that a formula must keep."""
        return Rules(self.constraints, Vocabulary(select_operators(self.operators)), self.max_complexity)


_PAPER: dict[str, Any] = {"operators": PAPER, "pruner": "beam", "time_limit": float("inf")}

PRESETS: dict[str, SearchSettings] = {
    "default": SearchSettings(),
    "paper": SearchSettings(**_PAPER),
    "no-gradient": SearchSettings(**_PAPER, training=TrainingSettings(gradient=False)),
    "random-pruning": SearchSettings(**_PAPER | {"pruner": "random"}),
}
"""What we recommend; the paper's method, and its two ablations: ModelNoGd and ModelRandPrune."""
