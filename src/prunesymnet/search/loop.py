"""The whole loop: train, prune, fit the candidates' coefficients, keep the best, until nothing more can help.

>>> from prunesymnet.data import make_dataset
>>> import numpy as np
>>> x = np.linspace(-3, 3, 60)
>>> found = search(make_dataset(x, x**2 / 2 - x, names=["x"]), SearchSettings(seed=1))
>>> print(found.best.expression, "|", found.status.value)
x**2/2 - x | found a formula that is exact on held-out rows
"""

import enum
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients import Fit, FitSettings, FitStatus, SnapSettings, fit, snap
from prunesymnet.coefficients.snapping import describe
from prunesymnet.data import Dataset
from prunesymnet.errors import DataError
from prunesymnet.expression import (
    Constant,
    Expression,
    Variable,
    apply,
    canonical,
    canonical_and_skeleton,
    evaluate,
    fold,
)
from prunesymnet.expression.tree import Apply, postorder
from prunesymnet.network import Choice, Network
from prunesymnet.operators import PAPER, Operator
from prunesymnet.pruning import PRUNERS, PruningSettings, Trained, reverse
from prunesymnet.selection import choose, front
from prunesymnet.settings import check_number, check_whole
from prunesymnet.training import Trainer, TrainingSettings

Array = NDArray[np.float64]

# Most candidates are poor, and a few iterations show it; those that are not get as many as they need.
PROMISING = 0.9
ROUNDED = 5  # of the fits of least description length, how many are rounded before one is chosen
FIRST_LOOK = FitSettings(max_iterations=15, second_chance=False)
SECOND_LOOK = FitSettings(max_iterations=60)


class SearchStatus(enum.Enum):
    """How a search ended; the value is the message."""

    EXACT = "found a formula that is exact on held-out rows"
    MAX_EPOCHS = "stopped at the limit of epochs"
    TIME_LIMIT = "stopped at the time limit"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The paper's settings. `reverse`: try the formula of all edges that are not nearly zero, too, where these are
    few; `holdout` rows judge, `fits_per_form` limits how often the same form with other
    weights is fitted again, `exact` is the relative error on held-out rows that ends the search (0: nothing does)."""

    operators: tuple[str | Operator, ...] = PAPER
    layers: int = 6
    max_epochs: int = 3000
    prune_every: int = 20
    pruner: str = "beam"
    reverse: bool = True
    holdout: float = 0.2
    exact: float = 1e-10
    fits_per_form: int = 3
    time_limit: float = float("inf")
    seed: int = 0
    training: TrainingSettings = field(default_factory=TrainingSettings)
    pruning: PruningSettings = field(default_factory=PruningSettings)
    snapping: SnapSettings = field(default_factory=SnapSettings)

    def __post_init__(self) -> None:
        if self.pruner not in PRUNERS:
            raise ValueError(f"pruner must be one of {', '.join(PRUNERS)}, got {self.pruner!r}")
        check_whole(self, max_epochs=1, prune_every=1, layers=1, fits_per_form=1, seed=0)
        check_number(self, "time_limit", "a number of seconds > 0", lambda v: v > 0)
        check_number(self, "exact", "a relative error >= 0", lambda v: v >= 0)
        check_number(self, "holdout", "a fraction between 0 and 1, both excluded", lambda v: 0 < v < 1)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fitted candidate: how it did on the training rows and on those held out, and where it came from."""

    fit: Fit
    heldout_mse: float
    epoch: int
    choice: Choice | None = None
    weights: Array | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found: the best formula, fitted and rounded on all rows, and the way there."""

    best: Fit
    status: SearchStatus
    epochs: int
    seconds: float
    candidate: Candidate
    network: Network
    losses: tuple[float, ...]
    prunings: tuple[int, ...]
    improvements: tuple[tuple[int, str, float], ...]  # (epoch, formula, held-out mse)
    front: tuple[Fit, ...] = ()  # on all rows: from the simplest to the most exact


PRESETS: dict[str, SearchSettings] = {
    "paper": SearchSettings(),
    "no-gradient": SearchSettings(training=TrainingSettings(gradient=False)),
    "random-pruning": SearchSettings(pruner="random"),
}
"""The paper's method, and its two ablations: ModelNoGd and ModelRandPrune."""

Watcher = Callable[[int, float, Candidate], None]


def search(data: Dataset, settings: SearchSettings | str = "paper", *, watch: Watcher | None = None) -> SearchResult:
    """The best formula for the data; `settings` may be the name of a preset, and `watch` is told epoch, loss and the
    best candidate so far at each pruning.

    A time limit and Ctrl-C end the search with the best formula so far.
    """
    if not isinstance(data, Dataset):
        raise TypeError(f"data must be a Dataset (see make_dataset and read_table), got {type(data).__name__}")
    if not isinstance(settings, SearchSettings | str):
        raise TypeError(f"settings must be SearchSettings or a preset's name, got {type(settings).__name__}")
    if isinstance(settings, str):
        if settings not in PRESETS:
            raise ValueError(f"a preset must be one of {', '.join(PRESETS)}, got {settings!r}")
        settings = PRESETS[settings]
    return _Search(data, settings, watch).run()


