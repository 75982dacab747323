"""What the server tells an agent about its tools and their parameters."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from mcp.types import CallToolResult
from pydantic import Field

INSTRUCTIONS = """ncudiag reads reports of NVIDIA Nsight Compute and says what limits each CUDA kernel \
(memory-bound, compute-bound, latency-bound, near-roofline, unknown), with the numbers that decided and the first \
thing to try.
Start with `explain` on a report; kernels come with the largest share of time first. Change one thing, profile again, \
and `compare` the two reports. A metric that is null was not collected: `missing` names the ncu option that collects \
it; never take it for zero. Answers are brief; the warning `shortened` says what they leave out, `full` has all of it, \
and `rules` with an id explains a finding. Times of different clocks, GPUs or launch shapes do not compare."""

Document: TypeAlias = Annotated[CallToolResult, dict[str, Any]]
"""A JSON object; `ncudiag schema` prints its schema."""

File: TypeAlias = Annotated[
    str,
    Field(
        min_length=1,
        description="Path of a report, relative to the server's folder: output of ncu --csv, or an .ncu-rep file.",
    ),
]
Kernel: TypeAlias = Annotated[
    list[str] | None,
    Field(
        description="Only kernels with one of these words in their short name (any case); regex:EXPR is searched in "
        "the full name."
    ),
]
Top: TypeAlias = Annotated[
    int, Field(ge=1, le=100, description="How many kernels, those with the largest share of the captured time.")
]
Full: TypeAlias = Annotated[
    bool, Field(description="The whole document (all metrics, findings, rooflines) in place of the brief one.")
]
NeededBytes: TypeAlias = Annotated[
    float | None,
    Field(gt=0, description="Bytes that one launch has to move to and from DRAM, where known: finds excess traffic."),
]
RuleWord: TypeAlias = Annotated[
    str | None, Field(description="Id or name of one rule, as in MEM003, to have it in full; without it, the list.")
]
Select: TypeAlias = Annotated[
    list[str] | None,
    Field(description="In the list, only these: ids, names or families (memory, compute, latency, roofline, trust)."),
]
PaperKernel: TypeAlias = Annotated[
    str | None,
    Field(
        description="A known kernel: saxpy, daxpy, axpy, dot, reduction, transpose, stencil, gemm, gemv, spmv, "
        "layernorm, softmax, attention, conv2d. For any other, flops and bytes."
    ),
]
Sizes: TypeAlias = Annotated[
    dict[str, int | str] | None,
    Field(
        description='The known kernel\'s sizes, as in {"m": 4096, "n": 4096, "k": 4096}; an error names those it takes.'
    ),
]
Amount: TypeAlias = Annotated[float | None, Field(ge=0, description="Of the whole kernel, or of one element.")]
GpuName: TypeAlias = Annotated[str, Field(description="As in H100, A100, RTX 4090.")]
Precision: TypeAlias = Annotated[
    str | None,
    Field(description="fp64, fp32, tf32, fp16, bf16, fp8, int8, ...; fp32 (for a known kernel its own) unless given."),
]
Command: TypeAlias = Annotated[
    list[str], Field(min_length=1, description='The program and its arguments, as in ["./my_app", "--size", "4096"].')
]
Preset: TypeAlias = Annotated[
    Literal["quick", "standard", "full"],
    Field(description="quick: the verdict. standard: what the rules need. full: ncu's full set. Each takes longer."),
]
LaunchCount: TypeAlias = Annotated[
    int,
    Field(ge=1, le=1000, description="At most so many matching launches are profiled; each is replayed often."),
]
Timeout: TypeAlias = Annotated[float, Field(gt=0, le=3600, description="Seconds after which the program is ended.")]
