"""Short names of kernels."""

from __future__ import annotations


def short_name(kernel_name: str) -> str:
    """The function's name without return type, namespaces, template arguments and parameters."""
    return kernel_name
