"""The report in a browser: tables, filters, alignments, drawings, downloads; no errors, in time."""

import math
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import fasta, run
from report_page import cells, fill, make_page, saved, show, texts, until

import pairalign
from pairalign.jobs.distances.guide_tree import build_tree
from pairalign.results.tree_result import GuideTree

pytest.importorskip("jinja2")
pytestmark = pytest.mark.slow

ODD = '<img/src=x/onerror="document.title=1">'
HEADERS = {
    ODD: "a <b>first</b> one",
    "</script><b>": "</script><script>document.title=2</script>",
    "plain": "with \"quotes\" & 'others'",
    "other&amp;": "",
}
RECORDS = dict(
    zip(
        HEADERS,
        (
            "MKVLAAGGWTREHHKLAMNPQRSTVWY",
            "MKXLAGGWTREHHKLAMNPQRSTVWY",
            "MKXLAGREHHKLPMNPQRSTVWY",
            "WWPHCMKVLHHKLAMNPQR",
        ),
        strict=True,
    )
)
AS_FASTA = "".join(
    f">{name} {HEADERS[name]}".strip() + f"\n{letters}\n" for name, letters in RECORDS.items()
)
BROWSER = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
BROWSER += ("--disable-dev-shm-usage",)  # containers have little room there, and it would crash
MANY = 5000
SECONDS = 2


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "in.fa").write_text(AS_FASTA)
    done = run(
        "align", "in.fa", "-o", "o.tsv", "--report", "r.html", "--mode", "local", "--device", "cpu",
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "r.html"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    webdriver = pytest.importorskip("selenium.webdriver")
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    profile = tmp_path_factory.mktemp("profile")
    for argument in (*BROWSER, f"--user-data-dir={profile}", "--window-size=1200,1500"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options, webdriver.ChromeService(driver))
    try:
        yield started
    finally:
        started.quit()


@pytest.fixture
def browser(opened, page: Path):
    """The page, as it is when it is opened."""
    opened.get("about:blank")
    opened.get(page.as_uri())
    yield opened
    assert opened.title == "pairalign: in.fa"
    assert opened.get_log("browser") == []


def test_names_and_descriptions_are_text(browser):
    show(browser, "sequences")
    assert sorted(cells(browser, 0, "sequences")) == sorted(HEADERS)
    assert sorted(cells(browser, 1, "sequences")) == sorted(HEADERS.values())
    assert browser.find_elements("css selector", "main b, main img") == []


def test_sorted_by_a_click_on_a_heading(browser):
    show(browser, "pairs")
    button = browser.find_element("css selector", "#pairs-table button[data-column='2']")
    button.click()
    scores = [float(text) for text in cells(browser, 2)]
    assert scores == sorted(scores, reverse=True)
    button.click()
    assert [float(text) for text in cells(browser, 2)] == scores[::-1]
    heading = browser.find_element("css selector", "#pairs-table th[aria-sort]")
    assert heading.get_attribute("aria-sort") == "ascending"


def test_searched_and_filtered(browser):
    show(browser, "pairs")
    found = {(p.query.name, p.target.name): p for p in pairalign.align(RECORDS, mode="local")}
    assert len(cells(browser, 0)) == 6
    fill(browser, "search", "PLAIN")
    assert len(cells(browser, 0)) == 3
    fill(browser, "search", '"quotes"')  # of a description
    assert len(cells(browser, 0)) == 3
    fill(browser, "search", "")
    fill(browser, "least-identity", "80")
    shown = set(zip(cells(browser, 0), cells(browser, 1), strict=True))
    assert shown == {names for names, pair in found.items() if pair.identity >= 0.8}
    assert 0 < len(shown) < 6
    fill(browser, "least-score", "100")
    expected = {n for n, p in found.items() if p.identity >= 0.8 and p.score >= 100}
    assert set(zip(cells(browser, 0), cells(browser, 1), strict=True)) == expected
    browser.find_element("css selector", "#filters button").click()
    assert len(cells(browser, 0)) == 6
    fill(browser, "most-evalue", "1e-9")
    assert 0 < len(cells(browser, 0)) < 6
    assert all(float(text) <= 1e-9 for text in cells(browser, 4))
    fill(browser, "least-identity", "much")
    field = browser.find_element("id", "least-identity")
    assert field.get_attribute("aria-invalid") == "true"


def test_a_click_shows_the_alignment(browser):
    show(browser, "pairs")
    expected = pairalign.align(RECORDS, mode="local", device="cpu")
    names = cells(browser, 0)[0], cells(browser, 1)[0]
    browser.find_element("css selector", "#pairs-table tbody tr td.number").click()
    dialog = browser.find_element("id", "alignment")
    assert dialog.get_attribute("open") is not None
    assert browser.find_element("id", "alignment-title").text == " and ".join(names)
    pair = next(p for p in expected if (p.query.name, p.target.name) == names)
    kinds = [sum(map(len, texts(browser, f"#alignment-text .{kind}"))) for kind in ("match", "gap")]
    assert kinds == [2 * pair.matches, 2 * pair.gap_residues]
    rows = saved(browser, "save-alignment").splitlines()[1::2]
    assert tuple(rows) == pair.rows()
    browser.find_element("css selector", "#dots summary").click()
    until(lambda: "words that both have" in browser.find_element("id", "dots-note").text)
    browser.find_element("id", "close").click()
    assert dialog.get_attribute("open") is None


def test_hits_of_a_sequence_with_what_they_cover(browser):
    show(browser, "sequences")
    search = browser.find_element("id", "sequences-search")
    search.send_keys("plain")
    browser.find_element("css selector", "#sequences-table .link").click()
    assert browser.find_element("id", "hits-title").text == "plain"
    assert "23 residues" in browser.find_element("id", "hits-facts").text
    found = [p for p in pairalign.align(RECORDS, mode="local") if "plain" in str(p)]
    spans = {
        (p.target.name, f"{p.query_start + 1} to {p.query_end} of 23")
        if p.query.name == "plain"
        else (p.query.name, f"{p.target_start + 1} to {p.target_end} of 23")
        for p in found
    }
    bars = [one.get_attribute("aria-label") for one in browser.find_elements("class name", "bar")]
    assert set(zip(cells(browser, 0, "hits"), bars, strict=True)) == spans
    depth = browser.find_element("css selector", "#depth svg").get_attribute("aria-label")
    assert depth == "At most 3 hits cover one of the residues"
    browser.find_element("id", "hits-back").click()
    assert browser.find_element("id", "sequences-table").is_displayed()


def test_downloads(browser):
    show(browser, "pairs")
    lines = [line.split("\t") for line in saved(browser, "save-pairs").splitlines()]
    assert len(lines) == 7
    assert {"query", "target", "score", "bits", "evalue", "identity", "cigar"} <= set(lines[0])
    assert saved(browser, "save-sequences") == AS_FASTA
    show(browser, "sequences")
    assert saved(browser, "save-listed-sequences") == AS_FASTA
    assert saved(browser, "save-listed").count("\n") == 5
    show(browser, "map")
    newick = saved(browser, "save-tree")
    assert newick.endswith(";\n")
    assert newick.count("(") - newick.count("'(") >= 3
    assert "plain:" in newick
    browser.get_log("browser")  # Chromium may say that data: was not downloaded


def test_the_tree_is_read_by_others(browser, tmp_path):
    """Names that Newick means something by are quoted; the tree is that of the distances."""
    phylo = pytest.importorskip("Bio.Phylo")
    show(browser, "map")
    (tmp_path / "tree.nwk").write_text(browser.execute_script("return report.newick()"))
    tree = phylo.read(tmp_path / "tree.nwk", "newick")
    assert sorted(leaf.name for leaf in tree.get_terminals()) == sorted(RECORDS)
    found = pairalign.align(RECORDS, mode="local", device="cpu")
    order = {name: k for k, name in enumerate(RECORDS)}
    square = [[0.0] * 4 for _ in order]
    for pair in found:
        i, j = order[pair.query.name], order[pair.target.name]
        square[i][j] = square[j][i] = 1 - pair.identity
    matrix = pairalign.DistanceMatrix.from_square(list(order), square)
    expected = GuideTree.of(build_tree(matrix, "upgma", found.queries)).to_biopython()
    for one in RECORDS:
        for other in RECORDS:
            assert tree.distance(one, other) == pytest.approx(expected.distance(one, other), 1e-4)


def test_the_map_under_the_pointer(browser):
    actions = pytest.importorskip("selenium.webdriver").ActionChains(browser)
    show(browser, "map")
    canvas = browser.find_element("id", "map-canvas")
    size = canvas.size
    actions.move_to_element_with_offset(canvas, 0, 0).perform()
    said = browser.find_element("id", "map-hover").text
    assert "×" in said
    assert "identity" in said
    before = browser.execute_script("return document.getElementById('map-canvas').toDataURL()")
    wheel = pytest.importorskip("selenium.webdriver.common.actions.wheel_input").ScrollOrigin
    actions.scroll_from_origin(wheel.from_element(canvas), 0, -400).perform()
    script = "return document.getElementById('map-canvas').toDataURL()"
    until(lambda: browser.execute_script(script) != before)
    browser.find_element("id", "map-reset").click()
    until(lambda: browser.execute_script(script) == before)
    actions.move_to_element_with_offset(canvas, 0, -size["height"] // 3).perform()
    assert canvas.size == size


def test_the_network_is_of_the_pairs_shown(browser):
    show(browser, "network")
    said = browser.find_element("id", "network-note").text
    assert "6 of the 6 pairs shown" in said
    assert "4 sequences" in said
    fill(browser, "search", "plain")
    assert "3 of the 3 pairs shown" in browser.find_element("id", "network-note").text


def test_logarithmic_histograms(browser):
    script = (
        "return [...document.querySelectorAll('#histograms figure')].map((figure) =>"
        "[...figure.querySelectorAll('rect')].map((bar) => +bar.getAttribute('height')))"
    )
    every = browser.execute_script("return report.data.histograms.map((one) => one.counts)")
    counts = [[count for count in one if count] for one in every]
    plain = browser.execute_script(script)
    browser.find_element("id", "log").click()
    logs = browser.execute_script(script)
    assert plain != logs
    for numbers, heights in zip(counts, logs, strict=True):
        room = math.log(2 * max(2, *numbers))
        shares = [height / 140 for height in heights]
        assert shares == pytest.approx([math.log(2 * one) / room for one in numbers])


def test_by_keyboard_alone(browser):
    """From the top of the page with keys alone: tabs, search, sort, a pair, and back to it."""
    keys = pytest.importorskip("selenium.webdriver").Keys
    actions = pytest.importorskip("selenium.webdriver").ActionChains(browser)

    def press(*pressed: str) -> None:
        actions.send_keys(*pressed).perform()
        actions.reset_actions()

    def focused(script: str) -> str:
        return str(browser.execute_script(f"return document.activeElement.{script}"))

    press(keys.TAB)
    assert focused("id") == "tab-overview"
    press(keys.ARROW_RIGHT)
    assert focused("id") == "tab-pairs"
    press(keys.TAB)
    assert focused("id") == "search"
    press("PLAIN")
    assert len(cells(browser, 0)) == 3
    while focused("dataset.column") != "2":
        press(keys.TAB)
    press(keys.ENTER)
    scores = [float(text) for text in cells(browser, 2)]
    assert scores == sorted(scores, reverse=True)
    while focused("tagName") != "TR":
        press(keys.TAB)
    press(keys.ARROW_DOWN, keys.ENTER)
    dialog = browser.find_element("id", "alignment")
    assert dialog.get_attribute("open") is not None
    second = cells(browser, 0)[1], cells(browser, 1)[1]
    assert browser.find_element("id", "alignment-title").text == " and ".join(second)
    press(keys.ESCAPE)
    assert dialog.get_attribute("open") is None
    assert focused("cells[1].firstChild.textContent") == second[1]
    press(keys.END)
    assert focused("cells[0].firstChild.textContent") == cells(browser, 0)[-1]
    press(keys.TAB)  # one row alone is a stop of the Tab key
    assert focused("tagName") != "TR"


@pytest.mark.parametrize("width", [360, 800, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_widths_and_colours(browser, width, dark):
    """Nothing is wider than the screen but what scrolls by itself; dark screens stay dark."""
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    colours = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": colours})
    try:
        for tab in ("overview", "pairs", "sequences", "map", "network"):
            show(browser, tab)
            script = "return document.documentElement.scrollWidth"
            assert browser.execute_script(script) <= width, tab
        script = "return getComputedStyle(document.body).backgroundColor"
        shades = browser.execute_script(script).strip("rgb()").split(",")
        assert (sum(map(int, shades)) < 380) == dark
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_overlaps_on_strand_minus(opened, tmp_path):
    """The query is shown as it is aligned, with its coordinates on the strand that was read."""
    draw = random.Random(2)
    genome = "".join(draw.choices("ACGT", k=900))
    turned = genome[200:][::-1].translate(str.maketrans("ACGT", "TGCA"))
    reads = {"one": genome[:300] + "G" + genome[300:600], "two": turned[:350] + turned[353:]}
    page = make_page(tmp_path, reads, "overlap", "-o", "o.paf", "--preset", "short")
    (pair,) = pairalign.overlap(reads, preset="short", device="cpu").alignments
    assert pair.strand == -1
    opened.get(f"{page.as_uri()}#/pairs")
    opened.find_element("css selector", "#pairs-table tbody tr td.number").click()
    rows = pair.rows()  # with free end gaps, which the page leaves out
    start = max(len(row) - len(row.lstrip("-")) for row in rows)
    stop = min(len(row.rstrip("-")) for row in rows)
    shown = saved(opened, "save-alignment").splitlines()[1::2]
    assert shown == [row[start:stop] for row in rows]
    text = opened.find_element("id", "alignment-text").text.split("\n")
    query = [line.split() for line in text if line.startswith("query")]
    assert int(query[0][1].replace(",", "")) == pair.query_end
    assert int(query[-1][3].replace(",", "")) == pair.query_start + 1
    target = [line.split() for line in text if line.startswith("target")]
    assert (int(target[0][1]), int(target[-1][3])) == (pair.target_start + 1, pair.target_end)
    opened.find_element("id", "close").click()
    show(opened, "sequences")
    opened.find_element("id", "sequences-search").send_keys("contained")
    assert cells(opened, 0, "sequences") == []
    assert opened.get_log("browser") == []


def test_long_alignments_come_in_parts(opened, tmp_path):
    draw = random.Random(3)
    long = "".join(draw.choices("ACGT", k=13_000))
    page = make_page(tmp_path, {"a": long, "b": long[:-1] + "A"}, "align", "-o", "o.tsv")
    opened.get(f"{page.as_uri()}#/pairs")
    opened.find_element("css selector", "#pairs-table tbody tr td.number").click()
    letters = "return document.querySelectorAll('#alignment-text span').length"
    before = opened.execute_script(letters)
    opened.find_element("id", "alignment-more").click()
    assert opened.execute_script(letters) > before
    kinds = ("match", "mismatch", "gap")
    assert sum(len("".join(texts(opened, f"#alignment-text .{one}"))) for one in kinds) == 26_000
    assert not opened.find_element("id", "alignment-more").is_displayed()


@pytest.mark.parametrize("least", ["1", "100000"])
@pytest.mark.parametrize("count", [2, 3])
def test_few_sequences_and_no_pairs(opened, tmp_path, count, least):
    records = {f"s{k}": "MKVLAAGGWTREHHKL"[k:] for k in range(count)}
    given = ("align", "-o", "o.paf", "--min-score", least, "--mode", "local")
    page = make_page(tmp_path, records, *given)
    opened.get("about:blank")
    opened.get(page.as_uri())
    for tab in ("pairs", "sequences", "network", "map", "overview"):
        show(opened, tab)
    show(opened, "sequences")
    opened.find_element("css selector", "#sequences-table .link").click()
    assert opened.find_element("id", "hits-title").text == "s0"
    assert opened.get_log("browser") == []


def test_two_sets_in_a_browser(opened, tmp_path):
    (tmp_path / "other.fa").write_text(fasta({"s0": "MKVLAAGGWTREHH", "t": "MKVLAGGWTRE"}))
    records = {"s0": "MKVLAAGGWTREHHKL", "s1": "MKVLWTREHHKL", "s2": "MKVLAAGGWTAAHHKL"}
    page = make_page(tmp_path, records, "align", "other.fa", "-o", "o.tsv")
    opened.get(f"{page.as_uri()}#/pairs")
    assert len(cells(opened, 0)) == 6
    show(opened, "sequences")
    shown = zip(cells(opened, 0, "sequences"), cells(opened, 2, "sequences"), strict=True)
    queries, targets = ("s0", "s1", "s2"), ("s0", "t")
    assert sorted(shown) == sorted(
        [*((name, "queries") for name in queries), *((name, "targets") for name in targets)]
    )
    show(opened, "network")
    assert "5 sequences" in opened.find_element("id", "network-note").text
    assert opened.get_log("browser") == []


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    draw = random.Random(1)
    roots = ["".join(draw.choices("ACDEFGHIKLMNPQRSTVWY", k=40)) for _ in range(50)]
    records = {}
    for number in range(MANY):
        root, at = list(draw.choice(roots)), draw.sample(range(40), 8)
        for place in at:
            root[place] = draw.choice("ACDEFGHIKLMNPQRSTVWY")
        records[f"s{number}"] = "".join(root)
    (folder / "in.fa").write_text(fasta(records))
    done = run(
        "align", "in.fa", "-o", "o.tsv", "--columns", "query,target,score", "--min-score", "60",
        "--report", "r.html", "--device", "cpu", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "r.html"


@pytest.mark.parametrize("tab", ["overview", "pairs", "sequences", "map"])
def test_thousands_of_sequences_open_in_time(opened, large, tab):
    """The goal of the page is a time; all of its scripts have run when it has been loaded."""
    opened.get("about:blank")
    opened.get(f"{large.as_uri()}#/{tab}")
    assert opened.get_log("browser") == []
    script = "return performance.getEntriesByType('navigation')[0].loadEventEnd"
    milliseconds = opened.execute_script(script)
    assert 0 < milliseconds < 1000 * SECONDS
    assert opened.execute_script("return report.nodes.length") == MANY
    assert opened.execute_script("return report.pairs.length") >= MANY
