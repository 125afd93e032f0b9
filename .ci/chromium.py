"""Drives a headless Chromium for .ci/pages, .ci/spoken and .ci/drive.

It talks over two pipes, without a driver and without a port. `until` is for the other checks as
well.
"""

import base64
import json
import os
import pathlib
import select
import subprocess
import time

BOUND = 60


class Gone(RuntimeError):
    """The page that was asked has gone, and the next one comes."""


def until(what, is_so, bound=BOUND):
    """Waits until it is so, and gives back what `is_so` has found. A page that goes in the meantime
    has no answer.
    """
    deadline = time.monotonic() + bound
    while not (found := unless_gone(is_so)):
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {bound} s in vain until {what}")
        time.sleep(0.05)
    return found


def unless_gone(is_so):
    try:
        return is_so()
    except Gone:
        return None


class Chromium:
    def __init__(self, folder):
        self.ids, self.events, self.buffer = 0, [], b""
        # The browser reads from descriptor 3 and writes to 4, so this process must have nothing
        # else there.
        while os.open(os.devnull, os.O_RDONLY) < 4:
            pass
        to_read, self.write = os.pipe()
        self.read, to_write = os.pipe()
        arguments = [
            "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
            f"--user-data-dir={folder}/profile", "--disable-dev-shm-usage", "about:blank",
        ]

        def ends():
            os.dup2(to_read, 3)
            os.dup2(to_write, 4)

        log = open(f"{folder}/chromium.log", "w")
        self.process = subprocess.Popen(arguments, preexec_fn=ends, close_fds=False, stdout=subprocess.DEVNULL, stderr=log)
        os.close(to_read)
        os.close(to_write)

    def tab(self, window=False):
        return Tab(self, window)

    def close(self):
        self.process.kill()
        self.process.wait()

    def ask(self, method, session, **params):
        self.ids += 1
        message = {"id": self.ids, "method": method, "params": params} | ({"sessionId": session} if session else {})
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self.write, rest):]
        while True:
            answer = self.next()
            if answer.get("id") == self.ids:
                if "error" in answer:
                    is_gone = "navigated or closed" in answer["error"].get("message", "")
                    raise (Gone if is_gone else RuntimeError)(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def next(self):
        while b"\0" not in self.buffer:
            if not select.select([self.read], [], [], BOUND)[0]:
                raise RuntimeError(f"chromium has said nothing for {BOUND} s")
            more = os.read(self.read, 1 << 16)
            if not more:
                raise RuntimeError("chromium has ended")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)


class Tab:
    def __init__(self, browser, window):
        """A tab; or a window, which is seen beside all others."""
        self.browser = browser
        self.target = browser.ask("Target.createTarget", None, url="about:blank", newWindow=window)["targetId"]
        self.session = browser.ask("Target.attachToTarget", None, targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **params):
        return self.browser.ask(method, self.session, **params)

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def open(self, address):
        self.browser.events.clear()
        self.ask("Page.navigate", url=address)
        self.loaded()

    def loaded(self):
        until("the page is there", lambda: self.run("document.readyState") == "complete")

    def front(self):
        self.ask("Page.bringToFront")

    def key(self, key, text=""):
        codes = {"Enter": 13, "Tab": 9, "Escape": 27}
        what = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **what, **({"text": text} if text else {}))
        self.ask("Input.dispatchKeyEvent", type="keyUp", **what)

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def shape(self, size, scheme):
        width, height = size
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def broken_policies(self):
        entries = [event["params"]["entry"]["text"] for event in self.browser.events if event.get("method") == "Log.entryAdded"]
        return [text for text in entries if "Content Security Policy" in text]
