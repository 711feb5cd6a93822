"""A formula as it stands in a book, drawn with matplotlib's own typesetting: no LaTeX is needed, nor a font.

>>> draw_latex("y = x^{2}").get_size_inches().round(1)
array([0.8, 0.4])
"""

import re

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser

from prunesymnet.report.drawing import INK, has_glyph

LONGEST = 1500  # characters of LaTeX; a longer formula takes seconds, and nobody reads it
SIZE = 20.0  # points
MARGIN = 2.0  # points: letters lean out of the box that they are given


def draw_latex(latex: str) -> Figure | None:
    """None if a formula is too long, or has letters or commands that can't be drawn."""
    if not latex or len(latex) > LONGEST or not all(has_glyph(letter, "STIXGeneral") for letter in latex):
        return None
    # Computer Modern has Greek letters where other fonts have accents and signs; STIX has all there are.
    font = FontProperties(size=SIZE, math_fontfamily="cm" if latex.isascii() else "stix")
    text = f"${_adapted(latex)}$"
    try:
        width, height, depth, *_ = MathTextParser("path").parse(text, 72, font)
    except (ValueError, RecursionError):
        return None
    width, height = width + 2 * MARGIN, height + 2 * MARGIN
    figure = Figure(figsize=(width / 72, height / 72), facecolor="white")
    figure.text(MARGIN / width, (depth + MARGIN) / height, text, fontproperties=font, color=INK, gid="formula")
    return figure


_TALL = re.compile(r"\\frac|\\sqrt|\\left|\\right|\^")
_AROUND = re.compile(r"\\left([(|])((?:(?!\\left|\\right).)*)\\right([)|])", re.DOTALL)


def _adapted(latex: str) -> str:
    """For matplotlib: fractions that stand in no other, and in no exponent, in full size; plain parentheses around
    what is not tall, for those that stretch would shrink; and a space before the name of a function.

    >>> print(_adapted(r"\\frac{\\frac{1}{x}}{2} + y^{\\frac{1}{2}} \\sin\\left(z\\right)"))
    \\dfrac{\\frac{1}{x}}{2} + y^{\\frac{1}{2}} \\, \\sin(z)
    """
    plain = _AROUND.sub(lambda m: m[0] if _TALL.search(m[2]) else m[1] + m[2] + m[3], latex)
    plain = re.sub(r"(?<=[\w})]) (?=\\(?:(?:arc)?(?:sin|cos|tan)h?|log|max|min|operatorname)\b)", r" \\, ", plain)
    text, depth = "", 0
    for part in re.split(r"(\\frac(?![a-z])|\\[{}]|[{}])", plain):
        depth += {"{": 1, "}": -1}.get(part, 0)
        text += r"\dfrac" if part == r"\frac" and depth == 0 else part
    return text
