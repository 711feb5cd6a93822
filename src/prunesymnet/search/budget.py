"""Every number that grows with the level of a search, in one place.

A search goes through levels, and each has several times the formulas of the one before: where nothing ends it, level 0
takes some seconds on one core, level 1 about a minute. So what costs most (pairs: the square of their bank) grows
slowest.

>>> [Budget.of(level).pair_nodes for level in range(3)]
[400, 1200, 3600]

A GPU scores pairs a hundred times as fast as a core, or more, so the banks whose pairs are scanned are larger there,
but for level 0, which is to end before a GPU has started.

>>> [Budget.of(level, on_gpu=True).pair_nodes for level in range(3)]
[400, 9600, 28800]
"""

from dataclasses import dataclass

WIDER = 8  # times as many nodes of which a GPU scans all pairs: 64 times as many pairs, in less time than a core takes


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a level may try."""

    level: int
    pair_nodes: int  # of the bank whose pairs are scanned, before reciprocals
    wide_nodes: int  # the same of each column for the target alone, later: a tenth of a second or two
    single_nodes: int  # of the bank whose nodes are tried one by one: a node costs as many operations as it has rows
    pursuit_nodes: int  # of the first, the simplest, for several terms at once, where each step has several scans
    factors: int  # simple nodes that are divided out, fixed as a term, or put into the denominator
    paired_queries: int  # queries that are asked for pairs, the most promising ones
    queries_at_a_time: int  # so that time can be told between two scans
    chain_columns: int  # columns in the product that a chain begins with
    chain_factors: int  # such products
    wave_nodes: int  # simple nodes u whose sin(w*u) are tried for all frequencies
    slow_wave_nodes: int  # more nodes, for the lower frequencies only
    wave_terms: int  # simple terms beside which waves are tried
    phase_nodes: int  # nodes that are added up inside a sine: all their pairs are tried
    phase_grid: int  # frequencies of each of them
    wave_words: int  # simple terms of which up to three are added up inside a wave: all their sums are tried
    family_nodes: int  # simple nodes inside members of families
    located_columns: int  # at most, for peaks and steps to be tried in each: they have a grid of two constants
    family_partners: int  # nodes that stand before or beside a member
    family_pairs: int  # of a member with a node or another member: of many members, fewer are tried
    member_pairs: int  # of two members, to begin sums of several with
    family_terms: int  # simple terms beside which a member stands with a node
    pursuit_beam: int  # states that go on side by side
    words: int  # simple terms of which sums are made where there is noise
    paired_words: int  # the same where all their pairs are tried
    lone_words: int  # the same where they stand beside a constant alone
    sum_factors: int  # simple nodes that are divided out before such sums

    @classmethod
    def of(cls, level: int, *, on_gpu: bool = False) -> "Budget":
        wider = WIDER if on_gpu and level else 1
        return cls(
            level=level,
            pair_nodes=wider * 400 * 3**level,
            wide_nodes=wider * 1000 * 3**level,
            single_nodes=5000 * 5**level,
            pursuit_nodes=wider * 800 * min(2**level, 2),
            factors=24 * 3**level,
            paired_queries=120 // (1 + level),
            queries_at_a_time=max(16 // 4**level, 1),
            chain_columns=1 + level,
            chain_factors=24 * 6**level,
            wave_nodes=16 * 4**level,
            slow_wave_nodes=128 * 6**level,
            wave_terms=4 * 2**level,
            phase_nodes=10 + 2 * level,
            phase_grid=64 * 2**level,
            wave_words=96 * min(2**level, 4),
            family_nodes=16 * 3**level,
            located_columns=3 * 3**level,
            family_partners=100 * 3**level,
            family_pairs=60_000 * 8**level,
            member_pairs=500_000 * 8**level,
            family_terms=12 * level,
            pursuit_beam=3 + level,
            words=800 * 3**level,
            paired_words=1600 * min(2**level, 4),
            lone_words=8000 * min(2**level, 4),
            sum_factors=8 * 3**level,
        )
