"""The report in a browser: names escaped, a table to sort and search, alignments, no errors."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from align_command import align as run_align
from commands import fasta, run

import pairalign
from pairalign.jobs.report.report import _MOST_PAIRS, ReportCollector, closest_pairs, pair_rows

pytest.importorskip("jinja2")

ODD = '<img/src=x/onerror="document.title=1">'
RECORDS = {
    ODD: "MKVLAAGGWTREHHKLAMNPQRSTVWY",
    "</script><b>": "MKXLAGGWTREHHKLAMNPQRSTVWY",
    "plain": "MKXLAGREHHKLPMNPQRSTVWY",
    "other&amp;": "WWPHCMKVLHHKLAMNPQR",
}
PLAIN = dict(zip("abcd", RECORDS.values(), strict=True))
BROWSER = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
BROWSER += ("--disable-dev-shm-usage",)  # containers have little room there, and it would crash


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "in.fa").write_text(fasta(RECORDS))
    done = run("align", "in.fa", "-o", "o.paf", "--report", "r.html", "--device", "cpu", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "r.html"


class Page(HTMLParser):
    """Tags and addresses of a page, and the data of its table."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.data = ""
        self._is_data = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        self.addresses += [values[k] or "" for k in ("src", "href") if k in values]
        self._is_data = values.get("id") == "data"

    def handle_data(self, data: str) -> None:
        if self._is_data:
            self.data += data

    def handle_endtag(self, tag: str) -> None:
        self._is_data = False


def test_one_file_with_names_escaped(page: Path) -> None:
    text = page.read_text()
    found = Page()
    found.feed(text)
    assert found.tags.count("b") == 0
    assert all(address.startswith("data:") for address in found.addresses)
    assert not re.search(r"(src|href)=[\"']?https?:|@import|url\(", text)
    rows = json.loads(found.data)
    assert {name for row in rows for name in row[:2]} == set(RECORDS)
    expected = pairalign.align(RECORDS, device="cpu")
    scores = [pair.score for pair in sorted(expected, key=lambda p: -p.score)]
    assert [row[2] for row in rows] == scores
    shown = {(row[0], row[1]): tuple(row[6:8]) for row in rows}
    assert shown == {(p.query.name, p.target.name): p.rows() for p in expected}


def test_the_best_pairs_and_all_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pairalign.jobs.report.report._MOST_PAIRS", 5)
    found = pairalign.align([f"MKVLAAGGW{'TR' * k}" for k in range(9)], device="cpu")
    collector = ReportCollector(found.queries, found.targets)
    for start in range(0, len(found), 7):
        collector.add(found[start : start + 7])
    assert [row[2] for row in pair_rows(collector.best)] == sorted(found.score.tolist())[::-1][:5]
    identity, score, lengths = collector.histograms()
    assert identity.counts.sum() == score.counts.sum() == len(found) == collector.pairs
    assert lengths.counts.sum() == 9
    assert _MOST_PAIRS == 1000


