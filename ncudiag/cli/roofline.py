"""``ncudiag roofline``: where a kernel can stand under its roofline, before it is written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ncudiag.cli import options as shared
from ncudiag.cli import paper_options as paper
from ncudiag.cli import terminal
from ncudiag.cli.formats import DocumentFormat
from ncudiag.cli.output import check_output, write_text
from ncudiag.cli.paper_call import paper_call
from ncudiag.cli.plot import check_plot, emit_plot

if TYPE_CHECKING:
    from ncudiag.roofline.estimate import Estimate


def roofline(
    *,
    kernel: Annotated[
        str | None,
        typer.Argument(
            metavar="KERNEL",
            help="saxpy, daxpy, axpy, dot, reduction, transpose, stencil, gemm, gemv, spmv, layernorm, softmax, "
            "attention, conv2d; or --flops and --bytes for any other.",
        ),
    ] = None,
    flops: paper.Flops = None,
    moved: paper.Bytes = None,
    gpu: paper.Gpu = None,
    precision: paper.Precision = None,
    element_bytes: paper.ElementBytes = None,
    gpu_file: paper.GpuFile = None,
    peak: paper.Peak = None,
    bandwidth: paper.Bandwidth = None,
    n: paper.N = None,
    m: paper.M = None,
    k: paper.K = None,
    tile: paper.Tile = None,
    points: paper.Points = None,
    reuse: paper.Reuse = None,
    rows: paper.Rows = None,
    cols: paper.Cols = None,
    nnz: paper.Nnz = None,
    index_bytes: paper.IndexBytes = None,
    variant: paper.Variant = None,
    seq: paper.Seq = None,
    head_dim: paper.HeadDim = None,
    queries: paper.Queries = None,
    heads: paper.Heads = None,
    batch: paper.Batch = None,
    in_channels: paper.InChannels = None,
    out_channels: paper.OutChannels = None,
    height: paper.Height = None,
    width: paper.Width = None,
    filter_size: paper.FilterSize = None,
    stride: paper.Stride = None,
    padding: paper.Padding = None,
    output_format: paper.Format = DocumentFormat.TEXT,
    output: shared.Output = None,
    plot: shared.Plot = None,
) -> None:
    """Say on paper whether a kernel can be anything but memory-bound, how fast it can be, and what would move it.

    \b
    Examples:
      ncudiag roofline --flops 5 --bytes 16 --gpu H100 --precision fp32
      ncudiag roofline stencil --points 3 --reuse none --gpu A100
      ncudiag roofline gemm --m 4096 --n 4096 --k 4096 --precision fp16
      ncudiag roofline saxpy --gpu "RTX 4090" --plot saxpy.svg
      ncudiag roofline attention --seq 4096 --head-dim 128 --heads 32 --precision bf16 --format json
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    given = {name: value for name, value in locals().items() if value is not None}
    read = [] if gpu_file is None else [gpu_file]
    check_output(output, read)
    if plot is not None:
        check_plot(plot, form=output_format, output=output, others=read)
    call = paper_call(given)
    write_text(_answer(call.estimate, output_format, output), output=output)
    if plot is not None:
        from ncudiag.report.paper_picture import paper_picture

        emit_plot(plot, [paper_picture(call.roofline, call.estimate)], after_text=output is None)


def _answer(estimate: Estimate, output_format: DocumentFormat, output: str | None) -> str:
    """What to print."""
    if output_format is DocumentFormat.JSON:
        from ncudiag.report.roofline_json import estimate_json

        return estimate_json(estimate)
    from ncudiag.report.roofline_text import render_estimate

    place = terminal.FILE if output is not None else terminal.of_stream(sys.stdout)
    return render_estimate(estimate, width=place.width, colour=place.colour, unicode=place.unicode)
