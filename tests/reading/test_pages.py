"""Every page in every number format: what was written is read."""

from __future__ import annotations

from dataclasses import replace
from functools import partialmethod
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest
import report_writers as w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_writers import STYLES, C, Kernel, Value, sol

from ncudiag.model import NcuRule
from ncudiag.reading import read_report
from ncudiag.reading.details import DetailsReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncudiag.model import Launch, Profile

DURATION = "gpu__time_duration.sum"
PAGES = {
    "details": w.details,
    "details, names": lambda kernels, style: w.details(kernels, style, names="name"),
    "details, label-name": lambda kernels, style: w.details(kernels, style, names="label-name"),
    "details, body": lambda kernels, style: w.details(kernels, style, body=True),
    "metrics": w.metrics,
    "raw": w.raw,
}


def numbers(kernel: Kernel) -> dict[str, float]:
    """The numeric values of a kernel by metric name."""
    return {value.name: value.value for value in kernel.values if not isinstance(value.value, str)}


def texts(kernel: Kernel) -> dict[str, str]:
    """The text values of a kernel by metric name."""
    return {value.name: value.value for value in kernel.values if isinstance(value.value, str)}


def assert_is(launch: Launch, kernel: Kernel) -> None:
    """A launch is what the writer was given."""
    assert launch.id == kernel.id
    assert launch.kernel_name == kernel.name
    assert (launch.process_id, launch.process_name) == (kernel.process, kernel.process_name)
    assert (launch.context, launch.stream, launch.device) == (kernel.context, kernel.stream, kernel.device)
    assert (launch.block, launch.grid, launch.compute_capability) == (kernel.block, kernel.grid, kernel.cc)
    assert dict(launch.values) == numbers(kernel)
    assert dict(launch.texts) == texts(kernel)
    assert launch.unreadable == frozenset()
    assert launch.complete


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@pytest.mark.parametrize("page", PAGES)
def test_round_trip(page: str, style: w.NumberStyle, read_both: Callable[..., Profile]) -> None:
    kernels = [
        Kernel(0, values=sol()),
        Kernel(1, name='k_with_quote<"x", 2>(int)', values=sol(dram=0.5, duration_ns=999.0), grid=(7, 2, 1)),
        Kernel(2, values=sol(duration_ns=5e12)),
        Kernel(2, process=4102, values=sol(sm=99.25)),
    ]
    profile = read_both(PAGES[page](kernels, style).text())
    for launch, kernel in zip(profile.launches, kernels, strict=True):
        assert_is(launch, kernel)
    assert profile.units[DURATION] == "ns"
    assert profile.source.launches == 4
    assert profile.source.skipped_lines == 0
    assert [warning.code for warning in profile.source.warnings] == []
    expected = {"raw": "raw-csv", "metrics": "metrics-csv"}.get(page, "details-csv")
    assert profile.source.format == expected


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@pytest.mark.parametrize("per", ["kernel", "gpu", "nvtx"])
def test_summary_round_trip(style: w.NumberStyle, per: str, read_both: Callable[..., Profile]) -> None:
    kernels = [Kernel(0, values=sol()), Kernel(1, name="other", device=1, cc="8.6", values=sol(dram=10.5))]
    profile = read_both(w.summary(kernels, style, per=per, invocations=14).text())
    assert profile.source.format == "summary-csv"
    assert profile.source.launches == 28
    for launch, kernel in zip(profile.launches, kernels, strict=True):
        assert launch.id is None
        assert launch.invocations == 14
        assert launch.process_id == (None if per == "nvtx" else 4101)
        assert dict(launch.values) == numbers(kernel)
        assert dict(launch.texts) == texts(kernel)
        assert launch.extremes[DURATION] == (1234566.0, 1234568.0)
        assert (launch.block, launch.device, launch.compute_capability) == ((256, 1, 1), kernel.device, kernel.cc)


def test_summary_keeps_ranges_and_processes_apart(read_both: Callable[..., Profile]) -> None:
    kernels = [Kernel(0, values=sol()), Kernel(1, values=sol(dram=10.5))]
    assert len(read_both(w.summary(kernels, per="nvtx").text()).launches) == 2
    # Without a range column the rows are one kernel's; the first value of a metric is taken.
    assert len(read_both(w.summary(kernels, per="kernel").text()).launches) == 1


