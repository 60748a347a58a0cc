"""The page of ``cognee-hooks view`` in a real browser, over sessions that really took place."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Locator, Page, Route, expect

from tests.support.browser import accessibility_faults, browser
from tests.support.view_machine import (
    ENDED,
    LIVE,
    OUTAGE,
    PASSWORD,
    REFUSED,
    SECRET,
    ViewMachine,
    ViewServer,
    view_machine,
    view_server,
)
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="module")

VIEWS = ("overview", "live session", "ended session", "buffer", "plugins")
SCHEMES = ("light", "dark")
MOST_CONNECTIONS = 6
HIDE = """hidden => {
  Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""
REMEMBERED = "listens on port 7431 in every environment"

module_fixture = pytest_asyncio.fixture(scope="module", loop_scope="module")
expect.set_options(timeout=1000 * PATIENCE)


@module_fixture
async def machine() -> AsyncIterator[ViewMachine]:
    async with view_machine() as made:
        yield made


@module_fixture
async def server(machine: ViewMachine) -> AsyncIterator[ViewServer]:
    async with view_server(machine) as running:
        yield running


@module_fixture
async def chrome() -> AsyncIterator[Browser]:
    async with browser() as running:
        yield running


@module_fixture
async def cookies(chrome: Browser, server: ViewServer) -> list[Any]:
    """What the browser has got that opened the printed address."""
    context = await chrome.new_context()
    page = await context.new_page()
    await page.goto(server.address)
    assert page.url == f"{server.origin}/"
    kept = await context.cookies()
    await context.close()
    return kept


Opens = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(loop_scope="module")
async def opens(chrome: Browser, server: ViewServer, cookies: list[Any]) -> AsyncIterator[Opens]:
    """Opens a view in a window of its own.

    The test fails if the page asks anybody but its own server, breaks its content policy, or says
    anything on the console.
    """
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    async def open_view(view: str = "overview", **options: Any) -> Page:
        context = await chrome.new_context(**options)
        contexts.append(context)
        await context.add_cookies(cookies)
        page = await context.new_page()
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: faults.append(request.url) if not _ours(request) else 0)
        await page.goto(f"{server.origin}/{await address_of(context, server, view)}")
        await expect(page.locator("#connection")).to_have_text("Live")
        return page

    def _ours(request: Any) -> bool:
        return request.url.startswith(f"{server.origin}/")

    yield open_view
    for context in contexts:
        await context.close()
    assert not faults


async def address_of(context: BrowserContext, server: ViewServer, view: str) -> str:
    sessions = {"live session": LIVE, "ended session": ENDED}
    if view in sessions:
        view = f"sessions/{await key_of(context, server, sessions[view])}"
    return "" if view == "overview" else f"#/{view}"


async def key_of(context: BrowserContext, server: ViewServer, session: str) -> str:
    answer = await context.request.get(f"{server.origin}/api/summary")
    rows = (await answer.json())["sessions"]
    return next(each["key"] for each in rows if session in each["session_id"])


def row_of(page: Page, session: str) -> Locator:
    return page.get_by_role("row").filter(has_text=session.partition("-")[0])


def figure(page: Page, name: str) -> Locator:
    return page.locator(".figures > div").filter(has_text=name).locator(".value")


def prompt(page: Page, text: str) -> Locator:
    return page.get_by_role("article").filter(has=page.get_by_role("heading", name=text))


# -- what is seen ------------------------------------------------------------------------------


async def test_the_printed_address_opens_the_page_once(chrome, server, cookies):
    context = await chrome.new_context()
    page = await context.new_page()
    answer = await page.goto(server.address)
    assert answer.status == 403
    await expect(page.locator("body")).to_contain_text("cognee-hooks view")
    answer = await page.goto(server.origin)
    assert answer.status == 401
    assert await context.cookies() == []
    await context.close()


