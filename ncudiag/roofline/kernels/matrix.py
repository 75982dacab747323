"""Kernels of linear algebra: gemm, gemv, spmv."""

from __future__ import annotations

from math import ceil

from ncudiag.roofline.kernels.work import KernelWork


def gemm(
    *, e: float, m: int | None = None, n: int | None = None, k: int | None = None, tile: int | None = None
) -> KernelWork:
    """Multiply an m x k matrix A with a k x n matrix B into an m x n matrix C.

    FLOPs = 2 m n k; bytes = (m k + k n + m n) e

    That is each matrix moved once, which needs all reuse to happen on chip. With tiles of T x T elements of C, A is
    read for each of the ceil(n / T) columns of tiles and B for each of the ceil(m / T) rows:

    FLOPs = 2 m n k; bytes = (m k ceil(n / T) + k n ceil(m / T) + m n) e

    Without sizes the work is that of one step of one tile, which loads a tile of A and one of B. T = 1 is the naive
    kernel without any reuse: 2 FLOPs and 2 elements for each multiply-add.

    FLOPs = 2 T^3; bytes = 2 T^2 e

    Args:
        e: bytes per element of A, B and C.
        m: rows of A and C.
        n: columns of B and C.
        k: columns of A, rows of B.
        tile: T, the edge of the square tile of C that a block keeps on chip.
    """
    if not (m and n and k):
        edge = float(tile or 1)
        step = f"tile step of {tile} x {tile}" if edge > 1 else "multiply-add"
        return KernelWork(2 * edge**3, 2 * e * edge**2, "FLOPs = 2 T^3; bytes = 2 T^2 e", step)
    flops = 2.0 * m * n * k
    if tile is None:
        return KernelWork(flops, e * (m * k + k * n + m * n), "FLOPs = 2 m n k; bytes = (m k + k n + m n) e")
    return KernelWork(
        flops,
        e * (m * k * ceil(n / tile) + k * n * ceil(m / tile) + m * n),
        "FLOPs = 2 m n k; bytes = (m k ceil(n / T) + k n ceil(m / T) + m n) e",
    )


def gemv(*, e: float, m: int | None = None, n: int | None = None) -> KernelWork:
    """Multiply an m x n matrix with a vector.

    FLOPs = 2 m n, bytes = (m n + m + n) e (the matrix and the vector read, the result written)

    Args:
        e: bytes per element.
        m: rows.
        n: columns; without sizes the work is that of one element of the matrix, and the vectors count nothing.
    """
    formula = "FLOPs = 2 m n, bytes = (m n + m + n) e (the matrix and the vector read, the result written)"
    if not (m and n):
        return KernelWork(2.0, e, formula, "matrix element")
    return KernelWork(2.0 * m * n, e * (m * n + m + n), formula)


def spmv(
    *,
    e: float,
    rows: int | None = None,
    cols: int | None = None,
    nnz: int | None = None,
    reuse: str = "perfect",
    index_bytes: int = 4,
) -> KernelWork:
    """Multiply a sparse matrix in CSR form with a vector.

    FLOPs = 2 nnz; bytes = nnz (e + i) + (rows + 1) i + (x + rows) e; x = cols with perfect reuse, nnz with none

    i is the number of bytes of an index. The vector is read once with perfect reuse (it stays in L2), and once for
    each nonzero with none.

    Args:
        e: bytes per value.
        rows: of the matrix.
        cols: of the matrix; as many as rows unless given.
        nnz: nonzeros; without sizes the work is that of one nonzero in a long row.
        reuse: of the vector, ``perfect`` or ``none``.
        index_bytes: bytes of a column index and of a row pointer.
    """
    formula = (
        "FLOPs = 2 nnz; bytes = nnz (e + i) + (rows + 1) i + (x + rows) e; x = cols with perfect reuse, nnz with none"
    )
    i = index_bytes
    if not (rows and nnz):
        return KernelWork(2.0, e + i + (0 if reuse == "perfect" else e), formula, "nonzero")
    gathered = (cols or rows) if reuse == "perfect" else nnz
    return KernelWork(2.0 * nnz, nnz * (e + i) + (rows + 1) * i + (gathered + rows) * e, formula)
