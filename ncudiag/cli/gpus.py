"""``ncudiag gpus``: what is known about GPUs."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from ncudiag.cli import options as shared
from ncudiag.cli import terminal
from ncudiag.cli.formats import DocumentFormat
from ncudiag.cli.output import check_output, write_text
from ncudiag.cli.paper_options import Format, GpuFile  # noqa: TC001 - typer reads the annotations
from ncudiag.errors import UsageError


class Action(StrEnum):
    """What to show."""

    LIST = "list"
    SHOW = "show"


def gpus(
    *,
    action: Annotated[Action, typer.Argument(help="All GPUs, or one of them.", show_default=True)] = Action.LIST,
    name: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="As in H100, or RTX 4090.")] = None,
    gpu_file: GpuFile = None,
    output_format: Format = DocumentFormat.TEXT,
    output: shared.Output = None,
) -> None:
    """Show bandwidths, dense peaks per precision, ridge points and limits of GPUs, with their sources.

    \b
    Examples:
      ncudiag gpus list
      ncudiag gpus show H100
      ncudiag gpus show RTX 4090 --format json
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    check_output(output, [] if gpu_file is None else [gpu_file])
    asked = " ".join(name or ())
    if action is Action.LIST and asked:
        raise UsageError("usage", "list shows all GPUs and takes no name", f"One of them: `ncudiag gpus show {asked}`.")
    if action is Action.SHOW and not asked:
        raise UsageError("usage", "show needs the name of a GPU", "As in `ncudiag gpus show H100`.")
    write_text(_answer(asked, gpu_file, output_format, output), output=output)


def _answer(asked: str, gpu_file: str | None, output_format: DocumentFormat, output: str | None) -> str:
    """What to print: one GPU, or all without a name."""
    from ncudiag.roofline.gpus import all_gpus, find_gpu
    from ncudiag.roofline.own_gpu import gpus_from_file

    own = gpus_from_file(gpu_file) if gpu_file is not None else ()
    if output_format is DocumentFormat.JSON:
        from ncudiag.report.roofline_json import gpu_json, gpus_json

        return gpu_json(*find_gpu(asked, own=own)) if asked else gpus_json((*own, *all_gpus()))
    from ncudiag.report.gpu_text import render_gpu, render_gpus

    place = terminal.FILE if output is not None else terminal.of_stream(sys.stdout)
    if not asked:
        return render_gpus((*own, *all_gpus()), width=place.width, colour=place.colour, unicode=place.unicode)
    gpu, notes = find_gpu(asked, own=own)
    return render_gpu(gpu, width=place.width, colour=place.colour, unicode=place.unicode, notes=notes)
