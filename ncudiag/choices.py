"""The options that diagnose, run and compare share: their names, their checks, what the engine makes of them."""

from __future__ import annotations

import os
import re
import reprlib
from collections.abc import Iterable, Sequence
from math import inf
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast

from ncudiag.diagnose import Options
from ncudiag.errors import UsageError
from ncudiag.model import SourceWarning
from ncudiag.rulebook import Thresholds, builtin_quadrants
from ncudiag.rulebook.book import ReadyBook, builtin_ready, merged, ready_folder, selected

if TYPE_CHECKING:
    from ncudiag.gate.changes import ChangeGates
    from ncudiag.gate.gates import Budget, Gates

_WORDS = "a word or several"


class Choices(TypedDict, total=False):
    """The keyword options that :func:`diagnose` and :func:`run` share; each is described at :func:`diagnose`."""

    kernel: str | Sequence[str] | None
    top: int | None
    high: float | None
    saturated: float | None
    borderline: float | None
    rules: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    select: str | Sequence[str]
    ignore: str | Sequence[str]
    needed_bytes: float | None
    needed_flops: float | None
    fail_on: str | Sequence[str]
    budgets: Sequence[Budget]
    with_host: bool
    brief: bool


def top_of(choices: Choices) -> int | None:
    """How many kernels to keep; None for all.

    Raises:
        UsageError: no whole number, or fewer than one.
    """
    top = choices.get("top")
    if top is not None and (isinstance(top, bool) or not isinstance(top, int)):
        raise _wrong_type("top", top, "a whole number")
    if top is not None and top < 1:
        raise UsageError("usage", f"top must be at least 1, not {top}", "Leave it out to keep every kernel.")
    return top


def engine_options(choices: Choices) -> tuple[Options, tuple[SourceWarning, ...]]:
    """The options of the engine, and warnings about rule files that cannot be used.

    Raises:
        UsageError: an option that does not exist, is out of range, or is no regular expression.
        RuleFileError: a folder of rules does not exist, or a selected rule does.
    """
    for name in choices:
        if name not in Choices.__annotations__:
            from difflib import get_close_matches

            near = get_close_matches(name, Choices.__annotations__, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(Choices.__annotations__)}."
            raise UsageError("usage", f"there is no option {name!r}", hint)
    whole = _all_rules(choices)
    select, ignore = (_several(name, choices.get(name, ()), (str,), _WORDS) for name in ("select", "ignore"))
    book = selected(whole, select=select, ignore=ignore)
    problems = tuple(
        SourceWarning.model_construct(code="rule-file", message=f"{file}: {what}") for file, what in book.problems
    )
    options = Options(
        table=builtin_quadrants(),
        thresholds=_thresholds(
            high=choices.get("high"), saturated=choices.get("saturated"), borderline=choices.get("borderline")
        ),
        kernels=kernel_words(choices.get("kernel")),
        with_host=_switch("with_host", choices.get("with_host", False)),
        brief=_switch("brief", choices.get("brief", False)),
        rules=book.rules,
        needed_bytes=_amount("needed_bytes", choices.get("needed_bytes")),
        needed_flops=_amount("needed_flops", choices.get("needed_flops")),
    )
    return options, problems


def gates_of(choices: Choices, options: Options) -> Gates | None:
    """What the options ask to be checked; None for nothing.

    Args:
        choices: the options.
        options: what :func:`engine_options` made of them.

    Raises:
        UsageError: a failing state or a budget is wrong.
    """
    states = _several("fail_on", choices.get("fail_on", ()), (str,), "a failing state or several")
    given: object = choices.get("budgets", ())
    if not states and not given:
        return None
    from ncudiag.gate.criteria import Vocabulary
    from ncudiag.gate.gates import Budget, make_gates

    budgets = _several("budgets", given, (Budget,), "a Budget or several")
    vocabulary = Vocabulary(asked=options.rules, known=_all_rules(choices).rules)
    gates = make_gates(states, budgets, vocabulary)
    # Budgets may be about comparisons alone.
    return gates if gates.criteria or any(budget.tests for budget in gates.budgets) else None


