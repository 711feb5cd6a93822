"""Pictures as elements of a page: they follow it into dark mode, share their letters, and ask for nothing elsewhere."""

import base64
import html
import re
from io import BytesIO

from matplotlib.figure import Figure

from prunesymnet.report.drawing import BLUE, FILLS, GREY, INK, ORANGE, PALE

LARGEST = 300_000  # characters; beyond, a picture is made of pixels
DENSITY = 150  # pixels per inch
_COLOURS = {
    INK: "ink", GREY: "grey", PALE: "pale", BLUE: "blue", ORANGE: "orange", "#ffffff": "card",
    **{colour: kind for kind, colour in FILLS.items()},
}  # fmt: skip
_COLOUR = re.compile("|".join(_COLOURS), re.IGNORECASE)
_BY_HEX = {colour.lower(): f"var(--{name})" for colour, name in _COLOURS.items()}
_LETTER = re.compile(r'<path id="([^"]*)" d="([^"]*)" (transform="scale\([\d.]+\)")/>')
_USES = re.compile(r'(?:<use [^>]* style="([^"]*)"/>\s*)(?:<use [^>]* style="\1"/>\s*)+')


class Gallery:
    """The pictures of one page, and the shapes that several of them have."""

    def __init__(self) -> None:
        self.shapes: dict[str, str] = {}  # how it is drawn: its id

    def shape(self, drawn: str) -> str:
        """The id of a shape; `drawn` are the attributes of its path."""
        return self.shapes.setdefault(drawn, f"s{len(self.shapes)}")

    def definitions(self) -> str:
        """An element with all shapes, that is not seen itself."""
        paths = "".join(f'<path id="{name}" {drawn}/>' for drawn, name in self.shapes.items())
        return f'<svg class="shapes" aria-hidden="true"><defs>{paths}</defs></svg>'

    def picture(self, figure: Figure, text: str, name: str, *, scale: float | None = None) -> str:
        """A picture as an element; `text` says what can be seen, `name` is that of no other picture of the page. It is
        as wide as there is room, or, with a `scale`, between that and half as much again."""
        with BytesIO() as buffer:
            metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
            figure.savefig(buffer, format="svg", dpi=DENSITY, facecolor="none", metadata=metadata)
            body = self._tidied(buffer.getvalue().decode(), name)
        figure.set_layout_engine("none")  # it stays as it is laid out: finding that takes most of the time
        width, height = (float(size) for size in figure.get_size_inches() * 72)
        least = (scale or 0.0) * width * 96 / 72
        size = f' style="min-width:{least:.0f}px;max-width:{1.5 * least:.0f}px"' if scale else ""
        label = html.escape(text)
        if len(body) > LARGEST:
            with BytesIO() as buffer:
                figure.savefig(buffer, format="png", dpi=DENSITY)
                pixels = base64.b64encode(buffer.getvalue()).decode()
            return f'<img class="pixels" alt="{label}"{size} src="data:image/png;base64,{pixels}">'
        return f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{label}"{size}>{body}</svg>'

    def _tidied(self, svg: str, name: str) -> str:
        """What is inside the element, with names that are in no other picture, and the page's colours."""
        body = svg[svg.index("<svg") :]
        body = body[body.index(">") + 1 : body.rindex("</svg>")]
        body = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL)
        body = re.sub(r' d="[^"]*"', lambda m: re.sub(r"(\.\d\d)\d+", r"\1", " ".join(m[0].split("\n"))), body)
        body = re.sub(r' (x|y)="(-?\d+\.\d\d)\d+"', r' \1="\2"', body)
        names: dict[str, str] = {}

        def letter(found: re.Match[str]) -> str:
            names[found[1]] = self.shape(f'd="{found[2]}" {found[3]}')
            return ""

        body = _LETTER.sub(letter, body)
        for old in re.findall(r'(?:href="#|url\(#)([^")]+)', body):
            names.setdefault(old, f"{name}-{len(names)}")
        body = re.sub(r' id="([^"]*)"', lambda m: f' id="{names[m[1]]}"' if m[1] in names else "", body)
        body = re.sub(r'href="#([^"]*)"', lambda m: f'href="#{names[m[1]]}"', body).replace("xlink:href", "href")
        body = re.sub(r"url\(#([^)]*)\)", lambda m: f"url(#{names[m[1]]})", body)
        # Many points have one style.
        body = _USES.sub(
            lambda m: f'<g style="{m[1]}">{m[0].replace(f" style={chr(34)}{m[1]}{chr(34)}", "")}</g>', body
        )
        body = _COLOUR.sub(lambda m: _BY_HEX[m[0].lower()], body)
        return re.sub(r"<defs>\s*</defs>|(?<=>)\s+(?=<)", "", body).strip()
