"""The scan of all pairs on a GPU: a filter in low precision whose bounds hold, and double precision for the few best.

The gains are those of `bank/scan.py`, in two steps. First a *bound* for each tile of 128 x 128 pairs: no pair in it
explains more. Bounds are made from numbers of 11 to 17 bits, which GPUs multiply many times as fast as others. How far
a sum of such products can be off is known: by `off`, some 1e-5 to 1e-3, times the most that it can be. With
P = |f g|^2, the numerator N and the sums A and S_q are at most the root of P, so

    gain <= (|N| + 1.5 off P^(1/2))^2 / max(P (1 - 3 off (1 + number of q)) - A^2 - sum_q S_q^2, 1e-4 P)

Then the tiles with the largest bounds of each complexity are scored in double precision, until no tile that is left has
a bound above the `keep`th best pair. So what comes out are the best pairs in double precision, however rough the filter
is: a rougher one only leaves more tiles to look at.

Bounds are made by the kernels of `bank/kernels.py` where Triton is there and the GPU is recent enough, and else by
PyTorch in single precision. The nodes are put on the GPU once; the operands of the products are made there, for blocks
of nodes that fit the memory asked for.
"""

import importlib.util
import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.best import LEAST_GAIN, Pairs
from prunesymnet.bank.regression import Regression, Residual, unexplained
from prunesymnet.bank.scan import CANCELLED
from prunesymnet.bank.tiles import Layout, tiles_of
from prunesymnet.optional import import_torch

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

TILE = 128  # nodes along a side of a tile: of such matrices, the registers of a multiprocessor hold three
STEP = 32  # points that a kernel multiplies at a time: rows are filled up to a multiple of it
FIRST_LOOK = 16  # tiles of each complexity that are scored before the bounds say which others must be
AT_A_TIME = 4096  # tiles that are scored before the bounds are looked at again
MANY = 0.03  # of the tiles: to look at more costs more than bounds of a higher precision (measured on an H200)
STRIP = 8 * TILE  # rows of a bank whose bounds PyTorch makes at a time
EXACT = 1 - 1e-12  # of the variation: nothing explains more but by rounding
DEPENDENT = 1e-12  # of a node's variation: what fixed terms leave of it is rounding
LEAST_CAPABILITY = (9, 0)  # of a GPU for the kernels: these have its operands brought by its copy engine
# The filter's numbers in the kernels, rough ones first where these mostly do, and in PyTorch.
ROUGH, FUSED, PLAIN = "tf32", "bf16x3", "float32"
# Of a product of two numbers, relative to it. Of bf16x3, two numbers of 8 bits each, three of four products are made.
ROUNDING = {"bf16x3": 3 * 2.0**-18, "tf32": 2.0**-10, "float32": 2.0**-23}
ADDING = 2.0**-24  # the same of a sum, for each of its terms
# Columns of a tile that one program of a kernel takes, so that its matrices fit the registers; and how many loads of
# operands it has under way.
WIDE = {"products": (128, 2), "products_beside": (64, 3), "sums": (128, 2)}
FORMED = 1e-6  # of a bound: more than it is rounded by where it is formed from the products, in single precision
FOR_OPERANDS, FOR_TILES = 0.5, 0.25  # of the memory: for the filter's matrices, for tiles in double precision
MATRICES = 8  # of a tile in double precision, at the same time


