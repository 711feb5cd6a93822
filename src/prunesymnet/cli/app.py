"""The app: its commands, the longest of which, `fit` and `fit-many`, have modules of their own.

What takes long to import is imported in the command that needs it, so that `--help` appears at once.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prunesymnet.cli.errors import INTERRUPTED, USAGE, clear_errors, fail
from prunesymnet.cli.fit import fit
from prunesymnet.cli.fit_many import fit_many
from prunesymnet.cli.options import (
    Data,
    Decimal,
    Index,
    Json,
    Out,
    Picture,
    Preset,
    Quiet,
    RunDir,
    Saved,
    Sheet,
    Target,
)
from prunesymnet.cli.printing import as_text, finish, json_of, write

if TYPE_CHECKING:
    from prunesymnet.runs import Model

LEAST_POINTS = 10  # from so many on, some are held out to judge by
MOST_LAYERS = 12  # of a network that is drawn: more do not fit on a page that can be read

app = typer.Typer(
    name="prunesymnet",
    help="From a table of numbers to the short formula that made it, with error bars.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        from prunesymnet.version import __version__

        typer.echo(f"prunesymnet {__version__}")
        raise typer.Exit


app.command()(fit)
app.command()(fit_many)


@app.command()
def show(model: Saved, as_json: Json = False) -> None:
    """Print the front of a run or a model: the best formula of each size."""
    with clear_errors():
        found = model_at(model)
        typer.echo(json_of(found) if as_json else as_text(found))


@app.command()
def predict(
    model: Saved,
    data: Data,
    out: Out = None,
    index: Index = None,
    interval: Annotated[
        float | None, typer.Option(help="Add the interval that holds this share of new measurements, e.g. 0.95.")
    ] = None,
    forms: Annotated[
        bool, typer.Option("--forms", help="Count the other formulas of the front in it, by the odds of each.")
    ] = False,
    decimal: Decimal = None,
    sheet: Sheet = None,
) -> None:
    """Add a formula's values to a table: the table comes back as CSV with one column more."""
    with clear_errors():
        from prunesymnet.cli.tables import predicted, table_of

        if forms and (interval is None or index is not None):
            raise typer.BadParameter("--forms is for the interval: add --interval 0.95, and leave out --index")
        found = model_at(model)
        write(predicted(found, table_of(data, decimal, sheet), index, interval, forms=forms), out)


@app.command()
def export(
    model: Saved,
    to: Annotated[Target, typer.Option("--to", help="The format to write the formula in.")],
    out: Out = None,
    index: Index = None,
) -> None:
    """Write a formula as LaTeX, Python, C, ONNX, a spreadsheet's formula ..."""
    with clear_errors():
        from prunesymnet.export import export as exported

        found = model_at(model)
        equations = [front.best if index is None else front[index] for front in found.fronts]
        if to is Target.onnx and (len(equations) > 1 or (out is None and sys.stdout.isatty())):
            raise typer.BadParameter("an ONNX model needs a file (--out), and is made of one target")
        texts = [exported(e.expression, to.value, names=e.names, target=e.target) for e in equations]
        if to is Target.onnx:
            write(texts[0], out)
        else:
            write("\n".join(str(text).rstrip("\n") for text in texts), out)


@app.command()
def report(
    run: RunDir,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The HTML file (left out: report.html in the folder).")
    ] = None,
) -> None:
    """Write a run's report: one HTML file, and its pictures beside it."""
    with clear_errors():
        from prunesymnet.report import write_report
        from prunesymnet.runs import read_run

        if out is not None and out.is_symlink():
            out = out.resolve()  # a link that the user names is followed, one that is in the run's folder is not
        typer.echo(write_report(read_run(run), out or run / "report.html")[0])


