"""What a GPU is worth: pairs scored a second, banks of a million nodes, and what searches recover with it and without.

    python -m benchmarks.gpu                     writes results/gpu.json: an NVIDIA GPU, five minutes
    python -m benchmarks.gpu --parts filters     one part of it; the others stay as they are

The parts: `filters` (bounds of all pairs, by kernel and precision), `scans` (the best pairs of each complexity, as a
search asks for them), `million` (a bank of a million nodes), `searches` (recovered or not, and seconds; on one core
each, with a GPU that the processes share, and without one), `deep` (the same of formulas that need a larger bank),
`stages` (where a search's seconds go without a GPU), `networks` (the default search against one whose second half
trains networks). The last two need no GPU.
"""

import argparse
import json
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import record
from benchmarks.conditions import FURTHER, NOISE, POINTS
from benchmarks.gpu_tables import FILE, read
from benchmarks.problems import Problem, load, noisy
from benchmarks.recovery import recovered, right_form
from prunesymnet.bank.bank import Bank, grow_bank
from prunesymnet.bank.gpu import TILE, Placed, _Products, _Sums, scan_placed
from prunesymnet.bank.regression import Regression, Residual
from prunesymnet.bank.scan import scan
from prunesymnet.data import Dataset, make_dataset
from prunesymnet.expression import Constant, evaluate
from prunesymnet.operators import DEFAULT
from prunesymnet.optional import device_of
from prunesymnet.search import PRESETS, ExhaustiveSettings, SearchSettings, search
from prunesymnet.search.budget import Budget
from prunesymnet.search.result import Update

NODES, MILLION = 32_768, 1_000_000
CPU_NODES = 8_192  # of a bank that one core scans in a second
MEMORY = 16.0  # GiB, for the bank of a million nodes
LIMIT = 20.0  # seconds for a search
SOME = {"random": 60, "further": 30, "noise": 30}  # problems of each set, spread over it
RANDOM = "random-600"  # not the set that a release is judged by
CORES = os.cpu_count() or 1


def bank_of(size: int, columns: int = 3) -> Bank:
    rng = np.random.default_rng(0)
    return grow_bank({f"x{k}": rng.uniform(-5, 5, POINTS) for k in range(columns)}, size=size, memory=MEMORY)


def targets_of(count: int, fixed: int = 0) -> list[Regression]:
    rng = np.random.default_rng(1)
    terms = rng.normal(size=(fixed, POINTS)) if fixed else None
    return [Regression(rng.normal(size=POINTS), terms) for _ in range(count)]


def seconds_of(call: Callable[[], Any], wait: Callable[[], Any] = lambda: None, repeat: int = 5) -> float:
    """The least of several calls, after one that is not counted: it compiles."""
    found = []
    for _ in range(repeat + 1):
        wait()
        began = time.perf_counter()
        call()
        wait()
        found.append(time.perf_counter() - began)
    return min(found[1:])


def pairs_of(nodes: int, targets: int) -> int:
    return targets * nodes * (nodes + 1) // 2


# ---- pairs a second ------------------------------------------------------------------------------------


def filters() -> Iterator[dict[str, Any]]:
    """The bounds alone, of random nodes of one complexity: no tile is padded."""
    import torch

    values = np.random.default_rng(0).normal(size=(NODES, POINTS))
    level = np.ones(NODES, dtype=np.int64)
    fused, wait = Placed.of(values, level, "cuda", MEMORY), torch.cuda.synchronize
    plain = Placed(fused.torch, "cuda", MEMORY, fused.layout, fused.values, fused=False)
    ways = [(True, "tf32"), (True, "bf16x3"), (False, "float32")]
    for (kernel, precision), products, (count, fixed) in product(ways, (True, False), ((1, 0), (4, 0), (1, 2))):
        kind = _Products if products else _Sums
        scores = kind.of(fused if kernel else plain, [Residual.of(one) for one in targets_of(count, fixed)])
        row = {
            "kind": "products" if products else "sums", "precision": precision, "kernel": kernel, "nodes": NODES,
            "targets": count, "fixed_terms": fixed,
        }  # fmt: skip
        seconds = seconds_of(lambda: scores.bounds(precision), wait)  # noqa: B023 - called before the next one
        yield row | {"pairs_per_second": pairs_of(NODES, count) / seconds}
        if kernel:
            yield row | {"alone": True, "pairs_per_second": pairs_of(NODES, count) / kernel_seconds(scores, precision)}
    for products in (True, False):
        yield in_double(fused, products)
    yield from peaks()


