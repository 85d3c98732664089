"""The command ``pairalign estimate``."""

from __future__ import annotations

from dataclasses import replace

from pairalign.cli.align_command import say_plan
from pairalign.cli.summary_lines import Lines, say_summary
from pairalign.jobs.estimate.estimate import START_SECONDS, Estimate, estimate_run
from pairalign.jobs.estimate.rates import parse_devices
from pairalign.jobs.run.inputs import ProblemRequest, check_scoring
from pairalign.jobs.run.run_request import plan_of_files
from pairalign.jobs.run.table import table_of
from pairalign.requests.estimate_request import EstimateOptions

_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def run_estimate(asked: EstimateOptions) -> None:
    """Carry out ``pairalign estimate``."""
    parse_devices(asked.devices)  # says what cannot be
    output = asked.output or "-"
    format = asked.STDOUT_FORMAT if output == "-" and asked.format is None else asked.format
    asked = replace(asked, output=output, format=format, resume=False)
    table = table_of(asked)
    check_scoring(asked)
    run = table.run_request(asked, replace(asked.resources, progress=False))
    qualities = table.writer_type.shows_qualities
    problem = ProblemRequest(
        asked.input,
        asked.input2,
        reading=replace(asked.reading, qualities=qualities),
        scoring=asked.scoring,
    )
    plan = plan_of_files(problem, asked, run)
    say_plan(plan, quiet=asked.messages.quiet)
    found = estimate_run(plan, asked, table)
    lines = _lines_of(found, asked)
    if asked.messages.quiet:
        print(lines.text())
    else:
        say_summary(asked, lines)


def _lines_of(found: Estimate, asked: EstimateOptions) -> Lines:
    lines = Lines()
    lines.add("pairs", f"{found.pairs:,}", pairs=found.pairs)
    lines.add("cells", f"{found.cells:.3g}", cells=found.cells)
    hours = found.seconds / 3600
    shown = f"{hours:.2f} h" if hours >= 1 else f"{found.seconds / 60:.1f} min"
    lines.add(
        "time",
        f"{shown} on {found.devices}: {found.gcups:,.0f} GCUPS (measured) and "
        f"{START_SECONDS:.0f} s to start",
        seconds=round(found.seconds, 1),
        gcups=round(found.gcups, 1),
        devices=found.devices.count,
        kind=found.devices.kind,
    )
    if (work := found.work) is not None:
        share = work.cells / max(found.cells, 1)
        lines.add(
            "filters",
            f"leave {share:.3%} of the cells, foretold by a sample of {work.sampled:,} pairs",
            cells_left=round(work.cells),
            pairs_left=round(work.pairs),
            filtered=work.sampled,
        )
    lines.add(
        "output",
        _output(found),
        bytes=found.bytes,
        share=found.share,
        sampled=found.sampled,
    )
    if (cost := found.cost) is not None:
        text = f"{cost:,.2f}: {found.device_hours:.2f} device hours at {asked.price}"
        lines.add("cost", text, cost=round(cost, 2), device_hours=round(found.device_hours, 3))
    return lines


def _output(found: Estimate) -> str:
    """Say how much is written; where no sampled pair passed, the bound of 95% (rule of three)."""
    if found.share:
        share = f"{found.share:.3%} of the pairs"
        return f"{_size(found.bytes)}: {share}, as {found.sampled:,} of them say"
    most = min(1.0, 3 / found.sampled)
    return f"not known: none of {found.sampled:,} pairs passed, so at most {most:.2%} do"


def _size(size: int) -> str:
    return next((f"{size / unit:.1f} {name}" for unit, name in _UNITS if size >= unit), f"{size} B")
