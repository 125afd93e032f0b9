"""The check of .ci/drive that the pages work in a browser that runs no script: links, forms and
keys alone.
"""

import json

from checks import PICTURES, TEXT, expect
from chromium import until

NAMES = "[...document.querySelectorAll('table.names tbody th a')].map((it) => it.innerText)"
TABLE = "document.querySelectorAll('.lane ~ details table tbody tr').length"


class Plain:
    def plain(self):
        """Finds, sorts, pages and acts without script."""
        holder = self.holds("plain/07", "-j", "3")
        for at in range(60):
            self.run("limit", f"plain/{at:02}", "3")
        self.push("plain freight", 5, "--label", "job=41")
        self.push("plain freight", 3, "--label", "job=42")
        tab = self.tab()
        tab.ask("Emulation.setScriptExecutionDisabled", value=True)
        tab.front()
        tab.open(f"{self.address}?show=all")
        said = tab.run("document.querySelector('footer').innerText")
        expect("reload it to see what is new" in said, f"the page does not say that it does not change: {said}")
        expect(tab.run("document.getElementById('live').hidden"), "a script runs, so this shows nothing")
        steps = [self.finds(tab), self.sorts(tab), self.pages(tab), self.looks(tab), self.evicts(tab, holder), self.cancels(tab)]
        tab.picture(PICTURES / "plain.png")
        return "; ".join(steps)

    def goes(self, tab, what, act, there):
        """Does an action that leads to another page, and waits until that page is there."""
        tab.run("document.documentElement.dataset.old = 'yes'")
        act()
        is_new = "document.readyState === 'complete' && document.documentElement.dataset.old !== 'yes'"
        until(what, lambda: tab.run(is_new) and tab.run(there), 30)

    def presses(self, tab, element):
        """Presses an element with the mouse, at its place."""
        tab.run(f"{element}.scrollIntoView({{ block: 'center' }})")
        at = json.loads(tab.run(f"(it => JSON.stringify({{ x: it.x + it.width / 2, y: it.y + it.height / 2 }}))({element}.getBoundingClientRect())"))
        for kind in ("mousePressed", "mouseReleased"):
            tab.ask("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def link(self, words):
        return f"[...document.querySelectorAll('a, button, summary')].find((it) => it.innerText.startsWith('{words}'))"

    def finds(self, tab):
        self.presses(tab, "document.querySelector('#q')")
        tab.type("PLAIN/")
        self.goes(tab, "names are found", lambda: tab.key("Enter", "\r"), f"{NAMES}.length === 40")
        names = tab.run(NAMES)
        expect(all(name.startswith("plain/") for name in names), f"it also found {names}")
        return "found"

    def sorts(self, tab):
        tab.run("document.querySelector('#sort').focus()")
        # A letter key chooses an entry of the list.
        tab.key("h", "h")
        chosen = tab.run("document.querySelector('#sort').value")
        expect(chosen == "held", f"the key chose {chosen}")
        first = "plain/07"
        self.goes(tab, "they are sorted", lambda: self.presses(tab, self.link("Show")), f"{NAMES}[0] === '{first}'")
        return "sorted"

    def pages(self, tab):
        self.goes(tab, "the next page is open", lambda: self.presses(tab, self.link("Next")), f"{NAMES}[0] === 'plain/40' && {NAMES}.length === 20")
        self.goes(tab, "the first page is open", lambda: self.presses(tab, self.link("Back")), f"{NAMES}[0] === 'plain/07'")
        return "paged"

    def looks(self, tab):
        row = "[...document.querySelectorAll('tbody th a')].find((it) => it.innerText === 'plain/07')"
        self.goes(tab, "its page is open", lambda: self.presses(tab, row), "document.querySelector('h1').innerText === 'plain/07'")
        expect("who=first" in tab.run(TEXT), "the page does not show its holder")
        self.presses(tab, self.link("As a table"))
        until("the picture is a table", lambda: tab.run(f"document.querySelector('details[open]') && {TABLE} > 0"), 10)
        return "looked at"

    def evicts(self, tab, holder):
        self.goes(tab, "it asks", lambda: self.presses(tab, self.link("Evict")), "!!document.querySelector('form.confirm #reason')")
        # The browser itself refuses a form without a reason.
        tab.key("Enter", "\r")
        expect(tab.run("!document.querySelector('#reason').validity.valid"), "it goes without a reason")
        tab.run("document.querySelector('#reason').focus()")
        tab.type("no script")
        self.goes(tab, "it is done", lambda: tab.key("Enter", "\r"), "!!document.querySelector('p.done')")
        status = until("the run has ended", lambda: (holder.poll() is not None) and [holder.poll()], 20)[0]
        expect(status == 122, f"the run ended with {status}")
        expect("no script" in tab.run(TEXT), "the change is not on the page")
        return "evicted (122)"

    def cancels(self, tab):
        tab.open(f"{self.address}queue?n=plain%20freight")
        self.presses(tab, "document.querySelector('#match')")
        tab.type("job=42")
        self.goes(tab, "they are found", lambda: tab.key("Enter", "\r"), f"{TEXT}.includes('3 of 8') && !{TEXT}.includes('job=41')")
        self.goes(tab, "it asks", lambda: self.presses(tab, self.link("Cancel all")), "!!document.querySelector('#typed')")
        for field, text in (("reason", "a broken job"), ("typed", "plain freight")):
            tab.run(f"document.querySelector('#{field}').focus()")
            tab.type(text)
        self.goes(tab, "it is done", lambda: tab.key("Enter", "\r"), f"{TEXT}.includes('It was 3 items')")
        left = json.loads(self.run("queue", "show", "plain freight", "--json"))["ready"]
        expect(left == 5, f"{left} items are left")
        return "cancelled 3 of 8 items"
