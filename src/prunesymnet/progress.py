"""What a search is doing, live: time, stage, formulas scored, and the best of each size so far.

    with Progress(settings.time_limit) as progress:
        search(data, settings, watch=progress)

It appears on a terminal and under a notebook's cell only, and is gone when the search ends. `TensorBoard` is a callback
that writes there instead.
"""

import io
import math
import multiprocessing
import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from prunesymnet.expression import Expression, canonical, to_text
from prunesymnet.optional import import_torch
from prunesymnet.search import Candidate, Update

SHOWN = 5  # formulas: the best of each size, few enough for a small terminal
PER_SECOND = 5  # pictures: it moves, and costs nothing beside the search
FOR_KEYS = 8  # columns left free at the right: a terminal writes ^C there, which would break a full line in two
WIDTH_OF_A_CELL = 110  # columns of a picture in a notebook, which says nothing of its width


class _Shown:
    """A picture that is drawn again and again, on a terminal or under a notebook's cell; `console` is where (left out:
    standard error), `show=False` hides it."""

    def __init__(self, *, show: bool = True, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self.began = time.monotonic()
        self.live: Live | _Cell | None = None
        if not show or multiprocessing.parent_process() is not None:
            return
        if self.console.is_jupyter:
            self.live = _Cell(self)
        elif self.console.is_terminal:
            self.live = Live(
                get_renderable=lambda: Constrain(self.picture(), max(self.console.width - FOR_KEYS, 1)),
                console=self.console,
                transient=True,
                refresh_per_second=PER_SECOND,
            )

    def __enter__(self) -> Self:
        self.began = time.monotonic()
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()

    def changed(self) -> None:
        """There is something new to show: a terminal is drawn again anyway."""
        if isinstance(self.live, _Cell):
            self.live.refresh()

    def picture(self) -> RenderableType:
        raise NotImplementedError


class Count(_Shown):
    """One bar for many things that are done one by one, such as tables or rows; `total` is how many there are, if that
    is known.

        with Count("rows read", total=1_000_000) as count:
            count(65_536)
    """

    def __init__(
        self, what: str, total: int | None = None, *, show: bool = True, console: Console | None = None
    ) -> None:
        self.what, self.total, self.done, self.note = what, total, 0, ""
        super().__init__(show=show, console=console)

    def __call__(self, more: int = 1, note: str = "") -> None:
        """So many more are done; the note stands behind them."""
        self.done, self.note = self.done + more, note or self.note
        self.changed()

    def picture(self) -> RenderableType:
        seconds = time.monotonic() - self.began
        cells: list[RenderableType] = []
        if self.total:
            cells.append(ProgressBar(total=self.total, completed=min(self.done, self.total), width=20))
        of = f" of {self.total:,}" if self.total else ""
        cells.append(Text(f"{self.done:,}{of} {self.what}"))
        left = seconds / self.done * (self.total - self.done) if self.total and self.done else 0.0
        cells.append(Text(f"{seconds:.0f} s" + (f", about {left:.0f} s left" if left >= 1 else "")))
        if self.note:
            cells.append(Text(self.note, style="cyan", no_wrap=True, overflow="ellipsis"))
        return _line(cells)


class Progress(_Shown):
    """A watcher for `search`; for `show` and `console` see `_Shown`."""

    def __init__(
        self, time_limit: float = math.inf, *, target: str = "y", show: bool = True, console: Console | None = None
    ) -> None:
        self.time_limit, self.target = time_limit, target
        self.update: Update | None = None
        self.texts: dict[Expression, str] = {}
        super().__init__(show=show, console=console)

    def __call__(self, update: Update) -> None:
        self.update = update
        self.changed()

    def picture(self) -> RenderableType:
        """A line about the search, and the best formulas under it."""
        seconds = time.monotonic() - self.began
        limited = math.isfinite(self.time_limit)
        cells: list[RenderableType] = []
        if limited:
            cells.append(ProgressBar(total=self.time_limit, completed=min(seconds, self.time_limit), width=20))
        cells.append(Text(f"{seconds:.1f}" + (f" of {self.time_limit:.3g} s" if limited else " s")))
        update = self.update
        if update is None:
            return _line(cells)
        stage = f"epoch {update.epoch}" if update.epoch else update.stage
        rate = update.scored / max(update.seconds, 1e-9)
        cells.append(Text(stage, style="cyan"))
        cells.append(Text(f"{_short(update.scored)} formulas scored ({_short(rate)}/s), {update.fits:,} fitted"))
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", expand=True)
        table.add_column("size", justify="right", width=4)
        table.add_column("held-out error", justify="right", width=14)
        table.add_column(f"{self.target} =", no_wrap=True, overflow="ellipsis", ratio=1)
        for candidate in _worth_showing(update.front):
            expression = candidate.fit.expression
            if expression not in self.texts:
                self.texts[expression] = to_text(canonical(expression), digits=4)
            style = "bold green" if candidate is update.best else ""
            error = f"{math.sqrt(candidate.heldout_mse):.3g}"
            table.add_row(str(expression.complexity), error, Text(self.texts[expression]), style=style)
        return Group(_line(cells), table)


class _Cell:
    """The picture under a cell of a notebook, drawn anew at each update. (rich alone would need ipywidgets.)"""

    def __init__(self, progress: _Shown) -> None:
        self.progress, self.handle, self.drawn = progress, None, -math.inf

    def start(self) -> None:
        self._show("", display_id=True)

    def refresh(self) -> None:
        if time.monotonic() - self.drawn >= 1 / PER_SECOND:
            self.drawn = time.monotonic()
            paper = Console(file=io.StringIO(), record=True, width=WIDTH_OF_A_CELL, force_jupyter=False)
            paper.print(self.progress.picture())
            self._show(paper.export_html(inline_styles=True, code_format="<pre>{code}</pre>"))

    def stop(self) -> None:
        self._show("")

    def _show(self, page: str, **first: Any) -> None:
        from IPython.display import HTML, display  # a notebook has it

        if first:
            self.handle = display(HTML(page), **first)
        elif self.handle is not None:
            self.handle.update(HTML(page))


def _worth_showing(front: tuple[Candidate, ...]) -> list[Candidate]:
    """The last of those that are better on held-out rows than all simpler ones."""
    kept: list[Candidate] = []
    for candidate in front:
        if not kept or candidate.heldout_mse < kept[-1].heldout_mse:
            kept.append(candidate)
    return kept[-SHOWN:]


def _line(cells: list[RenderableType]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_row(*cells)
    return grid


def _short(count: float) -> str:
    """12, 3.4 k, 5.6 M, 7.8 G."""
    for unit in ("", " k", " M", " G"):
        if count < 1000:
            return f"{count:.3g}{unit}"
        count /= 1000
    return f"{count:.3g} T"


class TensorBoard:
    """A callback that writes each new best formula, its error and its size for TensorBoard
    (`pip install 'prunesymnet[tensorboard]'`)."""

    def __init__(self, folder: str) -> None:
        import_torch("TensorBoard")
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ImportError("TensorBoard needs its package: pip install 'prunesymnet[tensorboard]'") from None
        self.writer: Any = SummaryWriter(folder)

    def __call__(self, update: Update) -> None:
        best, step = update.best, update.fits
        expression = best.fit.expression
        self.writer.add_text("formula", f"`{to_text(expression, digits=6)}`", step)
        self.writer.add_scalar("error/held-out mse", best.heldout_mse, step)
        self.writer.add_scalar("error/1 - R²", 1 - best.fit.r2, step)
        self.writer.add_scalar("complexity", expression.complexity, step)
        self.writer.add_scalar("formulas scored", update.scored, step)
        self.writer.flush()
