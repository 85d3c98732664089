"""Kills a command at each of its steps on files, one after the other, and lets it run again.

    python kill_at_steps.py CHECK COMMAND ...

A step is what Python tells an audit hook of: a file opened, mapped, renamed, linked or removed, a
folder made; files outside of the current folder, as modules are, are not counted when opened. Each
time a fork of this process is killed just before the next of them, until one ends by itself. After
each kill, and after the run that follows it, the function that CHECK names (``module:function``) is
called with whether the command has ended.
"""

import importlib
import os
import signal
import sys

from forked import import_command

STEPS = {
    *("open", "mmap.__new__", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir"),
    "os.truncate",
}


def run(command: list[str], last: int | None) -> bool:
    """Run a command in a fork and kill it after `last` steps; False: it was killed."""
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, -signal.SIGKILL), code
        return code == 0
    from pairalign.cli.main import main

    steps, here = 0, os.path.realpath(os.curdir) + os.sep

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal steps
        opened = arguments[0] if event == "open" else None
        if isinstance(opened, str) and not os.path.join(here, opened).startswith(here):
            return
        if event in STEPS:
            if steps == last:
                os.kill(os.getpid(), signal.SIGKILL)
            steps += 1

    sys.addaudithook(count)
    os._exit(main(command))


def kill_at_each(check: str, command: list[str]) -> int:
    """Return how many steps there were."""
    module, _, name = check.partition(":")
    checked = getattr(importlib.import_module(module), name)
    number = 0
    while not run(command, number):
        checked(False)
        assert run(command, None)
        checked(True)
        number += 1
    checked(True)
    return number


if __name__ == "__main__":
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # no threads: they would not outlive a fork
    import_command()
    if os.environ.get("FORMAT") == "parquet":
        for name in ("pyarrow.parquet", "pandas"):  # PyArrow looks for it: seconds in each fork
            importlib.import_module(name)
    print(kill_at_each(sys.argv[1], sys.argv[2:]))
