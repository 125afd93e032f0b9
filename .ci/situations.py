"""The check of .ci/drive that the text of a page alone tells what keeps a waiter."""

import os
import re
import signal
import time

from checks import HEADLINE, PICTURES, ROWS, TEXT, expect
from chromium import until


class Situations:
    def situations(self):
        """The text of a page alone tells what keeps a waiter."""
        pages = {"full": "quay a", "large": "quay b", "paused": "quay c", "killed": "quay d", "stopped": "quay e"}
        self.crowd("quay a", 2, 2, "-j", "2")
        self.crowd("quay b", 2, 0, "-j", "4")
        for permits in (3, 1):
            self.run("run", "quay b", "-j", "4", "-p", f"{permits}", "sleep", "1000", wait=False)
            until("it is in line", lambda: len(self.show("quay b")["waiters"]) == (1 if permits == 3 else 2))
        self.crowd("quay c", 1, 0, "-j", "4")
        self.run("pause", "quay c", "--reason", "crane under repair")
        self.run("run", "quay c", "-j", "4", "sleep", "1000", wait=False)
        self.end_of("quay d", signal.SIGKILL)
        stopped = self.end_of("quay e", signal.SIGSTOP)
        tabs = {what: self.page(name) for what, name in pages.items()}
        said, deadline = {}, time.monotonic() + 40
        alarms = 0
        while time.monotonic() < deadline and set(said) != set(pages):
            for what, tab in tabs.items():
                tab.front()
                time.sleep(0.3)
                read = situation(tab.run(TEXT))
                is_dead = what in ("killed", "stopped")
                alarms += read == "dead" and not is_dead
                if read == ("dead" if is_dead else what) and what not in said:
                    said[what] = tab.run(HEADLINE)
                    tab.picture(PICTURES / f"situation-{what}.png")
        try:
            expect(set(said) == set(pages), f"not told by their pages: {sorted(set(pages) - set(said))}")
            expect(alarms == 0, f"{alarms} times a page called a holder dead that lives")
            self.listed()
        finally:
            os.kill(stopped.pid, signal.SIGCONT)
        tabs["killed"].front()
        until("the next is in when the lease has ended", lambda: "who=next" in tabs["killed"].run("document.querySelector('.part-holders').innerText"), 40)
        return "all five told, and the list tells of both that may be dead\n" + "\n".join(f"      {what}: {words}" for what, words in said.items())

    def listed(self):
        """The list of names tells of both holders that may be dead, too."""
        tab = self.tab()
        tab.front()
        tab.open(self.address)
        late = lambda: re.findall(r"quay [de]\b[^\n]*may be dead or cut off: not renewed for", tab.run(ROWS))
        until("the list tells of both", lambda: len(late()) == 2, 10)
        tab.picture(PICTURES / "situation-list.png")

    def end_of(self, name, how):
        """A name whose holder is dead or stopped, with all that it had started; one waits."""
        holder = self.holds(name)
        self.run("run", name, "--label", "who=next", "sleep", "1000", wait=False)
        until("one waits", lambda: self.show(name)["waiters"])
        os.kill(holder.pid, how)
        return holder


def situation(text):
    """The situation that a reader would see in the text of a page. Names and labels do not tell."""
    if "Paused:" in text:
        return "paused"
    if re.search(r"free, but the 1st in line wants \d+", text):
        return "large"
    if re.search(r"may be dead or cut off: .*lease ends in", text):
        return "dead"
    return "full" if re.search(r"Full: (\d+) of \1 held", text) else "?"
