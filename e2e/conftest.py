"""Starts a Redis server, `seinpaal serve` and a Chromium for the tests."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, sync_playwright

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = os.environ.get("SEINPAAL_PROGRAM", str(TARGET / "debug/seinpaal"))
BROWSERS = (os.environ.get("SEINPAAL_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)


def until(what, found, seconds=30):
    """Waits until `found` returns something true, and returns that."""
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline, f"waited {seconds} s in vain until {what}"
        time.sleep(0.05)
    return value


class Stack:
    """A Redis server with `seinpaal serve` in front of it, and the processes that use them."""

    def __init__(self, folder):
        self.folder, self.started = folder, []
        self.store = f"unix://{folder}/redis.sock"

    def start(self, *words, stderr=subprocess.DEVNULL):
        """Starts a process in a group of its own, so that `end` reaches its children as well."""
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "start_new_session": True}
        process = subprocess.Popen(words, stderr=stderr, **quiet)
        self.started.append(process)
        return process

    def start_redis(self):
        socket = f"{self.folder}/redis.sock"
        options = ("--unixsocket", socket, "--dir", self.folder, "--save", "", "--appendonly", "yes")
        self.redis = self.start("redis-server", "--port", "0", *options)
        ping = ("redis-cli", "-s", socket, "ping")
        until("Redis answers", lambda: b"PONG" in subprocess.run(ping, capture_output=True).stdout)

    def start_serve(self, listen="127.0.0.1:0"):
        log = pathlib.Path(self.folder, "serve.log")
        with log.open("w") as stderr:
            words = (PROGRAM, "-s", self.store, "serve", "--allow-actions", "--listen", listen)
            self.serve = self.start(*words, stderr=stderr)

        def address():
            assert self.serve.poll() is None, log.read_text()
            return log.read_text().partition("serving on ")[2].partition("\n")[0].strip()

        self.address = until("it serves", address)

    def seinpaal(self, *words, stdin=None):
        """Carries out a command and returns its output."""
        words = (PROGRAM, "-s", self.store, *words)
        return subprocess.run(words, input=stdin, capture_output=True, check=True, text=True).stdout

    def show(self, *words):
        return json.loads(self.seinpaal(*words, "--json"))

    def hold(self, name, *flags):
        """Starts a `run`, and returns it when it holds a permit."""
        before = len(self.show("show", name)["holders"])
        process = self.start(PROGRAM, "-s", self.store, "run", name, *flags, "--", "sleep", "1000")
        until(f"{name} is held", lambda: len(self.show("show", name)["holders"]) == before + 1)
        return process

    def wait(self, name, *flags):
        """Starts a `run`, and returns it when it is in line."""
        before = len(self.show("show", name)["waiters"])
        process = self.start(PROGRAM, "-s", self.store, "run", name, *flags, "--", "sleep", "1000")
        until(f"{name} has a waiter", lambda: len(self.show("show", name)["waiters"]) == before + 1)
        return process

    def work(self, name, script, *flags):
        return self.start(PROGRAM, "-s", self.store, "queue", "work", name, *flags, "--", "sh", "-c", script)

    def url(self, page, name, **more):
        query = "".join(f"&{key}={quote(str(value), safe='')}" for key, value in more.items())
        return f"{self.address}{page}?n={quote(name, safe='')}{query}"

    def end(self):
        """Ends all processes: the clients first, while they can still tell the store."""
        for process in reversed(self.started):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGCONT)
                process.terminate()
        deadline = time.monotonic() + 1
        for process in reversed(self.started):
            try:
                process.wait(max(0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """One stack for the tests of a file. Each test has names of its own."""
    assert os.path.exists(PROGRAM), f"{PROGRAM} is missing: see e2e/README.md"
    stack = Stack(str(tmp_path_factory.mktemp("stack")))
    try:
        stack.start_redis()
        stack.start_serve()
        yield stack
    finally:
        stack.end()


@pytest.fixture(scope="session")
def browser():
    program = next(filter(None, map(shutil.which, filter(None, BROWSERS))), None)
    assert program, "there is no Chromium: install it, or name one in SEINPAAL_CHROMIUM"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def new_page(browser):
    """Opens pages in contexts of their own, which are open until the file ends: each takes long."""
    pages = []

    def new_page(**options):
        pages.append(browser.new_context(**options).new_page())
        return pages[-1]

    yield new_page
    for page in pages:
        page.context.close()


@pytest.fixture(scope="module")
def page(new_page):
    return new_page()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Takes pictures of the pages of a test that fails."""
    report = yield
    for argument, page in item.funcargs.items():
        if report.failed and isinstance(page, Page):
            name = re.sub(r"\W+", "-", f"{item.name} {argument}")
            page.screenshot(path=TARGET / "e2e-pictures" / f"{name}.png", full_page=True)
    return report
