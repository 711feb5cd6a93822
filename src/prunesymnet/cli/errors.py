"""How a command ends: its exit code, and one line on standard error that says what is wrong and what to do.

Exit codes: 0 done; 2 wrong usage; 3 a table, a formula, a model or a folder that can't be used, or could not be written
(what was found is printed all the same); 4 no formula found that keeps the constraints; 130 stopped by Ctrl-C (with the
best so far printed).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

from prunesymnet.cli import STOPPED

USAGE, BAD_INPUT, NOTHING_FOUND, INTERRUPTED = 2, 3, 4, STOPPED


def fail(message: str, code: int) -> NoReturn:
    from prunesymnet.data.messages import printable

    typer.echo(f"error: {printable(' '.join(message.split()))}", err=True)
    raise typer.Exit(code)


@contextmanager
def clear_errors() -> Iterator[None]:
    """One line that says what is wrong and what to do; no traceback for what a user can correct."""
    import warnings

    from prunesymnet.errors import DataWarning, DomainWarning, InterruptedWarning, NotWrittenWarning

    shown: list[type[Warning]] = []

    def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        from prunesymnet.data.messages import printable

        shown.append(category)
        typer.echo(f"note: {printable(str(message))}", err=True)

    try:
        with warnings.catch_warnings():
            for ours in (DataWarning, DomainWarning, InterruptedWarning, NotWrittenWarning):
                warnings.simplefilter("always", ours)  # an error would keep the formula from us
            warnings.showwarning = show
            yield
        if NotWrittenWarning in shown:  # what was found is printed, but a file that was asked for is not there
            raise typer.Exit(BAD_INPUT)
    except BrokenPipeError:
        raise  # the reader of our output has gone: typer ends quietly
    except KeyboardInterrupt:
        typer.echo("error: stopped", err=True)  # as plain as can be: what was stopped may be an import
        raise typer.Exit(INTERRUPTED) from None
    except ImportError as problem:
        if "pip install" not in str(problem):  # ours say what to install
            raise
        fail(str(problem), USAGE)
    except (OSError, ValueError) as problem:
        from prunesymnet.errors import NothingFoundError, ParseError, PruneSymNetError

        if isinstance(problem, NothingFoundError):
            fail(str(problem), NOTHING_FOUND)
        # Without the mark below the formula, which has no place in one line.
        message = str(problem).removesuffix("^") if isinstance(problem, ParseError) else str(problem)
        fail(message, BAD_INPUT if isinstance(problem, PruneSymNetError | OSError) else USAGE)
    except IndexError as problem:
        fail(str(problem), USAGE)
