"""``ncudiag doctor``: can this machine profile?"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ncudiag.cli import options as shared
from ncudiag.cli import terminal
from ncudiag.cli.formats import DocumentFormat
from ncudiag.cli.output import check_output, write_text
from ncudiag.errors import EXIT_PROFILING

Format = Annotated[
    DocumentFormat, typer.Option("--format", help="Text for people, or a JSON document.", show_default=True)
]
Ncu = Annotated[
    str | None, typer.Option("--ncu", metavar="PATH", help="The ncu to look at; found by itself as a rule.")
]


def doctor(*, ncu: Ncu = None, output_format: Format = DocumentFormat.TEXT, output: shared.Output = None) -> None:
    """Say whether this machine can profile, and what stands in the way: ncu, driver, GPU, permission, other tools.

    \b
    Examples:
      ncudiag doctor
      ncudiag doctor --ncu /opt/nvidia/nsight-compute/2025.1.0/ncu --format json

    With a GPU it runs a tiny kernel under ncu and reads one counter: only that counts as a yes. Exit status 0 when
    profiling works, else 4.
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    check_output(output)
    from ncudiag.ncu.doctor import examine
    from ncudiag.report.doctor_output import doctor_json, render_doctor

    examination = examine(ncu)
    if output_format is DocumentFormat.JSON:
        text = doctor_json(examination)
    else:
        place = terminal.FILE if output is not None else terminal.of_stream(sys.stdout)
        text = render_doctor(examination, width=place.width, colour=place.colour, unicode=place.unicode)
    write_text(text, output=output)
    if not examination.can_profile:
        raise typer.Exit(EXIT_PROFILING)
