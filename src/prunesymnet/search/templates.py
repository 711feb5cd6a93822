"""The search for the parts of a template, `f(x, z)*exp(-g(y))`.

First the parts are polynomials, all fitted at once: that says what each of them is like, though not what it is. With
the others as they are, the frame around a part can be undone, and the values that come out are the target of an
ordinary search in the part's own columns. The formulas that such searches come up with are put together, one for each
part, and fitted at once on the targets themselves. Then each part of the best is searched again, with formulas in place
of the polynomials of the others, as long as that makes the description shorter.

What one part can make up for in another (a factor, a constant term) is fitted in both at first. A constant becomes 0, 1
or another round number where the description is shorter with it.
"""

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients import FitSettings
from prunesymnet.coefficients.description import constant_bits, residual_bits, rough_length
from prunesymnet.coefficients.fit import measure
from prunesymnet.data import Dataset, distinct_rows, make_dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import DataError, NothingFoundError
from prunesymnet.expression import Constant, Expression, canonical, canonical_and_skeleton
from prunesymnet.expression.canonical.terms import number_tree
from prunesymnet.expression.templates import Template, read_template
from prunesymnet.expression.tree import with_numbers
from prunesymnet.operators import Operator, select_operators
from prunesymnet.search.constraints import Constraints
from prunesymnet.search.forms import freed
from prunesymnet.search.frames import Filled, Frames, Smooth
from prunesymnet.search.linear_model import linear
from prunesymnet.search.live import Entry, Live
from prunesymnet.search.loop import search
from prunesymnet.search.result import Watcher
from prunesymnet.search.rows import Rows, some_rows
from prunesymnet.search.settings import SearchSettings, SearchStatus
from prunesymnet.search.stopping import Limits, no_more_time
from prunesymnet.selection import choose, chosen_by, criterion_of, front

Array = NDArray[np.float64]

DEGREES = (0, 1, 2, 3, 5, 8, 12)  # of the polynomials: each starts where the one before has ended
ROUNDS = 3  # times that each part is searched at most: once around polynomials, then around formulas
LEAST = 0.01  # seconds for a search whose turn comes after all time is used
FORMS = 8  # formulas of a part that are put together with those of the others
COMBINATIONS = 64  # of them: the first with the first, and so on
BEAM = 2  # of the shortest descriptions whose constants are rounded and whose parts are searched again
SHOWN = 12  # on the front at most: what is longer, and hardly better, nobody reads
HARDLY = 0.999  # times the error: what is no better than that is shown in the shorter way alone
BITS = 1.0  # that another round must win
FEWEST_ROWS = 8  # on which a part must have a value, to be searched
DENOMINATORS = (1, 2, 3, 4)  # of fractions that a constant is rounded to
NEARLY = 0.05  # of a constant: a round number that is further off is another number
FIRST_LOOK, LAST_LOOK = FitSettings(max_iterations=40), FitSettings(max_iterations=100)
STAGE = "template"  # what it is called while parts are put together
OF_A_PART = ("operators", "max_complexity", "constraints", "start_from")  # what can be said of one


@dataclass(frozen=True)
class PartSettings:
    """What may be said of one part: its operators, its largest complexity, its constraints, formulas to start from."""

    operators: tuple[str | Operator, ...]
    max_complexity: int | None
    constraints: Constraints
    start_from: tuple[str, ...]

    @classmethod
    def read(cls, name: str, given: Mapping[str, Any], settings: SearchSettings) -> "PartSettings":
        """From what the user says, checked; operators that are not named are those of the search."""
        if not isinstance(given, Mapping):
            raise TypeError(f"parts[{name!r}] must be a dict of {', '.join(OF_A_PART)}, got {given!r}")
        unknown = [key for key in given if key not in OF_A_PART]
        if unknown:
            raise ValueError(f"parts[{name!r}] must have no keys but {', '.join(OF_A_PART)}, got {unknown[0]!r}")
        own = {row.name: row for row in settings.operators if isinstance(row, Operator)}
        operators = tuple(own.get(str(one), one) for one in given.get("operators", settings.operators))
        select_operators(operators)  # or an error
        rules = given.get("constraints", {})
        try:
            constraints = rules if isinstance(rules, Constraints) else Constraints(**rules)
        except TypeError as problem:
            raise TypeError(f"parts[{name!r}]: constraints must be a dict of their fields: {problem}") from None
        most = given.get("max_complexity")
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
            raise ValueError(f"parts[{name!r}]: max_complexity must be a whole number >= 1, got {most!r}")
        return cls(operators, most, constraints, tuple(given.get("start_from", ())))


