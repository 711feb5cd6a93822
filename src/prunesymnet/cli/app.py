"""The commands, and what they say when something is wrong.

What takes long to import is imported in the command that needs it, so that `--help` appears at once.

Exit codes: 0 done; 2 wrong usage; 3 a table, a formula, a model or a folder that can't be used, or could not be written
(what was found is printed all the same); 4 no formula found that keeps the constraints; 130 stopped by Ctrl-C (with the
best so far printed).
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prunesymnet.cli import STOPPED
from prunesymnet.cli.options import (
    KNOWN,
    OUTPUT,
    SEARCH,
    TABLE,
    BoxOption,
    Categories,
    ConstantsPer,
    Costs,
    Data,
    Decimal,
    DropMissing,
    Epochs,
    Evaluations,
    Exclude,
    ForbidNested,
    Form,
    Index,
    Json,
    LossName,
    MaxArgument,
    MaxConstants,
    MaxNested,
    MaxUses,
    NoConstantUnits,
    NoGradient,
    NoUnits,
    Out,
    PartOption,
    Picture,
    Preset,
    Quiet,
    RandomPruning,
    Requires,
    RunDir,
    Saved,
    Seconds,
    Selection,
    ShapeOption,
    Sheet,
    StandardErrors,
    StartFrom,
    Target,
    TemplateOption,
    Units,
)

if TYPE_CHECKING:
    from prunesymnet.runs import Model

USAGE, BAD_INPUT, NOTHING_FOUND, INTERRUPTED = 2, 3, 4, STOPPED
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


# Long: a parameter for each option.
@app.command()
def fit(
    data: Data,
    target: Annotated[
        str, typer.Option("--target", "-y", help="The column to explain (several: a,b).", rich_help_panel=TABLE)
    ] = "",
    features: Annotated[
        str | None,
        typer.Option(
            "--features",
            "-x",
            help="The columns to explain it by: a,b,c (left out: all others).",
            rich_help_panel=TABLE,
        ),
    ] = None,
    exclude: Exclude = None,
    categories: Categories = None,
    constants_per: ConstantsPer = None,
    drop_missing: DropMissing = False,
    decimal: Decimal = None,
    sheet: Sheet = None,
    weights: Annotated[
        str | None, typer.Option(help="A column of weights for the rows.", rich_help_panel=TABLE)
    ] = None,
    y_err: StandardErrors = None,
    loss: LossName = "auto",
    units: Units = None,
    no_units: NoUnits = False,
    no_constant_units: NoConstantUnits = False,
    form: Form = None,
    template: TemplateOption = None,
    part: PartOption = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            "-t",
            help="Seconds to search at most (left out: the preset's, 60 by default).",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    max_evaluations: Evaluations = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A folder to keep the run in (see resume, report).", rich_help_panel=OUTPUT),
    ] = None,
    save: Annotated[Path | None, typer.Option(help="A JSON file to save the model in.", rich_help_panel=OUTPUT)] = None,
    operators: Annotated[
        str | None,
        typer.Option(
            help="What formulas are made of, e.g. '+,-,*,/,exp' (left out: the preset's).", rich_help_panel=KNOWN
        ),
    ] = None,
    max_complexity: Annotated[
        int | None, typer.Option(help="The largest complexity of a formula.", rich_help_panel=KNOWN)
    ] = None,
    max_uses: MaxUses = "",
    max_argument: MaxArgument = "",
    forbid_nested: ForbidNested = "",
    max_nested: MaxNested = "",
    max_constants: MaxConstants = None,
    requires: Requires = "",
    costs: Costs = "",
    shape: ShapeOption = None,
    box: BoxOption = "",
    start_from: StartFrom = None,
    selection: Annotated[
        Selection | None, typer.Option(help="How to choose from the front.", rich_help_panel=SEARCH)
    ] = None,
    preset: Preset = "default",
    epochs: Epochs = None,
    no_gradient: NoGradient = False,
    random_pruning: RandomPruning = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Workers; 0 is one for each core.", min=0, rich_help_panel=SEARCH)
    ] = 1,
    device: Annotated[
        str,
        typer.Option(
            help="cpu, cuda (cuda:1 ...) or mps for a GPU, or auto: a GPU where there is one and it pays.",
            rich_help_panel=SEARCH,
        ),
    ] = "cpu",
    seed: Annotated[
        int, typer.Option(help="Of the random numbers: another one, another search.", min=0, rich_help_panel=SEARCH)
    ] = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the formula behind a column of a table.

    Prints the formula, the front that it was chosen from, its constants with their intervals, and why the search ended.
    Ctrl-C ends it with the best so far.
    """
    with clear_errors():
        from dataclasses import replace

        from prunesymnet.cli.settings import (
            constraints_of,
            limit_of,
            network_settings,
            parts_of,
            template_of,
            units_given,
            with_operators,
        )  # fmt: skip
        from prunesymnet.cli.tables import Columns, chosen_of, datasets_of, fitted_form, fitted_large, labels_of
        from prunesymnet.data.chunks import is_large
        from prunesymnet.runs import run
        from prunesymnet.runs.files import check_can_be_written
        from prunesymnet.units import units_of_labels

        settings = network_settings(preset, epochs=epochs, no_gradient=no_gradient, random_pruning=random_pruning)
        if operators is not None:
            settings = with_operators(settings, listed(operators))
        settings = replace(
            settings.on_device(device),
            time_limit=limit_of(settings, time_limit, max_evaluations),
            max_evaluations=max_evaluations,
            max_complexity=max_complexity,
            constraints=constraints_of(
                max_uses=max_uses, max_argument=max_argument, forbid_nested=forbid_nested, max_nested=max_nested,
                max_constants=max_constants, requires=requires, costs=costs, shape=shape or (), box=box,
            ),
            start_from=tuple(start_from or ()),
            constants_per=constants_per,
            template=template_of(template or ()),
            parts=parts_of(part or ()),
            selection=settings.selection if selection is None else selection.value,
            loss=loss,
            workers=jobs,
            seed=seed,
        )  # fmt: skip
        if form is not None and out is not None:
            raise ValueError("--out keeps a search, and --form does without one: --save keeps its model")
        if save is not None:
            check_can_be_written(save)
        by = listed(categories or "") + ([] if constants_per is None else [constants_per])
        columns = Columns(
            listed(target), None if features is None else listed(features), listed(exclude or ""), weights, y_err,
            by, drop_missing, decimal, sheet, form,
        )  # fmt: skip
        given = units_given(units, none=no_units)
        if data != "-" and is_large(data):
            found = fitted_large(data, columns, settings, given, not no_constant_units, out, not quiet)
            finish(found, as_json, save)
            return
        table, chosen, columns = chosen_of(data, columns)
        if form is not None:
            model = fitted_form(table, chosen, columns, settings, given)
        else:
            tables = datasets_of(table, chosen, columns)
            known = units_of_labels(labels_of(tables, chosen, columns.targets), given)
            settings = replace(settings, units=known, constant_units=not no_constant_units)
            called = "standard input" if data == "-" else Path(data).name
            model = run(
                tables, settings, columns=tuple(map(str, chosen)), folder=out, progress=not quiet, source=called
            )
        finish(model, as_json, save)


