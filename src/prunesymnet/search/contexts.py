"""What the stages of a search may know, and the rows that they scan: one context, or with units of measurement two.

With units, first the dimensionless groups of the columns: all constants are pure numbers there. Then (if constants may
carry units, or there are no groups) the columns, of which nodes are made that are dimensionally sound.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Scanner
from prunesymnet.expression import Expression
from prunesymnet.search.archive import Archive, PartOfArchive
from prunesymnet.search.budget import Budget
from prunesymnet.search.rows import Rows
from prunesymnet.search.settings import SearchSettings
from prunesymnet.search.stages import STAGES, Batch, Context
from prunesymnet.search.stages.base import Part
from prunesymnet.search.workers import threads_for_scans
from prunesymnet.units import Groups, TableUnits, is_sound

SCAN_MEMORY = 0.5  # of the memory that banks may have: for the copies of one that a scan needs


@dataclass(frozen=True)
class Contexts:
    """Of a search: its settings, the units of the table and the groups that they make (None: there are none), and what
    contexts call: `check` now and then, and `ask` for parts of stages."""

    settings: SearchSettings
    units: TableUnits | None
    groups: Groups | None
    check: Callable[[], None]
    ask: Callable[[Iterator[Part]], Iterator[tuple[Part, Batch]]]

    def all(self, rows: Rows, archive: Archive) -> list[Context]:
        """At the first level."""
        if self.units is None:
            return [self._one(self._problem(rows), rows, archive)]
        contexts = []
        if self.groups is not None and self.groups.columns:
            context = self._one(self._problem(rows, self.groups), rows, archive)
            sound = PartOfArchive(archive, lambda candidate: self.is_pure(candidate.expression))
            contexts.append(replace(context, archive=sound) if self.units.constants else context)
        if self.units.constants or not contexts:
            # Of one column everything is sound with constants that carry what it takes: units rule no node out.
            free = self.units.constants and len(rows.train.names) == 1
            dimensions = None if free else self.units.dimensions
            contexts.append(self._one(self._problem(rows, None, dimensions), rows, archive))
        return contexts

    def again(self, contexts: list[Context], rows: Rows, archive: Archive) -> list[Context]:
        """For the rows and formulas as they are now, of the same columns; the last are those of `all`, and others are
        the first of these with fewer columns."""
        now = self.all(rows, archive)
        now = [*now[:1] * (len(contexts) - len(now)), *now]
        pairs = zip(now, contexts, strict=True)
        return [replace(one, problem=one.problem.only(before.problem.columns)) for one, before in pairs]

    def with_rows(self, context: Context, rows: Rows) -> Context:
        """The same context, of rows with other weights."""
        problem = self._problem(rows, context.problem.groups, context.problem.dimensions)
        return replace(context, problem=problem.only(context.problem.columns), train=rows.train)

    def is_pure(self, expression: Expression) -> bool:
        """Whether a formula is dimensionally sound with pure numbers as constants."""
        return self.units is not None and is_sound(expression, replace(self.units, constants=False))

    def _problem(
        self, rows: Rows, groups: Groups | None = None, dimensions: Mapping[str, float] | None = None
    ) -> Problem:
        """The training rows that are scanned."""
        most, operators = self.settings.exhaustive.rows, self.settings.searched_operators
        return Problem.of(rows.train, operators, most, self.settings.seed, groups=groups, dimensions=dimensions)

    def _one(self, problem: Problem, rows: Rows, archive: Archive) -> Context:
        settings, exhaustive = self.settings, self.settings.exhaustive
        threads, memory = threads_for_scans(settings.workers), exhaustive.memory * SCAN_MEMORY
        return Context(
            problem=problem,
            budget=Budget.of(0),
            scanner=Scanner(exhaustive.keep, threads, exhaustive.device, memory),
            archive=archive,
            stages=tuple(stage for stage in STAGES if stage.name not in exhaustive.without),
            settings=settings,
            train=rows.train,
            check=self.check,
            ask=self.ask,
        )
