"""Kernels for NVIDIA GPUs: for each tile of pairs of nodes, a bound of what its best pair explains.

A program makes the matrix products of one tile in registers, forms the bound of each pair from them, and gives out the
largest alone: the products themselves never reach the memory. `bank/gpu.py` says what the bounds are for, and has the
same in plain PyTorch, which these are tested against.

An operand is an array [rows, points], or with SPLIT two of half precision, high and low, whose sum it is: of their four
products the three that matter are added up. `left` holds several operands one below the other, each of `left_rows`
rows, and so does `right`. `off` is how far a product may be from its exact value, in units of what it is at most.
Triton compiles this when it is first run, so this module is imported only then.
"""

# mypy: ignore-errors
import triton
import triton.language as tl


@triton.jit
def _times(acc, high, low, other, other_low, SPLIT: tl.constexpr, PRECISION: tl.constexpr):
    acc = tl.dot(high, tl.trans(other), acc, input_precision=PRECISION)
    if SPLIT:
        acc = tl.dot(high, tl.trans(other_low), acc)
        acc = tl.dot(low, tl.trans(other), acc)
    return acc


@triton.jit
def _product(
    left, left_low, i, right, right_low, j, points,
    TILE: tl.constexpr, WIDE: tl.constexpr, STEP: tl.constexpr, SPLIT: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The product of one operand's rows from i on with another's from j on."""
    acc = tl.zeros((TILE, WIDE), dtype=tl.float32)
    for k in range(0, points, STEP):
        one, two = left.load([i, k]), right.load([j, k])
        one_low, two_low = one, two
        if SPLIT:
            one_low, two_low = left_low.load([i, k]), right_low.load([j, k])
        acc = _times(acc, one, one_low, two, two_low, SPLIT, PRECISION)
    return acc


@triton.jit
def _place(tiles_i, tiles_j, TILE: tl.constexpr, WIDE: tl.constexpr):
    """The tile of a program, and where its rows begin: a tile may be shared by several programs."""
    parts: tl.constexpr = TILE // WIDE
    tile = tl.program_id(0) // parts
    i = tl.load(tiles_i + tile) * TILE
    j = tl.load(tiles_j + tile) * TILE + (tl.program_id(0) % parts) * WIDE
    return tile, i, j


@triton.jit
def _keep_largest(out, bounds):
    tl.atomic_max(out, tl.max(tl.max(bounds, axis=1), axis=0), sem="relaxed")


@triton.jit
def products(
    left, left_low, right, right_low, tiles_i, tiles_j, out,
    left_rows, right_rows, points, regressions, tiles, off, least,
    TILE: tl.constexpr, WIDE: tl.constexpr, STEP: tl.constexpr, SPLIT: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Roots of the bounds, without fixed terms. `left`: weighted squares, weighted nodes, and the nodes times each
    target; `right`: nodes and squares. The products of the first target are made in one loop, so that a tile waits for
    its operands once."""
    tile, i, j = _place(tiles_i, tiles_j, TILE, WIDE)
    size = tl.zeros((TILE, WIDE), dtype=tl.float32)
    mean = tl.zeros((TILE, WIDE), dtype=tl.float32)
    along = tl.zeros((TILE, WIDE), dtype=tl.float32)
    for k in range(0, points, STEP):
        node, square = right.load([j, k]), right.load([right_rows + j, k])
        one, two, three = left.load([i, k]), left.load([left_rows + i, k]), left.load([2 * left_rows + i, k])
        node_low, square_low, one_low, two_low, three_low = node, square, one, two, three
        if SPLIT:
            node_low, square_low = right_low.load([j, k]), right_low.load([right_rows + j, k])
            one_low, two_low = left_low.load([i, k]), left_low.load([left_rows + i, k])
            three_low = left_low.load([2 * left_rows + i, k])
        size = _times(size, one, one_low, square, square_low, SPLIT, PRECISION)
        mean = _times(mean, two, two_low, node, node_low, SPLIT, PRECISION)
        along = _times(along, three, three_low, node, node_low, SPLIT, PRECISION)
    spread = tl.maximum(size * (1 - 3 * off) - mean * mean, least * size)
    scale = tl.where(size > 0, tl.rsqrt(spread), 0.0)
    error = 1.5 * off * tl.sqrt(size) * scale
    _keep_largest(out + tile, tl.abs(along) * scale + error)
    for r in range(1, regressions):
        along = _product(
            left, left_low, (2 + r) * left_rows + i, right, right_low, j, points, TILE, WIDE, STEP, SPLIT, PRECISION
        )
        _keep_largest(out + r * tiles + tile, tl.abs(along) * scale + error)


@triton.jit
def products_beside(
    left, left_low, right, right_low, tiles_i, tiles_j, starts, out,
    left_rows, right_rows, points, regressions, tiles, off, least,
    TILE: tl.constexpr, WIDE: tl.constexpr, STEP: tl.constexpr, SPLIT: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The same beside fixed terms: the operands of a regression, from its start to the next one's, are the nodes times
    each of its fixed terms, and last times its target."""
    tile, i, j = _place(tiles_i, tiles_j, TILE, WIDE)
    size = _product(left, left_low, i, right, right_low, right_rows + j, points, TILE, WIDE, STEP, SPLIT, PRECISION)
    mean = _product(left, left_low, left_rows + i, right, right_low, j, points, TILE, WIDE, STEP, SPLIT, PRECISION)
    beside_constant = size - mean * mean
    for r in range(regressions):
        first, last = tl.load(starts + r), tl.load(starts + r + 1) - 1
        spread = beside_constant - 3 * off * (1 + last - first) * size
        for q in range(first, last):
            part = _product(
                left, left_low, q * left_rows + i, right, right_low, j, points, TILE, WIDE, STEP, SPLIT, PRECISION
            )
            spread -= part * part
        along = _product(
            left, left_low, last * left_rows + i, right, right_low, j, points, TILE, WIDE, STEP, SPLIT, PRECISION
        )
        scale = tl.where(size > 0, tl.rsqrt(tl.maximum(spread, least * size)), 0.0)
        _keep_largest(out + r * tiles + tile, (tl.abs(along) + 1.5 * off * tl.sqrt(size)) * scale)


@triton.jit
def sums(
    left, left_low, right, right_low, tiles_i, tiles_j, along_left, along_right, out,
    left_rows, right_rows, points, regressions, tiles, off, least,
    TILE: tl.constexpr, WIDE: tl.constexpr, STEP: tl.constexpr, SPLIT: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The bounds for sums of two nodes, which are of length 1 beside all fixed terms; `along` are their products with
    each target."""
    tile, i, j = _place(tiles_i, tiles_j, TILE, WIDE)
    alike = _product(left, left_low, i, right, right_low, j, points, TILE, WIDE, STEP, SPLIT, PRECISION)
    inverse = 1 / tl.maximum(1 - 2 * off - alike * alike, least)
    for r in range(regressions):
        one = tl.load(along_left + r * left_rows + i + tl.arange(0, TILE))[:, None]
        two = tl.load(along_right + r * right_rows + j + tl.arange(0, WIDE))[None, :]
        beside = tl.abs(one - two * alike) + off * (tl.abs(one) + tl.abs(two))
        _keep_largest(out + r * tiles + tile, beside * beside * inverse + two * two)
