"""Writes ncu reports of well-known kernels from their own arithmetic: no GPU, no measurement.

gpus: limits and peaks, each with its source. work: what one launch does, counted by hand. timing: how long that
takes at least. metrics: ncu's metrics that follow. layouts: how each ncu version prints them. cases: the kernels.
"""