def change_gates_of(choices: Choices, options: Options, *, max_regression: str | float | None) -> ChangeGates | None:
    """What the options ask to be checked of a comparison; None for nothing.

    Raises:
        UsageError: a limit, a failing state or a budget is wrong.
    """
    states = _several("fail_on", choices.get("fail_on", ()), (str,), "a failing state or several")
    given: object = choices.get("budgets", ())
    if max_regression is None and not states and not given:
        return None
    from ncudiag.gate.changes import make_change_gates
    from ncudiag.gate.criteria import Vocabulary
    from ncudiag.gate.gates import Budget

    budgets = _several("budgets", given, (Budget,), "a Budget or several")
    vocabulary = Vocabulary(asked=options.rules, known=_all_rules(choices).rules)
    return make_change_gates(max_regression, states, budgets, vocabulary)


def _all_rules(choices: Choices) -> ReadyBook:
    """The built-in rules and the user's own, before some are selected."""
    book = builtin_ready()
    for folder in _several("rules", choices.get("rules", ()), (str, os.PathLike), "a folder or several"):
        book = merged(book, ready_folder(Path(folder)))
    return book


def _several(name: str, given: object, kinds: tuple[type[Any], ...], expected: str) -> tuple[Any, ...]:
    """One value of a kind, or several, as a tuple; None is none of them.

    A str is a sequence of words too, and never the one that is meant.
    """
    if given is None:
        return ()
    several = isinstance(given, Iterable) and not isinstance(given, (bytes, *kinds))
    values: tuple[object, ...] = tuple(cast("Iterable[object]", given)) if several else (given,)
    for value in values:
        if not isinstance(value, kinds):
            raise _wrong_type(name, value, expected)
    return values


def _wrong_type(name: str, value: object, expected: str) -> UsageError:
    return UsageError(
        "usage",
        f"{name} must be {expected}, not {reprlib.repr(value)}",
        f"It is of type {type(value).__name__}.",
    )


def _number(name: str, value: object) -> float | None:
    """A number, numpy's included; None stays None."""
    if value is None:
        return None
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    raise _wrong_type(name, value, "a number")


def _switch(name: str, value: object) -> bool:
    """True or False: a word such as "no" would count as true, and show what should stay hidden."""
    if not isinstance(value, bool):
        raise _wrong_type(name, value, "True or False")
    return value


def _amount(name: str, value: float | None) -> float | None:
    value = _number(name, value)
    if value is not None and not 0 < value < inf:
        raise UsageError("usage", f"{name} must be a number above 0, not {value:g}", "Give what one launch needs.")
    return value


def kernel_words(kernel: str | Sequence[str] | None) -> tuple[str, ...]:
    """The kernel filter as words.

    Raises:
        UsageError: no word, an empty one, or a broken regular expression.
    """
    words = _several("kernel", kernel, (str,), _WORDS)
    for word in words:
        if not word.removeprefix("regex:"):
            raise UsageError("usage", "an empty kernel filter selects nothing", "Leave it out to select every kernel.")
        if word.startswith("regex:"):
            try:
                re.compile(word.removeprefix("regex:"))
            except re.error as error:
                raise UsageError(
                    "usage",
                    f"the kernel filter {word!r} is no regular expression: {error}",
                    "Escape special characters with a backslash, or leave out `regex:` to search for plain text.",
                ) from error
    return words


def _thresholds(*, high: float | None, saturated: float | None, borderline: float | None) -> Thresholds:
    given = {"high": high, "saturated": saturated, "borderline": borderline}
    changed = {name: number for name, value in given.items() if (number := _number(name, value)) is not None}
    defaults = builtin_quadrants().thresholds
    if not changed:
        return defaults
    try:
        return Thresholds.model_validate(defaults.model_dump() | changed)
    except ValueError as error:
        asked = ", ".join(f"{name}={value:g}" for name, value in changed.items())
        raise UsageError(
            "usage",
            f"the thresholds {asked} do not fit together",
            "high and saturated lie above 0 and at most at 100, saturated is not below high, borderline is 0 to 100.",
        ) from error
