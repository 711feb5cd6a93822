"""The search: one loop that composes what there is."""

from prunesymnet.search.archive import Candidate, Pruned
from prunesymnet.search.by_category import search_by_category
from prunesymnet.search.constraints import Constraints
from prunesymnet.search.finish import front_of
from prunesymnet.search.loop import search
from prunesymnet.search.result import SearchResult, Start, Update
from prunesymnet.search.settings import DIFFERENCES, PRESETS, ExhaustiveSettings, SearchSettings, SearchStatus
from prunesymnet.search.stages import STAGES
from prunesymnet.search.templates import search_templates

__all__ = [
    "DIFFERENCES",
    "PRESETS",
    "STAGES",
    "Candidate",
    "Constraints",
    "ExhaustiveSettings",
    "Pruned",
    "SearchResult",
    "SearchSettings",
    "SearchStatus",
    "Start",
    "Update",
    "front_of",
    "search",
    "search_by_category",
    "search_templates",
]
