"""Says why a CUDA kernel is slow and what to try first, from an Nsight Compute report.

>>> from ncudiag import diagnose
>>> report = diagnose("report.csv")                                                    # doctest: +SKIP
>>> report.kernels[0].verdict, report.kernels[0].first_thing_to_try                    # doctest: +SKIP
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from ncudiag._version import __version__

if TYPE_CHECKING:
    from ncudiag.api import diagnose, read, run
    from ncudiag.errors import NcudiagError
    from ncudiag.model import Launch, Metric, Profile
    from ncudiag.report.document import Report
    from ncudiag.roofline.paper import Roofline

__all__ = [
    "Launch",
    "Metric",
    "NcudiagError",
    "Profile",
    "Report",
    "Roofline",
    "__version__",
    "diagnose",
    "read",
    "run",
]

_HOMES = {
    "Launch": "ncudiag.model",
    "Metric": "ncudiag.model",
    "NcudiagError": "ncudiag.errors",
    "Profile": "ncudiag.model",
    "Report": "ncudiag.report.document",
    "Roofline": "ncudiag.roofline.paper",
    "read": "ncudiag.api",
    "run": "ncudiag.api",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that ``import ncudiag`` stays light."""
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


class _Package(ModuleType):
    """The package as a module whose ``diagnose`` is the function, although a folder of that name holds its code.

    Importing a submodule binds it to its name in the parent; for this one name that binding is ignored.
    """

    def _function(self) -> object:
        from ncudiag.api import diagnose

        return diagnose

    def _ignore_submodule(self, submodule: object) -> None:
        """Leave the name with the function."""

    diagnose = property(_function, _ignore_submodule)


sys.modules[__name__].__class__ = _Package
