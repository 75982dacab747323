"""What is known about GPUs as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report.escape import columns, pad
from ncudiag.report.page import NARROWEST, Page
from ncudiag.report.quantities import quantity
from ncudiag.report.roofline_text import intensity
from ncudiag.roofline.precision import FACTS, PRECISION_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ncudiag.roofline.gpu import Gpu
    from ncudiag.roofline.precision import PrecisionName

_LISTED: tuple[PrecisionName, ...] = ("fp64", "fp32", "fp16", "fp8", "int8")
_DOUBT = "?"
_NONE = "-"


def render_gpus(gpus: Iterable[Gpu], *, width: int, colour: bool = False, unicode: bool = True) -> str:
    """All GPUs as a table of ridge points, ending with a line break; columns that do not fit are left out."""
    page = Page(width=max(width, NARROWEST), colour=colour, unicode=unicode)
    head = ("GPU", "CC", "SMs", "GB/s", *_LISTED)
    rows = [_row(gpu) for gpu in gpus]
    widths = [max(columns(row[place]) for row in (head, *rows)) for place in range(len(head))]
    fitting = next(n for n in range(len(head), 0, -1) if sum(widths[:n]) + n - 1 <= page.width or n == 1)
    lines = [page.paint(_line(head, widths, fitting), "bold")]
    lines += [_line([page.safe(cell) for cell in row], widths, fitting) for row in rows]
    lines.append("")
    text = (
        "fp64 to int8: ridge points in FLOP/byte (INT8: OP/byte) at the dense peak, FP16 and FP8 on tensor cores with "
        "FP32 accumulation. ? is a doubtful value, - none. `ncudiag gpus show NAME` has all precisions and sources."
    )
    lines += page.paragraph(text, inks=("dim",))
    return "\n".join(line.rstrip(" ") for line in lines) + "\n"


def render_gpu(gpu: Gpu, *, width: int, colour: bool = False, unicode: bool = True, notes: Iterable[str] = ()) -> str:
    """One GPU with all its values, ending with a line break."""
    page = Page(width=max(width, NARROWEST), colour=colour, unicode=unicode)
    lines = page.name(gpu.product, inks=("bold",))
    for note in notes:
        lines += page.paragraph(note, indent=2, inks=("yellow",))
    lines += page.facts(_identity(gpu), indent=2)
    lines += page.facts(_sizes(gpu), indent=2)
    lines += page.facts(_limits(gpu), indent=2)
    bandwidth = f"DRAM bandwidth {quantity(gpu.dram_bandwidth_bytes_per_s, 'byte/s')}{_doubt(gpu, 'dram-bandwidth')}"
    lines += page.facts(
        [bandwidth, " ".join((*(f"{size:g} GB" for size in gpu.dram_gb), gpu.dram_type or ""))], indent=2
    )
    lines += ["", *_peaks(page, gpu), ""]
    if gpu.doubtful:
        lines += page.paragraph(", ".join(gpu.doubtful), indent=11, first="  Doubtful", inks=("yellow",))
    if gpu.notes:
        lines += page.paragraph(gpu.notes, indent=11, first="  Notes")
    lines += page.paragraph(gpu.source, indent=11, first="  Source")
    return "\n".join(line.rstrip(" ") for line in lines) + "\n"


def _row(gpu: Gpu) -> tuple[str, ...]:
    ridges = []
    for name in _LISTED:
        peak = gpu.peaks.get(name)
        doubt = _DOUBT if peak is not None and (peak.doubtful or "dram-bandwidth" in gpu.doubtful) else ""
        ridges.append(_NONE if peak is None else f"{_short(peak.ridge_point)}{doubt}")
    bandwidth = f"{gpu.dram_bandwidth_bytes_per_s / 1e9:.4g}{_doubt(gpu, 'dram-bandwidth')}"
    sms = f"{gpu.sm_count or _NONE}{_doubt(gpu, 'sm-count')}"
    return (gpu.product, gpu.compute_capability or _NONE, sms, bandwidth, *ridges)


def _short(ridge_point: float) -> str:
    """Three digits, or as many as stand before the point: 0.782, 20, 295, 1891."""
    return f"{ridge_point:.3g}" if ridge_point < 1e3 else f"{ridge_point:.0f}"  # noqa: PLR2004 - three digits end there


def _line(cells: Sequence[str], widths: list[int], fitting: int) -> str:
    first, *rest = zip(cells[:fitting], widths[:fitting], strict=True)
    return " ".join((pad(*first), *(pad(cell, width, right=True) for cell, width in rest)))


def _doubt(gpu: Gpu, name: str) -> str:
    return _DOUBT if name in gpu.doubtful else ""


def _identity(gpu: Gpu) -> list[str]:
    return [
        f"{gpu.chip}{_doubt(gpu, 'chip')}" if gpu.chip else "",
        f"compute capability {gpu.compute_capability}" if gpu.compute_capability else "",
        f"ncu prints {' or '.join(gpu.names)}" if gpu.names else "",
    ]


def _sizes(gpu: Gpu) -> list[str]:
    return [
        f"{gpu.sm_count}{_doubt(gpu, 'sm-count')} SMs" if gpu.sm_count else "",
        f"boost clock {quantity(gpu.boost_clock_hz, 'hz')}{_doubt(gpu, 'boost-clock')}" if gpu.boost_clock_hz else "",
        f"L2 {gpu.l2_bytes / 2**20:g} MiB{_doubt(gpu, 'l2')}" if gpu.l2_bytes else "",
    ]


def _limits(gpu: Gpu) -> list[str]:
    return [
        f"per SM {gpu.max_warps_per_sm} warps" if gpu.max_warps_per_sm else "",
        f"{gpu.max_blocks_per_sm} blocks" if gpu.max_blocks_per_sm else "",
        f"{gpu.registers_per_sm:,} registers" if gpu.registers_per_sm else "",
        f"{gpu.shared_bytes_per_sm / 1024:g} KiB shared memory" if gpu.shared_bytes_per_sm else "",
        f"a block up to {gpu.shared_bytes_per_block / 1024:g} KiB" if gpu.shared_bytes_per_block else "",
    ]


def _peaks(page: Page, gpu: Gpu) -> list[str]:
    """The peaks, one for each precision."""
    lines = [page.paint(f"  {'Precision':<13} {'Peak':>14}  {'Ridge point':<14} From", "bold")]
    for name in PRECISION_NAMES:
        peak = gpu.peaks.get(name)
        if peak is None:
            continue
        operation = FACTS[name].operation
        rate = f"{peak.flops_per_s / 1e12:,.4g} T{operation}/s"
        ridge = f"{intensity(peak.ridge_point)} {operation}/B"
        basis = f"{peak.basis}{', doubtful' if peak.doubtful else ''}"
        lines += page.facts([f"{name:<13} {rate:>14}  {ridge:<14} {basis}"], indent=2)
    return lines
