"""A report: one HTML file without anything outside of it, made of a Jinja2 template."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from pairalign.base.error_types import FormatError
from pairalign.formats.output import Path, open_output

_TEMPLATES = FilePath(__file__).parent / "templates"
_SCRIPTS = (
    *("d3.min", "data", "table", "filters", "histograms", "alignment", "hits", "heat_map"),
    *("network", "main"),
)
"""The page's scripts in the order in which they run; D3 has a licence of its own beside it."""


@dataclass(frozen=True)
class Table:
    """A small table of a report.

    Attributes
    ----------
    rows : sequence of sequences
        Texts and numbers.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True)
class Report:
    """What a report shows.

    Attributes
    ----------
    facts : sequence of (str, str)
        What was run: a line each.
    data : mapping
        What the page's scripts read, see `pairalign.jobs.report.page.page_data`.
    """

    title: str
    facts: Sequence[tuple[str, str]]
    data: Mapping[str, object]
    tables: Sequence[Table] = ()


def check_jinja() -> None:
    """Raise FormatError if Jinja2 is missing."""
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise FormatError(
            "a report needs Jinja2, which is not installed: pip install jinja2"
        ) from error


def write_report(path: Path, report: Report) -> None:
    """Write a report.

    Parameters
    ----------
    path : str or path
        The file appears when it is complete.

    Raises
    ------
    FormatError
        Jinja2 is not installed.
    OutputError
        The file cannot be written.
    """
    check_jinja()
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    scripts = [_read(f"{name}.js") for name in _SCRIPTS]
    template = environment.from_string(_read("report.html"))
    text = template.render(
        report=report,
        scripts=scripts,
        digests=[_digest(script) for script in scripts],  # nothing else runs on the page
        style=_read("report.css"),
    )
    with open_output(path) as output:
        output.write(text.encode("utf-8", "replace"))


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _digest(script: str) -> str:
    """Return what a content security policy calls a script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
