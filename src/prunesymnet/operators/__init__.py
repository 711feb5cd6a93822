"""What an operator is: the table of those that ship, and how a user adds one."""

from prunesymnet.operators.custom import make_operator
from prunesymnet.operators.table import DEFAULT, OPERATORS, PAPER, Operator, select_operators

__all__ = ["DEFAULT", "OPERATORS", "PAPER", "Operator", "make_operator", "select_operators"]
