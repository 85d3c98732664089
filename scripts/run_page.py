"""Run the commands and Python of a page of the documentation, in order, in the current folder.

Blocks marked ``console`` have commands after ``$``, and the output of those that print any; what is
shown must be what is printed, spaces apart. Blocks marked ``python`` are run as programs::

    python scripts/run_page.py docs/getting-started.md
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps(text: str) -> Iterator[tuple[list[str], str | None]]:
    """Yield the programs of a page, each with the output that is shown (None: any)."""
    for kind, block in BLOCK.findall(text):
        if kind == "python":
            yield [sys.executable, "-c", block], None
            continue
        for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            here = re.match(r".*<<'(\w+)'\n.*?^\1\n", entry, re.MULTILINE | re.DOTALL)
            command = here[0] if here else re.split(r"(?<!\\)\n", entry, maxsplit=1)[0]
            yield ["bash", "-euo", "pipefail", "-c", command], entry[len(command) :].strip("\n")


def main(page: str) -> int:
    """Run a page; say what failed, or how much was run."""
    ran = 0
    for command, shown in steps(Path(page).read_text()):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{page}: {command[-1]}\nended with {done.returncode}:\n{done.stderr}")
            return 1
        if shown is not None and done.stdout.split() != shown.split():
            print(f"{page}: {command[-1]}\nprinted:\n{done.stdout}\nbut the page has:\n{shown}")
            return 1
        ran += 1
    print(f"{page}: {ran} commands and programs run")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
