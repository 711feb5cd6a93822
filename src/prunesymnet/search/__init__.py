"""The search: one loop that composes what there is."""

from prunesymnet.search.forms import freed, reductions, without_needless_abs
from prunesymnet.search.judge import Candidate
from prunesymnet.search.loop import SearchResult, Update, search
from prunesymnet.search.settings import PRESETS, SearchSettings, SearchStatus

__all__ = [
    "PRESETS",
    "Candidate",
    "SearchResult",
    "SearchSettings",
    "SearchStatus",
    "Update",
    "freed",
    "reductions",
    "search",
    "without_needless_abs",
]
