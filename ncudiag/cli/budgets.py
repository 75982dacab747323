"""Budgets of single kernels in a settings file: ``[[budget]]``, each key checked where it stands."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.cli.settings import words_of, wrong
from ncudiag.gate.gates import Budget

if TYPE_CHECKING:
    from pathlib import Path

    from ncudiag.errors import UsageError

_KEYS = ("kernel", "fail_on", "max_duration", "max_regression", "optional")


class Place(NamedTuple):
    """Where something stands: the file and the key path."""

    path: Path
    key: str

    def below(self, key: str) -> Place:
        """A key of this table."""
        return Place(self.path, f"{self.key}.{key}")


def read_budgets(value: object, place: Place) -> tuple[Budget, ...]:
    """The budgets of a settings file.

    Args:
        value: what stands under ``budget``.
        place: where that is.

    Raises:
        UsageError: a key that does not exist, or a value of the wrong kind; what the values say is checked when the
            rules are known.
    """
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise _wrong(place, "expected tables, each under [[budget]]")
    return tuple(_budget(table, Place(place.path, f"{place.key}[{number}]")) for number, table in enumerate(value))


def _budget(table: dict[str, object], place: Place) -> Budget:
    for key in table:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1)
            raise _wrong(place.below(key), f"unknown key{f'; did you mean {near[0]}?' if near else ''}")
    kernel = table.get("kernel")
    if not isinstance(kernel, str) or not kernel.strip():
        raise _wrong(place.below("kernel"), 'expected a word of the kernel\'s name, as in "stencil"')
    most = table.get("max_duration")
    if most is not None and not isinstance(most, str):
        raise _wrong(place.below("max_duration"), 'expected a duration with its unit, as in "1.5 ms"')
    slower = table.get("max_regression")
    if slower is not None and (isinstance(slower, bool) or not isinstance(slower, (str, int, float))):
        raise _wrong(place.below("max_regression"), 'expected a share, as in "5%" or 0.05')
    optional = table.get("optional", False)
    if not isinstance(optional, bool):
        raise _wrong(place.below("optional"), "expected true or false")
    states = words_of(place.path, f"{place.key}.fail_on", table["fail_on"]) if "fail_on" in table else ()
    return Budget(
        kernel=kernel,
        fail_on=states,
        max_duration=most,
        max_regression=slower,
        optional=optional,
        where=f"{place.path.name}: {place.key}",
    )


def _wrong(place: Place, what: str) -> UsageError:
    """The error for what stands at a place."""
    return wrong(place.path, f"{place.key}: {what}", keys=_KEYS)
