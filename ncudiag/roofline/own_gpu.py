"""A user's own GPU: from a TOML file, or from values on the command line."""

from __future__ import annotations

import math
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ncudiag.errors import UsageError
from ncudiag.roofline.gpu import Gpu, own_peaks
from ncudiag.roofline.precision import precision_named
from ncudiag.small_files import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.roofline.precision import PrecisionName

Positive: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count: TypeAlias = Annotated[int, Field(gt=0)]

OWN = "your GPU"
"""What a GPU is called that has values only."""

_FORM = """A GPU is a table [[gpu]] with name, bandwidth_bytes_per_s, and [gpu.peaks] in FLOP/s, as in fp32 = 67e12."""


class _GpuEntry(BaseModel):
    """One ``[[gpu]]`` of a file; the same names and units as in JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: Annotated[str, Field(min_length=1)]
    names: tuple[str, ...] = ()
    bandwidth_bytes_per_s: Positive
    peaks: Annotated[dict[str, Positive], Field(min_length=1)]
    compute_capability: Annotated[str, Field(pattern=r"^\d+\.\d+$")] | None = None
    sm_count: Count | None = None
    boost_clock_hz: Positive | None = None
    l2_bytes: Count | None = None
    source: str = "your file"
    notes: str = ""


class _GpuFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    gpu: Annotated[tuple[_GpuEntry, ...], Field(min_length=1)]


def gpus_from_file(path: str) -> tuple[Gpu, ...]:
    """The GPUs of a TOML file.

    Args:
        path: a file with a ``[[gpu]]`` for each GPU: ``name``, ``bandwidth_bytes_per_s``, ``[gpu.peaks]`` (FLOP/s by
            precision), and if known ``names`` (as ncu prints the device), ``compute_capability``, ``sm_count``,
            ``boost_clock_hz``, ``l2_bytes``, ``source``, ``notes``.

    Raises:
        UsageError: the file cannot be read, or does not have this form (``usage``).
    """
    try:
        entries = _GpuFile.model_validate(read_toml(Path(path))).gpu
    except OSError as error:
        raise _wrong(path, f"it cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise _wrong(path, f"{key}: {first['msg']}") from error
    except ValueError as error:
        raise _wrong(path, f"it is no TOML: {error}") from error
    return tuple(_gpu(entry) for entry in entries)


def gpu_from_values(peaks: Mapping[PrecisionName, float], bandwidth_bytes_per_s: float) -> Gpu:
    """A GPU of which nothing is known but peaks (FLOP/s) and the bandwidth of DRAM (byte/s)."""
    return Gpu(
        names=(),
        product=OWN,
        dram_bandwidth_bytes_per_s=bandwidth_bytes_per_s,
        bandwidth_basis="user",
        peaks=MappingProxyType(own_peaks(peaks, bandwidth_bytes_per_s)),
        source="given by you",
    )


def parse_peak(text: str, *, precision: PrecisionName) -> tuple[PrecisionName, float]:
    """A peak as it is given on the command line: ``fp32=67e12``, or ``67e12`` for the precision that is asked for.

    Raises:
        UsageError: no such precision, or not a number above 0 (``usage``).
    """
    word, equals, number = text.rpartition("=")
    name = precision_named(word) if equals else precision
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value <= 0:
        message = f"--peak is a precision and its FLOP/s, not {text!r}"
        raise UsageError("usage", message, "As in --peak fp32=67e12.")
    return name, value


def _gpu(entry: _GpuEntry) -> Gpu:
    peaks = {precision_named(word): value for word, value in entry.peaks.items()}
    return Gpu(
        names=entry.names,
        product=entry.name,
        compute_capability=entry.compute_capability,
        sm_count=entry.sm_count,
        boost_clock_hz=entry.boost_clock_hz,
        dram_bandwidth_bytes_per_s=entry.bandwidth_bytes_per_s,
        bandwidth_basis="user",
        peaks=MappingProxyType(own_peaks(peaks, entry.bandwidth_bytes_per_s)),
        l2_bytes=entry.l2_bytes,
        source=entry.source,
        notes=entry.notes,
    )


def _wrong(path: str, why: str) -> UsageError:
    return UsageError("usage", f"{path} is no file of GPUs: {why}", _FORM, details={"path": path})
