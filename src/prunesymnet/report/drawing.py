"""What the pictures share: colours, nodes and edges, letters that can be drawn, and how a picture becomes a file."""

import re
from collections.abc import Sequence
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
from numpy.typing import NDArray
from PIL import Image

from prunesymnet.runs.files import write_whole

Point = tuple[float, float]
Array = NDArray[np.float64]

# Okabe and Ito's colours, which the colour-blind can tell apart.
BLUE, ORANGE = "#0072B2", "#D55E00"
INK, GREY, PALE = "#222222", "#8A8A8A", "#D4D4D4"
FILLS = {"input": "#CFE8DF", "binary": "#D6E6F4", "unary": "#FBE6C8", "output": "#E9D8E6"}
SYMBOLS = {"-": "−", "*": "×", "/": "÷", "square": "x²", "cube": "x³", "sqrt": "√x"}
SYMBOLS |= {"inv": "1/x", "neg": "−x", "abs": "|x|", "pow": "xʸ"}

# Lengths are in units of the distance between two rows of nodes.
COLUMN = 3.6  # between two layers
RADIUS = 0.38  # of a node, whose neighbour is 1 away
PORT = 0.2  # how far above and below the middle of a node the operands of a binary operator enter
ZONE = 1.85  # before a column, where all edges are level, so that weights written there cross nothing
LONGEST_NAME = 18  # letters of a name that stands beside its node
WIDEST = 18  # inches: letters of a wider picture are too small once it fits on a screen
DOTS = 150  # per inch of an image: sharp on a screen, and letters can still be read in print
INSIDE = 3  # letters of a name that fit into a node


