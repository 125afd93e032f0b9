"""Looks at every page: is it readable for everybody, and is what others wrote only text?"""

import pytest
from axe_playwright_python.sync_playwright import Axe

from conftest import until

HOSTILE = "<img src=x onerror=alert(1)>\u202e\"'&"
PAGES = {
    "names": "", "all names": "?show=all", "no such name": "?q=nobody-has-this-name", "full": "name?n=full",
    "first wants more": "name?n=large", "paused": "name?n=paused", "readers": "name?n=readers", "reserved": "name?n=reserved",
    "hostile name": "name?n={hostile}", "queues": "queues", "queue": "queue?n=mails", "delayed": "queue?n=alone&state=delayed",
    "dead": "queue?n=mails&state=dead", "changes": "changes", "evict?": "confirm?do=evict&n=full&t={ticket}",
    "reserve?": "confirm?do=reserve&n=unused", "drop?": "confirm?do=drop-all&n=mails&match=1", "missing": "nosuchpage",
}
LOOKS = (("dark", {"width": 390, "height": 844}), ("light", {"width": 1400, "height": 900}))

# Headings, links, buttons and tables that a screen reader could not tell apart, or could not use.
FAULTS = r"""
() => {
  const faults = [], words = (node) => (node?.textContent ?? '').replace(/\s+/g, ' ').trim();
  const levels = [...document.querySelectorAll('h1, h2, h3, h4')].map((it) => Number(it.nodeName[1]));
  if (levels.filter((it) => it === 1).length !== 1) faults.push('not just one h1');
  levels.forEach((level, at) => { if (at && level > levels[at - 1] + 1) faults.push('a level of headings is skipped'); });
  const places = new Map();
  // A figure in a list of terms is read after its term.
  for (const link of document.querySelectorAll('a:not(dd a)')) {
    if (!places.has(words(link))) places.set(words(link), link.href);
    if (places.get(words(link)) !== link.href) faults.push('two links are called ' + words(link));
  }
  for (const table of document.querySelectorAll('table'))
    if (!words(table.caption) || !table.querySelector('th[scope=col]') || !table.querySelector('th[scope=row]'))
      faults.push('a table without a caption, or without heads: ' + words(table));
  if (document.body.textContent.includes('\u202e')) faults.push('a text turns the direction');
  if (document.documentElement.scrollWidth > innerWidth) faults.push('the page scrolls sideways');
  return faults;
}
"""


@pytest.fixture(scope="module")
def town(stack):
    """Situations to look at."""
    for _ in range(2):
        stack.hold("full", "-j", "2", "--label", "job=7")
    for _ in range(3):
        stack.wait("full", "-j", "2")
    stack.hold("large", "-j", "4", "-p", "2")
    stack.wait("large", "-j", "4", "-p", "4")
    stack.wait("large", "-j", "4")
    stack.hold("paused", "-j", "2")
    stack.seinpaal("pause", "paused", "--reason", "moving house until noon")
    stack.wait("paused", "-j", "2")
    stack.hold("readers", "--shared")
    stack.wait("readers", "--exclusive")
    stack.hold(HOSTILE, "--label", "k=</script><b>")
    stack.wait(HOSTILE)
    reserved = ("--label", "reserved-by=kim", "--label", "until=2030-01-31T18:00:00Z", "--label", "reason=driver update")
    stack.seinpaal("acquire", "reserved", "-j", "5", "--ttl", "2h", *reserved)
    for at in range(12):
        stack.seinpaal("limit", f"team/service-{at:02}", "3")
    stack.seinpaal("queue", "push", "alone", "--lines", "--label", "job=1", "--group", "<i>g</i>", stdin="a\nb\nc\n")
    stack.seinpaal("queue", "push", "alone", "--delay", "1h", "a payload that goes on and on, without an end " * 5)
    stack.seinpaal("queue", "push", "mails", "--deliveries", "1", "<script>alert(1)</script>")
    stack.work("mails", "read -r line; case $line in *script*) exit 1;; esac; sleep 1000")
    until("an item is dead", lambda: stack.show("queue", "show", "mails")["dead"] == 1)
    stack.seinpaal("queue", "push", "mails", "--lines", "--group", "a", stdin="to: ann 1\nto: ann 2\n")
    return stack


@pytest.fixture(scope="module")
def ticket(town):
    return town.show("show", "full")["holders"][0]["ticket"]


@pytest.fixture
def address(town, ticket, request):
    return town.address + PAGES[request.param].format(ticket=ticket, hostile=town.url("", HOSTILE).partition("=")[2])


@pytest.fixture(scope="module")
def complaints(page):
    """What the browser complains about."""
    complaints = []
    page.on("console", lambda said: complaints.append(said.text) if "Content Security Policy" in said.text else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append("a script of others ran"), dialog.dismiss()))
    return complaints


@pytest.mark.parametrize("address", PAGES, indirect=True)
def test_a_page_is_accessible(address, page, complaints):
    complaints.clear()
    page.goto(address)
    for scheme, size in LOOKS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        complaints += [f"{scheme}: {it['id']}: {it['nodes'][0]['html']}" for it in found]
        complaints += [f"{scheme}: {fault}" for fault in page.evaluate(FAULTS)]
    assert complaints == []


def test_colours_follow_the_scheme_and_motion_can_be_reduced(town, new_page):
    colour = "getComputedStyle(document.body).backgroundColor"
    light, dark = new_page(color_scheme="light"), new_page(color_scheme="dark", reduced_motion="reduce")
    for page in (light, dark):
        page.goto(town.url("name", "full"))
    assert light.evaluate(colour) != dark.evaluate(colour)
    moves = "[...document.querySelectorAll('*')].filter((it) => parseFloat(getComputedStyle(it).transitionDuration) > 0).length"
    assert dark.evaluate(moves) == 0
    assert dark.evaluate("document.getAnimations().length") == 0


def test_what_others_wrote_is_text(town, page):
    page.goto(town.url("name", HOSTILE))
    # U+202E would turn the text around, and is shown as U+FFFD.
    assert page.get_by_role("heading", level=1).inner_text() == HOSTILE.replace("\u202e", "\ufffd")
    assert page.get_by_role("table").get_by_text("k=</script><b>").count() == 1
    assert page.locator("main").evaluate("it => it.querySelectorAll('img, script').length") == 0
    page.goto(town.url("queue", "mails", state="dead"))
    assert page.get_by_role("cell", name="<script>alert(1)</script>").count() == 1


def test_a_screen_reader_gets_roles_and_names(town, ticket, page):
    page.goto(town.url("name", "full"))
    assert page.get_by_role("banner").count() == page.get_by_role("main").count() == 1
    holders = page.get_by_role("table", name="Holders")
    assert holders.get_by_role("rowheader").count() == 2
    assert page.get_by_role("list").filter(has_text="ahead").count() >= 1
    # Each button says whom it evicts.
    buttons = page.get_by_role("link", name="Evict").all_inner_texts()
    assert len(buttons) == 5 and any(text.split()[-1] in ticket for text in buttons)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.parametrize("name, words", [
    ("full", "Full: 2 of 2 held"), ("large", "the 1st in line wants 4"), ("paused", "moving house until noon"),
])
def test_a_page_says_why_one_waits(town, page, name, words):
    page.goto(town.url("name", name))
    assert words in page.locator("[data-say]").inner_text()


def test_a_page_without_script_says_that_it_does_not_change(town, new_page):
    page = new_page(java_script_enabled=False)
    page.goto(town.url("name", "full"))
    assert "reload it" in page.locator("footer").inner_text()
    assert page.locator("#live").is_hidden() and page.locator("#hold").is_hidden()
