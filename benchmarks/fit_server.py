"""Fits and judges formulas for another process: one request as a line of JSON in, one answer as a line out.

`benchmarks.compare_commits` starts it with the sources that are to be measured. It needs nothing but the package to
fit, so that the sources of any commit can be measured from this one; only judging needs the benchmarks.
"""

import json
import os
import sys
import time
import traceback
from dataclasses import replace
from typing import Any

import prunesymnet
from prunesymnet.data import make_dataset
from prunesymnet.expression import parse, to_text
from prunesymnet.search import PRESETS, search


def fit(request: dict[str, Any]) -> dict[str, Any]:
    data = make_dataset(request["X"], request["y"], names=request["names"], target="target")
    settings = replace(PRESETS["default"], time_limit=request["seconds"], seed=request["seed"], workers=1)
    began = time.perf_counter()
    found = search(data, settings).best.expression
    return {"seconds": time.perf_counter() - began, "formula": to_text(found)}


def judge(request: dict[str, Any]) -> dict[str, Any]:
    from benchmarks.conditions import FRESH
    from benchmarks.problems import Problem
    from benchmarks.trial import judge

    ranges = {name: (low, high) for name, (low, high) in request["ranges"].items()}
    problem = Problem("judged", "", parse(request["truth"], variables=tuple(ranges)), ranges)
    found = parse(request["formula"], variables=tuple(ranges))
    row = judge(problem, found, problem.sample(*FRESH))
    return {name: row[name] for name in ("recovered", "form", "complexity")}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What fails is an answer, too."""
    try:
        return judge(request) if "truth" in request else fit(request)
    except Exception:
        return {"status": "failed", "error": traceback.format_exc(limit=-3)}


def main() -> None:
    """One answer for each line of stdin, the first unasked; what else is printed goes to stderr."""
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        print(json.dumps({"sources": os.path.dirname(os.path.dirname(prunesymnet.__file__))}), file=out, flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    main()