def test_old_summary_page(read_both: Callable[..., Profile]) -> None:
    text = (
        '"Process ID","Process Name","Host Name","Device Id","Kernel Name","Block Size","Grid Size","Invocations",'
        '"Metric Name","Metric Unit","Minimum","Maximum","Average"\n'
        'ROW"gpu__time_duration.sum","usecond","81.6","88.96","84.0"\n'
        'ROW"device__attribute_display_name","","","","Tesla V100"\n'
    ).replace("ROW", '"9","app","127.0.0.1","0","k(int)","128","8192","1,200",')
    (launch,) = read_both(text).launches
    assert (launch.block, launch.grid, launch.device) == ((128, 1, 1), (8192, 1, 1), 0)
    assert launch.invocations == 1200
    assert launch.values[DURATION] == 84000.0
    assert launch.extremes == {DURATION: (81600.0, 88960.0)}
    assert launch.texts == {"device__attribute_display_name": "Tesla V100"}


def test_rules(read_both: Callable[..., Profile]) -> None:
    rules = (
        w.Rule(),
        w.Rule(rule="Occupancy", type="INF", message="Fine.", kind="", speedup=""),
        w.Rule(rule="CPIStall", message="", kind="local", speedup="n/a"),
    )
    kernels = [Kernel(number, values=sol(), rules=rules) for number in range(3)]
    profile = read_both(w.details(kernels, STYLES["de_DE"]).text())
    for launch in profile.launches:
        first, second, third = launch.rules
        assert first == NcuRule(
            rule="SOLBottleneck",
            section="SpeedOfLight",
            type="OPT",
            message=w.Rule().message,
            estimated_speedup_kind="global",
            estimated_speedup=12.34,
        )
        assert (second.type, second.estimated_speedup_kind, second.estimated_speedup) == ("INF", None, None)
        assert (third.estimated_speedup_kind, third.estimated_speedup) == ("local", None)
        assert "" not in launch.values


def test_rules_are_a_sequence_that_is_read_late(read_both: Callable[..., Profile]) -> None:
    rules = (w.Rule(), w.Rule(rule="Other"))
    page = w.details([Kernel(0, values=sol(), rules=rules), Kernel(1, values=sol(), rules=rules)])
    first, second = read_both(page.text()).launches
    assert len(first.rules) == 2
    assert first.rules == second.rules
    assert first.rules == tuple(second.rules)
    assert first.rules != [*second.rules]
    assert hash(first.rules) == hash(tuple(first.rules))
    assert repr(first.rules) == repr(tuple(first.rules))
    assert first.rules[0] == first.rules[:1][0]
    unseen = first.rules.unseen  # type: ignore[attr-defined]
    assert [rule.rule for rule in unseen({"Other"})] == ["SOLBottleneck"]
    assert list(unseen({"Other", "SOLBottleneck"})) == []
    assert [rule["rule"] for rule in first.model_dump()["rules"]] == ["SOLBottleneck", "Other"]


def test_header_of_2019_and_of_2021(read_both: Callable[..., Profile]) -> None:
    header = '"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream",'
    metric = '"Section Name","Metric Name","Metric Unit","Metric Value"'
    row = '"0","7","a","127.0.0.1","k(int)","2021-Jun-28 04:28:17","1","7","GPU Speed Of Light",'
    old = read_both(f'{header}{metric}\n{row}"SOL FB","%","82.64"\n{row}"Memory Frequency","cycle/usecond","877.4"\n')
    (launch,) = old.launches
    assert (launch.block, launch.grid, launch.device, launch.compute_capability) == (None, None, None, None)
    assert launch.values["dram__throughput.avg.pct_of_peak_sustained_elapsed"] == 82.64
    assert launch.values["dram__cycles_elapsed.avg.per_second"] == 877400000.0
    rules = ',"Rule Name","Rule Type","Rule Description"'
    newer = read_both(
        f'{header}{metric}{rules}\n{row}"SM [%]","%","20.5",\n{row}"SOL DRAM","%","10.5",\n'
        + row.replace("GPU Speed Of Light", "SpeedOfLight")
        + '"","","","SOLBottleneck","WRN","x"\n'
    )
    (launch,) = newer.launches
    assert launch.values["gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"] == 10.5
    assert [rule.type for rule in launch.rules] == ["WRN"]


