"""The names of well-known formulas, for those who read what was found; a search does not know them.

>>> from prunesymnet.expression import parse
>>> known_as(parse("212.7*conc/(conc + 0.0641)"))
"Michaelis-Menten's rate of an enzyme; also Langmuir's isotherm, Monod's growth, Holling's type II response"
>>> known_as(parse("212.7*conc/(conc - 0.0641)"))
''

`forms` has the table of formulas, `matching` says when a formula is one of them.
"""

from prunesymnet.catalogue.forms import FORMS, Form
from prunesymnet.catalogue.matching import known_as

__all__ = ["FORMS", "Form", "known_as"]
