"""The command line, as a person or a script meets it."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from prunesymnet.cli.app import app
from prunesymnet.cli.errors import BAD_INPUT, INTERRUPTED, NOTHING_FOUND, USAGE
from prunesymnet.cli.options import preset_names
from prunesymnet.data import read_table
from prunesymnet.runs.folder import RunFolder
from prunesymnet.search import PRESETS, SearchSettings
from prunesymnet.version import __version__

RNG = np.random.default_rng(0)
COMMAND = [sys.executable, "-m", "prunesymnet"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with tables, a run and a saved model of x*y/(2*pi*z)."""
    path = tmp_path_factory.mktemp("cli")
    X = RNG.uniform(1, 5, (128, 3))
    table = pd.DataFrame(X, columns=["x", "y", "z"])
    table.assign(v=X[:, 0] * X[:, 1] / (2 * np.pi * X[:, 2])).to_csv(path / "law.csv", index=False)
    table.assign(v=X[:, 0] * RNG.normal(size=128)).to_csv(path / "noise.csv", index=False)
    odd = {"speed (m/s)": X[:, 0], "log": X[:, 1], "kinetic energy": X[:, 0] ** 2 * X[:, 1] / 2}
    pd.DataFrame(odd).to_csv(path / "odd.csv", index=False)
    call("fit", path / "law.csv", "--target", "v", "--out", path / "run", "--save", path / "model.json")
    return path


def call(*arguments, code=0, **options):
    result = CliRunner().invoke(app, [str(a) for a in arguments], **options)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def test_a_name_with_a_comma_is_given_in_quotes():
    table = '"mass, dry",a,v\n' + "".join(f"{k},{k % 3},{2 * k}\n" for k in range(1, 12))
    out = call("fit", "-", "-y", "v", "-x", 'a,"mass, dry"', input=table).stdout
    assert out.splitlines()[0] == "v = 2*mass_dry"


def test_fit_prints_the_formula_first(folder):
    out = call("fit", folder / "law.csv", "--target", "v").stdout.splitlines()
    assert out[0] == "v = x*y/(2*pi*z)"
    assert sum(line.startswith(">") for line in out) == 1
    assert "exact" in out[-1]


def test_a_well_known_formula_is_called_by_its_name():
    text = "volume,pressure\n" + "".join(f"{v},{1400 / v}\n" for v in range(10, 40))
    said = call("fit", "-", "-y", "pressure", input=text).stdout
    assert "  has the form of inverse proportion; also Boyle's law\n" in said


def test_a_formula_from_the_shell_and_nothing_else(folder):
    out = subprocess.run([*COMMAND, "fit", "law.csv", "--target", "v"], cwd=folder, capture_output=True, text=True)
    assert out.stdout.startswith("v = x*y/(2*pi*z)\n")
    assert out.stderr == ""  # silent where there is no terminal


