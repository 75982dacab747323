"""Changes the code and looks whether a test notices: ``make mutants``; needs the dependency group ``mutants``.

    python tests/mutants/run.py diagnose derived
    python tests/mutants/run.py reading --share 0.5
    python tests/mutants/run.py diagnose --again

The first form tries every mutant of two packages. `--share` takes a random part of every module's mutants, the same
every time. `--again` tries those once more that survived without a reason in explained.toml. Answers are kept in
.cache/mutants/, a line each.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import pickle
import sys
import time
import warnings
import zlib
from collections import Counter
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import coverage
import outcome
import pytest
from operators import Mutant, mutants_of
from session import OPTIONS, ROOT, TESTS, Covered, Session, first_failure, in_fork, measure
from swap import Living, NeedsImportError, forgetting, import_changed, living_functions, swap, would_swap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType

    Answers = dict[tuple[object, ...], dict[str, object]]

KEPT = ROOT / ".cache" / "mutants"
COVERAGE = KEPT / "covered.pickle"
RESULTS = KEPT / "results.jsonl"
COLD_BUDGET = 2.0  # seconds of tests where the import alone takes longer


@dataclass
class Options:
    """What was asked for on the command line."""

    packages: list[str]
    share: float
    import_share: float
    budget: float
    again: bool
    only: str


def main() -> None:
    """Try mutants and say what became of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=["diagnose", "derived", "reading"])
    parser.add_argument("--share", type=float, default=1.0, help="part of each module's mutants, 0 to 1")
    parser.add_argument("--import-share", type=float, default=1.0, help="the same of those that need a new import")
    parser.add_argument("--budget", type=float, default=1.5, help="seconds of tests per mutant, as they take unchanged")
    parser.add_argument("--again", action="store_true", help="only those that survived before, for no known reason")
    parser.add_argument("--only", default="", help="only modules whose path contains this")
    options = Options(**vars(parser.parse_args()))
    KEPT.mkdir(parents=True, exist_ok=True)
    # pytest and what the package needs, but not the package: forks for changes outside of functions begin here.
    for name in ("numpy", "pandas", "pydantic", "typer.testing", "hypothesis.extra", "jsonschema"):
        import_module(name)
    in_fork(lambda: _hot(options), seconds=6 * 3600, silent=False)
    if options.import_share > 0:
        _cold(options)


