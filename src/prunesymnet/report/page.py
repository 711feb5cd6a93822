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
import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

from markupsafe import Markup

from prunesymnet.report.drawing import save
from prunesymnet.report.rendering import render
from prunesymnet.report.section import Section
from prunesymnet.runs import Model, Run
from prunesymnet.runs.files import check_regular, write_whole
from prunesymnet.runs.records import of_settings
from prunesymnet.search import SearchSettings

_ONE_AT_A_TIME = Lock()  # matplotlib has one parser of mathematics for all threads, which only one can use
SCRIPTS = ("plot.js", "front.js", "copy.js")


def write_report(run: Run, path: str | os.PathLike[str]) -> list[Path]:
    """Write the report to the HTML file `path`, or as report.html into the folder `path`, and its pictures into a
    folder of the same name beside it. What was written, the page first."""
    page = Path(path)
    if page.is_dir() and not page.is_symlink():
        page /= "report.html"
    check_regular(page)
    folder = page.with_suffix("") if page.suffix else page.with_name(f"{page.name}_pictures")
    if folder.is_symlink():
        raise FileExistsError(f"{folder}: is a link, and links are not followed; name another report (--out)")
    folder.mkdir(parents=True, exist_ok=True)
    with _ONE_AT_A_TIME:
        return _write(run, page, folder)


def _write(run: Run, page: Path, folder: Path) -> list[Path]:
    model = run.latest()
    sections = list(_sections(run, model))
    templates = Path(__file__).with_name("templates")
    script = "\n".join((templates / name).read_text("utf-8") for name in SCRIPTS)
    content = render(
        "page.html",
        sections=sections,
        model=model,
        table=run.tables[0],
        source=run.source,
        ended=time.time() if run.log.written is None else run.log.written,
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


def _sections(run: Run, model: Model) -> Iterator[Section]:
    columns = dict(zip(model.names, model.labels, strict=True))
    selection = "mdl" if run.ended is None else model.settings.selection
    name = selection if isinstance(selection, str) else ""
    for k, (front, data) in enumerate(zip(model.fronts, run.tables, strict=True)):
        took, fits = front.seconds, front.fits
        if run.ended is None:
            took, fits = run.log.seconds.get(k, 0.0), run.log.fits.get(k, fits)
        yield Section(front, data, columns, name, took, fits)


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