def test_help_imports_nothing_that_takes_long():
    code = (
        "import sys; from typer.testing import CliRunner; from prunesymnet.cli.app import app; "
        "print(CliRunner().invoke(app, ['fit', '--help']).exit_code, 'numpy' in sys.modules, 'sklearn' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["0", "False", "False"]


def test_json_can_be_read(folder):
    record = json.loads(call("fit", folder / "law.csv", "--target", "v", "--json").stdout)
    front = record["fronts"][0]
    assert front["equations"][front["chosen"]]["formula"] == "x*y/(2*pi*z)"


def test_pipes(folder):
    text = (folder / "law.csv").read_text()
    assert call("fit", "-", "-y", "v", "-q", input=text).stdout.startswith("v = x*y/(2*pi*z)\n")
    predicted = pd.read_csv(io.StringIO(call("predict", folder / "model.json", "-", input=text).stdout))
    np.testing.assert_allclose(predicted["v_predicted"], predicted["v"], rtol=1e-12)
    assert list(predicted.columns) == ["x", "y", "z", "v", "v_predicted"]


def test_a_reader_that_goes_away_is_no_error(folder):
    command = [*COMMAND, "predict", "model.json", "law.csv"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    process.wait(timeout=60)
    assert process.stderr.read() == b""
    process.stderr.close()


def test_features_limit_the_columns(folder):
    front = json.loads(call("fit", folder / "law.csv", "-y", "v", "--features", "x, z", "-t", "0.5", "--json").stdout)
    assert front["names"] == ["x", "z"]


def test_several_targets(folder):
    table = pd.read_csv(folder / "law.csv")
    text = table.assign(w=table.x + table.z**2).to_csv(index=False)
    out = call("fit", "-", "-y", "v,w", input=text).stdout.splitlines()
    assert out[:2] == ["v = x*y/(2*pi*z)", "w = z**2 + x"]


def test_names_that_formulas_cannot_have(folder):
    out = call("fit", folder / "odd.csv", "-y", "kinetic energy", "--save", folder / "odd.json").stdout
    assert out.startswith("kinetic_energy = log_*speed_m_s**2/2\n")
    predicted = pd.read_csv(io.StringIO(call("predict", folder / "odd.json", folder / "odd.csv").stdout))
    np.testing.assert_allclose(predicted["kinetic_energy_predicted"], predicted["kinetic energy"])


def test_weights_and_settings_arrive(folder):
    table = pd.read_csv(folder / "law.csv")
    table.loc[:9, "v"] += 100.0
    text = table.assign(w=np.where(table.index < 10, 0.0, 1.0)).to_csv(index=False)
    arguments = ("--weights", "w", "--operators", "*,/,+", "--max-complexity", "9", "--seed", "3", "--jobs", "1")
    record = json.loads(call("fit", "-", "-y", "v", *arguments, "--json", input=text).stdout)
    settings = record["settings"]
    assert (settings["max_complexity"], settings["seed"], settings["workers"]) == (9, 3, 1)
    assert set(settings["operators"]) == {"*", "/", "+", "id"}
    front = record["fronts"][0]
    assert front["equations"][front["chosen"]]["r2"] > 0.999999


def test_constraints_arrive(folder):
    options = ("--max-uses", "exp=1,x=2", "--max-argument", "sin=5", "--forbid-nested", "exp=sin,exp=log")
    more = ("--max-constants", "2", "--requires", "x, z", "-t", "0.3", "--json")
    rules = json.loads(call("fit", folder / "law.csv", "-y", "v", *options, *more).stdout)["settings"]["constraints"]
    assert rules["max_uses"] == {"exp": 1, "x": 2}
    assert rules["max_argument"] == {"sin": 5}
    assert rules["forbid_nested"] == {"exp": ["sin", "log"]}
    assert (rules["max_constants"], rules["requires"]) == (2, ["x", "z"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--max-uses", "exp"), "--max-uses must be NAME=NUMBER, as in exp=1, got 'exp'"),
        (("--max-argument", "sin=few"), "--max-argument must be NAME=NUMBER, as in exp=1, got 'sin=few'"),
        (("--forbid-nested", "exp="), "--forbid-nested must be NAME=NAME, as in exp=sin, got 'exp='"),
        (("--requires", "w"), "constraints require 'w', which is no column"),
        (("--form", "a*x", "--out", "here"), "--out keeps a search"),
    ],
)
def test_options_that_cannot_be(folder, arguments, message):
    assert message in call("fit", folder / "law.csv", "-y", "v", *arguments, code=USAGE).stderr


def test_a_form_that_is_known(folder):
    out = call("fit", folder / "law.csv", "-y", "v", "--form", "a*x*y**b/z", "--save", folder / "form.json").stdout
    assert out.startswith("v = 0.159155*x*y")
    assert "  a = 0.15915" in out
    assert call("show", folder / "form.json").stdout == out
    text = "t,u,w,e\n1,2.0,1,1\n2,4.1,1,1\n3,90,0,1e3\n4,8.0,1,1\n"
    weighted = call("fit", "-", "-y", "u", "-x", "t", "--form", "a*t", "--weights", "w", input=text).stdout
    assert weighted.startswith("u = 2.0")
    assert call("fit", "-", "-y", "u", "-x", "t", "--form", "a*t", "--y-err", "e", input=text).stdout.startswith(
        "u = 2.0"
    )


MESSY = "who;x;y;when\nu;1,5;3,0;2021-03-01\nv;2,5;;2021-03-02\nu;3,5;7,0;2021-03-03\nv;4,5;9,0;2021-03-04\n"


def test_a_messy_table(folder):
    said = call("fit", "-", "-y", "y", input=MESSY, code=BAD_INPUT).stderr
    assert said.startswith(
        "note: standard input: read with decimal commas (x, y)\nerror: standard input: column 'who': 'u' in row 1"
    )
    assert "--exclude leaves a column out, --categories makes a column of 0 and 1" in said
    said = call("fit", "-", "-y", "y", "--exclude", "who", input=MESSY, code=BAD_INPUT).stderr
    assert "column 'when' holds dates" in said
    assert said.endswith("--exclude leaves a column out\n")
    said = call("fit", "-", "-y", "y", "--exclude", "who,when", input=MESSY, code=BAD_INPUT).stderr
    assert said.endswith(
        "(line 3 of the file); drop or fill what is missing first; --drop-missing leaves such rows out\n"
    )
    done = call("fit", "-", "-y", "y", "--exclude", "who,when", "--drop-missing", input=MESSY)
    assert done.stdout.startswith("y = 2*x\n")
    assert "note: standard input: left out 1 of 4 rows, which lack a value: row 2\n" in done.stderr
    table = "x\ty\n1,234\t1\n2,468\t2\n3,702\t3\n"
    assert "--decimal , or --decimal ." in call("fit", "-", "-y", "y", input=table, code=BAD_INPUT).stderr
    assert call("fit", "-", "-y", "x", "--decimal", ".", input=table).stdout.startswith("x = 1234*y\n")
    assert call("fit", "-", "-y", "x", "--decimal", ",", input=table).stdout.startswith("x = 1.234*y\n")


def test_categories_from_the_fit_to_the_prediction(folder):
    table = pd.DataFrame({"x": RNG.uniform(1, 5, 60), "kind": RNG.choice(["a b", "c"], 60)})
    table["y"] = table["x"] ** 2 + 3.0 * (table["kind"] == "c")
    text = table.to_csv(index=False)
    out = call("fit", "-", "-y", "y", "--categories", "kind", "--save", folder / "kinds.json", input=text).stdout
    assert out.startswith(("y = x**2 + 3*kind_c\n", "y = x**2 - 3*kind_a_b + 3\n"))
    predicted = pd.read_csv(io.StringIO(call("predict", folder / "kinds.json", "-", input=text).stdout))
    assert predicted.columns.tolist() == ["x", "kind", "y", "y_predicted"]
    np.testing.assert_allclose(predicted["y_predicted"], predicted["y"])
    new = call("predict", folder / "kinds.json", "-", input="x,kind\n1,d\n", code=BAD_INPUT).stderr
    assert "'d' in row 1 (line 2 of the file) is a category that the fit did not have; it had a b, c" in new
    assert (
        "'x', which is no feature"
        in call("fit", "-", "-y", "x", "--categories", "x", input=text, code=BAD_INPUT).stderr
    )


def test_what_a_file_holds_does_not_reach_the_terminal(folder):
    evil = "\x1b]0;owned\x07\x1b[2J"
    said = call("fit", "-", "-y", "y", input=f"{evil},y\n{evil},1\n{evil},2\n{evil},3\n", code=BAD_INPUT).stderr
    assert "\\x1b[2J" in said
    assert "\x1b" not in said
    said = call("fit", "-", "-y", "y", input=f"x,y\n{'z' * 10_000_000},1\n2,2\n3,3\n", code=BAD_INPUT).stderr
    assert len(said) < 1000


def test_evaluations_are_counted_in_place_of_seconds(folder):
    ran = call("fit", folder / "noise.csv", "-y", "v", "--max-evaluations", "100000", "--json")
    record = json.loads(ran.stdout)
    assert record["settings"]["max_evaluations"] == 100_000
    assert record["fronts"][0]["status"] == "stopped at the limit of evaluations"


def test_epochs_and_ablations_arrive(folder):
    options = ("--preset", "paper", "--epochs", "20", "--no-gradient", "--random-pruning", "--json")
    settings = json.loads(call("fit", folder / "law.csv", "-y", "v", *options).stdout)["settings"]
    assert (settings["max_epochs"], settings["pruner"], settings["training"]["gradient"]) == (20, "random", False)
    assert settings["time_limit"] == "inf"  # the preset's, where none is given


def test_each_preset_is_known_by_its_name(folder):
    assert preset_names() == list(PRESETS)
    said = call("fit", folder / "law.csv", "-y", "v", "--preset", "none", code=USAGE).stderr
    assert f"--preset must be one of {', '.join(PRESETS)}, got 'none'" in said


def test_a_loss_and_standard_errors_arrive(folder):
    table = pd.read_csv(folder / "law.csv")
    table.loc[table.index[::12], "v"] += 1e4
    text = table.assign(sigma=1e-4).to_csv(index=False)
    record = json.loads(call("fit", "-", "-y", "v", "--loss", "huber", "--y-err", "sigma", "--json", input=text).stdout)
    assert record["settings"]["loss"] == "huber"
    assert "sigma" not in record["names"]
    front = record["fronts"][0]
    assert front["equations"][front["chosen"]]["r2"] > 0.999999


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--loss", "mae"), USAGE, "loss must be a function or one of auto, squared, absolute, huber"),
        (("--loss", "relative"), BAD_INPUT, "which is 0 in row 3"),
        (("--y-err", "v"), BAD_INPUT, "y_err must be standard errors > 0; it is 0 in row 3"),
        (("--y-err", "w", "--weights", "w"), BAD_INPUT, "y_err and weights can't both be given"),
    ],
)
def test_a_loss_or_standard_errors_that_cannot_be_used(arguments, code, message):
    table = "x,v,w\n1,2,1\n2,3,1\n3,0,1\n4,4,2\n"
    assert message in call("fit", "-", "-y", "v", *arguments, input=table, code=code).stderr


