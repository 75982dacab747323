"""Where the rules that come with ncudiag lie."""

from __future__ import annotations

from pathlib import Path

from ncudiag.errors import RuleFileError

_PACKAGE = Path(__file__).resolve().parent.parent


def builtin_rules() -> Path:
    """The folder with the built-in rules.

    A wheel carries them inside the package (hatchling's force-include); an editable install does not see
    force-included files, so the checkout's own folder comes second.

    Raises:
        RuleFileError: neither folder is there: the installation is broken.
    """
    return find_rules(_PACKAGE / "_builtin_rules", _PACKAGE.parent / "rules")


def find_rules(*candidates: Path) -> Path:
    """The first folder that holds the quadrant table.

    Raises:
        RuleFileError: none does.
    """
    for folder in candidates:
        if (folder / "quadrants.toml").is_file():
            return folder
    raise RuleFileError(
        "rule-file",
        "the built-in rules are not where they belong",
        "Install ncudiag again; its folder _builtin_rules (or rules/ in a checkout) is missing.",
        details={"looked_in": [folder.name for folder in candidates]},
    )
