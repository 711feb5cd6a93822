"""Runs tests as other processors would: with their kernels of matrix products, vector instructions and threads.

    python tests/processors.py            # every kind of processor that this one can stand in for
    python tests/processors.py --one      # one that differs from this machine in all of it
    python tests/processors.py --list     # which there are

The same sum is rounded in another order on another processor, and after a thousand steps of training a network is
another one. A test that needs one of them fails here. What is left out is said, with the reason: a processor whose
instructions this machine does not have, and one that computes as this machine does anyway.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("tests/search", "tests/network", "tests/coefficients", "tests/bank", "tests/structure")
OLDEST = "the oldest processor"
# What computes here, said by the libraries themselves. The products and the solution make them use it: instructions
# that are not there end the process.
PROBE = """
import json, os
import numpy, scipy.linalg, threadpoolctl, torch
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
for kind in (numpy.float32, numpy.float64):
    square = numpy.linspace(1, 2, 90_000, dtype=kind).reshape(300, 300) % kind(0.01) + numpy.eye(300, dtype=kind)
    numpy.linalg.solve(square @ square.T, numpy.exp(square)), scipy.linalg.svd(square), torch.from_numpy(square).exp()
blas = {found["architecture"] for found in threadpoolctl.threadpool_info() if found["internal_api"] == "openblas"}
print(json.dumps({
    "matrix products": ", ".join(sorted(blas)),
    "numpy": " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name]) or "baseline",
    "torch": torch.backends.cpu.get_cpu_capability(),
    "threads": f"{os.environ.get('TEST_THREADS', '1')} and {torch.get_num_threads()} of torch",
}))
"""


def probe(settings: dict[str, str]) -> dict[str, str] | None:
    """What computes with these settings; None where it needs instructions that this machine does not have."""
    command = [sys.executable, "-c", PROBE]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True)
    if done.returncode > 0:  # an error of Python, and not a signal
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout) if done.returncode == 0 else None


def kinds(features: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The processors to stand in for, and how to; `features` are those of this one that numpy can do without."""
    for core in ("Haswell", "SkylakeX", "Zen", "Prescott"):
        yield f"matrix products of {core}", {"OPENBLAS_CORETYPE": core}
    for capability in ("avx2", "default"):
        yield f"torch with {capability}", {"ATEN_CPU_CAPABILITY": capability}
    wide = [name for name in features if "AVX512" in name or name == "X86_V4"]
    yield "numpy without AVX512", {"NPY_DISABLE_CPU_FEATURES": " ".join(wide)}
    everything = {"NPY_DISABLE_CPU_FEATURES": " ".join(features)}
    yield "numpy without vector instructions that it can do without", everything
    for threads in ("1", "2"):
        yield f"threads: {threads}", {"TEST_THREADS": threads, "OMP_NUM_THREADS": threads}
    yield OLDEST, {"OPENBLAS_CORETYPE": "Prescott", "ATEN_CPU_CAPABILITY": "default", **everything}


def different(only: str | None) -> Iterator[tuple[str, dict[str, str]]]:
    """Those that compute in another way than this machine, and than those before them; the others are named."""
    own = probe({})
    if own is None:
        raise RuntimeError("this machine can't run what is installed on it")
    said(f"this machine: {described(own)}")
    seen = {described(own): "this machine"}
    features = [] if own["numpy"] == "baseline" else own["numpy"].split()
    for name, settings in kinds(features):
        if only not in (None, name):
            continue
        found = probe(settings)
        if found is None:
            said(f"{name}: left out, this machine does not have its instructions")
        elif described(found) in seen:
            said(f"{name}: left out, it computes as {seen[described(found)]} does")
        else:
            seen[described(found)] = name
            said(f"{name}: {described(found)}")
            yield name, settings


def described(found: dict[str, str]) -> str:
    return "; ".join(f"{what} {value}" for what, value in found.items())


def said(text: str) -> None:
    print(text, flush=True)


def main(arguments: list[str]) -> int:
    ours = {"--one", "--list"} & set(arguments)
    options = [argument for argument in arguments if argument not in ours] or list(FOLDERS)
    failed = []
    for name, settings in different(OLDEST if "--one" in ours else None):
        if "--list" not in ours:
            # Threads that wait for a core which another process has take several times as long.
            workers = max(1, (os.cpu_count() or 1) // int(settings.get("TEST_THREADS", "1")))
            command = [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-n",
                str(workers),
                "--dist",
                "loadfile",
                "--no-loadscope-reorder",
            ]
            command += ["-m", "not slow", *options]
            if subprocess.run(command, env=os.environ | settings, cwd=ROOT).returncode:
                failed.append(name)
    if failed:
        said(f"failed: {'; '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