@pytest.mark.parametrize("command", ["distance", "tree"])
def test_the_closest_pairs_of_distances(command: str, tmp_path: Path) -> None:
    # names that Newick can carry
    (tmp_path / "in.fa").write_text(fasta(PLAIN))
    name = {"distance": "d.phy", "tree": "t.txt"}[command]
    done = run(command, "in.fa", "-o", name, "--report", "r.html", "--device", "cpu", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = Page()
    found.feed((tmp_path / "r.html").read_text())
    rows = {(row[0], row[1]): row[2] for row in json.loads(found.data)}
    expected = pairalign.align(PLAIN, device="cpu")
    assert rows == {(p.query.name, p.target.name): p.score for p in expected}


def test_the_closest_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pairalign.jobs.report.report._MOST_PAIRS", 7)
    matrix = pairalign.distances([f"MKVLAAGGW{'TRE' * k}" for k in range(6)], device="cpu")
    pairs = closest_pairs(matrix)
    square = matrix.square()
    near = [square[i, j] for i, j in zip(pairs.first, pairs.second, strict=True)]
    assert sorted(near) == sorted(matrix.condensed.tolist())[:7]


def test_overlaps_on_both_strands(tmp_path: Path) -> None:
    reads = {"a": "ACGTTGCAACGTACGGTCATTAGCCA" * 8, "b": "TGGCTAATGACCGTACGTTGCAACGT" * 8}
    (tmp_path / "in.fa").write_text(fasta(reads))
    done = run(
        "overlap", "in.fa", "-o", "o.paf", "--report", "r.html", "--preset", "short",
        "--device", "cpu", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = Page()
    found.feed((tmp_path / "r.html").read_text())
    assert [row[:2] + row[5:6] for row in json.loads(found.data)] == [["a", "b", "-"]]


def test_why_there_is_no_heat_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.fa").write_text(fasta(PLAIN))

    def report(*arguments: str) -> tuple[str, str]:
        run_align("in.fa", "-o", "o.paf", "--report", "r.html", "--device", "cpu", *arguments)
        return Path("r.html").read_text(), capsys.readouterr().err

    page, said = report()
    assert 'src="data:image/png' in page
    assert "no-picture" not in page
    assert "heat map" not in said
    page, said = report("--min-score", "1")
    assert "No heat map: it needs all pairs of one set." in page
    assert "r.html: no heat map: it needs all pairs of one set" in said
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    page, said = report()
    assert "No heat map: pictures need matplotlib, which is not installed" in page
    assert "no heat map: pictures need matplotlib" in said


def test_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "in.fa").write_text(fasta(RECORDS))
    done = run("align", "in.fa", "-o", "o.paf", "--report", "none/r.html", cwd=tmp_path)
    assert done.returncode == 1
    assert b"there is no directory" in done.stderr
    assert not (tmp_path / "o.paf").exists()


# ---------------------------------------------------------------------------------------------
# In a browser


@pytest.fixture(scope="module")
def browser(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    webdriver = pytest.importorskip("selenium.webdriver")
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    profile = tmp_path_factory.mktemp("profile")
    for argument in (*BROWSER, f"--user-data-dir={profile}", "--window-size=1200,1500"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options, webdriver.ChromeService(driver))
    try:
        opened.get(page.as_uri())
        yield opened
    finally:
        opened.quit()


def cells(browser, column: int) -> list[str]:
    script = (
        "return [...document.querySelectorAll('#pairs tbody tr')].map(r => r.cells[%d].textContent)"
    )
    return browser.execute_script(script % column)


def test_sorted_by_a_click_on_a_heading(browser) -> None:
    button = browser.find_element("css selector", "button[data-column='2']")
    button.click()
    scores = [float(text) for text in cells(browser, 2)]
    assert scores == sorted(scores, reverse=True)
    button.click()
    assert [float(text) for text in cells(browser, 2)] == scores[::-1]
    heading = browser.find_element("css selector", "th[aria-sort]")
    assert heading.get_attribute("aria-sort") == "ascending"


def test_searched(browser) -> None:
    search = browser.find_element("id", "search")
    search.send_keys("PLAIN")
    assert len(cells(browser, 0)) == 3
    assert browser.find_element("id", "found").text == "3 shown"
    search.send_keys("x")
    assert cells(browser, 0) == []
    for _ in "PLAINx":
        search.send_keys("\ue003")  # backspace
    assert len(cells(browser, 0)) == 6


def test_a_click_shows_the_alignment(browser) -> None:
    expected = pairalign.align(RECORDS, device="cpu")
    row = browser.find_element("css selector", "#pairs tbody tr")
    names = cells(browser, 0)[0], cells(browser, 1)[0]
    row.click()
    dialog = browser.find_element("id", "alignment")
    assert dialog.get_attribute("open") is not None
    assert browser.find_element("id", "alignment-title").text == " and ".join(names)
    pair = next(p for p in expected if (p.query.name, p.target.name) == names)
    script = "return [...document.querySelectorAll('#alignment-text .%s')].map(s => s.textContent)"
    assert sum(map(len, browser.execute_script(script % "match"))) == 2 * pair.matches
    gaps = sum(map(len, browser.execute_script(script % "gap")))
    assert gaps == 2 * pair.gap_letters
    browser.find_element("id", "close").click()
    assert dialog.get_attribute("open") is None


def test_by_keyboard_alone(browser, page: Path) -> None:
    """From the top of the page with keys alone: numbers, search, sort, a pair, and back to it."""
    keys = pytest.importorskip("selenium.webdriver").Keys
    actions = pytest.importorskip("selenium.webdriver").ActionChains(browser)
    browser.get(page.as_uri())

    def press(*pressed: str) -> None:
        actions.send_keys(*pressed).perform()
        actions.reset_actions()

    def focused(script: str) -> str:
        return str(browser.execute_script(f"return document.activeElement.{script}"))

    press(keys.TAB, keys.ENTER)
    assert browser.find_element("css selector", "details").get_attribute("open") is not None
    while focused("id") != "search":
        press(keys.TAB)
    press("PLAIN")
    assert len(cells(browser, 0)) == 3
    press(keys.TAB, keys.TAB, keys.TAB, keys.ENTER)  # the heading of scores
    scores = [float(text) for text in cells(browser, 2)]
    assert scores == sorted(scores, reverse=True)
    press(keys.TAB * 4, keys.ARROW_DOWN, keys.ENTER)
    dialog = browser.find_element("id", "alignment")
    assert dialog.get_attribute("open") is not None
    second = cells(browser, 0)[1], cells(browser, 1)[1]
    assert browser.find_element("id", "alignment-title").text == " and ".join(second)
    press(keys.ESCAPE)
    assert dialog.get_attribute("open") is None
    assert focused("cells[1].textContent") == second[1]
    press(keys.END)
    assert focused("cells[0].textContent") == cells(browser, 0)[-1]
    press(keys.TAB)  # one row alone is a stop of the Tab key
    assert focused("tagName") != "TR"


def test_nothing_was_run_or_loaded_that_should_not_be(browser) -> None:
    assert browser.title == "pairalign: in.fa"
    assert browser.get_log("browser") == []
