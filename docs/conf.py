"""How Sphinx builds the site; `make docs` builds and serves it.

The source folder is the project's root, so that the READMEs of the sample reports and the project's own files are
pages too, and a link means the same on the site and in the files.
"""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import reference_pages  # noqa: E402 - the module lies beside this one

from ncudiag import __version__  # noqa: E402

if TYPE_CHECKING:
    from docutils.nodes import Element, TextElement
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

project = "ncudiag"
author = "The ncudiag authors"
copyright = author  # noqa: A001 - Sphinx's name
version = release = __version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.doctest"]
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "sample_reports/**.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
# Folders that Sphinx should not even walk through.
exclude_patterns = [".*", "build", "dist", "htmlcov", "ncudiag", "rules", "tests", "sample_reports/synthesis"]

nitpicky = True
# The inventories of these projects lie on the network, and a build must not need it.
nitpick_ignore_regex = [
    (r"py:.*", r"(collections|typing|types|pathlib|os|io)\b.*"),
    (r"py:.*", r"(pydantic|pandas|pd|altair|alt)\b.*"),
    # What pydantic is told about a field beside its type.
    (r"py:.*", r"(SkipValidation|PlainSerializer|return_type=.*|[gl][te]=.*)"),
]

myst_enable_extensions = ["colon_fence", "deflist", "attrs_block"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
# CUDA and TOML come without a highlighter of their own name in some versions; the words stand in the fences anyway.
suppress_warnings = ["misc.highlighting_failure"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"ncudiag {release}"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["ncudiag.css"]


@functools.cache
def own_names() -> frozenset[str]:
    """Classes, aliases, functions and constants of the package."""
    defined = re.compile(r"^(?: {4})?(?:class|def) (\w+)|^(\w+)(?:: .*?)? = ", re.MULTILINE)
    texts = (path.read_text(encoding="utf-8") for path in (HERE.parent / "ncudiag").rglob("*.py"))
    return frozenset(name for text in texts for found in defined.findall(text) for name in found if name)


def without_link(_: Sphinx, __: BuildEnvironment, node: Element, content: TextElement) -> TextElement | None:
    """A type of the package that has no entry of its own stays a word; any other unknown name is a warning."""
    last = str(node["reftarget"]).rpartition(".")[2]
    return content if node.get("refdomain") == "py" and last in own_names() else None


def setup(app: Sphinx) -> None:
    """Put the generated parts where the pages ask for them."""
    app.connect("source-read", reference_pages.fill)
    app.connect("missing-reference", without_link)
