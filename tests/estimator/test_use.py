"""The estimator among its neighbours: inside scikit-learn's tools, in files, and as what a formula can become."""

import ctypes
import math
import pickle
import re
import shutil
import subprocess
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
import sympy
import torch
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils import estimator_html_repr

from prunesymnet import PruneSymRegressor, SearchSettings, make_operator
from prunesymnet.errors import FileFormatError, InterruptedWarning
from prunesymnet.search import PRESETS, ExhaustiveSettings

FEW = replace(PRESETS["paper"], layers=2, max_epochs=20)  # ends by itself, and always in the same place
X = np.random.default_rng(3).uniform(0.5, 2.0, (60, 2))
PRODUCT = X[:, 0] * X[:, 1]
DECAY = 3 * X[:, 0] * np.exp(-X[:, 1]) + 1
HARD = np.exp(np.sin(3 * X[:, 0]) * X[:, 1]) + 0.3 * np.random.default_rng(4).normal(size=60)
COMPILER = shutil.which("gcc") or shutil.which("cc")


def regressor(**parameters):
    return PruneSymRegressor(**{"time_limit": 60, "progress": False, **parameters})  # exact data end it at once


@pytest.fixture(scope="module")
def model():
    """A front of several equations, the chosen one exact."""
    return regressor().fit(X, DECAY)


@pytest.fixture(scope="module")
def two():
    return regressor().fit(X, pd.DataFrame({"area": PRODUCT, "decay": DECAY}))


# ---- scikit-learn's tools -------------------------------------------------------------------------------


def test_in_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), regressor()).fit(X, PRODUCT)
    assert pipeline.score(X, PRODUCT) == pytest.approx(1)
    simplest = pipeline[-1].predict(StandardScaler().fit_transform(X), index=0)
    np.testing.assert_allclose(pipeline.predict(X, index=0), simplest)
    assert clone(pipeline).fit(X, PRODUCT).score(X, PRODUCT) == pytest.approx(1)