def kernel_seconds(scores: Any, precision: str) -> float:
    """Of the kernel alone, its operands made."""
    import torch

    from prunesymnet.bank import gpu

    launch, asked = gpu._launch, []
    gpu._launch = lambda *args: (asked.append(args), launch(*args))[1]
    try:
        scores.bounds(precision)
    finally:
        gpu._launch = launch
    return seconds_of(lambda: launch(*asked[0]), torch.cuda.synchronize)


def in_double(placed: Placed, products: bool) -> dict[str, Any]:
    """All pairs in double precision, as tiles are that are looked at."""
    import torch

    scores = (_Products if products else _Sums).of(placed, [Residual.of(one) for one in targets_of(1)])
    left, right = (side[:2048].long() for side in placed.sides)
    which = torch.zeros_like(left)
    seconds = seconds_of(lambda: scores.exact(which, left, right), torch.cuda.synchronize)
    return {
        "kind": "products" if products else "sums", "precision": "float64", "kernel": False, "nodes": NODES,
        "targets": 1, "fixed_terms": 0, "pairs_per_second": len(left) * TILE**2 / seconds,
    }  # fmt: skip


def peaks() -> Iterator[dict[str, Any]]:
    """Operations a second of one large matrix product, which is what a kernel could reach."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    for name, kind in (("tf32", torch.float32), ("bf16", torch.bfloat16), ("float64", torch.float64)):
        one = torch.randn(8192, 8192, device="cuda", dtype=kind)
        seconds = seconds_of(lambda: one @ one, torch.cuda.synchronize)  # noqa: B023
        yield {"kind": "peak", "precision": name, "operations_per_second": 2 * 8192**3 / seconds}
    torch.backends.cuda.matmul.allow_tf32 = False


def scans() -> Iterator[dict[str, Any]]:
    """The five best pairs of each complexity, all included: what a search waits for."""
    import torch

    for nodes, count, products in product((1000, 3000, 10_000, NODES), (1, 4), (True, False)):
        bank, asked = bank_of(nodes), targets_of(count)
        placed = Placed.of(bank.values, bank.complexity, "cuda", MEMORY)
        seconds = seconds_of(
            lambda: scan_placed(placed, asked, products=products, keep=5),  # noqa: B023
            torch.cuda.synchronize,
        )
        row = {"kind": "products" if products else "sums", "nodes": len(bank), "targets": count}
        yield row | {"device": "cuda", "seconds": seconds, "pairs_per_second": pairs_of(len(bank), count) / seconds}
        for workers in (1, CORES) if nodes <= CPU_NODES else (CORES,) if count == 1 else ():
            call = {"products": products, "keep": 5, "workers": workers}
            seconds = seconds_of(lambda: scan(bank.values, bank.complexity, asked, **call), repeat=2)  # noqa: B023
            rate = pairs_of(len(bank), count) / seconds
            yield row | {"device": "cpu", "cores": workers, "seconds": seconds, "pairs_per_second": rate}


def million() -> Iterator[dict[str, Any]]:
    """A bank of a million nodes: grown on one core, put on the GPU, and all its pairs scanned within the memory."""
    import torch

    began = time.perf_counter()
    bank = bank_of(MILLION)
    yield {"what": "grown on one core", "nodes": len(bank), "seconds": time.perf_counter() - began}
    for memory in (4.0, MEMORY):
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        began = time.perf_counter()
        placed = Placed.of(bank.values, bank.complexity, "cuda", memory)
        torch.cuda.synchronize()
        yield {"what": "put on the GPU", "nodes": len(bank), "memory": memory, "seconds": time.perf_counter() - began}
        for products in (True, False):
            began = time.perf_counter()
            scan_placed(placed, targets_of(1), products=products, keep=5)
            torch.cuda.synchronize()
            seconds = time.perf_counter() - began
            yield {
                "what": "all products" if products else "all sums", "nodes": len(bank), "memory": memory,
                "seconds": seconds, "pairs_per_second": pairs_of(len(bank), 1) / seconds,
                "GiB": torch.cuda.max_memory_allocated() / 2**30,
            }  # fmt: skip
        del placed


# ---- searches ------------------------------------------------------------------------------------------


def problems() -> Iterator[tuple[str, Problem, float]]:
    sets = {"random": ((RANDOM,), 0.0), "further": (FURTHER, 0.0), "noise": (("paper",), NOISE)}
    for part, (names, noise) in sets.items():
        every = [problem for name in names for problem in load(name)]
        for problem in every[:: max(1, len(every) // SOME[part])][: SOME[part]]:
            yield part, problem, noise


def warmed() -> None:
    """A process that has started its GPU and compiled the kernels, so that no search is charged with that."""
    os.environ["OMP_NUM_THREADS"] = "1"
    threadpool_limits(1)
    if device_of("auto") == "cpu":
        return
    bank = bank_of(1500)
    placed = Placed.of(bank.values, bank.complexity, "cuda")
    for products, (count, fixed) in product((True, False), ((2, 0), (1, 2))):
        scan_placed(placed, targets_of(count, fixed), products=products, keep=5)


def one_search(part: str, problem: Problem, noise: float, device: str, limit: float) -> dict[str, Any]:
    data = noisy(problem.sample(POINTS, 0), noise, 0)
    exhaustive = ExhaustiveSettings(device=device)
    began = time.perf_counter()
    found = search(data, SearchSettings(time_limit=limit, workers=1, exhaustive=exhaustive))
    seconds = time.perf_counter() - began
    formula = found.best.expression
    return {
        "part": part, "problem": problem.name, "device": device, "limit": limit, "seconds": seconds,
        "levels": found.levels, "status": found.status.name, "formula": str(formula),
        "recovered": recovered(problem, formula), "form": right_form(problem, formula),
    }  # fmt: skip


def both_searches(task: tuple[str, Problem, float]) -> list[dict[str, Any]]:
    """Without the GPU, and with it where that has a part: a search that ends at level 0 does not come to it."""
    here = one_search(*task, "cpu", LIMIT)
    same = here["levels"] == 0 and here["seconds"] < LIMIT
    return [here, here | {"device": "cuda", "same": True} if same else one_search(*task, "cuda", LIMIT)]


# Formulas that need a larger bank: of two nodes that the second level's bank has on a GPU, and not without one.
DEEP, DEEP_LIMIT = 28, 8.0  # how many, and seconds for each


def deep_problems() -> Iterator[tuple[str, Problem, float]]:
    """Products a*f*g + b and sums a*f + b*g of such nodes, with a and b drawn by chance."""
    small, large = (Budget.of(1, on_gpu=on_gpu).pair_nodes for on_gpu in (False, True))
    names = ("x", "y", "z")
    for seed in range(DEEP):
        rng = np.random.default_rng([600, seed])
        bank = grow_bank({name: rng.uniform(-5, 5, POINTS) for name in names}, DEFAULT, large)
        one, two = (bank.expression(int(node)) for node in rng.integers(small, len(bank), 2))
        a, b = (Constant(float(value)) for value in rng.uniform(0.5, 2, 2).round(2))
        formula = a * one * two + b if seed % 2 else a * one + b * two
        ranges = dict.fromkeys(names, (-5.0, 5.0))
        yield "deep", Problem(f"deep-{seed:02d}", "deep", formula, {n: ranges[n] for n in formula.variables}), 0.0


def both_deep(task: tuple[str, Problem, float]) -> list[dict[str, Any]]:
    return [one_search(*task, device, DEEP_LIMIT) for device in ("cpu", "cuda")]


def deep() -> Iterator[dict[str, Any]]:
    yield from in_processes(both_deep, list(deep_problems()))


def in_processes(call: Callable[[Any], list[dict[str, Any]]], tasks: list[Any]) -> Iterator[dict[str, Any]]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max(CORES - 2, 1), context, initializer=warmed) as pool:
        for done in as_completed([pool.submit(call, task) for task in tasks]):
            yield from done.result()


def searches() -> Iterator[dict[str, Any]]:
    yield from in_processes(both_searches, list(problems()))


def stages() -> Iterator[dict[str, Any]]:
    """Where the seconds of three levels go on one core, without a GPU: what of them a GPU could take over."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.3, 4, (POINTS, 3))
    x, y, z = X.T
    target = np.sin(1.7 * x * y + 0.3) * np.exp(-z * y) + np.log(x + z**2) * np.tanh(x - y) / (1 + np.sqrt(z))
    target += NOISE / 10 * target.std() * rng.normal(size=POINTS)  # so little that the search goes on
    spent: Counter[tuple[int, str]] = Counter()
    last = time.process_time()

    def watch(update: Update) -> None:
        nonlocal last
        spent[update.levels, update.stage] += time.process_time() - last
        last = time.process_time()

    settings = SearchSettings(time_limit=1200, workers=1, exhaustive=ExhaustiveSettings(levels=3))
    search(make_dataset(X, target), settings, watch=watch)
    for (level, stage), seconds in sorted(spent.items()):
        yield {"level": level, "stage": stage, "seconds": seconds}


