"""Pages of the documentation site that are made when it is built: a hook of MkDocs.

``reference.md`` has every command and option of the program, from its own parser, so that the
site's search finds them; ``changelog.md`` is the changelog of the source tree; ``notebooks/`` has
the notebooks of ``examples`` with what they show, and ``report-example.html`` is a report.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pairalign.cli.program import build_parser

ROOT = Path(__file__).resolve().parent.parent
COMMAND_INTRODUCTION = """# Commands and options

Every command and option, as `pairalign COMMAND --help all` prints them.
[Six jobs](index.md#six-jobs) and the pages of jobs have examples.
"""


def one_cell(text: str) -> str:
    """Return text as one cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def option_rows(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the tables of a command's options, group by group."""
    for group in parser._action_groups:
        actions = [
            one
            for one in group._group_actions
            if one.help is not argparse.SUPPRESS and not isinstance(one, argparse._SubParsersAction)
        ]
        if not actions:
            continue
        yield f"\n**{(group.title or '').capitalize()}**\n"
        yield "| option | meaning |\n|---|---|"
        for action in actions:
            names = ", ".join(f"`{name}`" for name in action.option_strings or [action.dest])
            values = [] if action.nargs == 0 else list(action.choices or [])
            if action.metavar is not None:
                values = [action.metavar] if isinstance(action.metavar, str) else action.metavar
            taken = "".join(f" `{value}`" for value in values)
            meaning = one_cell((action.help or "") % {**vars(action), "prog": parser.prog})
            yield f"| {one_cell(names + taken)} | {meaning} |"


def reference() -> str:
    """Return the page of all commands and options."""
    parser = build_parser()
    (commands,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    lines = [COMMAND_INTRODUCTION, "## pairalign\n", *option_rows(parser)]
    for name, command in commands.choices.items():
        lines += [f"\n## pairalign {name}\n", (command.description or "").replace("<", "&lt;")]
        lines += option_rows(command)
        if command.epilog:
            lines += ["", "```text", command.epilog.strip("\n"), "```"]
    return "\n".join(lines) + "\n"


def changelog() -> str:
    """Return the changelog, its links as they are from the folder of the pages."""
    text = (ROOT / "CHANGELOG.md").read_text()
    return re.sub(r"\]\(docs/", "](", text)


def notebook(path: Path) -> str:
    """Return a notebook as a page: text, code, and what the code shows."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        parts += [shown(output) for output in cell.get("outputs", ())]
    return "\n\n".join(parts) + "\n"


def shown(output: dict[str, Any]) -> str:
    """Return an output of a cell: a picture, a table, or text."""
    data = output.get("data", {})
    if "image/png" in data:
        return f'<img alt="picture" src="data:image/png;base64,{data["image/png"].strip()}">'
    if "text/html" in data:
        return re.sub(
            r"<style.*?</style>\n?|\n\s*", "", "".join(data["text/html"]), flags=re.DOTALL
        )
    text = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{text.rstrip()}\n```"


def report() -> str:
    """Return the report page of the example set."""
    words = ["align", "cytochrome_p450.fasta", "-o", "p450.paf", "--report", "p450.html", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "examples" / "cytochrome_p450.fasta", folder)
        subprocess.run([sys.executable, "-m", "pairalign", *words], cwd=folder, check=True)
        return Path(folder, "p450.html").read_text()


NOTEBOOKS = {f"notebooks/{path.stem}.md": path for path in (ROOT / "examples").glob("*.ipynb")}
PAGES: dict[str, Callable[[], str]] = {
    "reference.md": reference,
    "changelog.md": changelog,
    "report-example.html": report,
    **{name: partial(notebook, path) for name, path in NOTEBOOKS.items()},
}
"""Names of the pages, and what makes each."""


def on_files(files, config):  # type: ignore[no-untyped-def]
    """Add the pages that are made; MkDocs calls this."""
    from mkdocs.structure.files import File

    for name, make in PAGES.items():
        files.append(File.generated(config, name, content=make()))
    return files


def on_page_markdown(markdown, page, **_):  # type: ignore[no-untyped-def]
    """Add the words of a page's front matter that people search by; MkDocs calls this."""
    also = page.meta.get("also")
    return f"{markdown}\n\n<small>Also: {also}.</small>\n" if also else markdown
