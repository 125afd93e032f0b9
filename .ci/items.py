"""The check of .ci/drive about a queue with very many items."""

import json
import subprocess
import time

from checks import PICTURES, TEXT, expect
from chromium import until


class Items:
    def push(self, name, count, *flags):
        """Pushes an item for each line."""
        words = (self.program, "-s", self.store, "queue", "push", name, "--lines", *flags)
        lines = "".join(f"container {at}\n" for at in range(count))
        subprocess.run(words, input=lines, text=True, check=True, stdout=subprocess.DEVNULL)

    def items(self):
        """Pages through a long queue, finds what one job pushed, and cancels it by the buttons of
        the page.
        """
        count, few = self.asked.names, 137
        self.push("freight", count - few, "--label", "job=41")
        self.push("freight", few, "--label", "job=42")
        tab = self.tab()
        tab.front()
        rows = "[...document.querySelectorAll('.part-items tbody tr, .part-ready tbody tr')].map((it) => it.innerText)"
        began = time.monotonic()
        tab.open(f"{self.address}queue?n=freight")
        until("the first rows are there", lambda: tab.run(f"{rows}.length") == 50, 30)
        opened = time.monotonic() - began
        link = "[...document.querySelectorAll('p.more a')].find((it) => it.innerText === '%s')"
        seen, slowest = set(), 0
        for words in ("List all of them", "Next", "Next", "Next"):
            before, began = tab.run("location.href"), time.monotonic()
            tab.run((link % words) + ".click()")
            until("another page is open", lambda: tab.run("location.href") != before and tab.run(f"{rows}.length") == 50, 30)
            slowest = max(slowest, time.monotonic() - began)
            seen.update(json.loads(tab.run(f"JSON.stringify({rows})")))
        expect(len(seen) == 200, f"four pages had {len(seen)} different rows")
        tab.picture(PICTURES / "items.png")
        tab.key("/", "/")
        tab.type("job=42")
        began = time.monotonic()
        tab.key("Enter", "\r")
        until("they are found", lambda: f"{few} of " in tab.run(TEXT) and "job=41" not in tab.run(TEXT), 60)
        found = time.monotonic() - began
        button = "[...document.querySelectorAll('.actions a')].find((it) => it.innerText.startsWith('Cancel all'))"
        tab.run(button + ".click()")
        until("it asks", lambda: f"Cancel all {few} items" in tab.run(TEXT), 60)
        for field, text in (("reason", "a broken job"), ("typed", "freight")):
            tab.run(f"document.querySelector('#{field}').focus()")
            tab.type(text)
        began = time.monotonic()
        tab.key("Enter", "\r")
        until("it was done", lambda: f"It was {few} items" in tab.run(TEXT), 60)
        done = time.monotonic() - began
        left = json.loads(self.run("queue", "show", "freight", "--json"))["ready"]
        expect(left == count - few, f"{left} items are left")
        return (f"{count} items: open after {opened:.2f} s, a page at most {slowest:.2f} s, {few} found after {found:.2f} s "
                f"and cancelled after {done:.2f} s")
