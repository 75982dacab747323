"""Names that mean harm, in every output that shows them."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest
from attempts import attempt, strict
from hostile_pages import LAYOUTS, SPEED_OF_LIGHT, USUAL, WITH_RULES, encoded, identity, quoted
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = (
    "evil\x1b[31mred\x1b[2J\x1b]0;title\x07(int)",
    "\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\(int)",
    "bell\x07 nul\x00 del\x7f csi\x9b31m(int)",
    "bidi\u202egnp.exe\u2066 mark\u200f(int)",
    "line\nbreak\r\nand\u2028separators\x85(int)",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "</script></style></title><b>bold",
    "| a | b |\n|---|---|\n| c | d |",
    "# heading `code` ![i](http://example.org/i.png) [l](javascript:alert(1)) @team #1",
    "=cmd|'/C calc'!A0",
    "@SUM(1)",
    "+1+cmd|x",
    "-2+3",
    "::error file=a.cu,line=1::obeyed",
    "  ::add-mask::kernel",
    "##[error]obeyed",
    "x ##vso[task.setvariable variable=a]b",
    "::stop-commands::x",
    "{x.__class__} {0} %s %n $(touch touched) `touch touched`",
    "{sm_pct:999999999}",
    "\\x1b[31m \\u202e",
    "half\ud800",
    "]]>&amp;<!--",
)
# What a runner of CI jobs obeys: GitHub at the start of a line behind blanks, and the old style anywhere as Azure does.
OBEYED = re.compile(r"^\s*::[a-z-]+( [^\n]*?)?::|##(vso|teamcity)?\[", re.MULTILINE)
# Control characters but the line break; direction marks; separators of lines.
UNSEEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def page() -> Iterator[bytes]:
    """Each name as that of a kernel, its process, a section, a metric, a unit and a rule, with a rule's text."""

    def lines() -> Iterator[str]:
        yield WITH_RULES
        for number, name in enumerate(NAMES):
            begin = identity(name, number, process=name)
            for row in USUAL:
                yield f"{begin},{quoted(SPEED_OF_LIGHT, *row, '', '', '')}\n"
            yield f"{begin},{quoted(name, f'Metric {name}', name, '1', '', '', '')}\n"
            yield f"{begin},{quoted('', '', '', '', name, 'INF', name)}\n"

    return encoded(lines())


FULL = ("--top", "100", "--with-host")


@pytest.mark.parametrize("options", [(), ("--all-findings", "--with-ncu-rules")])
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_for_people(form: str, options: tuple[str, ...]) -> None:
    """Nothing reaches the terminal or the log of a job as it stands, and nothing is dropped."""
    text = attempt("explain", "-", "--format", form, *FULL, *options, feed=page(), COLUMNS="100").answered()
    assert not UNSEEN.search(text)
    assert not OBEYED.search(text)
    for shown in ("\\x1b", "\\u202e", "\\x07", "alert", "cmd", "obeyed", "touched", "999999999"):
        assert shown in text


def test_markdown_stays_text() -> None:
    """No link, no picture, no HTML, and the table has a row for each kernel."""
    text = attempt("explain", "-", "--format", "markdown", *FULL, feed=page()).answered()
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    inner = [token for outer in tokens for token in (outer, *(outer.children or ()))]
    assert {token.type for token in inner} & {"image", "html_block", "link_open"} == set()
    assert {token.content for token in inner if token.type == "html_inline"} <= {"<code>", "</code>"}
    assert sum(token.type == "tr_open" for token in tokens) >= len(NAMES) + 1


def test_tables_for_spreadsheets() -> None:
    """No cell is a formula, no row is torn."""
    text = attempt("explain", "-", "--format", "csv", feed=page()).answered()
    assert not UNSEEN.search(text)
    assert not OBEYED.search(text)
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == len(NAMES) + 1
    assert {len(row) for row in rows} == {len(rows[0])}
    cells = [cell for row in rows for cell in row if cell[:1] in {"=", "+", "-", "@"}]
    assert [cell for cell in cells if not re.fullmatch(r"-?[0-9.e+-]+", cell)] == []


