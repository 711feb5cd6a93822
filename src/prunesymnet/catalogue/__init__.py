"""The names of well-known formulas, for those who read what was found; a search does not know them.

>>> from prunesymnet.expression import parse
>>> known_as(parse("212.7*conc/(conc + 0.0641)"))
"Michaelis-Menten's rate of an enzyme; also Langmuir's isotherm, Monod's growth, Holling's type II response"
>>> known_as(parse("212.7*conc/(conc - 0.0641)"))
''

What a name says is the form alone: that a table has exp(-9/(x + 4)) in it does not make it one of vapour pressures. Who
shows a name says so, "has the form of Antoine's vapour pressure".

`forms` has the table of formulas, `matching` says when a formula is one of them.
"""

from prunesymnet.catalogue.forms import FORMS, Form
from prunesymnet.catalogue.matching import known_as

__all__ = ["FORMS", "Form", "known_as"]