def search_templates(
    tables: Sequence[Dataset],
    settings: SearchSettings,
    *,
    watchers: Sequence[Watcher] = (),
    clock: Callable[[], float] = time.monotonic,
    more_time: Callable[[], float] = no_more_time,
) -> list[Front]:
    """A front for each table, of formulas that the templates of the settings give; tables are of the same rows with
    other targets. A part that several templates have is one for all of them. `watchers` are those of each table; for
    `clock` and `more_time` see `search`."""
    began = clock()
    templates = read_templates(settings, tables[0].names, [table.target for table in tables])
    together = not isinstance(settings.template, str)
    groups = (
        [(templates, list(tables))] if together else [([one], [t]) for one, t in zip(templates, tables, strict=True)]
    )
    loss = "squared" if settings.loss == "auto" else settings.loss
    fronts: list[Front] = []
    for k, (frames, data) in enumerate(groups):
        left = (settings.time_limit - (clock() - began)) / (len(groups) - k)
        ours = replace(settings, time_limit=max(left, LEAST))
        limits = Limits.start(ours, clock, more_time if k == len(groups) - 1 else no_more_time)
        live = Live(watchers if together else watchers[k : k + 1], limits)
        shared = together and len(data) > 1  # rows must stay the same in all of them
        rows = [one if shared else distinct_rows(one).with_loss(loss) for one in data]
        used = [some_rows(one, settings.rows, settings.seed) for one in rows]
        with np.errstate(all="ignore"):
            fronts += _TemplateSearch(Frames(frames, used), ours, rows, live).run()
    return fronts


def read_templates(settings: SearchSettings, columns: Sequence[str], targets: Sequence[str]) -> list[Template]:
    """The template of each target, and an error where one, or what is said of a part, can't be searched."""
    said = settings.template or ""
    own = [row for row in settings.operators if isinstance(row, Operator)]
    texts = [said if isinstance(said, str) else said.get(target, "") for target in targets]
    if not all(texts):
        raise ValueError(f"template must have a formula for each target ({', '.join(targets)}), got {said!r}")
    templates = [read_template(text, columns, own, f"number_{k}") for k, text in enumerate(texts)]
    known = {name for template in templates for name in template.parts}
    for name, given in settings.parts.items():
        if name not in known:
            raise ValueError(f"parts must name functions of the template ({', '.join(sorted(known))}), got {name!r}")
        PartSettings.read(name, given, settings)
    return templates


