"""What a stage is: a name, what it needs, and a function from a context to proposals.

A stage is one file here and one line in `STAGES`. It reads a `Context`, which it can't change, and gives batches of
proposals, the most promising first; the loop fits them, keeps the best, and decides whether to go on. Instead of
proposals a stage may give queries: `singles` and `query_pairs` ask the banks about those of all stages.

Only stages that come after a level look at the formulas so far. What the others propose hangs on the problem alone, so
that workers can be asked for it ahead of its turn, in `Part`s: a whole stage, or one batch of a stage that takes long.
"""

import enum
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb, inf
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import RECIPROCAL, Bank, Term, grow_bank
from prunesymnet.bank.monomials import monomial_terms
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal, Query, Scanner, in_parts
from prunesymnet.bank.targets import Factor
from prunesymnet.bank.words import Words, words_of
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression, canonical
from prunesymnet.network import Network
from prunesymnet.operators import UNNESTED
from prunesymnet.search.archive import ArchiveView, Candidate, Pruned
from prunesymnet.search.budget import Budget
from prunesymnet.search.settings import SearchSettings
from prunesymnet.structure import Reduction
from prunesymnet.structure.beside import Beside, find_beside
from prunesymnet.structure.find import find_likely_group, find_structure
from prunesymnet.structure.frame import FoundGroups
from prunesymnet.structure.parts import InParts, find_sum_or_product
from prunesymnet.structure.power_columns import find_power_columns
from prunesymnet.structure.products import Product

Array = NDArray[np.float64]
T = TypeVar("T")

ROWS_PER_TERM = 6  # rows for each term of a polynomial that is fixed, so that its coefficients mean something
QUERIES_AT_A_TIME = 64  # for single nodes: one product of matrices serves them all, and time is told after it
PAIRS_AT_A_TIME = 16  # for pairs: so many scans can be given up when an answer is exact
SAYS_SOMETHING = 0.5  # of the variation is left by a formula that is worth building on
MUCH_BETTER = 0.5  # of what was left is left by a pass over the front that is worth another
FITS_OF_A_PASS = 1 / 5  # of those that a level has
SHARE_OF_MEMORY = 1 / 8  # for each bank: there are several at a time, and the scan needs copies of them


class When(enum.Enum):
    """When a stage has its turn."""

    START = "before the banks"
    LEVEL = "at each level, with its banks"
    AFTER_LEVEL = "after each level, as long as it makes the best formula much better"


@dataclass(eq=False)
class Training:
    """How the training of networks goes on: the loss at each epoch, and at which it was pruned."""

    network: Network
    losses: list[float] = field(default_factory=list)
    prunings: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Batch:
    """Proposals of a stage, the most promising first, and how many formulas were scored for them. With `then_fit`, that
    many of all that were put off are fitted before the stage goes on. `pruned` says for each proposal where in a
    network it comes from, and `training` how that goes; `structure` is what of the problem's structure was found, and
    `best` for each query what the best single node leaves of it, and which one that is."""

    proposals: list[Proposal]
    scored: int = 0
    then_fit: int = 0
    pruned: tuple[Pruned, ...] = ()
    training: Training | None = None
    structure: tuple[Reduction, ...] = ()
    best: tuple[tuple[float, int], ...] = ()


@dataclass(frozen=True)
class Stage:
    """It proposes in one of three ways: by a generator of batches (`propose`); by functions, each of which makes one
    batch (`batches`), where workers may share them; or by parts of any kind (`parts`). `needs`: operators of which at
    least one must be there (none: no matter which). `waits`: which parts it has hangs on what others have answered.
    `once`: at the first level only, as a larger bank has nothing to add."""

    name: str
    when: When
    propose: Callable[["Context"], Iterator[Batch]] | None = None
    queries: Callable[["Context"], list[Query]] | None = None
    needs: tuple[str, ...] = ()
    batches: Callable[["Context"], Iterator[Callable[[], Batch]]] | None = None
    parts: Callable[["Context"], Iterator["Part"]] | None = None
    waits: bool = False
    once: bool = False

    @property
    def proposes(self) -> bool:
        return bool(self.propose or self.batches or self.parts)

    def can_run(self, problem: Problem) -> bool:
        return not self.needs or bool(set(self.needs) & set(problem.operators))

    def parts_of(self, context: "Context") -> Iterator["Part"]:
        """All that it proposes, in parts."""
        yield from as_far_as_numbers_allow(self.name, self._parts_of(context))

    def _parts_of(self, context: "Context") -> Iterator["Part"]:
        if self.parts is not None:
            yield from self.parts(context)
        elif self.batches is not None:
            yield from (Part(context, _batch_number, (self.name, k)) for k, _ in enumerate(context.batches_of(self)))
        elif self.propose is not None:
            yield Part(context, _whole_stage, (self.name,))


