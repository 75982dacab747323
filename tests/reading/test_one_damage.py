"""Pages with one thing done to them: what is left of each launch, and what is said about it."""

from __future__ import annotations

from functools import cache

import pytest
import report_writers as w
import text_writer as t
from report_writers import Kernel, Value, sol
from test_text_page import LINE, LONG, SUMMARY, spoilt
from text_writer import Look

from ncudiag.errors import ReportError
from ncudiag.reading import read_report

UNTYPED = w.Rule(type="", message="No pipeline is over-utilized.", speedup="")
RULES = (
    w.Rule(),
    w.Rule(section="Occupancy", type="WRN", message=f"The difference is {'large ' * 30}here.", speedup=""),
)
OCCUPANCY = Value("Occupancy", "Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct", "%", 75.0)
KERNELS = (
    Kernel(0, values=(*sol(), OCCUPANCY), rules=RULES),
    Kernel(1, name="b(int, (N, M, K)x(1, 2, 3))", values=(*sol(dram=5.5), OCCUPANCY), rules=(UNTYPED, RULES[1])),
    Kernel(
        2,
        process=4102,
        values=(
            Value(w.COMMAND_LINE, LONG, LONG, "inst", 7.25),
            Value(w.COMMAND_LINE, "sm__c.avg", "sm__c.avg", "", f"1694 ({'; '.join(['50'] * 30)})"),
            Value(w.COMMAND_LINE, "sm__d.avg", "sm__d.avg", "", "a device name that does not fit into its column"),
        ),
    ),
)
# Rows with a rule, a unit that nobody knows, a break inside a cell.
ROWS = tuple(
    Kernel(
        number,
        name=f"k{number % 2}(int,\n long)" if number == 2 else f"k{number % 2}(int)",
        values=(*sol(dram=70.5 + number), OCCUPANCY, Value(w.COMMAND_LINE, "sm__z.avg", "sm__z.avg", "furlong", 2.0)),
        rules=RULES[:1],
    )
    for number in range(4)
)
RAW = f"""[7] a@127.0.0.1
{LINE}  Metric Name           Metric Unit Metric Value
  --------------------- ----------- ------------
  launch__grid_size                         4.00
  device__display_name              NVIDIA GeFor
                                      e RTX 3070

"""


@cache
def page(name: str) -> str:
    """A page that is whole, in one of the looks that pages have or got on their way."""
    look, _, how = name.partition(", ")
    text = {
        "new": lambda: t.page(KERNELS),
        "old": lambda: t.page(KERNELS, Look(old=True)),
        "summary": lambda: SUMMARY,
        "raw": lambda: RAW + RAW,
        "details": lambda: w.details(list(ROWS)).text(),
        "german details": lambda: w.details(list(ROWS), w.STYLES["de_DE"], names="label-name", body=True).text(),
        "saved details": lambda: w.details(list(ROWS)).text().replace('"\n', '",""\n'),
        "wide": lambda: w.raw(list(ROWS)).text(),
        "summaries": lambda: w.summary(list(ROWS)).text(),
        "metrics": lambda: f"==PROF== Connected\n{w.metrics(list(ROWS)).text()}==WARNING== List:\n  a\n  b\n",
    }[look]()
    return spoilt(how, text) if how else text


PAGES = (
    *("new", "old", "summary", "raw", "new, blanks closed up", "new, no indentation", "new, no blanks at the ends"),
    *("new, no empty lines", "old, no empty lines", "old, no blanks at the ends", "summary, blanks closed up"),
    *("old, quoted", "summary, no empty lines"),
    *("details", "german details", "saved details", "wide", "summaries", "metrics"),
)


def damaged(name: str, what: str, line: int, detail: str = "") -> str:
    """The page with something done to a line, counted from 1."""
    lines = page(name).split("\n")
    old = lines[line - 1]
    at = int(detail) if what in {"cut", "ends", "padded"} else 0
    if what == "ends":
        return "\n".join([*lines[: line - 1], old[:at]])
    lines[line - 1 : line] = {
        "gone": [],
        "twice": [old, old],
        "cut": [old[:at]],
        "padded": [old + " " * at],
        "stripped": [old.strip()],
        "behind": [detail, old],
    }[what]
    return "\n".join(lines)


def reading(name: str, what: str, line: int, detail: str = "") -> str:
    """Numbers and rules of each launch (``!`` if it is incomplete), lines that are no part of the page, warnings."""
    try:
        profile = read_report(damaged(name, what, line, detail))
    except ReportError as error:
        return error.code
    launches = [
        f"{len(launch.values)}+{len(launch.texts)}+{len(launch.rules)}{'' if launch.complete else '!'}"
        for launch in profile.launches
    ]
    # What stands under another section may have lost its name; a number that was never there would be worse.
    numbers = {number for launch in read_report(page(name)).launches for number in launch.values.values()}
    assert all(numbers.issuperset(launch.values.values()) for launch in profile.launches)
    usual = ("rounded-values", "unknown-unit")
    said = [warning.message for warning in profile.source.warnings if warning.code not in usual]
    outcome = "; ".join([" ".join(launches), f"{profile.source.skipped_lines} skipped", *said])
    return outcome.replace(KERNELS[0].name, "copy")


