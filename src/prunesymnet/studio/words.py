"""What a search does, and what state it is in, in words that need no manual."""

from collections.abc import Mapping
from types import MappingProxyType

STAGES: Mapping[str, str] = MappingProxyType(
    {
        "linear": "Fitting the linear model",
        "constant": "Fitting the linear model",
        "start": "Taking up the formulas found before",
        "columns": "Choosing the columns that matter most",
        "power_law": "Trying products of powers",
        "polynomials": "Trying polynomials",
        "growth": "Trying growth by a share in each step",
        "unwrapping": "Taking functions off the target",
        "fixed_terms": "Looking for what is missing beside large terms",
        "denominators": "Looking for denominators",
        "pairs": "Scoring all pairs of small formulas",
        "wide_pairs": "Scoring all pairs of many more formulas",
        "singles": "Scoring many small formulas one by one",
        "chains": "Undoing chains of functions",
        "rational": "Trying quotients of polynomials, and roots",
        "powers": "Trying products of several powers",
        "factored_quotients": "Trying quotients with a factor in front",
        "exact_sums": "Looking for exact sums of simple functions",
        "dictionaries": "Looking for exact sums with one more term",
        "squares": "Looking for squares of sums",
        "sums": "Looking for sums of a few simple terms",
        "families": "Looking for constants inside functions",
        "member_sums": "Adding up peaks, decays and steps",
        "envelopes": "Looking for waves that decay, grow or come in packets",
        "sums_of_waves": "Adding up waves",
        "groups": "Looking for groups of columns",
        "in_groups": "Searching formulas of a group of columns",
        "without_power_columns": "Searching what columns that enter as powers leave",
        "in_groups_again": "Searching in groups of columns once more",
        "angles": "Looking for sides and angles",
        "frequencies": "Looking for waves",
        "phases": "Looking for waves that are shifted",
        "waves_of_sums": "Looking for waves of sums",
        "beside": "Looking for a group beside linear terms",
        "apart": "Asking which columns act apart from each other",
        "sure_parts": "Searching parts that have no column in common",
        "query_pairs": "Scoring pairs for what looks most promising",
        "pursuit": "Adding one term after the other",
        "grafts": "Exchanging parts of good formulas",
        "blocks": "Taking parts of good formulas for columns",
        "nested": "Looking for functions inside functions",
        "parts": "Searching parts that may have no column in common",
        "tails": "Looking again with the outermost rows in full",
        "networks": "Training and pruning a network",
        "waiting": "Fitting formulas that had to wait",
        "fits": "Fitting formulas that had to wait",
        "units": "Trying the product that the units ask for",
        "categories": "Fitting formulas to all categories",
        "template": "Putting the parts of the template together",
    }
)
STATES: Mapping[str, str] = MappingProxyType(
    {
        "queued": "Waiting for a free core",
        "starting": "Starting",
        "running": "Searching",
        "paused": "Paused",
        "stopping": "Stopping",
        "ended": "Finished",
        "stopped": "Stopped",
        "cut off": "Ended from outside",
        "failed": "Could not go on",
    }
)


def stage_in_words(name: str, epoch: int = 0) -> str:
    """
    >>> stage_in_words("pairs"), stage_in_words("networks", 120)
    ('Scoring all pairs of small formulas', 'Training and pruning a network, epoch 120')
    """
    words = STAGES.get(name, f"Trying {name.replace('_', ' ')}" if name else "Starting")
    return f"{words}, epoch {epoch}" if epoch else words