async def test_the_overview_tells_what_became_of_each_session(opens):
    page = await opens()
    row = row_of(page, LIVE)
    await expect(row).to_contain_text("live")
    await expect(row.get_by_role("cell")).to_contain_text(
        ["claude-code", "billing_service", re.compile("now|ago"), "8", "2", "8", "0", "0", "5"]
    )
    await expect(row_of(page, ENDED)).not_to_contain_text("live")
    await expect(row_of(page, OUTAGE).get_by_role("cell").nth(6)).to_have_text("2")
    await expect(row_of(page, REFUSED).get_by_role("cell").nth(7)).to_have_text("2")
    await expect(figure(page, "Waiting")).to_have_text("2")
    await expect(figure(page, "Lost")).to_have_text("2")
    await expect(page.locator(".figures")).to_contain_text(re.compile(r"\d+% hit rate"))


async def test_a_prompt_of_a_live_session_shows_what_was_injected_into_it(opens):
    page = await opens("live session")
    asked = prompt(page, "Which port does the billing service use on staging?")
    await expect(asked).to_contain_text(re.compile(r"2 sections · [\d.]+ .?B · about \d+ tokens"))
    section = asked.get_by_role("listitem").filter(has_text=REMEMBERED)
    cost = re.compile(r"about \d+ tokens.*\d m?s")
    await expect(section.locator("summary")).to_contain_text(cost)
    await expect(section.locator("pre")).to_be_hidden()
    await section.locator("summary").click()
    await expect(section.locator("pre")).to_contain_text(REMEMBERED)
    await expect(asked).to_contain_text("notes")


async def test_an_ended_session_says_why_its_texts_are_not_there(opens):
    page = await opens("ended session")
    await expect(page.locator("main")).to_contain_text("never written to disk")
    await expect(page.locator("main")).to_contain_text("This one has ended")
    asked = prompt(page, "Prompt whose text is not kept")
    await expect(asked).to_contain_text(re.compile(r"2 sections · [\d.]+ .?B · about \d+ tokens"))
    await expect(asked.get_by_role("listitem")).to_contain_text(["recall", "notes"])
    assert await asked.locator("summary").count() == 0
    assert "jitter" not in await page.locator("main").inner_text()


async def test_redactions_are_told_by_kind_and_the_secret_is_nowhere(opens, server):
    page = await opens("live session")
    table = page.get_by_role("table", name="Redactions by kind")
    await expect(table.get_by_role("row", name=re.compile("^github 1"))).to_be_visible()
    await expect(table.get_by_role("row", name=re.compile("^password 1"))).to_be_visible()
    key = await key_of(page.context, server, LIVE)
    paths = ("/api/summary", f"/api/sessions/{key}")
    answers = [await page.context.request.get(f"{server.origin}{path}") for path in paths]
    seen = [await page.content(), *[await each.text() for each in answers]]
    for secret in (SECRET, PASSWORD):
        assert not [each for each in seen if secret in each]


async def test_the_timeline_shows_one_kind_of_act_alone(opens):
    page = await opens("live session")
    table = page.get_by_role("table", name="Timeline of the session")
    await expect(table).to_contain_text("Captured")
    await page.get_by_role("button", name="Injected").click()
    await expect(table).not_to_contain_text("Captured")
    await expect(table.get_by_role("row").filter(has_text="Injected")).to_have_count(9)
    await expect(page.get_by_role("button", name="Injected")).to_have_attribute(
        "aria-pressed", "true"
    )


async def test_the_buffer_tells_what_waits_and_what_was_put_aside(opens):
    page = await opens("buffer")
    waiting = page.get_by_role("region", name="Waiting")
    await expect(waiting.get_by_role("row").filter(has_text=OUTAGE[:8])).to_contain_text("2")
    await expect(waiting).to_contain_text("cognee-hooks doctor")
    await expect(waiting).to_contain_text("cognee-hooks send --agent")
    aside = page.get_by_role("region", name="Put aside")
    await expect(aside.get_by_role("row").filter(has_text=REFUSED[:8])).to_contain_text("2")
    await expect(aside).to_contain_text("cognee-hooks daemon logs")
    await aside.get_by_role("link").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text(REFUSED)


