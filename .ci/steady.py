"""The check of .ci/drive that a page gives right reasons and estimates under a steady load."""

import json
import re
import time

from checks import PICTURES, expect

# For each ticket: what the page said when the ticket first appeared, and when it appeared as a
# holder.
WATCH = r"""
window.watched = {};
const look = () => {
  const now = Date.now();
  const holders = document.querySelectorAll('.part-holders tbody tr').length;
  document.querySelectorAll('.part-waiters li[data-key]').forEach((row, ahead) => {
    const key = row.dataset.key;
    if (window.watched[key]) return;
    const reasons = [...row.querySelectorAll('.reasons li')].map((it) => it.innerText);
    const brief = reasons.map((it) => (it.match(/^\d+ (is|are) ahead|^\d+ of \d+ held/) || [it])[0]);
    const wanted = [...(ahead ? [ahead + (ahead === 1 ? ' is' : ' are') + ' ahead'] : []), holders + ' of 4 held'];
    window.watched[key] = { at: now, said: row.querySelector('.estimate b').innerText, reasons: brief.join('; '), wanted: wanted.join('; ') };
  });
  document.querySelectorAll('.part-holders tr[data-key]').forEach((row) => {
    const it = window.watched[row.dataset.key];
    if (it && !it.got) it.got = now;
  });
};
let due = 0;
new MutationObserver(() => { clearTimeout(due); due = setTimeout(look, 50); }).observe(document.body, { childList: true, subtree: true, characterData: true });
0
"""


class Steady:
    def estimate(self):
        """Under a steady load, reasons are right, and estimates within a factor of two."""
        name, length = "locks", self.asked.seconds
        for at in range(16):
            nap = "s=$(awk 'BEGIN { srand('$$'); print 1.5 + 3 * rand() }')"
            job = f"while :; do {nap}; {self.program} -s {self.store} run {name} -j 4 sleep $s; done"
            self.start("sh", "-c", f"trap 'kill 0' TERM; {job} & wait", group=True)
            time.sleep(0.1)
        tab = self.page(name)
        tab.run(WATCH)
        time.sleep(length)
        seen = json.loads(tab.run("JSON.stringify(window.watched)"))
        tab.picture(PICTURES / "steady.png")
        told = [it for it in seen.values() if it.get("got") and it["at"] > seen_since(seen) + 20_000]
        expect(len(told) >= 30, f"only {len(told)} waits were seen from their beginning to their end")
        close = [it for it in told if within_two(it)]
        right = [it for it in told if it["reasons"] == it["wanted"]]
        words = f"{len(told)} waits: {percent(close, told)} of estimates within a factor of two, {percent(right, told)} of reasons right"
        expect(len(close) >= 0.8 * len(told) and len(right) == len(told), words + f"; {[it for it in told if it not in right][:2]}")
        return words


def seen_since(seen):
    return min(it["at"] for it in seen.values())


def within_two(it):
    """Of what the page showed; both are known to the second only."""
    said = re.match(r"about (?:(\d+)m)?(\d+)(ms|s)", it["said"])
    if not said:
        return False
    minutes, number, unit = said.groups()
    estimate = int(minutes or 0) * 60 + int(number) * (0.001 if unit == "ms" else 1)
    came = (it["got"] - it["at"]) / 1000
    return came / 2 <= estimate <= came * 2


def percent(some, all):
    return f"{100 * len(some) // max(1, len(all))} %"
