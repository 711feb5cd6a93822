"""The pictures of a formula of the user's: what is written, what is said of it, and what is refused."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import prunesymnet.cli.draw
from prunesymnet.cli.app import app
from prunesymnet.cli.draw import relative_error, with_operators_of
from prunesymnet.cli.errors import BAD_INPUT, INTERRUPTED, USAGE
from prunesymnet.cli.settings import network_settings
from prunesymnet.expression import parse
from prunesymnet.search import PRESETS

NAMES = ["network", "subnetwork", "pruning", "loss"]


def draw(*arguments, code=0):
    result = CliRunner().invoke(app, ["draw", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def found(monkeypatch):
    """Stands in for the formula that the network happens to find."""

    def set_found(text):
        monkeypatch.setattr(prunesymnet.cli.draw, "drawn_formula", lambda result: parse(text))

    return set_found


def is_picture(path):
    if path.suffix == ".svg":
        return len(list(ElementTree.parse(path).iter())) > 100  # noqa: S314 - our own file
    if path.suffix == ".pdf":
        return path.read_bytes().startswith(b"%PDF") and path.stat().st_size > 10_000
    with Image.open(path) as image:
        return len(image.convert("RGB").getcolors()) > 20


@pytest.mark.parametrize("picture", ["svg", "png", "pdf"])
def test_each_picture_is_written_and_explained_or_said_to_be_left_out(tmp_path, picture):
    folder = tmp_path / "new" / "folder"
    said = draw("x*y + sin(x)", "-o", folder, "--format", picture, "--epochs", 40, "--layers", 3).stdout
    written = {path.name for path in folder.iterdir()}
    assert {f"network.{picture}", f"loss.{picture}"} <= written <= {f"{name}.{picture}" for name in NAMES}
    assert all(map(is_picture, folder.iterdir()))
    for name in NAMES:
        file = f"{name}.{picture}"
        assert re.search(rf"^{re.escape(str(folder / file))} +\w+", said, re.MULTILINE) or (
            file not in written and re.search(rf"{re.escape(file)}.* left out: ", said)
        )


def test_the_same_command_writes_the_same_files(tmp_path):
    for name in ("a", "b"):
        draw("x*y", "-o", tmp_path / name, "--epochs", 20, "--layers", 2, "--points", 20)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


@pytest.mark.parametrize(
    ("given", "text", "says"),
    [
        ("x*(y + 1)", "x*y + x", "the two have the same values"),
        ("x*y", "1.01*x*y", "another formula, with an error of 1%"),
        ("x*y", "log(x)", "another formula, not finite everywhere"),
    ],
)
def test_another_formula_is_called_another(tmp_path, found, given, text, says):
    found(text)
    said = draw(given, "-o", tmp_path, "--epochs", 1, "--layers", 1, "--seed", 3).stdout
    assert says in said
    assert ("may find the one given" in said) == ("another" in says)


def test_what_was_said_reaches_the_search(tmp_path, monkeypatch):
    asked = []

    def search(data, settings, watch):
        asked.append((data, settings))
        raise KeyboardInterrupt

    monkeypatch.setattr(prunesymnet.cli.draw, "search", search)
    options = ("--range", -1, 3, "--points", 50, "--seed", 7, "--layers", 4, "--epochs", 9, "--preset", "no-gradient")
    draw("log(x) + tanh(y)", "-o", tmp_path, *options, code=INTERRUPTED)
    ((data, settings),) = asked
    assert data.rows == 50
    assert 0 < data.columns["x"].min() < data.columns["x"].max() <= 3  # where log(x) is not finite, it is sampled again
    assert -1 <= data.columns["y"].min() < 0
    np.testing.assert_allclose(data.y, np.log(data.columns["x"]) + np.tanh(data.columns["y"]))
    assert (settings.seed, settings.layers, settings.max_epochs, settings.training.gradient) == (7, 4, 9, False)
    assert settings.operators == (*PRESETS["no-gradient"].operators, "tanh")


def test_ctrl_c_draws_what_there_is(tmp_path, monkeypatch):
    def stop(self, update):
        raise KeyboardInterrupt

    monkeypatch.setattr(prunesymnet.cli.draw.Progress, "__call__", stop)
    draw("x*y", "-o", tmp_path, "--layers", 1, code=INTERRUPTED)
    assert (tmp_path / "loss.svg").exists()


def test_a_variable_may_have_the_name_that_tables_give_their_target(tmp_path):
    draw("target*y", "-o", tmp_path, "--epochs", 1, "--layers", 1)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["x + expo(y)"], BAD_INPUT, "unknown function 'expo'; did you mean 'exp'?"),
        (["__import__('os').system('true')"], BAD_INPUT, "error: "),
        (["x +"], BAD_INPUT, "the formula ends where an operand is due"),
        ([""], BAD_INPUT, "the formula is empty"),
        (["3*pi"], USAGE, "a formula must have a variable"),
        (["log(x)", "--range", "-2", "-1"], USAGE, "is finite at 0 of"),
        (["sqrt(-1 - x**2)"], USAGE, "choose another range"),
        (["exp(exp(x))"], BAD_INPUT, "choose a smaller --range"),
        (["x", "--range", "2", "1"], USAGE, "--range must be two numbers, the lower first, got 2 1"),
        (["x", "--range", "nan", "1"], USAGE, "--range must be two numbers"),
        (["x", "--range", "-inf", "1"], USAGE, "--range must be two numbers"),
        (["x", "--preset", "default"], USAGE, "the preset default trains none: add --preset paper"),
        (["x", "--preset", "papr"], USAGE, f"--preset must be one of {', '.join(PRESETS)}, got 'papr'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    result = draw(*arguments, code=code)
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_functions_of_the_formula_become_nodes_and_signs_and_powers_do_not():
    paper = PRESETS["paper"]
    assert with_operators_of(parse("-x**3 + x**1.5*sin(x)/2"), paper) == paper
    added = with_operators_of(parse("tanh(x) + max(x, tanh(y)) + pi"), paper).operators[len(paper.operators) :]
    assert sorted(added) == ["max", "tanh"]


def test_the_error_is_relative_to_the_spread():
    given = np.array([100.0, 102.0])
    assert relative_error(given + 0.5, given) == pytest.approx(0.5)
    assert relative_error(np.full(2, 2.2), np.full(2, 2.0)) == pytest.approx(0.1)
    assert relative_error(np.zeros(2), np.zeros(2)) == 0
    assert relative_error(np.array([np.nan, 1.0]), given) == np.inf


@pytest.mark.parametrize("name", [name for name, preset in PRESETS.items() if preset.pruner != "exhaustive"])
def test_options_change_what_they_name_and_nothing_else(name):
    preset = PRESETS[name]
    assert network_settings(name) == preset
    changed = network_settings(name, epochs=7, layers=2, no_gradient=True, random_pruning=True)
    training = replace(preset.training, gradient=False)
    assert changed == replace(preset, max_epochs=7, layers=2, pruner="random", training=training)
