"""Gates of a comparison: how much slower a kernel may get, and what may not change."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never, get_args

from ncudiag.diagnose.checks import Check, gate_of
from ncudiag.errors import UsageError
from ncudiag.gate import gaps
from ncudiag.gate.criteria import NumberTest, RuleTest, parse_criterion, split_gates
from ncudiag.gate.evaluate import Answer, rules_unanswered
from ncudiag.gate.gates import absent_check, ready_budget
from ncudiag.gate.limits import parse_share, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ncudiag.compare.comparison import Comparison, Pair, ReasonCode
    from ncudiag.diagnose.checks import CheckOutcome, Gate
    from ncudiag.diagnose.diagnosis import KernelIdentity
    from ncudiag.diagnose.findings import OpenRule
    from ncudiag.gate.criteria import Vocabulary
    from ncudiag.gate.gates import Budget, ReadyBudget

ChangeWord: TypeAlias = Literal["new-finding", "verdict-changed", "regressed", "not-comparable"]

WORDS: tuple[ChangeWord, ...] = get_args(ChangeWord)
_NOISE_UNKNOWN: frozenset[ReasonCode] = frozenset({"one-launch-each", "spread-unknown"})
_EXPLAINED: Mapping[ReasonCode, str] = {
    "clock-explains": "the SM clock explains it",
    "timer-resolution": "the steps of the timer explain it",
}


@dataclass(frozen=True, slots=True)
class ChangeTest:
    """Something that may not have happened to a pair."""

    text: str
    word: ChangeWord
    rules: frozenset[str] = frozenset()


ChangeCriterion: TypeAlias = ChangeTest | RuleTest


@dataclass(frozen=True, slots=True)
class ChangeGates:
    """What to check.

    Attributes:
        max_regression: for every pair that no budget is about, as a fraction; None for none.
        criteria: for every pair.
        budgets: limits for single kernels.
    """

    max_regression: float | None
    criteria: tuple[ChangeCriterion, ...]
    budgets: tuple[ReadyBudget, ...]

    @property
    def watched(self) -> frozenset[str]:
        """Ids of the rules whose answer must be known."""
        return frozenset(rule for test in self.criteria for rule in test.rules)


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The watched rules without an answer on each side, by kernel.

    Attributes:
        before, after: for each kernel.
        names: (full, short) name of all kernels of both sides.
        filtered: whether the user selected kernels.
    """

    before: Mapping[KernelIdentity, tuple[OpenRule, ...]]
    after: Mapping[KernelIdentity, tuple[OpenRule, ...]]
    names: tuple[tuple[str, str], ...] = ()
    filtered: bool = False


def make_change_gates(
    max_regression: str | float | None, fail_on: Iterable[str], budgets: Iterable[Budget], vocabulary: Vocabulary
) -> ChangeGates | None:
    """Check what is asked for.

    Returns:
        The gates; None when nothing is asked.

    Raises:
        UsageError: a limit, a failing state or a budget is wrong.
    """
    share = None if max_regression is None else parse_share(max_regression, where="--max-regression")
    texts = split_gates(fail_on, where="--fail-on")
    criteria = tuple(_parsed(text, vocabulary) for text in texts)
    ready = (ready_budget(budget, vocabulary) for budget in budgets)
    limits = tuple(budget for budget in ready if budget.max_regression is not None)
    return ChangeGates(share, criteria, limits) if share is not None or criteria or limits else None


