"""The named kernels by name, and what could be done about each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.errors import UsageError
from ncudiag.roofline.kernels import matrix, network, streaming
from ncudiag.roofline.kernels.work import Change, KernelModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.roofline.kernels.work import Parameter

_FUSED = ("fused", "naive")
_REUSE = ("perfect", "none")
_TILE = 32  # a common first tile for shared memory
_MANY = 8  # how many times the batch is taken in an example


def kernel_model(name: str) -> KernelModel:
    """The kernel of a name.

    Raises:
        UsageError: there is none (``usage``); the hint lists all of them.
    """
    wanted = name.strip().lower().replace("_", "-")
    for model in KERNELS:
        if model.name == wanted:
            return model
    raise UsageError(
        "usage",
        f"no kernel is known by the name {name!r}",
        f"Kernels: {', '.join(model.name for model in KERNELS)}. Any other: --flops and --bytes.",
        details={"given": name},
    )


def checked(model: KernelModel, given: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """All parameters of a kernel, from those that were given.

    Raises:
        UsageError: a parameter that it does not have, that it needs, or of a wrong value (``usage``).
    """
    takes = ", ".join(_option(name) for name in model.parameters)
    for name, value in given.items():
        if name not in model.parameters:
            raise UsageError("usage", f"{model.name} has no {_option(name)}", f"It takes {takes}.")
        _check_value(model, name, value)
    parameters = dict(model.defaults) | dict(given)
    sizes = [parameters[name] for name in model.square if parameters.get(name) is not None]
    if len(sizes) == 1:
        parameters |= dict.fromkeys(model.square, sizes[0])
    missing = [name for name in model.parameters if name not in parameters]
    together = model.square or model.together
    if any(parameters.get(name) is not None for name in together):
        missing += [name for name in together if parameters.get(name) is None]
    if missing:
        needs = " and ".join(_option(name) for name in missing)
        raise UsageError("usage", f"{model.name} needs {needs}", f"It takes {takes}.", details={"missing": missing})
    return {name: parameters[name] for name in model.parameters}


def _check_value(model: KernelModel, name: str, value: Parameter) -> None:
    if name == model.variant:
        if value not in model.variants:
            message = f"{_option(name)} is {' or '.join(model.variants)}, not {value!r}"
            raise UsageError("usage", message, "Use one of them.")
        return
    least = 0 if name == "padding" else 1
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        message = f"{_option(name)} is a whole number from {least} on, not {value!r}"
        raise UsageError("usage", message, f"As in {_option(name)} 32.")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _axpy(_: Mapping[str, Parameter]) -> tuple[Change, ...]:
    text = "Fuse it with the kernel that makes x: x comes from registers, only y is read and written."
    return (Change("fusion", text, bytes_factor=2 / 3),)


def _dot(_: Mapping[str, Parameter]) -> tuple[Change, ...]:
    text = "Fuse it with the kernel that makes one of the vectors: only the other one is read."
    return (Change("fusion", text, bytes_factor=1 / 2),)


def _reduction(_: Mapping[str, Parameter]) -> tuple[Change, ...]:
    return (Change("fusion", "Reduce inside the kernel that makes the array: nothing is read again.", bytes_factor=0),)


def _transpose(_: Mapping[str, Parameter]) -> tuple[Change, ...]:
    text = "Let the next kernel read the matrix as it lies (a tile in shared memory): the transposition disappears."
    return (Change("fusion", text, bytes_factor=0),)


def _stencil(given: Mapping[str, Parameter]) -> tuple[Change, ...]:
    steps = Change("fusion", "Do two time steps in one pass (temporal blocking).", flops_factor=2)
    if given["reuse"] == "perfect":
        return (steps,)
    text = "Keep a tile in shared memory or registers: each input is read from DRAM once."
    return (Change("reuse", text, {"reuse": "perfect"}),)


def _gemm(given: Mapping[str, Parameter]) -> tuple[Change, ...]:
    tile, m = given["tile"], given["m"]
    if isinstance(tile, int) or m is None:
        edge = 2 * tile if isinstance(tile, int) and tile > 1 else _TILE
        larger = Change("larger-tile", f"Tiles of {edge} x {edge} in shared memory and registers.", {"tile": edge})
        best = Change("reuse", "Move each matrix once: all reuse on chip, in L2 and shared memory.", {"tile": None})
        return (larger,) if m is None else (larger, best)
    n = given["n"]
    least, name = min((int(value), name) for name, value in (("m", m), ("n", n)) if isinstance(value, int))
    what = "rows of A" if name == "m" else "columns of B"
    text = f"{_MANY} times as many {what} in one call (a larger batch)."
    return (Change("batching", text, {name: _MANY * least}),)


def _gemv(given: Mapping[str, Parameter]) -> tuple[Change, ...]:
    m, n = given["m"], given["n"]
    grown = 1.0
    if isinstance(m, int) and isinstance(n, int):
        grown = (m * n + _MANY * (m + n)) / (m * n + m + n)
    text = f"Multiply {_MANY} vectors at once (a gemm): the matrix is read once for all of them."
    return (Change("batching", text, flops_factor=_MANY, bytes_factor=grown),)


def _spmv(given: Mapping[str, Parameter]) -> tuple[Change, ...]:
    changes = []
    if given["reuse"] == "none":
        text = "Reorder or block the matrix so that the vector stays in L2: it is read once."
        changes.append(Change("reuse", text, {"reuse": "perfect"}))
    index = given["index_bytes"]
    if isinstance(index, int) and index > 2:  # noqa: PLR2004 - two bytes: offsets inside a block of columns
        text = f"Indices of {index // 2} bytes instead of {index} (offsets inside blocks)."
        changes.append(Change("narrower-type", text, {"index_bytes": index // 2}))
    return tuple(changes)


def _row_wise(given: Mapping[str, Parameter]) -> tuple[Change, ...]:
    if given["variant"] == "naive":
        text = "One pass: keep a row in registers or shared memory, so that it is read once."
        return (Change("fusion", text, {"variant": "fused"}),)
    text = "Fuse it into the kernel before it: its input comes from registers and is not read."
    return (Change("fusion", text, bytes_factor=1 / 2),)


def _attention(given: Mapping[str, Parameter]) -> tuple[Change, ...]:
    if given["variant"] == "naive":
        text = "Fuse products and softmax (FlashAttention): the scores never leave the chip."
        return (Change("fusion", text, {"variant": "fused"}),)
    seq, queries = given["seq"], given["queries"]
    if isinstance(seq, int) and isinstance(queries, int) and queries < seq:
        more = min(seq, _MANY * queries)
        text = f"{more} queries for each read of K and V (heads that share them, several tokens at once)."
        return (Change("batching", text, {"queries": more}),)
    return ()


def _conv2d(given: Mapping[str, Parameter]) -> tuple[Change, ...]:
    if given["variant"] == "naive":
        text = "Implicit GEMM: patches are formed on chip and never written."
        return (Change("fusion", text, {"variant": "fused"}),)
    batch = given["batch"]
    more = _MANY * batch if isinstance(batch, int) else None
    return (Change("batching", f"{_MANY} times as many images in one call.", {"batch": more}),)


KERNELS: tuple[KernelModel, ...] = (
    KernelModel(name="saxpy", title="y = a x + y", count=streaming.axpy, changes=_axpy),
    KernelModel(name="daxpy", title="y = a x + y", count=streaming.axpy, precision="fp64", changes=_axpy),
    KernelModel(name="axpy", title="y = a x + y", count=streaming.axpy, changes=_axpy),
    KernelModel(name="dot", title="x . y", count=streaming.dot, changes=_dot),
    KernelModel(name="reduction", title="sum of an array", count=streaming.reduction, changes=_reduction),
    KernelModel(
        name="transpose",
        title="transposition of a matrix",
        count=streaming.transpose,
        square=("rows", "cols"),
        changes=_transpose,
    ),
    KernelModel(
        name="stencil",
        title="each element from its neighbours",
        count=streaming.stencil,
        variants=_REUSE,
        variant="reuse",
        changes=_stencil,
    ),
    KernelModel(
        name="gemm",
        title="C = A B",
        count=matrix.gemm,
        square=("m", "n", "k"),
        matrix=True,
        changes=_gemm,
    ),
    KernelModel(name="gemv", title="y = A x", count=matrix.gemv, square=("m", "n"), matrix=True, changes=_gemv),
    KernelModel(
        name="spmv",
        title="y = A x with A sparse (CSR)",
        count=matrix.spmv,
        variants=_REUSE,
        together=("rows", "nnz"),
        variant="reuse",
        changes=_spmv,
    ),
    KernelModel(
        name="layernorm",
        title="layer normalisation",
        count=network.layernorm,
        variants=_FUSED,
        together=("rows", "cols"),
        variant="variant",
        changes=_row_wise,
    ),
    KernelModel(
        name="softmax",
        title="softmax of each row",
        count=network.softmax,
        variants=_FUSED,
        together=("rows", "cols"),
        variant="variant",
        changes=_row_wise,
    ),
    KernelModel(
        name="attention",
        title="softmax(Q K^T) V",
        count=network.attention,
        variants=_FUSED,
        matrix=True,
        variant="variant",
        changes=_attention,
    ),
    KernelModel(
        name="conv2d",
        title="convolution of images",
        count=network.conv2d,
        variants=_FUSED,
        matrix=True,
        variant="variant",
        changes=_conv2d,
    ),
)
"""All of them; several names for one kernel are entries of their own."""
