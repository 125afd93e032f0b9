"""The actions of permits and queues, each with JavaScript and without: links and forms do it all."""

import pytest
from playwright.sync_api import expect

from conftest import until

EVICTED = 122


@pytest.fixture(scope="module", params=(True, False), ids=("script", "no-script"))
def page(request, new_page):
    return new_page(java_script_enabled=request.param)


@pytest.fixture
def name(request):
    """A name of this test alone."""
    return request.node.name


def act(page, button, reason=None, **fields):
    """Presses an action, fills in its form, and confirms."""
    page.get_by_role("link", name=button).first.click()
    if reason:
        fields["reason"] = reason
    for field, text in fields.items():
        page.locator(f"form.confirm #{field}").fill(text)
    page.locator("form.confirm button").click()
    expect(page.get_by_role("status").filter(visible=True)).to_be_visible()


def test_evict_ends_a_run_and_needs_a_reason(stack, page, name):
    holder = stack.hold(name)
    page.goto(stack.url("name", name))
    page.get_by_role("link", name="Evict").click()
    page.locator("form.confirm button").click()
    assert page.locator("#reason:invalid").count() == 1, "it goes without a reason"
    page.go_back()
    act(page, "Evict", reason="hangs since noon")
    assert holder.wait(20) == EVICTED
    expect(page.locator(".changes")).to_contain_text("hangs since noon")
    page.goto(stack.url("name", name))
    expect(page.locator(".part-holders")).to_contain_text("Nobody holds it.")


def test_a_confirmation_can_be_declined(stack, page, name):
    holder = stack.hold(name)
    page.goto(stack.url("name", name))
    page.get_by_role("link", name="Evict").click()
    page.locator("form.confirm a.button").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    assert holder.poll() is None


def test_pause_resume_limit_and_reserve(stack, page, name):
    stack.seinpaal("limit", name, "2")
    page.goto(stack.url("name", name))
    act(page, "Pause", reason="moving house")
    expect(page.locator("[data-say]")).to_contain_text("moving house")
    assert stack.show("show", name)["state"] == "paused"
    act(page, "Resume")
    assert stack.show("show", name)["state"] == "open"
    act(page, "Limit", number="5", reason="more boards")
    assert stack.show("show", name)["limit"] == 5
    act(page, "Reserve", number="2", reason="a demo", **{"for": "30m"})
    assert stack.show("show", name)["permits_held"] == 2
    expect(page.locator(".part-holders")).to_contain_text("Reserved")


@pytest.fixture(scope="module")
def many_names(stack):
    for at in range(42):
        stack.seinpaal("limit", f"plain/{at:02}", "3")
    stack.hold("plain/07")


def test_find_sort_and_page_through_names(stack, page, many_names):
    page.goto(stack.address + "?show=all")
    page.locator("#q").fill("PLAIN/")
    page.locator("#q").press("Enter")
    rows = page.get_by_role("rowheader")
    expect(rows).to_have_count(40)
    page.locator("#sort").select_option("held")
    if page.url.find("sort=held") < 0:
        page.get_by_role("button", name="Show").click()
    expect(rows.first).to_have_text("plain/07")
    page.get_by_role("link", name="Next").click()
    expect(rows).to_have_count(2)
    page.get_by_role("link", name="Back", exact=True).click()
    page.get_by_role("link", name="plain/07").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("plain/07")


def test_what_matches_in_a_queue_is_cancelled_and_nothing_else(stack, page, name):
    stack.seinpaal("queue", "push", name, "--lines", "--label", "job=41", stdin="x\n" * 70)
    stack.seinpaal("queue", "push", name, "--lines", "--label", "job=42", stdin="x\n" * 3)
    page.goto(stack.url("queue", name, state="ready"))
    first = page.get_by_role("rowheader").all_inner_texts()
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("rowheader")).to_have_count(73 - len(first))
    page.locator("#match").fill("job=42")
    page.locator("#match").press("Enter")
    expect(page.locator("main")).to_contain_text("3 of 73")
    act(page, "Cancel all", reason="a broken job", typed=name)
    assert stack.show("queue", "show", name)["ready"] == 70


def test_a_queue_is_paused_limited_and_purged(stack, page, name):
    stack.seinpaal("queue", "push", name, "--lines", stdin="x\n" * 3)
    page.goto(stack.url("queue", name))
    act(page, "Pause", reason="the mail server moves")
    assert stack.show("queue", "show", name)["state"] == "paused"
    act(page, "Resume")
    assert stack.show("queue", "show", name)["state"] != "paused"
    act(page, "Limit", number="7")
    assert stack.show("queue", "show", name)["limit"] == 7
    act(page, "Purge", reason="sent already", typed=name)
    assert stack.show("queue", "show", name)["ready"] == 0


def test_dead_letters_are_replayed_and_dropped(stack, page, name):
    stack.seinpaal("queue", "push", name, "--deliveries", "1", "--lines", stdin="a\nb\nc\n")
    worker = stack.work(name, "exit 1", "--until-empty")
    worker.wait(30)
    until("all are dead", lambda: stack.show("queue", "show", name)["dead"] == 3)
    page.goto(stack.url("queue", name))
    dead = page.locator(".part-dead")
    dead.get_by_role("link", name="Replay…").first.click()
    page.locator("form.confirm button").click()
    expect(page.get_by_role("status").first).to_be_visible()
    assert stack.show("queue", "show", name)["ready"] == 1
    act(page, "Drop all", reason="too old", typed=name)
    assert stack.show("queue", "show", name)["dead"] == 0
