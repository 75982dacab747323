"""The address of a kernel in a page: the same for the same kernel in the next report too."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

from ncudiag.report.quantities import shape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ncudiag.diagnose.diagnosis import KernelIdentity

_FOREIGN = re.compile(r"[^a-z0-9]+")
_LONGEST = 40
_HASH = 8


def kernel_ids(kernels: Iterable[KernelIdentity]) -> list[str]:
    """An id for each kernel, as in ``kernel-saxpy-3f9a1c07``: unique in the page, safe in an address.

    It depends on name, launch shape, registers, GPU, device and rank. The process does not count, because it has
    another number in the next run; kernels that differ by nothing else are numbered (``-2``) in their order.
    """
    seen: dict[str, int] = {}
    ids = []
    for kernel in kernels:
        base = f"kernel-{_slug(kernel.short_name)}-{_digest(kernel)}"
        number = seen[base] = seen.get(base, 0) + 1
        ids.append(base if number == 1 else f"{base}-{number}")
    return ids


def _slug(name: str) -> str:
    return _FOREIGN.sub("-", name.lower())[:_LONGEST].strip("-") or "unnamed"


def _digest(kernel: KernelIdentity) -> str:
    parts = (
        kernel.name,
        shape(kernel.grid),
        shape(kernel.block),
        kernel.registers_per_thread,
        kernel.gpu,
        kernel.compute_capability,
        kernel.device,
        kernel.rank,
    )
    # Names may hold half characters, which UTF-8 has no bytes for.
    return sha256("\n".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
