"""The quadrant table: ``rules/quadrants.toml`` as a frozen model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias
from zlib import crc32

from pydantic import BaseModel, ConfigDict, ValidationError

from ncudiag.errors import RuleFileError
from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.thresholds import Thresholds

PREPARED = Path(__file__).with_name("quadrants.json")

Level: TypeAlias = Literal["high", "low"]
QuadrantVerdict: TypeAlias = Literal["memory-bound", "compute-bound", "latency-bound", "near-roofline"]

# Why there can be no verdict; each needs something to do.
_UNKNOWN = frozenset({"dram-not-measured", "dram-not-on-this-gpu", "not-measured", "not-readable", "sm-not-measured"})


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Limits(_Table):
    """The numbers of the verdict besides the thresholds; each with its source in the file.

    Units are in the names; ``waves`` and ``issue_rate`` are plain numbers, ``pipe_gap`` is in points.
    """

    short_kernel_ns: float
    waves: float
    tail_pct: float
    occupancy_pct: float
    issue_rate: float
    stall_pct: float
    tensor_busy_pct: float
    tensor_ceiling_pct: float
    pipe_gap: float
    clock_spread_pct: float
    first_launch_ratio: float
    many_configurations: int


class Quadrant(_Table):
    """One field of the table: DRAM and SM against ``high``."""

    dram: Level
    sm: Level
    verdict: QuadrantVerdict
    first_thing_to_try: str


class QuadrantTable(_Table):
    """The whole file.

    Attributes:
        thresholds: the defaults.
        limits: the other numbers.
        quadrant: the four fields.
        limiter: first thing to try by limiting unit (``UNIT:saturated`` where that unit is full as well).
        reason: first thing to try by reason for latency; ``stall`` stands for any stall without an own entry.
        unknown: what to do when there is no verdict.
    """

    thresholds: Thresholds
    limits: Limits
    quadrant: tuple[Quadrant, ...]
    limiter: Mapping[str, str]
    reason: Mapping[str, str]
    unknown: Mapping[str, str]

    def field(self, *, dram_high: bool, sm_high: bool) -> Quadrant:
        """The field of the table for two answers."""
        wanted = ("high" if dram_high else "low", "high" if sm_high else "low")
        return next(field for field in self.quadrant if (field.dram, field.sm) == wanted)

    def general_advice(self, verdict: QuadrantVerdict) -> str:
        """The general first thing to try of a quadrant."""
        return next(field.first_thing_to_try for field in self.quadrant if field.verdict == verdict)


def load_quadrants(path: Path) -> QuadrantTable:
    """Read and check a quadrant table.

    Args:
        path: a TOML file with the shape of the built-in ``rules/quadrants.toml``.

    Raises:
        RuleFileError: the file cannot be read, is no TOML, or does not fit; the message has file and key path.
    """
    from ncudiag.small_files import read_toml

    try:
        table = QuadrantTable.model_validate(read_toml(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _broken(path, f"{where}: {first['msg']}") from error
    except (OSError, ValueError) as error:
        raise _broken(path, str(error)) from error
    corners = {(field.dram, field.sm) for field in table.quadrant}
    verdicts = {field.verdict for field in table.quadrant}
    if not len(corners) == len(verdicts) == len(table.quadrant) == 4:  # noqa: PLR2004 - two levels on two axes
        raise _broken(path, "quadrant: expected each of the four combinations and each verdict exactly once")
    silent = _UNKNOWN - table.unknown.keys()
    if silent:
        raise _broken(path, f"unknown: no advice for {', '.join(sorted(silent))}")
    return table


@cache
def builtin_quadrants() -> QuadrantTable:
    """The table that comes with ncudiag: from its prepared file, or from the TOML file when that was edited since."""
    path = builtin_rules() / "quadrants.toml"
    try:
        prepared: dict[str, Any] = json.loads(PREPARED.read_bytes())
        fits = prepared["digest"] == digest_of_file(path)
    except (OSError, ValueError):
        return load_quadrants(path)
    return _from_plain(prepared["table"]) if fits else load_quadrants(path)


def digest_of_file(path: Path) -> str:
    """What identifies the content of a file: its size and a checksum (to notice an edit, not an attack)."""
    content = path.read_bytes()
    return f"{len(content)}-{crc32(content):08x}"


def prepared_table() -> str:
    """The content of the prepared file for the table as it is now: checked, and ready without TOML or validation."""
    path = builtin_rules() / "quadrants.toml"
    table = load_quadrants(path).model_dump(mode="json")
    return json.dumps({"digest": digest_of_file(path), "table": table}, indent=0, ensure_ascii=False) + "\n"


def _from_plain(plain: dict[str, Any]) -> QuadrantTable:
    """The table from values that were checked when the file was prepared."""
    parts = plain | {
        "thresholds": Thresholds.model_construct(**plain["thresholds"]),
        "limits": Limits.model_construct(**plain["limits"]),
        "quadrant": tuple(Quadrant.model_construct(**field) for field in plain["quadrant"]),
    }
    return QuadrantTable.model_construct(**parts)


def _broken(path: Path, what: str) -> RuleFileError:
    return RuleFileError(
        "rule-file",
        f"{path.name}: {what}",
        "Compare the file with the one that comes with ncudiag; every key is required and none may be added.",
        details={"file": path.name},
    )
