"""The templates of all HTML pages, and how a page becomes one file that asks nobody for anything.

A page is made from a template that extends ``base.html``, the style sheets and scripts of
``ncudiag/report/templates/``, and data islands. The content security policy allows exactly these styles and scripts,
by their hashes, and no request at all.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from ncudiag.errors import UsageError
from ncudiag.report.escape import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jinja2 import Environment

_FOLDER = "templates"
BASE_STYLES = ("base.css",)
BASE_SCRIPTS = ("dom.js", "theme.js")
"""What every page has; the page's own come behind."""


def check_installed() -> None:
    """Find out early whether pages can be made.

    Raises:
        UsageError: the extra is not installed (``usage``).
    """
    from importlib.util import find_spec

    if find_spec("jinja2") is None:
        raise UsageError(
            "usage",
            "HTML pages need a library that is not installed",
            "Install it with `pip install 'ncudiag[html]'`, or use --format text, markdown, json or csv.",
        )


def environment() -> Environment:
    """The templates: everything is escaped, what is not defined is an error, and no raw control character gets out.

    Every text that an expression gives is made :func:`visible` first, so that a template need not think of it.

    Raises:
        UsageError: the extra is not installed (``usage``).
    """
    check_installed()
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_spelled_out,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render_page(
    template: str,
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    islands: Mapping[str, str] | None = None,
    **context: object,
) -> str:
    """A page as one file, in ASCII, so that no encoding on its way can hurt it.

    Args:
        template: its name in the folder of templates; it extends ``base.html``.
        styles: style sheets behind :data:`BASE_STYLES`, by name.
        scripts: scripts behind :data:`BASE_SCRIPTS`, by name; all of them share one scope.
        islands: data for the scripts by element id, as :mod:`ncudiag.report.html_page.islands` writes it.
        **context: what the template needs.

    Raises:
        UsageError: the extra is not installed (``usage``).
    """
    pages = environment()
    from markupsafe import Markup

    style = "\n" + "".join(asset(name) for name in (*BASE_STYLES, *styles))
    script = '\n"use strict";\n(() => {\n' + "".join(asset(name) for name in (*BASE_SCRIPTS, *scripts)) + "})();\n"
    page = pages.get_template(template).render(
        **context,
        # The project's own files and data without a "<": nothing in them is foreign markup.
        style=Markup(style),  # noqa: S704 - see above
        script=Markup(script),  # noqa: S704 - see above
        islands={name: Markup(data) for name, data in (islands or {}).items()},  # noqa: S704 - see above
        policy=_policy(style, script),
    )
    return page.encode("ascii", "xmlcharrefreplace").decode("ascii")


def asset(name: str) -> str:
    """A file of the folder of templates."""
    return files("ncudiag.report").joinpath(_FOLDER, name).read_text(encoding="utf-8")


def _spelled_out(value: object) -> object:
    return visible(value) if type(value) is str else value


def _policy(style: str, script: str) -> str:
    """The content security policy: this style and this script by their hashes, an empty icon, nothing else."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
