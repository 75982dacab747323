"""What is larger than in any report: refused with its line, before it takes memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pytest
import report_writers as w
import text_writer
from report_writers import Kernel, Value, sol

from ncudiag.errors import ReportError
from ncudiag.reading import read_report

if TYPE_CHECKING:
    from collections.abc import Callable

Writer: TypeAlias = "Callable[[list[Kernel]], w.Page]"

MANY = tuple(Value("S", f"Label {number}", f"sm__m{number}.sum", "", 5) for number in range(30))


def refused(text: str) -> str:
    with pytest.raises(ReportError) as caught:
        read_report(text)
    assert caught.value.code == "not-an-ncu-report"
    assert caught.value.details["line"]
    return caught.value.message


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that small pages reach."""
    for module in ("rows", "scanner", "drafts", "shapes"):
        monkeypatch.setattr(f"ncudiag.reading.{module}.MOST_CELLS", 20)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("write", [w.details, w.metrics, w.summary])
def test_more_metrics_than_there_are(write: Writer) -> None:
    assert "brings a page to more than 20 different metrics" in refused(write([Kernel(0, values=MANY)]).text())


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("write", [w.details, w.metrics, w.summary])
def test_a_launch_that_does_not_end(write: Writer) -> None:
    assert "a launch with more than 20 rows" in refused(write([Kernel(0, values=MANY[:1] * 50)]).text())


@pytest.mark.usefixtures("few")
def test_more_columns_than_there_are() -> None:
    assert "line 1 of the text given has more than 20 columns" in refused(w.raw([Kernel(0, values=MANY)]).text())


@pytest.mark.parametrize("write", [w.details, w.metrics, w.summary, w.raw])
def test_names_that_no_compiler_writes(write: Writer) -> None:
    long = Kernel(0, name="k" * (1 << 20), values=sol())
    assert read_report(write([long]).text()).launches[0].kernel_name == long.name
    longer = Kernel(0, name="k" * (1 << 20) + "k", values=sol())
    assert "holds a name of 1,048,577 characters" in refused(write([longer]).text())


def test_a_name_on_the_text_page() -> None:
    """Behind the same bound the line is none of the page's."""
    page = text_writer.page([Kernel(0, name="k" * (1 << 20), values=sol())])
    assert len(read_report(page).launches[0].kernel_name) == 1 << 20
    page = text_writer.page([Kernel(0, name="k" * (1 << 20) + "k", values=sol())])
    assert "holds a name of 1,048,577 characters" in refused(page)
    page = text_writer.page([Kernel(0, name="k" * (1 << 21), values=sol())])
    assert read_report(page).source.skipped_lines == 1


@pytest.mark.parametrize("write", [w.details, w.metrics, w.summary, w.raw])
def test_names_of_metrics(write: Writer) -> None:
    value = Value("S", "L" * 10_001, "sm__" + "x" * 10_000, "", 5)
    assert "names a metric with more than 10,000 characters" in refused(write([Kernel(0, values=(value,))]).text())


def test_a_row_of_very_long_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell may hold line breaks; one that goes on and on is taken for a row that was cut off."""
    monkeypatch.setattr("ncudiag.reading.scanner._LONGEST_ROW_OF_LINES", 1000)
    text = w.details([Kernel(0, values=sol()), Kernel(1, values=sol())]).text()
    head, first, *others = text.splitlines(keepends=True)
    broken = "".join([head, first.rstrip('\n"'), "\n", *["x" * 300 + "\n"] * 5, '"\n', *others])
    assert len(read_report(broken).launches) == 2