@dataclass(frozen=True)
class Placed:
    """A bank on a device: `values` [rows, points] in tiles, zeros where there is no node. `fused`: bounds come from the
    kernels; `filters`: the precision of the bounds' numbers, the next where the one before leaves too much to look at
    (of ROUNDING; None: those that are fastest)."""

    torch: Any
    device: str
    memory: float
    layout: Layout
    values: Any
    fused: bool
    filters: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        values: Array,
        complexity: Numbers,
        device: str,
        memory: float = 2.0,
        filters: tuple[str, ...] | None = None,
    ) -> "Placed":
        """The nodes must be in order of complexity; `memory` is in GiB."""
        torch = import_torch(f"device={device!r}")
        layout = Layout.of(complexity, TILE)
        where = "cpu" if device.startswith("mps") else device  # Apple's GPUs have no double precision
        nodes = torch.as_tensor(layout.nodes, device=where)
        placed = torch.as_tensor(values, device=where)[nodes.clamp(min=0)]
        placed[nodes < 0] = 0.0
        return cls(torch, device, memory, layout, placed, has_kernels(torch, device), filters)

    @property
    def points(self) -> int:
        return int(self.values.shape[1])

    @cached_property
    def sides(self) -> tuple[Any, Any]:
        """The tiles of nodes on the left and on the right of all tiles of pairs."""
        count, device = len(self.layout), self.values.device
        left, right = self.torch.triu_indices(count, count, dtype=self.torch.int32, device=device)
        return left, right

    @cached_property
    def by_level(self) -> tuple[Any, Any]:
        """The complexities of all tiles of pairs, as numbers from 0 on, and how many there are of each."""
        sizes = self.put(self.layout.complexity)
        size = sizes[self.sides[0].long()] + sizes[self.sides[1].long()]
        _, level, counts = self.torch.unique(size, return_inverse=True, return_counts=True)
        return level, counts

    @cached_property
    def all_at_once(self) -> tuple[Any, Any]:
        """All tiles in the order in which a kernel goes through them."""
        whole = slice(0, len(self.layout))
        left, right = tiles_of(whole, whole)
        return self.put(left), self.put(right)

    @cached_property
    def is_node(self) -> Any:
        return self.put(self.layout.nodes >= 0).view(-1, TILE)

    def off(self, precision: str) -> float:
        """How far a product of the filter may be off, relative to the most that it can be."""
        return ROUNDING[precision] + self.points * ADDING

    def of_tiles(self, values: Any, tiles: Any) -> Any:
        """Of values [rows, ...] those of some tiles of nodes [tiles, TILE, ...]."""
        return values.view(len(self.layout), TILE, *values.shape[1:])[tiles.long()]

    def place(self, left: Any, right: Any) -> Any:
        """Where tiles of pairs stand among all of them."""
        return left * len(self.layout) - left * (left + 1) // 2 + right

    def put(self, values: Any) -> Any:
        return self.torch.as_tensor(values, device=self.values.device)


def has_kernels(torch: Any, device: str) -> bool:
    return (
        device.startswith("cuda")
        and importlib.util.find_spec("triton") is not None
        and torch.cuda.get_device_capability(device) >= LEAST_CAPABILITY
    )


def scan_placed(placed: Placed, regressions: list[Regression], *, products: bool = True, keep: int = 10) -> list[Pairs]:
    """For each regression, the `keep` best pairs of each complexity, as `scan.scan` gives them."""
    groups: dict[tuple[bytes, bytes], list[int]] = {}
    for k, one in enumerate(regressions):
        weights = b"" if one.weights is None else one.weights.tobytes()
        fixed = b"" if products or one.fixed_terms is None else one.fixed_terms.tobytes()
        groups.setdefault((weights, fixed), []).append(k)
    kind: type[_Products] | type[_Sums] = _Products if products else _Sums
    out: dict[int, Pairs] = {}
    for members in groups.values():
        residuals = [Residual.of(regressions[k]) for k in members]
        scores = kind.of(placed, residuals)
        explained = np.array([residual.explained for residual in residuals])
        out |= zip(members, _best_pairs(placed, scores, explained, keep), strict=True)
    return [out[k] for k in range(len(regressions))]


