"""One run: a search for each target, watched, logged, and written to its folder.

A callback is called with the `Update` at each new best formula. It may raise StopIteration, which ends the run with
the best so far.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from prunesymnet.coefficients.by_category import groups_of
from prunesymnet.data import Dataset, repair_names
from prunesymnet.data.messages import warn
from prunesymnet.equations import Front
from prunesymnet.errors import DataError, NotWrittenWarning
from prunesymnet.operators import Operator
from prunesymnet.optional import check_device
from prunesymnet.progress import Progress
from prunesymnet.runs.folder import LINES, RunFolder, read_run
from prunesymnet.runs.model import Model
from prunesymnet.search import SearchSettings, SearchStatus, Start, Update, search, search_by_category, search_templates
from prunesymnet.search.stopping import no_more_time
from prunesymnet.selection import choose, chosen_by, criterion_of, front

log = logging.getLogger("prunesymnet")
Callback = Callable[[Update], Any]
LEAST = 0.01  # seconds for a target whose turn comes after all time is used


def run(
    tables: Sequence[Dataset],
    settings: SearchSettings,
    *,
    columns: Sequence[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    starts: Sequence[Start] = (),
    callbacks: Sequence[Callback] = (),
    progress: bool = True,
    began: float | None = None,
    source: str = "",
) -> Model:
    """Search each table (the same rows with another target) in turn; they share the time limit.

    `columns` is what the user calls the columns, if they have names; `folder` is where to keep the run; `starts` say
    how far earlier searches got, one for each table. Time counts from `began` on (of `time.monotonic`; None: from now).
    `source` is where the table comes from, a file's name, for the reader of a report.
    """
    began = time.monotonic() if began is None else began
    check_device(settings.device)
    columns = None if columns is None else tuple(map(str, columns))
    starts = starts or [Start()] * len(tables)
    if folder is None:
        return _searched(tables, settings, columns, None, starts, callbacks, progress, began)
    with RunFolder(folder) as kept:
        kept.create(tables, columns, settings, source)
        return _searched(tables, settings, columns, kept, starts, callbacks, progress, began)


def resume(
    folder: str | os.PathLike[str],
    *,
    time_limit: float | None = None,
    device: str | None = None,
    operators: Sequence[Operator] = (),
    functions: Mapping[str, Any] | None = None,
    callbacks: Sequence[Callback] = (),
    progress: bool = True,
    clock: Callable[[], float] = time.monotonic,
    more_time: Callable[[], float] = no_more_time,
) -> Model:
    """Continue the run of a folder, for as long as the first time or for `time_limit` seconds, on the same device or on
    another; what was found before stays on the front. A run that was only made (`RunFolder.create`) begins. For
    `clock` and `more_time` see `search`."""
    with RunFolder(folder) as kept:
        kept.open()
        earlier = read_run(folder, operators=operators, functions=functions)
        settings = earlier.settings if time_limit is None else replace(earlier.settings, time_limit=time_limit)
        settings = settings if device is None else settings.on_device(device)
        check_device(settings.device)
        again = os.path.lexists(kept.path / LINES)  # something was written, so that there was a search
        if again:
            kept.append({"time": time.time(), "resumed": settings.time_limit})
        starts = [replace(start, again=start.again + again) for start in earlier.starts]
        tables, columns = earlier.tables, earlier.columns
        found = () if earlier.model is None else earlier.model.fronts
        return _searched(tables, settings, columns, kept, starts, callbacks, progress, clock(), clock, more_time, found)


def _searched(
    tables: Sequence[Dataset],
    settings: SearchSettings,
    columns: tuple[str, ...] | None,
    folder: RunFolder | None,
    starts: Sequence[Start],
    callbacks: Sequence[Callback],
    progress: bool,
    began: float,
    clock: Callable[[], float] = time.monotonic,
    more_time: Callable[[], float] = no_more_time,
    earlier: Sequence[Front] = (),
) -> Model:
    if settings.template is not None:
        ours = replace(settings, time_limit=max(settings.time_limit - (clock() - began), LEAST))
        log.info("%s by a template: at most %.3g s", ", ".join(t.target for t in tables), ours.time_limit)
        with Progress(ours.time_limit, target=tables[0].target, show=progress) as shown:
            tellers = [_Teller(k, t.target, folder, callbacks, shown if k == 0 else None) for k, t in enumerate(tables)]
            fronts = search_templates(tables, ours, watchers=tellers, clock=clock, more_time=more_time)
        return _kept(_with_earlier(fronts, earlier, settings), tables, columns, settings, folder)
    fronts, ended = [], False
    for output, (table, start) in enumerate(zip(tables, starts, strict=True)):
        left = (settings.time_limit - (clock() - began)) / (len(tables) - output)
        ours = replace(settings, time_limit=LEAST if ended else max(left, LEAST))
        log.info("%s: %d rows, %d columns, at most %.3g s", table.target, table.rows, table.features, ours.time_limit)
        with Progress(ours.time_limit, target=table.target, show=progress) as shown:
            tell = _Teller(output, table.target, folder, callbacks, shown)
            if ours.constants_per is None:
                found = search(table, ours, watch=tell, start=start, clock=clock, more_time=more_time).front
            else:
                found = _by_category(table, columns, ours, tell, clock, more_time)
                (found,) = _with_earlier([found], earlier[output : output + 1], settings)
        found = replace(found, status=SearchStatus.INTERRUPTED.value) if ended else found
        ended = ended or ended_by_hand(found)
        log.info("%s after %.1f s: %s", found.best, found.seconds, found.status)
        fronts.append(found)
    return _kept(fronts, tables, columns, settings, folder)


def _kept(
    fronts: Sequence[Front],
    tables: Sequence[Dataset],
    columns: tuple[str, ...] | None,
    settings: SearchSettings,
    folder: RunFolder | None,
) -> Model:
    """The model of all fronts, written to its folder if there is one."""
    model = Model(tuple(fronts), tables[0].names, columns, settings)
    if folder is not None:
        folder.finish(model)
        _warn_of_unwritten(folder)
    return model


def keep(folder: str | os.PathLike[str], model: Model) -> None:
    """Put a model in the place of the one that a run in this folder ended with."""
    with RunFolder(folder) as kept:
        kept.open()
        kept.finish(model)
        _warn_of_unwritten(kept)


def _with_earlier(fronts: Sequence[Front], earlier: Sequence[Front], settings: SearchSettings) -> list[Front]:
    """With the formulas of an earlier search, where a search does not begin with these: what was found stays."""
    found = list(fronts)
    for k, (new, old) in enumerate(zip(fronts, earlier, strict=False)):
        every = [*old, *new]
        chosen = choose(every, criterion_of(settings.selection))
        kept = front(every, keep=chosen)
        whole = replace(new, equations=tuple(kept), chosen=kept.index(chosen))
        found[k] = chosen_by(settings.selection, whole)
    return found


def _by_category(
    table: Dataset,
    columns: tuple[str, ...] | None,
    settings: SearchSettings,
    watch: Callback,
    clock: Callable[[], float],
    more_time: Callable[[], float],
) -> Front:
    """A search for one formula with other constants in each category of a column."""
    label = settings.constants_per or ""
    (ours,) = repair_names([label])
    places = groups_of(columns or (), table.names if columns else (), {ours: label})[ours]
    if not places:
        raise DataError(f"constants_per must be a column of the table, got {label!r}")
    return search_by_category(table, ours, dict(places), settings, watch=watch, clock=clock, more_time=more_time)


def _warn_of_unwritten(folder: RunFolder) -> None:
    if folder.unwritten:
        names, reason = " and ".join(folder.unwritten), next(iter(folder.unwritten.values()))
        warn(
            f"{folder.path}: {names} could not be written ({reason.strerror or reason}), and the folder does not have "
            "all that was found",
            NotWrittenWarning,
        )


def save_or_warn(model: Model, path: str | os.PathLike[str]) -> None:
    """Save a model that took long to find: where that fails, there is a warning, and the model is still in memory."""
    try:
        model.save(path)
    except OSError as problem:
        warn(f"{os.fspath(path)}: could not be written ({problem.strerror or problem})", NotWrittenWarning)


class _Teller:
    """Passes each update of a search on: to the display, the folder and the callbacks."""

    def __init__(
        self,
        output: int,
        target: str,
        folder: RunFolder | None,
        callbacks: Sequence[Callback],
        shown: Progress | None,
    ) -> None:
        self.output, self.target, self.folder = output, target, folder
        self.callbacks, self.shown = callbacks, shown
        self.best: Any = None

    def __call__(self, update: Update) -> None:
        if self.shown is not None:
            self.shown(update)
        if self.folder is not None:
            self.folder.tell(self.output, update)
        if update.best is not self.best:
            self.best = update.best
            log.debug("%.2f s, %s: %s = %s", update.seconds, update.stage, self.target, update.best.fit)
            for callback in self.callbacks:
                callback(update)


def ended_by_hand(front: Front) -> bool:
    return front.status in [status.value for status in SearchStatus if status.is_by_hand]