async def test_plugins_show_their_times_and_the_one_that_failed_its_fault(opens):
    page = await opens("plugins")
    rows = page.get_by_role("table", name=re.compile("^Plugins")).locator("> tbody > tr")
    await expect(rows.first).to_contain_text("jira_lane")
    await expect(rows.first).to_contain_text("1 hook quarantined")
    recall = rows.filter(has=page.get_by_role("button", name="recall", exact=True))
    await expect(recall.get_by_role("cell").nth(3)).to_have_text(re.compile(r"\d m?s"))
    assert await recall.locator("svg").count() == 2
    await page.get_by_role("button", name="jira_lane").click()
    await expect(page.locator("tr.hooks")).to_contain_text("ConnectionError")
    hooks = page.get_by_role("table", name="Hooks of jira_lane")
    await expect(hooks.get_by_role("row", name=re.compile("^lane"))).to_contain_text("quarantined")
    await page.get_by_role("button", name="With trouble").click()
    await expect(rows).to_have_count(2)


async def test_sessions_are_sorted_and_filtered(opens):
    page = await opens()
    button = page.get_by_role("button", name="Captured")
    header = page.get_by_role("columnheader", name="Captured")
    first = page.locator("tbody tr").first
    await expect(header).to_have_attribute("aria-sort", "none")
    await button.click()
    await expect(header).to_have_attribute("aria-sort", "descending")
    await expect(first).to_contain_text(LIVE[:8])
    await button.click()
    await expect(header).to_have_attribute("aria-sort", "ascending")
    await expect(first).not_to_contain_text(LIVE[:8])
    await expect(button).to_be_focused()
    box = page.get_by_role("searchbox", name="Filter sessions")
    await box.fill(f"billing {ENDED[:8]}")
    await expect(page.locator("tbody tr")).to_have_count(1)
    await box.fill("nothing like that")
    await expect(page.locator("main")).to_contain_text("No session matches the filter.")


async def test_back_forward_and_reload_keep_the_view(opens, server):
    page = await opens("buffer")
    await page.get_by_role("link", name="Plugins").click()
    await expect(page).to_have_title("Plugins · cognee-hooks")
    await page.go_back()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Buffer")
    await page.go_forward()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Plugins")
    await page.reload()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Plugins")


async def test_an_address_that_leads_nowhere_leads_back(chrome, server, cookies):
    context = await chrome.new_context()
    await context.add_cookies(cookies)
    page = await context.new_page()
    await page.goto(f"{server.origin}/#/sessions/%E0%A4%A")
    await expect(page.locator("main")).to_contain_text("This session is not known.")
    await page.get_by_role("link", name="See all sessions").click()
    await expect(page.get_by_role("table")).to_contain_text("claude_")
    await context.close()


# -- what changes ------------------------------------------------------------------------------


async def test_a_new_prompt_appears_and_nothing_the_person_did_is_lost(opens, machine):
    session = "11d0c3a9-0000-4000-8000-000000000001"
    await machine.begin(session)
    await machine.prompt(session, "Which port is it again?")
    page = await opens()
    await page.get_by_role("searchbox").fill("11d0c3a9")
    await page.get_by_role("link", name="claude_11d0c3a9").click()
    disclosure = prompt(page, "Which port is it again?").locator("summary").first
    await disclosure.press("Enter")
    await expect(disclosure).to_be_focused()
    before = await page.evaluate("window.loaded = performance.timeOrigin")
    await machine.prompt(session, "And how is the retry done?")
    await expect(prompt(page, "And how is the retry done?")).to_be_visible()
    await expect(disclosure).to_be_focused()
    await expect(prompt(page, "Which port is it again?").locator("pre").first).to_be_visible()
    await expect(page.get_by_role("status")).to_contain_text("more recalled")
    assert await page.evaluate("window.loaded") == before
    await page.go_back()
    await expect(page.get_by_role("searchbox")).to_have_value("11d0c3a9")


