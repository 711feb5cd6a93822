"""What an operator is: the table of those that ship, and how a user adds one."""

from prunesymnet.operators.custom import make_operator
from prunesymnet.operators.operator import Operator
from prunesymnet.operators.table import DEFAULT, OPERATORS, PAPER, UNNESTED, select_operators

__all__ = ["DEFAULT", "OPERATORS", "PAPER", "UNNESTED", "Operator", "make_operator", "select_operators"]
