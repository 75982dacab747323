"""What to say where the extra ``ncudiag[fleet]`` is not installed."""

from __future__ import annotations

from ncudiag.errors import UsageError


def missing_extra(error: ImportError, extra: str = "fleet") -> UsageError:
    """The error in place of an import that failed."""
    return UsageError(
        "usage",
        f"{error.name or 'a package'} is not installed, which many machines need",
        f"pip install 'ncudiag[{extra}]'",
        details={"package": error.name, "extra": extra},
    )