class _Search:
    def __init__(self, data: Dataset, settings: SearchSettings, watch: Watcher | None) -> None:
        self.data, self.settings, self.watch = data, settings, watch
        self.train, self.held = _split(data, settings)
        self.network = Network(data.names, settings.operators, settings.layers)
        self.rng = np.random.default_rng(settings.seed)
        self.tries: dict[str, int] = {}
        self.forms: dict[frozenset[tuple[int, int]], str] = {}  # of the choices that have come up
        # The error that counts as none: small beside the spread of the target, or lost in its rounding.
        rounding = (16 * float(np.finfo(np.float64).eps)) ** 2 * float(np.mean(self.held.y**2))
        self.no_error = max(settings.exact**2 * float(np.var(self.held.y)), rounding)
        self.simplest: dict[int, Candidate] = {}  # complexity -> the best candidate of that complexity
        self.best = self.candidate_of(_linear(data), 0)
        self.losses: list[float] = []
        self.prunings: list[int] = []
        self.improvements = [(0, str(self.best.fit.expression), self.best.heldout_mse)]

    def run(self) -> SearchResult:
        began = time.monotonic()
        settings = self.settings
        training = replace(settings.training, seed=settings.training.seed + settings.seed)
        status = SearchStatus.MAX_EPOCHS
        epoch = 0
        try:
            trainer = Trainer(self.network, self.train, training)
            last: list[set[str]] = [set() for _ in range(training.restarts)]
            while epoch < settings.max_epochs and not self.exact():
                epoch += 1
                error = trainer.step()
                self.losses.append(float(error.min()))
                if epoch % settings.prune_every == 0:
                    self.prunings.append(epoch)
                    for restart in range(training.restarts):
                        if self.exact() or time.monotonic() - began > settings.time_limit:
                            break  # many restarts take long to prune
                        forms = self.prune(trainer, restart, epoch)
                        overlap = len(forms & last[restart]) / max(len(forms), 1)
                        trainer.after_pruning(restart, overlap)
                        last[restart] = forms
                    if not training.gradient:
                        trainer.reinitialise(trainer.since >= 0)
                    if self.watch:
                        self.watch(epoch, self.losses[-1], self.best)
                if time.monotonic() - began > settings.time_limit:
                    status = SearchStatus.TIME_LIMIT
                    break
        except KeyboardInterrupt:
            status = SearchStatus.INTERRUPTED
        best, fits = self.best.fit, [self.best.fit]
        try:
            self.best = self.shrink(self.best)
            best, fits = self.on_all_rows()
        except KeyboardInterrupt:  # even now, what has been found is returned
            status = SearchStatus.INTERRUPTED
        if self.exact():
            status = SearchStatus.EXACT
        return SearchResult(
            best=best,
            status=status,
            epochs=epoch,
            seconds=time.monotonic() - began,
            candidate=self.best,
            network=self.network,
            losses=tuple(self.losses),
            prunings=tuple(self.prunings),
            improvements=tuple(self.improvements),
            front=tuple(fits),
        )

    def on_all_rows(self) -> tuple[Fit, list[Fit]]:
        """The formula to believe, fitted on all rows and rounded, and the front that it was chosen from. An exact one
        needs no choice; else description length decides, among those that are not worse than the linear model by more
        than chance explains (two standard errors for each of its constants)."""
        candidates = [self.best] if self.exact() else [*self.simplest.values(), self.best]
        fits = [fit(candidate.fit.expression, self.data) for candidate in candidates]
        fits = [replace(found, expression=canonical(found.expression)) for found in fits]  # signs may have changed
        fits.sort(key=lambda found: describe(found, self.data))
        rounded = [snap(found.expression, self.data, settings=self.settings.snapping) for found in fits[:ROUNDED]]
        linear = fit(_linear(self.data), self.data)
        constants = len(linear.expression.constants)
        allowed = linear.mse * (1 + 4 * constants / max(self.data.rows - constants, 1))
        good = [found for found in [*rounded, *fits, linear] if found.mse <= allowed]
        return choose(good, self.data), front([*rounded, *fits, linear])

    def exact(self) -> bool:
        return self.is_exact(self.best)

    def is_exact(self, candidate: Candidate) -> bool:
        return self.settings.exact > 0 and candidate.heldout_mse <= self.no_error

    def prune(self, trainer: Trainer, restart: int, epoch: int) -> set[str]:
        """Prune one network and try its candidates; the forms that came out."""
        settings = self.settings
        weights, nodes = trainer.snapshot(restart)
        trained = Trained(self.network, weights, nodes, self.train.y, self.train.weights)
        forms = set()
        for found in PRUNERS[settings.pruner](trained, settings.pruning, self.rng):
            key = frozenset(found.chosen.items())
            form = self.forms.get(key)
            if form is None or self.tries[form] < settings.fits_per_form:
                expression = self.network.expression(weights, found.chosen)
                form = self.forms[key] = self.consider(expression, epoch, found.chosen, weights)
            forms.add(form)
        if settings.reverse:
            several = reverse(trained)
            if several is not None:
                self.consider(several, epoch, None, weights)
        return forms

    def consider(self, expression: Expression, epoch: int, choice: Choice | None, weights: Array) -> str:
        """Fit a candidate unless its form has been fitted often enough; its form."""
        merged, form = canonical_and_skeleton(expression)
        plain = without_needless_abs(merged, self.train)
        if plain is not merged:
            merged, form = canonical_and_skeleton(plain)
        self.tries[form] = self.tries.get(form, 0) + 1
        if self.tries[form] <= self.settings.fits_per_form:
            candidate = self.candidate_of(merged, epoch, choice, weights)
            if candidate.heldout_mse < 0.9 * self.best.heldout_mse:
                self.best = self.shrink(candidate) if self.is_exact(candidate) else candidate
                self.improvements.append((epoch, str(self.best.fit.expression), self.best.heldout_mse))
        return form

    def shrink(self, candidate: Candidate) -> Candidate:
        """The simplest that is left when operators are taken out as long as the formula stays as good: 1000*sin(x/1000)
        is no better than x."""
        while True:
            good_enough = max(1.01 * candidate.heldout_mse, self.no_error)
            smaller = [self.candidate_of(v, candidate.epoch) for v in reductions(candidate.fit.expression)]
            smaller = [c for c in smaller if c.heldout_mse <= good_enough]
            if not smaller:
                return candidate
            simplest = min(smaller, key=lambda c: (c.fit.expression.complexity, c.heldout_mse))
            candidate = replace(simplest, choice=candidate.choice, weights=candidate.weights)

    def candidate_of(
        self, expression: Expression, epoch: int, choice: Choice | None = None, weights: Array | None = None
    ) -> Candidate:
        fitted = fit(expression, self.train, settings=FIRST_LOOK)
        if fitted.status is FitStatus.MAX_ITERATIONS and fitted.r2 > PROMISING:
            fitted = fit(fitted.expression, self.train, settings=SECOND_LOOK)
        values, finite = evaluate(fitted.expression, self.held.columns)
        with np.errstate(over="ignore"):
            squares = (values - self.held.y) ** 2
        error = float(np.average(squares, weights=self.held.weights)) if finite.all() else float("inf")
        candidate = Candidate(fitted, error, epoch, choice, weights)
        size = fitted.expression.complexity
        if size not in self.simplest or self.error(candidate) < self.error(self.simplest[size]):
            self.simplest[size] = candidate
        return candidate

    def error(self, candidate: Candidate) -> float:
        """On all rows, as fitted on the training rows."""
        return candidate.fit.mse * self.train.rows + candidate.heldout_mse * self.held.rows