@dataclass(eq=False)
class Part:
    """Batches that are still to be made, by a function of a context and of some `arguments`: all that a worker has to
    be told. `ways_back` lead from its formulas to those of the context that asked for it, step by step. `stage` is the
    name of the one that proposes it there, `made` are batches that were made ahead, and `best` is what these say of the
    best single nodes, also to `origin`, which is the same part in its own terms (None: this one is). `work` is what a
    worker was asked for (None: nobody was); that of an `origin` may be in other terms, for the sake of `best`."""

    context: "Context"
    make: Callable[..., Iterable[Batch]]
    arguments: tuple[Any, ...] = ()
    ways_back: tuple[Callable[[Batch], Batch], ...] = ()
    stage: str = ""
    made: list[Batch] | None = None
    best: list[tuple[float, int]] = field(default_factory=list)
    origin: "Part | None" = None
    work: Any = None

    def then(self, way_back: Callable[[Batch], Batch]) -> "Part":
        return replace(self, ways_back=(*self.ways_back, way_back), made=None, origin=self.origin or self)

    def batches(self) -> Iterator[Batch]:
        """One by one, made when they are asked for."""
        made = as_far_as_numbers_allow(self.stage, self.make(self.context, *self.arguments))
        for batch in made if self.made is None else self.made:
            self.best.extend(batch.best if not self.best else ())
            yield put_back(batch, self.ways_back) if self.made is None else batch


def as_far_as_numbers_allow(stage: str, made: Iterable[T]) -> Iterator[T]:
    """The batches or parts of a stage, up to one for which a matrix can't be decomposed: the search goes on with the
    other stages."""
    try:
        yield from made
    except np.linalg.LinAlgError as error:
        warnings.warn(f"the stage {stage!r} ended early, and the search goes on without it: {error}", stacklevel=2)


def put_back(batch: Batch, ways: tuple[Callable[[Batch], Batch], ...]) -> Batch:
    for way in ways:
        batch = way(batch)
    return batch


def _whole_stage(context: "Context", name: str) -> Iterator[Batch]:
    propose = context.stage(name).propose
    return iter(()) if propose is None else propose(context)


def _batch_number(context: "Context", name: str, number: int) -> Iterator[Batch]:
    yield context.batches_of(context.stage(name))[number]()


def _single_answers(context: "Context", number: int) -> Iterator[Batch]:
    """One node of the large bank for each of some queries."""
    answers = context.scanner.singles(context.some_queries[number], context.single_bank)
    yield Batch(answers.proposals, answers.scored, best=tuple(answers.best))


def one_by_one(parts: Iterator[Part]) -> Iterator[tuple[Part, Batch]]:
    """The batches of parts, each made in its turn."""
    for part in parts:
        yield from ((part, batch) for batch in part.batches())


