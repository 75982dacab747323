"""Two sides, before and after: which kernels are the same, and what changed."""