async def test_a_row_that_moves_keeps_the_focus(opens, machine):
    first, second = (f"{n}{n}e1f2a3-0000-4000-8000-000000000004" for n in (4, 5))
    for session in (first, second):
        await machine.begin(session)
        await machine.prompt(session, "Which port is it?")
    page = await opens()
    links = page.locator("tbody a")
    await expect(links.first).to_have_text("claude_55e1f2a3")
    link = page.get_by_role("link", name="claude_44e1f2a3")
    await link.focus()
    await machine.prompt(first, "And which one on staging?")
    await expect(links.first).to_have_text("claude_44e1f2a3")
    await expect(link).to_be_focused()


async def test_the_place_where_the_person_reads_stays(opens, machine):
    page = await opens("live session", viewport={"width": 800, "height": 400})
    await page.locator("#timeline").scroll_into_view_if_needed()
    top = "document.getElementById('timeline').getBoundingClientRect().top"
    before = await page.evaluate(top)
    session = "22d0c3a9-0000-4000-8000-000000000002"
    await machine.begin(session)
    await machine.prompt(session, "What of the webhooks and their retry?")
    await expect(page.get_by_role("status")).to_contain_text("Session claude_22d0c3a9 is live")
    assert abs(await page.evaluate(top) - before) < 1


async def test_a_lost_connection_is_told_and_a_new_start_asks_for_its_address(chrome, machine):
    context = await chrome.new_context()
    page = await context.new_page()
    async with view_server(machine) as first:
        await page.goto(first.address)
        await expect(page.locator("#connection")).to_have_text("Live")
    await expect(page.locator("#connection")).to_have_text("Not connected")
    notice = page.locator(".notice")
    await expect(notice).to_contain_text("The connection is lost; the next try is in")
    await expect(page.get_by_role("table")).to_contain_text("claude_")
    async with view_server(machine, "--port", first.port):
        await expect(page.locator("#connection")).to_have_text("Ended")
        await expect(notice).to_contain_text("Start cognee-hooks view again")
    await context.close()


async def test_windows_that_nobody_looks_at_leave_the_connections_to_the_others(
    opens, machine, server
):
    """A browser has six to a server, and each window that listens takes one for as long."""
    page = await opens()
    for _ in range(MOST_CONNECTIONS):
        await page.evaluate(HIDE, True)
        page = await page.context.new_page()
        await page.goto(f"{server.origin}/")
        await expect(page.locator("#connection")).to_have_text("Live")
    session = "44d0c3a9-0000-4000-8000-000000000004"
    await machine.begin(session)
    first = page.context.pages[0]
    await expect(row_of(page, "claude_44d0c3a9")).to_be_visible()
    assert await row_of(first, "claude_44d0c3a9").count() == 0
    await first.evaluate(HIDE, False)
    await expect(row_of(first, "claude_44d0c3a9")).to_be_visible()


# -- what others wrote -------------------------------------------------------------------------


async def test_hostile_text_is_shown_as_text(opens, machine, server):
    session = "33d0c3a9-0000-4000-8000-000000000003"
    image = "<img src=x onerror=window.taken=1>"
    await machine.begin(session)
    await machine.prompt(session, f"{image}<script>window.taken=1</script> \u202egro.live\u202c")
    await machine.prompt(session, "How is markup written? " + "x" * 100_000)
    page = await opens(viewport={"width": 360, "height": 700})
    await page.get_by_role("link", name="claude_33d0c3a9").click()
    await expect(page.get_by_role("article")).to_have_count(2)
    text = await page.get_by_role("article").last.get_by_role("heading").inner_text()
    assert image in text
    assert "<script>window.taken=1</script>" in text
    assert "\u202e" not in text
    await expect(page.locator("pre").first).to_contain_text("<b>bold</b> sparingly. <img src=x")
    assert await page.locator("main img, main script, main b").count() == 0
    assert await page.evaluate("window.taken") is None
    assert not await is_wide(page)