def test_a_limit_that_nothing_keeps_says_so(folder):
    result = call("fit", folder / "noise.csv", "-y", "v", "-t", "0.3", "--max-complexity", "1")
    assert result.stdout.startswith("v = ")  # a constant has complexity 1
    assert NOTHING_FOUND == 4


def test_show(folder):
    assert call("show", folder / "run").stdout == call("show", folder / "model.json").stdout
    assert call("show", folder / "run").stdout.startswith("v = x*y/(2*pi*z)\n")
    assert json.loads(call("show", folder / "run", "--json").stdout)["names"] == ["x", "y", "z"]


def test_intervals(folder):
    predicted = call("predict", folder / "run", folder / "law.csv", "--interval", "0.9").stdout
    frame = pd.read_csv(io.StringIO(predicted))
    assert (frame["v_predicted_low"] <= frame["v_predicted_high"]).all()
    call("predict", folder / "run", folder / "law.csv", "--interval", "2", code=USAGE)
    of_forms = call("predict", folder / "run", folder / "law.csv", "--interval", "0.9", "--forms").stdout
    assert list(pd.read_csv(io.StringIO(of_forms)).columns) == list(frame.columns)
    call("predict", folder / "run", folder / "law.csv", "--forms", code=USAGE)
    call("predict", folder / "run", folder / "law.csv", "--interval", "0.9", "--forms", "--index", "0", code=USAGE)


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("text", "x*y/(2*pi*z)\n"),
        ("latex", "v = \\frac{x y}{2 \\pi z}\n"),
        ("excel", "=A2*B2/(2*PI()*C2)\n"),
        ("sympy", "x*y/(2*pi*z)\n"),
    ],
)
def test_exports(folder, to, expected):
    assert call("export", folder / "model.json", "--to", to).stdout == expected


