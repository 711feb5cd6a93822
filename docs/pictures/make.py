"""The pictures of these pages: `python docs/pictures/make.py`, at the root of the repository.

Those of the network are what `prunesymnet draw` makes of `x**4 - x**2 + y**2/2 - y`, one of the paper's formulas.
"""

from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import prunesymnet as psn
from prunesymnet.bank.bank import grow_bank
from prunesymnet.cli.app import app
from prunesymnet.operators import DEFAULT
from prunesymnet.search import PRESETS, search

HERE = Path(__file__).parent
KOZA_12 = "x**4 - x**2 + y**2/2 - y"
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#8A8A8A"
LOOK = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "savefig.dpi": 150,
}


def kepler() -> None:
    """The planets, and the front of formulas for them."""
    planets = psn.load_example("planets")
    names = ("Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune", "Pluto")
    (axis,), period = planets.columns.values(), planets.y
    figure, axes = plt.subplots(figsize=(5.2, 4))
    reach = np.geomspace(0.3, 55, 100)
    axes.loglog(reach, reach**1.5, color=BLUE, label="period = semi_major_axis**(3/2)")
    axes.loglog(axis, period, "o", color=ORANGE)
    for name, x, y in zip(names, axis, period, strict=True):
        axes.annotate(name, (x, y), (7, -9), textcoords="offset points", fontsize=8, color=GREY)
    axes.set(xlabel="semi-major axis [AU]", ylabel="period [years]")
    axes.legend(frameon=False)
    save(figure, "kepler")

    found = search(planets, replace(PRESETS["default"], time_limit=8)).front
    figure, axes = plt.subplots(figsize=(5.2, 3.4))
    sizes = [equation.complexity for equation in found]
    axes.plot(sizes, [equation.description_length for equation in found], "o-", color=GREY, lw=1)
    axes.plot(found.best.complexity, found.best.description_length, "o", color=ORANGE, ms=9)
    axes.annotate(found.best.text(), (found.best.complexity, found.best.description_length), (10, -3),
                  textcoords="offset points", color=ORANGE)  # fmt: skip
    axes.set(xlabel="complexity", ylabel="description length [bits]", ylim=(-42, None), xticks=range(2, 25, 2))
    save(figure, "front")


def hubble() -> None:
    """Galaxies, a line, and where a new one would lie."""
    galaxies = psn.load_example("hubble")
    model = psn.PruneSymRegressor().fit_form("H*distance", galaxies.X, galaxies.y, names=["distance"])
    x = np.linspace(0, 2.2, 60)[:, None]
    low, high = model.predict_interval(x)
    figure, axes = plt.subplots(figsize=(5.2, 3.6))
    axes.fill_between(x[:, 0], low, high, color=BLUE, alpha=0.15, lw=0, label="95% of new measurements")
    axes.plot(x, model.predict(x), color=BLUE, label="velocity = 424*distance")
    axes.plot(galaxies.X, galaxies.y, "o", color=ORANGE, ms=4)
    axes.set(xlabel="distance [Mpc]", ylabel="velocity [km/s]")
    axes.legend(frameon=False, loc="upper left")
    save(figure, "hubble")


def pairs() -> None:
    """What every product of two nodes of a small bank explains of a target."""
    x = np.linspace(0.3, 4, 100)
    bank = grow_bank({"x": x}, DEFAULT, 24)
    bank = bank.with_reciprocals().first(28)
    labels = [str(bank.expression(i)) for i in range(len(bank))]
    once = [labels.index(label) for label in dict.fromkeys(labels)]  # 1/x is a node, and the reciprocal of one
    labels, nodes = [labels[i] for i in once], bank.values[once]
    y = 2.5 * np.exp(-x) * np.sin(x) + 1
    rest = y - y.mean()
    products = np.einsum("in,jn->ijn", nodes, nodes)
    centred = products - products.mean(axis=-1, keepdims=True)
    share = (centred @ rest) ** 2 / ((centred**2).sum(axis=-1) * (rest @ rest) + 1e-300)
    best = np.unravel_index(np.argmax(share), share.shape)
    figure, axes = plt.subplots(figsize=(6.4, 5.6))
    image = axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
    for i, j in {(best[0], best[1]), (best[1], best[0])}:
        axes.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, ec=ORANGE, lw=2))
    axes.set_xticks(range(len(nodes)), labels, rotation=90, fontsize=7)
    axes.set_yticks(range(len(nodes)), labels, fontsize=7)
    axes.set_title("share of y = 2.5*exp(-x)*sin(x) + 1 that c0 + c1*f*g explains", fontsize=10)
    figure.colorbar(image, shrink=0.8)
    save(figure, "pairs")


def frequencies() -> None:
    """The error of a wave as its frequency runs: valleys everywhere, one of them deep."""
    x = np.random.default_rng(0).uniform(-2, 2, 128)
    u = x**2
    y = 1.5 + 2 * np.sin(7.3 * u + 0.4) + 0.2 * np.random.default_rng(1).standard_normal(128)
    grid = np.linspace(0.1, 20, 1000)
    left = []
    for w in grid:
        columns = np.column_stack([np.ones_like(u), np.sin(w * u), np.cos(w * u)])
        rest = y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
        left.append(rest @ rest / ((y - y.mean()) @ (y - y.mean())))
    figure, axes = plt.subplots(figsize=(5.6, 2.8))
    axes.plot(grid, left, color=BLUE, lw=1.2)
    axes.annotate("7.3", (7.3, min(left)), (10, 0), textcoords="offset points", color=ORANGE)
    axes.plot(grid[int(np.argmin(left))], min(left), "o", color=ORANGE)
    axes.set(xlabel="frequency w", ylabel="left unexplained", ylim=(0, 1.05))
    axes.set_title("a*sin(w*x**2) + b*cos(w*x**2) + c, each w with its best a, b, c", fontsize=10)
    save(figure, "frequencies")


def network() -> None:
    """The paper's method alone: the pictures that `prunesymnet draw` makes, with a seed that found the formula here."""
    app(["draw", KOZA_12, "--out", str(HERE), "--format", "png", "--seed", "1"], standalone_mode=False)


def save(figure: plt.Figure, name: str) -> None:
    figure.savefig(HERE / f"{name}.png")
    plt.close(figure)


if __name__ == "__main__":
    with plt.rc_context(LOOK):
        kepler()
        hubble()
        pairs()
        frequencies()
    network()
