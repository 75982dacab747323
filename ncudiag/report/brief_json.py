"""How a brief document is written: compact JSON, numbers with the digits that mean something, texts cut in the open."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from math import floor, log10

from pydantic import BaseModel

from ncudiag.diagnose.launch_ids import LaunchIds
from ncudiag.report.escape import json_for_logs

OPTIONAL: Mapping[str, frozenset[str]] = {
    "Report": frozenset({"focus", "gate"}),
    "Comparison": frozenset({"gate"}),
    "Check": frozenset({"rank", "budget", "value", "limit", "unit", "collect", "rule"}),
    "KernelIdentity": frozenset({"process_name", "host_name", "registers_per_thread", "rank"}),
    "Limiter": frozenset({"ceiling_pct"}),
    "Evidence": frozenset({"distance", "label"}),
    "RooflinePoint": frozenset({"peak_flops_per_s", "operations", "peaks", "levels", "integer_pipe_pct", "on_paper"}),
    "Diagnosis": frozenset({"potential_pct", "evidence", "notes"}),
}
"""Fields by model that a brief document leaves out where they are null or empty; every other one is always there."""

_DIGITS = 6
_ROUND_DIGITS = 4
_NOISE = 1e-12


def compact(document: object) -> str:
    """Strict JSON text in ASCII without blanks, with a line break at its end."""
    return json_for_logs(json.dumps(document, separators=(",", ":"), allow_nan=False)) + "\n"


def size(value: object) -> int:
    """Bytes that a model or a value takes in a brief document."""
    return len(compact(sparse(value))) - 1


def growth(before: BaseModel, after: BaseModel) -> int:
    """How many bytes more the second of two models of one kind takes; only what differs is written."""
    old, new = vars(before), vars(after)
    return sum(
        _part(after, name, new[name]) - _part(after, name, old[name]) for name in new if new[name] is not old[name]
    )


def _part(model: BaseModel, name: str, value: object) -> int:
    """Bytes of one field with its key and what stands between."""
    if name in OPTIONAL.get(type(model).__name__, frozenset()) and (value is None or value == ()):
        return 0
    key = type(model).model_fields[name].serialization_alias or name
    return len(key) + len('"":,') + size(value)


def sparse(value: object) -> object:
    """Models, mappings and sequences as what :mod:`json` writes; optional fields that say nothing are left out."""
    if isinstance(value, BaseModel):
        kind = type(value)
        optional = OPTIONAL.get(kind.__name__, frozenset())
        return {
            kind.model_fields[name].serialization_alias or name: sparse(part)
            for name, part in value.__dict__.items()
            if name not in optional or (part is not None and part != ())
        }
    if isinstance(value, Mapping):
        return {str(key): sparse(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, LaunchIds)):
        return [sparse(part) for part in value]
    return number(value) if isinstance(value, float) else value


def number(value: float) -> float:
    """Six significant digits, and every digit before the point; whole numbers without a point.

    A value is kept as it is where rounding would put it onto a much rounder number: 59.9999999 does not become 60,
    which may be the threshold that it lies below.
    """
    if value == 0:
        return 0
    rounded = round(value, max(0, _DIGITS - 1 - floor(log10(abs(value)))))
    if abs(rounded - value) > _NOISE * abs(value) and rounded == float(f"{rounded:.{_ROUND_DIGITS}g}"):
        return value
    return int(rounded) if rounded.is_integer() else rounded


def cut(text: str, most: int) -> str:
    """The text, or its beginning with the length and hash of the whole: ``g<...[10240 characters, sha256 0a1b2c3d]``.

    Args:
        text: anything.
        most: bytes that it may take in JSON, quotes not counted; at least 46.
    """
    if _bytes(text) <= most:
        return text
    mark = (
        f"...[{len(text)} characters, sha256 {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}]"
    )
    room = most - len(mark)
    kept = 0
    for char in text:
        room -= _bytes(char)
        if room < 0:
            break
        kept += 1
    return text[:kept] + mark


def shorter(text: str, most: int) -> str:
    """A sentence of ours up to so many bytes, broken between words, with three dots where something is left out."""
    if _bytes(text) <= most:
        return text
    words = text.split(" ")
    while words and _bytes(" ".join(words)) > most - len("..."):
        words.pop()
    return f"{' '.join(words)}..." if words else cut(text, most)


def _bytes(text: str) -> int:
    return len(json.dumps(text)) - 2
