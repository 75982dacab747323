"""The table of GPUs: loaded when first asked, searched by name, or by what a report says about its device.

The values stand in ``gpus.csv`` beside this module, in the units of their sources; docs/roofline.md says what its
columns mean. Only the rows that are asked for become models, because a report asks for one.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.errors import UsageError
from ncudiag.roofline.gpu import Gpu, Peak
from ncudiag.roofline.precision import PRECISION_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ncudiag.roofline.precision import PrecisionName

DEFAULT_GPU = "H100"
"""What a paper estimate assumes when no GPU is named; the answer says so."""

_TABLE = Path(__file__).with_name("gpus.csv")
# What a name that several boards share means without more; the answer says which one was taken.
_MEANT = {
    "h100": "H100 SXM5",
    "a100": "A100 SXM4 80GB",
    "v100": "V100 SXM2",
    "gh200": "GH200 96GB",
    "orin": "Jetson AGX Orin 64GB",
    "orin nvgpu": "Jetson AGX Orin 64GB",
}
_OTHER_GPU = frozenset({"ti", "super"})
_NOISE = frozenset({"nvidia", "geforce", "tesla", "rtx", "jetson", "gpu", "per"})
# People write RTX4090, H100SXM and 3090Ti; a device is called "RTX 4090".
_GLUED = re.compile(r"(?<=rtx)(?=\d)|(?<=\d)(?=(?:sxm\d?|pcie|nvl|ti|super|tisuper)\b)|(?<=ti)(?=super\b)")
_WORD = re.compile(r"[a-z0-9.]+")
_MOST_SUGGESTIONS = 5


class Found(NamedTuple):
    """A GPU of the table.

    Attributes:
        gpu: its values.
        notes: what was assumed to choose it.
    """

    gpu: Gpu
    notes: tuple[str, ...] = ()


def find_gpu(name: str, *, own: Iterable[Gpu] = ()) -> Found:
    """The GPU that a person means: ``H100``, ``a100 pcie 80gb``, ``RTX 4090``, or the name that ncu prints.

    An exact name comes first (a user's own GPUs before the table), then a name whose words are all in one GPU's
    names. ``H100``, ``A100``, ``V100``, ``GH200`` and ``Orin`` are names of several boards and mean the one that the
    notes name.

    Raises:
        UsageError: no GPU is called so, or several are (``usage``); the hint lists candidates.
    """
    asked = _words(name)
    own = tuple(own)
    for gpu in own:
        if any(asked == _words(each) for each in (gpu.product, *gpu.names)):
            return Found(gpu)
    rows = _rows()
    if " ".join(asked) in _MEANT:
        product = _MEANT[" ".join(asked)]
        others = [row["product"] for row in rows if asked[0] in _all_words(row) and row["product"] != product]
        note = f"{name} is taken as {product}; others of this name: {', '.join(others)}."
        return Found(_built(product), (note,))
    exact = [row for row in rows if any(asked == _words(each) for each in _names(row))]
    matching = exact or [row for row in rows if asked and _holds(asked, _all_words(row))]
    if len(matching) == 1:
        return Found(_built(matching[0]["product"]))
    raise _several(name, matching) if matching else _none(name, [gpu.product for gpu in own])


def find_device(name: str | None, *, compute_capability: str | None = None, sm_count: int | None = None) -> Gpu | None:
    """The GPU of the table that a report's device is, or None where that is not certain.

    A device name that several boards share (all Orin modules) is told apart by the SM count; another SM count than
    the table's means another board under the same name (RTX 3080 12GB, a MIG slice), which the table does not have.
    Without a name, compute capability and SM count decide where only one GPU has both.

    Args:
        name: the device as ncu prints it.
        compute_capability: as in "8.6".
        sm_count: the report's ``device__attribute_multiprocessor_count``.
    """
    if name is None and (compute_capability is None or sm_count is None):
        return None
    asked = None if name is None else _words(name)
    fitting = [
        row
        for row in _rows()
        if (asked is None or any(asked == _words(each) for each in row["names"].split("|")))
        and compute_capability in {None, row["compute_capability"]}
        and _same_sms(row, sm_count)
    ]
    return _built(fitting[0]["product"]) if len(fitting) == 1 else None


def all_gpus() -> tuple[Gpu, ...]:
    """Every GPU of the table, oldest architecture first."""
    return tuple(_built(row["product"]) for row in _rows())


@cache
def _rows() -> tuple[Mapping[str, str], ...]:
    with _TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def _built(product: str) -> Gpu:
    """The row of a product as a model."""
    row = next(row for row in _rows() if row["product"] == product)
    bandwidth = float(row["dram_bandwidth_gb_s"]) * 1e9
    doubtful = tuple(row["doubtful"].split())
    datasheet = row["datasheet"].split()
    values: dict[PrecisionName, float] = {
        name: round(float(row[column(name)]) * 1e6) * 1e6 for name in PRECISION_NAMES if row[column(name)]
    }
    return Gpu(
        names=tuple(row["names"].split("|")),
        product=product,
        chip=row["chip"],
        compute_capability=row["compute_capability"],
        sm_count=_scaled(row["sm_count"]),
        boost_clock_hz=_scaled(row["boost_clock_mhz"], 1e6),
        dram_gb=tuple(float(size) for size in row["dram_gb"].split("/")),
        dram_type=row["dram_type"],
        dram_bandwidth_bytes_per_s=bandwidth,
        peaks=MappingProxyType(
            {
                name: Peak(
                    flops_per_s=value,
                    ridge_point=value / bandwidth,
                    basis="datasheet" if name in datasheet else "computed",
                    doubtful=name in doubtful,
                )
                for name, value in values.items()
            }
        ),
        l2_bytes=_scaled(row["l2_mib"], 2**20),
        max_warps_per_sm=_scaled(row["max_warps_per_sm"]),
        max_blocks_per_sm=_scaled(row["max_blocks_per_sm"]),
        registers_per_sm=_scaled(row["registers_per_sm"]),
        shared_bytes_per_sm=_scaled(row["shared_kib_per_sm"], 1024),
        shared_bytes_per_block=_scaled(row["shared_kib_per_block"], 1024),
        doubtful=doubtful,
        source=row["source"],
        notes=row["notes"],
    )


def column(precision: PrecisionName) -> str:
    """The table's column of a precision; 10^12 operations per second."""
    return f"{precision.replace('-', '_')}_{'tops' if precision.startswith('int') else 'tflops'}"


def _scaled(text: str, factor: float = 1) -> int | None:
    return round(float(text) * factor) if text else None


def _words(name: str) -> tuple[str, ...]:
    """A name's words in lower case, without those that tell no GPU from another."""
    return tuple(word for word in _WORD.findall(_GLUED.sub(" ", name.lower())) if word not in _NOISE)


def _names(row: Mapping[str, str]) -> list[str]:
    return [row["product"], *row["names"].split("|")]


def _all_words(row: Mapping[str, str]) -> set[str]:
    words = {word for name in _names(row) for word in _words(name)}
    return words | {f"{size}gb" for size in row["dram_gb"].split("/")}


def _holds(asked: tuple[str, ...], words: set[str]) -> bool:
    """Whether all the words that were asked for are there; ``sxm`` stands for any generation of the socket.

    A ``Ti`` or ``SUPER`` is another GPU: it is never meant without being said.
    """
    return not (words & _OTHER_GPU) - set(asked) and all(
        word in words or (word == "sxm" and any(each.startswith("sxm") for each in words)) for word in asked
    )


def _same_sms(row: Mapping[str, str], sm_count: int | None) -> bool:
    """Whether the SM count fits; where the table's own is unknown or doubtful, it decides nothing."""
    if sm_count is None or not row["sm_count"] or "sm-count" in row["doubtful"].split():
        return True
    return int(row["sm_count"]) == sm_count


def _several(name: str, rows: list[Mapping[str, str]]) -> UsageError:
    products = [row["product"] for row in rows]
    return UsageError(
        "usage",
        f"several GPUs are called {name!r}",
        f"Name one of them: {', '.join(products)}.",
        details={"given": name, "candidates": products},
    )


def _none(name: str, own: list[str]) -> UsageError:
    near = [*own, *_near(name)][:_MOST_SUGGESTIONS]
    also = f"Near to it: {', '.join(near)}. " if near else ""
    return UsageError(
        "usage",
        f"no GPU is known by the name {name!r}",
        f"{also}`ncudiag gpus list` names all; for one that is not there give --peak fp32=67e12 --bandwidth 3.35e12, "
        "or --gpu-file.",
        details={"given": name, "candidates": near},
    )


def _near(name: str) -> list[str]:
    """GPUs that share a number with the name, else those with a similar one."""
    from difflib import get_close_matches

    rows = {row["product"]: _all_words(row) for row in _rows()}
    numbers = [word for word in _words(name) if any(char.isdigit() for char in word) and not word.endswith("gb")]
    known = {word for words in rows.values() for word in words}
    similar = {word for number in numbers for word in get_close_matches(number, known, n=2, cutoff=0.7)}
    wanted = set(numbers) & known or similar
    return [product for product, words in rows.items() if words & wanted]
