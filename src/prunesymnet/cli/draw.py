"""The paper's figures for a formula: draw points of it, train a network on them, prune it, and draw what happened."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import typer
from numpy.typing import NDArray

from prunesymnet.cli.settings import network_settings
from prunesymnet.data import Dataset
from prunesymnet.errors import DataError
from prunesymnet.expression import Apply, Expression, canonical, evaluate, parse, postorder, to_text
from prunesymnet.expression.sampling import sample
from prunesymnet.network.training import LARGEST
from prunesymnet.operators import Operator, select_operators
from prunesymnet.progress import Progress
from prunesymnet.report import save_pictures
from prunesymnet.report.loss import drawn_formula
from prunesymnet.report.numbers import count, percent
from prunesymnet.search import SearchResult, SearchSettings, SearchStatus, search

SAME = 1e-6  # of the spread of the values: far above rounding errors, far below what another formula leaves
FRESH = 1000  # points at which the formula found is compared with the one given
NO_NODES = ("neg", "pow", "cube")  # signs and powers, which weights and products of the network say


def draw(
    text: str,
    folder: Path,
    *,
    low: float,
    high: float,
    points: int,
    seed: int,
    preset: str,
    epochs: int,
    layers: int | None,
    file_format: str,
    progress: bool,
) -> SearchStatus:
    """Write the pictures of a search for a formula into a folder, and say what each shows; how the search ended."""
    formula = parse(text)
    settings = with_operators_of(formula, network_settings(preset, epochs=epochs, layers=layers))
    data = points_of(formula, points, seed, low, high)
    with Progress(target="formula", show=progress) as shown:
        # Without `reverse`, which retains several edges for an operand: there is no picture of that.
        result = search(data, replace(settings, reverse=False, seed=seed), watch=shown)
    found = canonical(drawn_formula(result))
    typer.echo(f"given   {to_text(formula, digits=4)}      at {count(points, 'point')} from {low:g} to {high:g}")
    typer.echo(f"found   {to_text(found, digits=4)}      after {count(result.epochs, 'epoch')}")
    for line in comparison(found, sample(formula, FRESH, seed + 1, low, high)):
        typer.echo(f"        {line}")
    pictures, said = save_pictures(result, folder, file_format), captions(result)
    width = max(len(str(path)) for path in pictures.paths)
    typer.echo()
    for path in pictures.paths:
        typer.echo(f"{path!s:{width}}  {said[path.stem]}")
    if pictures.left_out:
        typer.echo(f"{' and '.join(pictures.left_out)} left out: nothing pruned was better than a linear formula")
    return result.status


def points_of(formula: Expression, points: int, seed: int, low: float, high: float) -> Dataset:
    """A table that a network can be trained on."""
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"--range must be two numbers, the lower first, got {low:g} {high:g}")
    data = sample(formula, points, seed, low, high)
    largest = float(np.abs(data.y).max())
    if largest > LARGEST:
        raise DataError(
            f"{formula} has values up to {largest:.3g} from {low:g} to {high:g}, and a network takes them up to "
            f"{LARGEST:g}: choose a smaller --range"
        )
    return data


def comparison(found: Expression, fresh: Dataset) -> list[str]:
    """Whether the formula found has the values of the one given, at fresh points."""
    with np.errstate(all="ignore"):
        error = relative_error(evaluate(found, fresh.columns).values, fresh.y)
    if error < SAME:
        return ["the two have the same values"]
    size = f"with an error of {percent(error)} of the values' spread" if error < math.inf else "not finite everywhere"
    return [
        f"another formula, {size}; its pictures follow",
        "(more --epochs, another --seed or another --range may find the one given)",
    ]


def with_operators_of(formula: Expression, settings: SearchSettings) -> SearchSettings:
    """Functions of the formula that the network would not have become nodes of it.

    >>> from prunesymnet.search import PRESETS
    >>> with_operators_of(parse("tanh(x)*sin(x) - x**3"), PRESETS["paper"]).operators[-1]
    'tanh'
    """
    used = [node.operator for node in postorder(formula) if isinstance(node, Apply)]
    known = select_operators(settings.operators)
    added: dict[str, Operator] = {
        row.name: row for row in used if row.arity and row.name not in known and row.name not in NO_NODES
    }
    return replace(settings, operators=(*settings.operators, *added))


def relative_error(found: NDArray[np.float64], given: NDArray[np.float64]) -> float:
    """The root mean squared error against the spread of the values given (their size, where all are the same)."""
    scale = float(np.std(given)) or float(np.abs(given).max()) or 1.0
    error = float(np.sqrt(np.mean(((found - given) / scale) ** 2)))
    return error if math.isfinite(error) else math.inf


def captions(result: SearchResult) -> dict[str, str]:
    """What each picture shows, by the name of its file."""
    network, pruned = result.network, result.candidate.pruned
    found = {
        "network": f"the whole network: {count(network.edges, 'edge')}",
        "loss": f"the training loss, {count(len(result.prunings), 'pruning')}, and the error of the best formula",
    }
    if pruned is not None and pruned.choice is not None:
        retained = count(len(list(network.needed(pruned.choice))), "edge")
        found["subnetwork"] = f"the {retained} that make the formula, with their trained weights"
        found["pruning"] = f"how it was pruned at epoch {pruned.epoch:,}, from the output to the inputs"
    return found