def test_exports_to_files(folder):
    call("export", folder / "run", "--to", "c", "--out", folder / "law.c")
    assert "double formula(double x, double y, double z)" in (folder / "law.c").read_text()
    call("export", folder / "run", "--to", "onnx", "--out", folder / "law.onnx")
    assert (folder / "law.onnx").stat().st_size > 100
    call("export", folder / "run", "--to", "fortran", code=USAGE)


def test_resume_keeps_what_was_found(folder):
    assert call("resume", folder / "run", "-t", "1").stdout.startswith("v = x*y/(2*pi*z)\n")


def test_report(folder):
    path = Path(call("report", folder / "run").stdout.strip())
    assert path == folder / "run" / "report.html"
    assert "data:image/svg+xml" in path.read_text()


@pytest.mark.parametrize(
    ("arguments", "input_text", "code", "message"),
    [
        (["fit", "nothing.csv", "-y", "v"], None, BAD_INPUT, "error: nothing.csv: no such file"),
        (["fit", "law.csv", "-y", "speed"], None, BAD_INPUT, "no column is named 'speed'; the columns are x, y, z, v"),
        (["fit", "law.csv"], None, BAD_INPUT, "law.csv: name the column to explain: --target, one of x, y, z, v"),
        (["fit", "law.csv", "-y", "v", "-t", "-1"], None, USAGE, "time_limit must be a number of seconds > 0"),
        (["fit", "law.csv", "-y", "v", "--out", "run"], None, BAD_INPUT, "run has a run already"),
        (["fit", "law.csv", "-y", "v", "--operators", "+,sine"], None, BAD_INPUT, "did you mean 'sin'?"),
        (["fit", "law.csv", "-y", "v", "--form", "a*x^"], None, BAD_INPUT, "is due, at column 5: a*x^\n"),
        (
            ["fit", "law.csv", "-y", "v", "-o", "law.csv"],
            None,
            BAD_INPUT,
            "law.csv is a file, and a run needs a folder",
        ),
        (["fit", "law.csv", "-y", "v", "--epochs", "9"], None, USAGE, "--epochs is for trained networks"),
        (["fit", "law.csv", "-y", "v", "--no-gradient"], None, USAGE, "trains none: add --preset paper"),
        (["fit", "law.csv", "-y", "v", "--random-pruning"], None, USAGE, "trains none: add --preset paper"),
        (["fit", "-", "-y", "b"], "a,b\n1,2\n3,x\n", BAD_INPUT, "'x' in row 2 (line 3 of the file) is not a number"),
        (["fit", "-", "-y", "b"], "a,b\n1,2\n3,x\n", BAD_INPUT, "(line 3 of the file)"),
        (["fit", "-", "-y", "b"], "a,b\n1,2\n,4\n5,6\n", BAD_INPUT, "column 'a': no value (NaN) in row 2"),
        (["fit", "-", "-y", "b"], "a,b\n1,2\n3,4\n", BAD_INPUT, "2 rows; a search needs at least 3"),
        (["fit", "law.csv", "-x", "v", "-y", "v"], None, BAD_INPUT, "'v' is named twice"),
        (["fit", "law.csv", "-y", "v,v"], None, BAD_INPUT, "'v' is named twice"),
        (["fit", "law.csv", "-y", "v", "--exclude", "w"], None, BAD_INPUT, "no column is named 'w'"),
        (["fit", "law.csv", "-y", "v", "--decimal", ";"], None, BAD_INPUT, "decimal must be '.' or ','"),
        (["fit", "law.csv", "-y", "v", "--sheet", "one"], None, BAD_INPUT, "this is no spreadsheet"),
        (["fit", "/dev/zero", "-y", "v"], None, BAD_INPUT, "is a pipe or a device"),
        (["show", "law.csv"], None, BAD_INPUT, "law.csv: is not a file that PruneSymNet has written"),
        (["fit", "-", "-y", "b", "--form", "c*a", "--y-err", "a"], "a,b\n1,2\n3,4\n", BAD_INPUT, "none is left"),
        (["show", "."], None, BAD_INPUT, "has no run.json"),
        (["predict", "model.json", "odd.csv"], None, BAD_INPUT, "odd.csv: no column is named 'x'"),
        (["predict", "model.json", "law.csv", "-i", "99"], None, USAGE, "index must be a row of the front"),
        (["resume", "nowhere"], None, BAD_INPUT, "nowhere: is no folder of a run"),
        (["bench", "nonsense"], None, USAGE, "no benchmark is named 'nonsense'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(folder, monkeypatch, arguments, input_text, code, message):
    monkeypatch.chdir(folder)
    result = call(*arguments, code=code, input=input_text)
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_ctrl_c_prints_the_best_so_far(folder):
    process = subprocess.Popen(
        [*COMMAND, "fit", "noise.csv", "-y", "v", "-t", "1e5", "--out", "stopped"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        progress = folder / "stopped" / "progress.jsonl"
        while not progress.exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=100)  # of the hours that it has
    finally:
        process.kill()
    assert process.returncode == INTERRUPTED
    assert out.startswith("v = ")
    assert "interrupted" in out
    assert call("show", folder / "stopped").stdout.startswith("v = ")


def test_a_gpu_that_is_not_there_is_said_in_one_line(folder, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    arguments = ("fit", folder / "law.csv", "-y", "v", "--device", "cuda", "--out", folder / "gpu")
    result = call(*arguments, code=USAGE)
    assert result.stderr == "error: device is 'cuda', and this machine has no GPU that torch can use: take 'cpu'\n"
    assert not (folder / "gpu").exists()


def test_a_run_on_a_gpu_goes_on_without_one(folder, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    table = read_table(folder / "law.csv", "v")
    with RunFolder(folder / "gpu") as kept:
        kept.create([table], table.names, SearchSettings().on_device("cuda"))
    assert "has no GPU that torch can use: take 'cpu'" in call("resume", folder / "gpu", code=USAGE).stderr
    assert not (folder / "gpu" / "progress.jsonl").exists()  # nothing was begun
    assert call("resume", folder / "gpu", "--device", "cpu").stdout.startswith("v = x*y/(2*pi*z)\n")


def test_standard_input_that_is_closed():
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" -m prunesymnet fit - -y v <&-', sys.executable], capture_output=True, text=True
    )
    assert done.returncode == BAD_INPUT
    assert done.stderr == "error: standard input is closed; pipe a table into it, or name a file\n"


@pytest.mark.parametrize("module", ["typer", "numpy", "prunesymnet.search"])
def test_ctrl_c_during_imports_leaves_no_traceback(module):
    code = f"""
import sys
class Stopped:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Stopped())
sys.argv = ["prunesymnet", "fit", "law.csv", "-y", "v"]
from prunesymnet.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode in (INTERRUPTED, -signal.SIGINT)
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 1


def test_version():
    assert call("--version").stdout == f"prunesymnet {__version__}\n"


def test_tab_completion():
    script = Path(sys.executable).parent / "prunesymnet"
    typed = {"COMP_WORDS": "prunesymnet export --to ", "COMP_CWORD": "3", "_PRUNESYMNET_COMPLETE": "complete_bash"}
    out = subprocess.run([script], env=os.environ | typed, capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["text", "latex", "mathml", "python", "c", "excel", "onnx", "sympy"]


def test_demo_shows_the_laws():
    assert "Boyle's law (1662): 25 rows of boyle.csv" in call("demo", "-t", "0.1").stdout


def test_a_benchmark_shows_its_own_help(monkeypatch, capfd):
    monkeypatch.chdir(Path(__file__).parents[2])
    assert "Which benchmark" in call("bench", "--help").stdout
    call("bench", "run", "--help")
    assert "--methods" in capfd.readouterr().out


def test_fit_many_prints_a_line_for_each_group_and_keeps_what_could_be_fitted(tmp_path):
    rows = [f"{site},{t},{a * t * t}" for site, a in (("north", 2), ("south", 3)) for t in range(1, 12)]
    table, out, folder = tmp_path / "sites.csv", tmp_path / "formulas.csv", tmp_path / "models"
    table.write_text("\n".join(["site,t,s", *rows, "far,1,2", ""]))
    options = ["-y", "s", "--by", "site", "-j", "1", "--out", str(out), "--save", str(folder)]
    done = CliRunner().invoke(app, ["fit-many", str(table), *options])
    assert done.exit_code == 3, done.output
    assert "all share the form c1*t**2" in done.output
    assert "far: DataError" in done.output
    assert "2*t**2" in out.read_text()
    assert len(list(folder.glob("model-*.json"))) == 2
    done = CliRunner().invoke(app, ["fit-many", str(table), "-y", "s"])
    assert done.exit_code == 3
    assert "--by" in done.output
