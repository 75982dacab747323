"""``%load_ext ncudiag``: the cell magic ``%%ncudiag`` profiles the script in a cell.

The script runs in a process of its own under ncu, with the notebook's interpreter and folder; it knows nothing of the
notebook's variables, and says so by failing where it uses one.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argparse import Namespace

    from IPython.core.interactiveshell import InteractiveShell

    from ncudiag.report.document import Report

_TIMEOUT_S = 600.0


def register(shell: InteractiveShell) -> None:
    """Add the magic to a notebook."""

    def ncudiag(line: str, cell: str) -> Report | None:
        """Profile the script in this cell with Nsight Compute and say what limits its kernels."""
        return profile_cell(shell, line, cell)

    shell.magics_manager.register_function(ncudiag, magic_kind="cell", magic_name="ncudiag")


def profile_cell(shell: InteractiveShell, line: str, cell: str) -> Report | None:
    """Profile the script of a cell.

    Args:
        shell: the notebook's; it gets the report under the name of ``--into``.
        line: what stands behind ``%%ncudiag``: ``--kernel WORD`` (may be repeated), ``--top N``, ``--preset``
            ``quick``, ``standard`` or ``full``, ``--launch-count N`` (100; 0 for all), ``--timeout SECONDS`` (600),
            ``--into NAME`` (put the report under this name and show nothing).
        cell: the script.

    Returns:
        The report, which the notebook shows; None where it was put under a name.

    Raises:
        IPython.core.error.UsageError: a wrong option, or the script cannot be profiled; shown without a traceback.
    """
    from IPython.core.error import UsageError as ShownError

    from ncudiag.api import run
    from ncudiag.errors import NcudiagError

    given = _arguments(line)
    with tempfile.TemporaryDirectory(prefix="ncudiag-cell-") as folder:
        script = Path(folder) / "cell.py"
        script.write_text(cell, encoding="utf-8")
        options: dict[str, Any] = {
            "kernel": given.kernel or None,
            "top": given.top,
            "preset": given.preset,
            "launch_count": given.launch_count,
            "timeout": given.timeout,
        }
        try:
            report = run([sys.executable, str(script)], **options)
        except NcudiagError as error:
            message = f"{error.message} [{error.code}]\nhint: {error.hint}"
            raise ShownError(message) from None
    # The script's own place is gone already.
    report = report.model_copy(update={"source": report.source.model_copy(update={"path": "cell"})})
    if given.into is None:
        return report
    shell.user_ns[given.into] = report
    return None


def _arguments(line: str) -> Namespace:
    """The options of the magic."""
    from IPython.core.magic_arguments import MagicArgumentParser

    parser = MagicArgumentParser(prog="%%ncudiag", add_help=False)  # type: ignore[no-untyped-call]
    parser.add_argument("--kernel", action="append")
    parser.add_argument("--top", type=int)
    parser.add_argument("--preset", default="standard", choices=("quick", "standard", "full"))
    parser.add_argument("--launch-count", type=int, default=100)
    parser.add_argument("--timeout", type=float, default=_TIMEOUT_S)
    parser.add_argument("--into", type=_name)
    return parser.parse_args(shlex.split(line))


def _name(word: str) -> str:
    """A variable's name."""
    if not word.isidentifier():
        message = f"{word!r} is no name of a variable"
        raise ValueError(message)
    return word