def _parsed(text: str, vocabulary: Vocabulary) -> ChangeCriterion:
    for word in WORDS:
        if text.casefold() == word:
            every = frozenset(rule.id for rule in vocabulary.asked) if word == "new-finding" else frozenset()
            return ChangeTest(text, word, every)
    near = get_close_matches(text.casefold(), WORDS, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    known = f"{meant}For a comparison there are {', '.join(WORDS)}, and rules and families that must not be new."
    try:
        criterion = parse_criterion(text, vocabulary, where="--fail-on")
    except UsageError as error:
        raise UsageError("usage", error.message, f"{known} {error.hint}", details=error.details) from error
    if not isinstance(criterion, RuleTest) or criterion.at_least is not None:
        what = "compares one report with a number" if isinstance(criterion, NumberTest) else "is about one report"
        raise UsageError("usage", f"--fail-on: {text!r} {what}", f"{known} `ncudiag explain --fail-on` takes it.")
    return criterion


def check_comparison(gates: ChangeGates, comparison: Comparison, unanswered: Unanswered) -> Gate:
    """Hold all gates against a comparison.

    A kernel that is only after is new and has nothing to get slower against; one that is only before cannot be shown
    not to have got slower.
    """
    checks: list[Check] = []
    met: set[int] = set()
    for rank, pair in enumerate(comparison.pairs, start=1):
        for number, limit in _limits(gates, pair.kernel, pair.kernel_before):
            checks.append(_check(_gate_name(limit), pair, rank, _regression(pair, limit), _filter(gates, number)))
            met |= set() if number is None else {number}
        checks += [_check(test.text, pair, rank, _changed(test, pair, unanswered)) for test in gates.criteria]
    for alone in comparison.only_before:
        for number, limit in _limits(gates, alone.kernel):
            checks.append(_gone(_gate_name(limit), alone.kernel, limit, _filter(gates, number)))
            met |= set() if number is None else {number}
        times = [test for test in gates.criteria if isinstance(test, ChangeTest) and test.word == "regressed"]
        checks += [_gone(test.text, alone.kernel) for test in times]
    known = unanswered.names if unanswered.filtered else ()
    for number, budget in enumerate(gates.budgets):
        excused = budget.budget.optional or any(budget.matches(*names) for names in known)
        if number not in met and not excused:
            short_names = [short for _, short in unanswered.names]
            checks.append(absent_check(budget.budget.kernel, short_names, where="the baseline"))
    return gate_of(tuple(checks))


def _limits(gates: ChangeGates, *kernels: KernelIdentity) -> list[tuple[int | None, float]]:
    """The limits of all budgets about a kernel, each with the budget's number; else the limit for all."""
    limits: list[tuple[int | None, float]] = [
        (number, budget.max_regression)
        for number, budget in enumerate(gates.budgets)
        if budget.max_regression is not None
        and any(budget.matches(kernel.name, kernel.short_name) for kernel in kernels)
    ]
    general = gates.max_regression
    return limits or ([] if general is None else [(None, general)])


def _filter(gates: ChangeGates, number: int | None) -> str | None:
    return None if number is None else gates.budgets[number].budget.kernel


def _gate_name(limit: float) -> str:
    return f"max-regression {100 * limit:g}%"


def _check(gate: str, pair: Pair, rank: int, answer: Answer, budget: str | None = None) -> Check:
    return Check.model_construct(
        gate=gate,
        kernel=pair.kernel.name,
        rank=rank,
        budget=budget,
        outcome=answer.outcome,
        message=answer.message,
        value=answer.value,
        limit=answer.limit,
        unit=answer.unit,
        collect=answer.collect,
        rule=answer.rule,
    )


def _gone(gate: str, kernel: KernelIdentity, limit: float | None = None, budget: str | None = None) -> Check:
    return Check.model_construct(
        gate=gate,
        kernel=kernel.name,
        budget=budget,
        outcome="indeterminate",
        message="it is only before, so nothing shows that it did not get slower; "
        "a kernel that is gone on purpose needs a new baseline",
        limit=limit,
        unit=None if limit is None else "",
    )


def _regression(pair: Pair, limit: float) -> Answer:
    """The change of the median duration against the limit."""
    change = pair.duration_ns.change
    if pair.status == "not-comparable" or change is None:
        why = f" ({', '.join(pair.reasons)})" if pair.reasons else ""
        return Answer(
            "indeterminate", f"the times cannot be compared{why}, so the gate cannot pass", limit=limit, unit=""
        )
    said = f"{shown(abs(100 * change), '%', against=100 * limit)} {'slower' if change > 0 else 'faster'}"
    outcome, how = _against(pair, change, limit)
    message = f"a launch is {said if change else 'as fast as before'}, {how}"
    return Answer(outcome, message, value=change, limit=limit, unit="")


def _against(pair: Pair, change: float, limit: float) -> tuple[CheckOutcome, str]:
    """Whether a change is more than allowed, and the end of the sentence that says so."""
    most, noise = f"{100 * limit:g} %", ", ".join(_noise_unknown(pair))
    if change <= limit:
        return "passed", f"which is within {most}{f' ({noise})' if noise else ''}"
    if noise:
        return "indeterminate", f"more than {most}, but how far launches lie apart is not known ({noise})"
    if pair.status == "regressed":
        return "failed", f"more than {most}"
    return "passed", f"more than {most}, but {_explained(pair)}"


def _noise_unknown(pair: Pair) -> list[ReasonCode]:
    return [reason for reason in pair.reasons if reason in _NOISE_UNKNOWN]


def _explained(pair: Pair) -> str:
    """Why a change is no clear difference."""
    known = [text for reason, text in _EXPLAINED.items() if reason in pair.reasons]
    spread = max(pair.spread.before or 0.0, pair.spread.after or 0.0)
    return known[0] if known else f"launches lie apart by {shown(100 * spread, '%')}"


def _changed(test: ChangeCriterion, pair: Pair, unanswered: Unanswered) -> Answer:
    if isinstance(test, RuleTest):
        return _new_rules(test, pair, unanswered)
    match test.word:
        case "new-finding":
            return _new_rules(RuleTest(test.text, test.rules), pair, unanswered)
        case "verdict-changed":
            return _verdict(pair)
        case "regressed":
            return _slower(pair)
        case "not-comparable":
            failed = pair.status == "not-comparable"
            return Answer("failed" if failed else "passed", pair.summary)
        case _:
            assert_never(test.word)


def _new_rules(test: RuleTest, pair: Pair, unanswered: Unanswered) -> Answer:
    """Rules that fire now and did not before; one that lost its metrics may do so too."""
    new = [rule for rule in pair.findings.new if rule in test.rules]
    if new:
        return Answer("failed", f"{gaps.some(new)} {'are' if len(new) > 1 else 'is'} new", rule=new[0])
    before = {rule.rule for rule in unanswered.before.get(pair.kernel_before, ())}
    now = unanswered.after.get(pair.kernel, ())
    # Of many rules, those count that could be decided before; one that was named must be decided.
    lost = rules_unanswered(test, [rule for rule in now if test.named or rule.rule not in before])
    if not lost:
        return Answer("passed", "it is not new" if test.named else "nothing new")
    metrics = dict.fromkeys(metric for rule in lost for metric in rule.metrics)
    without = f" without {gaps.some(metrics)}" if metrics else ""
    which = gaps.some(rule.rule for rule in lost)
    message = f"whether {which} is new could not be decided{without}, so the gate cannot pass"
    return Answer("indeterminate", message, rule=lost[0].rule)


def _verdict(pair: Pair) -> Answer:
    before, after = pair.verdict.before, pair.verdict.after
    if "unknown" in (before, after):
        return Answer("indeterminate", f"the verdict is {before} before and {after} after, so the gate cannot pass")
    if before == after:
        return Answer("passed", f"the verdict is still {after}")
    return Answer("failed", f"the verdict is {after} and was {before}")


def _slower(pair: Pair) -> Answer:
    if pair.status == "regressed":
        return Answer("failed", pair.summary, value=pair.duration_ns.change)
    change = pair.duration_ns.change
    open_ = pair.status == "not-comparable" or (change is not None and change > 0 and bool(_noise_unknown(pair)))
    return Answer("indeterminate" if open_ else "passed", pair.summary, value=change)


def identities(
    kernels: Sequence[KernelIdentity], open_rules: Sequence[tuple[OpenRule, ...]]
) -> dict[KernelIdentity, tuple[OpenRule, ...]]:
    """The unanswered rules of a side by kernel; kernels that nothing tells apart have theirs together."""
    found: dict[KernelIdentity, tuple[OpenRule, ...]] = {}
    for kernel, own in zip(kernels, open_rules, strict=True):
        found[kernel] = (*found.get(kernel, ()), *own)
    return found
