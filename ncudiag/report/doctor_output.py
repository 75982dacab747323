"""What the doctor found, as text for people and as a document for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, assert_never

from ncudiag._version import __version__
from ncudiag.report.document import SCHEMA_VERSION
from ncudiag.report.escape import columns
from ncudiag.report.json_output import dumps
from ncudiag.report.page import NARROWEST, Page

if TYPE_CHECKING:
    from ncudiag.ncu.doctor import Examination
    from ncudiag.ncu.doctor_check import Check, Status
    from ncudiag.report.page import Ink

_INKS: dict[Status, Ink] = {"ok": "green", "warning": "yellow", "failed": "red", "unknown": "magenta"}
_STATUS_COLUMN = max(map(len, _INKS)) + 4


def doctor_json(examination: Examination) -> str:
    """One strict JSON document: ``checks`` and ``can_profile`` (null when nobody can know)."""
    return dumps(
        {
            "schema_version": SCHEMA_VERSION,
            "tool": {"name": "ncudiag", "version": __version__},
            "checks": [asdict(check) for check in examination.checks],
            "can_profile": examination.can_profile,
        }
    )


def render_doctor(examination: Examination, *, width: int, colour: bool = False, unicode: bool = True) -> str:
    """Every check with its hint, then the answer, ending with a line break.

    Args:
        examination: what to show.
        width: columns of the longest line (at least 40 are used).
        colour: whether ANSI colours may be used; they never carry a meaning of their own.
        unicode: whether characters beyond ASCII may be used.
    """
    page = Page(width=max(width, NARROWEST), colour=colour, unicode=unicode)
    names = max(columns(check.name) for check in examination.checks) + 2
    lines = [line for check in examination.checks for line in _check(page, check, names)]
    lines += ["", *_answer(page, examination)]
    return "\n".join(line.rstrip(" ") for line in lines) + "\n"


def _check(page: Page, check: Check, names: int) -> list[str]:
    indent = _STATUS_COLUMN + names
    # Painted by itself: the label of a paragraph has one colour.
    status = page.paint(check.status, _INKS[check.status]) + " " * (_STATUS_COLUMN - 2 - len(check.status))
    first, *rest = page.paragraph(check.found, indent=indent)
    lines = [f"  {status}{check.name:<{names}}{first[indent:]}", *rest]
    if check.hint is not None and check.status != "ok":
        lines += page.paragraph(check.hint, indent=indent + 2, first=" " * indent + page.bullet)
    return lines


def _answer(page: Page, examination: Examination) -> list[str]:
    failed = [check.name for check in examination.checks if check.status == "failed"]
    match examination.can_profile:
        case True:
            return page.paragraph("Profiling works here: a counter was read.", inks=("bold", "green"))
        case False:
            return page.paragraph(f"Profiling does not work here: {', '.join(failed)}.", inks=("bold", "red"))
        case None:
            text = "Nobody can know whether profiling works here: no counter could be read, and nothing else fails."
            return page.paragraph(text, inks=("bold", "yellow"))
        case _:
            assert_never(examination.can_profile)
