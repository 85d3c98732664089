"""`pairalign align` in this process, and what it writes as rows of a table."""

import os
from pathlib import Path

from commands import rows_of

from pairalign.cli.main import main


def align(*arguments: str | os.PathLike[str], code: int = 0) -> None:
    """Run ``pairalign align`` in this process."""
    assert main(["align", *map(os.fspath, arguments)]) == code


def table(*arguments: str | os.PathLike[str]) -> list[dict[str, str]]:
    """What ``pairalign align`` writes as TSV."""
    align(*arguments, "-o", "table.tsv", "--quiet")
    return rows_of(Path("table.tsv").read_text())
