"""The parts that the checks of .ci/drive share: places in a page, and the way to fail."""

from world import TARGET

PICTURES = TARGET / "drive"
# Between two pages the document has no `main` element.
TEXT = "(document.getElementById('main')?.innerText ?? '')"
# Each row of the list on a line of its own.
ROWS = "[...document.querySelectorAll('table.names tbody tr')].map((it) => it.innerText.replace(/\\s+/g, ' ')).join('\\n')"
HEADLINE = "(document.querySelector('.headline')?.innerText ?? '')"


class Failed(Exception):
    """A check has not found what it expects."""


def expect(is_so, words):
    if not is_so:
        raise Failed(words)
