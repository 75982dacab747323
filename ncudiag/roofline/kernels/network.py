"""Kernels of neural networks: layernorm, softmax, attention, conv2d."""

from __future__ import annotations

from ncudiag.errors import UsageError
from ncudiag.roofline.kernels.work import KernelWork


def layernorm(*, e: float, rows: int | None = None, cols: int | None = None, variant: str = "fused") -> KernelWork:
    """Normalise each row to mean 0 and variance 1, then scale and shift it.

    FLOPs = 8 rows cols; bytes = (2 rows cols + 2 cols) e fused, (4 rows cols + 2 cols) e naive

    For each element: 1 for the mean, 3 for the variance (subtract, square, add), 2 to normalise (subtract, multiply),
    2 to scale and shift. Fused: a row is read once, stays on chip, and is written once. Naive: mean, variance and the
    result each read it. Both read the scale and the shift of each column; the square root of each row is left out.

    Args:
        e: bytes per element.
        rows: of the array.
        cols: elements of a row; without sizes the work is that of one element.
        variant: ``fused`` or ``naive``.
    """
    formula = "FLOPs = 8 rows cols; bytes = (2 rows cols + 2 cols) e fused, (4 rows cols + 2 cols) e naive"
    passes = 2 if variant == "fused" else 4
    if not (rows and cols):
        return KernelWork(8.0, passes * e, formula, "element")
    return KernelWork(8.0 * rows * cols, e * (passes * rows * cols + 2 * cols), formula)


def softmax(*, e: float, rows: int | None = None, cols: int | None = None, variant: str = "fused") -> KernelWork:
    """Turn each row into probabilities, with its maximum subtracted first.

    FLOPs = 5 rows cols; bytes = 2 rows cols e fused, 4 rows cols e naive

    For each element: maximum, subtract, exponential, add, divide, each counted as one. Fused: a row is read once,
    stays on chip, and is written once. Naive: maximum, sum and result each read it.

    Args:
        e: bytes per element.
        rows: of the array.
        cols: elements of a row; without sizes the work is that of one element.
        variant: ``fused`` or ``naive``.
    """
    formula = "FLOPs = 5 rows cols; bytes = 2 rows cols e fused, 4 rows cols e naive"
    elements = rows * cols if rows and cols else None
    passes = 2 if variant == "fused" else 4
    return KernelWork(5.0 * (elements or 1), passes * e * (elements or 1), formula, None if elements else "element")


def attention(
    *,
    e: float,
    seq: int,
    head_dim: int,
    queries: int | None = None,
    heads: int = 1,
    batch: int = 1,
    variant: str = "fused",
) -> KernelWork:
    """Compute softmax(Q K^T) V for each head.

    FLOPs = 4 q s d h b; bytes = (2 q d + 2 s d) e h b fused, (2 q d + 2 s d + 4 q s) e h b naive

    s = seq (keys and values), q = queries (as many as seq unless given: 1 while decoding), d = head_dim, h = heads,
    b = batch. Two matrix products of 2 q s d each; the softmax between them is left out. Fused (FlashAttention): Q, K
    and V are read and the output is written, the q x s scores stay on chip. Naive: the scores are written by the
    first product, read and written by the softmax, and read by the second. No causal mask, no shared K and V.

    Args:
        e: bytes per element.
        seq: keys and values.
        head_dim: elements of a head.
        queries: queries per sequence.
        heads: heads.
        batch: sequences.
        variant: ``fused`` or ``naive``.
    """
    formula = "FLOPs = 4 q s d h b; bytes = (2 q d + 2 s d) e h b fused, (2 q d + 2 s d + 4 q s) e h b naive"
    q, many = queries or seq, heads * batch
    scores = 0 if variant == "fused" else 4 * q * seq
    return KernelWork(
        4.0 * q * seq * head_dim * many, e * (2 * q * head_dim + 2 * seq * head_dim + scores) * many, formula
    )


def conv2d(
    *,
    e: float,
    in_channels: int,
    out_channels: int,
    height: int,
    width: int,
    batch: int = 1,
    filter_size: int = 3,
    stride: int = 1,
    padding: int = 0,
    variant: str = "fused",
) -> KernelWork:
    """Convolve images with square filters.

    FLOPs = 2 b o p q c r^2; bytes = (b c h w + o c r^2 + b o p q) e fused, 2 b p q c r^2 e more naive

    b = batch, c and o = channels in and out, h x w = image, r = filter_size; the output is p x q with
    p = floor((h + 2 padding - r) / stride) + 1. Fused (implicit GEMM): images and filters are read once, the output is
    written once. Naive (im2col): the matrix of patches, b p q c r^2 elements, is written and read as well.

    Args:
        e: bytes per element.
        in_channels: c.
        out_channels: o.
        height: h.
        width: w.
        batch: images.
        filter_size: edge of the filter.
        stride: step of the filter.
        padding: rows and columns of zeros on each side.
        variant: ``fused`` or ``naive``.

    Raises:
        UsageError: the filter is larger than the padded image (``usage``).
    """
    formula = "FLOPs = 2 b o p q c r^2; bytes = (b c h w + o c r^2 + b o p q) e fused, 2 b p q c r^2 e more naive"
    p, q = ((edge + 2 * padding - filter_size) // stride + 1 for edge in (height, width))
    if p < 1 or q < 1:
        raise UsageError(
            "usage",
            f"a filter of {filter_size} x {filter_size} does not fit into {height} x {width} with padding {padding}",
            "Give a smaller --filter-size, or more --padding.",
        )
    patch = in_channels * filter_size**2
    patches = 0 if variant == "fused" else 2 * batch * p * q * patch
    moved = batch * in_channels * height * width + out_channels * patch + batch * out_channels * p * q + patches
    return KernelWork(2.0 * batch * out_channels * p * q * patch, e * moved, formula)
