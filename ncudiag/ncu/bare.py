"""Running the program without ncu: an MPI rank that is not to be profiled still has to take part."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

from ncudiag.errors import ProfilingError

if TYPE_CHECKING:
    from collections.abc import Sequence


def become(target: Sequence[str]) -> NoReturn:
    """Let the program take this process's place; its exit status is then this process's.

    Raises:
        ProfilingError: it cannot be executed (``target-not-found``).
    """
    try:
        os.execvp(target[0], list(target))  # noqa: S606 - running the program that the user named is the purpose
    except OSError as error:
        raise ProfilingError(
            "target-not-found",
            f"The program cannot be started: {target[0]}: {error.strerror}",
            "Give its path as in ./my_app or the absolute one.",
        ) from error
