"""Tables, settings and models for the tests of runs and of what is kept of them."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from prunesymnet.coefficients import fit
from prunesymnet.data import make_dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.expression import parse
from prunesymnet.runs import Model, run
from prunesymnet.search import SearchSettings

# Limits are counted in fits and epochs, which end a search in the same place on every machine.
PATIENT = SearchSettings(time_limit=float("inf"), workers=1)  # for what ends by itself
NETWORKS = replace(PATIENT, pruner="beam", layers=2, max_epochs=40)
SHORTCUTS = replace(PATIENT, exhaustive=replace(PATIENT.exhaustive, levels=0), layers=2, max_epochs=40)
# 20 fits are the shortcuts, and the pairs and single nodes of the first bank.
BANKS = replace(PATIENT, max_fits=20)


def noisy(rows=60, noise=0.3, seed=0, target="y", weights=None):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 3, (rows, 2))
    y = np.sin(3 * X[:, 0]) * X[:, 1] + np.exp(-X[:, 1]) + noise * rng.normal(size=rows)
    return make_dataset(X, y, names=["x", "z"], target=target, weights=weights)


def exact(target="y"):
    x = np.linspace(-3, 3, 40)
    return make_dataset(np.column_stack([x, np.cos(5 * x)]), x**2 / 2 - x, names=["x", "z"], target=target)


NOISY = noisy()


def begun(folder, data=NOISY, settings=BANKS, after=1):
    """A run that was ended from outside when it had come to its n-th best formula."""
    left = iter(range(after - 1))

    def stop(update):
        if next(left, None) is None:
            raise ConnectionError("ended from outside")

    with pytest.raises(ConnectionError):
        run([data], settings, folder=folder, callbacks=[stop], progress=False)
    return folder


def same_model(one, other, columns):
    """Bit for bit."""
    assert (other.names, other.columns, other.settings) == (one.names, one.columns, one.settings)
    assert str(other) == str(one)
    for front, again in zip(one.fronts, other.fronts, strict=True):
        pd.testing.assert_frame_equal(again.table(), front.table(), check_exact=True)
        assert (again.chosen, again.status, again.seconds, again.fits, again.ties, again.target) == (
            front.chosen, front.status, front.seconds, front.fits, front.ties, front.target,
        )  # fmt: skip
        for law, same in zip(front, again, strict=True):
            assert (same.form, same.parameters, same.rows) == (law.form, law.parameters, law.rows)
            assert same.constants == law.constants
            np.testing.assert_array_equal(same.covariance, law.covariance)
            np.testing.assert_array_equal(same.predict(columns), law.predict(columns))
            np.testing.assert_array_equal(same.interval(columns), law.interval(columns))


def at_least_as_good(before, after, *, chosen=True):
    """Of two fronts: for each equation before there is one after that is as short, in both senses."""
    for law in before:
        assert any(
            other.complexity <= law.complexity and other.description_length <= law.description_length + 1e-6
            for other in after
        ), f"nothing as good as {law}"
    if chosen:
        assert after.best.description_length <= before.best.description_length + 1e-6


def model():
    """A model with every kind of thing in it."""
    data, other = noisy(), noisy(seed=1, target="t")
    forms = ["1.0", "1.0*x + 1.0*z + 0.5", "1.0*sin(3.0*x)*z + exp(-z)", "x/0 + 1.0"]
    found = [Equation.of(fit(parse(form), data), data, heldout_r2=0.5) for form in forms]
    form = parse("a*exp(-b*x) + c")
    named = Equation.of(fit(form, other, parameters=["a", "b", "c"]), other)
    fronts = (
        Front(tuple(found), 2, "stopped at the time limit", 1.25, 4, (1,)),
        Front((named,), 0, "interrupted", 0.5, 1),
    )
    return Model(fronts, data.names, ("x in m", "z"), SearchSettings(time_limit=float("inf"), max_complexity=20))


def saved(folder, thing):
    thing.save(folder / "model.json")
    return folder / "model.json"


def content_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def digest(content):
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sealed(content, kind="prunesymnet model", **changes):
    """The text of a file as one would write it who knows how we seal ours."""
    whole = {"format": kind, "version": 1, "made_by": "prunesymnet", "sha256": digest(content), "content": content}
    return json.dumps(whole | changes)


def put_run(folder, **changes):
    """Other values in the head of a run, sealed as we do."""
    content = json.loads((folder / "run.json").read_text())["content"]
    (folder / "run.json").write_text(sealed(content | changes, kind="prunesymnet run"))
