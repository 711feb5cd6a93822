"""What the pages do, without HTTP: the tables and searches of one folder."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from prunesymnet.data import Dataset
from prunesymnet.data.messages import printable
from prunesymnet.errors import DataError
from prunesymnet.runs.folder import MODEL, RunFolder
from prunesymnet.runs.run import ended_by_hand
from prunesymnet.studio import forms, searches
from prunesymnet.studio.front import SearchesInMemory, SearchInMemory, front_points, structure_of, text_of
from prunesymnet.studio.notebook import cell
from prunesymnet.studio.queue import Queue, waiting
from prunesymnet.studio.searches import MOST_PINS, Search, read_search, read_worker
from prunesymnet.studio.tables import Columns, Stored, Tables, dataset_of, notes, overview
from prunesymnet.studio.words import STATES, stage_in_words
from prunesymnet.studio.workspace import NotThere, Workspace, clean_name

MOST_SECONDS_OF_A_REPORT = 300
Json = dict[str, Any]


class Studio:
    """The tables and searches of a folder, and the queue of the searches that are to run."""

    def __init__(self, folder: str | os.PathLike[str], at_once: int) -> None:
        self.workspace = Workspace(folder)
        self.tables = Tables(self.workspace)
        self.queue = Queue(self.workspace, at_once)
        self.in_memory = SearchesInMemory()

    # Tables

    def table(self, known_as: str) -> Json:
        """All that the page of a table shows."""
        stored = self.tables.get(known_as)
        table, said = self.tables.read(stored)
        reading = {"decimal": stored.decimal, "sheet": stored.sheet}
        return {"id": stored.id, "name": stored.name, "notes": said, "reading": reading, **overview(table)}

    def check(self, known_as: str, answers: Json) -> Json:
        """Whether a search could begin with these answers: what is wrong, or what there is to know."""
        try:
            data, features, said = self._dataset(self.tables.get(known_as), answers)
            settings = _settings(answers.get("options"), _labels_of(data, features, answers), data)
        except (DataError, ValueError, TypeError, ImportError) as problem:
            return {"problem": printable(str(problem)), "kind": getattr(problem, "kind", ""), "notes": []}
        units = [f"{name} in {unit}" for name, unit in settings.units.items()]
        return {"problem": "", "kind": "", "notes": [*said, *([f"Units: {', '.join(units)}."] if units else [])]}

    def _dataset(self, stored: Stored, answers: Json) -> tuple[Any, list[str], list[str]]:
        columns = _columns(answers)
        table, _ = self.tables.read(stored)
        with self.tables.lock, notes() as said:
            data, features = dataset_of(table, columns)
            data.check_sizes()
        return data, features, [note.removeprefix(f"{stored.name}: ") for note in said]

    # Searches

    def begin(self, answers: Json) -> Search:
        """A new search, at the end of the queue."""
        stored = self.tables.get(str(answers.get("table")))
        data, features, _ = self._dataset(stored, answers)
        labels = _labels_of(data, features, answers)
        settings = _settings(answers.get("options"), labels, data)
        made, folder = self.workspace.new("searches")
        try:
            with RunFolder(folder / searches.RUN) as run:
                run.create([data], features, settings, stored.name)
            now = time.time()
            name = clean_name(str(answers.get("name") or ""), f"{data.target} from {stored.name}")
            options = forms.in_formulas(answers.get("options") or {}, labels)
            return Search(
                made, folder, name, now, {"id": stored.id, "name": stored.name}, vars(_columns(answers)), options,
                data.target, data.rows, asked=now, seconds=settings.time_limit, features=tuple(map(str, features)),
            ).save()  # fmt: skip
        except BaseException:
            self.workspace.remove("searches", made)
            raise

    def search(self, known_as: str) -> Search:
        return read_search(self.workspace, known_as)

    def tell(self, known_as: str, action: str, answers: Json) -> Search:
        """What a person tells a search."""
        search = self.search(known_as)
        state, alive = self.queue.state(search), self.queue.alive(search)
        seconds = _seconds(answers)
        if action == "pause" and state in ("running", "starting", "queued"):
            return searches.pause(search)
        if action == "stop" and state in ("running", "starting", "queued", "paused"):
            return searches.stop(search, alive)
        if action == "resume" and state in ("paused", "stopped", "cut off", "ended", "failed"):
            return searches.go_on(search, state, alive, seconds)
        if action == "more" and state != "stopping":
            return searches.give_more(search, state, alive, seconds or search.seconds)
        if action == "rename":
            return replace(search, name=clean_name(str(answers.get("name") or ""), search.name)).save()
        if action in ("pin", "unpin"):
            return self._pin(search, str(answers.get("key")), action == "pin")
        raise ValueError(f"a search that is {STATES[state].lower()} can't {action[:20]}")

    def _pin(self, search: Search, key: str, on: bool) -> Search:
        text = text_of(self.in_memory.get(search), key, search.pins)
        if text is None:
            raise NotThere("this formula is not known any more")
        kept = [pin for pin in search.pins if pin != text] + ([text] if on else [])
        if len(kept) > MOST_PINS:
            raise ValueError(f"{MOST_PINS} formulas are pinned already; unpin one first")
        return replace(search, pins=tuple(kept)).save()

    def remove(self, known_as: str) -> None:
        search = self.search(known_as)
        with self.queue.lock:  # nobody looks for its process meanwhile
            if self.queue.alive(search):
                raise ValueError("this search still runs; stop it first")
            self.in_memory.forget(known_as)
            self.workspace.remove("searches", known_as)

    # What is shown of a search

    def status(self, search: Search, seen: str = "", front: str = "") -> Json | None:
        """Where a search is, and its front unless the page has `seen` it; None if it has all of this already."""
        states = self.queue.states()
        state = states[search.id][1] if search.id in states else self.queue.state(search)
        found = self.in_memory.get(search)
        with found.lock:
            version = _digest(
                found.lines.offset, found.changed, state, search.record(), [one.id for one in waiting(states)]
            )
        if version == seen:
            return None
        lines = found.lines
        seconds, limit = lines.number("seconds"), search.seconds + search.more
        if state in ("running", "starting", "paused", "queued") and not _is_of_this_round(search):
            seconds = 0.0
        answer: Json = {
            "version": version,
            "state": state,
            "words": _in_words(search, state, found),
            "seconds": round(seconds, 1),
            "limit": limit,
            "scored": lines.number("scored"),
            "rate": lines.number("scored") / max(lines.number("seconds"), 1e-3) if lines.number("scored") else 0.0,
            "fits": lines.number("fits"),
            "name": search.name,
            "queue": [one.id for one in waiting(states)].index(search.id) + 1 if state == "queued" else 0,
            "final": not found.is_live(),
            "relative": found.relative,
            "at_once": self.queue.at_once,
        }
        points, structure = front_points(found, search.pins), structure_of(found)
        answer["front_version"] = _digest(points, structure, answer["final"])
        if answer["front_version"] == front:
            return answer
        return answer | {"front": points, "structure": structure}

    # What draws and fits formulas is imported here: the first page does not wait for it.

    def look(self, search: Search, key: str) -> Json:
        from prunesymnet.studio import looks

        found, text = self._formula(search, key)
        return looks.look(found, text, looks.equation_of(found, text), _labels(found)) | {"pinned": text in search.pins}

    def effects(self, search: Search, key: str, at: Any) -> Json:
        from prunesymnet.studio import looks

        found, text = self._formula(search, key)
        known = at if isinstance(at, dict) else {}
        place = {str(k): float(v) for k, v in known.items() if isinstance(v, int | float) and abs(v) < 1e300}
        return looks.effects(found, looks.equation_of(found, text), place)

    def fit(self, search: Search, form: str) -> Json:
        from prunesymnet.studio import looks

        found = self.in_memory.get(search)
        text, equation, said = looks.refitted(found, form)
        return looks.look(found, text, equation, _labels(found)) | {"notes": said, "pinned": text in search.pins}

    def difference(self, search: Search, first: str, second: str) -> Json:
        from prunesymnet.studio import looks

        (found, one), (_, other) = (self._formula(search, key) for key in (first, second))
        return looks.difference(found, looks.equation_of(found, one), looks.equation_of(found, other))

    def _formula(self, search: Search, key: str) -> tuple[SearchInMemory, str]:
        found = self.in_memory.get(search)
        text = text_of(found, key, search.pins)
        if text is None:
            raise NotThere("this formula is not on the front any more")
        return found, text

    # To take away

    def notebook(self, search: Search) -> str:
        columns = Columns.of(dict(search.columns))
        reading: dict[str, str | None] = {}
        try:
            stored = self.tables.get(str(search.table["id"]))
            reading = {"decimal": stored.decimal, "sheet": stored.sheet}
        except NotThere:
            pass  # the table was removed; the run has its numbers
        used, per = (columns.target, columns.weights, columns.y_err), search.options.get("constants_per")
        return cell(
            str(search.table["name"]),
            forms.parameters(search.options),
            target=columns.target,
            features=[name for name in columns.features if name not in used],
            weights=columns.weights,
            y_err=columns.y_err,
            categories=[name for name in columns.categories if name != per],  # the estimator adds that one itself
            drop_missing=columns.drop_missing,
            reading=reading,
        )

    def report(self, search: Search) -> bytes:
        """The report, made by the command in a process of its own: what draws its pictures stays out of the server."""
        with tempfile.TemporaryDirectory(dir=search.folder) as folder:
            page = Path(folder) / "report.html"
            done = subprocess.run(  # noqa: S603 - our own command, on folders whose names we drew
                [sys.executable, "-m", "prunesymnet", "report", str(search.run), "--out", str(page)],
                stdin=subprocess.DEVNULL, capture_output=True, timeout=MOST_SECONDS_OF_A_REPORT, check=False,
            )  # fmt: skip
            if done.returncode:
                raise DataError(printable(done.stderr.decode(errors="replace").strip().removeprefix("error: ")))
            return page.read_bytes()

    def model(self, search: Search) -> bytes:
        path = search.run / MODEL
        if path.is_symlink() or not path.is_file():
            raise NotThere("the model is written when the search ends")
        return path.read_bytes()


def _settings(options: Any, labels: Mapping[str, str], data: Dataset) -> Any:
    """The settings that a form's answers ask for; `labels` are what the file calls the columns and the target, by their
    names in formulas. What a search of the table would refuse is refused here."""
    from prunesymnet.estimator import PruneSymRegressor
    from prunesymnet.estimator.parameters import settings_of, with_units
    from prunesymnet.search.guesses import read_guesses
    from prunesymnet.search.templates import read_templates

    estimator = PruneSymRegressor(n_jobs=1, **forms.parameters(forms.in_formulas(options or {}, labels)))
    settings = with_units(settings_of(estimator), estimator, labels)
    settings.units_of(list(labels)[:-1], list(labels)[-1])  # or an error
    settings.constraints.check(data.names, [str(name) for name in settings.operators])
    settings.constraints.shapes(data.columns)
    read_guesses(settings, data.names)
    if settings.template is not None:
        read_templates(settings, data.names, [data.target])
    data.with_loss("squared" if settings.loss == "auto" else settings.loss)
    return settings


def _columns(answers: Json) -> Columns:
    """The columns that a form asks for. One whose categories have constants of their own is used as categories."""
    columns, options = Columns.of(answers.get("columns")), answers.get("options")
    if options is not None and not isinstance(options, Mapping):
        raise ValueError("options must be said by their names")
    per = (options or {}).get("constants_per")
    if not isinstance(per, str) or not per:
        return columns
    features, categories = dict.fromkeys((*columns.features, per)), dict.fromkeys((*columns.categories, per))
    return replace(columns, features=tuple(features), categories=tuple(categories))


def _labels_of(data: Any, features: Sequence[str], answers: Json) -> dict[str, str]:
    return {**dict(zip(data.names, map(str, features), strict=True)), data.target: str(answers["columns"]["target"])}


def _seconds(answers: Json) -> float | None:
    value = answers.get("seconds")
    if value is None:
        return None
    option = forms.BY_NAME["time_limit"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= forms.LONGEST_SEARCH:
        raise ValueError(f"{option.label}: a number of seconds from 1 to {forms.LONGEST_SEARCH:.0f} is needed")
    return float(value)


def _labels(found: SearchInMemory) -> dict[str, str]:
    names = found.data.names
    return dict(zip(names, found.run.columns or names, strict=True))


def _is_of_this_round(search: Search) -> bool:
    return read_worker(search.folder).round == search.round


def _in_words(search: Search, state: str, found: SearchInMemory) -> str:
    """What a search is doing, or how it ended."""
    if state == "running":
        return stage_in_words(str(found.lines.last.get("stage", "")), int(found.lines.number("epoch")))
    if state == "failed":
        return read_worker(search.folder).error
    if state in ("ended", "stopped") and found.model is not None:
        return "Stopped by hand" if ended_by_hand(found.model) else _sentence(found.model.status)
    if state == "cut off":
        return "The process was ended from outside. What was found is kept: resume goes on from there."
    return STATES[state]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _digest(*values: Any) -> str:
    return hashlib.sha256(json.dumps(values, default=str).encode()).hexdigest()[:16]
