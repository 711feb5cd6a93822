"""The command `fit-many`: each option once, and from the options to a table of formulas."""

from pathlib import Path
from typing import Annotated

import typer

from prunesymnet.cli.errors import BAD_INPUT, INTERRUPTED, clear_errors
from prunesymnet.cli.options import (
    OUTPUT,
    SEARCH,
    TABLE,
    Data,
    Decimal,
    DropMissing,
    Evaluations,
    Exclude,
    Features,
    LossName,
    MaxComplexity,
    NoUnits,
    Operators,
    Preset,
    Quiet,
    Seed,
    SelectionOption,
    Sheet,
    Targets,
    Units,
)


# Long: a parameter for each option.
def fit_many(
    data: Data,
    target: Targets = "",
    by: Annotated[
        str,
        typer.Option(
            "--by", "-b", help="The column whose values make the groups (several: a,b).", rich_help_panel=TABLE
        ),
    ] = "",
    features: Features = None,
    exclude: Exclude = None,
    drop_missing: DropMissing = False,
    decimal: Decimal = None,
    sheet: Sheet = None,
    loss: LossName = "auto",
    units: Units = None,
    no_units: NoUnits = False,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            "-t",
            help="Seconds for each group and target (left out: the preset's, 60).",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    max_evaluations: Evaluations = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A CSV file for the table of formulas.", rich_help_panel=OUTPUT),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            help="A folder for the models, each from the moment it is there; what it has is not fitted again.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    operators: Operators = None,
    max_complexity: MaxComplexity = None,
    selection: SelectionOption = None,
    preset: Preset = "default",
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Processes; 0 is one for each core.", min=0, rich_help_panel=SEARCH)
    ] = 0,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Find a formula for each group of rows, and for each target, with the same settings, on all cores.

    Prints a table with a line for each, and whether they share one form. A group that can't be fitted has its error in
    the table. Ctrl-C ends it with what is finished.
    """
    with clear_errors():
        from prunesymnet.cli.many import fit_groups, printed
        from prunesymnet.cli.settings import names_in, preset_named, units_given
        from prunesymnet.cli.tables import Columns
        from prunesymnet.estimator import PruneSymRegressor
        from prunesymnet.runs.files import check_can_be_written

        if out is not None:
            check_can_be_written(out)
        preset_named(preset)
        estimator = PruneSymRegressor(
            operators=None if operators is None else names_in(operators),
            max_complexity=max_complexity,
            loss=loss,
            units=units_given(units, none=no_units),
            selection=None if selection is None else selection.value,
            time_limit=time_limit,
            max_evaluations=max_evaluations,
            preset=preset,
            random_state=seed,
            progress=False,
        )
        columns = Columns(
            targets=names_in(target),
            features=None if features is None else names_in(features),
            exclude=names_in(exclude or ""),
            drop_missing=drop_missing,
            decimal=decimal,
            sheet=sheet,
        )
        found = fit_groups(data, columns, names_in(by), estimator, jobs=jobs or -1, folder=save, progress=not quiet)
        if out is not None:
            found.table().to_csv(out, index=False)
        typer.echo(printed(found))
        if len(found.models) + len(found.errors) < len(found):
            raise typer.Exit(INTERRUPTED)
        if found.errors:
            raise typer.Exit(BAD_INPUT)
