"""The tables of results/gpu.json, which `benchmarks.gpu` writes."""

import json
from typing import Any

import numpy as np

from benchmarks import record
from prunesymnet.bank.gpu import TILE

FILE = record.RESULTS / "gpu.json"
BETTER = 0.9  # of the error: what is not less than that is no better


def read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found


def made_by(part: dict[str, Any]) -> str:
    return f"{part.get('gpu') or part['machine']}, torch {part['versions']['torch']}, commit {part['commit']}"


def filters() -> str:
    part = read()["filters"]
    rows = [row for row in part["rows"] if row["kind"] != "peak"]
    kinds = [("products", 1, 0), ("products", 4, 0), ("products", 1, 2), ("sums", 1, 0), ("sums", 4, 0), ("sums", 1, 2)]
    heads = [
        f"{kind}, {'one target' if count == 1 else f'{count} targets'}{', two fixed terms' if fixed else ''}"
        for kind, count, fixed in kinds
    ]
    size = f"{rows[0]['nodes']:,} nodes, {part['settings']['points']} rows"
    lines = [
        f"| pairs a second, {size} ({made_by(part)}) | {' | '.join(heads)} |",
        "|---|" + "---|" * len(kinds),
    ]
    ways = {
        "kernel, 11 bits (TF32), alone": ("tf32", True, True),
        "kernel, 11 bits (TF32)": ("tf32", True, False),
        "kernel, 16 bits (three products of bfloat16), alone": ("bf16x3", True, True),
        "kernel, 16 bits (three products of bfloat16)": ("bf16x3", True, False),
        "PyTorch, single precision": ("float32", False, False),
        "PyTorch, double precision": ("float64", False, False),
    }
    for title, (precision, kernel, alone) in ways.items():
        cells = []
        for kind, count, fixed in kinds:
            found = [
                row["pairs_per_second"]
                for row in rows
                if (row["kind"], row["targets"], row["fixed_terms"]) == (kind, count, fixed)
                and (row["precision"], row["kernel"], row.get("alone", False)) == (precision, kernel, alone)
            ]
            cells.append(f"{found[0]:.1e}" if found else "")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def floor() -> str:
    """Operations and bytes of a pair, and how fast these could be done at most."""
    part = read()["filters"]
    peak = {row["precision"]: row["operations_per_second"] for row in part["rows"] if row["kind"] == "peak"}
    best = {
        row["precision"]: row["pairs_per_second"]
        for row in part["rows"]
        if row["kind"] == "products" and (row["targets"], row["fixed_terms"]) == (1, 0) and row.get("alone")
    }
    points = part["settings"]["points"]
    operations = 3 * 2 * points
    moved = 5 * TILE * points * 4 / TILE**2  # of five operands, by a tile of pairs
    lines = [
        "| products for one target | operations a pair | bytes a pair | large matrix products a second | so at most | "
        "measured | share |",
        "|---|---|---|---|---|---|---|",
    ]
    for title, precision, unit, times in (("TF32", "tf32", "tf32", 1), ("three of bfloat16", "bf16x3", "bf16", 3)):
        most = peak[unit] / (times * operations)
        lines.append(
            f"| {title} | {times * operations:,} | {moved:.0f} | {peak[unit] / 1e12:.0f} TFLOP/s | {most:.1e} pairs/s "
            f"| {best[precision]:.1e} pairs/s | {best[precision] / most:.0%} |"
        )
    return "\n".join(lines)


def scans() -> str:
    part = read()["scans"]
    lines = [
        f"| the five best of each complexity ({part['machine']}; {made_by(part)}) | GPU | one core | "
        f"{part['cores']} cores |",
        "|---|---|---|---|",
    ]
    keys = list(dict.fromkeys((row["kind"], row["targets"], row["nodes"]) for row in part["rows"]))
    for key in sorted(keys):
        cells = []
        for device, cores in (("cuda", None), ("cpu", 1), ("cpu", part["cores"])):
            found = [
                row
                for row in part["rows"]
                if (row["kind"], row["targets"], row["nodes"]) == key
                and (row["device"], row.get("cores")) == (device, cores)
            ]
            cells.append(
                f"{1000 * found[0]['seconds']:.1f} ms, {found[0]['pairs_per_second']:.1e} pairs/s" if found else ""
            )
        targets = "one target" if key[1] == 1 else f"{key[1]} targets"
        lines.append(f"| {key[0]} of {key[2]:,} nodes, {targets} | {' | '.join(cells)} |")
    return "\n".join(lines)


