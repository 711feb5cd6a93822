"""From text to tree: Python's arithmetic, the operators of a table, and nothing else.

The text is only ever read, never run. Precedence is Python's (``-x**2`` is ``-(x**2)``, ``**`` groups to
the right, ``^`` is accepted for it, and ``ln`` for ``log``), and an error points at its column:

>>> parse("2*sin(x)**2 - 0.5/y")
Expression('2*sin(x)**2 - 0.5/y')
>>> parse("x + expo(y)")
Traceback (most recent call last):
prunesymnet.errors.ParseError: unknown function 'expo'; did you mean 'exp'?, at column 5:
  x + expo(y)
      ^

Two stacks instead of recursion: a text is read in time linear in its length. What has more symbols than anybody would
write, or more inside one another, is refused.
"""

import difflib
import keyword
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from prunesymnet.errors import ParseError
from prunesymnet.expression.tree import (
    DEEPEST,
    LARGEST_INT,
    MOST_NODES,
    Apply,
    Constant,
    Expression,
    Variable,
    index_of,
    power,
)
from prunesymnet.operators import OPERATORS, Operator

OTHER_NAMES = {"ln": "log"}  # of functions, as textbooks have them
LONGEST = 1_000_000  # characters, most of them blanks: a longer text is no formula

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)|(?P<symbol>\*\*|[-+*/^(),]))"
)
# What a symbol on the stack binds: (precedence, groups to the right).
_BINDING = {
    "+": (1, False), "-": (1, False), "*": (2, False), "/": (2, False), "negative": (3, True), "**": (4, True)
}  # fmt: skip


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


class _Pending(NamedTuple):
    """Something on the operator stack that waits for its operands."""

    symbol: str  # a key of _BINDING, or "(" for parentheses and calls
    column: int
    call: Operator | None = None
    height: int = 0  # of the operand stack when the parenthesis opened
    unknown: str = ""  # the name of a function that no table has


def parse(
    text: str,
    *,
    variables: Collection[str] | None = None,
    operators: Mapping[str, Operator] | Iterable[Operator] = (),
    unknown_functions: bool = False,
) -> Expression:
    """The tree that a text says; `variables` limits the names, `operators` adds a user's own rows. With
    `unknown_functions`, names before parentheses that no table has are functions that have no values (see `templates`).

    Whole numbers are exact, numbers with a point or an exponent are free constants (see `tree`).

    >>> parse("a*exp(-b*x)", variables=["x"])
    Traceback (most recent call last):
    prunesymnet.errors.ParseError: unknown variable 'a'; the variables are x, at column 1:
      a*exp(-b*x)
      ^
    """
    if not isinstance(text, str):
        raise TypeError(f"a formula must be text, got {type(text).__name__}")
    if len(text) > LONGEST:
        raise ParseError(f"a formula may have {LONGEST:,} characters, this text has {len(text):,}", text, 0)
    added = operators.values() if isinstance(operators, Mapping) else operators
    return _Parser(text, variables, {**OPERATORS, **{row.name: row for row in added}}, unknown_functions).run()


def _tokens(text: str) -> list[_Token]:
    found, at = [], 0
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            raise ParseError(f"{text[at]!r} has no meaning in a formula", text, at)
        kind = match.lastgroup
        start, at = match.span(kind)
        if kind == "name" and not text[start : at + 1].isascii():
            at = _end_of_name(text, start)
        if kind == "name" and text[at : at + 1] == "[":
            at = _end_of_index(text, start, at)
        found.append(_Token(kind, text[start:at], start))
    found.append(_Token("end", "", end))
    return found


def _end_of_name(text: str, start: int) -> int:
    """Where a name ends that is not plain ASCII: accents and vowel signs are part of it, the ² of x² is not."""
    at = start
    while at < len(text) and ("_" * (at > start) + text[at]).isidentifier():
        if unicodedata.category(text[at]) == "Po":
            break  # Python takes the dot of a·b for a letter
        at += 1
    if at == start:
        raise ParseError(f"{text[start]!r} has no meaning in a formula", text, start)
    return at


def _end_of_index(text: str, start: int, at: int) -> int:
    """Where the index of a constant that has a value in each category ends: a[site]."""
    end = text.find("]", at) + 1
    if not end or index_of(text[start:end]) is None:
        raise ParseError("an index must be the name of a column in brackets, as in a[site]", text, at)
    return end


def unknown_function(name: str, arity: int) -> Operator:
    """A function of which nothing is known but its name."""
    return Operator(name, arity, _no_values, _no_values, _no_values, (), recipe=None)


def _no_values(*_: object) -> object:
    raise TypeError("a function of a template has no values before it is found")


