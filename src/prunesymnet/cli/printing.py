"""A model as the terminal shows it."""

from prunesymnet.equations import Front
from prunesymnet.runs import Model


def as_text(model: Model) -> str:
    """The formulas first, so that the first lines are all that a script needs; then how they were chosen."""
    formulas = "\n".join(str(front.best) for front in model.fronts)
    return "\n\n".join([formulas, *map(_details, model.fronts)])


def _details(front: Front) -> str:
    lines = [str(front), ""]
    lines += [f"  {constant}" for constant in front.best.constants]
    some = f"{front.fits:,} formula{'s' * (front.fits != 1)}"
    tried = f"{some} fitted in {front.seconds:.1f} s" if front.fits else ""
    lines.append(f"  {': '.join(part for part in (tried, front.status) if part)}")
    return "\n".join(lines)
