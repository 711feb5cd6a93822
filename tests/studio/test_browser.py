"""The whole story in a real browser: Playwright drives Debian's Chromium. `make test-studio` runs it, and `make test` a
short one where a browser is installed."""

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

if not (os.environ.get("STUDIO_BROWSER") or shutil.which("chromium")):
    pytest.skip("there is no browser; make test-studio installs one", allow_module_level=True)
pytest.importorskip("playwright", reason="make test-studio installs it")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

CHROMIUM = os.environ.get("STUDIO_BROWSER") or shutil.which("chromium")
in_full = pytest.mark.skipif(not os.environ.get("STUDIO_BROWSER"), reason="make test-studio runs it")
ARGUMENTS = ["--no-sandbox", "--disable-gpu"]
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
PATIENCE = 120_000  # milliseconds, for whatever a busy machine may take
expect.set_options(timeout=PATIENCE)


@contextmanager
def serving(folder, port=0):
    """A server of its own process: its address, and the process."""
    command = [
        sys.executable,
        "-m",
        "prunesymnet",
        "studio",
        str(folder),
        "--no-browser",
        "--port",
        str(port),
        "-s",
        "1",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://\S+", process.stdout.readline())[0]
        yield address, process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("browser")
    rng = np.random.default_rng(0)
    x, z = rng.uniform(1, 5, (2, 3000))
    # More waves than a search finds for minutes, and rows enough to see that they are none of noise.
    waves = sum(np.sin(k * 1.7 * x + k * k) * np.cos(k * z) for k in range(1, 12))
    y = 3 * x**2 / z + waves
    rows = [f"{a},{b},{'steel' if b > 3 else 'wood'},{c}" for a, b, c in zip(x, z, y, strict=True)]
    rows[6] = rows[6].replace(rows[6].split(",")[0], "", 1)
    (path / "law.csv").write_text("\n".join(["x,z,kind,y", *rows]))
    (path / "<img src=x onerror=alert(1)>.csv").write_text("<b>a</b>,y\n1,2\n2,4\n3,6.5\n4,8\n")
    return path


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    """A page whose every fault is a failure."""
    context = browser.new_context(
        viewport=WIDE, accept_downloads=True, permissions=["clipboard-read", "clipboard-write"]
    )
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    faults = []
    opened.on("pageerror", lambda fault: faults.append(str(fault)))
    opened.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    yield opened
    context.close()
    assert faults == []


def bring(page, address, file):
    page.goto(address)
    page.set_input_files("#file", file)
    page.wait_for_url("**/tables/*")
    expect(page.locator(".column").first).to_be_visible()


def begin(page, seconds=600):
    page.locator("[data-option=time_limit] [type=number]").fill(str(seconds))
    page.locator("#name").fill("squares")
    expect(page.locator("#start")).to_be_enabled()
    page.locator("#start").click()
    page.wait_for_url("**/searches/*")


def faults_of(page):
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:150]}" for one in found if one["impact"] in ("serious", "critical")
    ]


def test_a_short_story(page, tmp_path):
    with serving(tmp_path) as (address, _):
        page.goto(address)
        page.get_by_role("button", name="Planets").click()
        page.wait_for_url("**/tables/*")
        begin(page, 2)
        expect(page.locator("#pill")).to_have_text("Finished")
        page.locator(".mark").first.dispatch_event("click")
        expect(page.locator("tr.selected")).to_have_count(1)
        expect(page.locator(".law .big math")).to_be_visible()


