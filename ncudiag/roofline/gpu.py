"""A GPU as a datasheet describes it: bandwidth, dense peaks per precision, limits; frozen models without any I/O."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from ncudiag.errors import UsageError
from ncudiag.roofline.precision import FACTS, PRECISION_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.roofline.precision import PrecisionName

Basis: TypeAlias = Literal["datasheet", "computed", "user"]

# Where a word means tensor cores that a GPU does not have, its vector units do the same arithmetic.
_INSTEAD: Mapping[PrecisionName, PrecisionName] = MappingProxyType({"fp16": "fp16-vector"})


# Plain dataclasses: a report needs one GPU, and building pydantic's validators costs more than reading the table.
@dataclass(frozen=True, kw_only=True, slots=True)
class Peak:
    """The most that a GPU can do in one precision, dense (no sparsity).

    Attributes:
        flops_per_s: operations per second; a fused multiply-add is two.
        ridge_point: flops_per_s / DRAM bandwidth, operations per byte.
        basis: printed on a datasheet, computed as SMs x boost clock x operations per SM and clock, or the user's own.
        doubtful: whether the sources leave a doubt; the GPU's notes say which.
    """

    flops_per_s: float
    ridge_point: float
    basis: Basis
    doubtful: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Gpu:
    """One GPU of the table, or a user's own.

    Attributes:
        names: as ncu prints the device, in every driver's spelling that is known.
        product: what people call it; unique in the table.
        chip: NVIDIA's name of the die.
        compute_capability: as in "9.0".
        sm_count: streaming multiprocessors.
        boost_clock_hz: the clock that peaks are quoted at, unless the notes say another.
        dram_gb: memory sizes in GB (10^9 byte) that carry this name.
        dram_type: as in "HBM3".
        dram_bandwidth_bytes_per_s: peak of DRAM, read and write together.
        bandwidth_basis: from the sources of the table, or the user's own.
        peaks: by precision; a precision that is not there has no unit of its own on this GPU, or no source.
        l2_bytes: L2 cache.
        max_warps_per_sm: resident warps.
        max_blocks_per_sm: resident blocks.
        registers_per_sm: 32-bit registers.
        shared_bytes_per_sm: shared memory of an SM at its largest.
        shared_bytes_per_block: what one block may ask for (opt-in).
        doubtful: names of the values that the sources leave a doubt about.
        source: where the values are from.
        notes: what to know about them; empty when there is nothing.
    """

    names: tuple[str, ...]
    product: str
    chip: str | None = None
    compute_capability: str | None = None
    sm_count: int | None = None
    boost_clock_hz: float | None = None
    dram_gb: tuple[float, ...] = ()
    dram_type: str | None = None
    dram_bandwidth_bytes_per_s: float
    peaks: Mapping[PrecisionName, Peak]
    bandwidth_basis: Literal["datasheet", "user"] = "datasheet"
    l2_bytes: int | None = None
    max_warps_per_sm: int | None = None
    max_blocks_per_sm: int | None = None
    registers_per_sm: int | None = None
    shared_bytes_per_sm: int | None = None
    shared_bytes_per_block: int | None = None
    doubtful: tuple[str, ...] = ()
    source: str
    notes: str = ""

    def peak_for(self, precision: PrecisionName) -> tuple[PrecisionName, Peak]:
        """The peak that a precision means on this GPU, and the precision that it really is.

        ``fp16`` is the tensor peak where the GPU has tensor cores, else the vector peak.

        Raises:
            UsageError: the GPU has no such peak, or none is known (``usage``).
        """
        for name in (precision, _INSTEAD.get(precision)):
            if name is not None and name in self.peaks:
                return name, self.peaks[name]
        raise UsageError(
            "usage",
            f"no {FACTS[precision].label} peak is known for {self.product}",
            f"It has {', '.join(name for name in PRECISION_NAMES if name in self.peaks)}. "
            f"A peak of your own: --peak {precision}=FLOP_PER_S.",
            details={"gpu": self.product, "precision": precision},
        )

    def with_values(
        self,
        *,
        peaks: Mapping[PrecisionName, float],
        bandwidth_bytes_per_s: float | None,
    ) -> Gpu:
        """The same GPU with peaks (FLOP/s) or a bandwidth (byte/s) of the user's own."""
        bandwidth = bandwidth_bytes_per_s or self.dram_bandwidth_bytes_per_s
        known = {name: replace(peak, ridge_point=peak.flops_per_s / bandwidth) for name, peak in self.peaks.items()}
        replaced: set[str] = {*peaks, *(("dram-bandwidth",) if bandwidth_bytes_per_s else ())}
        return replace(
            self,
            dram_bandwidth_bytes_per_s=bandwidth,
            bandwidth_basis="user" if bandwidth_bytes_per_s else self.bandwidth_basis,
            peaks=MappingProxyType(known | own_peaks(peaks, bandwidth)),
            doubtful=tuple(name for name in self.doubtful if name not in replaced),
        )


def own_peaks(peaks: Mapping[PrecisionName, float], bandwidth_bytes_per_s: float) -> dict[PrecisionName, Peak]:
    """Peaks that the user gave, with their ridge points."""
    return {
        name: Peak(flops_per_s=value, ridge_point=value / bandwidth_bytes_per_s, basis="user")
        for name, value in peaks.items()
    }
