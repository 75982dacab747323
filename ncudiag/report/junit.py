"""What gates found as JUnit XML, as Jenkins, GitLab and most CI systems read it.

One suite for each report, one test case for each check. A check that failed is a ``failure``; one that could not be
decided, and an input that could not be read, is an ``error``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ncudiag.errors import NcudiagError
from ncudiag.report.escape import visible
from ncudiag.report.gate_words import subject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ncudiag.diagnose.checks import Check, Gate

_NO_TIME = "0"  # a check takes none, and the kernel's own time is not the test's


class Suite(NamedTuple):
    """The checks of one input.

    Attributes:
        name: the input's name.
        result: what its gates found, or why it could not be read.
        properties: facts about the input; those that are None are left out.
    """

    name: str
    result: Gate | NcudiagError
    properties: Mapping[str, str | None]


def render_junit(suites: Sequence[Suite]) -> str:
    """The document, in UTF-8 when written; names hold no character that XML lacks.

    Args:
        suites: one for each input, in the order of the command line.
    """
    root = Element("testsuites", {"name": "ncudiag", "time": _NO_TIME})
    counts = [_suite(root, suite) for suite in suites]
    for position, key in enumerate(("tests", "failures", "errors")):
        root.set(key, str(sum(count[position] for count in counts)))
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _suite(root: Element, suite: Suite) -> tuple[int, int, int]:
    """One suite; how many tests, failures and errors it has."""
    element = SubElement(root, "testsuite", {"name": visible(suite.name) or "standard input", "time": _NO_TIME})
    facts = {name: value for name, value in suite.properties.items() if value is not None}
    if facts:
        properties = SubElement(element, "properties")
        for name, value in facts.items():
            SubElement(properties, "property", {"name": name, "value": visible(value)})
    if isinstance(suite.result, NcudiagError):
        counts = _unreadable(element, suite.name, suite.result)
    else:
        outcomes = [_case(element, suite.name, check) for check in suite.result.checks]
        counts = (len(outcomes), outcomes.count("failed"), outcomes.count("indeterminate"))
    for key, count in zip(("tests", "failures", "errors"), counts, strict=True):
        element.set(key, str(count))
    element.set("skipped", "0")
    return counts


def _case(element: Element, suite: str, check: Check) -> str:
    """One test case: the kernel is its class, the gate its name."""
    case = SubElement(
        element,
        "testcase",
        {"classname": visible(f"{suite}: {subject(check)}"), "name": _name(check), "time": _NO_TIME},
    )
    if check.outcome == "passed":
        SubElement(case, "system-out").text = visible(check.message)
        return check.outcome
    kind = "failure" if check.outcome == "failed" else "error"
    problem = SubElement(case, kind, {"message": visible(check.message), "type": check.outcome})
    problem.text = "\n".join(visible(line) for line in _details(check))
    return check.outcome


def _name(check: Check) -> str:
    """The gate, with the kernel's rank: two kernels of one name (another grid) are two cases."""
    rank = "" if check.rank is None else f" (kernel {check.rank})"
    return visible(check.gate + rank)


def _details(check: Check) -> list[str]:
    """The facts behind a problem, one a line."""
    facts = {
        "kernel": check.kernel,
        "gate": check.gate,
        "budget": check.budget,
        "rule": check.rule,
        "value": None if check.value is None else f"{check.value!r} {check.unit or ''}".rstrip(),
        "limit": None if check.limit is None else f"{check.limit!r} {check.unit or ''}".rstrip(),
        "collect": check.collect,
    }
    return [check.message, *(f"{name}: {value}" for name, value in facts.items() if value is not None)]


def _unreadable(element: Element, name: str, error: NcudiagError) -> tuple[int, int, int]:
    case = SubElement(element, "testcase", {"classname": visible(name), "name": "readable", "time": _NO_TIME})
    problem = SubElement(case, "error", {"message": visible(error.message), "type": error.code})
    problem.text = visible(error.hint)
    return 1, 0, 1
