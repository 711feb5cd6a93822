"""Units: what they mean, which formulas they allow, which groups of columns are pure numbers, what constants carry."""

from prunesymnet.units.constants import units_of_constants
from prunesymnet.units.groups import Groups, find_groups
from prunesymnet.units.labels import units_of_labels
from prunesymnet.units.parsing import Unit, parse_unit
from prunesymnet.units.soundness import is_sound
from prunesymnet.units.table import TableUnits, same_dimension

__all__ = [
    "Groups",
    "TableUnits",
    "Unit",
    "find_groups",
    "is_sound",
    "parse_unit",
    "same_dimension",
    "units_of_constants",
    "units_of_labels",
]
