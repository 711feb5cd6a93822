"""What a search is doing, on one line of the terminal: time, stage, formulas fitted, and the best so far.

    with Progress(settings.time_limit) as progress:
        search(data, settings, watch=progress)

It shows itself on a terminal only, and leaves nothing behind.
"""

import math
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from prunesymnet.expression import to_text
from prunesymnet.search import Update


class Progress:
    """A watcher for `search`; `console` is where to show it (left out: standard error)."""

    def __init__(self, time_limit: float = math.inf, *, console: Console | None = None) -> None:
        console = console or Console(stderr=True)
        self.bar = Bar(
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task("", total=time_limit if math.isfinite(time_limit) else None)

    def __enter__(self) -> "Progress":
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.bar.stop()

    def __call__(self, update: Update) -> None:
        formula = escape(to_text(update.best.fit.expression, digits=4))
        shown = formula if len(formula) <= 60 else formula[:59] + "…"
        stage = f"epoch {update.epoch}" if update.epoch else update.stage
        text = f"{stage}  {update.fits} formulas fitted  R² {update.best.fit.r2:.6g}  {shown}"
        self.bar.update(self.task, completed=update.seconds, description=text)
