"""What can be said to a command, beside its own few words: each argument and option once, with its help."""

import enum
from pathlib import Path
from typing import Annotated

import typer


class Selection(enum.StrEnum):
    mdl = "mdl"
    bic = "bic"
    aic = "aic"
    accuracy = "accuracy"
    heldout = "heldout"


class Target(enum.StrEnum):
    text = "text"
    latex = "latex"
    mathml = "mathml"
    python = "python"
    c = "c"
    excel = "excel"
    onnx = "onnx"
    sympy = "sympy"


class Picture(enum.StrEnum):
    svg = "svg"
    png = "png"
    pdf = "pdf"


def preset_names() -> list[str]:
    from prunesymnet.search import PRESETS

    return list(PRESETS)


# What options are about, as the help puts them together.
TABLE, KNOWN, SEARCH, OUTPUT = "The table", "What you know of the formula", "The search", "What is kept"

Saved = Annotated[Path, typer.Argument(help="A run's folder, or a saved model (JSON).", metavar="MODEL")]
RunDir = Annotated[Path, typer.Argument(help="A run's folder.", metavar="RUN")]
Data = Annotated[
    str,
    typer.Argument(
        help="A table: .csv, .tsv, .txt, .dat, .json, each also .gz; .xlsx, .ods, .parquet; - is standard input. "
        "For fit also a folder of .parquet or .csv files, however large."
    ),
]
Targets = Annotated[
    str, typer.Option("--target", "-y", help="The column to explain (several: a,b).", rich_help_panel=TABLE)
]
Features = Annotated[
    str | None,
    typer.Option(
        "--features", "-x", help="The columns to explain it by: a,b,c (left out: all others).", rich_help_panel=TABLE
    ),
]
Exclude = Annotated[str | None, typer.Option("--exclude", help="Columns to leave out: a,b.", rich_help_panel=TABLE)]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="Leave out rows that lack a value.", rich_help_panel=TABLE)
]
Categories = Annotated[
    str | None,
    typer.Option(
        "--categories", help="Columns of categories: each of these becomes a column of 0 and 1.", rich_help_panel=TABLE
    ),
]
TemplateOption = Annotated[
    list[str] | None,
    typer.Option(
        "--template",
        help="A formula with functions to be found: 'f(x, z)*exp(-g(y))' (several targets: y=...).",
        rich_help_panel=KNOWN,
    ),
]
PartOption = Annotated[
    list[str] | None,
    typer.Option(
        "--part",
        help="What is known of a function of the template: 'f: operators=+,*; max_complexity=9' (once for each).",
        rich_help_panel=KNOWN,
    ),
]
ConstantsPer = Annotated[
    str | None,
    typer.Option(
        "--constants-per",
        help="A column of categories, each with constants of its own in one formula.",
        rich_help_panel=KNOWN,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal", help="The sign before decimals, . or , (left out: what the table shows).", rich_help_panel=TABLE
    ),
]
Sheet = Annotated[
    str | None, typer.Option("--sheet", help="The sheet of a spreadsheet (left out: the first).", rich_help_panel=TABLE)
]
Form = Annotated[
    str | None,
    typer.Option(
        "--form",
        help=r"Search nothing: fit the constants of this formula, 'a*x**b'; a\[site] is one for each site.",
        rich_help_panel=KNOWN,
    ),
]
Units = Annotated[
    str | None,
    typer.Option(
        "--units",
        help="What columns and target are measured in: v=m/s,m=kg,E=J (left out: what the header has in brackets, "
        r"v \[m/s]). Only formulas that are dimensionally sound are searched.",
        rich_help_panel=TABLE,
    ),
]
NoUnits = Annotated[
    bool,
    typer.Option("--no-units", help="Take nothing that the header has in brackets for a unit.", rich_help_panel=TABLE),
]
NoConstantUnits = Annotated[
    bool,
    typer.Option(
        "--no-constant-units",
        help="With units: constants are pure numbers, none carries a unit.",
        rich_help_panel=KNOWN,
    ),
]
Operators = Annotated[
    str | None,
    typer.Option(
        "--operators",
        help="What formulas are made of, e.g. '+,-,*,/,exp' (left out: the preset's).",
        rich_help_panel=KNOWN,
    ),
]
MaxComplexity = Annotated[
    int | None, typer.Option("--max-complexity", help="The largest complexity of a formula.", rich_help_panel=KNOWN)
]
MaxUses = Annotated[
    str,
    typer.Option("--max-uses", help="How often an operator or a column may appear: exp=1,x=2.", rich_help_panel=KNOWN),
]
MaxArgument = Annotated[
    str,
    typer.Option(
        "--max-argument", help="The largest complexity of what an operator is applied to: sin=5.", rich_help_panel=KNOWN
    ),
]
ForbidNested = Annotated[
    str,
    typer.Option(
        "--forbid-nested", help="Operators that may not stand inside another: exp=sin,exp=log.", rich_help_panel=KNOWN
    ),
]
MaxNested = Annotated[
    str,
    typer.Option(
        "--max-nested",
        help="How many of an operator may stand one inside the other, within another: sin=exp:1,exp=exp:0.",
        rich_help_panel=KNOWN,
    ),
]
Costs = Annotated[
    str, typer.Option("--costs", help="What an operator adds to the complexity: exp=4,sin=5.", rich_help_panel=KNOWN)
]
ShapeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--shape",
        help="What the law is like: 'increasing in x', '0 at x = 0' (several: once for each).",
        rich_help_panel=KNOWN,
    ),
]
BoxOption = Annotated[
    str,
    typer.Option(
        "--box",
        help="Where the law has its shape: x=0:10,y=1:2 (left out: the range of the column).",
        rich_help_panel=KNOWN,
    ),
]
StartFrom = Annotated[
    list[str] | None,
    typer.Option(
        "--start-from",
        help="A formula to begin with and to build on, 'a*exp(-b*x)' (several: once for each).",
        rich_help_panel=KNOWN,
    ),
]
MaxConstants = Annotated[
    int | None, typer.Option("--max-constants", help="How many constants may be fitted.", min=0, rich_help_panel=KNOWN)
]
Requires = Annotated[str, typer.Option("--requires", help="Columns that must appear: a,b.", rich_help_panel=KNOWN)]
Evaluations = Annotated[
    int | None,
    typer.Option(
        "--max-evaluations",
        help="Formulas to score or fit at most, in place of seconds: the same on every machine.",
        rich_help_panel=SEARCH,
    ),
]
StandardErrors = Annotated[
    str | None,
    typer.Option(
        "--y-err", help="A column of standard errors of the target, in place of weights.", rich_help_panel=TABLE
    ),
]
LossName = Annotated[
    str,
    typer.Option(
        "--loss",
        help="What an error costs: auto (squared; relative where the rows show that errors are shares of the "
        "values; huber where some rows are gross outliers), squared, absolute, huber, relative, poisson (for counts), "
        "quantile:0.9.",
        rich_help_panel=SEARCH,
    ),
]
SelectionOption = Annotated[
    Selection | None,
    typer.Option(
        "--selection",
        help="Which formula of the front is chosen (left out: the preset's, mdl: that of least description length).",
        rich_help_panel=SEARCH,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", help="The seed of the random numbers: another one, another search.", min=0, rich_help_panel=SEARCH
    ),
]
Preset = Annotated[
    str,
    typer.Option(
        help="The method: default, or one that trains networks (paper, paper+, no-gradient, random-pruning).",
        autocompletion=preset_names,
        metavar="NAME",
        rich_help_panel=SEARCH,
    ),
]
Epochs = Annotated[
    int | None,
    typer.Option(
        help="Of a trained network (--preset paper): epochs of training at most.", min=1, rich_help_panel=SEARCH
    ),
]
NoGradient = Annotated[
    bool,
    typer.Option(
        "--no-gradient", help="Of a trained network: leave its weights as they were drawn.", rich_help_panel=SEARCH
    ),
]
RandomPruning = Annotated[
    bool, typer.Option("--random-pruning", help="Of a trained network: retain edges at random.", rich_help_panel=SEARCH)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Index = Annotated[int | None, typer.Option("--index", "-i", help="A row of the front (left out: the chosen one).")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="A file to write to (left out: standard output).")]