def network_axes(
    width: float, low: float, high: float, unit: float, *, left: str = "", right: str = "", panels: int = 1
) -> tuple[Figure, list[Axes]]:
    """A figure, and axes that fill it, two across where that is not too wide, for nodes from 0 to `width` with names
    beside them, the longest of which are `left` and `right`. A `unit` is so many inches."""
    start, end = (0.8 + 0.11 / unit * min(LONGEST_NAME, len(name)) * (len(name) > INSIDE) for name in (left, right))
    across = min(panels, 2) if 2 * width * unit <= WIDEST else 1
    down = -(-panels // across)
    size = across * (start + width + end) * unit, down * (high - low) * unit
    figure = Figure(figsize=size, facecolor="white")
    tight = {"left": 0, "right": 1, "bottom": 0, "top": 1, "wspace": 0, "hspace": 0}
    found = list(figure.subplots(down, across, squeeze=False, gridspec_kw=tight).ravel())
    for axes in found:
        axes.set(xlim=(-start, width + end), ylim=(low, high))
        axes.set_axis_off()
    for axes in found[panels:]:
        axes.remove()
    return figure, found[:panels]


def draw_node(
    axes: Axes, place: Point, text: str, kind: str, *, gid: object, size: float, beside: str = "", faint: bool = False
) -> None:
    """A node with its text in it, or `beside` it on the "left" or "right" where the text is long."""
    line, fill = (PALE, "white") if faint else (INK, FILLS[kind])
    layer = 2 if faint else 7  # above all edges, but for those that are faint
    axes.add_patch(
        Circle(place, RADIUS, facecolor=fill, edgecolor=line, linewidth=0.08 * size, zorder=layer, gid=f"node {gid}")
    )
    italic = kind in ("input", "output") and text not in ("1", "out")
    away = {"left": -RADIUS - 0.15, "right": RADIUS + 0.15}.get(beside if len(text) > INSIDE else "", 0.0)
    text = drawable(shorten(text, LONGEST_NAME if away else 6))
    axes.text(
        place[0] + away, place[1], text, ha="right" if away < 0 else "left" if away else "center",
        va="center_baseline", size=size if away or len(text) < INSIDE else size * 2.7 / len(text) + 0.7,
        style="italic" if italic else "normal", color=line, zorder=layer + 1, gid=f"name {gid}", parse_math=False,
    )  # fmt: skip


def draw_edge(
    axes: Axes, start: Point, end: Point, weight: float, *, gid: object, width: float = 1.8, text: str = ""
) -> None:
    """An edge in the colour of its weight's sign, with the weight's text on it."""
    colour = ORANGE if weight < 0 else BLUE
    _draw_curve(axes, [start, end], colour, width, f"edge {gid}", zorder=4)
    if text:
        axes.text(
            end[0] - (ZONE + RADIUS) / 2, end[1], text, size=9, ha="center", va="center", color=colour, zorder=6,
            gid=f"weight {gid}", parse_math=False, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip


def draw_chain(axes: Axes, start: Point, dots: Sequence[Point], *, gid: object, width: float = 1.8) -> None:
    """A node's value on its way past other layers: a dot in each of them."""
    _draw_curve(axes, [start, *dots], INK, 0.75 * width, f"chain {gid}", zorder=3)
    axes.plot(*np.array(dots).T, "o", markersize=2 * width, color=INK, zorder=5)


def _draw_curve(axes: Axes, points: Sequence[Point], colour: str, width: float, gid: str, zorder: int) -> None:
    """A curve through points, each in a column: level where it enters one. It ends behind the node."""
    vertices: list[Point] = [points[0]]
    codes = [int(Curve.MOVETO)]
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = x1 - ZONE
        middle = (x0 + RADIUS + bend) / 2
        vertices += [(middle, y0), (middle, y1), (bend, y1), (x1, y1)]
        codes += [int(Curve.CURVE4)] * 3 + [int(Curve.LINETO)]
    halo = [withStroke(linewidth=width + 1.6, foreground="white")]
    path = Curve(vertices, codes)
    axes.add_patch(
        PathPatch(path, facecolor="none", edgecolor=colour, lw=width, gid=gid, zorder=zorder, path_effects=halo)
    )


def save(figure: Figure, path: Path) -> None:
    """Write a picture in the format that the name ends with: svg, png or pdf. The same picture is the same file."""
    if path.suffix == ".svg":
        write_whole(path, svg_text(figure).encode())
        return
    with BytesIO() as buffer:
        if path.suffix == ".png":
            _save_png(figure, buffer)
        else:
            figure.savefig(buffer, format=path.suffix[1:], metadata={"CreationDate": None})
        write_whole(path, buffer.getvalue())


def _save_png(figure: Figure, file: BytesIO) -> None:
    with BytesIO() as buffer:
        figure.savefig(buffer, dpi=DOTS)
        with Image.open(buffer) as image:
            colours = image.convert("RGB")
    # With a palette: thousands of pale lines make a file several times as large without one.
    few = colours.quantize(128, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
    few.save(file, format="png", optimize=True, dpi=(DOTS, DOTS))


def svg_text(figure: Figure, **look: Any) -> str:
    """A picture as a vector graphic that is the same each time."""
    with BytesIO() as buffer:
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(buffer, format="svg", dpi=DOTS, metadata=nothing, **look)
        svg = buffer.getvalue().decode()
    # Matplotlib draws some ids by chance, unless a global setting says otherwise, which other threads would see.
    ids: dict[str, str] = {}
    return re.sub(r'(?<=["(#])[a-z][0-9a-f]{10}(?=[")])', lambda m: ids.setdefault(m[0], f"i{len(ids)}"), svg)


def short_number(value: float) -> str:
    """Three digits, in as little room as there is.

    >>> short_number(-0.123456), short_number(1.5e-9), short_number(12345.6)
    ('−0.123', '1.50e−9', '1.23e4')
    """
    if value == 0 or not np.isfinite(value) or 1e-3 <= abs(value) < 1e4:
        return f"{value:.3g}".replace("-", "−")
    digits, _, exponent = f"{value:.2e}".partition("e")
    return f"{digits}e{int(exponent)}".replace("-", "−")


def drawable(text: str) -> str:
    """A user's text on one line, with a box for each letter that the font of pictures does not have.

    >>> drawable("T [°C]"), drawable("a\\n温")
    ('T [°C]', 'a □')
    """
    return "".join(letter if has_glyph(letter) else "□" for letter in " ".join(text.split()))


def has_glyph(letter: str, family: str = "DejaVu Sans") -> bool:
    """Whether a font that comes with matplotlib has it."""
    return letter.isascii() or bool(get_font(findfont(FontProperties(family))).get_char_index(ord(letter)))


def shorten(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
