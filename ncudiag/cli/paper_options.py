"""The options of the paper roofline: the GPU, and the sizes of the named kernels."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from ncudiag.cli.formats import DocumentFormat


def _whole(text: str) -> int:
    """A whole number, as in 4096 or 1e6."""
    try:
        return int(text)
    except ValueError:
        value = float(text)
    if not value.is_integer():
        # Older versions of typer keep the text of their own exception only.
        message = f"{text} is no whole number"
        raise typer.BadParameter(message)
    return int(value)


def _size(help_text: str, metavar: str = "N") -> typer.models.OptionInfo:
    """An option for a size of a kernel."""
    option: typer.models.OptionInfo = typer.Option(metavar=metavar, help=help_text, parser=_whole)
    return option


Format: TypeAlias = Annotated[
    DocumentFormat, typer.Option("--format", help="Text for people, or a document for programs.", show_default=True)
]
Gpu: TypeAlias = Annotated[
    str | None,
    typer.Option("--gpu", metavar="NAME", help="As in H100 or RTX 4090; `ncudiag gpus list` names all. H100 if none."),
]
GpuFile: TypeAlias = Annotated[
    str | None, typer.Option("--gpu-file", metavar="FILE", help="A TOML file with GPUs of your own.")
]
Peak: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--peak", metavar="PRECISION=FLOP/S", help="A peak of your own, as in fp32=67e12. May be repeated."),
]
Bandwidth: TypeAlias = Annotated[
    float | None, typer.Option("--bandwidth", metavar="BYTE/S", help="DRAM bandwidth of your own, as in 3.35e12.")
]
Precision: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="WORD",
        help="fp64, fp64-tensor, fp32, tf32, fp16, fp16-vector, fp16-fp16acc, bf16, fp8, int8, int4, fp4; else fp32.",
    ),
]
ElementBytes: TypeAlias = Annotated[
    float | None,
    typer.Option("--element-bytes", metavar="N", help="Bytes of an element in DRAM, if not those of the precision."),
]
Flops: TypeAlias = Annotated[
    float | None, typer.Option("--flops", metavar="N", help="Operations; a fused multiply-add is two.")
]
Bytes: TypeAlias = Annotated[float | None, typer.Option("--bytes", metavar="N", help="Bytes to and from DRAM.")]

M: TypeAlias = Annotated[int | None, _size("gemm, gemv: rows of A.")]
N: TypeAlias = Annotated[int | None, _size("gemm: columns of B; gemv: columns of A; vectors, stencil: elements.")]
K: TypeAlias = Annotated[int | None, _size("gemm: columns of A.")]
Tile: TypeAlias = Annotated[int | None, _size("gemm: edge of the tile kept on chip; 1 is no reuse.", "T")]
Points: TypeAlias = Annotated[int | None, _size("stencil: points, as in 3, 5, 7, 27.")]
Reuse: TypeAlias = Annotated[
    str | None, typer.Option(metavar="none|perfect", help="stencil, spmv: how often an input is read from DRAM.")
]
Rows: TypeAlias = Annotated[int | None, _size("transpose, spmv, layernorm, softmax: rows.")]
Cols: TypeAlias = Annotated[int | None, _size("transpose, spmv, layernorm, softmax: columns.")]
Nnz: TypeAlias = Annotated[int | None, _size("spmv: nonzeros.")]
IndexBytes: TypeAlias = Annotated[int | None, _size("spmv: bytes of an index.")]
Variant: TypeAlias = Annotated[
    str | None, typer.Option(metavar="fused|naive", help="layernorm, softmax, attention, conv2d: how it is written.")
]
Seq: TypeAlias = Annotated[int | None, _size("attention: keys and values.")]
HeadDim: TypeAlias = Annotated[int | None, _size("attention: elements of a head.")]
Queries: TypeAlias = Annotated[int | None, _size("attention: queries, if not as many as --seq (1 while decoding).")]
Heads: TypeAlias = Annotated[int | None, _size("attention: heads.")]
Batch: TypeAlias = Annotated[int | None, _size("attention, conv2d: sequences or images.")]
InChannels: TypeAlias = Annotated[int | None, _size("conv2d: channels in.")]
OutChannels: TypeAlias = Annotated[int | None, _size("conv2d: channels out.")]
Height: TypeAlias = Annotated[int | None, _size("conv2d: rows of an image.")]
Width: TypeAlias = Annotated[int | None, _size("conv2d: columns of an image.")]
FilterSize: TypeAlias = Annotated[int | None, _size("conv2d: edge of the filter.")]
Stride: TypeAlias = Annotated[int | None, _size("conv2d: step of the filter.")]
Padding: TypeAlias = Annotated[int | None, _size("conv2d: zeros on each side.")]