def test_names_come_through_a_column_transformer():
    frame = pd.DataFrame({"length (m)": X[:, 0], "width": X[:, 1], "kind": ["u", "v"] * 30})
    columns = make_column_transformer(
        (FunctionTransformer(feature_names_out="one-to-one"), ["length (m)", "width"]),
        (OneHotEncoder(sparse_output=False), ["kind"]),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipeline = make_pipeline(columns, regressor()).fit(frame, pd.Series(PRODUCT, name="area"))
    assert pipeline[-1].feature_names_in_.tolist() == ["length (m)", "width", "kind_u", "kind_v"]
    assert str(pipeline[-1].best_) == "area = length_m*width"
    np.testing.assert_allclose(pipeline.predict(frame), PRODUCT)


def test_a_grid_of_complexities_on_two_processes():
    one = PruneSymRegressor(preset=SearchSettings(exhaustive=ExhaustiveSettings(levels=0), max_epochs=1), n_jobs=1)
    grid = GridSearchCV(one, {"max_complexity": [2, 9]}, n_jobs=2, cv=2).fit(X, PRODUCT)
    assert grid.best_params_ == {"max_complexity": 9}
    assert grid.best_score_ == pytest.approx(1)
    assert str(grid.best_estimator_.best_) == "y = x1*x2"


def test_cross_validation():
    np.testing.assert_allclose(cross_val_score(regressor(), X, DECAY, cv=3), 1)
    several = np.column_stack([PRODUCT, DECAY])
    np.testing.assert_allclose(cross_val_score(regressor(), X, several, cv=3), 1)
    frame = pd.DataFrame(X, columns=["a b", "c"])
    np.testing.assert_allclose(cross_val_score(regressor(), frame, pd.Series(PRODUCT), cv=3), 1)


@pytest.mark.parametrize(
    "how", [{"func": np.log, "inverse_func": np.exp}, {"transformer": StandardScaler()}], ids=["log", "scaled"]
)
def test_a_transformed_target(how):
    outer = TransformedTargetRegressor(regressor(), **how).fit(X, np.exp(PRODUCT) if "func" in how else PRODUCT)
    predicted = outer.predict(X)
    np.testing.assert_allclose(predicted, np.exp(PRODUCT) if "func" in how else PRODUCT)
    assert {"x1", "x2"} == set(outer.regressor_.best_.expression.variables)


def test_weights_are_routed():
    """Half of the rows are wrong, and weigh nothing: only with the weights is the law there, and the score 1."""
    weights = np.arange(60) % 2.0
    y = np.where(weights > 0, PRODUCT, 100.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = regressor().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scores = cross_validate(asking, X, y, params={"sample_weight": weights}, cv=3)
        np.testing.assert_allclose(scores["test_score"], 1)
        grid = GridSearchCV(asking, {"max_complexity": [9]}, cv=2).fit(X, y, sample_weight=weights)
        assert grid.best_score_ == pytest.approx(1)
        assert str(grid.best_estimator_.best_) == "y = x1*x2"
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, asking).fit(X, y, sample_weight=weights)
        assert pipeline.score(X, y, sample_weight=weights) == pytest.approx(1)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            cross_validate(regressor(), X, y, params={"sample_weight": weights}, cv=3)


def test_inspection(model):
    wide = regressor().fit(np.column_stack([X, X[:, ::-1] ** 0.5]), PRODUCT)
    found = permutation_importance(wide, np.column_stack([X, X[:, ::-1] ** 0.5]), PRODUCT, n_repeats=2, random_state=0)
    assert (found.importances_mean > 0).sum() == len(wide.best_.expression.variables) == 2
    partial = partial_dependence(model, X, [0], grid_resolution=5)
    slope = np.diff(partial["average"][0]) / np.diff(partial["grid_values"][0])
    np.testing.assert_allclose(slope, 3 * np.exp(-X[:, 1]).mean())


def test_a_pipelines_diagram(model):
    pipeline = make_pipeline(StandardScaler(), regressor())
    assert "PruneSymRegressor" in estimator_html_repr(pipeline)
    pipeline.fit(X, PRODUCT)
    assert "PruneSymRegressor" in estimator_html_repr(pipeline)
    assert "PruneSymRegressor" in pipeline._repr_html_()
    assert "PruneSymRegressor" in estimator_html_repr(model)


# ---- keeping it -----------------------------------------------------------------------------------------


def same(one, other, table):
    assert str(other) == str(one)
    assert (other.n_features_in_, other.n_outputs_) == (one.n_features_in_, one.n_outputs_)
    assert list(getattr(other, "feature_names_in_", [])) == list(getattr(one, "feature_names_in_", []))
    np.testing.assert_array_equal(other.predict(table), one.predict(table))
    np.testing.assert_array_equal(other.predict(table, index=0), one.predict(table, index=0))
    np.testing.assert_array_equal(other.predict_interval(table), one.predict_interval(table))
    for name in ("equations_", "constants_"):
        ours, theirs = getattr(one, name), getattr(other, name)
        pairs = [(ours, theirs)] if one.n_outputs_ == 1 else zip(ours, theirs, strict=True)
        for pair in pairs:
            pd.testing.assert_frame_equal(*pair, check_exact=True)


@pytest.fixture(params=["array", "frame", "several", "form"])
def kept(request):
    """Fitted models of all kinds, and the tables that they were fitted on."""
    kind = request.param
    table = X if kind == "array" else pd.DataFrame(X, columns=["speed (m/s)", "log"])
    target = pd.DataFrame({"flow rate": HARD, "y": DECAY}) if kind == "several" else HARD
    model = PruneSymRegressor(preset=FEW)
    return model.fit_form("a*speed_m_s**b - log_/3", table, target) if kind == "form" else model.fit(
        table, target
    ), table


def test_pickle_and_joblib(kept, tmp_path):
    model, table = kept
    same(model, pickle.loads(pickle.dumps(model)), table)  # noqa: S301
    joblib.dump(model, tmp_path / "model.joblib")
    same(model, joblib.load(tmp_path / "model.joblib"), table)


def test_save_and_load(kept, tmp_path):
    model, table = kept
    model.save(tmp_path / "model.json")
    again = PruneSymRegressor.load(tmp_path / "model.json")
    same(model, again, table)
    assert again.model_.settings == model.model_.settings
    assert str(again.best_) == str(model.best_)
    with pytest.raises(NotFittedError):
        clone(again).predict(table)


def test_a_loaded_model_can_be_fitted_again(tmp_path):
    model = PruneSymRegressor(preset=FEW, max_complexity=7, random_state=3, selection="bic").fit(X, HARD)
    model.save(tmp_path / "model.json")
    again = clone(PruneSymRegressor.load(tmp_path / "model.json")).fit(X, HARD)
    same(model, again, X)


def test_functions_and_operators_are_passed_again(tmp_path):
    own = make_operator("doubled_sine", lambda v: np.sin(2 * v))
    parameters = {"selection": lambda table: 0, "constraints": {"allow": lambda formula: True}}
    model = PruneSymRegressor(preset=FEW, operators=["+", "*", own], **parameters)
    model.fit_form("a*doubled_sine(x1) + b", X, HARD).save(tmp_path / "model.json")
    functions = {"selection": parameters["selection"], "allow": parameters["constraints"]["allow"]}
    again = PruneSymRegressor.load(tmp_path / "model.json", operators=[own], **functions)
    same(model, again, X)
    for missing in ("selection", "allow"):
        rest = {name: function for name, function in functions.items() if name != missing}
        with pytest.raises(FileFormatError, match=rf"pass it again \({missing}=\)"):
            PruneSymRegressor.load(tmp_path / "model.json", operators=[own], **rest)
    with pytest.raises(FileFormatError, match="doubled_sine"):
        PruneSymRegressor.load(tmp_path / "model.json", **functions)


@pytest.mark.parametrize("several", [False, True])
def test_resume(several, tmp_path):
    frame = pd.DataFrame(X, columns=["speed (m/s)", "log"])
    target = pd.DataFrame({"flow rate": HARD, "y": DECAY}) if several else pd.Series(HARD, name="flow rate")
    model = PruneSymRegressor(preset=FEW, run_dir=tmp_path / "run").fit(frame, target)
    again = PruneSymRegressor.resume(tmp_path / "run", progress=False)
    assert again.feature_names_in_.tolist() == ["speed (m/s)", "log"]
    assert again.n_outputs_ == model.n_outputs_
    assert again.predict(frame).shape == model.predict(frame).shape
    assert again.score(frame, target) >= model.score(frame, target) - 0.05
    with pytest.raises(FileExistsError, match="has a run already"):
        model.fit(frame, target)


def enough(update):
    raise StopIteration


@pytest.mark.filterwarnings("ignore::prunesymnet.errors.InterruptedWarning")
def test_callbacks_and_time_of_a_resumed_run(tmp_path):
    PruneSymRegressor(preset=FEW, run_dir=tmp_path / "run").fit(X, HARD)
    again = PruneSymRegressor.resume(tmp_path / "run", time_limit=33.0, callbacks=[enough])
    assert again.model_.settings.time_limit == 33
    assert again.fronts_[0].status == "stopped by a callback"
    assert np.isfinite(again.predict(X)).all()


def test_a_resumed_run_that_is_stopped_warns(tmp_path):
    PruneSymRegressor(preset=FEW, run_dir=tmp_path / "run").fit(X, HARD)
    with pytest.warns(InterruptedWarning, match="stopped by hand"):
        PruneSymRegressor.resume(tmp_path / "run", callbacks=[enough])


def test_a_frame_with_columns_x1_and_x2_is_still_a_frame_after_load(tmp_path):
    model = PruneSymRegressor(preset=FEW).fit(pd.DataFrame(X, columns=["x1", "x2"]), HARD)
    model.save(tmp_path / "model.json")
    same(model, PruneSymRegressor.load(tmp_path / "model.json"), pd.DataFrame(X, columns=["x1", "x2"]))


def test_one_target_is_predicted_as_one_dimension_after_load(tmp_path):
    """A file does not say that it was a column of a table."""
    model = PruneSymRegressor(preset=FEW).fit(X, HARD[:, None])
    model.save(tmp_path / "model.json")
    again = PruneSymRegressor.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(X), model.predict(X)[:, 0])
    assert again.score(X, HARD[:, None]) == model.score(X, HARD[:, None])