# ---- networks ------------------------------------------------------------------------------------------

HARD = 4  # problems of each kind where enumeration fails
KINDS = {"many columns": (10, 2, 0.0), "several terms": (3, 4, 0.0), "several terms, noise": (3, 4, NOISE)}
ROWS, FRESH = 400, 2000  # rows to search on, of which a quarter chooses between two formulas; rows that judge
RESTARTS = 64  # networks that are trained together


def hard_problem(kind: str, seed: int) -> tuple[Dataset, Dataset]:
    """A sum of terms a*f(b*u + c)*v, where u and v are columns or products of two, with all constants drawn by chance:
    rows with noise, and fresh ones without."""
    columns, terms, noise = KINDS[kind]
    rng = np.random.default_rng([seed, *map(ord, kind)])
    X = rng.uniform(-2, 2, (ROWS + FRESH, columns))
    y = np.zeros(len(X))
    for _ in range(terms):
        i, j, k, m = rng.integers(0, columns, 4)
        a, b, c = rng.uniform(0.5, 2, 3) * rng.choice([-1, 1], 3)
        shape = (np.sin, np.tanh, lambda u: np.exp(-u * u), lambda u: 1 / (1 + u * u), np.cos)[rng.integers(5)]
        y += (
            a
            * shape(b * X[:, i] * (X[:, j] if rng.integers(2) else 1) + c)
            * (X[:, k] if rng.integers(2) else X[:, m] ** 2)
        )
    table = make_dataset(X[:ROWS], y[:ROWS] + noise * y.std() * rng.normal(size=ROWS))
    return table, make_dataset(X[ROWS:], y[ROWS:])


