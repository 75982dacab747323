"""Says why a CUDA kernel is slow and what to try first, from an Nsight Compute report."""

from ncudiag._version import __version__

__all__ = ["__version__"]
