"""Builds the documentation, checks it, and serves it on this machine alone.

python docs/build_site.py            build into build/site and check: warnings are errors, links, doctests
python docs/build_site.py --serve    then serve it; the address is printed
"""

from __future__ import annotations

import argparse
import functools
import http.server
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
BUILD = ROOT / "build"
SITE = BUILD / "site"
START = "docs/index.html"


class Page(HTMLParser):
    """What a page links to and which anchors it has."""

    def __init__(self) -> None:
        """Start with nothing."""
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep targets and anchors."""
        for name, value in attrs:
            if value is not None and name in {"href", "src"}:
                self.links.append(value)
                if tag != "a" and urlsplit(value).netloc:
                    self.loads.append(value)
            if value is not None and name in {"id", "name"} and tag != "meta":
                self.anchors.add(value)


def sphinx(builder: str, into: Path) -> None:
    """Run one builder over the pages; a warning ends this script."""
    strict = ("-W", "--keep-going", "-n", "-q")
    places = ("-c", str(DOCS), "-d", str(BUILD / "doctrees"), str(ROOT), str(into))
    argv = (sys.executable, "-m", "sphinx", *strict, "-b", builder, *places)
    done = subprocess.run(argv, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"docs: sphinx ({builder}) ended with {done.returncode}")


def broken_links(site: Path) -> list[str]:
    """Links inside the site that lead nowhere, as ``page -> target``, and what a page loads from elsewhere."""
    pages = {path: parsed(path) for path in site.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        broken += [f"{path.relative_to(site)} loads {address}" for address in page.loads]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages.get(target)
            if not target.exists() or (known and parts.fragment and unquote(parts.fragment) not in known.anchors):
                broken.append(f"{path.relative_to(site)} -> {link}")
    return broken


def parsed(path: Path) -> Page:
    """One page."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def build() -> None:
    """Build and check, from nothing: Sphinx does not see that a generated part has changed."""
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.rmtree(BUILD / "doctrees", ignore_errors=True)
    sphinx("html", SITE)
    (SITE / "index.html").write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>ncudiag</title>'
        f'<meta http-equiv="refresh" content="0; url={START}"><a href="{START}">ncudiag</a></html>\n',
        encoding="utf-8",
    )
    broken = broken_links(SITE)
    if broken:
        sys.exit("docs: links that lead nowhere, or load from elsewhere:\n" + "\n".join(sorted(set(broken))))
    sphinx("doctest", BUILD / "doctest")
    pages = sum(1 for _ in SITE.rglob("*.html"))
    print(f"docs: {pages} pages in {SITE.relative_to(ROOT)}, every link inside leads somewhere, doctests pass")


def serve(port: int) -> None:
    """Serve the site to this machine until Ctrl-C."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(SITE))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError:  # somebody else listens there
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with server:
        print(f"docs: http://127.0.0.1:{server.server_address[1]}/{START} (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def main() -> None:
    """Build, and serve where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serve", action="store_true", help="serve it on 127.0.0.1")
    parser.add_argument("--port", type=int, default=8000, help="where; another one is taken when it is in use")
    choices = parser.parse_args()
    build()
    if choices.serve:
        serve(choices.port)


if __name__ == "__main__":
    main()