async def test_many_problems_leave_room_for_the_rest_of_the_page(opens):
    async def troubled(route: Route) -> None:
        answer = await route.fetch()
        summary = await answer.json()
        summary["problems"] = [f"problem {number}" for number in range(1, 51)]
        summary["daemon"]["running"] = None
        await route.fulfill(response=answer, json=summary)

    page = await opens(viewport={"width": 1200, "height": 900})
    await page.route("**/api/summary", troubled)
    await page.reload()
    await expect(page.get_by_role("heading", name="50 problems")).to_be_visible()
    await expect(page.get_by_role("heading", name="Sessions", exact=True)).to_be_in_viewport()
    await expect(page.get_by_text("problem 50")).to_be_hidden()
    await page.get_by_text("47 more").click()
    await expect(page.get_by_text("problem 50")).to_be_visible()
    await expect(page.get_by_role("main")).to_contain_text("The daemon does not answer.")


# -- for everybody -----------------------------------------------------------------------------


async def tab_to(page: Page, name: str, key: str = "Tab") -> None:
    """Press a key until what has the focus is called so."""
    for _ in range(80):
        await page.keyboard.press(key)
        named = "document.activeElement.textContent"
        if (await page.evaluate(named)).startswith(name):
            return
    pytest.fail(f"{key} does not lead to {name!r}")


