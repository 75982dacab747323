"""Little writers of every page that ``ncu --csv`` prints, in every number format.

A neutral model (:class:`Kernel`, :class:`Value`) goes in, text comes out. Values are in base units and have at most
the decimals that the page prints, so that what is read back must be equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SOL = "GPU Speed Of Light Throughput"
STATS = "Launch Statistics"
COMMAND_LINE = "Command line profiler metrics"


@dataclass(frozen=True)
class Value:
    """One metric of one launch."""

    section: str
    label: str
    name: str
    unit: str
    value: float | str


@dataclass(frozen=True)
class Rule:
    """A rule row."""

    rule: str = "SOLBottleneck"
    section: str = "SpeedOfLight"
    type: str = "OPT"
    message: str = 'This kernel exhibits low "utilization", see @section:WarpState@.'
    kind: str = "global"
    speedup: str = "12.34"


@dataclass(frozen=True)
class Kernel:
    """One launch."""

    id: int
    name: str = "void ns::copy<(int)4>(float *, const float *)"
    process: int = 4101
    process_name: str = "app"
    context: int = 1
    stream: int = 7
    block: tuple[int, int, int] = (256, 1, 1)
    grid: tuple[int, int, int] = (4096, 1, 1)
    device: int = 0
    cc: str = "8.0"
    values: tuple[Value, ...] = ()
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class NumberStyle:
    """How a locale writes numbers."""

    name: str
    decimal: str
    group: str

    def write(self, value: float | str, decimals: int = 2) -> str:
        """A cell as ncu prints it: whole numbers without decimals."""
        if isinstance(value, str):
            return value
        text = f"{value:,.{0 if float(value).is_integer() else decimals}f}"
        return text.translate({ord(","): self.group, ord("."): self.decimal})


STYLES = {
    style.name: style
    for style in (
        NumberStyle("C", ".", ""),
        NumberStyle("en_US", ".", ","),
        NumberStyle("de_DE", ",", "."),
        NumberStyle("fr_FR", ",", "\u202f"),
        NumberStyle("de_CH", ".", "\u2019"),
    )
}
C = STYLES["C"]


@dataclass
class Page:
    """Rows under a header; ``text`` quotes every cell as ncu does."""

    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    # ncu ends metric rows behind the value with one comma when rule columns follow.
    open_ended: bool = False

    def lines(self) -> list[str]:
        """The lines without their ends."""
        return [quoted(self.header), *(self.line(row) for row in self.rows)]

    def line(self, row: list[str]) -> str:
        """One row."""
        return quoted(row) + ("," if self.open_ended and len(row) < len(self.header) else "")

    def text(self) -> str:
        """The page."""
        return "".join(line + "\n" for line in self.lines())


def quoted(cells: list[str]) -> str:
    """A row as ncu writes it."""
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


IDENTITY = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream"]
SHAPE = ["Block Size", "Grid Size", "Device", "CC"]
RULES = ["Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup"]


def identity(kernel: Kernel) -> list[str]:
    """The cells that say which launch it is."""
    numbers = [str(kernel.context), str(kernel.stream), str(kernel.block), str(kernel.grid), str(kernel.device)]
    return [str(kernel.id), str(kernel.process), kernel.process_name, "127.0.0.1", kernel.name, *numbers, kernel.cc]


def details(kernels: list[Kernel], style: NumberStyle = C, *, names: str = "label", body: bool = False) -> Page:
    """The details page; ``names`` as in ``--print-metric-name``."""
    with_rules = any(kernel.rules for kernel in kernels)
    middle = ["Section Name", *(["Body Item Label"] if body else []), "Metric Name", "Metric Unit", "Metric Value"]
    page = Page([*IDENTITY, *SHAPE, *middle, *(RULES if with_rules else [])], open_ended=with_rules)
    for kernel in kernels:
        for value in kernel.values:
            shown = {"label": value.label, "name": value.name, "label-name": f"{value.label} ({value.name})"}[names]
            cells = [value.section, *([""] if body else []), shown, value.unit, style.write(value.value)]
            page.rows.append([*identity(kernel), *cells])
        for rule in kernel.rules:
            empty = [""] * (len(middle) - 1)
            what = [rule.rule, rule.type, rule.message, rule.kind, rule.speedup.replace(".", style.decimal)]
            page.rows.append([*identity(kernel), rule.section, *empty, *what])
    return page


def metrics(kernels: list[Kernel], style: NumberStyle = C) -> Page:
    """The page of ``--metrics``."""
    page = Page([*IDENTITY, *SHAPE, "Section Name", "Metric Name", "Metric Unit", "Metric Value"])
    for kernel in kernels:
        for value in kernel.values:
            page.rows.append([*identity(kernel), COMMAND_LINE, value.name, value.unit, style.write(value.value)])
    return page


def raw(kernels: list[Kernel], style: NumberStyle = C) -> Page:
    """The raw page; every kernel must have the same metrics."""
    values = kernels[0].values
    page = Page([*IDENTITY, *SHAPE, *(value.name for value in values)])
    page.rows.append([*[""] * (len(IDENTITY) + len(SHAPE)), *(value.unit for value in values)])
    for kernel in kernels:
        page.rows.append([*identity(kernel), *(style.write(value.value, 6) for value in kernel.values)])
    return page


def summary(kernels: list[Kernel], style: NumberStyle = C, *, per: str = "kernel", invocations: int = 3) -> Page:
    """A summary page; minimum and maximum are one below and one above the value."""
    head = ["Process ID", "Process Name", "Host Name"]
    order = {
        "kernel": [*head, "Kernel Name", "Block Size", "Grid Size", "Device", "CC"],
        "gpu": [*head, "Device", "CC", "Kernel Name", "Block Size", "Grid Size"],
        "nvtx": ["Domain", "Range:PL_Type:PL_Value", "Kernel Name", "Block Size", "Grid Size", "Device", "CC"],
    }[per]
    tail = ["Invocations", "Section Name", "Metric Name", "Metric Unit", "Minimum", "Maximum", "Average"]
    page = Page([*order, *tail])
    for kernel in kernels:
        cells = dict(zip([*IDENTITY, *SHAPE], identity(kernel), strict=True))
        cells |= {"Domain": "<default domain>", "Range:PL_Type:PL_Value": f' "step {kernel.id}:none" '}
        for value in kernel.values:
            low, high = (
                (value.value, value.value) if isinstance(value.value, str) else (value.value - 1, value.value + 1)
            )
            shown = [style.write(cell) for cell in (low, high, value.value)]
            what = [str(invocations), value.section, value.label, value.unit, *shown]
            page.rows.append([*(cells[name] for name in order), *what])
    return page


def sol(
    *, dram: float = 70.5, sm: float = 20.25, memory: float = 71.75, duration_ns: float = 1234567.0
) -> tuple[Value, ...]:
    """The values that a verdict needs, and a text."""
    pct = "avg.pct_of_peak_sustained_elapsed"
    return (
        Value(SOL, "Memory Throughput", f"gpu__compute_memory_throughput.{pct}", "%", memory),
        Value(SOL, "DRAM Throughput", f"gpu__dram_throughput.{pct}", "%", dram),
        Value(SOL, "Duration", "gpu__time_duration.sum", "ns", duration_ns),
        Value(SOL, "Compute (SM) Throughput", f"sm__throughput.{pct}", "%", sm),
        Value(STATS, "Function Cache Configuration", "launch__func_cache_config", "", "CachePreferNone"),
        Value(STATS, "Registers Per Thread", "launch__registers_per_thread", "register/thread", 32.0),
    )
