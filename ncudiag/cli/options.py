"""The options that several commands share, with the same name, meaning and help everywhere."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from ncudiag.cli.formats import OutputFormat

__all__ = ["Borderline", "Brief", "Format", "High", "Kernel", "Output", "OutputFormat", "Saturated", "Top", "WithHost"]


Format: TypeAlias = Annotated[
    OutputFormat, typer.Option("--format", help="Text for people, or a document for programs.", show_default=True)
]
Kernel: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--kernel",
        metavar="WORD|regex:EXPR",
        help="Only kernels with WORD in their short name (any case), or whose full name matches. May be repeated.",
    ),
]
Top: TypeAlias = Annotated[
    int | None,
    typer.Option("--top", min=1, metavar="N", help="Only the N kernels with the largest share of captured time."),
]
Output: TypeAlias = Annotated[
    str | None, typer.Option("--output", metavar="FILE", help="Write to FILE instead of the terminal.")
]
High: TypeAlias = Annotated[
    float | None, typer.Option("--high", metavar="PCT", help="A unit counts as high from this % of peak on.")
]
Saturated: TypeAlias = Annotated[
    float | None, typer.Option("--saturated", metavar="PCT", help="A unit counts as saturated from this % on.")
]
Borderline: TypeAlias = Annotated[
    float | None,
    typer.Option("--borderline", metavar="POINTS", help="A number this near to --high makes a verdict borderline."),
]
WithHost: TypeAlias = Annotated[
    bool, typer.Option("--with-host", help="Keep host name and process path in the answer.", show_default=False)
]
Brief: TypeAlias = Annotated[
    bool, typer.Option("--brief", help="In JSON, keep only the metrics that the verdict used.", show_default=False)
]
