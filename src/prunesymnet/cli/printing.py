"""What a command prints: a model as the terminal shows it or as JSON, and the content of a file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from prunesymnet.cli.errors import INTERRUPTED

if TYPE_CHECKING:
    from prunesymnet.equations import Equation, Front
    from prunesymnet.runs import Model


def as_text(model: "Model") -> str:
    """The formulas first, so that the first lines are all that a script needs; then how they were chosen."""
    formulas = "\n".join(str(front.best) for front in model.fronts)
    return "\n\n".join([formulas, *map(_details, model.fronts)])


def constants_text(equation: "Equation") -> list[str]:
    """The formula with names for its constants, and a line for each of them; nothing where there are none."""
    constants = equation.constants
    return [equation.named_text(), *map(str, constants)] if constants else []


def _details(front: "Front") -> str:
    from prunesymnet.expression import to_text

    lines = [str(front), ""]
    lines += [f"  has the form of {front.best.known_as}"] * bool(front.best.known_as)
    lines += [f"  {line}" for line in constants_text(front.best)]
    lines += [f"  {line}" for line in front.best.shape]
    lines += [f"  {part} = {to_text(formula, digits=6)}" for part, formula in front.best.parts.items()]
    lines += [f"  structure: {reduction}" for reduction in front.structure]
    some = f"{front.fits:,} formula{'s' * (front.fits != 1)}"
    tried = f"{some} fitted in {front.seconds:.1f} s" if front.fits else ""
    lines.append(f"  {': '.join(part for part in (tried, front.status) if part)}")
    return "\n".join(lines)


def finish(model: "Model", as_json: bool, save: Path | None = None) -> None:
    """Save and print what was found; the exit code says if it was stopped by hand."""
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


def write(content: str | bytes, out: Path | None) -> None:
    """To a file, or to standard output where none is named."""
    if isinstance(content, bytes):
        if out is None:
            sys.stdout.buffer.write(content)
        else:
            out.write_bytes(content)
    elif out is None:
        typer.echo(content, nl=not content.endswith("\n"))
    else:
        out.write_text(content.rstrip("\n") + "\n", encoding="utf-8")
