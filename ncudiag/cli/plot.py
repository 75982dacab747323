"""``--plot``: a roofline beside the answer, as a file or in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ncudiag.cli import terminal
from ncudiag.cli.formats import OutputFormat
from ncudiag.cli.output import check_output, write_file, write_text
from ncudiag.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ncudiag.report.roofline_picture import Picture
    from ncudiag.report.roofline_plot import PlotFormat

TERMINAL = "-"
"""Draw in the terminal."""

_FORMATS: Mapping[str, PlotFormat] = {".svg": "svg", ".png": "png", ".html": "html", ".htm": "html"}


def check_plot(plot: str, *, form: str = OutputFormat.TEXT, output: str | None, others: Iterable[str]) -> None:
    """Fail early when the picture cannot be made or written.

    Args:
        plot: what ``--plot`` says.
        form: the answer's format; a picture in the terminal goes with text alone.
        output: where the answer goes.
        others: files that this call reads.

    Raises:
        UsageError: no such kind of picture, no place for it, or the libraries that draw it are missing.
    """
    from ncudiag.report.roofline_plot import check_installed

    if plot == TERMINAL:
        if form != OutputFormat.TEXT and output is None:
            raise UsageError(
                "usage",
                f"--plot - does not go with --format {form} on standard output",
                "Write the document with --output FILE, or the picture with --plot roofline.svg.",
            )
        check_installed("uniplot")
        return
    if Path(plot).suffix.lower() not in _FORMATS:
        raise UsageError(
            "usage",
            f"--plot {plot} names no kind of picture",
            "Give a file that ends in .svg, .png or .html, or - for a small one in the terminal.",
        )
    check_output(plot, [*others, *([] if output is None else [output])], option="--plot")
    check_installed()


def emit_plot(plot: str, shown: Sequence[Picture], *, after_text: bool = True) -> None:
    """Draw a picture and write it.

    Args:
        plot: a file's name, or ``-``.
        shown: a picture for each GPU.
        after_text: whether the answer stands on standard output already.

    Raises:
        UsageError: the picture cannot be written (``output-not-writable``).
    """
    if plot == TERMINAL:
        from ncudiag.report.roofline_terminal import render_terminal

        place = terminal.of_stream(sys.stdout)
        text = render_terminal(shown, width=place.width, unicode=place.unicode)
        write_text(f"\n{text}" if after_text else text)
        return
    from ncudiag.report.roofline_plot import render

    write_file(render(shown, _FORMATS[Path(plot).suffix.lower()]), plot)
