"""Random texts to the parser: a formula that is printed and read back as it was, or an error that points at a place."""

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fuzzing import LONGEST, no_hang, tried
from prunesymnet.errors import ParseError
from prunesymnet.expression import canonical, evaluate, parse, to_text
from prunesymnet.operators import OPERATORS

# fmt: off
PIECES = [
    "x", "y", "z", "x1", "e", "pi", "E", "_", "λ", "1", "2", "0", "-1", "0.5", ".5", "1.", "1e5", "1e-300", "1e999",
    "0x1f", "1_000", "007", "99999999999999999999", "9007199254740993", "+", "-", "*", "/", "**", "^", "//", "%", "@",
    "(", ")", "((", "))", "[", "]", "{", "}", ",", ".", ";", ":", "=", "==", "!", "~", "&", "|", "<", ">", "'", '"',
    "\\", "#", "$", "`", " ", "  ", "\t", "\n", "\r", "\0", "\x1b", "\u202e", "\ud800", "²", "×", "−", "⁄", "١", "１",
    "∞", "nan", "inf", "None", "True", "lambda", "if", "else", "import", "__import__", "eval", "x.y", "x[0]", "f()",
    "sin", "sin(", "log(-1)", "exp(exp(", "1/0", "0**-1", "9**9**9", "(-8)**(1/3)", "1e308*10",
]
# fmt: on
names = sorted(OPERATORS)
pieces = st.one_of(st.sampled_from(PIECES), st.sampled_from(names), st.sampled_from([f"{name}(" for name in names]))
mixed = st.lists(pieces, max_size=25).map("".join)
repeated = st.tuples(pieces, st.integers(1, 3000), st.sampled_from(["", "x", "x)", "1"])).map(
    lambda p: p[0] * p[1] + p[2]
)
leaves = st.sampled_from(["x", "y", "2", "-1", "0.5", "1.5e3", "pi", "x1", "0", "1/3"])
formulas = st.recursive(
    leaves,
    lambda part: st.one_of(
        st.tuples(part, st.sampled_from([" + ", " - ", "*", "/", "**", " ** -"]), part).map("".join),
        st.tuples(st.sampled_from(["sin", "cos", "exp", "log", "sqrt", "tanh", "abs", ""]), part).map(
            lambda p: f"{p[0]}({p[1]})"
        ),
        part.map(lambda text: f"-{text}"),
    ),
    max_leaves=12,
)


@st.composite
def nearly_formulas(draw):
    """A formula with a few characters changed."""
    text = draw(formulas)
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.one_of(pieces, st.just(""))) + text[place + draw(st.integers(0, 3)) :]
    return text


def check_place(problem, text):
    assert 0 <= problem.column <= len(text)
    assert 0 < len(str(problem)) < LONGEST
    assert all(line.isprintable() for line in str(problem).split("\n"))


def check(text):
    with no_hang():
        try:
            found = parse(text)
        except ParseError as problem:
            check_place(problem, text)
            return
        again = parse(to_text(found))
        assert again == found
        if found.complexity > 40:
            return  # what is done with a formula is tested with shorter ones, and takes longer than reading it
        same = canonical(found)
        assert parse(to_text(same)) == same
        values = evaluate(found, {name: np.array([0.5, -2.0, 0.0]) for name in found.variables}).values
        assert np.shape(values) == ((3,) if found.variables else (1,))


@tried(20_000)
@given(st.one_of(st.text(max_size=40), mixed, formulas, nearly_formulas(), nearly_formulas(), repeated))
def test_a_text_is_a_formula_or_the_error_points_at_its_place(text):
    check(text)


def written(rng, depth):
    """A formula, drawn ten times as fast as hypothesis does."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["x", "y", "2", "-1", "0.5", "1.5e3", "pi", "x1", "0", "1/3"])
    kind = rng.random()
    if kind < 0.6:
        return written(rng, depth - 1) + rng.choice([" + ", " - ", "*", "/", "**", " ** -"]) + written(rng, depth - 1)
    inside = written(rng, depth - 1)
    return f"-{inside}" if kind < 0.7 else f"{rng.choice(['sin', 'exp', 'log', 'sqrt', 'abs', ''])}({inside})"


def changed(rng, text):
    for _ in range(rng.randrange(3)):
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice([*PIECES, ""]) + text[place + rng.randrange(4) :]
    return text


@tried(800)
@given(st.integers(0, 2**32))
def test_a_hundred_texts_at_a_time(seed):
    rng = random.Random(seed)  # noqa: S311
    for _ in range(50):
        check(changed(rng, written(rng, 4)))
        check("".join(rng.choices([*PIECES, *names], k=rng.randrange(12))))