def without_needless_abs(expression: Expression, data: Dataset) -> Expression:
    """log|u|, as the network has it, is log(u) where u is positive on all rows, and log(-u) where it is negative."""

    def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
        inner = operands[0] if operands else None
        if operator.name == "log" and isinstance(inner, Apply) and inner.operator.name == "abs":
            (operand,) = inner.operands
            values = evaluate(operand, data.columns).values
            if (values > 0).all():
                return apply("log", operand)
            if (values < 0).all():
                return apply("log", apply("neg", operand))
        return Apply(operator, operands)

    return fold(expression, lambda leaf: leaf, combine) if "log(abs(" in str(expression) else expression


def reductions(expression: Expression) -> list[Expression]:
    """The formulas with one operator less: each operator replaced by one of its operands, with a free coefficient."""
    nodes = postorder(expression)
    found: dict[str, Expression] = {}
    for i, node in enumerate(nodes):
        for operand in node.operands:
            counter = iter(range(len(nodes)))

            def leaf(this: Expression, counter: Iterator[int] = counter) -> Expression:
                next(counter)
                return this

            def combine(
                operator: Operator,
                operands: tuple[Expression, ...],
                counter: Iterator[int] = counter,
                i: int = i,
                operand: Expression = operand,
            ) -> Expression:
                return Constant(1.0) * operand if next(counter) == i else Apply(operator, operands)

            smaller, form = canonical_and_skeleton(fold(expression, leaf, combine))
            if smaller.complexity < expression.complexity:
                found.setdefault(form, smaller)
    return list(found.values())


def _split(data: Dataset, settings: SearchSettings) -> tuple[Dataset, Dataset]:
    """Training rows and held-out rows; all rows are both where there are too few, or too few that count."""
    if data.rows < 10:
        return data, data
    try:
        return data.split(settings.holdout, settings.seed)
    except DataError:
        if data.weights is None or data.weights.all():
            raise
        return data, data


def _linear(data: Dataset) -> Expression:
    """Where every search starts from: the linear model."""
    total: Expression = Constant(1.0)
    for name in data.names:
        total = total + Constant(1.0) * Variable(name)
    return total
