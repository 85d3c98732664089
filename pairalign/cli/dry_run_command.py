"""``--dry-run`` of any command: what its work takes is said, and nothing is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pairalign.base.choices import COMPRESSED_SUFFIXES
from pairalign.base.declaration import values_of
from pairalign.base.dry_run import WorkBegins, dry_run
from pairalign.jobs.commands.summary import Lines, say_summary
from pairalign.jobs.run.forecast import Forecast, foretell
from pairalign.requests.resources import CoreOptions, ResourcesOptions
from pairalign.requests.shared import CommandOptions

_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_TIMES = ((3600, "h"), (60, "min"))


def foretell_run(run: Callable[[Any], None], request: CommandOptions) -> None:
    """Go on with a command until its work begins, and say what that takes."""
    assert isinstance(request, (CoreOptions, ResourcesOptions))
    request = replace(request, resources=replace(request.resources, progress=False))
    work = None
    try:
        with dry_run():
            run(request)
    except WorkBegins as begun:
        work = begun.work
    output = str(values_of(request)["output"])
    suffix = next((end for end in COMPRESSED_SUFFIXES if output.endswith(end)), "")
    say_summary(request, lines_of(foretell(work, suffix)))


def lines_of(forecast: Forecast) -> Lines:
    """Return what a run takes, a line each."""
    lines = Lines()
    of = f", those of {forecast.what}" if forecast.what else ""
    lines.add("pairs", f"{forecast.pairs:,}{of}", pairs=forecast.pairs)
    lines.add("cells", f"{forecast.cells:.3g}", cells=forecast.cells)
    if forecast.pairs_left is not None:
        share = forecast.pairs_left / max(1, forecast.pairs)
        text = f"leave {share:.3%} of the pairs"
        lines.add("filters", text, pairs_left=round(forecast.pairs_left))
    named = ", ".join(forecast.devices)
    # A sample does not fill a GPU.
    most = "at most " if forecast.at_most or named not in ("", "cpu") else ""
    on = f" on {named}" if named else ""  # not all steps say where they are done
    text = f"{most}{_duration(forecast.seconds)}{on}, as {forecast.sampled:,} pairs say"
    lines.add(
        "time", text, seconds=float(f"{forecast.seconds:.3g}"), devices=list(forecast.devices)
    )
    facts = {"share": forecast.share} if forecast.share is not None else {}
    if forecast.bytes is not None:
        text, facts = _output(forecast), {**facts, "bytes": forecast.bytes}
        lines.add("output", text, **facts, sampled=forecast.sampled)
    return lines


def _output(forecast: Forecast) -> str:
    """Say how much is written; where no sampled pair passed, the bound of 95% (rule of three)."""
    assert forecast.bytes is not None
    if forecast.share is None:
        return _size(forecast.bytes)
    if forecast.share:
        return f"{_size(forecast.bytes)}: {forecast.share:.3%} of the pairs"
    most = min(1.0, 3 / max(1, forecast.sampled))
    return f"not known: none of {forecast.sampled:,} pairs passed, so at most {most:.2%} do"


def _size(size: int) -> str:
    return next((f"{size / unit:.1f} {name}" for unit, name in _UNITS if size >= unit), f"{size} B")


def _duration(seconds: float) -> str:
    amounts = ((seconds / unit, name) for unit, name in _TIMES if seconds >= unit)
    return next((f"{number:.1f} {name}" for number, name in amounts), f"{seconds:.1f} s")