def test_old_raw_page(read_both: Callable[..., Profile]) -> None:
    text = (
        '"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream",'
        '"fbpa__sol_pct","gpu__time_duration","launch__block_size","launch__grid_size","sm__sol_pct"\n'
        '"","","","","","","","","","","","",""\n'
        '"0","7","a","127.0.0.1","k(int)","2019","1","7","82.64","2318016","128","65536","38.2"\n'
        '"1","7","a","127.0.0.1","k(int)","2019","1","7","82.64","2318016","128","65536","38.2"\n'
    )
    launch, _ = read_both(text).launches
    assert dict(launch.values) == {
        "fbpa__throughput.avg.pct_of_peak_sustained_elapsed": 82.64,
        DURATION: 2318016.0,
        "launch__block_size": 128.0,
        "launch__grid_size": 65536.0,
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": 38.2,
    }
    assert (launch.block, launch.grid) == ((128, 1, 1), (65536, 1, 1))


def test_launch_shape_from_its_dimensions(read_both: Callable[..., Profile]) -> None:
    names = [f"launch__{what}_dim_{axis}" for what in ("block", "grid") for axis in "xyz"]
    values = [16, 16, 1, 512, 256, 2]
    page = w.raw(
        [Kernel(0, values=tuple(Value("", "", name, "", float(n)) for name, n in zip(names, values, strict=True)))]
    )
    drop = {page.header.index("Block Size"), page.header.index("Grid Size")}
    lines = [w.quoted([cell for at, cell in enumerate(row) if at not in drop]) for row in (page.header, *page.rows)]
    (launch,) = read_both("\n".join(lines) + "\n").launches
    assert (launch.block, launch.grid) == ((16, 16, 1), (512, 256, 2))


def test_raw_page_without_its_units(read_both: Callable[..., Profile]) -> None:
    page = w.raw([Kernel(0, values=sol())])
    del page.rows[0]
    profile = read_both(page.text())
    (launch,) = profile.launches
    assert DURATION not in launch.values
    assert DURATION in launch.unreadable
    assert launch.values["sm__throughput.avg.pct_of_peak_sustained_elapsed"] == 20.25
    (warning,) = profile.source.warnings
    assert warning.code == "unknown-unit"
    column = page.header.index(DURATION) + 1
    assert f"{DURATION!r} is not known (line 2, column {column})" in warning.message


def test_raw_page_with_nvtx_and_texts(read_both: Callable[..., Profile]) -> None:
    page = w.raw([Kernel(0, values=sol()), Kernel(1, values=sol())])
    nvtx = ["thread Domain:Push/Pop_Range:PL_Type", "Id:Domain:Start/Stop_Range:PL_Type"]
    page.header[4:4] = nvtx
    for row in page.rows:
        row[4:4] = ["", ""] if row[0] == "" else ['7 "<default domain>:run, all:none" ', ""]
    profile = read_both(page.text())
    assert [launch.kernel_name for launch in profile.launches] == [Kernel(0).name] * 2
    assert dict(profile.launches[1].values) == numbers(Kernel(1, values=sol()))


def test_metric_instances(read_both: Callable[..., Profile]) -> None:
    values = (
        Value("", "", "sm__cycles_active.avg", "cycle", "1,250.50 (1200.00; 1301.00)"),
        Value("", "", "smsp__pcsamp", "", "500 (0: 120; 1: 380)"),
        Value("", "", "long", "", "7 (" + "; ".join(["12345"] * 30000) + ")"),
        Value("", "", "numa__dev_display_name_all", "", "1 (NVIDIA GeForce RTX 3090)"),
    )
    for launch in read_both(w.raw([Kernel(0, values=values), Kernel(1, values=values)]).text()).launches:
        assert dict(launch.values) == {
            "sm__cycles_active.avg": 1250.5,
            "smsp__pcsamp": 500.0,
            "long": 7.0,
            "numa__dev_display_name_all": 1.0,
        }


def test_missing_values_are_named(read_both: Callable[..., Profile]) -> None:
    for cell in ("n/a", "(!) n/a", "(!) nan", "nan", "inf", "no data", ""):
        values = (*sol()[:3], replace(sol()[3], value=cell))
        for page in (w.details, w.raw):
            profile = read_both(page([Kernel(0, values=values), Kernel(1, values=values)]).text())
            for launch in profile.launches:
                assert values[3].name not in launch.values
                assert launch.unreadable == {values[3].name}
            failed = "nan" in cell or "inf" in cell
            assert [warning.code for warning in profile.source.warnings] == ["counters-unreadable"] * failed