def _hot(options: Options) -> None:
    """In a process that imports everything: measure the tests, then try every change inside a function."""
    cov = coverage.Coverage(data_file=None, config_file=False, include=[str(ROOT / "ncudiag" / "*")])
    cov.start()
    for path in _modules(("diagnose", "derived", "reading")):
        import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    cov.stop()

    log = os.open(KEPT / "pytest.log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(log, 1)  # stderr is for what the mutants do

    def work(session: pytest.Session, items: dict[str, pytest.Item]) -> None:
        forget = forgetting("ncudiag")
        forget()
        covered = _kept_coverage()
        if covered is None:
            covered, ended = in_fork(lambda: measure(session, items, forget), seconds=3600)
            if not isinstance(covered, Covered):
                raise TypeError(ended)
            data = cov.get_data()
            covered.at_import = {path: set(data.lines(path) or ()) for path in data.measured_files()}
            COVERAGE.write_bytes(pickle.dumps((_state(), covered)))
        _say(f"{len(covered.seconds)} tests, left out: {Counter(covered.left_out.values())}")
        living = living_functions({str(path) for path in _modules(options.packages)})
        gc.freeze()  # forks share what nobody touches; not before: frozen functions are not listed
        _try_living(options, session, items, covered, living)

    pytest.main([*TESTS, *OPTIONS], plugins=[Session(work)])


def _kept_coverage() -> Covered | None:
    """What was measured before, while code and tests are still the same."""
    if not COVERAGE.exists():
        return None
    state, covered = pickle.loads(COVERAGE.read_bytes())  # noqa: S301 # our own
    return covered if state == _state() else None


def _state() -> str:
    files = sorted(path for folder in ("ncudiag", "tests") for path in (ROOT / folder).rglob("*.py"))
    here = Path(__file__).parent
    return hashlib.sha256(b"".join(path.read_bytes() for path in files if path.parent != here)).hexdigest()


def _try_living(
    options: Options, session: pytest.Session, items: dict[str, pytest.Item], covered: Covered, living: Living
) -> None:
    for path, mutants in _todo(options):
        original = compile(path.read_text(encoding="utf-8"), str(path), "exec")
        at_import = covered.at_import.get(str(path), set())
        for mutant in mutants:
            lines = range(mutant.first_line, mutant.last_line + 1)
            tests = covered.tests_of(path, lines, budget=options.budget)
            changed = _compiled(mutant, path)
            if changed is None:
                _note(mutant, "no-code", [], None, 0.0)
                continue

            def trial(code: tuple[CodeType, CodeType] = (original, changed), tests: list[str] = tests) -> str | None:
                swap(*code, living)
                return first_failure(session, [items[test] for test in tests])

            if at_import.intersection(lines) or _needs_import(original, changed, living):
                _note(mutant, "import", tests, None, 0.0)
            elif not tests:
                _note(mutant, "not-covered", [], None, 0.0)
            else:
                _judge(mutant, tests, trial, covered)


def _cold(options: Options) -> None:
    """In a process that has imported nothing of the package: try the changes that only an import shows."""
    _, covered = pickle.loads(COVERAGE.read_bytes())  # noqa: S301 # our own
    for path, mutants in _todo(options, waiting=True):
        everywhere = set(covered.lines.get(str(path), ()))
        for mutant in mutants:
            tests = covered.tests_of(path, everywhere, budget=COLD_BUDGET)
            tests = tests or covered.nearest(path, budget=COLD_BUDGET)
            changed = _compiled(mutant, path)

            def trial(tests: list[str] = tests, changed: CodeType | None = changed, path: Path = path) -> str | None:
                import_changed(path, changed)
                return _imported_and_run(tests)

            _judge(mutant, tests, trial, covered)


def _imported_and_run(tests: list[str]) -> str | None:
    failed: list[str | None] = ["collection"]

    def work(session: pytest.Session, items: dict[str, pytest.Item]) -> None:
        failed[0] = first_failure(session, [items[test] for test in tests if test in items])

    files = sorted({str(ROOT / test.partition("::")[0]) for test in tests})
    pytest.main([*files, *OPTIONS], plugins=[Session(work)])
    return failed[0]


def _judge(mutant: Mutant, tests: list[str], trial: Callable[[], object], covered: Covered) -> None:
    before = time.perf_counter()
    usual = sum(covered.seconds[test] for test in tests)
    killer, ended = in_fork(trial, seconds=10 + 5 * usual)
    status = ("killed" if killer else "survived") if ended == "done" else ended
    _note(mutant, status, tests, killer, time.perf_counter() - before)


def _note(mutant: Mutant, status: str, tests: list[str], killer: object, seconds: float) -> None:
    about = {**asdict(mutant), "status": status, "tests": len(tests), "killer": killer, "seconds": round(seconds, 2)}
    del about["source"]
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(about) + "\n")
    if status in {"survived", "not-covered"}:
        _say(f"{mutant.module}:{mutant.first_line}: {status} ({len(tests)} tests): {mutant.before}  ->  {mutant.after}")


def _compiled(mutant: Mutant, path: Path) -> CodeType | None:
    try:
        with warnings.catch_warnings(action="ignore"):
            return compile(mutant.source, str(path), "exec")
    except SyntaxError:
        return None


def _needs_import(original: CodeType, changed: CodeType, living: Living) -> bool:
    try:
        return not would_swap(original, changed, living)
    except NeedsImportError:
        return True


def _todo(options: Options, *, waiting: bool = False) -> Iterator[tuple[Path, list[Mutant]]]:
    """Mutants to try, by file; `waiting`: those that were left for an import."""
    known, reasoned = last_answers(), outcome.reasons()
    wanted = {"import"} if waiting else {"survived", "not-covered"} if options.again else {None}
    for path in _modules(options.packages):
        module = str(path.relative_to(ROOT))
        if options.only not in module or (None not in wanted and not _has(known, module, wanted)):
            continue
        mutants = mutants_of(path, module, share=options.share)
        mutants = [mutant for mutant in mutants if not (options.again and reasoned(asdict(mutant)))]
        found = [mutant for mutant in mutants if known.get(_identity(asdict(mutant)), {}).get("status") in wanted]
        yield path, [mutant for mutant in found if not waiting or _chosen(mutant, options.import_share)]


def _chosen(mutant: Mutant, share: float) -> bool:
    return zlib.crc32(mutant.key.encode()) < share * 2**32


def _has(known: Answers, module: str, wanted: set[str | None]) -> bool:
    return any(about["module"] == module and about["status"] in wanted for about in known.values())


def last_answers() -> Answers:
    """The last answer for each mutant that was tried."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    return {_identity(about): about for about in map(json.loads, lines)}


def _identity(about: dict[str, object]) -> tuple[object, ...]:
    return tuple(about[name] for name in ("module", "function", "before", "after"))


def _modules(packages: Iterable[str]) -> list[Path]:
    return [path for package in packages for path in sorted((ROOT / "ncudiag" / package).rglob("*.py"))]


def _say(text: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