# Long: a parameter for each option.
@app.command()
def fit_many(
    data: Data,
    target: Annotated[str, typer.Option("--target", "-y", help="The column to explain (several: a,b).")] = "",
    by: Annotated[str, typer.Option("--by", "-b", help="The column whose values make the groups (several: a,b).")] = "",
    features: Annotated[
        str | None, typer.Option("--features", "-x", help="The columns to explain it by: a,b,c (left out: all others).")
    ] = None,
    exclude: Exclude = None,
    drop_missing: DropMissing = False,
    decimal: Decimal = None,
    sheet: Sheet = None,
    loss: LossName = "auto",
    units: Units = None,
    no_units: NoUnits = False,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", "-t", help="Seconds for each group and target (left out: the preset's, 60)."),
    ] = None,
    max_evaluations: Evaluations = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A CSV file for the table of formulas.")] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            help="A folder for the models, each from the moment it is there; what it has is not fitted again."
        ),
    ] = None,
    operators: Annotated[
        str | None, typer.Option(help="What formulas are made of, e.g. '+,-,*,/,exp' (left out: the preset's).")
    ] = None,
    max_complexity: Annotated[int | None, typer.Option(help="The largest complexity of a formula.")] = None,
    selection: Annotated[Selection | None, typer.Option(help="How to choose from the front.")] = None,
    preset: Preset = "default",
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; 0 is one for each core.", min=0)] = 0,
    seed: Annotated[int, typer.Option(help="Of the random numbers: another one, another search.", min=0)] = 0,
    quiet: Quiet = False,
) -> None:
    """Find a formula for each group of rows, and for each target, with the same settings, on all cores.

    Prints a table with a line for each, and whether they share one form. A group that can't be fitted has its error in
    the table. Ctrl-C ends it with what is finished.
    """
    with clear_errors():
        from prunesymnet.cli.many import fit_groups, printed
        from prunesymnet.cli.settings import preset_named, units_given
        from prunesymnet.cli.tables import Columns
        from prunesymnet.estimator import PruneSymRegressor
        from prunesymnet.runs.files import check_can_be_written

        if out is not None:
            check_can_be_written(out)
        preset_named(preset)
        estimator = PruneSymRegressor(
            operators=None if operators is None else listed(operators), max_complexity=max_complexity, loss=loss,
            units=units_given(units, none=no_units), selection=None if selection is None else selection.value,
            time_limit=time_limit, max_evaluations=max_evaluations, preset=preset, random_state=seed, progress=False,
        )  # fmt: skip
        columns = Columns(
            listed(target), None if features is None else listed(features), listed(exclude or ""),
            drop_missing=drop_missing, decimal=decimal, sheet=sheet,
        )  # fmt: skip
        found = fit_groups(data, columns, listed(by), estimator, jobs=jobs or -1, folder=save, progress=not quiet)
        if out is not None:
            found.table().to_csv(out, index=False)
        typer.echo(printed(found))
        if len(found.models) + len(found.errors) < len(found):
            raise typer.Exit(INTERRUPTED)
        if found.errors:
            raise typer.Exit(BAD_INPUT)


