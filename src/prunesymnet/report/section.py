"""What the part of the page about one target is made of: its numbers, its pictures, and why its formula was chosen."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure

from prunesymnet.data import Dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import ExportError
from prunesymnet.export.latex import to_latex
from prunesymnet.export.mathml import to_mathml
from prunesymnet.expression import Variable, to_text
from prunesymnet.report.collapse import draw_collapse
from prunesymnet.report.drawing import drawable
from prunesymnet.report.effects import MOST_PANELS, draw_effects, effective
from prunesymnet.report.formula import draw_formula
from prunesymnet.report.live import live_front
from prunesymnet.report.plots import draw_front, draw_predictions, draw_residuals
from prunesymnet.report.typeset import draw_latex
from prunesymnet.selection import choose
from prunesymnet.structure import Reduction

MOST_COLLAPSES = 4  # pictures of reductions: there is hardly ever more than one inside another
LONGEST = 300  # characters of a formula that is typeset in the table of the front
LARGEST = 400  # nodes of a formula that is drawn as a network; a picture of more is a tangle


@dataclass(frozen=True)
class Section:
    front: Front
    data: Dataset
    columns: Mapping[str, str]  # the user's name of each column
    selection: str  # the criterion's name; empty if it is a function of the user's
    took: float  # seconds
    fits: int
    most_panels: ClassVar[int] = MOST_PANELS

    @property
    def best(self) -> Equation:
        return self.front.best

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """The pictures that there are, by name."""
        drawn = {
            "formula": draw_latex(self.best.latex()),
            "front": draw_front(self.front),
            "predictions": draw_predictions(self.best, self.data),
            "residuals": draw_residuals(self.best, self.data),
            "effects": draw_effects(self.best, self.data, labels=self.columns) if self.effective else None,
            "network": None,
        }
        for k, reduction in enumerate(self.front.structure[:MOST_COLLAPSES], 1):
            drawn[f"structure-{k}"] = None if reduction.sizes else draw_collapse(reduction, self.data)
        if self.best.expression.size <= LARGEST:
            drawn["network"] = draw_formula(self.best.expression, target=self.best.target)
        return {name: figure for name, figure in drawn.items() if figure is not None}

    @cached_property
    def effective(self) -> list[str]:
        return effective(self.best, self.data)

    def effects(self) -> list[tuple[str, Figure, bool]]:
        """For each variable that is shown: its column's name, its picture, and whether the picture lacks letters of
        that name."""
        columns = {name: self.columns.get(name, name) for name in self.effective}
        if len(columns) == 1:
            pictures = [self.figures["effects"]]
        else:
            pictures = [draw_effects(self.best, self.data, [name], labels=columns) for name in columns]
        return [(text, figure, drawable(text) != text) for text, figure in zip(columns.values(), pictures, strict=True)]

    def reductions(self) -> list[tuple[Reduction, Figure | None]]:
        """What was found of the table's structure, each with its picture; of a sum or product of functions there is
        none, as no formula says what each of them is."""
        named = [(one, self.figures.get(f"structure-{k}")) for k, one in enumerate(self.front.structure, 1)]
        return [(reduction, figure) for reduction, figure in named if figure is not None or reduction.sizes]

    def ways(self) -> list[tuple[str, str]]:
        """The formula in forms that can be taken elsewhere."""
        ways = [("As text", f"{self.best.target} = {to_text(self.best.expression)}"), ("As LaTeX", self.best.latex())]
        with suppress(ExportError):  # an operator of the user's own
            ways.append(("As a Python function", self.best.python()))
        return ways

    def named_formula(self) -> Figure | None:
        """The formula with names for its constants."""
        return draw_latex(to_latex(self.best.named_form, target=self.best.target))

    def symbol(self, name: str) -> Figure | None:
        return draw_latex(to_latex(Variable(name)))

    def undefined_rows(self) -> int:
        return int((~np.isfinite(self.best.predict(self.data.columns))).sum())

    def has_band(self) -> bool:
        return bool(np.isfinite(self.best.variance) and np.isfinite(self.best.covariance).all())

    def live_front(self) -> str:
        """What the page draws the front from, as JSON."""
        return live_front(self.front, self.data)

    def typeset(self, equation: Equation) -> Markup | None:
        """A formula of the front as MathML; None where it is too long to be read."""
        if len(equation.text()) > LONGEST:
            return None
        return Markup(to_mathml(equation.expression, digits=6))  # noqa: S704 - escaped there

    def is_best_by_criterion(self) -> bool:
        return choose(self.front, self.selection) is self.best
