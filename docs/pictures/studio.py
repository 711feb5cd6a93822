"""The screenshots of the page about the studio: `make studio-pictures` (a minute; it needs Chromium).

A studio is started in a folder of its own, and driven as a person would: a table is brought, searched and looked at.
"""

import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
PATIENCE = 120_000  # milliseconds
COLOURS = 160  # of a picture: flat colours and a few lines need no more, and the file is a third
ACROSS = 1000  # pixels across, in the documentation: its column is 760 wide, and screens are finer


def orbit() -> bytes:
    """A table with a law of three columns in it, and two per cent of noise."""
    rng = np.random.default_rng(3)
    mass, speed, radius = rng.uniform(0.5, 5, 160), rng.uniform(1, 12, 160), rng.uniform(0.2, 3, 160)
    force = mass * speed**2 / radius * (1 + 0.02 * rng.normal(size=160))
    columns = {"mass": mass, "speed": speed, "radius": radius, "force": force}
    return pd.DataFrame(columns).round(4).to_csv(index=False).encode()


def keep(page: Page, name: str) -> None:
    page.wait_for_timeout(700)  # until what moves has come to rest
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        small = picture.convert("RGB")
    if small.width > ACROSS:
        small = small.resize((ACROSS, round(small.height * ACROSS / small.width)), Image.Resampling.LANCZOS)
    few = small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
    few.save(HERE / f"studio-{name}.png", optimize=True)


def bring(page: Page, address: str, name: str, content: bytes, seconds: int) -> None:
    page.goto(address)
    page.set_input_files("#file", {"name": name, "mimeType": "text/csv", "buffer": content})
    page.wait_for_url("**/tables/*")
    page.locator("[data-option=time_limit] [type=number]").fill(str(seconds))
    page.locator("#start:not([disabled])").wait_for()


def search(page: Page) -> None:
    page.locator("#start").click()
    page.wait_for_url("**/searches/*")
    page.locator(".mark").nth(2).wait_for()


def ended(page: Page) -> None:
    page.locator(".pill.ended").wait_for()
    page.wait_for_timeout(1500)


def draw(browser: Any, address: str) -> None:
    page = browser.new_page(viewport=WIDE, reduced_motion="reduce")
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    keep(page, "start")
    bring(page, address, "orbit.csv", orbit(), 12)
    keep(page, "table")
    search(page)
    page.wait_for_timeout(2500)
    keep(page, "live")
    ended(page)
    keep(page, "formula")
    page.locator("#formulas input[type=checkbox]:not([disabled])").nth(1).check()  # a longer one
    page.locator("text=On the rows they differ by").wait_for()
    page.evaluate("scrollTo(0, 0)")
    keep(page, "compare")
    page.get_by_role("button", name="Back to one").click()
    page.locator("#own").fill("a*mass*speed**b/radius**c")
    page.locator("#own-said math").wait_for()
    page.locator("#own").scroll_into_view_if_needed()
    page.mouse.wheel(0, 2000)
    keep(page, "edit")
    where = page.url.partition("#")[0]
    for name, look in (("dark", {"viewport": WIDE, "color_scheme": "dark"}), ("phone", {"viewport": PHONE})):
        other = browser.new_page(reduced_motion="reduce", **look)
        other.goto(where)
        other.locator(".reading b:not(:text('…'))").wait_for()
        keep(other, name)
        other.close()


def main(chromium: str) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        command = [sys.executable, "-m", "prunesymnet", "studio", folder, "--no-browser", "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own command
        try:
            assert server.stdout is not None  # noqa: S101 - it was asked for
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None  # noqa: S101 - the command prints it
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            draw(browser, found[0])
            browser.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main(sys.argv[1])
