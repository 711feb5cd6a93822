"""A formula as it stands in a book, drawn with matplotlib's own typesetting: no LaTeX is needed, nor a font.

>>> print(to_svg("y = x^{2}", Gallery())[:100])
<svg class="formula" viewBox="...
"""

import re
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Curve
from matplotlib.textpath import TextToPath
from matplotlib.transforms import Affine2D, Bbox

from prunesymnet.report.drawing import INK, figure_of
from prunesymnet.report.svg import Gallery

LONGEST = 1500  # characters of LaTeX that are typeset
SIZE = 20.0  # points
SCALE = SIZE / TextToPath.FONT_SCALE
MARGIN = 2.0
_COMMANDS = {Curve.MOVETO: "M", Curve.LINETO: "L", Curve.CURVE3: "Q", Curve.CURVE4: "C", Curve.CLOSEPOLY: "Z"}


class Typeset(NamedTuple):
    """The outlines of a formula: each letter's shape, size and place, and bars. Lengths are in hundredths of SIZE."""

    letters: list[tuple[Curve, float, float, float]]  # outline, size, x, y
    bars: list[Curve]

    @property
    def outline(self) -> Curve:
        moved = [Affine2D().scale(size).translate(x, y).transform_path(path) for path, size, x, y in self.letters]
        return Curve.make_compound_path(*moved, *self.bars)

    @property
    def box(self) -> Bbox:
        """Around all points of the outlines, in points. (Exact extents of so many curves take seconds.)"""
        outline = self.outline
        vertices = np.asarray(outline.vertices)[np.asarray(outline.codes) != Curve.CLOSEPOLY]
        return Bbox(np.array([np.min(vertices, axis=0), np.max(vertices, axis=0)]) * SCALE)


def typeset(latex: str) -> Typeset | None:
    """None if a formula is too long, or has letters or commands that can't be drawn."""
    if len(latex) > LONGEST or not all(_has_glyph(letter) for letter in set(latex)):
        return None
    # Computer Modern has Greek letters where other fonts have accents and signs.
    font = FontProperties(math_fontfamily="cm" if latex.isascii() else "stix")
    try:
        letters, shapes, bars = TextToPath().get_glyphs_mathtext(font, f"${_adapted(latex)}$")
    except (ValueError, RecursionError):
        return None
    paths = {name: Curve(vertices, codes) for name, (vertices, codes) in shapes.items() if len(vertices)}
    placed = [(paths[name], size, x, y) for name, x, y, size in letters if name in paths]
    return Typeset(placed, [Curve(vertices, codes) for vertices, codes in bars]) if placed else None


def to_svg(latex: str, gallery: Gallery) -> str | None:
    """As an element of a page, in the colour and proportion of its text, and somewhat smaller where room is scarce."""
    made = typeset(latex)
    if made is None:
        return None
    box = made.box.padded(MARGIN)
    drawn = "".join(
        f'<use href="#{gallery.shape(_attributes(path))}" transform="matrix({SCALE * size:.4g} 0 0 {-SCALE * size:.4g} '
        f'{SCALE * x:.2f} {-SCALE * y:.2f})"/>'
        for path, size, x, y in made.letters
    )
    bars = "".join(f'<path {_attributes(bar)} transform="scale({SCALE:g} {-SCALE:g})"/>' for bar in made.bars)
    return (
        f'<svg class="formula" viewBox="{box.x0:.2f} {-box.y1:.2f} {box.width:.2f} {box.height:.2f}" '
        f'style="width:{box.width / 12:.2f}em;max-width:max(100%,{box.width / 17:.2f}em)" aria-hidden="true">'
        f'<g fill="currentColor">{drawn}{bars}</g></svg>'
    )


def _attributes(path: Curve) -> str:
    parts = []
    for points, code in path.iter_segments(curves=True, simplify=False):
        numbers = "" if code == Curve.CLOSEPOLY else " ".join(f"{value:.1f}" for value in np.ravel(points))
        parts.append(_COMMANDS[code] + numbers.replace(".0", ""))
    return f'd="{"".join(parts)}"'


def draw_latex(latex: str) -> Figure | None:
    """As a picture of its own."""
    made = typeset(latex)
    if made is None:
        return None
    box = made.box.padded(6 * MARGIN)
    axes = Figure(figsize=(box.width / 72, box.height / 72), facecolor="white").add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(box.x0, box.x1)
    axes.set_ylim(box.y0, box.y1)
    axes.add_patch(
        PathPatch(made.outline.transformed(Affine2D().scale(SCALE)), facecolor=INK, linewidth=0, gid="formula")
    )
    return figure_of(axes)


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


def _has_glyph(letter: str) -> bool:
    return letter.isascii() or bool(_fallback().get_char_index(ord(letter)))


@lru_cache(maxsize=1)
def _fallback() -> Any:
    """The font that has what the mathematical ones lack; it comes with matplotlib."""
    return get_font(findfont(FontProperties("STIXGeneral")))