async def test_everything_can_be_done_by_keyboard(opens):
    page = await opens()
    heading = page.get_by_role("heading", level=1)
    await page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    await expect(skip).to_be_focused()
    await expect(skip).to_be_in_viewport()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("main")).to_be_focused()
    await tab_to(page, "claude_5f0c1d52")
    await page.keyboard.press("Enter")
    await expect(heading).to_be_focused()
    await expect(heading).to_contain_text(LIVE)
    await tab_to(page, "recall")
    await page.keyboard.press("Space")
    await expect(page.locator("details[open] pre")).to_contain_text(REMEMBERED)
    await tab_to(page, "Injected")
    await page.keyboard.press("Space")
    await expect(page.get_by_role("button", name="Injected")).to_have_attribute(
        "aria-pressed", "true"
    )
    await tab_to(page, "Buffer", "Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(heading).to_have_text("Buffer")
    await expect(heading).to_be_focused()
    await tab_to(page, "Plugins", "Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(heading).to_be_focused()
    await tab_to(page, "jira_lane")
    await page.keyboard.press("Enter")
    await expect(page.locator("tr.hooks")).to_be_visible()
    await tab_to(page, "Dark theme", "Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")


OVERVIEW_TREE = """
- link "Skip to content"
- banner:
  - link "cognee-hooks"
  - navigation "Views":
    - list:
      - listitem:
        - link "Overview"
      - listitem:
        - link "Buffer (4 entries)"
      - listitem:
        - link "Plugins (1 quarantined)"
  - paragraph: Live
  - button "Dark theme"
- main:
  - heading "Overview" [level=1]
  - heading "Totals" [level=2]
  - term: Sessions
  - definition: /\\d+/
  - region "Sessions":
    - heading "Sessions" [level=2]
    - searchbox "Filter sessions"
    - table "Sessions, live ones first":
      - caption: Sessions, live ones first
      - rowgroup:
        - row:
          - columnheader "Session":
            - button "Session"
          - columnheader "Agent"
          - columnheader "Injected tokens"
      - rowgroup:
        - row /claude_5f0c1d52 live claude-code billing_service/:
          - rowheader /claude_5f0c1d52 live/:
            - link "claude_5f0c1d52"
          - cell "claude-code"
- contentinfo:
  - status
"""
SESSION_TREE = """
- main:
  - paragraph:
    - link "All sessions"
  - heading /claude_5f0c1d52-\\S+ live/ [level=1]
  - heading "Totals" [level=2]
  - region "Prompts":
    - heading "Prompts" [level=2]
    - article:
      - heading "Which port does the billing service use on staging?" [level=3]
      - list:
        - listitem
        - listitem
  - region "Redactions":
    - heading "Redactions" [level=2]
    - table "Redactions by kind"
  - region "Timeline":
    - heading "Timeline" [level=2]
    - group "Show acts":
      - button /All \\d+/ [pressed]
      - button /Captured \\d+/
    - table "Timeline of the session":
      - rowgroup:
        - row:
          - columnheader "Time"
          - columnheader "Act"
"""


@pytest.mark.parametrize(
    ("view", "tree"), [("overview", OVERVIEW_TREE), ("live session", SESSION_TREE)]
)
async def test_a_screen_reader_finds_landmarks_headings_and_tables(opens, view, tree):
    page = await opens(view)
    await expect(page.locator("body")).to_match_aria_snapshot(tree)


@pytest.mark.parametrize("view", VIEWS)
async def test_no_accessibility_rule_is_broken_in_light_or_dark(opens, view):
    page = await opens(view, bypass_csp=True)
    for opener in await page.locator("summary, .disclose").all():
        await opener.click()
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        assert await accessibility_faults(page) == [], scheme


async def is_wide(page: Page) -> bool:
    return await page.evaluate("document.documentElement.scrollWidth > innerWidth")


SMALL = """[...document.querySelectorAll("a, button, input, summary")]
    .filter((each) => each.checkVisibility() && !each.closest(".skip"))
    .filter((each) => { const box = each.getBoundingClientRect();
                        return box.height < 24 || box.width < 24; })
    .map((each) => each.outerHTML)"""


@pytest.mark.parametrize("view", VIEWS)
async def test_a_narrow_window_needs_no_scrolling_sideways(opens, view):
    page = await opens(view, viewport={"width": 360, "height": 640})
    for opener in await page.locator("summary, .disclose").all():
        await opener.click()
    assert not await is_wide(page)
    assert await page.evaluate(SMALL) == []
    # Text at twice its size, as a browser's zoom leaves half of the window.
    await page.set_viewport_size({"width": 640, "height": 400})
    assert not await is_wide(page)


async def test_what_is_wider_than_its_place_is_reached_by_keyboard_and_named(opens):
    page = await opens("live session", viewport={"width": 360, "height": 640})
    region = page.get_by_role("region", name="Timeline of the session")
    await expect(region).to_have_attribute("tabindex", "0")
    await page.set_viewport_size({"width": 1200, "height": 640})
    await expect(region).to_have_count(0)


async def test_the_chosen_theme_is_remembered_until_the_person_follows_the_system(opens):
    page = await opens(color_scheme="dark")
    page_colour = "getComputedStyle(document.body).backgroundColor"
    dark = await page.evaluate(page_colour)
    await page.get_by_role("button", name="Light theme").click()
    light = await page.evaluate(page_colour)
    assert light != dark
    await page.reload()
    await expect(page.get_by_role("button", name="Dark theme")).to_be_visible()
    assert await page.evaluate(page_colour) == light
    await page.get_by_role("button", name="Dark theme").click()
    assert await page.evaluate("localStorage.length") == 0
    await page.emulate_media(color_scheme="light")
    await expect(page.get_by_role("button", name="Dark theme")).to_be_visible()


async def test_what_is_printed_shows_what_is_closed_on_the_screen(opens):
    page = await opens("live session")
    injected = page.locator("pre").filter(has_text=REMEMBERED)
    await expect(injected).to_be_hidden()
    await page.emulate_media(media="print")
    await expect(injected).to_be_visible()
    await expect(page.get_by_role("banner")).to_be_hidden()


async def test_where_there_is_nothing_yet_the_page_says_what_to_do_next(chrome, machine, tmp_path):
    context = await chrome.new_context()
    page = await context.new_page()
    async with view_server(machine, HOME=str(tmp_path)) as server:
        await page.goto(server.address)
        await expect(page.locator("main")).to_contain_text("cognee-hooks install")
        await page.get_by_role("link", name="Buffer").click()
        await expect(page.locator("main")).to_contain_text("Nothing waits.")
        await expect(page.locator("main")).to_contain_text("Nothing was put aside.")
        await page.get_by_role("link", name="Plugins").click()
        await page.get_by_role("button", name="With trouble").click()
        await expect(page.locator("main")).to_contain_text("No plugin has had trouble.")
        await context.close()
