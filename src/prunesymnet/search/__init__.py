"""The search: one loop that composes what there is."""

from prunesymnet.search.constraints import Constraints
from prunesymnet.search.forms import freed, linear, reductions, without_needless_abs
from prunesymnet.search.judge import Candidate
from prunesymnet.search.loop import SearchResult, Start, Update, search
from prunesymnet.search.settings import PRESETS, SearchSettings, SearchStatus

__all__ = [
    "PRESETS",
    "Candidate",
    "Constraints",
    "SearchResult",
    "SearchSettings",
    "SearchStatus",
    "Start",
    "Update",
    "freed",
    "linear",
    "reductions",
    "search",
    "without_needless_abs",
]
