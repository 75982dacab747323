"""What is known about one side of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncudiag.compare.noise import noise_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.compare.noise import Noise
    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.diagnose.findings import OpenRule
    from ncudiag.diagnose.repeats import FileShare
    from ncudiag.model import Source


@dataclass(frozen=True, slots=True)
class Side:
    """The kernels of one report, or of several that repeat each other.

    Attributes:
        source: where they came from; of several files what they have in common.
        kernels: the diagnoses, each over the launches of all files.
        files: each file by itself; empty stands for the source alone.
        shares: for each of the kernels, what each file adds; empty where only one file is known.
        open_rules: for each of the kernels, the watched rules that have no answer.
        all_names: (full, short) name of all kernels, also of those that were not selected.
    """

    source: Source
    kernels: Sequence[Diagnosis]
    files: tuple[Source, ...] = ()
    shares: Sequence[tuple[FileShare, ...]] = ()
    open_rules: Sequence[tuple[OpenRule, ...]] = ()
    all_names: tuple[tuple[str, str], ...] = ()

    def each_file(self) -> tuple[Source, ...]:
        """The files; at least one."""
        return self.files or (self.source,)

    def noise(self) -> dict[int, Noise]:
        """How far the measurements of each kernel lie apart.

        By the identity of its diagnosis: equal ones may be two kernels.
        """
        shares = self.shares or [()] * len(self.kernels)
        files = self.each_file()
        return {id(entry): noise_of(entry, own, files) for entry, own in zip(self.kernels, shares, strict=True)}

    def versions(self) -> set[str]:
        """The versions of ncu that are known."""
        return {each.ncu_version for each in self.each_file() if each.ncu_version is not None}
