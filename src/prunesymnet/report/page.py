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
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from prunesymnet.data import Dataset
from prunesymnet.equations import Front
from prunesymnet.report.drawing import save
from prunesymnet.report.section import Section
from prunesymnet.report.style import CSS, SCRIPT
from prunesymnet.report.svg import Gallery
from prunesymnet.report.words import date, listed, number, safe
from prunesymnet.runs import Model, Run
from prunesymnet.runs.files import write_whole
from prunesymnet.runs.records import of_settings
from prunesymnet.search import SearchSettings
from prunesymnet.version import __version__


def write_report(run: Run, path: str | os.PathLike[str]) -> list[Path]:
    """Write the report to the HTML file `path`, or as report.html into the folder `path`, and its pictures into a
    folder of the same name beside it. What was written, the page first."""
    page = Path(path)
    if page.is_dir():
        page /= "report.html"
    folder = page.with_suffix("") if page.suffix else page.with_name(f"{page.name}_pictures")
    folder.mkdir(parents=True, exist_ok=True)
    model, log = run.latest(), _Log.of(run)
    sections = _sections(run, model, log)
    content = _page(run, model, log, sections)
    write_whole(page, content.encode())
    written = [page]
    for k, section in enumerate(sections):
        start = "" if len(sections) == 1 else f"{k + 1}-{section.front.target[:40]}-"
        for name, figure in section.figures.items():
            written.append(folder / f"{start}{name}.png")
            save(figure, written[-1])
    return written


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
    selection = model.settings.selection if run.model is not None else "mdl"
    cut, gallery = run.model is None, Gallery()
    return [
        Section(
            front=front,
            data=data,
            columns=columns,
            selection=selection if isinstance(selection, str) else "",
            name=f"t{k}",
            took=log.seconds.get(k, 0.0) if cut else front.seconds,
            fits=log.fits.get(k, front.fits) if cut else front.fits,
            gallery=gallery,
        )
        for k, (front, data) in enumerate(zip(model.fronts, run.tables, strict=True))
    ]


def _page(run: Run, model: Model, log: _Log, sections: list[Section]) -> str:
    several = len(sections) > 1
    targets = [section.front.target for section in sections]
    title = f"{len(targets)} targets" if len(targets) > 4 else listed(targets)
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    bodies = "\n".join(
        f'<section class="target" id="{s.name}"><h2>{safe(s.front.target)}</h2>{s.html()}</section>'
        if several
        else f'<section class="only">{s.html()}</section>'
        for s in sections
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{safe(title)} · PruneSymNet</title>
<style>{CSS}</style>
</head>
<body>
{sections[0].gallery.definitions()}
<main>
<header>
<p class="over">PruneSymNet report · {date(log.ended)}</p>
<h1>{safe(title)}</h1>
{_contents([s.front for s in sections]) if several else ""}
</header>
{bodies}
<h3>About this run</h3>
{_columns(run.tables[0], model)}
{_settings(model.settings)}
<footer>{" · ".join(f"{name} {safe(version)}" for name, version in _versions())}</footer>
</main>
<script>{SCRIPT}</script>
</body>
</html>
"""


def _contents(fronts: list[Front]) -> str:
    items = "".join(
        f'<li><a href="#t{k}"><b>{safe(front.target)}</b><code>{safe(front.best.text(4))}</code></a></li>'
        for k, front in enumerate(fronts)
    )
    return f"<nav><ol>{items}</ol></nav>"


def _columns(data: Dataset, model: Model) -> str:
    """The columns of the table: what they are called, here and there, and what they hold."""
    used = [{*front.best.expression.variables} for front in model.fronts]
    several = len(model.fronts) > 1
    rows = []
    for name, column in zip(model.names, model.labels, strict=True):
        values = data.columns[name]
        ends = (float(values.min()), float(np.median(values)), float(values.max()))
        where = [front.target for front, names in zip(model.fronts, used, strict=True) if name in names]
        shown = ", ".join(where) if several else "yes" if where else ""
        cells = "".join(f'<td class="n">{number(value)}</td>' for value in ends)
        rows.append(f"<tr><td><code>{safe(name)}</code></td><td>{safe(column)}</td>{cells}<td>{safe(shown)}</td></tr>")
    head = "<th>in formulas</th><th>in the table</th>" + "".join(
        f'<th class="n">{name}</th>' for name in ("least", "median", "largest")
    )
    return (
        f'<details class="box"><summary>Columns ({len(rows)})</summary><div class="scroll"><table class="columns">'
        f"<tr>{head}<th>used</th></tr>{''.join(rows)}</table></div></details>"
    )


def _settings(settings: SearchSettings) -> str:
    """Those that are not as they are by default, and then all."""
    ours, usual = dict(_flat(of_settings(settings))), dict(_flat(of_settings(SearchSettings())))
    changed = {name: value for name, value in ours.items() if usual.get(name, ...) != value}
    same = {name: value for name, value in ours.items() if name not in changed}

    def table(values: dict[str, Any]) -> str:
        rows = "".join(f"<tr><td><code>{safe(n)}</code></td><td>{safe(_said(v))}</td></tr>" for n, v in values.items())
        return f'<div class="scroll"><table class="settings">{rows}</table></div>'

    first = f"<p>Changed:</p>{table(changed)}" if changed else "<p>All as they are by default.</p>"
    return (
        f'<details class="box"><summary>Settings ({len(changed)} changed)</summary><div>{first}'
        f"<p>By default:</p>{table(same)}</div></details>"
    )


def _flat(record: dict[str, Any], start: str = "") -> Iterator[tuple[str, Any]]:
    """
    >>> dict(_flat({"seed": 0, "snapping": {"digits": 3, "named": {}}}))
    {'seed': 0, 'snapping.digits': 3, 'snapping.named': {}}
    """
    for name, value in record.items():
        if isinstance(value, dict) and value and "function" not in value:
            yield from _flat(value, f"{start}{name}.")
        else:
            yield start + name, value


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_said(v)}" for name, v in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(_said(item) for item in value) or "none"
    return {True: "yes", False: "no", None: "none"}[value] if value is None or isinstance(value, bool) else str(value)


def _versions() -> list[tuple[str, str]]:
    return [
        ("prunesymnet", __version__),
        ("Python", platform.python_version()),
        ("numpy", np.__version__),
        ("scipy", scipy.__version__),
    ]