@dataclass(frozen=True)
class Context:
    """What a stage may know: the problem, how much it may try, the formulas so far, and (grown when first asked for)
    the banks of its level. `check` is called now and then by stages that take long: it may raise to end them. `ask`
    has parts made, by workers ahead of their turn if there are any."""

    problem: Problem
    budget: Budget
    scanner: Scanner
    archive: ArchiveView
    stages: tuple[Stage, ...]  # those that are switched on
    settings: SearchSettings
    train: Dataset  # all rows that candidates are fitted on; the problem has some of them
    reduced: bool = False  # whether the problem is a part of another, or has groups of its columns
    check: Callable[[], None] = lambda: None
    ask: Callable[[Iterator[Part]], Iterator[tuple[Part, Batch]]] = one_by_one

    def at(self, level: int) -> "Context":
        """At another level, whose banks are larger where a GPU scans them."""
        budget = Budget.of(level)
        return replace(self, budget=Budget.of(level, on_gpu=self.scanner.on_gpu(budget.pair_nodes)))

    def of(self, problem: Problem) -> "Context":
        """The same with another problem, from the start."""
        return replace(self, problem=problem, budget=Budget.of(0), reduced=True)

    def run(self, *when: When, wanted: Callable[[Stage], bool] = lambda _: True) -> Iterator[tuple[Stage, Batch]]:
        """The batches of all stages that have their turn and are `wanted`: together, or after a level, where each looks
        at the formulas so far."""
        if When.AFTER_LEVEL not in when:
            yield from ((self.stage(part.stage), batch) for part, batch in self.ask(self.parts(*when, wanted=wanted)))
            return
        for stage in self.stages_at(*when):
            if stage.propose is not None:
                yield from ((stage, batch) for batch in as_far_as_numbers_allow(stage.name, stage.propose(self)))

    def parts(self, *when: When, wanted: Callable[[Stage], bool] = lambda _: True) -> Iterator[Part]:
        """All that stages propose which are `wanted` and do not look at the formulas so far."""
        for stage in filter(wanted, self.stages_at(*when)):
            for part in self._prepared.get(stage.name) or stage.parts_of(self):
                part.stage = stage.name
                yield part

    @cached_property
    def _prepared(self) -> dict[str, list[Part]]:
        return {}

    def prepare(self, *when: When) -> Iterator[Part]:
        """Parts that will be asked for, of stages that wait for nothing."""
        for stage in self.stages_at(*when):
            if not stage.waits:
                self._prepared[stage.name] = list(stage.parts_of(self))
        return self.parts(*when, wanted=lambda stage: stage.name in self._prepared)

    def stages_at(self, *when: When) -> Iterator[Stage]:
        for stage in self.stages:
            if stage.when not in when or not stage.proposes or not stage.can_run(self.problem):
                continue
            if stage.once and self.budget.level:
                continue
            if stage.when is When.START or len(self.pair_bank):  # empty where no column varies within floats' range
                yield stage

    def stage(self, name: str) -> Stage:
        return next(stage for stage in self.stages if stage.name == name)

    @cached_property
    def _batches(self) -> dict[str, list[Callable[[], Batch]]]:
        return {}

    def batches_of(self, stage: Stage) -> list[Callable[[], Batch]]:
        """The functions that make the batches of a stage which has some."""
        if stage.name not in self._batches:
            self._batches[stage.name] = [] if stage.batches is None else list(stage.batches(self))
        return self._batches[stage.name]

    @cached_property
    def worked_out(self) -> dict[Any, Any]:
        """What a stage works out once for all of its parts: reduced problems with their contexts, queries."""
        return {}

    def formula(self, candidate: Candidate) -> Expression:
        """A candidate's formula, in terms of the problem's columns."""
        formula = self.problem.from_table(candidate.expression)
        return canonical(formula) if self.problem.is_translated else formula

    # Banks

    @cached_property
    def pair_bank(self) -> Bank:
        """Nodes to be paired, with their reciprocals."""
        return self.with_reciprocals(self.grow(self.budget.pair_nodes))

    @cached_property
    def single_bank(self) -> Bank:
        """Nodes to be tried one by one."""
        return self.grow(self.budget.single_nodes)

    @cached_property
    def words(self) -> Words:
        """What sums are made of."""
        return words_of(self.problem.columns, self.problem.operators, self.budget.words)

    @cached_property
    def nested_bank(self) -> Bank:
        """As many nodes as there are to be tried one by one, and functions may be inside of others."""
        return self.grow(len(self.single_bank), unnested=())

    @cached_property
    def pursuit_bank(self) -> Bank:
        return self.pair_bank.first(self.budget.pursuit_nodes)

    def grow(self, size: int, unnested: tuple[str, ...] = UNNESTED) -> Bank:
        memory = self.scanner.memory * SHARE_OF_MEMORY
        problem = self.problem
        return grow_bank(
            problem.columns, problem.operators.values(), size, memory=memory, dimensions=problem.dimensions,
            limits=self.settings.constraints.for_banks(), unnested=unnested,
        )  # fmt: skip

    def with_reciprocals(self, bank: Bank) -> Bank:
        return bank.with_reciprocals() if self.problem.divides else bank

    @cached_property
    def structure(self) -> FoundGroups | Product | None:
        """What the columns show of the problem's structure, before any formula."""
        problem = self.problem
        return find_structure(problem.columns, problem.y, problem.weights, problem.scales, self.check)

    @cached_property
    def likely_group(self) -> FoundGroups | None:
        """The group to try where the columns show no structure that could be told."""
        problem = self.problem
        return find_likely_group(problem.columns, problem.y, problem.weights) if self.structure is None else None

    @cached_property
    def without_power_columns(self) -> list[FoundGroups]:
        """Products of powers that y can be divided by, so that fewer columns are left, where there is no other
        structure."""
        problem = self.problem
        if self.structure is not None:
            return []
        target = problem.target_in_full or problem.target
        return find_power_columns(problem.columns, target.values, target.weights, self.check)

    @cached_property
    def beside(self) -> Beside | None:
        """A group beside linear terms, where there is no other structure."""
        problem = self.problem
        if self.structure is not None:
            return None
        return find_beside(problem.columns, problem.y, problem.weights, problem.scales, self.check)

    @cached_property
    def in_parts(self) -> InParts | None:
        """The parts that the columns fall into, if y is a sum or a product of functions of columns apart."""
        return find_sum_or_product(self.problem.columns, self.problem.y, self.check)

    # Queries

    @cached_property
    def queries(self) -> list[Query]:
        """About the target itself, and those of all stages that have some."""
        asking = [stage.queries for stage in self.stages if stage.queries and stage.can_run(self.problem)]
        return [Query(self.problem.target), *(query for queries in asking for query in queries(self))]

    @cached_property
    def some_queries(self) -> list[Sequence[Query]]:
        """Some queries at a time."""
        return list(in_parts(self.queries, QUERIES_AT_A_TIME))

    @cached_property
    def single_parts(self) -> list[Part]:
        """One node of the large bank for each query."""
        return [Part(self, _single_answers, (k,), stage="singles") for k in range(len(self.some_queries))]

    @cached_property
    def best_single(self) -> list[tuple[float, int]]:
        """For each query, what the best node of the large bank leaves unexplained (infinity where a scan has failed),
        and which one that is."""
        for _ in self.ask(part for part in self.single_parts if not part.best):
            self.check()
        both = zip(self.single_parts, self.some_queries, strict=True)
        return [best for part, queries in both for best in part.best or [(inf, 0)] * len(queries)]

    def simple_terms(self, count: int) -> list[Term]:
        """The simplest nodes."""
        return [self.pair_bank.term(node) for node in range(min(count, len(self.pair_bank)))]

    def simple_factors(self, count: int) -> list[Factor]:
        """The simplest nodes as factors to be divided out: for 1/f, multiplying by f."""
        bank, found = self.pair_bank, []
        for node in range(min(count, len(bank))):
            reciprocal = bank.operator[node] == RECIPROCAL
            found.append(Factor(bank.term(int(bank.left[node]) if reciprocal else node), divides=not reciprocal))
        return found

    def polynomial_terms(self, *degrees: int) -> list[tuple[Term, ...]]:
        """All terms up to each degree, where there are few enough for the rows."""
        columns = self.problem.columns
        most = len(self.problem.y) // ROWS_PER_TERM
        few = [degree for degree in degrees if comb(len(columns) + degree, degree) - 1 <= most]
        return [tuple(monomial_terms(columns, degree)) for degree in few]


def passes(context: Context, propose: Callable[[], Iterator[Batch]], longest: int | None = None) -> Iterator[Batch]:
    """What a stage proposes from the formulas so far, again and again, as long as that makes the best of them (of at
    most a `longest` complexity) much better."""

    def unexplained() -> float:
        front = [c for c in context.archive.front() if longest is None or c.expression.complexity <= longest]
        return min(map(context.archive.unexplained, front), default=1.0)

    while (before := unexplained()) < SAYS_SOMETHING:
        proposed = False
        for batch in propose():
            proposed = True
            yield batch
        if not proposed:
            return
        yield Batch([], then_fit=int(FITS_OF_A_PASS * context.settings.exhaustive.fits))
        if not unexplained() < MUCH_BETTER * before:
            return


def measured(proposals: list[Proposal], problem: Problem) -> list[Proposal]:
    """With what they leave of y itself, where they were scored on another target."""
    return [replace(proposal, unexplained=problem.unexplained(proposal.expression)) for proposal in proposals]


def substituted(proposals: list[Proposal], parts: dict[str, Expression]) -> list[Proposal]:
    """With formulas in place of columns."""
    return [replace(proposal, expression=proposal.expression.substitute(parts)) for proposal in proposals]
