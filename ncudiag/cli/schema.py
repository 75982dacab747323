"""``ncudiag schema``: print the JSON Schema of the report."""

from __future__ import annotations

from ncudiag.cli import options as shared  # noqa: TC001 - typer reads the annotations
from ncudiag.cli.output import check_output, write_text


def schema(*, output: shared.Output = None) -> None:
    """Print the JSON Schema of what --format json prints.

    \b
    Example:
      ncudiag schema --output report.schema.json
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    check_output(output)
    from ncudiag.report.json_output import dumps
    from ncudiag.report.schema import json_schema

    write_text(dumps(json_schema()), output=output)