def test_failed_launch(read_both: Callable[..., Profile]) -> None:
    kernel = Kernel(0, grid=(0, 0, 0), block=(0, 0, 0), values=(Value(w.SOL, "Duration", DURATION, "(!)", "(!) nan"),))
    (launch,) = read_both(w.details([kernel]).text()).launches
    assert (launch.grid, launch.block, dict(launch.values)) == ((0, 0, 0), (0, 0, 0), {})


def test_unknown_unit_has_its_place(read_both: Callable[..., Profile]) -> None:
    values = (*sol()[:2], replace(sol()[2], unit="furlong"), sol()[3])
    profile = read_both("hello\n" + w.details([Kernel(0, values=values), Kernel(1, values=values)]).text())
    assert all(values[2].name not in launch.values for launch in profile.launches)
    (warning,) = profile.source.warnings
    assert warning.code == "unknown-unit"
    assert "'furlong'" in warning.message
    assert "(line 5, column 14 (Metric Unit))" in warning.message
    (warning,) = read_both(w.raw([Kernel(0, values=values)]).text()).source.warnings
    assert "(line 2, column 14)" in warning.message
    (warning,) = read_both(w.summary([Kernel(0, values=values)]).text()).source.warnings
    assert "(line 4, column 12 (Metric Unit))" in warning.message


def test_a_frequency_in_a_unit_of_time_is_missing(read_both: Callable[..., Profile]) -> None:
    frequency = "dram__cycles_elapsed.avg.per_second"
    for page in (w.details, w.raw):
        profile = read_both(
            page([Kernel(0, values=(Value(w.SOL, "DRAM Frequency", frequency, "nsecond", 6.25),))]).text()
        )
        assert profile.launches[0].unreadable == {frequency}
        assert [warning.code for warning in profile.source.warnings] == ["unknown-unit"]


def test_memory_throughput_is_two_metrics(read_both: Callable[..., Profile]) -> None:
    values = (
        Value(w.SOL, "Memory Throughput", "", "%", 70.5),
        Value("Memory Workload Analysis", "Memory Throughput", "", "Gbyte/s", 1.5),
        Value("Memory Workload Analysis", "Memory Throughput", "", "%", 0.25),
    )
    profile = read_both(w.details([Kernel(0, values=values)]).text())
    (launch,) = profile.launches
    assert dict(launch.values) == {
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": 70.5,
        "dram__bytes.sum.per_second": 1.5e9,
        "Memory Throughput": 0.25,
    }
    assert [warning.code for warning in profile.source.warnings] == ["unknown-label"]


def test_unknown_labels_are_kept_apart(read_both: Callable[..., Profile]) -> None:
    values = (
        Value("Mine", "Speed", "", "", 1.0),
        Value("Yours", "Speed", "", "hz", 2.0),
        Value("Mine", "Weight", "", "", 3.0),
    )
    (launch,) = read_both(w.details([Kernel(0, values=values)]).text()).launches
    assert dict(launch.values) == {"Speed [Mine]": 1.0, "Speed [Yours, hz]": 2.0, "Weight": 3.0}


def test_an_unknown_breakdown_is_no_news(read_both: Callable[..., Profile]) -> None:
    values = (Value(w.SOL, "L2: T Sectors", "", "sector", 7.0), Value(w.SOL, "L2: T Sectors", "", "%", 1.5))
    profile = read_both(w.details([Kernel(0, values=values)]).text())
    assert dict(profile.launches[0].values) == {
        "L2: T Sectors": 7.0,
        "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": 1.5,
    }
    assert profile.source.warnings == ()


def test_the_same_metric_in_two_sections(read_both: Callable[..., Profile]) -> None:
    def launch_with(first: float | str, second: float | str) -> Launch:
        values = (
            Value("Occupancy", "Registers Per Thread", "launch__registers_per_thread", "", first),
            Value(w.STATS, "Registers Per Thread", "launch__registers_per_thread", "", second),
        )
        one = read_both(w.details([Kernel(0, values=values)], names="name").text()).launches[0]
        other = read_both(w.details([Kernel(0, values=values[::-1])], names="name").text()).launches[0]
        assert one == other
        return one

    assert dict(launch_with(32.0, 32.0).values) == {"launch__registers_per_thread": 32.0}
    assert len(launch_with(32.0, 33.0).values) == 1
    assert dict(launch_with("n/a", 32.0).values) == {"launch__registers_per_thread": 32.0}
    assert launch_with("n/a", 32.0).unreadable == frozenset()
    assert launch_with("n/a", "n/a").unreadable == {"launch__registers_per_thread"}