@app.command()
def show(model: Saved, as_json: Json = False) -> None:
    """Print the front of a run or a model."""
    with clear_errors():
        from prunesymnet.cli.printing import as_text

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
    decimal: Decimal = None,
    sheet: Sheet = None,
) -> None:
    """Add a formula's values to a table: the table comes back as CSV with one column more."""
    with clear_errors():
        from prunesymnet.cli.tables import predicted, table_of

        found = model_at(model)
        write(predicted(found, table_of(data, decimal, sheet), index, interval), out)


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
        content = texts[0] if len(texts) == 1 else "\n".join(str(text).rstrip("\n") for text in texts)
        write(content, out)


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
def demo(time_limit: Seconds = 8.0) -> None:
    """Find well-known laws in the tables that they were found in."""
    with clear_errors():
        from prunesymnet.cli.demo import find_laws

        find_laws(time_limit)


# What the commands share


def listed(names: str) -> list[str]:
    """The names of an option, a,b; none of an empty one. A name with a comma is quoted: 'a,"mass, dry"'."""
    import csv

    cells = next(csv.reader([names], skipinitialspace=True), [])
    return [name.strip() for name in cells if name.strip()]


def model_at(path: Path) -> "Model":
    from prunesymnet.runs import load_model, read_run

    return read_run(path).latest() if path.is_dir() else load_model(path)


def finish(model: "Model", as_json: bool, save: Path | None = None) -> None:
    """Save and print what was found; the exit code says if it was stopped by hand."""
    from prunesymnet.cli.printing import as_text
    from prunesymnet.runs import ended_by_hand, save_or_warn

    if save is not None:
        save_or_warn(model, save)
    typer.echo(json_of(model) if as_json else as_text(model))
    if any(map(ended_by_hand, model.fronts)):
        raise typer.Exit(INTERRUPTED)


def json_of(model: "Model") -> str:
    import json

    from prunesymnet.runs.files import plain

    return json.dumps(plain(model.record()), ensure_ascii=False, indent=1)


def write(content: Any, out: Path | None) -> None:
    if isinstance(content, bytes):
        if out is None:
            sys.stdout.buffer.write(content)
        else:
            out.write_bytes(content)
    elif out is None:
        typer.echo(str(content), nl=not str(content).endswith("\n"))
    else:
        out.write_text(str(content).rstrip("\n") + "\n", encoding="utf-8")


def fail(message: str, code: int) -> None:
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
        from prunesymnet.errors import NothingFoundError, PruneSymNetError

        if isinstance(problem, NothingFoundError):
            fail(str(problem), NOTHING_FOUND)
        fail(str(problem), BAD_INPUT if isinstance(problem, PruneSymNetError | OSError) else USAGE)
    except IndexError as problem:
        fail(str(problem), USAGE)