def scan_singles_placed(
    placed: Placed, regressions: list[Regression], *, keep: int = 10
) -> list[list[tuple[int, float]]]:
    """For each regression the `keep` best nodes of each complexity, one node alone, and what it leaves unexplained, as
    `scan.scan_singles` gives them; scored in double precision."""
    torch, residuals = placed.torch, [Residual.of(regression) for regression in regressions]
    largest = placed.values.abs().amax(dim=1, keepdim=True)
    inverse = torch.where(largest > 0, 1 / largest, 0.0)
    most = max(len(residual.basis) for residual in residuals)
    columns = [
        np.array([residual.root**2 for residual in residuals]),
        np.array([residual.values * residual.root for residual in residuals]),
        *(np.array([_term(residual, k) for residual in residuals]) for k in range(1, most)),
    ]
    weights, targets, *fixed = (placed.put(part).T for part in columns)
    gains = []
    # A block of nodes, their squares, and what they have of each regression, in double precision.
    step = max(int(FOR_OPERANDS * placed.memory * 2**30 / (8 * (3 * placed.points + 5 * len(regressions)))), 1)
    for start in range(0, len(placed.values), step):
        part = slice(start, start + step)
        nodes = placed.values[part] * inverse[part]
        sizes = nodes.square() @ weights
        spread = sizes - (nodes @ weights).square()
        for term in fixed:
            spread -= (nodes @ term).square()
        gain = torch.where(spread > CANCELLED * sizes, (nodes @ targets).square() / spread, 0.0)
        gain[~placed.is_node.view(-1)[part]] = -1.0
        gains.append(gain)
    gain, rows = torch.cat(gains), np.repeat(placed.layout.complexity, TILE)
    edges = [0, *(np.flatnonzero(np.diff(rows)) + 1).tolist(), len(rows)]
    best = []
    for low, high in itertools.pairwise(edges):
        count = min(keep, int((placed.layout.nodes[low:high] >= 0).sum()))
        best.append(low + torch.topk(gain[low:high], count, dim=0).indices)
    chosen = torch.cat(best).T.contiguous()
    values = placed.values[chosen].cpu().numpy()
    numbers = placed.layout.nodes[chosen.cpu().numpy()]
    out = []
    for k, regression in enumerate(regressions):
        left = unexplained(values[k][:, None], regression)
        out.append([(int(i), float(e)) for i, e in zip(numbers[k], left, strict=True)])
    return out


def _term(residual: Residual, number: int) -> Array:
    """A fixed term, weighted; zeros where there are fewer."""
    return residual.basis[number] * residual.root if number < len(residual.basis) else 0 * residual.root


# ---- what the bounds leave to be looked at ------------------------------------------------------------


class _Scores(Protocol):
    """What pairs explain of what is left of several targets."""

    @property
    def filters(self) -> tuple[str, ...]:
        """The precisions of the filter, the fastest first."""

    def bounds(self, precision: str) -> Any:
        """For each target and tile of pairs, what its best pair explains at most."""

    def exact(self, which: Any, left: Any, right: Any) -> Any:
        """For some targets, each with a tile of pairs: what the pairs explain, in double precision."""


class _Found(NamedTuple):
    """Pairs of nodes, for each the target and the number of its complexity."""

    target: Numbers
    level: Numbers
    gain: Array
    left: Numbers
    right: Numbers

    def joined(self, other: "_Found | None", keep: int) -> "_Found":
        """The `keep` best of both for each target and complexity, the best first."""
        if other is not None:
            both = zip(self, other, strict=True)
            return _Found._make(map(np.concatenate, both)).joined(None, keep)
        order = np.lexsort((self.right, self.left, -self.gain, self.level, self.target))
        target, level = self.target[order], self.level[order]
        new = np.flatnonzero(np.r_[True, (np.diff(target) != 0) | (np.diff(level) != 0)]) if len(order) else order
        rank = np.arange(len(order)) - np.repeat(new, np.diff(np.r_[new, len(order)]))
        return _Found._make(part[order[rank < keep]] for part in self)

    def least(self, keep: int, start: Array, levels: int) -> Array:
        """What a pair must explain to be among the `keep` best [targets, levels]; what is exact is not to be beaten."""
        out = np.repeat(start[:, None], levels, axis=1)
        full = np.zeros(out.shape, dtype=np.int64)
        np.add.at(full, (self.target, self.level), 1)
        worst = np.full(out.shape, np.inf)
        np.minimum.at(worst, (self.target, self.level), self.gain)
        out = np.where(full >= keep, np.maximum(out, worst), out)
        return np.where(out >= EXACT, np.inf, out)


