"""The tools that look at files: each calls one function of the API and returns one JSON document."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncudiag.errors import ComparisonError, UsageError
from ncudiag.server import words  # noqa: TC001 - the SDK reads the annotations at run time
from ncudiag.server.results import guarded

if TYPE_CHECKING:
    from ncudiag.choices import Choices
    from ncudiag.server.files import Folder


@dataclass(frozen=True)
class Tools:
    """The tools of one server.

    Attributes:
        folder: where reports are read from.
        choices: thresholds and rules, from the settings of whoever started the server.
        rule_folders: folders of rules, again.
    """

    folder: Folder
    choices: Choices
    rule_folders: tuple[str, ...] = ()

    def explain(
        self,
        *,
        file: words.File,
        kernel: words.Kernel = None,
        top: words.Top = 3,
        full: words.Full = False,
        needed_bytes: words.NeededBytes = None,
    ) -> words.Document:
        """Say what limits each kernel of an Nsight Compute report, with the numbers, and what to try first."""

        def make() -> str:
            from ncudiag.api import diagnose
            from ncudiag.report.json_output import to_json

            path = self.folder.report(file)
            choices: Choices = {**self.choices, "kernel": kernel or None, "top": top, "needed_bytes": needed_bytes}
            report = diagnose(path, name=file, **choices)
            return to_json(report, brief=not full)

        return guarded(make)

    def compare(
        self,
        *,
        before: words.File,
        after: words.File,
        kernel: words.Kernel = None,
        top: words.Top = 3,
        full: words.Full = False,
    ) -> words.Document:
        """Say what changed between two reports: improved, regressed, no clear difference or not comparable."""

        def make() -> str:
            from ncudiag.api import compare, read
            from ncudiag.report.brief_comparison import brief_comparison_json
            from ncudiag.report.json_output import comparison_to_json

            old, new = (read(self.folder.report(name), name=name) for name in (before, after))
            choices: Choices = {**self.choices, "kernel": kernel or None, "top": top}
            comparison = compare(old, new, **choices)
            error = None if comparison.comparable else _not_comparable(before, after)
            return (comparison_to_json if full else brief_comparison_json)(comparison, error)

        return guarded(make)

    def rules(self, *, rule: words.RuleWord = None, select: words.Select = None) -> words.Document:
        """List the rules behind the findings, or explain one: what it measures, why, what to try, what is in vain."""

        def make() -> str:
            from ncudiag.report.brief_json import compact
            from ncudiag.report.rule_json import rule_document, rules_document
            from ncudiag.rulebook.collection import collect

            book = collect([Path(folder) for folder in self.rule_folders])
            if rule is None:
                return compact(rules_document(book.only(select=select or ()), ()))
            found = book.rule(rule)
            return compact(rule_document(found.model_copy(update={"examples": ()}), book.threshold_sources(found)))

        return guarded(make)

    def roofline(
        self,
        *,
        kernel: words.PaperKernel = None,
        sizes: words.Sizes = None,
        flops: words.Amount = None,
        bytes: words.Amount = None,  # noqa: A002 - the field's word, as in Roofline.estimate
        gpu: words.GpuName = "H100",
        precision: words.Precision = None,
    ) -> words.Document:
        """Say on paper whether a kernel can be anything but memory-bound on a GPU, and how fast it can be at most."""

        def make() -> str:
            from ncudiag.report.roofline_json import estimate_json
            from ncudiag.roofline.paper import Roofline

            if (kernel is None) == (flops is None or bytes is None):
                hint = "Either `kernel` with its `sizes`, or both `flops` and `bytes`."
                raise UsageError("usage", "a known kernel, or flops and bytes, is needed", hint)
            line = Roofline(gpu)
            if kernel is not None:
                given: dict[str, Any] = {**(sizes or {}), "precision": precision}
                return estimate_json(line.kernel(kernel, **given))
            return estimate_json(line.estimate(flops=flops or 0.0, bytes=bytes or 0.0, precision=precision or "fp32"))

        return guarded(make)

    def doctor(self) -> words.Document:
        """Say whether this machine can profile (ncu, driver, GPU, permission), and what stands in the way."""

        def make() -> str:
            from ncudiag.ncu.doctor import examine
            from ncudiag.report.doctor_output import doctor_json

            return doctor_json(examine())

        return guarded(make)


def _not_comparable(before: str, after: str) -> ComparisonError:
    return ComparisonError(
        "not-comparable",
        f"no kernel of {before} can be compared with one of {after}",
        "Each pair has its `reasons`. Profile both with the same ncu, GPU, locked clocks and launch shape.",
    )
