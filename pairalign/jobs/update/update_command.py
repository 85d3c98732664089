"""The command ``pairalign update``."""

from __future__ import annotations

import time

from pairalign.base.texts import counted
from pairalign.jobs.commands.summary import Lines, say_plan, say_summary
from pairalign.jobs.update.update import plan_update
from pairalign.jobs.update.update_request import UpdateOptions


def run_update(request: UpdateOptions) -> None:
    """Carry out ``pairalign update``."""
    started = time.perf_counter()
    update = plan_update(request)
    say_plan(update.plan, quiet=request.messages.quiet)
    result = update.write()
    lines = Lines()
    lines.add(
        "aligned",
        f"{result.aligned:,} of {counted(result.pairs, 'pair')}",
        aligned=result.aligned,
        pairs=result.pairs,
    )
    lines.add_time(time.perf_counter() - started)
    lines.add_outputs([result.output])
    say_summary(request, lines)