def _best_pairs(placed: Placed, scores: _Scores, explained: Array, keep: int) -> list[Pairs]:
    torch, (level, counts) = placed.torch, placed.by_level
    filters = list(scores.filters)
    bounds = scores.bounds(filters.pop(0))
    left = np.maximum(1 - explained, 0.0)
    with np.errstate(all="ignore"):
        start = np.where(left > 0, np.maximum(LEAST_GAIN - explained, 0.0) / left, np.inf)
    which, tile = _largest(placed, bounds)
    looked = torch.zeros(bounds.shape, dtype=torch.bool, device=bounds.device)
    found = None
    while len(which):
        looked[which, tile] = True
        found = _look(placed, scores, which, tile, keep).joined(found, keep)
        least = placed.put(found.least(keep, start, len(counts)))
        which, tile = torch.nonzero((bounds > least[:, level]) & ~looked, as_tuple=True)
        if filters and len(which) > MANY * bounds.numel():
            bounds = scores.bounds(filters.pop(0))
            which, tile = torch.nonzero((bounds > least[:, level]) & ~looked, as_tuple=True)
        if len(which) > AT_A_TIME:
            chosen = torch.topk(bounds[which, tile], AT_A_TIME).indices
            which, tile = which[chosen], tile[chosen]
    if found is None:
        return [Pairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)) for _ in explained]
    out, nodes = [], placed.layout.nodes
    for k, one in enumerate(explained):
        mine = (found.target == k) & (found.gain > start[k])
        out.append(Pairs(nodes[found.left[mine]], nodes[found.right[mine]], one + left[k] * found.gain[mine]))
    return out


def _largest(placed: Placed, bounds: Any) -> tuple[Any, Any]:
    """Targets and tiles: of each complexity those with the largest bounds."""
    torch, (level, counts) = placed.torch, placed.by_level
    order = torch.argsort(bounds, dim=1, descending=True)
    order = order.gather(1, torch.argsort(level[order], dim=1, stable=True))
    first = torch.cumsum(counts, 0) - counts
    among = torch.arange(FIRST_LOOK, device=bounds.device)
    places = (first[:, None] + among)[among < counts[:, None]]
    which = torch.arange(len(bounds), device=bounds.device)[:, None].expand(-1, len(places))
    return which.reshape(-1), order[:, places].reshape(-1)


def _look(placed: Placed, scores: _Scores, which: Any, tile: Any, keep: int) -> _Found:
    """The best pairs of some tiles, in double precision."""
    torch, level = placed.torch, placed.by_level[0]
    of_a_tile = 8 * MATRICES * TILE * (TILE + placed.points)
    step = max(int(FOR_TILES * placed.memory * 2**30 / of_a_tile), 1)
    upper = torch.ones(TILE, TILE, dtype=torch.bool, device=tile.device).triu()
    parts = []
    for start in range(0, len(tile), step):
        part = slice(start, start + step)
        left, right = (side[tile[part]].long() for side in placed.sides)
        gain = scores.exact(which[part], left, right)
        # Not a number where there is no node, or where two nodes are nowhere both different from zero.
        gain = torch.where((gain <= 2) & (upper | (left != right)[:, None, None]), gain, 0.0)
        gain, place = torch.topk(gain.flatten(1), min(keep, TILE * TILE), dim=1)
        one, two = left[:, None] * TILE + place // TILE, right[:, None] * TILE + place % TILE
        target, size = (a[:, None].expand(gain.shape) for a in (which[part], level[tile[part]]))
        parts.append(torch.stack([gain, *(a.double() for a in (target, size, one, two))]).flatten(1))  # one way back
    gain, *numbers = torch.cat(parts, dim=1).cpu().numpy()
    target, size, one, two = (a[gain > 0].astype(np.int64) for a in numbers)
    return _Found(target, size, gain[gain > 0], one, two)


