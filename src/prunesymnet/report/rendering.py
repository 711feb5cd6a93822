"""Templates filled in, and pictures as images inside of a page."""

import base64
import math
import platform
from typing import Any

import jinja2
import numpy as np
import scipy
from matplotlib.figure import Figure

import prunesymnet.report.numbers as numbers
from prunesymnet.report.drawing import svg_text
from prunesymnet.version import __version__


def render(template: str, **values: Any) -> str:
    """A template of this package, filled in. Whatever is put into it is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("prunesymnet.report"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    used = ("number", "share", "percent", "count", "seconds", "date", "with_digits")
    environment.filters |= {name: getattr(numbers, name) for name in used}
    environment.filters |= {"svg": as_svg, "inches": Figure.get_figwidth, "median": np.median}
    environment.tests |= {"finite": math.isfinite, "contains": lambda values, one: one in values}
    versions = {"prunesymnet": __version__, "Python": platform.python_version()}
    environment.globals["versions"] = versions | {"numpy": np.__version__, "scipy": scipy.__version__}
    return environment.get_template(template).render(**values)


def as_svg(figure: Figure) -> str:
    """A picture as the address of an image."""
    svg = svg_text(figure, facecolor="none")
    figure.set_layout_engine("none")  # it stays as it is laid out: finding that takes most of the time
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
