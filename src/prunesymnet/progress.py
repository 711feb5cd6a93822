"""What a search is doing, on one line of the terminal: epoch, loss, and the best formula so far.

    with Progress(max_epochs) as progress:
        search(data, settings, watch=progress)

It shows itself on a terminal only, and leaves nothing behind.
"""

from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from prunesymnet.expression import to_text
from prunesymnet.search import Candidate


class Progress:
    """A watcher for `search`; `console` is where to show it (left out: standard error)."""

    def __init__(self, max_epochs: int, *, console: Console | None = None) -> None:
        console = console or Console(stderr=True)
        self.bar = Bar(
            TextColumn("{task.completed}/{task.total} epochs"),
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task("", total=max_epochs)

    def __enter__(self) -> "Progress":
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.bar.stop()

    def __call__(self, epoch: int, loss: float, best: Candidate) -> None:
        formula = escape(to_text(best.fit.expression, digits=4))
        shown = formula if len(formula) <= 60 else formula[:59] + "…"
        self.bar.update(self.task, completed=epoch, description=f"loss {loss:.3g}  R² {best.fit.r2:.6g}  {shown}")
