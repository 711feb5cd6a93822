"""What works without the packages that only some need, and what an error says where one is missing."""

import subprocess
import sys

import pytest

from prunesymnet.optional import check_device, device_of, import_torch

WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
"""


def outcome(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", WITHOUT + code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_search_needs_no_torch():
    assert outcome(
        "import numpy as np, prunesymnet as psn\n"
        "x = np.linspace(-2, 2, 40)\n"
        "print(psn.PruneSymRegressor(progress=False).fit(x[:, None], x**2 / 2 - x).best_)\n"
        "own = psn.make_operator('bump', lambda u: np.exp(-u * u))\n"
        "rules = dict(operators=['+', '*', own], preset='paper', max_epochs=40, progress=False)\n"
        "print(len(psn.PruneSymRegressor(**rules).fit(x[:, None], np.exp(-x * x)).equations_) > 0)\n"
    ).splitlines() == ["y = x1**2/2 - x1", "True"]


NEEDS_TORCH = {
    "psn.PruneSymRegressor(device='cuda').fit([[1], [2], [3]], [1, 2, 3])": "device='cuda'",
    "psn.PruneSymRegressor().fit_form('a*x', [[1], [2], [3]], [1, 2, 3]).torch()": "to_torch",
    "psn.TensorBoard('.')": "TensorBoard",
    "psn.make_operator('bump', abs, torch=abs)": "torch=",
}


def test_what_needs_torch_says_what_to_install():
    calls = "".join(f"try:\n    {call}\nexcept ImportError as error:\n    print(error)\n" for call in NEEDS_TORCH)
    said = outcome("import prunesymnet as psn\n" + calls).splitlines()
    assert said == [f"{what} needs torch: pip install 'prunesymnet[torch]'" for what in NEEDS_TORCH.values()]


def test_the_command_says_what_to_install(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n2,3\n3,5\n")
    arguments = ["prunesymnet", "fit", str(tmp_path / "t.csv"), "-y", "b", "--device", "cuda"]
    code = f"sys.argv = {arguments!r}\nfrom prunesymnet.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", WITHOUT + code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: device='cuda' needs torch: pip install 'prunesymnet[torch]'\n"


def test_devices(monkeypatch):
    torch = import_torch("a test")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    for device in ("auto", "cpu", "cuda", "cuda:1"):
        check_device(device)
    with pytest.raises(ValueError, match="device must be cpu or one of cuda:0, cuda:1, got 'cuda:2'"):
        check_device("cuda:2")
    for device in ("cuda:x", "gpu", "auto:1", "cpu:0", "", None, 3):
        with pytest.raises(
            ValueError, match=rf"device must be auto, cpu, cuda \(or cuda:1 ...\) or mps, got {device!r}"
        ):
            check_device(device)
    assert [device_of(name) for name in ("auto", "cpu", "cuda:1")] == ["cuda", "cpu", "cuda:1"]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device_of("auto") == "cpu"


def test_a_gpu_that_is_not_there(monkeypatch):
    torch = import_torch("a test")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    for device in ("cuda", "cuda:1", "mps"):
        with pytest.raises(ValueError, match=f"device is '{device}', and this machine has no GPU"):
            check_device(device)


def test_where_there_is_no_torch_auto_is_the_cpu():
    assert outcome("from prunesymnet.optional import device_of\nprint(device_of('auto'))") == "cpu\n"
