"""A real browser for the HTML pages: the machine's own Chromium, one for all tests."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TIMEOUT_MS = 20_000


def chromium_path() -> str | None:
    """Where a Chromium is: as NCUDIAG_CHROMIUM says, else on PATH."""
    return os.environ.get("NCUDIAG_CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser; loud when there is none (`.ci/checks.py` installs Debian's where it may)."""
    path = chromium_path()
    if path is None:
        pytest.skip("no Chromium on this machine (apt install chromium): HTML pages are NOT tested in a browser")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Chromium has no sandbox for root, and /dev/shm is small in containers.
        launched = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield launched
        launched.close()


@dataclass
class Visit:
    """A page that is open, and what it did that it should not have done.

    Attributes:
        page: the page.
        complaints: errors and warnings on the console, exceptions, dialogs.
        requests: what it asked for beside its own file.
    """

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Listen to everything that happens from now on."""
        page = self.page
        page.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda asked: self.requests.append(asked.url))

    def clean(self) -> None:
        """Fail when there was a complaint, or a request for anything but the file itself."""
        assert self.complaints == []
        assert {url.partition("#")[0] for url in self.requests} <= {self.page.url.partition("#")[0], "data:,"}


@pytest.fixture
def visit(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Visit]]:
    """Open an HTML text as a file; at the end of the test every page must have been clean."""
    contexts: list[BrowserContext] = []
    visits: list[Visit] = []

    def opened(text: str, *, width: int = 1600, theme: str = "light", fragment: str = "", **options: object) -> Visit:
        file = tmp_path / f"page-{len(contexts)}.html"
        file.write_text(text, encoding="utf-8")
        start = options.pop("start", None)
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, **options)  # type: ignore[arg-type] # whatever the test asks for
        context.set_default_timeout(TIMEOUT_MS)
        contexts.append(context)
        if start is not None:
            context.add_init_script(str(start))
        found = Visit(context.new_page())
        found.watch()
        visits.append(found)
        found.page.goto(file.as_uri() + fragment)
        return found

    yield opened
    for each in visits:
        each.clean()
    for context in contexts:
        context.close()
