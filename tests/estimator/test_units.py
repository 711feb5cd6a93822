"""Units on the estimator, on the command line, in files and in reports."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from prunesymnet import PruneSymRegressor, read_table
from prunesymnet.cli.app import app
from prunesymnet.data import repair_names
from prunesymnet.errors import UnitError
from prunesymnet.runs import read_run

X = np.linspace(0.1, 2.0, 20)
SPRING = pd.DataFrame({"x [m]": X, "F [N]": 5.01 * X + 0.02 * np.cos(40 * X)})


@pytest.fixture(scope="module")
def spring(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spring") / "run"
    model = PruneSymRegressor(max_evaluations=20_000, run_dir=folder)
    return model.fit(SPRING[["x [m]"]], SPRING["F [N]"]), folder


def test_a_frame_says_its_units_in_its_names(spring):
    model, _ = spring
    assert model.best_.expression.variables == ("x",)
    assert str(model.best_).startswith("F = ")
    assert set(model.constants_["unit"]) <= {"N/m", "N"}
    assert "N/m" in str(model.best_.constants[0])
    np.testing.assert_allclose(model.predict(SPRING[["x [m]"]]), 5.01 * X, rtol=0.2)


def test_units_are_saved_with_the_model_and_the_run(spring, tmp_path):
    model, folder = spring
    model.save(tmp_path / "model.json")
    again = PruneSymRegressor.load(tmp_path / "model.json")
    assert again.best_.units == model.best_.units
    assert again.model_.settings.units == {"x": "m", "F": "N"}
    assert read_run(folder).settings.units == {"x": "m", "F": "N"}  # so that it can be resumed


def test_a_form_has_constants_with_units():
    units = {"x": "m", "y": "N"}
    fitted = PruneSymRegressor(units=units).fit_form("k*x + b", X[:, None], 5 * X + 1)
    assert dict(zip(fitted.constants_["name"], fitted.constants_["unit"], strict=True)) == {"k": "N/m", "b": "N"}


def test_what_is_wrong_with_units_is_said_before_the_search():
    with pytest.raises(UnitError, match="'z', which is no column; the columns are x1, y"):
        PruneSymRegressor(units={"z": "m"}).fit(X[:, None], 2 * X)
    with pytest.raises(UnitError, match="the unit of x1, 'parsnips', is not known"):
        PruneSymRegressor(units={"x1": "parsnips"}).fit(X[:, None], 2 * X)
    with pytest.raises(UnitError, match="no product of powers of the columns has the unit of 'y', N"):
        PruneSymRegressor(units={"x1": "m", "y": "N"}, constant_units=False).fit(X[:, None], 2 * X)
    with pytest.raises(TypeError, match="constant_units must be True or False"):
        PruneSymRegressor(constant_units="no").fit(X[:, None], 2 * X)


def test_a_file_says_its_units_in_its_header(tmp_path):
    file = tmp_path / "spring.csv"
    SPRING.to_csv(file, index=False)
    table = read_table(file, "F", features=["x"])
    assert (table.target, table.names) == ("F", ("x",))
    command = ["fit", str(file), "--target", "F", "--max-evaluations", "20000", "--quiet"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0
    assert " N/m  (95%:" in result.output
    assert " N/m  (95%:" not in CliRunner().invoke(app, [*command, "--no-units"]).output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--units", "x=km"], "'m' in the header and 'km' in units"),
        (["--units", "x"], "--units must be NAME=UNIT"),
        (["--no-constant-units"], "no product of powers of the columns has the unit of 'F', N"),
        (["--no-units", "--no-constant-units"], "constant_units=False is for tables with units"),
        (["--no-units", "--units", "x=m"], "--units and --no-units"),
    ],
)
def test_options_that_do_not_fit_are_errors(tmp_path, options, message):
    file = tmp_path / "spring.csv"
    SPRING.to_csv(file, index=False)
    result = CliRunner().invoke(app, ["fit", str(file), "-y", "F", "-q", *options])
    assert result.exit_code in (2, 3)
    assert message in " ".join(result.stderr.split())


def test_names_are_without_their_units():
    assert repair_names(["p [bar]", "p [Pa]", "[1]"]) == ("p", "p_2", "x1")
