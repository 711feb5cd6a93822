"""What a formula is: an immutable tree, its text, its values and derivatives, its canonical form."""

from prunesymnet.expression.canonical import canonical, canonical_and_skeleton, skeleton
from prunesymnet.expression.expanding import expanded, expanded_and_skeleton
from prunesymnet.expression.factoring import factored
from prunesymnet.expression.fingerprint import fingerprint
from prunesymnet.expression.parsing import parse
from prunesymnet.expression.printing import to_text
from prunesymnet.expression.program import Program, Values, compile_expression, evaluate, evaluate_torch
from prunesymnet.expression.rewriting import fewer_constants, tied
from prunesymnet.expression.tree import Apply, Constant, Expression, Variable, apply, fold, postorder, summands

__all__ = [
    "Apply",
    "Constant",
    "Expression",
    "Program",
    "Values",
    "Variable",
    "apply",
    "canonical",
    "canonical_and_skeleton",
    "compile_expression",
    "evaluate",
    "evaluate_torch",
    "expanded",
    "expanded_and_skeleton",
    "factored",
    "fewer_constants",
    "fingerprint",
    "fold",
    "parse",
    "postorder",
    "skeleton",
    "summands",
    "tied",
    "to_text",
]
