"""Settings of a project: ``ncudiag.toml``, or ``[tool.ncudiag]`` in ``pyproject.toml``.

The nearest file counts, from the current folder upwards to the root of the repository or the home folder. An option
on the command line replaces the key of the same name; ``--select`` replaces ``ignore`` too, because who selects on
the command line wants exactly that.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, Unpack

from ncudiag.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ncudiag.gate.gates import Budget

FILE = "ncudiag.toml"
PROJECT_FILE = "pyproject.toml"
TABLE = "tool.ncudiag"

_LISTS = ("rules", "select", "ignore")
_NUMBERS = ("high", "saturated", "borderline")
_BUDGET = "budget"
_KEYS = (*_LISTS, *_NUMBERS, _BUDGET)
_MOST = 100
# A key of TOML may stand in quotes, with blanks around it.
_PLAIN = str.maketrans("", "", " \t\"'")


class Choices(TypedDict, total=False):
    """What settings and command line both may say, as :func:`ncudiag.diagnose` takes it."""

    rules: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    high: float | None
    saturated: float | None
    borderline: float | None
    budgets: tuple[Budget, ...]


class Settings(NamedTuple):
    """What a settings file says; an empty tuple and None stand for keys that are not there.

    Attributes:
        path: the file; None when there is none.
        rules: folders of rules, from the place of the file.
        select, ignore: rules by id, name or family.
        high, saturated, borderline: the thresholds.
        budgets: what single kernels must keep to.
    """

    path: Path | None = None
    rules: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    high: float | None = None
    saturated: float | None = None
    borderline: float | None = None
    budgets: tuple[Budget, ...] = ()


NONE = Settings()


def choose(*, no_config: bool = False, **given: Unpack[Choices]) -> Choices:
    """What the command line says, and the settings of the current folder where it says nothing.

    Args:
        no_config: do not look for a settings file.
        given: the command line's options; None and empty ones were not given.

    Raises:
        UsageError: the settings file is wrong.
    """
    return merge(NONE if no_config else read_settings(Path.cwd(), home=_home()), **given)


def merge(settings: Settings, **given: Unpack[Choices]) -> Choices:
    """The command line's options, and the settings for what it leaves out; keys that nobody set are left out."""
    chosen: Choices = {}
    rules = given.get("rules") or settings.rules
    select = given.get("select") or settings.select
    ignore = given.get("ignore") or (() if given.get("select") else settings.ignore)
    if rules:
        chosen["rules"] = rules
    if select:
        chosen["select"] = select
    if ignore:
        chosen["ignore"] = ignore
    high, saturated, borderline = (_first(given, settings, key) for key in ("high", "saturated", "borderline"))
    if high is not None:
        chosen["high"] = high
    if saturated is not None:
        chosen["saturated"] = saturated
    if borderline is not None:
        chosen["borderline"] = borderline
    if settings.budgets:
        chosen["budgets"] = settings.budgets
    return chosen


def read_settings(start: Path, *, home: Path | None = None) -> Settings:
    """The settings that hold in a folder.

    Args:
        start: the folder, absolute.
        home: where the search ends at the latest.

    Raises:
        UsageError: the file cannot be read, is no TOML, or has a key or a value that does not belong there.
    """
    for folder in _upwards(start, home):
        own = folder / FILE
        if own.is_file():
            return _settings(own, _document(own), prefix="")
        project = folder / PROJECT_FILE
        # Most of these say nothing to us, and need no parsing then.
        if project.is_file() and _may_be_ours(_text(project)):
            table = _document(project).get("tool", {})
            ours = table.get("ncudiag") if isinstance(table, dict) else None
            if ours is not None:
                return _settings(project, ours, prefix=f"{TABLE}.")
    return NONE


def _first(given: Choices, settings: Settings, key: Literal["high", "saturated", "borderline"]) -> float | None:
    value = given.get(key)
    return value if value is not None else getattr(settings, key)


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # a user without a home
        return None


def _upwards(start: Path, home: Path | None) -> Iterator[Path]:
    for folder in (start, *start.parents):
        yield folder
        if folder == home or (folder / ".git").exists():
            return


def _may_be_ours(text: str) -> bool:
    """Whether a project file may hold our table: as a header, with a dotted key, or as a key under ``[tool]``."""
    lines = [line.translate(_PLAIN) for line in text.splitlines() if "ncudiag" in line or "tool" in line]
    return any("tool" in line and "ncudiag" in line for line in lines) or (
        "[tool]" in "".join(lines) and any(line.startswith("ncudiag") for line in lines)
    )


def _text(path: Path) -> str:
    from ncudiag.small_files import read_text

    try:
        return read_text(path)
    except (OSError, ValueError) as error:
        raise wrong(path, getattr(error, "strerror", None) or str(error)) from error


def _document(path: Path) -> dict[str, Any]:
    from ncudiag.small_files import parsed

    text = _text(path)
    try:
        return parsed(text)
    except ValueError as error:
        raise wrong(path, str(error)) from error


def _settings(path: Path, table: object, *, prefix: str) -> Settings:
    """The values of a table, each checked."""
    if not isinstance(table, dict):
        raise wrong(path, f"{prefix.rstrip('.')}: expected a table")
    _check_keys(path, table, prefix)
    lists = {key: words_of(path, f"{prefix}{key}", table[key]) for key in _LISTS if key in table}
    numbers = {key: _percent(path, f"{prefix}{key}", table[key]) for key in _NUMBERS if key in table}
    return Settings(
        path=path,
        rules=tuple(str(path.parent / Path(folder).expanduser()) for folder in lists.get("rules", ())),
        select=lists.get("select", ()),
        ignore=lists.get("ignore", ()),
        budgets=_budgets(path, f"{prefix}{_BUDGET}", table[_BUDGET]) if _BUDGET in table else (),
        **numbers,
    )


def _budgets(path: Path, key: str, value: object) -> tuple[Budget, ...]:
    from ncudiag.cli.budgets import Place, read_budgets

    return read_budgets(value, Place(path, key))


def _check_keys(path: Path, table: Mapping[str, object], prefix: str) -> None:
    for key in table:
        if key not in _KEYS:
            from difflib import get_close_matches

            near = get_close_matches(key, _KEYS, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise wrong(path, f"{prefix}{key}: unknown key{meant}")


def words_of(path: Path, key: str, value: object) -> tuple[str, ...]:
    """A list of words; one word may stand for itself."""
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) and word.strip() for word in words):
        raise wrong(path, f'{key}: expected a list of words, as in ["MEM003", "latency"]')
    return tuple(words)


def _percent(path: Path, key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        raise wrong(path, f"{key}: expected a number from 0 to {_MOST}")
    return float(value)


def wrong(path: Path, what: str, *, keys: tuple[str, ...] = _KEYS) -> UsageError:
    """The error for a settings file that cannot be used, with its place in the file in front."""
    return UsageError(
        "usage",
        f"{path.name}: {what}",
        f"The keys are {', '.join(keys)}; --no-config leaves the file out of account.",
        details={"file": str(path)},
    )
