"""The entry of the command line; what it does is in `pairalign.cli.program`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from pairalign.base.error_types import out_of_memory
from pairalign.base.spelling import options_are_spelled
from pairalign.cli.signals import stop_signals


def program() -> int:
    """Run the command line as all that this process is for."""
    return main(is_last=True)


def main(arguments: Sequence[str] | None = None, *, is_last: bool = False) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: ``sys.argv[1:]``.
    is_last : bool
        Nothing but the end of the process follows: signals that come then change nothing.

    Returns
    -------
    int
        The exit code: 0 done, 1 failed, 2 wrong usage; 130 and 143 after Ctrl-C and SIGTERM.
    """
    with stop_signals(is_last=is_last) as stop:
        # Starting a thread a core takes time, and nothing here multiplies large matrices.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # others keep what is freed
        try:
            # Not before signals are handled.
            from pairalign.cli.program import keep_what_is_loaded, run
        except MemoryError:
            with options_are_spelled():
                print(f"pairalign: error: {out_of_memory()}", file=sys.stderr)
            return 1

        if is_last:
            keep_what_is_loaded()
        return run(arguments, stop)