def test_rounded_zero_is_said_once(read_both: Callable[..., Profile]) -> None:
    values = (replace(sol()[0], value=0.001), sol()[1])
    profile = read_both(w.details([Kernel(number, values=values) for number in range(3)]).text())
    assert [warning.code for warning in profile.source.warnings] == ["rounded-values"]


def test_first_block_names_the_format() -> None:
    text = w.raw([Kernel(0, values=sol())]).text() + w.details([Kernel(0, values=sol())]).text()
    profile = read_report(text)
    assert profile.source.format == "raw-csv"
    assert [launch.report for launch in profile.launches] == [0, 1]
    assert profile.launches[0].values == profile.launches[1].values


def test_thousands_on_a_raw_page_of_many_rows(read_both: Callable[..., Profile]) -> None:
    kernels = [Kernel(number, values=sol(duration_ns=1e6 + number)) for number in range(40)]
    for style in STYLES.values():
        profile = read_both(w.raw(kernels, style).text())
        assert [launch.values[DURATION] for launch in profile.launches] == [1e6 + number for number in range(40)]


value_lists = st.lists(
    st.one_of(
        st.floats(min_value=0, max_value=1e12).map(lambda number: round(number, 2)),
        st.integers(0, 10**12).map(float),
        st.sampled_from(["n/a", "(!) nan", "all", "CachePreferNone", ""]),
    ),
    min_size=3,
    max_size=3,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 3), value_lists), min_size=1, max_size=12),
    st.sampled_from(sorted(STYLES)),
    st.sampled_from(sorted(PAGES)),
)
def test_any_values(
    read_both: Callable[..., Profile], launches: list[tuple[int, list[float | str]]], style: str, page: str
) -> None:
    kernels = [
        Kernel(
            number,
            name=f"kernel_{kind}(int)",
            values=tuple(
                Value(w.STATS, f"my_metric_{at}", f"my_metric_{at}", "%" if at else "usecond", value)
                for at, value in enumerate(values)
            ),
        )
        for number, (kind, values) in enumerate(launches)
    ]
    locale = style if style != "de_CH" else "C"
    profile = read_both(PAGES[page](kernels, STYLES[style]).text(), locale=locale)
    assert len(profile.launches) == len(kernels)
    for launch, kernel in zip(profile.launches, kernels, strict=True):
        for value in kernel.values:
            if isinstance(value.value, float):
                scale = 1000 if value.unit == "usecond" else 1
                assert launch.values[value.name] == pytest.approx(value.value * scale, rel=1e-12)
            else:
                assert value.name not in launch.values


def test_extra_styles_of_rows_are_equal() -> None:
    kernels = [Kernel(number, values=sol(), rules=(w.Rule(),)) for number in range(3)]
    page = w.details(kernels, C)
    padded = "".join(w.quoted(row + [""] * (20 - len(row))) + "\n" for row in (page.header, *page.rows))
    assert read_report(padded).launches == read_report(page.text()).launches


@pytest.mark.parametrize("odd", [None, 0, 7, 12])
def test_padded_rows_of_many_launches(
    read_both: Callable[..., Profile], monkeypatch: pytest.MonkeyPatch, odd: int | None
) -> None:
    """Files that were saved again are read as fast as ncu's own, also where one row is not padded."""
    rule = w.Rule(message='80 % of "peak", say,')
    kernels = [Kernel(number, values=sol(), rules=(rule,)) for number in range(40)]
    page = w.details(kernels, C)
    lines = [w.quoted([*row, *[""] * (20 - len(row))]) for row in (page.header, *page.rows)]
    if odd is not None:
        at = len(lines) // 2 + odd
        lines[at] = w.quoted(page.rows[at - 1])
    method = "_take"
    row_by_row = Mock(side_effect=getattr(DetailsReader, method))
    monkeypatch.setattr(DetailsReader, method, partialmethod(row_by_row))
    profile = read_both("\n".join(lines) + "\n")
    assert profile.launches == read_report(page.text()).launches
    # Of each of two readings, the rows of the first launches and of the odd one.
    assert 2 <= row_by_row.call_count < len(kernels)


