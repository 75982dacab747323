"""Why a number or an answer is missing, and the ncu option that collects it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.derived.boards import lacks_dram_counters
from ncudiag.diagnose.collect import how_to_collect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ncudiag.diagnose.diagnosis import Diagnosis, Missing, WhyMissing
    from ncudiag.gate.fields import Field

_DRAM_UNITS = ("dram__", "gpu__dram", "fbpa__")
_ENDING = "so the gate cannot pass"
_MOST_NAMED = 3


class Gap(NamedTuple):
    """What is missing.

    Attributes:
        message: one sentence without its full stop.
        collect: the ncu option; None where none helps.
    """

    message: str
    collect: str | None = None


def metric_gap(entry: Diagnosis, name: str, field: Field | None) -> Gap:
    """Why a number has no value.

    Args:
        entry: the kernel.
        name: as the gate names it.
        field: the entry's field of that name; None for a metric.
    """
    names = (name,) if field is None else field.metrics
    if not names:
        return _without_metric(entry, name, field)
    known = next((missing for missing in entry.missing if missing.metric in names), None)
    why = _why(entry, names) if known is None else known.why
    if why == "not-on-this-gpu":
        return Gap(f"this GPU does not count what {name} needs, {_ENDING}")
    collect = _shortest(names) if known is None else known.collect
    if why == "not-readable":
        return Gap(f"{name} is in the report without a usable value, {_ENDING}", collect)
    return Gap(f"{name} was not collected, {_ENDING}", collect)


def _shortest(names: tuple[str, ...]) -> str:
    """A stock section where one collects any of the names, else the first name."""
    options = [how_to_collect(name) for name in names]
    return next((option for option in options if option.startswith("--section")), options[0])


def _without_metric(entry: Diagnosis, name: str, field: Field | None) -> Gap:
    """A number that ncudiag itself finds, or not."""
    if field is not None and field.collect is not None:
        return Gap(f"{name} could not be computed, {_ENDING}", field.collect)
    if entry.verdict == "unknown":
        return Gap(f"without a verdict there is no {name}, {_ENDING}", collect_for_verdict(entry))
    if entry.limiter is None:
        return Gap(f"no unit limits a {entry.verdict} kernel: without {name} the gate cannot pass")
    return Gap(f"there is no {name} for this kernel, {_ENDING}")


def _why(entry: Diagnosis, names: tuple[str, ...]) -> WhyMissing:
    if names[0].startswith(_DRAM_UNITS) and _lacks_dram_counters(entry):
        return "not-on-this-gpu"
    return "not-readable" if any(name in entry.metrics for name in names) else "not-collected"


def _lacks_dram_counters(entry: Diagnosis) -> bool:
    if entry.metrics.get("dram_pct") is not None:
        return False
    major, point, minor = (entry.kernel.compute_capability or "").partition(".")
    known = bool(point) and major.isdecimal() and minor.isdecimal()
    return lacks_dram_counters((int(major), int(minor)) if known else None, entry.kernel.gpu)


def collect_for_verdict(entry: Diagnosis) -> str | None:
    """The options that give a kernel without one a verdict."""
    return joined(missing.collect for missing in entry.missing if missing.needed_for.startswith("the verdict"))


def collect_all(entry: Diagnosis, metrics: Iterable[str]) -> str | None:
    """The options that collect metrics, but for those that this GPU has not."""
    lacking = _lacks_dram_counters(entry)
    return joined(how_to_collect(name) for name in metrics if not (lacking and name.startswith(_DRAM_UNITS)))


def of_missing(missing: Iterable[Missing]) -> str | None:
    """The options that collect what a report says is missing."""
    return joined(item.collect for item in missing)


def joined(options: Iterable[str | None]) -> str | None:
    """Several ``collect`` options as one command line: each section once, the metrics in one ``--metrics``."""
    metrics: dict[str, None] = {}
    others: dict[str, None] = {}
    for option in filter(None, options):
        head, _, value = option.partition(" ")
        if head == "--metrics":
            metrics.update(dict.fromkeys(value.split(",")))
        else:
            others[option] = None
    parts = [*others, *([f"--metrics {','.join(metrics)}"] if metrics else [])]
    return " ".join(parts) or None


def some(names: Iterable[str]) -> str:
    """A few names, and how many more there are."""
    every = list(names)
    more = len(every) - _MOST_NAMED
    return ", ".join(every[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
