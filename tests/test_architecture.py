"""What the tree of sources promises: data flows one way, and importing costs nothing that is not used."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import prunesymnet

SOURCE = Path(prunesymnet.__file__).parent
# Each module builds on those before it, in every package: data flows one way.
ORDER = {
    "": (
        "version", "errors", "settings", "optional", "operators", "data", "expression", "units", "export", "network",
        "coefficients", "bank", "structure", "catalogue", "equations", "selection", "search", "progress", "runs",
        "estimator", "many", "report", "studio", "cli", "__main__",
    ),
    "operators": ("operator", "protection", "onnx", "table", "custom"),
    "data": (
        "messages", "sources", "cells", "losses", "checks", "dataset", "categories", "neighbours", "rows", "text",
        "sheets", "files", "chunks", "drawing",
    ),
    "expression": (
        "tree", "printing", "parsing", "categories", "templates", "program", "intervals", "canonical", "expanding",
        "polynomial", "linear", "factoring", "rewriting", "fingerprint", "sampling",
    ),
    "units": ("parsing", "labels", "table", "soundness", "groups", "constants"),
    "expression.canonical": ("numbers", "terms", "algebra"),
    "expression.rewriting": ("likeness", "powers", "waves", "hyperbolic", "products", "unit_terms", "ties"),
    "export": ("common", "latex", "mathml", "python", "numpy", "torch", "c", "excel", "onnx", "sympy"),
    "network": ("activation", "network", "training", "pruning"),
    "network.pruning": ("subnetwork", "beam", "random", "reverse"),
    "catalogue": ("forms", "matching"),
    "bank": (
        "limits", "bank", "monomials", "targets", "problem", "regression", "best", "scan", "tiles",
        "kernels", "gpu", "query", "families",
        "family_scan", "family_fit", "dictionary", "words", "ways_down",
    ),
    "structure": (
        "splines", "exponents", "quantities", "smooth", "frame", "groups", "sums", "two_groups", "products",
        "power_columns", "find", "beside", "reduction", "surfaces", "waves", "relevance", "parts",
    ),
    "equations": ("pattern", "equation", "front"),
    "search": (
        "shapes", "constraints", "settings", "forms", "origin", "linear_model", "guesses", "between_rows", "prediction",
        "rows", "budget", "archive", "stages", "screening", "waiting", "fitting", "stopping", "error_shares",
        "outliers", "error_kinds", "finish", "result", "columns", "threads", "workers", "ahead", "contexts",
        "trying_kinds", "fewer_columns", "loop", "live", "by_category", "frames", "templates", "all_rows",
    ),
    "search.stages": (
        "base", "power_law", "polynomials", "growth", "groups", "beside", "networks", "unwrapping", "fixed_terms",
        "denominators", "pairs", "singles", "tails", "chains", "angles", "rational", "powers", "factored_quotients",
        "families", "member_sums", "exact",
        "sums", "frequencies", "envelopes", "sums_of_waves", "phases", "waves_of_sums",
        "query_pairs", "pursuit", "grafts", "blocks", "nested", "parts",
    ),
    "search.stages.exact": (
        "newton", "missing_terms", "unknown_constants", "member_quotients", "sums", "dictionaries", "squares",
    ),
    "studio": (
        "workspace", "words", "safety", "forms", "tables", "searches", "worker", "queue", "front", "looks", "notebook",
        "studio", "pages", "server",
    ),
    "cli": (
        "errors", "options", "settings", "printing", "tables", "fitting", "many", "fit", "fit_many", "demo", "draw",
        "app",
    ),
    "estimator": ("parameters", "tables", "forms", "large", "fitted", "regressor"),
    "many": ("tables", "result", "fitting"),
    "runs": ("files", "records", "model", "log", "folder", "run"),
    "report": (
        "drawing", "numbers", "panels", "loss", "places", "networks", "pruning", "graph", "layout", "formula",
        "typeset", "plots", "collapse", "effects", "live", "rendering", "section", "page",
    ),
    "coefficients": (
        "bases", "significant", "least_squares", "reweighting", "fit", "by_category", "uncertainty", "description",
        "linear", "stepwise", "pure_numbers", "closed_forms", "snapping", "rounded", "in_chunks",
    ),
}  # fmt: skip
MOST_LINES = 60  # of a function, its docstring not counted: what is read on one screen
# Functions that are longer, and why. Another may be, with a comment above its first line that begins with "# Long:".
LONG = {
    "expression/program.py:compile_expression": "one loop written for speed: it compiles every candidate",
    "operators/custom.py:make_operator": "a check and a column of the table for each of its parameters",
    "operators/custom.py:_probe_value": "a list of probes, each with the message that says what was wrong",
}


def imported_modules(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
        elif isinstance(node, ast.Import):
            found.extend(alias.name for alias in node.names)
    return [name for name in found if name.startswith("prunesymnet")]


def files():
    return sorted(path for path in SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_from_those_before_it(path):
    parts = list(path.relative_to(SOURCE).with_suffix("").parts)
    if parts == ["__init__"]:
        return
    for name in imported_modules(path):
        target = name.split(".")[1:]
        assert target, f"{path} imports the whole package; name the module"
        shared = 0  # how many packages the two have in common
        while parts[shared : shared + 1] == target[shared : shared + 1] != []:
            shared += 1
        if len(target) == shared or parts[shared:] in ([], ["__init__"]):
            continue  # a package's own front door
        inside = ORDER[".".join(parts[:shared])]
        before = inside.index(target[shared]) < inside.index(parts[shared])
        assert before or (shared and _is_lazy(path, name)), f"{path} imports {name}, which comes after it"


def _is_lazy(path: Path, name: str) -> bool:
    """An import inside a function: for what a tree can be asked (its text), never for what it is."""
    top = {n.module for n in ast.parse(path.read_text()).body if isinstance(n, ast.ImportFrom)}
    return name not in top


def test_only_what_shows_formulas_knows_their_names():
    """A search that knew well-known formulas would find these, and not what is in the data."""
    for path in files():
        if path.relative_to(SOURCE).parts[0] != "catalogue":
            known = [name for name in imported_modules(path) if name.split(".")[1:2] == ["catalogue"]]
            assert not known or path.relative_to(SOURCE).parts == ("equations", "equation.py"), path
    for path in sorted((SOURCE / "search").rglob("*.py")) + sorted((SOURCE / "bank").rglob("*.py")):
        assert "known_as" not in path.read_text(), path


def test_every_module_has_its_place():
    for path in files():
        *package, module = path.relative_to(SOURCE).with_suffix("").parts
        if module != "__init__":
            assert module in ORDER[".".join(package)], path


def lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert function.end_lineno is not None
    first = function.body[0]
    docstring = 0
    if ast.get_docstring(function) is not None and first.end_lineno is not None:
        docstring = first.end_lineno - first.lineno + 1
    return function.end_lineno - function.lineno + 1 - docstring


def long_functions(path: Path) -> list[str]:
    """The functions of a file that are longer than they may be, without a reason stated above their first line."""
    text = path.read_text()
    lines = text.splitlines()
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of_code(node) > MOST_LINES:
            start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if not lines[start - 2].strip().startswith("# Long:"):
                found.append(node.name)
    return found


def test_a_function_fits_on_a_screen():
    found = {f"{path.relative_to(SOURCE).as_posix()}:{name}" for path in files() for name in long_functions(path)}
    assert found == set(LONG), "shorten the function or state a reason; drop the reason of one that is short again"


def test_the_lines_of_a_function_are_counted_without_its_docstring(tmp_path):
    body = "    pass\n" * (MOST_LINES - 1)
    source = {
        "short": f"def short():\n{body}",
        "described": f'def described():\n    """Two\n    lines."""\n{body}',
        "decorated": f"@decorator\ndef decorated():\n{body}    pass\n",
        "inside": f"class A:\n    def inside(self):\n{body.replace('    ', '        ')}        pass\n",
        "stated": f"# Long: a table of cases.\n@decorator\ndef stated():\n{body}    pass\n",
    }
    (tmp_path / "module.py").write_text("\n\n".join(source.values()))
    assert sorted(long_functions(tmp_path / "module.py")) == ["decorated", "inside"]


def test_nothing_that_could_run_a_text():
    for path in files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                owner = getattr(getattr(node.func, "value", None), "id", "")
                assert name not in {"eval", "exec", "sympify", "__import__"}, f"{path}:{node.lineno}"
                of_memory = path.name == "kernels.py"  # a GPU's own, by its operands
                assert name not in {"load", "loads"} or owner == "json" or of_memory, f"{path}:{node.lineno}"


def test_the_core_imports_neither_torch_nor_sympy():
    heavy = "torch", "sympy", "pint", "sklearn", "scipy.stats", "scipy.optimize", "matplotlib"
    code = f"import sys, prunesymnet; print([name for name in {heavy} if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_training_and_pruning_on_a_cpu_import_no_torch():
    code = (
        "import sys, numpy as np, prunesymnet.network.pruning as pruning, prunesymnet.network.training as training; "
        "from prunesymnet.data import make_dataset; from prunesymnet.network import Network; "
        "x = np.linspace(-2, 2, 32); network = Network(('x',), layers=2); "
        "trainer = training.Trainer(network, make_dataset(x, x**2, names=['x']), training.TrainingSettings()); "
        "assert all(np.isfinite(trainer.step()).all() for _ in range(3)); "
        "trained = pruning.Trained(network, *trainer.snapshot(0), x**2); rng = np.random.default_rng(0); "
        "assert all(prune(trained, pruning.PruningSettings(), rng) for prune in pruning.PRUNERS.values()); "
        "assert pruning.reverse(trained, most_edges=network.edges) is not None; print('torch' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False"]


def test_importing_draws_no_random_number_and_says_nothing():
    code = (
        "import numpy as np; np.random.seed(1); before = np.random.get_state()[1].copy(); import prunesymnet; "
        "import prunesymnet.coefficients; assert (np.random.get_state()[1] == before).all()"
    )
    out = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == out.stderr == ""


def test_version_and_changelog_agree():
    root = SOURCE.parents[1]
    newest = re.search(r"^## (\S+)", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == prunesymnet.__version__


def test_public_names_are_what_they_were():
    assert sorted(prunesymnet.__all__) == [
        "Constraints", "Dataset", "Equation", "ExhaustiveSettings", "Expression", "Fit", "FitSettings", "FitStatus",
        "Front", "ManyModels", "Model", "PruneSymRegressor", "SearchSettings", "SnapSettings", "TensorBoard",
        "bootstraps", "canonical", "estimate_constants", "evaluate", "fingerprint", "fit", "fit_many", "folds",
        "from_frame", "load_example", "load_model", "make_dataset", "make_operator", "parse", "read_table",
        "select_operators", "skeleton", "snap", "to_latex", "to_python", "to_text",
    ]  # fmt: skip
    for name in prunesymnet.__all__:
        assert getattr(prunesymnet, name) is not None
