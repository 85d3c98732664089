"""What ``--dry-run`` says."""

from __future__ import annotations

from pairalign.jobs.commands.summary_lines import Lines
from pairalign.jobs.run.dry_run import Forecast

_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_TIMES = ((3600, "h"), (60, "min"))


def lines_of(forecast: Forecast) -> Lines:
    """Return what a run takes, a line each."""
    lines = Lines()
    lines.add("pairs", f"{forecast.pairs:,}", pairs=forecast.pairs)
    lines.add("cells", f"{forecast.cells:.3g}", cells=forecast.cells)
    if forecast.pairs_left is not None:
        share = forecast.pairs_left / max(1, forecast.pairs)
        text = f"leave {share:.3%} of the pairs"
        lines.add("filters", text, pairs_left=round(forecast.pairs_left))
    named = ", ".join(forecast.devices) or "cpu"
    # A sample does not fill a GPU.
    most = "" if named == "cpu" else "at most "
    text = f"{most}{_duration(forecast.seconds)} on {named}, as {forecast.sampled:,} pairs say"
    lines.add(
        "time", text, seconds=float(f"{forecast.seconds:.3g}"), devices=list(forecast.devices)
    )
    lines.add(
        "output",
        _output(forecast),
        bytes=forecast.bytes,
        share=forecast.share,
        sampled=forecast.sampled,
    )
    return lines


def _output(forecast: Forecast) -> str:
    """Say how much is written; where no sampled pair passed, the bound of 95% (rule of three)."""
    if forecast.share:
        return f"{_size(forecast.bytes)}: {forecast.share:.3%} of the pairs"
    most = min(1.0, 3 / forecast.sampled)
    return f"not known: none of {forecast.sampled:,} pairs passed, so at most {most:.2%} do"


def _size(size: int) -> str:
    return next((f"{size / unit:.1f} {name}" for unit, name in _UNITS if size >= unit), f"{size} B")


def _duration(seconds: float) -> str:
    amounts = ((seconds / unit, name) for unit, name in _TIMES if seconds >= unit)
    return next((f"{number:.1f} {name}" for number, name in amounts), f"{seconds:.1f} s")
