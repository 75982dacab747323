"""Where a kernel stands under its roofline, on paper and measured; what is known about GPUs.

>>> from ncudiag.roofline import Roofline
>>> Roofline("H100").estimate(flops=5, bytes=16, precision="fp32").bound
'memory-bound'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncudiag.roofline.estimate import Estimate
    from ncudiag.roofline.gpu import Gpu
    from ncudiag.roofline.gpus import find_device, find_gpu
    from ncudiag.roofline.paper import Roofline

__all__ = ["Estimate", "Gpu", "Roofline", "find_device", "find_gpu"]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: an explained report needs only the measured part."""
    from importlib import import_module

    homes = {"Estimate": "estimate", "Gpu": "gpu", "Roofline": "paper", "find_device": "gpus", "find_gpu": "gpus"}
    if name not in homes:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"{__name__}.{homes[name]}"), name)
