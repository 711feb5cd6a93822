"""The command `fit`: each option once, and from the options to a model."""

from pathlib import Path
from typing import Annotated

import typer

from prunesymnet.cli.errors import clear_errors
from prunesymnet.cli.options import (
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
    Features,
    ForbidNested,
    Form,
    Json,
    LossName,
    MaxArgument,
    MaxComplexity,
    MaxConstants,
    MaxNested,
    MaxUses,
    NoConstantUnits,
    NoGradient,
    NoUnits,
    Operators,
    PartOption,
    Preset,
    Quiet,
    RandomPruning,
    Requires,
    Seed,
    SelectionOption,
    ShapeOption,
    Sheet,
    StandardErrors,
    StartFrom,
    Targets,
    TemplateOption,
    Units,
)
from prunesymnet.cli.printing import finish


# Long: a parameter for each option.
def fit(
    data: Data,
    target: Targets = "",
    features: Features = None,
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
    operators: Operators = None,
    max_complexity: MaxComplexity = None,
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
    selection: SelectionOption = None,
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
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the formula behind a column of a table.

    Prints the formula, the front that it was chosen from (the best formula of each size), its constants with their
    intervals, and why the search ended. Ctrl-C ends it with the best so far.
    """
    with clear_errors():
        from dataclasses import replace

        from prunesymnet.cli.fitting import fitted
        from prunesymnet.cli.settings import (
            constraints_of,
            limit_of,
            names_in,
            network_settings,
            parts_of,
            template_of,
            units_given,
            with_operators,
        )
        from prunesymnet.cli.tables import Columns
        from prunesymnet.runs.files import check_can_be_written

        settings = network_settings(preset, epochs=epochs, no_gradient=no_gradient, random_pruning=random_pruning)
        if operators is not None:
            settings = with_operators(settings, names_in(operators))
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
        columns = Columns(
            targets=names_in(target),
            features=None if features is None else names_in(features),
            exclude=names_in(exclude or ""),
            weights=weights,
            y_err=y_err,
            categories=[*names_in(categories or ""), *([] if constants_per is None else [constants_per])],
            drop_missing=drop_missing,
            decimal=decimal,
            sheet=sheet,
            form=form,
        )
        model = fitted(
            data,
            columns,
            settings,
            units=units_given(units, none=no_units),
            constant_units=not no_constant_units,
            folder=out,
            progress=not quiet,
        )
        finish(model, as_json, save)