def test_a_form_of_x_is_loaded_without_a_warning(tmp_path):
    model = PruneSymRegressor().fit_form("a*x + b", X[:, :1], HARD)
    model.save(tmp_path / "model.json")
    same(model, PruneSymRegressor.load(tmp_path / "model.json"), X[:, :1])


@pytest.mark.parametrize("parameters", [{"max_complexity": np.int64(9)}, {"time_limit": np.float32(50)}])
def test_numpys_numbers_are_saved(parameters, tmp_path):
    PruneSymRegressor(preset=FEW, **parameters).fit(X, HARD).save(tmp_path / "model.json")
    PruneSymRegressor.load(tmp_path / "model.json")


def test_loading_a_stopped_fit_does_not_warn(tmp_path):
    with pytest.warns(InterruptedWarning):
        model = regressor(callbacks=[enough]).fit(X, HARD)
    model.save(tmp_path / "model.json")
    PruneSymRegressor.load(tmp_path / "model.json")


# ---- what it can become ---------------------------------------------------------------------------------


def by_sympy(export):
    return sympy.lambdify(sympy.symbols("x1 x2", real=True), export, "numpy")(*X.T)


def by_python(export):
    names = {}
    exec(export, names)  # noqa: S102 - the text of our own
    return [names["formula"](*row) for row in X.tolist()]


