"""Looks for inputs that break what must hold for any input: ``make fuzz``; needs the dependency group ``fuzz``.

    python tests/fuzz/fuzz.py report 60

runs the property of that name for so many seconds, on one core, beginning with the samples and with the inputs that
once broke it. What is found is kept in tests/fuzz/inputs/<name>/ under its hash, where the tests try it from then on.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["ncudiag"]):
    # What is imported only when it is needed would not be followed.
    for module in ("api", "report.saved", "rulebook.loader", "rulebook.rule"):
        import_module(f"ncudiag.{module}")
    from properties import PROPERTIES

ROOT = Path(__file__).resolve().parents[2]
INPUTS = Path(__file__).parent / "inputs"
LARGEST = 20_000
SEEDS = {"report": "sample_reports/**/report.csv", "rule": "rules/**/*.toml", "saved": "sample_reports/**/report.json"}
WORDS = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name"',
    '"Section Name"',
    '"Metric Name","Metric Unit","Metric Value"',
    "==PROF==",
    "==ERROR==",
    "(!) nan",
    "Kbyte",
    "usecond",
    "[when]",
    "derived:",
)


def main() -> None:
    """Run one property."""
    name, seconds = sys.argv[1], int(sys.argv[2])
    check = PROPERTIES[name]

    def kept(data: bytes) -> None:
        try:
            check(data)
        except Exception:
            target = INPUTS / name / hashlib.sha256(data).hexdigest()[:16]
            target.write_bytes(data)
            print(f"\nbroken by {target.relative_to(ROOT)}")
            raise

    with tempfile.TemporaryDirectory() as folder:
        seeds = [*ROOT.glob(SEEDS[name]), *(INPUTS / name).iterdir()]
        for number, seed in enumerate(seeds):
            with (Path(folder) / f"{number}").open("wb") as file:
                file.write(seed.read_bytes()[:LARGEST])
        words = Path(folder) / "words.dict"
        words.write_text("".join(f'"{word.translate(_ESCAPED)}"\n' for word in WORDS), encoding="utf-8")
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for seed in Path(folder).iterdir():
            if seed.is_file() and seed != words:
                shutil.move(seed, corpus / seed.name)
        options = [f"-max_total_time={seconds}", f"-max_len={LARGEST}", f"-dict={words}", "-timeout=20"]
        atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={folder}/", str(corpus)], kept)
        atheris.Fuzz()


_ESCAPED = str.maketrans({'"': '\\"', "\\": "\\\\"})

if __name__ == "__main__":
    main()