@app.command()
def resume(
    run: RunDir,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", "-t", help="Seconds to continue for (left out: as at first)."),
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, mps or auto (left out: as at first).")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Continue a run, however it ended."""
    with clear_errors():
        from prunesymnet.runs import resume as resumed

        finish(resumed(run, time_limit=time_limit, device=device, progress=not quiet), as_json)


@app.command()
def draw(
    formula: Annotated[
        str, typer.Argument(help="In Python's arithmetic: 'x**4 - x**2 + y'. One that begins with -: in parentheses.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="A folder for the pictures.")] = Path("pictures"),
    interval: Annotated[
        tuple[float, float],
        typer.Option("--range", help="Between which every variable is sampled.", metavar="LOW HIGH"),
    ] = (-5.0, 5.0),
    points: Annotated[int, typer.Option(help="How many points are sampled.", min=LEAST_POINTS)] = 128,
    preset: Preset = "paper",
    epochs: Annotated[int, typer.Option(help="Epochs of training at most.", min=1)] = 1000,
    layers: Annotated[
        int | None, typer.Option(help="Layers of the network (left out: the preset's, 6).", min=1, max=MOST_LAYERS)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the points and the network.", min=0)] = 0,
    picture: Annotated[Picture, typer.Option("--format", help="Of the files.")] = Picture.svg,
    quiet: Quiet = False,
) -> None:
    """Draw how the paper's network finds a formula: the network, its subnetwork, the pruning and the loss.

    A network is trained on points of the formula and pruned, and four pictures are written. Where another formula
    comes out, the pictures show that one, and the command says so.
    """
    with clear_errors():
        from prunesymnet.cli.draw import draw as drawn
        from prunesymnet.search import SearchStatus

        ended = drawn(
            formula, out, low=interval[0], high=interval[1], points=points, seed=seed, preset=preset, epochs=epochs,
            layers=layers, file_format=picture.value, progress=not quiet,
        )  # fmt: skip
        if ended is SearchStatus.INTERRUPTED:
            raise typer.Exit(INTERRUPTED)


@app.command()
def studio(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Where tables and searches are kept (left out: prunesymnet-studio at home).", metavar="FOLDER"
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen. Another than localhost lets others in, with a token.")
    ] = "localhost",
    port: Annotated[
        int | None, typer.Option(help="Where the page is (left out: 8042, or a port that is free).", min=0, max=65535)
    ] = None,
    searches: Annotated[
        int | None,
        typer.Option("--searches", "-s", help="Searches at the same time (left out: one for each core).", min=1),
    ] = None,
    max_upload: Annotated[int, typer.Option(help="MiB of a file that is brought, at most.", min=1)] = 100,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Open a page in the browser where formulas are found by looking.

    Bring a table, choose what to explain, and watch the formulas come in. Searches are processes of their own: they go
    on when the page is closed.
    """
    with clear_errors():
        try:
            import uvicorn  # noqa: F401 - the server needs it later, when there is something to lose

            from prunesymnet.studio.server import serve
        except ModuleNotFoundError as problem:
            if (problem.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
                raise
            raise ImportError("the studio needs its packages: pip install 'prunesymnet[studio]'") from None
        serve(folder or Path.home() / "prunesymnet-studio", host, port, searches, max_upload, browser)


# A benchmark's own --help is passed on to it.
@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []})
def bench(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(help="Which benchmark: run, tables, figures, speed, scanning, core ...")
    ] = "run",
) -> None:
    """Run a benchmark of a checkout of the sources.

    Further options are passed on to it. By default, it is `run`: every method on every problem, what has not been run
    yet (hours). `bench NAME --help` shows the options of one.
    """
    import subprocess

    if name == "--help":
        typer.echo(context.get_help())
        return
    there = [path.stem for path in Path("benchmarks").glob("[a-z]*.py") if "__main__" in path.read_text("utf-8")]
    there += [path.parent.name for path in Path("benchmarks").glob("*/__main__.py")]
    if name not in there:
        known = f"there are {', '.join(sorted(there))}" if there else "run this in a checkout of the sources"
        fail(f"no benchmark is named {name!r} here; {known}", USAGE)
    raise typer.Exit(subprocess.call([sys.executable, "-m", f"benchmarks.{name}", *context.args]))  # noqa: S603


@app.command()
def demo(
    time_limit: Annotated[float, typer.Option("--time-limit", "-t", help="Seconds to search at most.")] = 8.0,
) -> None:
    """Find well-known laws in the tables that they were found in."""
    with clear_errors():
        from prunesymnet.cli.demo import find_laws

        find_laws(time_limit)


def model_at(path: Path) -> "Model":
    """The model of a run's folder or of a file."""
    from prunesymnet.runs import load_model, read_run

    return read_run(path).latest() if path.is_dir() else load_model(path)
