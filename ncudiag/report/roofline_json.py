"""The paper roofline, and what is known about GPUs, as JSON: one strict document each."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ncudiag._version import __version__
from ncudiag.report.document import SCHEMA_VERSION
from ncudiag.report.json_output import dumps, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ncudiag.roofline.estimate import Estimate
    from ncudiag.roofline.gpu import Gpu


def estimate_json(estimate: Estimate) -> str:
    """An estimate: the fields of :class:`ncudiag.roofline.estimate.Estimate` behind version and tool."""
    return dumps({**_head(), **dict(estimate.model_dump(mode="json"))})


def gpu_json(gpu: Gpu, notes: Iterable[str] = ()) -> str:
    """One GPU: the fields of :class:`ncudiag.roofline.gpu.Gpu`, peaks and ridge points by precision.

    Args:
        gpu: what to write.
        notes: what was assumed to choose it.
    """
    return dumps({**_head(), **_values(gpu), "chosen_because": list(notes)})


def gpus_json(gpus: Iterable[Gpu]) -> str:
    """All GPUs under ``gpus``."""
    return dumps({**_head(), "gpus": [_values(gpu) for gpu in gpus]})


def _head() -> dict[str, object]:
    return {"schema_version": SCHEMA_VERSION, "tool": {"name": "ncudiag", "version": __version__}}


def _values(gpu: Gpu) -> dict[str, object]:
    # asdict copies a mapping by its own type, which a read-only view of a dictionary does not allow.
    values = {name: getattr(gpu, name) for name in gpu.__slots__}
    values["peaks"] = {name: asdict(peak) for name, peak in gpu.peaks.items()}
    values["ridge_points"] = {name: peak.ridge_point for name, peak in gpu.peaks.items()}
    return {name: plain(value) for name, value in values.items()}