@in_full
def test_the_whole_story(page, folder):
    studio = folder / "studio"
    with serving(studio) as (address, server):
        bring(page, address, folder / "law.csv")
        mend_the_table(page)
        begin(page)
        watch_and_pause(page)
        look_around(page)
        change_by_hand(page)
        take_it_along(page)
        port = int(re.search(r":(\d+)/", address)[1])
        server.send_signal(signal.SIGKILL)  # and the search goes on
        expect(page.locator("#lost")).to_be_visible()
    with serving(studio, port) as (address, _):
        expect(page.locator("#lost")).to_be_hidden()
        expect(page.locator("#pill")).to_have_text(re.compile("Searching|Finished"))  # it may have come to its end
        expect(page.locator(".mark.pinned")).to_have_count(1)
        if page.get_by_role("button", name="Stop").is_visible():
            page.get_by_role("button", name="Stop").click()
        expect(page.locator("#pill")).to_have_text("Finished")
        page.locator(".mark").last.dispatch_event("click")
        expect(page.locator(".reading b")).not_to_have_text("…")
        page.goto(address)
        expect(page.locator("#searches .name")).to_have_text("renamed")
        page.locator("[data-remove]").click()
        expect(page.locator("[data-remove]")).to_have_text("Remove?")
        page.locator("[data-remove]").click()
        expect(page.locator("#searches .item")).to_have_count(0)
        assert not list((studio / "searches").iterdir())


def mend_the_table(page):
    """A cell is missing, and a column is text: both are mended where they are shown."""
    missing = page.locator('[data-column="x"]')
    expect(missing.locator(".problem")).to_contain_text("row 7")
    expect(page.locator("#start")).to_be_disabled()
    missing.get_by_role("button", name="Leave out rows that lack a value").click()
    expect(page.locator("#verdict")).to_contain_text("left out 1 of 3,000 rows")
    page.locator('[data-column="kind"] select').select_option("category")
    expect(page.locator("#summary")).to_contain_text("x, z, kind")
    page.locator('[data-column="kind"] select').select_option("out")
    page.locator("summary", has_text="What you know").click()
    page.locator("[data-option=max_uses] .add").click()
    expect(page.locator("[data-option=max_uses] .pair-row")).to_have_count(1)
    frame = page.locator("[data-option=template] input")
    frame.fill("f(x)*exp(-g(z)) + sin(x)")
    expect(page.locator("[data-part]")).to_have_count(2)  # sin is no part
    frame.fill("f(q)")
    frame.blur()
    expect(page.locator("#verdict")).to_contain_text("'q' is no column")
    frame.fill("")
    frame.blur()
    expect(page.locator("#start")).to_be_enabled()
    page.locator("input[value=all] + span").click()
    expect(page.locator("#pairs .diagonal")).to_have_count(3)


def watch_and_pause(page):
    expect(page.locator(".mark").first).to_be_visible()
    expect(page.locator("#pill")).to_have_text("Searching")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#pill")).to_have_text("Paused")
    page.reload()
    expect(page.locator("#pill")).to_have_text("Paused")
    expect(page.locator(".mark").first).to_be_visible()
    page.get_by_role("button", name="1 minute more").click()
    expect(page.locator("#time")).to_contain_text("of 11 min")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("#pill")).to_have_text("Searching")
    page.locator("#name").click()
    page.locator(".rename").fill("renamed")
    page.locator(".rename").press("Enter")
    expect(page).to_have_title(re.compile("renamed"))


def look_around(page):
    """Click a point, go on by keys, move a slider, put two side by side; the address remembers."""
    first = page.locator(".mark").first
    first.dispatch_event("click")
    expect(page.locator("tr.selected")).to_have_count(1)
    key = page.locator("tr.selected").get_attribute("data-key")
    assert page.url.endswith(f"#{key}")
    page.locator(f'.mark[data-key="{key}"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("tr.selected")).not_to_have_attribute("data-key", key)
    page.reload()
    expect(page.locator("tr.selected")).not_to_have_attribute("data-key", key)
    slider = page.locator(".slider input").first
    reading = page.locator(".reading b")
    expect(reading).not_to_have_text("…")
    before = reading.text_content()
    slider.fill(slider.get_attribute("max"))
    expect(reading).not_to_have_text(before)
    expect(page.locator(".reading .far")).to_contain_text("Outside the rows")
    page.locator("#formulas input[type=checkbox]:not([disabled])").first.check()
    expect(page.locator(".versus .law")).to_have_count(2)
    expect(page.locator("text=On the rows they differ by")).to_be_visible()
    page.get_by_role("button", name="Back to one").click()
    expect(page.locator("#own")).to_be_visible()


def change_by_hand(page):
    page.locator("#own").fill("a*x**2/(z +")
    expect(page.locator("#own-said pre")).to_contain_text("at column")
    page.locator("#own").fill("a*x**2/z + b")
    expect(page.locator("#own-said")).to_contain_text("R²")
    page.locator("#own-pin").click()
    expect(page.locator(".mark.pinned")).to_have_count(1)
    expect(page.locator("tr.selected .badge")).to_be_visible()


def take_it_along(page):
    page.get_by_role("button", name="Python", exact=True).click()
    expect(page.locator(".code pre")).to_contain_text("def formula")
    page.locator(".code").get_by_role("button", name="Copy").click()
    assert "def formula" in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="Notebook").click()
    expect(page.locator(".code pre")).to_contain_text("PruneSymRegressor(")
    with page.expect_download() as download:
        page.locator("#report").click()
    assert "The front" in Path(download.value.path()).read_text()


