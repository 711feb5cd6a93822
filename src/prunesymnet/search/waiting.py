"""Proposals that wait to be fitted: the most promising of a batch go at once, the others when a level is through."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import attrgetter

from prunesymnet.bank.query import Proposal, by_rank
from prunesymnet.coefficients.description import rough_length
from prunesymnet.expression import Expression

OWN: Callable[[Proposal], float] = attrgetter("unexplained")  # of the target that a proposal was found for
AT_ONCE = 2  # of a batch, besides those that seem exact: of least error, and of shortest description


@dataclass
class Waiting:
    """Proposals by the stage that made them; `rows` is how many a formula is fitted on, and `known` are lengths that
    were computed ahead, by formula and what it leaves."""

    rows: int
    proposals: list[tuple[str, Proposal]] = field(default_factory=list)
    known: dict[tuple[Expression, float], float] = field(default_factory=dict)

    def add(
        self, stage: str, proposals: list[Proposal], unexplained: Callable[[Proposal], float] = OWN
    ) -> list[Proposal]:
        """Which to fit at once; the others wait. Those of shortest description give what is simple its turn on noisy
        data. `unexplained` says what one leaves of the target: proposals were found for targets and weights of many
        kinds, and what they leave of these can't be compared."""
        rest = [proposal for proposal in proposals if not proposal.exact]

        def length(proposal: Proposal) -> float:
            return self.length(replace(proposal, unexplained=unexplained(proposal)))

        promising = {id(p): p for key in (OWN, length) for p in sorted(rest, key=key)[:AT_ONCE]}
        self.proposals += [(stage, proposal) for proposal in rest if id(proposal) not in promising]
        return [*(p for p in proposals if p.exact), *promising.values()]

    def length(self, proposal: Proposal) -> float:
        known = self.known.get((proposal.expression, proposal.unexplained)) if self.known else None
        return rough_length(proposal.expression, self.rows, proposal.unexplained) if known is None else known

    def take(self, count: int, unexplained: Callable[[Proposal], float]) -> list[tuple[str, Proposal]]:
        """So many, and the rest is given up: in equal parts those of shortest description, whatever stage they are
        from, and of each stage the best of each complexity, then the second best of each, and so on, the stages in
        turn. Where points are noisy, the law is one of many that are about as short and fit about as well.
        `unexplained` is as for `add`."""
        measured = [(stage, replace(one, unexplained=unexplained(one))) for stage, one in self.proposals]
        self.proposals = []
        ranked = by_rank(measured, lambda one: one[1].unexplained, lambda one: (one[0], one[1].expression.complexity))
        turns: dict[str, int] = {}
        in_turn = []
        for one in ranked:
            turns[one[0]] = turn = turns.get(one[0], -1) + 1
            in_turn.append((turn, one))
        in_turn.sort(key=lambda entry: entry[0])
        shortest = sorted(measured, key=lambda one: self.length(one[1]))
        both = zip((one for _, one in in_turn), shortest, strict=True)
        different = {id(one[1]): one for pair in both for one in pair}
        return list(islice(different.values(), count))