def by_onnx(export):
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(export.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"X": X})[0]


def by_c(export, folder):
    if COMPILER is None:
        pytest.skip("no C compiler here")
    (folder / "formula.c").write_text(export, encoding="utf-8")
    made = folder / "formula.so"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", made, folder / "formula.c", "-lm"], check=True, timeout=120)
    function = ctypes.CDLL(str(made)).formula
    function.argtypes, function.restype = [ctypes.c_double] * 2, ctypes.c_double
    return [function(*row) for row in X.tolist()]


def by_excel(export):
    assert export.startswith("=")
    text = re.sub(r"\b([AB])2\b", r"\1", export[1:].replace("^", "**"))
    return [eval(text, {"A": a, "B": b, "EXP": math.exp, "LN": math.log}) for a, b in X.tolist()]  # noqa: S307


@pytest.mark.parametrize("index", [None, 0, 3, -1])
@pytest.mark.parametrize("target", ["sympy", "python", "numpy", "torch", "c", "onnx", "excel"])
def test_exports_give_what_predict_gives(model, target, index, tmp_path):
    if target == "onnx":
        pytest.importorskip("onnx")
    export = getattr(model, target)(index)
    values = {
        "sympy": by_sympy,
        "python": by_python,
        "numpy": lambda function: function(X),
        "torch": lambda module: module(torch.tensor(X)).detach().numpy(),
        "c": lambda text: by_c(text, tmp_path),
        "onnx": by_onnx,
        "excel": by_excel,
    }[target](export)
    np.testing.assert_allclose(np.broadcast_to(values, 60), model.predict(X, index=index), rtol=1e-12)


def test_latex_names_the_target_and_keeps_digits(model):
    assert model.latex() == "y = 3 x_{1} e^{-x_{2}} + 1"
    assert model.latex(1) != model.latex(1, digits=None)


def test_a_list_for_several_targets(two):
    pytest.importorskip("onnx")
    for target in ("sympy", "latex", "python", "numpy", "torch", "c", "onnx", "excel"):
        made = getattr(two, target)()
        assert isinstance(made, list)
        assert len(made) == 2
    np.testing.assert_allclose(np.column_stack([f(X) for f in two.numpy()]), two.predict(X))
    np.testing.assert_allclose(np.column_stack([f(X) for f in two.numpy([0, 1])]), two.predict(X, index=[0, 1]))
    assert [text.partition(" =")[0] for text in two.latex()] == [r"\mathrm{area}", r"\mathrm{decay}"]
    with pytest.raises(ValueError, match="or a list of 2, one for each target"):
        two.latex([0])


def test_options_of_exports(model):
    assert model.excel(cells={"x1": "C7", "x2": "D7"}) == "=3*C7*EXP(-D7)+1"
    module = PruneSymRegressor().fit_form("a*x1 + b", X, HARD).torch(trainable=True)
    assert sum(parameter.numel() for parameter in module.parameters()) == 2
    assert not list(model.torch().parameters())
