import os
import shutil
from contextlib import contextmanager

import pytest
from playwright import sync_api


# An event loop runs in this thread as long as there is a browser, and other tests need their own.
@pytest.fixture(scope="module")
def browser():
    """Give a real Chromium; where there is none the tests are skipped, but never in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
    if found is None:
        assert "TEMPOCAL_CI" not in os.environ, "CI must have Chromium"
        pytest.skip("no Chromium on this machine")
    quiet = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=quiet, timeout=0)
        yield started
        started.close()


@pytest.fixture(scope="session")
def opened():
    """Open a page, and collect what its console says and what it asks the network for."""

    @contextmanager
    def open_page(browser, path, **settings):
        context = browser.new_context(**settings)
        context.set_default_timeout(300_000)  # the machine may be busy
        tab = context.new_page()
        said = []
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on(
            "request", lambda request: said.append(request.url) if "http" in request.url else None
        )
        tab.goto(path.as_uri())
        yield tab, said
        context.close()

    return open_page
