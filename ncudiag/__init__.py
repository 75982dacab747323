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
    from IPython.core.interactiveshell import InteractiveShell

    from ncudiag.api import compare, diagnose, read, run
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
    "compare",
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


def load_ipython_extension(shell: InteractiveShell) -> None:
    """``%load_ext ncudiag`` in a notebook: the cell magic ``%%ncudiag``, see :mod:`ncudiag.magics`."""
    from ncudiag.magics import register

    register(shell)


def _api_function(name: str) -> property:
    """A function of the api under the name that a folder with its code has as well.

    Importing a submodule binds it to its name in the parent; that binding is ignored here.
    """

    def function(_: ModuleType) -> object:
        from ncudiag import api

        return getattr(api, name)

    def ignore_submodule(_: ModuleType, submodule: object) -> None:
        """Leave the name with the function."""

    return property(function, ignore_submodule)


class _Package(ModuleType):
    """The package as a module whose ``diagnose`` and ``compare`` are the functions, whatever was imported before."""

    diagnose = _api_function("diagnose")
    compare = _api_function("compare")


sys.modules[__name__].__class__ = _Package
