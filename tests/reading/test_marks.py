"""Marks of launchers in front of every line; text that was folded, and text with the line ends of an old Mac."""

from __future__ import annotations

from io import BytesIO
from itertools import chain, zip_longest

import pytest
import report_writers as w
import text_writer
from report_writers import Kernel, sol

from ncudiag.errors import ReportError
from ncudiag.reading import read_report

KERNELS = {process: [Kernel(0, process=process, values=sol(dram=process / 100))] for process in (4101, 4102)}
STYLES = ("{}: ", " {}: ", "[1,{}]<stdout>:", "[prterun-host-1@1,{}]<stdout>: ", "[{}] ")


def marked(text: str, mark: str) -> list[str]:
    return [mark + line for line in text.splitlines()]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("write", [w.details, w.metrics, w.raw])
def test_pages_of_two_processes_in_turn(write: object, style: str) -> None:
    """Each launch with its own numbers."""
    parts = [
        marked(write(kernels).text(), style.format(rank))  # type: ignore[operator]  # one of the writers
        for rank, kernels in enumerate(KERNELS.values())
    ]
    in_turn = [line for line in chain(*zip_longest(*parts)) if line]
    for lines in (in_turn, [*parts[0], *parts[1]], [*parts[0], "", *parts[1]]):
        profile = read_report("\n".join(lines) + "\n")
        found = {launch.process_id: launch.values for launch in profile.launches}
        assert list(found) == [4101, 4102]
        for process, values in found.items():
            assert values["gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"] == process / 100
        (warning,) = [each for each in profile.source.warnings if each.code == "marks-removed"]
        assert repr(style.format(0)) in warning.message


@pytest.mark.parametrize("style", STYLES)
def test_the_page_for_people(style: str) -> None:
    """Of one process; the lines of several in turn belong to nobody."""
    pages = [text_writer.page(kernels) for kernels in KERNELS.values()]
    alone = read_report("\n".join(marked(pages[0], style.format(7))) + "\n")
    assert alone.launches == read_report(pages[0]).launches
    parts = [marked(page, style.format(rank)) for rank, page in enumerate(pages)]
    with pytest.raises(ReportError):
        read_report("\n".join(chain(*zip(*parts, strict=True))) + "\n")


def test_other_lines_with_numbers() -> None:
    """One line without a mark: the numbers are the program's own."""
    text = "1: one\n2: two\n" + w.details(KERNELS[4101]).text()
    profile = read_report(text)
    assert profile.source.skipped_lines == 2
    assert "marks-removed" not in {warning.code for warning in profile.source.warnings}
    with pytest.raises(ReportError):
        read_report("1: one\n2: two\n")


def test_a_folded_page() -> None:
    """The name of a kernel begins on the line before: it is wrong, and that is told."""
    page = text_writer.page([Kernel(0, name="void stencil<float, 3>(const float *, float *, int, int)", values=sol())])
    folded = page.replace("const float *, ", "const float *,\n")
    assert folded != page
    (warning,) = [each for each in read_report(folded).source.warnings if each.code == "kernel-name-cut"]
    assert "folded" in warning.message
    for name in ("(anonymous namespace)::f(int)", "operator()(int)", "f[2](int)"):
        whole = read_report(text_writer.page([Kernel(0, name=name, values=sol())]))
        assert {each.code for each in whole.source.warnings} & {"kernel-name-cut"} == set()


def test_line_ends_of_an_old_mac() -> None:
    page = text_writer.page(KERNELS[4101])

    assert read_report(BytesIO(page.replace("\n", "\r").encode())).launches == read_report(page).launches
