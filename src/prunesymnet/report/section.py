"""The part of the page that is about one target: its formula, the numbers, and the pictures."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from matplotlib.figure import Figure

from prunesymnet.data import Dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import ExportError
from prunesymnet.export.latex import to_latex
from prunesymnet.expression import Expression, Variable, skeleton, to_text
from prunesymnet.expression.tree import is_free, transform
from prunesymnet.report.drawing import drawable
from prunesymnet.report.formula import draw_formula
from prunesymnet.report.plots import (
    MOST_PANELS,
    draw_effects,
    draw_front,
    draw_predictions,
    draw_residuals,
    effective,
)
from prunesymnet.report.svg import Gallery
from prunesymnet.report.typeset import draw_latex, to_svg
from prunesymnet.report.words import NONE, count, number, percent, rounded, safe, seconds, share
from prunesymnet.search import linear
from prunesymnet.selection import choose

LARGEST = 400  # nodes of a formula that is drawn as a network
MOST_ROWS = 15  # constants that are shown without being asked for
SHOWN = 300  # characters of a formula in the table of the front
HEADS = ("complexity", "mean squared error", "R²", "held-out R²", "bits")
CHOSEN_BY = {
    "mdl": "takes the fewest bits to write down with its constants and residuals",
    "bic": "has the best value of Bayes’ information criterion",
    "aic": "has the best value of Akaike’s information criterion",
    "accuracy": "has the smallest error",
    "heldout": "has the smallest error on held-out rows",
}


@dataclass
class Section:
    """What one target's part of the page is made of; `figures` are those that were drawn, by name."""

    front: Front
    data: Dataset
    columns: Mapping[str, str]  # the user's name of each column
    selection: str
    name: str  # begins each id on the page
    took: float
    fits: int
    gallery: Gallery
    figures: dict[str, Figure] = field(default_factory=dict)

    @property
    def best(self) -> Equation:
        return self.front.best

    def html(self) -> str:
        parts = (
            self.story, self.law, self.keys, self.constants, self.front_part, self.fit_part, self.effects_part,
            self.network_part,
        )  # fmt: skip
        return "\n".join(part() for part in parts)

    def story(self) -> str:
        status = self.front.status.strip()
        ended = f" {safe(status[:1].upper() + status[1:])}." if status else ""
        data = self.data
        rows = count(data.rows, "row" if data.weights is None else "weighted row")
        if data.measurements != data.rows:
            rows = f"{count(data.rows, 'row')} ({count(data.measurements, 'measurement')})"
        return (
            f'<p class="lead">{count(self.fits, "formula")} {"was" if self.fits == 1 else "were"} fitted to {rows} of '
            f"{count(data.features, 'column')}{f' in {seconds(self.took)}' if self.took else ''}.{ended}</p>"
        )

    def law(self) -> str:
        """The chosen formula, and ways to take it elsewhere."""
        latex = self.best.latex()
        self._keep("formula", draw_latex(latex))
        text = f"{self.best.target} = {to_text(self.best.expression)}"
        drawn = to_svg(latex, self.gallery)
        shown = f'<code class="plain">{safe(self.best)}</code>' if drawn is None else drawn
        ways = [("As text", text), ("As LaTeX", latex)]
        with suppress(ExportError):  # an operator of the user's own
            ways.append(("As a Python function", self.best.python()))
        boxes = "".join(
            f'<details><summary>{title}</summary><div class="way"><pre id="{self.name}w{k}">{safe(content)}</pre>'
            f'<button type="button" data-copy="{self.name}w{k}" hidden>Copy</button></div></details>'
            for k, (title, content) in enumerate(ways)
        )
        return (
            f'<div class="card law"><div class="scroll" role="math" aria-label="{safe(self.best)}" tabindex="0">{shown}'
            f'</div><div class="ways">{boxes}</div></div>'
        )

    def keys(self) -> str:
        best = self.best
        spread = float(np.sqrt(max(1 - best.r2, 0.0))) if np.isfinite(best.r2) else np.nan
        part = f"{percent(spread)} of the spread of {safe(best.target)}" if np.isfinite(spread) else ""
        known = np.isfinite(best.heldout_r2)
        tiles = (
            ("R²", share(best.r2), "share of the variance that it explains"),
            ("R² on held-out rows", share(best.heldout_r2), "fitted without them" if known else "not measured"),
            ("Root mean square error", number(float(np.sqrt(best.loss))), part),
            ("Complexity", str(best.complexity), "operators, variables and numbers"),
        )
        lost = int((~np.isfinite(best.predict(self.data.columns))).sum())
        warning = f'<p class="say">The formula is not defined in {count(lost, "row")} of the table.</p>' if lost else ""
        shown = "".join(
            f'<div><dt>{name}</dt><dd><div class="value">{value}</div><div class="sub">{note}</div></dd></div>'
            for name, value, note in tiles
        )
        return f'<dl class="keys">{shown}</dl>{warning}'

    def constants(self) -> str:
        found = self.best.constants
        if not found:
            return (
                '<h3>Constants</h3><p class="say">The formula has no fitted constants: its numbers are whole, or made '
                "of whole ones, and have no interval.</p>"
            )
        rows = []
        for estimate in found:
            value, error, low, high = rounded(estimate)
            sure = np.isfinite(estimate.standard_error)
            interval = f"{low} to {high}" if sure else NONE
            rows.append(
                f'<tr><td class="name">{self._symbol(estimate.name)}</td>'
                f'<td class="n" title="{estimate.value!r}">{value}</td>'
                f'<td class="n">{"± " + error if sure else "not determined by the data"}</td>'
                f'<td class="n">{interval}</td></tr>'
            )
        table = (
            '<div class="scroll"><table class="constants"><tr><th></th><th class="n">value</th>'
            '<th class="n">standard error</th><th class="n">95% interval</th></tr>'
            f"{''.join(rows)}</table></div>"
        )
        named = self._named()
        shown = "" if named is None else f'<div class="scroll named">{named}</div>'
        if len(rows) <= MOST_ROWS:
            return f'<h3>Constants</h3><div class="card">{shown}{table}</div>'
        return (
            f'<h3>Constants</h3><details class="box"><summary>{len(rows)} constants</summary><div>{shown}{table}</div>'
            "</details>"
        )

    def _named(self) -> str | None:
        """The formula with names for its constants."""
        best = self.best
        names = [estimate.name for estimate in best.constants]
        fresh = iter([name for name in names if name not in best.parameters])
        if set(names) & set(best.names) or len(set(names)) < len(names):
            return None

        def leaf(node: Expression) -> Expression:
            return Variable(next(fresh)) if is_free(node) else node

        return to_svg(to_latex(transform(best.form, leaf), target=best.target), self.gallery)

    def front_part(self) -> str:
        figure = self._keep("front", draw_front(self.front))
        picture = self.gallery.picture(
            figure, f"The front: mean squared error against complexity of {len(self.front)} formulas", f"{self.name}f"
        )
        rows = "".join(self._row(equation, i == self.front.chosen) for i, equation in enumerate(self.front))
        head = "".join(f'<th class="n">{name}</th>' for name in HEADS)
        return (
            f'<h3>The front</h3><div class="beside card"><figure>{picture}</figure><p class="say">Each point is the '
            f"best formula of its complexity, and no simpler one has as small an error. {self.why()}</p></div>"
            f'<div class="card scroll"><table class="front"><tr>{head}<th>{safe(self.front.target)} =</th></tr>{rows}'
            "</table></div>"
        )

    def why(self) -> str:
        """Why this one was chosen."""
        if self.selection not in CHOSEN_BY:
            return "The marked one was chosen by a function of the user’s."
        why = CHOSEN_BY[self.selection]
        if choose(self.front, self.selection) is self.best:
            return f"The marked one was chosen because it {why}."
        if skeleton(self.best.expression) == skeleton(linear(self.best.expression.variables)):
            return f"The one that {why} is worse than the linear model, which was chosen instead."
        return "The marked one was chosen."

    def _row(self, equation: Equation, chosen: bool) -> str:
        bits = equation.description_length
        values = (
            str(equation.complexity), number(equation.loss, 3), share(equation.r2), share(equation.heldout_r2),
            f"{bits:.1f}".replace("-", "−") if abs(bits) < 1e6 else number(bits),
        )  # fmt: skip
        cells = "".join(f'<td class="n" data-is="{h}">{value}</td>' for h, value in zip(HEADS, values, strict=True))
        text = equation.text()
        text = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
        badge = '<span class="badge">chosen</span>' if chosen else ""
        return f'<tr class="{"chosen" if chosen else "other"}">{cells}<td><code>{safe(text)}</code>{badge}</td></tr>'

    def fit_part(self) -> str:
        target = self.best.target
        predictions = self.gallery.picture(
            self._keep("predictions", draw_predictions(self.best, self.data)),
            f"Predicted against observed {target}", f"{self.name}p",
        )  # fmt: skip
        residuals = self.gallery.picture(
            self._keep("residuals", draw_residuals(self.best, self.data)),
            f"Residuals of {target} against the prediction, and against normal quantiles", f"{self.name}r",
        )  # fmt: skip
        return (
            '<h3>Predictions and residuals</h3><div class="two">'
            f'<figure class="card">{predictions}<figcaption>Predicted against observed: on the line, they are equal.'
            f'</figcaption></figure><figure class="card">{residuals}<figcaption>Left: where there is no pattern, '
            "nothing is left to explain. Right: on the line, the residuals are normally distributed.</figcaption>"
            "</figure></div>"
        )

    def effects_part(self) -> str:
        best, data = self.best, self.data
        names, all_ = effective(best, data), len(best.expression.variables)
        if not names:
            return ""
        whole = self._keep("effects", draw_effects(best, data, labels=self.columns))
        drawn = [whole] if len(names) == 1 else [draw_effects(best, data, [n], labels=self.columns) for n in names]
        panels = "".join(
            self._effect(name, figure, k) for k, (name, figure) in enumerate(zip(names, drawn, strict=True))
        )
        others = "" if all_ == 1 else " while the others are at their medians"
        moved = "" if all_ == 1 else ", moved to where it would be with the others at their medians"
        weight = " of average weight" if data.weights is not None else ""
        band = (
            f"In the band, 95% of new measurements{weight} would lie, if the form is right."
            if np.isfinite(best.variance) and np.isfinite(best.covariance).all()
            else "The data do not determine all constants, so there is no band of uncertainty."
        )
        some = f" Of {all_} variables, the {MOST_PANELS} that change it most." if all_ > len(names) else ""
        return (
            f'<h3>What each variable does</h3><p class="say">The line is {safe(best.target)} as the formula has it, as '
            f"one variable goes through its range{others}. {band} Each point is a row of the table{moved}.{some}</p>"
            f'<div class="two">{panels}</div>'
        )

    def _effect(self, name: str, figure: Figure, k: int) -> str:
        column = self.columns.get(name, name)
        # A name that the font of pictures can't write is written by the page.
        caption = "" if drawable(column) == column else f"<figcaption>{safe(column)}</figcaption>"
        picture = self.gallery.picture(figure, f"{self.best.target} as {column} varies", f"{self.name}e{k}")
        return f'<figure class="card">{picture}{caption}</figure>'

    def network_part(self) -> str:
        best = self.best
        if best.expression.size > LARGEST:
            return '<h3>As a network</h3><p class="say">The formula is too long to be drawn as a network.</p>'
        figure = self._keep("network", draw_formula(best.expression, target=best.target))
        picture = self.gallery.picture(figure, f"The formula as a network: {best}", f"{self.name}n", scale=0.58)
        return (
            f'<h3>As a network</h3><figure class="card"><div class="scroll" tabindex="0">{picture}</div><figcaption>'
            "The smallest network that computes the formula: inputs on the left, one edge per operand, with the weight "
            "that the operand is multiplied by where it is not 1 (blue: positive, orange: negative). Black lines with "
            "dots carry a value past a layer.</figcaption></figure>"
        )

    def _keep(self, name: str, figure: Figure | None) -> Figure:
        if figure is not None:
            self.figures[name] = figure
        return figure  # type: ignore[return-value]  # only a formula that can't be typeset has none

    def _symbol(self, name: str) -> str:
        return to_svg(to_latex(Variable(name)), self.gallery) or safe(name)