class _TemplateSearch:
    """The state of a search: what has been put together so far, by its form."""

    def __init__(self, frames: Frames, settings: SearchSettings, tables: list[Dataset], live: Live) -> None:
        self.frames, self.settings, self.tables = frames, settings, tables
        self.limits, self.live = live.limits, live
        self.shown: dict[str, Expression] = {name: linear(part.columns) for name, part in frames.parts.items()}
        self.parts = {name: PartSettings.read(name, settings.parts.get(name, {}), settings) for name in frames.parts}
        data = frames.data
        self.no_error = Rows.of(data, settings).no_error if len(tables) == 1 else settings.exact**2
        self.rules = settings.rules(columns=data.columns)
        self.pool: dict[tuple[str, ...], Filled] = {}
        self.fits, self.searches = 0, 0
        self.ended: SearchStatus | None = None

    def run(self) -> list[Front]:
        try:
            self.search()
        except (KeyboardInterrupt, StopIteration) as ended:
            if not self.pool:
                raise KeyboardInterrupt from None
            self.ended = SearchStatus.STOPPED if isinstance(ended, StopIteration) else SearchStatus.INTERRUPTED
        return self.fronts()

    def search(self) -> None:
        """Find parts, and put them together, as long as there is time and something to be won."""
        smooth = self.smooth()
        forms: dict[str, list[Expression]] = {}
        for name in self.frames.parts:
            forms[name] = self.forms(name, smooth.values, smooth.constants, levels=1)
            self.shown[name] = forms[name][0]
        ranks = product(*(list(enumerate(found)) for found in forms.values()))
        ordered = sorted(ranks, key=lambda chosen: sum(rank for rank, _ in chosen))[:COMBINATIONS]
        for chosen in ordered:
            self.add(dict(zip(forms, (form for _, form in chosen), strict=True)), smooth.constants)
            if self.is_over():
                break
        self.round_best()
        for again in range(1, ROUNDS):
            before, exact = self.best_length(), self.is_exact()
            # Of a formula that is exact already, each part is searched once more: it may be written in a shorter way.
            for filled in self.ranked()[: 1 if exact else BEAM]:
                self.search_again(filled, levels=again + 1)
            self.round_best()
            if exact or self.out_of_time() or self.best_length() > before - BITS:
                break

    def round_best(self) -> None:
        """Round the constants of the best, and of the same with all their numbers free again."""
        for filled in self.ranked()[:BEAM]:
            self.rounded(filled)
            free = {name: canonical(freed(formula)) for name, formula in filled.parts.items()}
            if not self.out_of_time() and (again := self.add(free, filled.constants)) is not None:
                self.rounded(again)

    def smooth(self) -> Smooth:
        """The parts as polynomials, of the degree by which rows that are left out are predicted best."""
        rng, rows = np.random.default_rng(self.settings.seed), self.frames.data.rows
        best: tuple[float, Smooth] | None = None
        found: Smooth | None = None
        for degree in DEGREES:
            found = self.frames.smooth(degree, found, FIRST_LOOK, rng)
            left = max(1 - len(found.weights) / rows, 1 / rows)
            error = max(found.found.mse, self.no_error) / left**2
            if best is None or error < best[0]:
                best = error, found
        assert best is not None  # noqa: S101 - there are degrees
        if not math.isfinite(best[0]):
            raise DataError(f"template: {self.settings.template!r} has no value on these data, whatever its parts are")
        return best[1]

    # Forms

    def forms(
        self, name: str, values: Mapping[str, Array], constants: Mapping[str, float], levels: int
    ) -> list[Expression]:
        """What a search finds for a part with the others as they are, numbers with a point for its constants: the
        shortest description first; and the simplest that a part can be."""
        part, said = self.frames.parts[name], self.parts[name]
        found: dict[str, Expression] = {}
        target, weights = self.frames.undone(name, values, constants)
        rows = weights > 0
        if rows.sum() >= FEWEST_ROWS and np.ptp(target[rows]) > 0 and not self.out_of_time():
            for form in self.searched(name, target[rows], weights[rows], rows, levels):
                for one in (form, freed(form)):
                    merged, key = canonical_and_skeleton(one)
                    if key not in found and self.may_be(merged, said):
                        found[key] = merged
        simplest: list[Expression] = [linear(part.columns), Constant(1.0)]
        for form in simplest:
            merged, key = canonical_and_skeleton(form)
            if self.may_be(merged, said):
                found.setdefault(key, merged)
        return list(found.values())[: FORMS + len(simplest)]

    def searched(
        self, name: str, target: Array, weights: Array, rows: NDArray[np.bool_], levels: int
    ) -> Iterator[Expression]:
        """The formulas on the front of a search for a part, the chosen one first."""
        said, settings = self.parts[name], self.settings
        planned = len(self.parts) * (1 + BEAM * (ROUNDS - 1))
        left = self.limits.time_limit - self.limits.seconds
        # Half of the time is for the first search of each part, which all the others build on.
        first = 2 * len(self.parts) - self.searches
        share = first if self.searches < len(self.parts) else max(planned - self.searches, 2)
        few = {
            one: max(limit // planned, 1)
            for one in ("max_fits", "max_evaluations")
            if (limit := getattr(settings, one)) is not None
        }
        ours = replace(
            settings,
            template=None, parts={}, units={}, constant_units=True, selection="mdl", loss="squared",
            operators=said.operators,
            max_complexity=said.max_complexity, constraints=said.constraints, start_from=said.start_from,
            time_limit=max(left / share, LEAST),
            exhaustive=replace(settings.exhaustive, levels=min(levels, settings.exhaustive.levels)), **few,
        )  # fmt: skip
        self.searches += 1
        columns = {one: column[rows] for one, column in self.frames.arguments(name).items()}

        def whole(formula: Expression) -> list[Entry]:
            return self.entries([self.frames.fit({**self.shown, name: formula}, {}, FIRST_LOOK)])

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns that the user was told of
            X = np.column_stack(list(columns.values()))
            table = make_dataset(X, target, names=list(columns), target=f"{name}_values", weights=weights)
            try:
                result = search(table, ours, watch=self.live.inside(whole), clock=self.limits.clock)
            except NothingFoundError:
                return
        self.fits += result.fits
        if result.status in (SearchStatus.INTERRUPTED, SearchStatus.STOPPED):
            self.ended = result.status
        shown = result.front
        order = sorted(range(len(shown)), key=lambda k: (k != shown.chosen, shown[k].description_length))
        yield from (shown[k].free_form or shown[k].expression for k in order)

    def may_be(self, form: Expression, said: PartSettings) -> bool:
        if said.max_complexity is not None and said.constraints.complexity(form) > said.max_complexity:
            return False
        return said.constraints.violated_by(form) is None

    def search_again(self, filled: Filled, levels: int) -> None:
        """Each part once more, with the others as they are."""
        for name in filled.parts:
            if self.out_of_time():
                return
            values = self.frames.values(filled)
            if not all(np.isfinite(column).all() for column in values.values()):
                return
            for form in self.forms(name, values, filled.constants, levels):
                self.add({**filled.parts, name: form}, filled.constants)

    # What is put together

    def add(self, parts: Mapping[str, Expression], constants: Mapping[str, float]) -> Filled | None:
        """Fit parts together, and keep them unless their form is there with a smaller error."""
        self.fits += 1
        found = self.frames.fit(parts, constants, FIRST_LOOK)
        if not math.isfinite(found.mse):
            return None
        if self.length(found) < self.best_length():
            found = self.frames.fit(found.parts, found.constants, LAST_LOOK)
        key = tuple(canonical_and_skeleton(formula)[1] for formula in found.parts.values())
        known = self.pool.get(key)
        if known is None or found.mse < known.mse:
            self.pool[key] = found
        if self.length(found) <= self.best_length():
            self.shown, self.live.fits = dict(found.parts), self.fits
            self.live.add(self.entries([found]), STAGE)
            self.live.tell(STAGE)
        return found

    def entries(self, filled: Sequence[Filled]) -> list[Entry]:
        """As they are shown while the search goes on."""
        return [
            (self.length(one), tuple(map(measure, self.frames.wholes(one), self.tables)))
            for one in (filled if self.live.watchers else ())
            if self.is_allowed(one)
        ]

    def length(self, filled: Filled) -> float:
        """The description length, but for the frames, which all have."""
        rows = self.frames.data.rows
        said = sum(rough_length(formula, rows, 1.0) for formula in filled.parts.values())
        rest = float(residual_bits(rows, max(filled.mse, self.no_error)))
        return said + len(filled.constants) * constant_bits(rows) + rest

    def best_length(self) -> float:
        return min(map(self.length, self.pool.values()), default=math.inf)

    def ranked(self) -> list[Filled]:
        def size(filled: Filled) -> tuple[float, int]:
            return self.length(filled), sum(formula.complexity for formula in filled.parts.values())

        return sorted(self.pool.values(), key=size)

    def rounded(self, filled: Filled) -> Filled:
        """With round numbers for constants, one after the other, as long as the description becomes shorter."""
        shortest = self.length(filled)
        going = True
        while going and not self.out_of_time():
            going = False
            for parts, constants in _rounder(filled):
                after = self.add(parts, constants)
                if after is not None and self.length(after) < shortest:
                    filled, shortest, going = after, self.length(after), True
                    break
        return filled

    def is_exact(self) -> bool:
        return self.settings.exact > 0 and any(one.mse <= self.no_error for one in self.pool.values())

    def out_of_time(self) -> bool:
        return self.ended is not None or self.limits.seconds > self.limits.time_limit

    def is_over(self) -> bool:
        """Whether there is an exact formula, or no time is left."""
        return self.is_exact() or self.out_of_time()

    # Answers

    def fronts(self) -> list[Front]:
        """For each target the formulas that no simpler one equals, and the one to believe."""
        allowed = [one for one in self.ranked() if self.is_allowed(one)]
        if not allowed:
            raise NothingFoundError("no formula was found that keeps the template and the constraints; relax them")
        kept = allowed[:SHOWN]
        status = self.ended or (SearchStatus.TIME_LIMIT if self.out_of_time() else SearchStatus.FINISHED)
        if any(one.mse <= self.no_error for one in kept):
            status = SearchStatus.EXACT_ON_FITTED
        found = []
        for k, table in enumerate(self.tables):
            merged = table if len(self.tables) == 1 else distinct_rows(table)
            equations = [self.equation(one, k, merged) for one in kept]
            chosen = choose(equations, criterion_of(self.settings.selection) if len(self.tables) == 1 else "mdl")
            shown = _clearly_better(front(equations, keep=chosen), chosen)
            if chosen.loss <= self.no_error * (table.variation if len(self.tables) > 1 else 1.0):
                shown = [equation for equation in shown if equation.complexity <= chosen.complexity]
            seconds = self.limits.seconds
            whole = Front(tuple(shown), shown.index(chosen), status.value, seconds, self.fits)
            found.append(chosen_by(self.settings.selection, whole))
        return found

    def is_allowed(self, filled: Filled) -> bool:
        wholes = self.frames.wholes(filled)
        most = self.settings.max_complexity
        fine = all(self.settings.constraints.violated_by(whole) is None for whole in wholes)
        short = most is None or all(self.settings.constraints.complexity(whole) <= most for whole in wholes)
        return fine and short and all(map(self.rules.has_shape, wholes))

    def equation(self, filled: Filled, k: int, table: Dataset) -> Equation:
        whole = self.frames.wholes(filled)[k]
        shape = tuple(map(str, self.rules.verdicts(whole)))
        parts = {
            self.frames.parts[name].text: self.frames.parts[name].in_columns(formula)
            for name, formula in filled.parts.items()
            if name in self.frames.templates[k].parts
        }
        costs = self.settings.constraints.costs
        made = Equation.of(measure(whole, table), table, length=self.length(filled), costs=costs)
        return replace(made, shape=shape, parts=parts)


def _clearly_better(equations: list[Equation], chosen: Equation) -> list[Equation]:
    """Without those that are longer and hardly better: the same formula, with a factor in each of two parts."""
    kept: list[Equation] = []
    for equation in equations:
        least = min((one.loss for one in kept), default=math.inf)
        if equation is chosen or equation.loss < HARDLY * least:
            kept.append(equation)
    return kept


def _rounder(filled: Filled) -> Iterator[tuple[dict[str, Expression], Mapping[str, float]]]:
    """The parts with one constant less: 0, 1 or a round number nearby in its place; the simplest first."""
    tries = []
    for name, formula in filled.parts.items():
        for place, value in enumerate(formula.constants):
            for number in _round_numbers(value):
                cost = abs(number.numerator) + number.denominator + (number < 0)
                tries.append((cost, abs(float(number) - value), name, place, number))
    for _, _, name, place, number in sorted(tries, key=lambda one: one[:2]):
        formula = canonical(with_numbers(filled.parts[name], {place: number_tree(number)}))
        yield {**filled.parts, name: formula}, filled.constants


def _round_numbers(value: float) -> list[Fraction]:
    near = {Fraction(round(value * below), below) for below in DENOMINATORS if abs(value) < 1e6}
    fine = [number for number in near if number and abs(float(number) - value) <= NEARLY * abs(value)]
    return [Fraction(0), Fraction(1), *(number for number in fine if number != 1)]
