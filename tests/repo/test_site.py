"""The documentation site: built strictly; links, search, narrow and dark screens; its commands."""

import functools
import html
import http.server
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from commands import TIMEOUT_SECONDS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BROWSER = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage",
)  # fmt: skip
SEARCHES = {
    "--min-identity": {"reference/", "choosing/"},
    "identity": {"choosing/", "conventions/", "filters/"},
    "cite": {"", "reference/"},
    "conda": {"install/"},
    "jalview": {"msa/"},
    "leakage": {"splits/"},
    "dendrogram": {"guide-trees/"},
    "heat map": {"distances/", "report/"},
    "substitution matrix": {"choosing/"},
    "citation": {""},
    "OTU": {"clusters/"},
    "receptor": {"distances/"},
    "ANI": {"distances/"},
}
"""What is typed, and pages of which one must be among the first three results."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-d", folder],
        cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def commands_of(page: Path) -> list[str]:
    """What the copy button takes of each block of a page: its commands."""
    text = page.read_text()
    blocks = re.findall(r'<div class="language-console highlight">.*?</div>', text, re.DOTALL)
    found = []
    for block in blocks:
        without = re.sub(r'<span class="g[po]">.*?</span>', "", block, flags=re.DOTALL)
        plain = html.unescape(re.sub(r"<[^>]*>", "", without))
        joined = re.sub(r"\\\n\s*", "", plain)  # a line that goes on in the next
        found += [line.strip() for line in joined.splitlines() if line.strip()]
    return found


def test_the_landing_page_is_enough_for_six_jobs(site, tmp_path):
    commands = commands_of(site / "index.html")
    assert len(commands) == 8
    sequences = (ROOT / "examples" / "cytochrome_p450.fasta").read_text()
    for name in ("proteins", "queries", "database", "family"):
        (tmp_path / f"{name}.fasta").write_text(sequences)
    gene = ("ACGGTCATTGCAACGTAGCT" * 40)[:600]
    reads = "".join(f">r{k}\n{gene[k:]}{'ACGT' * (k // 4)}\n" for k in range(0, 80, 20))
    (tmp_path / "amplicons.fasta").write_text(reads)
    (tmp_path / "reads.fastq").write_text(re.sub(r">(\w+)\n(\w+)", _as_fastq, reads))
    subprocess.run(["gzip", tmp_path / "reads.fastq"], check=True)
    for command in commands:
        words = command.split()
        assert words[0] == "pairalign"
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert (tmp_path / words[words.index("-o") + 1]).exists()


def _as_fastq(record: re.Match[str]) -> str:
    return f"@{record[1]}\n{record[2]}\n+\n{'I' * len(record[2])}"


def test_links_and_anchors_of_the_site_lead_somewhere(site):
    pages = {path: path.read_text() for path in site.rglob("*.html") if path.name != "404.html"}
    names = {path: set(re.findall(r' id="([^"]*)"', text)) for path, text in pages.items()}
    missing = set()
    for path, text in pages.items():
        if path.name == "report-example.html":
            continue
        for link in re.findall(r' (?:href|src)="([^"]*)"', text):
            target, _, anchor = unquote(html.unescape(link)).partition("#")
            if re.match(r"[a-z]+:|//", target):
                continue
            place = (path.parent / target).resolve() if target else path
            place = place / "index.html" if place.is_dir() else place
            if not place.exists() or (anchor and anchor not in names.get(place, {anchor})):
                missing.add((str(path.relative_to(site)), link))
    assert missing == set()


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver")
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in (*BROWSER, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(argument)
    started = webdriver.Chrome(options, webdriver.ChromeService(driver))
    try:
        yield started
    finally:
        started.quit()


@pytest.mark.parametrize("typed", SEARCHES)
def test_search_finds(typed, browser, address):
    browser.set_window_size(1300, 900)
    browser.get(address)
    field = browser.find_element("css selector", "[data-md-component=search-query]")
    browser.execute_script("document.querySelector('#__search').click()")
    end = time.monotonic() + 30
    while not field.is_displayed() and time.monotonic() < end:
        time.sleep(0.1)
    field.send_keys(typed)
    found: list[str] = []
    while not found and time.monotonic() < end:
        time.sleep(0.2)
        links = browser.find_elements("css selector", ".md-search-result__link")
        found = [one.get_attribute("href") or "" for one in links]
    pages = [re.sub(r"[?#].*", "", one).removeprefix(address) for one in found]
    assert SEARCHES[typed] & set(pages[:6]), pages


@pytest.mark.parametrize("width", [390, 820, 1400])
@pytest.mark.parametrize(
    "page",
    [
        *("", "choosing/", "coming-from/", "measured/", "reference/"),
        *("notebooks/cytochrome_p450/", "notebooks/lambda_reads/"),
    ],
)
def test_pages_fit_the_screen(page, width, browser, address):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.get(address + page)
    script = "return [document.documentElement.scrollWidth, innerWidth]"
    wide, room = browser.execute_script(script)
    assert room == width
    assert wide <= width


def test_a_dark_screen_has_a_dark_page(browser, address):
    def lightness(scheme: str) -> int:
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        browser.get(address)
        browser.execute_script("localStorage.clear()")
        browser.get(address)
        color = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        return sum(int(one) for one in re.findall(r"\d+", color)[:3])

    assert lightness("light") > 600
    assert lightness("dark") < 200


def test_pictures_follow_a_dark_screen(browser, address):
    def filters(scheme: str) -> set[str]:
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        browser.get(address + "kernels/")
        browser.execute_script("localStorage.clear()")
        browser.get(address + "kernels/")
        pictures = browser.find_elements("css selector", ".md-content img[src$='.svg']")
        assert pictures
        return {str(one.value_of_css_property("filter")) for one in pictures}

    assert filters("light") == {"none"}
    (dark,) = filters("dark")
    assert dark.startswith("invert(")
