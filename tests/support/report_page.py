"""A report in a browser: its tabs and tables, what its fields and buttons do."""

import time
from collections.abc import Callable
from pathlib import Path

from commands import fasta, run

BACKSPACE = "\ue003"


def show(browser, tab: str) -> None:
    browser.find_element("id", f"tab-{tab}").click()
    assert browser.find_element("id", tab).is_displayed()


def cells(browser, column: int, table: str = "pairs") -> list[str]:
    script = (
        f"return [...document.querySelectorAll('#{table}-table tbody tr')]"
        f".map(row => row.cells[{column}]).map(cell => (cell.firstChild || cell).textContent)"
    )
    return browser.execute_script(script)


def texts(browser, selector: str) -> list[str]:
    script = f"return [...document.querySelectorAll('{selector}')].map(one => one.textContent)"
    return browser.execute_script(script)


def fill(browser, field: str, text: str) -> None:
    found = browser.find_element("id", field)
    for _ in found.get_attribute("value"):
        found.send_keys(BACKSPACE)
    found.send_keys(text)


def until(check: Callable[[], bool]) -> None:
    """Wait for what the page does a moment later."""
    for _ in range(200):
        if check():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


def saved(browser, button: str) -> str:
    """What a button would save."""
    browser.execute_script(
        "window.saved = null; const old = URL.createObjectURL;"
        "URL.createObjectURL = (blob) => { blob.text().then((t) => { window.saved = t; });"
        "URL.createObjectURL = old; return 'data:,'; };"
        f"document.getElementById('{button}').click()"
    )
    until(lambda: browser.execute_script("return window.saved") is not None)
    return browser.execute_script("return window.saved")


def make_page(folder: Path, records: dict[str, str], *arguments: str) -> Path:
    (folder / "in.fa").write_text(fasta(records))
    command = ("--report", "r.html", "--device", "cpu", "--quiet")
    done = run(arguments[0], "in.fa", *arguments[1:], *command, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "r.html"
