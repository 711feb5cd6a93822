"""The stages of a search, one module each, in the order in which they have their turn.

`STAGES` is that order, the list of what can be switched off, and the list of what is measured: each is there because
something is lost without it.
"""

from prunesymnet.search.stages.angles import ANGLES
from prunesymnet.search.stages.base import Batch, Context, Stage, Training, When
from prunesymnet.search.stages.beside import BESIDE
from prunesymnet.search.stages.blocks import BLOCKS
from prunesymnet.search.stages.chains import CHAINS
from prunesymnet.search.stages.denominators import DENOMINATORS
from prunesymnet.search.stages.envelopes import ENVELOPES_OF_WAVES
from prunesymnet.search.stages.exact.dictionaries import DICTIONARIES
from prunesymnet.search.stages.exact.squares import SQUARES
from prunesymnet.search.stages.exact.sums import EXACT_SUMS
from prunesymnet.search.stages.factored_quotients import FACTORED_QUOTIENTS
from prunesymnet.search.stages.families import FAMILIES
from prunesymnet.search.stages.fixed_terms import FIXED_TERMS
from prunesymnet.search.stages.frequencies import FREQUENCIES_OF_NODES
from prunesymnet.search.stages.grafts import GRAFTS
from prunesymnet.search.stages.groups import GROUPS, IN_GROUPS, IN_GROUPS_AGAIN, WITHOUT_POWER_COLUMNS
from prunesymnet.search.stages.growth import GROWTH
from prunesymnet.search.stages.member_sums import MEMBER_SUMS
from prunesymnet.search.stages.nested import NESTED
from prunesymnet.search.stages.pairs import PAIRS, WIDE_PAIRS
from prunesymnet.search.stages.parts import APART, PARTS, SURE_PARTS
from prunesymnet.search.stages.phases import PHASES
from prunesymnet.search.stages.polynomials import POLYNOMIALS
from prunesymnet.search.stages.power_law import POWER_LAW
from prunesymnet.search.stages.powers import POWERS
from prunesymnet.search.stages.pursuit import PURSUIT
from prunesymnet.search.stages.query_pairs import QUERY_PAIRS
from prunesymnet.search.stages.rational import RATIONAL
from prunesymnet.search.stages.singles import SINGLES
from prunesymnet.search.stages.sums import SUMS
from prunesymnet.search.stages.sums_of_waves import SUMS_OF_WAVES
from prunesymnet.search.stages.tails import TAILS
from prunesymnet.search.stages.unwrapping import UNWRAPPING
from prunesymnet.search.stages.waves_of_sums import WAVES_OF_SUMS

STAGES: tuple[Stage, ...] = (
    POWER_LAW,
    POLYNOMIALS,
    GROWTH,
    GROUPS,
    UNWRAPPING,
    FIXED_TERMS,
    DENOMINATORS,
    PAIRS,
    SINGLES,
    TAILS,
    RATIONAL,
    EXACT_SUMS,
    IN_GROUPS,
    CHAINS,
    ANGLES,
    POWERS,
    FACTORED_QUOTIENTS,
    DICTIONARIES,
    WIDE_PAIRS,
    WITHOUT_POWER_COLUMNS,
    SUMS,
    FAMILIES,
    FREQUENCIES_OF_NODES,
    ENVELOPES_OF_WAVES,
    SUMS_OF_WAVES,
    PHASES,
    MEMBER_SUMS,
    WAVES_OF_SUMS,
    SQUARES,
    APART,
    SURE_PARTS,
    QUERY_PAIRS,
    PURSUIT,
    BESIDE,
    IN_GROUPS_AGAIN,
    GRAFTS,
    BLOCKS,
    NESTED,
    PARTS,
)

__all__ = ["STAGES", "Batch", "Context", "Stage", "Training", "When"]