def test_rows_of_metrics_say_which_stream(read_both: Callable[..., Profile]) -> None:
    """Rules of 2022 have a wrong one, and may come first."""
    rule = replace(Kernel(0), stream=13, rules=(w.Rule(),) * 2)
    another = replace(rule, id=1)
    page = w.details([rule, Kernel(0, values=sol()), another, Kernel(1, values=sol()), rule])
    assert [launch.stream for launch in read_both(page.text()).launches] == [7, 7]


@pytest.mark.parametrize("values", [("", 5.0, 6.0), ("nan", "n/a", 5.0), (5.0, 6.0, ""), ("", "", 5.0)])
def test_the_first_of_equal_columns_that_has_a_value(
    values: tuple[str | float, ...], read_both: Callable[..., Profile]
) -> None:
    name = "gpu__time_duration.sum"
    kernels = [
        Kernel(at, values=(*sol()[:2], *(Value("", "", name, "ns", value) for value in values))) for at in (0, 1)
    ]
    for launch in read_both(w.raw(kernels).text()).launches:
        assert launch.values[name] == 5.0
        assert launch.unreadable == frozenset()


def test_what_is_missing_stays_so_when_the_decimal_mark_is_found_late(read_both: Callable[..., Profile]) -> None:
    cells = (("sm__a.avg", "nan"), ("sm__b.avg", "1.694"))
    first = Kernel(0, values=tuple(Value(w.COMMAND_LINE, name, name, "%", cell) for name, cell in cells))
    launch, _ = read_both(w.metrics([first, Kernel(1, values=sol(dram=5.5))], STYLES["de_DE"]).text()).launches
    assert (dict(launch.values), launch.unreadable) == ({"sm__b.avg": 1694.0}, {"sm__a.avg"})


@pytest.mark.parametrize(("text", "said"), [("(1; 2)", False), ("(1; 2", True), ("1; 2)", True)])
def test_a_text_where_a_number_should_be(text: str, read_both: Callable[..., Profile], *, said: bool) -> None:
    """Samples alone are no news."""
    kernel = Kernel(0, values=(*sol(), Value(w.COMMAND_LINE, "sm__a.avg", "sm__a.avg", "%", text)))
    profile = read_both(w.metrics([kernel]).text())
    assert profile.launches[0].texts["sm__a.avg"] == text
    assert ("unreadable-number" in {warning.code for warning in profile.source.warnings}) == said


@pytest.mark.parametrize("parts", [2, 3])
def test_rows_of_a_launch_among_those_of_many_others(parts: int, read_both: Callable[..., Profile]) -> None:
    """Each part is read by itself, because only some launches are kept open."""
    values = sol()
    others = [replace(Kernel(number), values=values) for number in range(1, 51)]
    pieces = [replace(Kernel(0), values=values[at : at + 1] if at < parts - 1 else values[at:]) for at in range(parts)]
    kernels = [each for at, piece in enumerate(pieces) for each in (piece, *(others if at < parts - 1 else ()))]
    launch = min(read_both(w.details(kernels).text()).launches, key=lambda launch: launch.id or 0)
    assert numbers(Kernel(0, values=values)) == dict(launch.values)


def test_estimates_are_written_as_the_page_is(read_both: Callable[..., Profile]) -> None:
    """Three digits behind the mark of this page, thousands on others."""
    kernel = Kernel(0, values=sol(dram=5.5), rules=(w.Rule(speedup="1.234"),))
    for style in ("de_DE", "C"):
        (rule,) = read_both(w.details([kernel], STYLES[style]).text()).launches[0].rules
        assert rule.estimated_speedup == 1.234


@pytest.mark.parametrize("label", ["Duration", "gpu__time_duration.sum", "gpu__time_duration.avg"])
def test_a_duration_in_bytes_is_missing(label: str) -> None:
    kernel = Kernel(
        0, values=(*sol()[:2], Value(w.SOL, label, label, "byte", 5.0), Value(w.SOL, "A", "A", "byte", 6.0))
    )
    profile = read_report(w.details([kernel]).text())
    assert "gpu__time_duration.sum" not in profile.launches[0].values
    assert profile.launches[0].values["A"] == 6.0
    assert [warning.code for warning in profile.source.warnings].count("unknown-unit") == 1


def test_streams_in_turn_come_in_the_order_of_the_file(read_both: Callable[..., Profile]) -> None:
    kernels = [Kernel(at, stream=7 + at % 2, values=sol(dram=70.5 + at)) for at in range(24)]
    assert [launch.id for launch in read_both(w.raw(kernels).text()).launches] == list(range(24))
