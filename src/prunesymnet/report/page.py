"""The report of a run: one HTML file that needs nothing else, and its pictures as PNG files beside it.

>>> import tempfile
>>> from prunesymnet.data import load_example
>>> from prunesymnet.runs import read_run, run
>>> from prunesymnet.search import SearchSettings
>>> with tempfile.TemporaryDirectory() as folder:
...     found = run([load_example("boyle")], SearchSettings(time_limit=1), folder=f"{folder}/run", progress=False)
...     [path.name for path in write_report(read_run(f"{folder}/run"), f"{folder}/boyle.html")]
['boyle.html', 'formula.png', 'front.png', 'predictions.png', 'residuals.png', 'effects.png', 'network.png']
"""

import base64
import hashlib
import json
import os
import platform
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any

import jinja2
import numpy as np
import scipy
from markupsafe import Markup
from matplotlib.figure import Figure

from prunesymnet.report import numbers
from prunesymnet.report.drawing import save
from prunesymnet.report.section import Section
from prunesymnet.runs import Model, Run
from prunesymnet.runs.files import write_whole
from prunesymnet.runs.records import of_settings
from prunesymnet.search import SearchSettings
from prunesymnet.version import __version__

_ONE_AT_A_TIME = Lock()  # matplotlib has one parser of mathematics for all threads, which only one can use
SCRIPT = Path(__file__).with_name("templates") / "copy.js"


def write_report(run: Run, path: str | os.PathLike[str]) -> list[Path]:
    """Write the report to the HTML file `path`, or as report.html into the folder `path`, and its pictures into a
    folder of the same name beside it. What was written, the page first."""
    page = Path(path)
    if page.is_dir():
        page /= "report.html"
    folder = page.with_suffix("") if page.suffix else page.with_name(f"{page.name}_pictures")
    folder.mkdir(parents=True, exist_ok=True)
    with _ONE_AT_A_TIME:
        return _write(run, page, folder)


def _write(run: Run, page: Path, folder: Path) -> list[Path]:
    model, log = run.latest(), _Log.of(run)
    sections = _sections(run, model, log)
    script = SCRIPT.read_text()
    content = render(
        "page.html",
        sections=sections,
        model=model,
        table=run.tables[0],
        ended=log.ended,
        settings=_settings(model.settings),
        script=Markup(script),  # noqa: S704 - a file of ours
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    write_whole(page, content.encode())
    written = [page]
    for k, section in enumerate(sections):
        start = "" if len(sections) == 1 else f"{k + 1}-{section.front.target[:40]}-"
        for name, figure in section.figures.items():
            written.append(folder / f"{start}{name}.png")
            save(figure, written[-1])
    return written


def render(template: str, **values: Any) -> str:
    """A template of this package, filled in. Whatever is put into it is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("prunesymnet.report"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    used = ("number", "share", "bits", "percent", "count", "seconds", "date", "rounded")
    environment.filters |= {name: getattr(numbers, name) for name in used}
    environment.filters |= {"svg": as_svg, "width": lambda figure: figure.get_figwidth() * 72}
    environment.filters["median"] = np.median
    environment.tests |= {"finite": np.isfinite, "contains": lambda values, one: one in values}
    versions = {"prunesymnet": __version__, "Python": platform.python_version()}
    environment.globals["versions"] = versions | {"numpy": np.__version__, "scipy": scipy.__version__}
    return environment.get_template(template).render(**values)


def as_svg(figure: Figure) -> str:
    """A picture as the address of an image: a vector graphic that is the same each time."""
    with BytesIO() as buffer:
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(buffer, format="svg", dpi=150, facecolor="none", metadata=nothing)
        svg = buffer.getvalue().decode()
    figure.set_layout_engine("none")  # it stays as it is laid out: finding that takes most of the time
    # Matplotlib draws names by chance, unless a global setting says otherwise, which other threads would see.
    names: dict[str, str] = {}
    svg = re.sub(r"\b[a-z][0-9a-f]{10}\b", lambda m: names.setdefault(m[0], f"n{len(names)}"), svg)
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


@dataclass
class _Log:
    """What only the lines of a run know: when it ended, and, of a run that was cut off, how far each target came."""

    ended: float
    seconds: dict[int, float] = field(default_factory=dict)
    fits: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run) -> "_Log":
        log = cls(time.time())
        file = run.path / "progress.jsonl"
        for line in file.read_bytes().split(b"\n")[:-1] if file.exists() else ():
            record = json.loads(line)
            output, moment = record.get("output"), record.get("time")
            if isinstance(moment, int | float) and 0 <= moment < 1e11:
                log.ended = moment
            if isinstance(output, int) and isinstance(record.get("seconds"), int | float):
                log.seconds[output] = record["seconds"]
            if isinstance(output, int) and isinstance(record.get("fits"), int):
                log.fits[output] = record["fits"]
        return log


def _sections(run: Run, model: Model, log: _Log) -> list[Section]:
    columns = dict(zip(model.names, model.labels, strict=True))
    cut = run.model is None
    selection = "mdl" if cut else model.settings.selection
    return [
        Section(
            front=front,
            data=data,
            columns=columns,
            selection=selection if isinstance(selection, str) else "",
            took=log.seconds.get(k, 0.0) if cut else front.seconds,
            fits=log.fits.get(k, front.fits) if cut else front.fits,
        )
        for k, (front, data) in enumerate(zip(model.fronts, run.tables, strict=True))
    ]


def _settings(settings: SearchSettings) -> tuple[dict[str, str], dict[str, str]]:
    """Those that were changed, and those that are as they are by default."""
    ours, usual = dict(_flat(of_settings(settings))), dict(_flat(of_settings(SearchSettings())))
    changed = {name: value for name, value in ours.items() if usual.get(name) != value}
    return changed, {name: value for name, value in ours.items() if name not in changed}


def _flat(record: dict[str, Any], start: str = "") -> Iterator[tuple[str, str]]:
    """
    >>> dict(_flat({"seed": 0, "snapping": {"digits": 3, "named": {}}}))
    {'seed': '0', 'snapping.digits': '3', 'snapping.named': 'none'}
    """
    for name, value in record.items():
        if isinstance(value, dict) and value and "function" not in value:
            yield from _flat(value, f"{start}{name}.")
        else:
            yield start + name, _in_words(value)


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_in_words(v)}" for name, v in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(_in_words(item) for item in value) or "none"
    return {True: "yes", False: "no", None: "none"}[value] if value is None or isinstance(value, bool) else str(value)
