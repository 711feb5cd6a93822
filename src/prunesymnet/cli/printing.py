"""A model as the terminal shows it."""

from prunesymnet.equations import Equation, Front
from prunesymnet.expression import to_text
from prunesymnet.runs import Model


def as_text(model: Model) -> str:
    """The formulas first, so that the first lines are all that a script needs; then how they were chosen."""
    formulas = "\n".join(str(front.best) for front in model.fronts)
    return "\n\n".join([formulas, *map(_details, model.fronts)])


def constants_text(equation: Equation) -> list[str]:
    """The formula with names for its constants, and a line for each of them; nothing where there are none."""
    constants = equation.constants
    return [equation.named_text(), *map(str, constants)] if constants else []


def _details(front: Front) -> str:
    lines = [str(front), ""]
    lines += [f"  known as {front.best.known_as}"] * bool(front.best.known_as)
    lines += [f"  {line}" for line in constants_text(front.best)]
    lines += [f"  {line}" for line in front.best.shape]
    lines += [f"  {part} = {to_text(formula, digits=6)}" for part, formula in front.best.parts.items()]
    lines += [f"  structure: {reduction}" for reduction in front.structure]
    some = f"{front.fits:,} formula{'s' * (front.fits != 1)}"
    tried = f"{some} fitted in {front.seconds:.1f} s" if front.fits else ""
    lines.append(f"  {': '.join(part for part in (tried, front.status) if part)}")
    return "\n".join(lines)
