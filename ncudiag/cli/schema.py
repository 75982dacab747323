"""``ncudiag schema``: print the JSON Schema of a document."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ncudiag.cli import options as shared  # noqa: TC001 - typer reads the annotations
from ncudiag.cli.output import check_output, write_text


class Document(StrEnum):
    """The documents that --format json prints."""

    REPORT = "report"
    COMPARISON = "comparison"
    ERROR = "error"


def schema(
    *,
    document: Annotated[
        Document, typer.Argument(help="Of a report, of a comparison, or of what stands there after a failure.")
    ] = Document.REPORT,
    output: shared.Output = None,
) -> None:
    """Print the JSON Schema of what --format json prints.

    \b
    Examples:
      ncudiag schema --output report.schema.json
      ncudiag schema error
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    check_output(output)
    from ncudiag.report.json_output import dumps
    from ncudiag.report.schema import json_schema

    write_text(dumps(json_schema(document.value)), output=output)