def million() -> str:
    part = read()["million"]
    nodes = f"{part['rows'][0]['nodes']:,} nodes"
    lines = [
        f"| a bank of {nodes} ({made_by(part)}) | memory asked for | seconds | most memory used |",
        "|---|---|---|---|",
    ]
    for row in part["rows"]:
        rate = f" ({row['pairs_per_second']:.1e} pairs/s)" if "pairs_per_second" in row else ""
        memory = f"{row['memory']:g} GiB" if "memory" in row else ""
        used = f"{row['GiB']:.1f} GiB" if "GiB" in row else ""
        lines.append(f"| {row['what']}{rate} | {memory} | {row['seconds']:.2f} | {used} |")
    return "\n".join(lines)


def searches() -> str:
    found = read()
    titles = {
        "random": "random formulas", "further": "the further sets", "noise": "the paper's formulas, 1% noise",
        "deep": "two nodes that only the larger bank has",
    }  # fmt: skip
    lines = [
        f"| one core each ({made_by(found['searches'])}) | problems | seconds allowed | recovered, CPU | GPU | "
        "right form, CPU | GPU | mean seconds, CPU | GPU | searches that came to the GPU |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    every = [row for part in ("searches", "deep") for row in found.get(part, {}).get("rows", ())]
    for name, title in titles.items():
        sides = [[row for row in every if (row["part"], row["device"]) == (name, d)] for d in ("cpu", "cuda")]
        if not sides[0]:
            continue
        counts = [[sum(row[what] for row in side) for side in sides] for what in ("recovered", "form")]
        means = [f"{np.mean([row['seconds'] for row in side]):.1f}" for side in sides]
        used = sum(not row.get("same", False) for row in sides[1])
        cells = [len(sides[0]), f"{sides[0][0]['limit']:.0f}", *counts[0], *counts[1], *means, used]
        lines.append(f"| {title} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


# Stages by what they wait for: which of it a GPU takes over, and which it could.
WORK = {
    "all pairs of a bank (on the GPU)": ("pairs", "query_pairs", "pursuit"),
    "single nodes of a large bank (on the GPU)": ("singles", "factored_quotients"),
    "families": ("families",),
    "frequencies and phases": ("frequencies", "phases"),
    "groups": ("groups", "in_groups", "in_groups_again"),
    "fits, and changes to the best formulas": ("fits", "grafts", "blocks"),
}


def stages() -> str:
    """The share of each kind of work in a level's seconds."""
    part = read()["stages"]
    levels = sorted({row["level"] for row in part["rows"]})
    totals = {level: sum(row["seconds"] for row in part["rows"] if row["level"] == level) for level in levels}
    named = {stage for stages in WORK.values() for stage in stages}
    others = tuple(sorted({row["stage"] for row in part["rows"]} - named))
    heads = " | ".join(f"level {level}" for level in levels)
    lines = [
        f"| one core, no GPU ({part['machine']}, commit {part['commit']}) | {heads} |",
        "|---|" + "---|" * len(levels),
    ]
    for title, some in (*WORK.items(), ("the rest", others)):
        sums = [sum(r["seconds"] for r in part["rows"] if r["level"] == n and r["stage"] in some) for n in levels]
        shares = " | ".join(f"{part_of / totals[n]:.0%}" for part_of, n in zip(sums, levels, strict=True))
        lines.append(f"| {title} | {shares} |")
    seconds = " | ".join(f"{totals[level]:.0f}" for level in levels)
    return "\n".join([*lines, f"| seconds | {seconds} |"])


def networks() -> str:
    part = read()["networks"]
    lines = [
        f"| {part['rows'][0]['limit']:.0f} s each ({made_by(part)}) | problems | half of the time for networks is "
        "better | worse | median error, banks | banks and networks | networks alone, half of the time |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in dict.fromkeys(row["kind"] for row in part["rows"]):
        errors = [row["errors"] for row in part["rows"] if row["kind"] == kind]
        better = sum(e["both"] < BETTER * e["banks"] for e in errors)
        worse = sum(e["banks"] < BETTER * e["both"] for e in errors)
        medians = [f"{np.median([e[name] for e in errors]):.2g}" for name in ("banks", "both", "networks")]
        lines.append(f"| {kind} | {len(errors)} | {better} | {worse} | {' | '.join(medians)} |")
    return "\n".join(lines)
