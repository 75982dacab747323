"""Which metrics a run asks for: the presets of ``presets.toml``, fitted to the GPUs and the ncu at hand."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Literal, get_args

from ncudiag.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Preset = Literal["quick", "standard", "full"]
PRESETS: tuple[Preset, ...] = get_args(Preset)

DEFAULT_PRESET: Preset = "standard"
"""What the rules need: the first thing to try comes from a rule as often as not, and quick leaves most of them
undecided. It costs about twice the passes of quick; a launch limit bounds what that can amount to."""

_DRAM = ("dram__", "gpu__dram")


@dataclass(frozen=True)
class _Group:
    preset: Preset
    metrics: tuple[str, ...]
    chips: frozenset[str] | None
    since: tuple[int, ...] | None
    sass: bool


def preset_metrics(
    preset: Preset,
    compute_capabilities: Iterable[str] = (),
    *,
    ncu_version: Sequence[int] | None = None,
    sass: bool = True,
) -> tuple[str, ...]:
    """The metrics of a preset; for ``full`` those that come on top of ncu's own sets.

    Args:
        preset: ``quick``, ``standard`` or ``full``.
        compute_capabilities: of the GPUs of this machine, as in ``["8.6"]``; empty when unknown. With several
            different GPUs only what all of them have is asked for.
        ncu_version: as in ``(2024, 1, 1)``; None when unknown.
        sass: whether counters of patched instructions are wanted.
    """
    groups, without_dram = _load()
    chips = frozenset(compute_capabilities)
    version = None if ncu_version is None else tuple(ncu_version)
    names = dict.fromkeys(
        name
        for group in groups
        if PRESETS.index(group.preset) <= PRESETS.index(preset)
        and (sass or not group.sass)
        and (group.chips is None or (chips and chips <= group.chips))
        and (group.since is None or (version is not None and version >= group.since))
        for name in group.metrics
    )
    return tuple(name for name in names if not (chips & without_dram and name.startswith(_DRAM)))


def known_preset(word: str) -> Preset:
    """The preset of that name.

    Raises:
        UsageError: there is none.
    """
    for preset in PRESETS:
        if word == preset:
            return preset
    raise UsageError("usage", f"--preset cannot be {word!r}.", f"It is {', '.join(PRESETS[:-1])} or {PRESETS[-1]}.")


def without_refused(metrics: Iterable[str], refused: Iterable[str]) -> tuple[str, ...]:
    """The metrics without those that ncu did not know.

    A GPU without one DRAM counter has none of them, so one refused DRAM name takes all of them out.

    Args:
        metrics: full names.
        refused: names as ncu wrote them, with or without suffix.
    """
    gone = set(refused)
    dram = any(name.startswith(_DRAM) for name in gone)
    return tuple(
        name
        for name in metrics
        if not (name in gone or name.partition(".")[0] in gone or (dram and name.startswith(_DRAM)))
    )


@functools.cache
def _load() -> tuple[tuple[_Group, ...], frozenset[str]]:
    text = files("ncudiag.ncu").joinpath("presets.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    groups = tuple(
        _Group(
            preset=known_preset(entry["preset"]),
            metrics=tuple(entry["metrics"]),
            chips=frozenset(entry["chips"]) if "chips" in entry else None,
            since=tuple(int(part) for part in entry["since"].split(".")) if "since" in entry else None,
            sass=entry.get("sass", False),
        )
        for entry in table["group"]
    )
    return groups, frozenset(table["no_dram_counters"])
