"""Pages that change by themselves, and what they say if a store or a server goes away."""

import os
import re
import signal

import pytest
from playwright.sync_api import expect

SOON = 10_000


def holders(page):
    return page.locator(".part-holders")


def live(page):
    return page.locator("#live")


@pytest.fixture
def watched(stack, page):
    """Opens the page of a name, and returns when its stream is there."""

    def watched(name, page=page):
        page.goto(stack.url("name", name))
        expect(live(page)).to_have_text("Live", timeout=SOON)
        return page

    return watched


def test_a_grant_is_seen_without_a_reload(stack, watched):
    page = watched("grant")
    page.evaluate("window.isSame = true")
    holder = stack.hold("grant", "--label", "who=first")
    expect(holders(page)).to_contain_text("who=first", timeout=SOON)
    stack.wait("grant")
    expect(page.locator(".part-waiters")).to_contain_text("1 of 1 held", timeout=SOON)
    holder.terminate()
    expect(holders(page)).not_to_contain_text("who=first", timeout=SOON)
    assert page.evaluate("window.isSame")


def test_a_change_is_read_out(stack, watched):
    page = watched("spoken")
    stack.hold("spoken")
    expect(page.locator("#spoken[aria-live=polite]")).to_contain_text(re.compile("held|full", re.I), timeout=SOON)


def test_updates_can_be_paused(stack, watched):
    page = watched("still")
    page.keyboard.press("h")
    expect(live(page)).not_to_have_text("Live")
    stack.hold("still", "--label", "who=late")
    page.wait_for_timeout(1500)
    expect(holders(page)).not_to_contain_text("who=late")
    page.locator("#hold").click()
    expect(holders(page)).to_contain_text("who=late", timeout=SOON)


def test_rows_of_the_list_stay_where_they_are(stack, page):
    stack.hold("row b")
    page.goto(stack.address)
    expect(page.get_by_role("rowheader", name="row b")).to_be_visible(timeout=SOON)
    before = page.get_by_role("rowheader").all_inner_texts()
    stack.hold("row a")
    expect(page.get_by_role("link", name="Sort again")).to_be_visible(timeout=SOON)
    assert page.get_by_role("rowheader").all_inner_texts() == before
    page.get_by_role("link", name="Sort again").click()
    expect(page.get_by_role("rowheader", name="row a")).to_be_visible()


def test_holders_that_may_be_dead_are_called_so(stack, watched, new_page):
    pages = []
    for how in (signal.SIGKILL, signal.SIGSTOP):
        holder = stack.hold(how.name, "--ttl", "8s", "--label", "who=first")
        stack.wait(how.name, "--label", "who=next")
        pages.append(watched(how.name, new_page()))
        os.killpg(holder.pid, how)
    for page in pages:
        expect(holders(page)).to_contain_text("not renewed", timeout=SOON)
        expect(page.locator("[data-say]")).to_contain_text("may be dead", timeout=SOON)
    for page in pages:
        expect(holders(page)).to_contain_text("who=next", timeout=2 * SOON)


def test_no_tab_or_window_is_locked_out(stack, browser):
    """A browser has six connections to a server for all its tabs."""
    with browser.new_context() as context:
        pages = [context.new_page() for _ in range(7)]
        for page in pages:
            page.goto(stack.url("name", "many tabs"))
        stack.hold("many tabs", "--label", "who=first")
        for page in pages:
            page.bring_to_front()
            expect(holders(page)).to_contain_text("who=first", timeout=SOON)


def test_an_outage_of_the_store_is_told_and_ends(stack, watched):
    stack.hold("outage", "-j", "2", "--label", "who=first")
    page = watched("outage")
    stack.redis.kill()
    stack.redis.wait()
    expect(page.locator("#strip")).to_be_visible(timeout=SOON)
    expect(live(page)).to_have_text("Stale")
    expect(holders(page)).to_contain_text("who=first")
    stack.start_redis()
    expect(page.locator("#strip")).to_be_hidden(timeout=2 * SOON)
    stack.hold("outage", "-j", "2", "--label", "who=second")
    expect(holders(page)).to_contain_text("who=second", timeout=SOON)
    expect(holders(page)).to_contain_text("who=first")


def test_a_page_of_a_server_that_was_restarted_goes_on_and_its_form_is_refused(stack, watched, new_page):
    page, form = watched("restarted"), new_page()
    form.goto(stack.url("confirm", "restarted", do="pause"))
    stack.serve.terminate()
    stack.serve.wait()
    expect(live(page)).to_have_text("Stale", timeout=2 * SOON)
    stack.start_serve(listen=re.search(r"//(.*)/", stack.address)[1])
    expect(live(page)).to_have_text("Live", timeout=2 * SOON)
    stack.hold("restarted", "--label", "who=late")
    expect(holders(page)).to_contain_text("who=late", timeout=SOON)
    # The form has a secret of the old server.
    form.locator("#reason").fill("too late")
    with form.expect_response(re.compile("/act$")) as answer:
        form.locator("form.confirm button").click()
    assert answer.value.status == 403
    assert stack.show("show", "restarted")["state"] == "open"
