"""Kernels that pass over arrays: axpy, dot, reduction, transpose, stencil."""

from __future__ import annotations

from ncudiag.roofline.kernels.work import KernelWork


def axpy(*, e: float, n: int | None = None) -> KernelWork:
    """Add a multiple of one vector to another, y = a x + y.

    FLOPs = 2 n, bytes = 3 n e (x and y read, y written)

    Args:
        e: bytes per element.
        n: elements; without it the work is that of one element.
    """
    formula = "FLOPs = 2 n, bytes = 3 n e (x and y read, y written)"
    return KernelWork(2.0 * (n or 1), 3 * e * (n or 1), formula, None if n else "element")


def dot(*, e: float, n: int | None = None) -> KernelWork:
    """Multiply two vectors, x . y.

    FLOPs = 2 n, bytes = 2 n e (x and y read; the result is one number)

    Args:
        e: bytes per element.
        n: elements; without it the work is that of one element.
    """
    formula = "FLOPs = 2 n, bytes = 2 n e (x and y read; the result is one number)"
    return KernelWork(2.0 * (n or 1), 2 * e * (n or 1), formula, None if n else "element")


def reduction(*, e: float, n: int | None = None) -> KernelWork:
    """Sum up an array.

    FLOPs = n, bytes = n e (each element read once; the result is one number)

    Args:
        e: bytes per element.
        n: elements; without it the work is that of one element.
    """
    formula = "FLOPs = n, bytes = n e (each element read once; the result is one number)"
    return KernelWork(1.0 * (n or 1), e * (n or 1), formula, None if n else "element")


def transpose(*, e: float, rows: int | None = None, cols: int | None = None) -> KernelWork:
    """Transpose a matrix.

    FLOPs = 0, bytes = 2 rows cols e (each element read and written)

    Args:
        e: bytes per element.
        rows: of the matrix.
        cols: of the matrix; without sizes the work is that of one element.
    """
    formula = "FLOPs = 0, bytes = 2 rows cols e (each element read and written)"
    elements = rows * cols if rows and cols else None
    return KernelWork(0.0, 2 * e * (elements or 1), formula, None if elements else "element")


def stencil(*, e: float, points: int = 3, reuse: str = "perfect", n: int | None = None) -> KernelWork:
    """Compute each element of a grid from its neighbours with one coefficient for each point.

    FLOPs = (2 points - 1) n; bytes = 2 n e with perfect reuse, (points + 1) n e with none

    A point costs one multiplication, and all but the first one addition. With perfect reuse (a tile on chip) each
    input is read from DRAM once, with none for each point; the result is written once. Halos are left out.

    Args:
        e: bytes per element.
        points: 3, 5, 7, 27, or any other number.
        reuse: ``perfect`` or ``none``.
        n: elements of the grid; without it the work is that of one element.
    """
    formula = "FLOPs = (2 points - 1) n; bytes = 2 n e with perfect reuse, (points + 1) n e with none"
    moved = 2 if reuse == "perfect" else points + 1
    return KernelWork((2.0 * points - 1) * (n or 1), moved * e * (n or 1), formula, None if n else "element")