# (page, what was done, line, detail): what is left.
CASES = {
    ("old", "behind", 7, "    Section: Occupancy"): (
        "3+1+0! 1+0+1 6+1+2 2+1+0; "
        "2 skipped; "
        "line 7: a table has no end: the launch of copy is incomplete; "
        "line 23: no line names the kernel of section 'Occupancy'; "
        "it is (unnamed kernel 1) here"
    ),
    ("summary, blanks closed up", "behind", 19, "Duration                          us         9.99"): (
        "2+0+0; 4 skipped"
    ),
    ("summary, no empty lines", "behind", 10, "  Device 0, CC 8.6"): (
        "2+0+0! 2+0+0; 2 skipped; line 10: a table has no end: the launch of f(int, float *) is incomplete"
    ),
    ("old, no empty lines", "behind", 31, "    OPT   Est. Speedup: 50%"): ("6+1+2 6+1+2 2+1+0; 0 skipped"),
    ("new", "cut", 19, "52"): (
        "5+0+2! 6+1+2 2+1+0; 2 skipped; line 19: a table has no end: the launch of copy is incomplete"
    ),
    ("new, no blanks at the ends", "behind", 22, "----- ----- -----"): ("6+1+2 6+1+2 2+1+0; 1 skipped"),
    ("new, blanks closed up", "ends", 13, "24"): ("4+0+1; 0 skipped"),
    ("old, no empty lines", "ends", 10, "108"): ("4+0+1; 0 skipped"),
    ("new, no blanks at the ends", "cut", 50, "3"): ("6+1+2 6+1+2 2+1+0; 0 skipped"),
    ("new, no indentation", "ends", 11, "24"): (
        "4+0+0!; 0 skipped; line 11: the text ends inside a table: the launch of copy is incomplete"
    ),
    ("old, no empty lines", "behind", 33, "    Section: Occupancy"): (
        "6+1+2 5+1+1 1+0+1 2+1+0; "
        "0 skipped; "
        "line 41: no line names the kernel of section 'Occupancy'; "
        "it is (unnamed kernel 1) here; "
        "'Function Cache Configuration' (section 'Occupancy') is no known label of one metric; "
        "kept under its label"
    ),
    ("old, no blanks at the ends", "ends", 16, "120"): (
        "4+1+1!; 0 skipped; line 16: the text ends inside a table: the launch of copy is incomplete"
    ),
    ("new, no indentation", "behind", 29, "          more words."): ("6+1+2 6+1+1 2+1+0; 1 skipped"),
    ("old", "cut", 9, "3"): (
        "6+1+1! 6+1+2 2+1+0; 2 skipped; line 13: a table has no end: the launch of copy is incomplete"
    ),
    ("old", "cut", 53, "60"): (
        "6+1+2 6+1+2 1+1+0; "
        "0 skipped; "
        "'_then_some_more.ratio' (section 'Command line profiler metrics') is no known label of one metric; "
        "kept under its label"
    ),
    ("metrics", "ends", 31, "37"): ("6+1+0 6+1+0 5+1+0!; 0 skipped; line 31 ends inside a row: launch 2 is incomplete"),
    ("german details", "ends", 15, "188"): ("6+1+1 4+1+0; 0 skipped"),
    ("german details", "ends", 19, "220"): ("6+1+1 6+1+1; 0 skipped"),
    ("german details", "ends", 39, "207"): ("6+1+1 6+1+1 6+1+1 2+0+0; 0 skipped"),
    ("details", "cut", 28, "25"): ("6+1+1 6+1+1 6+0+1 6+1+1; 0 skipped"),
    ("wide", "ends", 3, "163"): ("6+1+0; 0 skipped"),
    ("wide", "ends", 2, "84"): ("no-kernels"),
    ("wide", "cut", 5, "18"): ("6+1+0 6+1+0 6+1+0; 2 skipped"),
    ("wide", "twice", 5, ""): ("6+1+0 6+1+0 6+1+0 6+1+0; 1 skipped"),
    ("summaries", "cut", 19, "118"): ("6+1+0 6+1+0 5+1+0; 2 skipped"),
    ("summaries", "behind", 25, '"5"'): ("6+1+0 6+1+0 5+1+0 1+0+0; 0 skipped"),
    ("summaries", "behind", 23, '50%"0","4101","app"'): ("6+1+0 6+1+0 5+1+0; 3 skipped"),
}


@pytest.mark.parametrize(("where", "outcome"), CASES.items(), ids=[" ".join(map(str, where)) for where in CASES])
def test_one_thing_is_wrong(where: tuple[str, str, int, str], outcome: str) -> None:
    assert reading(*where) == outcome