def error_of(formula: Any, data: Dataset) -> float:
    """The root mean square error, relative to the target's spread."""
    values, finite = evaluate(formula, data.columns)
    off = float(np.sqrt(np.mean((values - data.y) ** 2)) / data.y.std()) if finite.all() else np.inf
    return min(off, 1e9)


def with_and_without_networks(task: tuple[str, int]) -> list[dict[str, Any]]:
    """The default search for the whole time; and for half of it, and networks for the other half; on a GPU, if there is
    one."""
    table, fresh = hard_problem(*task)
    choosing = np.arange(ROWS) % 4 == 0
    fitted, chosen_on = table.take(~choosing), table.take(choosing)

    def banks(limit: float) -> Any:
        exhaustive = ExhaustiveSettings(device="auto")
        return search(fitted, SearchSettings(time_limit=limit, workers=1, exhaustive=exhaustive)).best.expression

    training = replace(PRESETS["paper+"].training, restarts=RESTARTS)
    networks = replace(PRESETS["paper+"], time_limit=LIMIT / 2, training=training, max_epochs=10**6, workers=1)
    found = {"banks": banks(LIMIT), "half": banks(LIMIT / 2)}
    found["networks"] = search(fitted, networks.on_device("auto")).best.expression
    found["both"] = min((found["half"], found["networks"]), key=lambda formula: error_of(formula, chosen_on))
    errors = {name: error_of(formula, fresh) for name, formula in found.items()}
    return [{"kind": task[0], "seed": task[1], "limit": LIMIT, "restarts": RESTARTS, "errors": errors}]


def networks() -> Iterator[dict[str, Any]]:
    yield from in_processes(with_and_without_networks, list(product(KINDS, range(HARD))))


PARTS = {
    "filters": filters, "scans": scans, "million": million, "searches": searches, "deep": deep, "stages": stages,
    "networks": networks,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), help="which of them, separated by commas")
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    import torch

    made = record.provenance()
    if torch.cuda.is_available():
        made["gpu"] = torch.cuda.get_device_name()
        made["versions"] |= {"triton": record.version("triton"), "cuda": torch.version.cuda}
    found = read()
    for name in options.parts.split(","):
        began, rows = time.perf_counter(), []
        settings = {"points": POINTS, "limit": LIMIT, "some": SOME, "memory": MEMORY}
        with threadpool_limits(1, user_api="blas"):
            for row in PARTS[name]():
                rows.append(row)
                seconds = time.perf_counter() - began
                found[name] = made | {"settings": settings, "seconds": seconds, "rows": rows}
                options.out.write_text(json.dumps(found, indent=1) + "\n")  # what is there, if it is ended
        print(f"{name}: {len(rows)} rows, {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