@pytest.mark.parametrize("options", [(), ("--brief",)])
def test_json_is_one_document(options: tuple[str, ...]) -> None:
    """ASCII, with the names as they were."""
    text = attempt("explain", "-", "--format", "json", *FULL, *options, feed=page()).answered()
    assert text.isascii()
    assert not UNSEEN.search(text)
    assert not OBEYED.search(text)
    kernels = strict(text)["kernels"]
    assert len(kernels) == len(NAMES)
    if not options:
        # A half of a character is no text in any encoding, and is read as what its bytes say in Latin-1.
        read = {name.replace("\r\n", "\n") for name in NAMES if "\ud800" not in name}
        assert read <= {kernel["kernel"]["name"] for kernel in kernels}


def test_pages_for_browsers() -> None:
    """Names are text, in the page and in what its script reads."""
    text = attempt("explain", "-", "--format", "html", *FULL, feed=page()).answered()
    assert not UNSEEN.search(text)
    assert "alert(1)</script>" not in text
    assert "<img" not in text
    assert "<b>bold" not in text


def test_what_gates_write(tmp_path: Path) -> None:
    """Annotations are one line each and end where they should; JUnit is XML; SARIF is JSON."""
    report = tmp_path / "::error::report.csv"
    report.write_bytes(b"".join(page()))
    done = attempt(
        "explain", report.name, "--fail-on", "memory-bound", "--annotate", "github", "--junit", "junit.xml",
        "--sarif", "found.sarif", cwd=tmp_path,
    ).bounded()  # fmt: skip
    assert done.status == 1
    for line in done.out.splitlines() + done.err.splitlines():
        assert not UNSEEN.search(line)
        if OBEYED.match(line):
            assert re.match(r"::(error|warning|notice) (file=[^:,]*,line=[0-9]+,)?title=[^:,]*::", line)
    xml = (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert not UNSEEN.search(xml)
    assert len(list(ET.fromstring(xml).iter("testcase"))) == len(NAMES)  # noqa: S314 - written by the command under test
    strict((tmp_path / "found.sarif").read_text(encoding="utf-8"))


DEEP = 100_000
DEEP_NAMES = {
    "angles": "f<" * DEEP,
    "closed angles": "f" + "<" * DEEP + ">" * DEEP + "(int)",
    "wrongly closed": "f" + "<" * DEEP + ")" * DEEP,
    "brackets": "(" * DEEP,
    "calls": "f(" * DEEP,
    "squares": "[" * DEEP,
    "braces": "{" * DEEP,
    "blanks": "void f" + " " * DEEP + "(int)",
    "scopes": "a::" * DEEP + "f(int)",
    "Triton's specialisation": "f_1d" + "1" * DEEP + "!",
    "wide characters": "\u6838" * DEEP,
    "marks": "e" + "\u0301" * DEEP,
}


@pytest.mark.parametrize("kind", DEEP_NAMES)
def test_names_that_are_nested_deeply(kind: str) -> None:
    """They are answered like others."""
    name = DEEP_NAMES[kind]
    document = strict(attempt("explain", "-", "--format", "json", feed=LAYOUTS["details"]([name])).answered())
    assert document["kernels"][0]["kernel"]["name"] == name
    assert "MEMORY-BOUND" in attempt("explain", "-", feed=LAYOUTS["raw"]([name])).answered()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_name_that_no_compiler_writes(layout: str) -> None:
    done = attempt("explain", "-", feed=LAYOUTS[layout](["x" * 2_000_000]))
    assert "a name of 2,000,000 characters" in done.refused("not-an-ncu-report")


@pytest.mark.parametrize(("expression", "status"), [("(a+)+$", 2), (".*a", 0)])
def test_expressions_that_never_end(expression: str, status: int) -> None:
    """Of a user who copied one from somewhere; those that end are answered as ever."""
    feed = LAYOUTS["raw"](["a" * 60 + "!"])
    done = attempt("explain", "-", "--kernel", f"regex:{expression}", feed=feed).bounded()
    assert done.status == status
    if status:
        assert "takes longer than 5 seconds" in done.refused("usage", 2)