class _Parser:
    def __init__(
        self, text: str, variables: Collection[str] | None, table: Mapping[str, Operator], unknown: bool = False
    ) -> None:
        self.text, self.variables, self.table, self.unknown = text, variables, table, unknown
        self.tokens = _tokens(text)
        self.operands: list[Expression] = []
        self.pending: list[_Pending] = []
        self.grouped = 0  # parentheses among them that are no call: a formula that is printed may have one for each

    def fail(self, problem: str, column: int) -> ParseError:
        return ParseError(problem, self.text, column)

    def run(self) -> Expression:
        symbols = [token for token in self.tokens if token.text not in ("(", ")", ",", "")]
        if len(symbols) > MOST_NODES:
            problem = f"a formula may have {MOST_NODES:,} symbols, this text has {len(symbols):,}"
            raise self.fail(problem, symbols[MOST_NODES].column)
        want_operand = True
        i = 0
        while True:
            token = self.tokens[i]
            if want_operand:
                if max(self.grouped, len(self.pending) - self.grouped) > DEEPEST:
                    raise self.fail(f"a formula may have {DEEPEST:,} operations inside one another", token.column)
                used, want_operand = self.operand(i)
                i += used
                continue
            i += 1
            if token.kind == "end":
                break
            if token.text == ")":
                self.close(token)
            elif token.text == ",":
                self.comma(token)
                want_operand = True
            elif token.text == "^" or token.text in _BINDING:
                self.infix("**" if token.text == "^" else token.text, token.column)
                want_operand = True
            else:
                raise self.fail(f"expected an operator before {token.text!r} (a product needs its *)", token.column)
        self.reduce(0, False)
        if self.pending:
            raise self.fail("this parenthesis is never closed", self.pending[-1].column)
        return self.operands[0]

    def operand(self, i: int) -> tuple[int, bool]:
        """Read what can stand where an operand is due: how many tokens it took, and if one is still due."""
        token, after = self.tokens[i], self.tokens[min(i + 1, len(self.tokens) - 1)]
        if token.kind == "number":
            self.operands.append(Constant(self.number(token, 1)))
            return 1, False
        if token.kind == "name":
            return self.name(token, after)
        if token.text == "(":
            self.pending.append(_Pending("(", token.column, height=len(self.operands)))
            self.grouped += 1
            return 1, True
        if token.text == "+":
            return 1, True
        if token.text == "-":
            # A minus before a bare number is the number's sign, except that -2**2 is -(2**2), as in Python.
            raised = after.kind == "number" and self.tokens[i + 2].text in ("**", "^")
            if after.kind == "number" and not raised:
                self.operands.append(Constant(self.number(after, -1)))
                return 2, False
            self.pending.append(_Pending("negative", token.column))
            return 1, True
        if token.kind == "end":
            raise self.fail("the formula ends where an operand is due" if i else "the formula is empty", token.column)
        raise self.fail(f"expected an operand before {token.text!r}", token.column)

    def number(self, token: _Token, sign: int) -> int | float:
        if token.text.isdigit():
            whole = int(token.text) if len(token.text) <= 16 else LARGEST_INT + 1
            if whole > LARGEST_INT:
                raise self.fail("a whole number must be at most 2**53; write a larger one as 1.0e20", token.column)
            return sign * whole
        value = float(token.text)
        if value == float("inf"):
            raise self.fail("this number is too large", token.column)
        return sign * value

    def name(self, token: _Token, after: _Token) -> tuple[int, bool]:
        row, base = self.table.get(token.text), (index_of(token.text) or (token.text,))[0]
        if after.text == "(":
            row = row or self.table.get(OTHER_NAMES.get(token.text, ""))
            if row is not None and row.arity == 0:
                raise self.fail(f"{token.text!r} is a number: write it without parentheses", token.column)
            if row is None and self.unknown and token.text.isidentifier() and not keyword.iskeyword(token.text):
                self.pending.append(_Pending("(", token.column, None, len(self.operands), token.text))
                return 2, True
            if row is None:
                raise self.fail(f"unknown function {token.text!r}{self.guess(token.text)}", token.column)
            self.pending.append(_Pending("(", token.column, row, len(self.operands)))
            return 2, True
        if row is not None and row.arity == 0:
            self.operands.append(Apply(row, ()))
        elif row is not None:
            raise self.fail(f"{token.text!r} is an operator: write its operand in parentheses", token.column)
        elif self.variables is not None and token.text not in self.variables:
            names = ", ".join(self.variables)
            raise self.fail(f"unknown variable {token.text!r}; the variables are {names}", token.column)
        elif keyword.iskeyword(base):
            raise self.fail(f"{base!r} is a word of Python's own; a variable needs another name", token.column)
        elif base in OPERATORS:
            raise self.fail(f"{base!r} is an operator; a constant with an index needs another name", token.column)
        else:
            self.operands.append(Variable(token.text))
        return 1, False

    def guess(self, name: str) -> str:
        close = difflib.get_close_matches(name, [n for n in self.table if n.isidentifier()], n=1)
        return f"; did you mean {close[0]!r}?" if close else ""

    def infix(self, symbol: str, column: int) -> None:
        self.reduce(*_BINDING[symbol])
        self.pending.append(_Pending(symbol, column))

    def reduce(self, binding: int, to_the_right: bool) -> None:
        """Apply what is pending and binds more tightly than what comes next."""
        while self.pending and self.pending[-1].symbol != "(":
            top = _BINDING[self.pending[-1].symbol][0]
            if top < binding or (top == binding and to_the_right):
                return
            symbol = self.pending.pop().symbol
            right = self.operands.pop()
            if symbol == "negative":
                self.operands.append(Apply(OPERATORS["neg"], (right,)))
            elif symbol == "**":
                self.operands.append(power(self.operands.pop(), right))
            else:
                self.operands.append(Apply(OPERATORS[symbol], (self.operands.pop(), right)))

    def comma(self, token: _Token) -> None:
        self.reduce(0, False)
        if not self.pending or (self.pending[-1].call is None and not self.pending[-1].unknown):
            raise self.fail("a comma may only stand between the operands of a function", token.column)

    def close(self, token: _Token) -> None:
        self.reduce(0, False)
        if not self.pending:
            raise self.fail("this parenthesis was never opened", token.column)
        opened = self.pending.pop()
        given = tuple(self.operands[opened.height :])
        if opened.unknown:
            self.operands[opened.height :] = [Apply(unknown_function(opened.unknown, len(given)), given)]
            return
        if opened.call is None:
            self.grouped -= 1
            return
        if len(given) != opened.call.arity:
            raise self.fail(
                f"{opened.call.name!r} takes {opened.call.arity} operand(s), got {len(given)}", opened.column
            )
        self.operands[opened.height :] = [Apply(opened.call, given)]