@in_full
def test_windows_keep_apart_and_the_rest_waits(browser, folder):
    with serving(folder / "two") as (address, _):
        one, other = (browser.new_context(viewport=WIDE).new_page() for _ in range(2))
        for window in (one, other):
            window.set_default_timeout(PATIENCE)
            bring(window, address, folder / "law.csv")
            window.get_by_role("button", name="Leave out rows that lack a value").click()
            begin(window)
        expect(other.locator("#pill")).to_have_text("Waiting")
        expect(other.locator("#stage")).to_contain_text("Number 1 in line")
        assert one.url != other.url
        expect(one.locator("#pill")).to_have_text("Searching")
        one.get_by_role("button", name="Stop").click()
        expect(one.locator("#pill")).to_have_text("Finished")
        expect(other.locator("#pill")).to_have_text("Searching")
        other.get_by_role("button", name="Stop").click()
        expect(other.locator("#pill")).to_have_text("Finished")
        for window in (one, other):
            window.context.close()


@in_full
def test_pasted_cells_and_hostile_names_are_only_text(page, folder):
    with serving(folder / "text") as (address, _):
        page.goto(address)
        page.get_by_role("button", name="Paste cells").click()
        page.locator("#cells").fill("time\theight\n1\t2\n2\t3.9\n3\t6.1\n4\t8")
        page.get_by_role("button", name="Use these cells").click()
        page.wait_for_url("**/tables/*")
        expect(page.locator(".column")).to_have_count(2)
        bring(page, address, folder / "<img src=x onerror=alert(1)>.csv")
        expect(page.locator("h1")).to_contain_text("<img src=x")
        expect(page.locator('[data-column="<b>a</b>"] h3')).to_have_text("<b>a</b>")
        page.goto(address + "tables/0123456789abcdef")
        expect(page.locator("h1")).to_have_text("Not here")
        page.goto(address)
        page.set_input_files("#file", {"name": "a.csv", "mimeType": "text/csv", "buffer": b"\x00\x01"})
        expect(page.locator("#drop-problem")).to_contain_text("not a text file")


@in_full
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_nothing_keeps_anyone_out(browser, folder, size, scheme):
    """axe-core finds no serious fault, and no page is wider than the window."""
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    found = {}
    with serving(folder / f"axe-{scheme}-{size['width']}") as (address, _):
        page.goto(address)
        found["home"] = faults_of(page)
        bring(page, address, folder / "law.csv")
        page.locator("summary", has_text="What you know").click()
        found["problem"] = faults_of(page)
        page.get_by_role("button", name="Leave out rows that lack a value").click()
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        begin(page, 2)
        expect(page.locator("#pill")).to_have_text("Finished")
        expect(page.locator(".reading b")).not_to_have_text("…")
        found["search"] = faults_of(page)
        wide = max(wide, page.evaluate("document.documentElement.scrollWidth - innerWidth"))
        page.locator("#formulas input[type=checkbox]:not([disabled])").first.check()
        expect(page.locator("text=On the rows they differ by")).to_be_visible()
        found["versus"] = faults_of(page)
        page.goto(address)
        found["list"] = faults_of(page)
    context.close()
    assert {name: faults for name, faults in found.items() if faults} == {}
    assert wide <= 0
