"""What the pictures share: colours, the look of nodes and edges, short numbers, and how a picture becomes a file."""

import re
from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patches import Circle, PathPatch
from matplotlib.path import Path as Curve
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator
from numpy.typing import NDArray
from PIL import Image

Point = tuple[float, float]
Array = NDArray[np.float64]

# Okabe and Ito's colours, which the colour-blind can tell apart.
BLUE, ORANGE = "#0072B2", "#D55E00"
INK, GREY, PALE = "#222222", "#8A8A8A", "#D4D4D4"
FILLS = {"input": "#CFE8DF", "binary": "#D6E6F4", "unary": "#FBE6C8", "output": "#E9D8E6"}
SYMBOLS = {"-": "−", "*": "×", "/": "÷", "square": "x²", "cube": "x³", "sqrt": "√x"}
SYMBOLS |= {"inv": "1/x", "neg": "−x", "abs": "|x|", "pow": "xʸ"}

# Lengths are in units of the distance between two rows.
COLUMN = 3.6  # between two layers
RADIUS = 0.38
PORT = 0.2  # how far above and below the middle a binary operator's operands enter
ZONE = 1.85  # before a column, where all edges are level: weights written there cross nothing


def curve(axes: Axes, points: Sequence[Point], colour: str, width: float, gid: str, zorder: int) -> None:
    """An edge through points, each in a column: level where it enters one."""
    vertices: list[Point] = [points[0]]
    codes = [int(Curve.MOVETO)]
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = round(x1 / COLUMN) * COLUMN - ZONE
        middle = (x0 + bend) / 2
        vertices += [(middle, y0), (middle, y1), (bend, y1), (x1, y1)]
        codes += [int(Curve.CURVE4)] * 3 + [int(Curve.LINETO)]
    halo = [withStroke(linewidth=width + 1.6, foreground="white")]
    axes.add_patch(
        PathPatch(
            Curve(vertices, codes),
            facecolor="none",
            edgecolor=colour,
            linewidth=width,
            gid=gid,
            zorder=zorder,
            capstyle="round",
            path_effects=halo,
        )
    )


def draw_node(
    axes: Axes,
    place: Point,
    text: str,
    kind: str,
    *,
    name: object,
    size: float,
    outside: bool = False,
    faint: bool = False,
) -> None:
    """A node and what is written in it, or beside it if `outside`."""
    x, y = place
    axes.add_patch(
        Circle(
            (x, y),
            RADIUS,
            facecolor="white" if faint else FILLS[kind],
            edgecolor=PALE if faint else INK,
            linewidth=0.1 * size * (0.6 if faint else 0.9),
            zorder=2 if faint else 7,
            gid=f"node {name}",
        )
    )
    outside = outside and text != "1"
    text = drawable(shorten(text, 18 if outside else 6))
    axes.text(
        x - RADIUS - 0.15 if outside else x, y, text, ha="right" if outside else "center", va="center_baseline",
        size=size if outside or len(text) < 3 else size * 2.7 / len(text) + 0.7,
        style="italic" if kind in ("input", "output") and text not in ("1", "out") else "normal",
        color=PALE if faint else INK, zorder=2.5 if faint else 8, gid=f"name {name}", parse_math=False,
    )  # fmt: skip


def on_log_axis(axes: Axes, values: Array) -> Array:
    """Where numbers >= 0 go on a logarithmic axis: a 0 goes below all others, to a tick that calls it 0."""
    positive = values[values > 0]
    least, most = (float(positive.min()), float(positive.max())) if positive.size else (1.0, 1.0)
    if positive.size == values.size:
        return values
    nought = 10 ** max(np.log10(least) - 0.4 * max(np.log10(most) - np.log10(least), 1.0), -307.0)
    decades = [d for d in LogLocator(numticks=5).tick_values(least, most) if least / 2 <= d <= most * 2]
    axes.yaxis.set_major_locator(FixedLocator([nought, *decades]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: "0" if value < least / 2 else power_text(value)))
    return np.where(values > 0, values, nought)


def save(figure: Figure, path: Path) -> None:
    """With a palette: thousands of pale lines make a file several times as large without one."""
    with BytesIO() as buffer:
        figure.savefig(buffer, dpi=150)
        with Image.open(buffer) as image:
            colours = image.convert("RGB")
    few = colours.quantize(128, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
    few.save(path, optimize=True, dpi=(150, 150))


def figure_of(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None  # noqa: S101 - it was made with one
    return figure


def sign_colour(weight: float) -> str:
    return ORANGE if weight < 0 else BLUE


def short_number(value: float) -> str:
    """Three digits, in as little room as there is."""
    text = f"{value:.3g}" if value == 0 or 1e-3 <= abs(value) < 1e4 else f"{value:.2e}"
    return re.sub(r"e([+-])0*(\d)", lambda e: "e" + e[1].replace("+", "") + e[2], text).replace("-", "−")


def power_text(value: float) -> str:
    """A number > 0 as a power of ten, in letters alone: they are drawn faster than mathematics.

    >>> power_text(1e-12), power_text(50000.0), power_text(1.0)
    ('10⁻¹²', '5×10⁴', '1')
    """
    if 0.1 <= value < 100:
        return f"{value:.3g}"
    digits, exponent = f"{value:.1e}".replace(".0", "").split("e")
    power = f"10{superscript(int(exponent))}"
    return power if digits == "1" else f"{digits}×{power}"


def superscript(number: int) -> str:
    return str(number).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def drawable(text: str) -> str:
    """A text of a user's on one line, with a box for each letter that the font of pictures does not have.

    >>> drawable("T [°C]"), drawable("a\\n温")
    ('T [°C]', 'a □')
    """
    return "".join(
        letter if letter.isascii() or _font().get_char_index(ord(letter)) else "□" for letter in " ".join(text.split())
    )


@lru_cache(maxsize=1)
def _font() -> Any:
    return get_font(findfont(FontProperties()))


def shorten(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
