"""``--output-dir`` and ``--resume``: a file of its own for each answer, and no work twice."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ncudiag._version import __version__
from ncudiag.cli.files import write_atomically
from ncudiag.cli.formats import OutputFormat
from ncudiag.cli.many import checked
from ncudiag.cli.output import tell_error, tell_note
from ncudiag.errors import EXIT_OK, UsageError
from ncudiag.fleet.finished import FILE, Finished, Ledger, Stamp, digest, options_digest, size_of, stamp_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ncudiag.cli.many import Answer
    from ncudiag.cli.output import OutputOptions

# Bytes that a name has at most on the usual file systems.
_LONGEST_NAME = 255
_SUFFIXES = {OutputFormat.TEXT: ".txt", OutputFormat.MARKDOWN: ".md"}


class Counts(NamedTuple):
    """What came of a call."""

    written: int
    kept: int
    failed: int
    status: int


class Folder:
    """Where the answers go."""

    def __init__(self, folder: str, choice: OutputOptions, options: Mapping[str, object]) -> None:
        """Make the folder and read what is known about it.

        Args:
            folder: its name.
            choice: the format.
            options: as :func:`ncudiag.diagnose` takes them.

        Raises:
            UsageError: it cannot be made (``output-not-writable``).
        """
        self._name = folder
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error
        self._form = choice.format
        rules = options.get("rules")
        self._digest = options_digest(
            {"version": __version__, **choice._asdict(), **options}, folders=rules if isinstance(rules, tuple) else ()
        )
        self._ledger = Ledger(self._folder)
        self._kept: list[Finished] = []

    def inputs(self, names: list[str]) -> list[str]:
        """The names without files of this folder: answers of an earlier call are nothing to explain."""
        own = self._folder.resolve()
        return [name for name in names if name == "-" or own not in Path(name).resolve().parents]

    def unfinished(self, names: list[str]) -> list[str]:
        """The inputs that have no answer yet, or one from another input, other options or another version."""
        rest = []
        for name in names:
            known = self._ledger.finished(self.answer_of(name))
            stamp = stamp_of(name)
            if known is not None and stamp is not None and known == self._finished(name, stamp, known.status):
                self._kept.append(known)
            else:
                rest.append(name)
        return rest

    def write(self, answers: Iterable[Answer]) -> Counts:
        """Write each answer into its file as soon as it is there.

        An input that cannot be explained leaves no file, in JSON its error document, and is tried again next time.

        Raises:
            UsageError: the folder cannot be written to (``output-not-writable``), or the call was wrong for all inputs.
            RuleFileError: as :func:`ncudiag.cli.many.checked`.
        """
        written = failed = 0
        status = max((entry.status for entry in self._kept), default=EXIT_OK)
        try:
            for answer in checked(answers):
                status = max(status, answer.status)
                if answer.error is None:
                    written += 1
                else:
                    failed += 1
                    tell_error(answer.error, name=answer.name)
                self._put(answer)
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            self._ledger.close()
        return Counts(written=written, kept=len(self._kept), failed=failed, status=status)

    def answer_of(self, name: str) -> str:
        """The answer's file, from the folder: the input's path as seen from here, else its whole path."""
        suffix = _SUFFIXES.get(self._form, f".{self._form}")
        if name == "-":
            return f"standard-input{suffix}"
        path = Path(os.path.abspath(name))  # noqa: PTH100 - links are not followed: two names, two answers
        here = Path.cwd()
        inside = path.relative_to(here) if path.is_relative_to(here) else path.relative_to(path.anchor)
        *folders, file = inside.as_posix().split("/")
        return "/".join((*folders, _short(file, suffix)))

    def _put(self, answer: Answer) -> None:
        file = self.answer_of(answer.name)
        target = self._folder / file
        if not answer.text:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(str(target), answer.text)
        # As the input was before it was read: one that changed since then is not finished.
        if answer.error is None and answer.stamp is not None:
            self._ledger.add(self._finished(answer.name, answer.stamp, answer.status))

    def _finished(self, name: str, stamp: Stamp, status: int) -> Finished:
        file = self.answer_of(name)
        return Finished(
            answer=file,
            answer_size=size_of(self._folder / file),
            source=digest(os.path.abspath(name)),  # noqa: PTH100 - links are not followed: two names, two answers
            size=stamp.size,
            mtime_ns=stamp.mtime_ns,
            options=self._digest,
            status=status,
        )

    def _unwritable(self, error: OSError) -> UsageError:
        return UsageError(
            "output-not-writable",
            f"{self._name} cannot be written to: {error.strerror or error}",
            f"Free the place, or choose another one; what is in it is kept, and --resume goes on from it ({FILE}).",
            details={"output": self._name},
        )


def _short(name: str, suffix: str) -> str:
    """An answer's name; one that would be too long for a file system is cut, and kept apart by a digest."""
    longest = _LONGEST_NAME - len(suffix)
    whole = os.fsencode(name)
    if len(whole) <= longest:
        return name + suffix
    mark = f"~{digest(name)}"
    return whole[: longest - len(mark)].decode("utf-8", "ignore") + mark + suffix


def tell_counts(counts: Counts, folder: str) -> None:
    """One line on standard error; standard output is for answers."""
    parts = [f"{counts.written} written"]
    parts += [f"{counts.kept} kept from before"] if counts.kept else []
    parts += [f"{counts.failed} failed"] if counts.failed else []
    tell_note(f"{folder}: {', '.join(parts)}")
