"""All gates of one call: what was asked for every kernel, and budgets for single ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from ncudiag.diagnose.checks import Check, gate_of
from ncudiag.diagnose.engine import name_matcher
from ncudiag.errors import UsageError
from ncudiag.gate.criteria import NumberTest, RuleTest, Vocabulary, parse_criterion, split_gates
from ncudiag.gate.evaluate import Kernel, check, check_labels
from ncudiag.gate.limits import parse_limit, parse_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ncudiag.diagnose import Diagnosed
    from ncudiag.diagnose.checks import Gate
    from ncudiag.gate.criteria import Criterion


class Budget(BaseModel):
    """What one kernel, or some, must keep to.

    Attributes:
        kernel: a word of the short name, whatever its case, or ``regex:`` with an expression for the full name.
        fail_on: failing states, as for ``--fail-on``.
        max_duration: the most that a launch may take (its median), with a unit: ``1.5 ms``.
        max_regression: the most that it may get slower between two reports: ``5%`` or 0.05.
        optional: whether the kernel may be absent from a report.
        where: the place of the budget in its file, for messages.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kernel: str
    fail_on: tuple[str, ...] = ()
    max_duration: str | None = None
    max_regression: str | float | None = None
    optional: bool = False
    where: str = "budget"

    @property
    def about_report(self) -> bool:
        """Whether it limits anything in a single report."""
        return bool(self.fail_on) or self.max_duration is not None


@dataclass(frozen=True, slots=True)
class ReadyBudget:
    """A budget, checked.

    Attributes:
        budget: as it was given.
        tests: (what the check is called, the failing state).
        max_regression: as a fraction; None where it has none.
    """

    budget: Budget
    tests: tuple[tuple[str, Criterion], ...]
    max_regression: float | None

    def matches(self, name: str, short_name: str) -> bool:
        """Whether it is about a kernel."""
        return name_matcher(self.budget.kernel)(name, short_name)


@dataclass(frozen=True, slots=True)
class Gates:
    """What to check.

    Attributes:
        criteria: for every selected kernel.
        budgets: for the kernels that they name.
    """

    criteria: tuple[Criterion, ...] = ()
    budgets: tuple[ReadyBudget, ...] = ()

    @property
    def watched(self) -> frozenset[str]:
        """Ids of the rules whose answer must be known."""
        tests = (*self.criteria, *(test for budget in self.budgets for _, test in budget.tests))
        return frozenset(rule for test in tests if isinstance(test, RuleTest) for rule in test.rules)


def make_gates(
    fail_on: str | Iterable[str],
    budgets: Iterable[Budget],
    vocabulary: Vocabulary,
    *,
    where: str = "--fail-on",
) -> Gates:
    """Check what is asked for.

    Raises:
        UsageError: a failing state, a limit or a kernel filter is wrong; the message says in which option or budget.
    """
    criteria = tuple(parse_criterion(text, vocabulary, where=where) for text in split_gates(fail_on, where=where))
    return Gates(criteria, tuple(ready_budget(budget, vocabulary) for budget in budgets))


def ready_budget(budget: Budget, vocabulary: Vocabulary) -> ReadyBudget:
    """A budget with its failing states understood.

    Raises:
        UsageError: as for :func:`make_gates`.
    """
    _check_filter(budget)
    where = f"{budget.where}.fail_on"
    texts = split_gates(budget.fail_on, where=where)
    tests = [(text, parse_criterion(text, vocabulary, where=where)) for text in texts]
    if budget.max_duration is not None:
        tests.append(_max_duration(budget.max_duration, where=f"{budget.where}.max_duration"))
    most = budget.max_regression
    share = None if most is None else parse_share(most, where=f"{budget.where}.max_regression")
    if not tests and share is None:
        raise UsageError(
            "usage",
            f"{budget.where}: the budget of {budget.kernel!r} limits nothing",
            "Give it max_duration, max_regression or fail_on.",
        )
    return ReadyBudget(budget, tuple(tests), share)


def _check_filter(budget: Budget) -> None:
    word = budget.kernel.removeprefix("regex:")
    problem = None if word.strip() else "is empty"
    if budget.kernel.startswith("regex:"):
        try:
            re.compile(word)
        except re.error as error:
            problem = f"is no regular expression: {error}"
    if problem is not None:
        raise UsageError(
            "usage",
            f"{budget.where}.kernel: {budget.kernel!r} {problem}",
            "A word is searched in the short name; `regex:...` is searched in the full name.",
        )


def _max_duration(text: str, *, where: str) -> tuple[str, Criterion]:
    limit = parse_limit(text, where=where)
    if limit.unit != "ns" or limit.value < 0:
        raise UsageError("usage", f"{where}: {text!r} is no duration", "Write it with a unit, as in '1.5 ms'.")
    return f"max_duration {text}", NumberTest(text, "duration_ns", ">", limit.value, "ns")


def check_report(gates: Gates, diagnosed: Diagnosed, *, units: Mapping[str, str], filtered: bool = False) -> Gate:
    """Hold all gates against the selected kernels of a report.

    Args:
        gates: what to check.
        diagnosed: the kernels, with all metrics and with the rules that :attr:`Gates.watched` names.
        units: base unit by ncu metric name, where the report said.
        filtered: whether the user selected kernels; then a budget for another kernel of the report is left out.

    Raises:
        UsageError: a name that is no number here, or a unit that does not fit.
    """
    tests = (*gates.criteria, *(test for budget in gates.budgets for _, test in budget.tests))
    kernels = _kernels(diagnosed)
    check_labels(tests, kernels, where="--fail-on")
    checks: list[Check] = []
    met: set[int] = set()
    held = [budget for budget in gates.budgets if budget.tests]
    for kernel in kernels:
        checks += [check(criterion, kernel, units=units) for criterion in gates.criteria]
        identity = kernel.entry.kernel
        for number, budget in enumerate(held):
            if not budget.matches(identity.name, identity.short_name):
                continue
            met.add(number)
            filter_ = budget.budget.kernel
            checks += [check(test, kernel, units=units, gate=name, budget=filter_) for name, test in budget.tests]
    elsewhere = diagnosed.all_names if filtered else ()
    absent = [budget for number, budget in enumerate(held) if number not in met and not _excused(budget, elsewhere)]
    short_names = [short for _, short in diagnosed.all_names]
    checks += [absent_check(budget.budget.kernel, short_names) for budget in absent]
    return gate_of(tuple(checks))


def _kernels(diagnosed: Diagnosed) -> list[Kernel]:
    pairs = zip(diagnosed.kernels, diagnosed.open_rules, strict=True)
    return [Kernel(entry, rank, open_rules) for rank, (entry, open_rules) in enumerate(pairs, start=1)]


def _excused(budget: ReadyBudget, elsewhere: Iterable[tuple[str, str]]) -> bool:
    return budget.budget.optional or any(budget.matches(*names) for names in elsewhere)


def absent_check(kernel: str, short_names: Sequence[str], *, where: str = "the report") -> Check:
    """The check of a budget whose kernel does not occur."""
    near = get_close_matches(kernel.removeprefix("regex:"), short_names, n=1, cutoff=0.5)
    meant = f" (nearest: {near[0]})" if near else ""
    return Check.model_construct(
        gate="budget",
        kernel=None,
        budget=kernel,
        outcome="failed",
        message=f"no kernel of {where} matches {kernel!r}{meant}, and a budget without its kernel cannot pass; "
        "`optional = true` in the budget allows it",
    )
