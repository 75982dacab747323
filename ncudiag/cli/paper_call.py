"""What a call of ``ncudiag roofline`` asks for: a roofline, and a kernel under it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ncudiag.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ncudiag.roofline.estimate import Estimate
    from ncudiag.roofline.paper import Roofline
    from ncudiag.roofline.precision import PrecisionName

# Options that are no size of a kernel.
_OTHERS = frozenset(
    {
        *("kernel", "flops", "moved", "gpu", "precision", "element_bytes", "gpu_file", "peak", "bandwidth"),
        *("output_format", "output", "plot"),
    }
)


class PaperCall(NamedTuple):
    """What was asked for; all that a picture needs.

    Attributes:
        roofline: of the GPU; ``roofline.roofs()`` are its lines.
        estimate: of the kernel.
    """

    roofline: Roofline
    estimate: Estimate


def paper_call(given: Mapping[str, Any]) -> PaperCall:
    """Understand the options of a call.

    Args:
        given: the options by the names of the command's parameters, without those that were not given.

    Raises:
        UsageError: they do not fit together, or one of them has a value that it cannot have (``usage``).
    """
    kernel, flops, moved = given.get("kernel"), given.get("flops"), given.get("moved")
    sizes = {name: value for name, value in given.items() if name not in _OTHERS}
    if kernel is None and (flops is None or moved is None):
        message = "no kernel, and not both of --flops and --bytes"
        raise UsageError("usage", message, "As in `ncudiag roofline saxpy`, or --flops 5 --bytes 16.")
    if kernel is not None and (flops is not None or moved is not None):
        message = f"{kernel} has its own count of operations and bytes"
        raise UsageError("usage", message, "Leave out --flops and --bytes, or the kernel.")
    if kernel is None and sizes:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in sizes)
        raise UsageError(
            "usage", f"{options}: sizes belong to a named kernel", "As in `ncudiag roofline gemm --n 4096`."
        )
    line = _roofline(given)
    precision, size = given.get("precision"), given.get("element_bytes")
    if precision is None and len(line.gpu.peaks) == 1:
        (precision,) = line.gpu.peaks
    if kernel is not None:
        return PaperCall(line, line.kernel(kernel, precision=precision, element_bytes=size, **sizes))
    assert flops is not None  # noqa: S101 - checked above
    assert moved is not None  # noqa: S101 - checked above
    return PaperCall(line, line.estimate(flops=flops, bytes=moved, precision=precision or "fp32", element_bytes=size))


def _roofline(given: Mapping[str, Any]) -> Roofline:
    """The roofline of the GPU that the options describe."""
    from ncudiag.roofline.gpus import DEFAULT_GPU, Found, find_gpu
    from ncudiag.roofline.own_gpu import gpu_from_values, gpus_from_file
    from ncudiag.roofline.paper import Roofline

    gpu, file, bandwidth = given.get("gpu"), given.get("gpu_file"), given.get("bandwidth")
    peaks = _peaks(given.get("peak", ()), precision=given.get("precision", "fp32"))
    if bandwidth is not None and not (math.isfinite(bandwidth) and bandwidth > 0):
        message = f"--bandwidth is byte/s above 0, not {bandwidth:g}"
        raise UsageError("usage", message, "As in --bandwidth 3.35e12.")
    own = gpus_from_file(file) if file is not None else ()
    if gpu is None and len(own) > 1:
        raise UsageError("usage", f"{file} holds {len(own)} GPUs", "Name one of them with --gpu.")
    if gpu is None and not own and (peaks or bandwidth):
        if not (peaks and bandwidth):
            message = "a GPU of your own needs a peak and a bandwidth"
            raise UsageError("usage", message, "Give --peak and --bandwidth, or --gpu to change one of its values.")
        return Roofline(gpu_from_values(peaks, bandwidth))
    found = Found(own[0]) if gpu is None and own else find_gpu(gpu or DEFAULT_GPU, own=own)
    assumed = () if gpu is not None or own else ("No --gpu was given.",)
    return Roofline(found.gpu.with_values(peaks=peaks, bandwidth_bytes_per_s=bandwidth), notes=(*assumed, *found.notes))


def _peaks(texts: Sequence[str], *, precision: str) -> dict[PrecisionName, float]:
    from ncudiag.roofline.own_gpu import parse_peak
    from ncudiag.roofline.precision import precision_named

    return dict(parse_peak(text, precision=precision_named(precision)) for text in texts)