# ---- the filter ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Operands:
    """Matrices [rows, points] one below the other; `low` is what `high` lacks, where numbers are split in two."""

    high: Any
    low: Any
    rows: int

    @classmethod
    def of(cls, parts: Iterable[Any], count: int, rows: int, placed: Placed, precision: str) -> "_Operands":
        """Of `count` matrices in double precision, made one by one."""
        torch, points = placed.torch, placed.points
        shape = count, rows, -(-points // STEP) * STEP
        full = torch.zeros(shape, dtype=torch.float32, device=placed.device)
        for k, part in enumerate(parts):
            full[k, :, :points] = part
        full = full.view(-1, shape[2])
        if precision == "bf16x3":
            high = full.to(torch.bfloat16)
            return cls(high, (full - high).to(torch.bfloat16), rows)
        if precision == "tf32":  # rounded to 11 bits, since the units that multiply only cut off the rest
            bits = full.view(torch.int32)
            full = ((bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFF).view(torch.float32)
        return cls(full, full, rows)

    def part(self, number: int, rows: slice) -> Any:
        """One of the matrices in single precision, some of its rows."""
        chosen = slice(number * self.rows + rows.start, number * self.rows + rows.stop)
        high = self.high[chosen].float()
        return high if self.low is self.high else high + self.low[chosen].float()


def _each_block(placed: Placed, count: int, regressions: int, run: Callable[[slice, slice, Any, Any], Any]) -> Any:
    """The bounds [regressions, tiles] that `run` gives for pairs of blocks of nodes, so large that `count` operands of
    each fit the memory."""
    points = -(-placed.points // STEP) * STEP
    # Eight bytes of each operand's numbers while it is made, and three matrices that they are made from.
    most = int(FOR_OPERANDS * placed.memory * 2**30 / (TILE * points * (4 * 2 * count + 3 * 8)))
    blocks = placed.layout.blocks(most)
    count, device = len(placed.sides[0]), placed.values.device
    out = placed.torch.zeros(regressions, count, dtype=placed.torch.float32, device=device)
    for k, a in enumerate(blocks):
        for b in blocks[k:]:
            left, right = placed.all_at_once if len(blocks) == 1 else map(placed.put, tiles_of(a, b))
            with nullcontext() if placed.fused else _full_precision(placed.torch):
                found = run(a, b, (left - a.start).int(), (right - b.start).int())
            out[:, placed.place(left, right)] = found.to(out.device)
    return out.mul_(1 + FORMED)


@contextmanager
def _full_precision(torch: Any) -> Iterator[None]:
    """PyTorch's matrix products in single precision, whatever the program has set: the bounds count on it."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _launch(
    name: str, precision: str, placed: Placed, left: _Operands, right: _Operands, lefts: Any, rights: Any, *more: Any
) -> Any:
    """Run a kernel on tiles; `more` are its further arrays, and last the number of regressions."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    from prunesymnet.bank import kernels

    *arrays, regressions = more
    wide, stages = WIDE[name]
    out = placed.torch.zeros(regressions, len(lefts), dtype=placed.torch.float32, device=placed.device)
    descriptors = [
        TensorDescriptor(part, list(part.shape), list(part.stride()), [high, STEP])
        for operands, high in ((left, TILE), (right, wide))
        for part in (operands.high, operands.low)
    ]
    with placed.torch.cuda.device(placed.device):  # Triton runs on the one that is current
        getattr(kernels, name)[(len(lefts) * (TILE // wide),)](
            *descriptors, lefts, rights, *arrays, out, left.rows, right.rows, left.high.shape[1], regressions,
            len(lefts), placed.off(precision), CANCELLED, TILE=TILE, WIDE=wide, STEP=STEP,
            SPLIT=precision == "bf16x3", PRECISION="tf32" if precision == "tf32" else "ieee", num_warps=8,
            num_stages=stages,
        )  # fmt: skip
    return out


def _tile_maxima(matrix: Any) -> Any:
    return matrix.view(matrix.shape[0] // TILE, TILE, -1, TILE).amax(dim=(1, 3))


@dataclass(frozen=True, slots=True)
class _Products:
    """Of products of two nodes, for regressions that weight the rows alike."""

    placed: Placed
    weights: Any  # [points], of sum 1
    scale: Any  # of each node: of mean square 1 with it
    targets: Any  # [regressions, points], of length 1, weighted
    fixed: list[list[Any]]

    @classmethod
    def of(cls, placed: Placed, residuals: list[Residual]) -> "_Products":
        root = placed.put(residuals[0].root)
        mean_square = placed.values.square() @ (root * root)
        scale = placed.torch.where(mean_square > 0, mean_square.rsqrt(), 0.0)
        targets = placed.put(np.array([_unit(residual.values) * residual.root for residual in residuals]))
        fixed = [[placed.put(q * residual.root) for q in residual.basis[1:]] for residual in residuals]
        return cls(placed, root * root, scale, targets, fixed)

    def nodes(self, tiles: Any) -> Any:
        """Of some tiles, in double precision [tiles, TILE, points]."""
        return self.placed.of_tiles(self.placed.values, tiles) * self.placed.of_tiles(self.scale, tiles)[:, :, None]

    def exact(self, which: Any, left: Any, right: Any) -> Any:
        torch, one, two = self.placed.torch, self.nodes(left), self.nodes(right)
        turned = two.transpose(1, 2)
        size = (one.square() * self.weights) @ turned.square()
        spread = torch.maximum(size - ((one * self.weights) @ turned).square(), CANCELLED * size)
        most = max(len(fixed) for fixed in self.fixed)
        if most:
            none = torch.zeros_like(self.weights)
            for k in range(most):
                terms = torch.stack([fixed[k] if k < len(fixed) else none for fixed in self.fixed])
                spread = spread - ((one * terms[which][:, None]) @ turned).square()
            spread = torch.maximum(spread, CANCELLED * size)
        return ((one * self.targets[which][:, None]) @ turned).square() / spread

    @property
    def filters(self) -> tuple[str, ...]:
        fastest = (PLAIN,) if not self.placed.fused else (FUSED,) if any(self.fixed) else (ROUGH, FUSED)
        return self.placed.filters or fastest

    def bounds(self, precision: str) -> Any:
        placed = self.placed
        every = [term for target, fixed in zip(self.targets, self.fixed, strict=True) for term in (*fixed, target)]
        starts = placed.put(np.cumsum([2, *(len(fixed) + 1 for fixed in self.fixed)])).int()

        def rows(block: slice) -> Any:
            mine = slice(block.start * TILE, block.stop * TILE)
            return placed.values[mine] * self.scale[mine, None]

        def run(a: slice, b: slice, lefts: Any, rights: Any) -> Any:
            one = rows(a)
            two = one if a == b else rows(b)
            factors = (None, self.weights, *every)
            left = (one.square() * self.weights if factor is None else one * factor for factor in factors)
            right = (two if k == 0 else two.square() for k in range(2))
            operands = (
                _Operands.of(left, len(factors), len(one), placed, precision),
                _Operands.of(right, 2, len(two), placed, precision),
            )
            if not placed.fused:
                return self.plain(precision, *operands, starts.tolist())[:, lefts.long(), rights.long()]
            more = ("products_beside", starts) if any(self.fixed) else ("products",)
            return _launch(more[0], precision, placed, *operands, lefts, rights, *more[1:], len(self.fixed))

        roots = _each_block(placed, len(every) + 4, len(self.fixed), run)
        return roots.square_().clamp_(max=1.0)

    def plain(self, precision: str, left: _Operands, right: _Operands, starts: list[int]) -> Any:
        """The roots of the bounds by PyTorch, a strip of tiles at a time [regressions, tiles on the left, right]."""
        torch, off = self.placed.torch, self.placed.off(precision)
        every = slice(0, right.rows)
        node, square = right.part(0, every).T, right.part(1, every).T
        strips = []
        for low in range(0, left.rows, STRIP):
            rows = slice(low, min(low + STRIP, left.rows))
            size = left.part(0, rows) @ square
            least, error = CANCELLED * size, 1.5 * off * size.sqrt()
            base = size - (left.part(1, rows) @ node).square()
            strip = []
            for first, end in itertools.pairwise(starts):
                spread = base - 3 * off * (end - first) * size
                for q in range(first, end - 1):
                    spread = spread - (left.part(q, rows) @ node).square()
                along = (left.part(end - 1, rows) @ node).abs() + error
                bound = along * torch.where(size > 0, torch.maximum(spread, least).rsqrt(), 0.0)
                strip.append(_tile_maxima(bound))
            strips.append(torch.stack(strip))
        return torch.cat(strips, dim=1).to(self.placed.values.device)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Of sums of two nodes, for regressions with the same weights and fixed terms."""

    placed: Placed
    root: Any
    basis: Any  # of the fixed terms, the constant first, weighted
    scale: Any  # of each node: of length 1 with it, centred
    parts: Any  # [nodes, fixed terms]: what the nodes have of these
    left_over: Any  # of each node, beside these
    sizes: Any  # the same, not below what single precision would lose; inf where there is no node
    along: Any  # [regressions, nodes]

    @classmethod
    def of(cls, placed: Placed, residuals: list[Residual]) -> "_Sums":
        torch = placed.torch
        root, basis = placed.put(residuals[0].root), placed.put(residuals[0].basis)
        targets = placed.put(np.array([_unit(residual.values) for residual in residuals]))
        centred = placed.values * root
        centred -= torch.outer(centred @ root, root)
        square = (centred * centred).sum(dim=1)
        scale = torch.where(square > 0, square.rsqrt(), 0.0)
        parts = (centred @ basis[1:].T) * scale[:, None]
        left_over = 1 - parts.square().sum(dim=1)
        sizes = torch.where(placed.is_node.view(-1), left_over.clamp(CANCELLED, 1.0), torch.inf)
        return cls(placed, root, basis, scale, parts, left_over, sizes, (targets @ centred.T) * scale)

    def nodes(self, tiles: Any) -> Any:
        """Of some tiles, in double precision, centred and of length 1 [tiles, TILE, points]."""
        out = self.placed.of_tiles(self.placed.values, tiles) * self.root
        out -= (out @ self.root)[:, :, None] * self.root
        return out * self.placed.of_tiles(self.scale, tiles)[:, :, None]

    def exact(self, which: Any, left: Any, right: Any) -> Any:
        of_tiles = self.placed.of_tiles
        alike = self.nodes(left) @ self.nodes(right).transpose(1, 2)
        alike -= of_tiles(self.parts, left) @ of_tiles(self.parts, right).transpose(1, 2)
        size = self.sizes
        one, two = of_tiles(size, left)[:, :, None], of_tiles(size, right)[:, None, :]
        along = self.along.view(len(self.along), len(self.placed.layout), TILE)
        u, v = along[which, left][:, :, None], along[which, right][:, None, :]
        return (u * u * two + v * v * one - 2 * u * v * alike) / (one * two - alike * alike).clamp(min=CANCELLED)

    @property
    def filters(self) -> tuple[str, ...]:
        return self.placed.filters or ((FUSED,) if self.placed.fused else (PLAIN,))

    def bounds(self, precision: str) -> Any:
        placed, torch = self.placed, self.placed.torch
        usable = self.left_over > DEPENDENT
        longer = torch.where(usable, self.left_over.rsqrt(), 0.0)
        along = (self.along * longer).float().to(placed.device)

        def rows(block: slice) -> _Operands:
            mine = slice(block.start * TILE, block.stop * TILE)
            nodes = placed.values[mine] * self.root
            nodes -= (nodes @ self.basis.T) @ self.basis
            nodes *= (self.scale * longer)[mine, None]
            return _Operands.of([nodes], 1, len(nodes), placed, precision)

        def run(a: slice, b: slice, lefts: Any, rights: Any) -> Any:
            left = rows(a)
            right = left if a == b else rows(b)
            one, two = (along[:, block.start * TILE : block.stop * TILE].contiguous() for block in (a, b))
            if placed.fused:
                return _launch("sums", precision, placed, left, right, lefts, rights, one, two, len(along))
            return self.plain(precision, left, right, one, two)[:, lefts.long(), rights.long()]

        return _each_block(placed, 2, len(along), run).clamp_(max=1.0)

    def plain(self, precision: str, left: _Operands, right: _Operands, one: Any, two: Any) -> Any:
        """The bounds by PyTorch, a strip of tiles at a time [regressions, tiles on the left, right]."""
        torch, off = self.placed.torch, self.placed.off(precision)
        nodes, strips = right.part(0, slice(0, right.rows)).T, []
        for low in range(0, left.rows, STRIP):
            rows = slice(low, min(low + STRIP, left.rows))
            alike = left.part(0, rows) @ nodes
            inverse = 1 / torch.clamp(1 - 2 * off - alike.square(), min=CANCELLED)
            strip = []
            for u, v in zip(one[:, rows, None], two[:, None, :], strict=True):
                beside = (u - v * alike).abs() + off * (u.abs() + v.abs())
                strip.append(_tile_maxima(beside.square() * inverse + v.square()))
            strips.append(torch.stack(strip))
        return torch.cat(strips, dim=1).to(self.placed.values.device)


def _unit(values: Array) -> Array:
    """Of length 1, where there is anything."""
    length = np.sqrt(values @ values)
    return values / length if length > 0 else values
