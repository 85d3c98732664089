"""Which tests run: GPUs' are left out where there is none, slow ones, cases of long tables.

Files that take minutes go first, so that no core waits for another at the end.

A test that needs a GPU is deselected where there is none, so that a run without one does not end
in a thousand skips. Only such tests chosen (``-m gpu``) and no GPU is an error, never a success.
"""

import functools
import hashlib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from pairalign.errors import DeviceError

LEFT_OUT = pytest.StashKey[Counter]()
"""How many tests were left out by marker; on xdist's controller what a worker has counted."""


LONG_FILES = (
    "test_packaging.py",
    "test_cuda_build.py",
    "test_tutorials.py",
    "test_engines.py",
    "test_jobs_deleted.py",
    "test_end_gaps.py",
    "test_resume.py",
    "test_resume_killed.py",
    "test_workflows.py",
    "test_spread.py",
    "test_statistics.py",
    "test_cli_phases.py",
    "test_tree_programs.py",
    "test_slurm.py",
)
"""They take long, or would be the last; the others begin in the order of their names."""

LEAST_CASES = 2
"""Of a test that has more, `make test` runs a quarter, at least so many."""


@functools.cache
def why_no_gpu() -> str | None:
    """Why tests cannot have a GPU; nothing where they can."""
    from pairalign.engines.cuda.cuda_devices import find_devices

    try:
        find_devices()
    except DeviceError as error:
        return str(error)
    return None


def count_missing(reasons: Iterable[Any]) -> Counter[str]:
    """Count skipped tests by the package or program that they say is missing."""
    found: Counter[str] = Counter()
    for reason in reasons:
        text = str(reason[-1] if isinstance(reason, tuple) else reason)
        named = re.search(r"could not import '(\w+)|Skipped: (.+?) (?:is|are) not installed", text)
        if named:
            found[named[1] or named[2]] += 1
        elif "OpenCL" in text:
            found["an OpenCL device (Debian: pocl-opencl-icd)"] += 1
    return found


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: tests also wait, for processes, signals and locks."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEFT_OUT] = Counter()


def leave_out(kind: str, left: Sequence[pytest.Item], items: list[pytest.Item]) -> None:
    """Deselect tests, and count them as of a kind."""
    names = {item.nodeid for item in left}
    items[:] = [item for item in items if item.nodeid not in names]
    if left:
        left[0].config.stash[LEFT_OUT][kind] += len(left)
        left[0].config.hook.pytest_deselected(items=left)


def beyond_the_sample(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Cases of tests that have many, beyond a quarter of them, always the same ones."""
    cases = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            cases[item.nodeid.partition("[")[0]].append(item)
    left = []
    for all_cases in cases.values():
        most = max(LEAST_CASES, -(-len(all_cases) // 4))
        if len(all_cases) > most:
            left += all_but_varied(most, all_cases)
    return left


def all_but_varied(count: int, items: Sequence[pytest.Function]) -> list[pytest.Function]:
    """All cases but some that have as many values of each parameter as can be.

    Else they are drawn by their names: each Nth of a product of parameters could be of one mode.
    """
    left = sorted(items, key=lambda item: hashlib.sha256(item.nodeid.encode()).digest())
    values = {
        item: {(name, id(one)) for name, one in item.callspec.params.items()} for item in left
    }
    seen: set[tuple[str, int]] = set()
    for _ in range(count):
        best = max(left, key=lambda item: len(values[item] - seen))
        left.remove(best)
        seen |= values[best]
    return left


@pytest.hookimpl(trylast=True)  # after -m and -k have chosen
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONG_FILES)
    needing = [item for item in items if item.get_closest_marker("gpu")]
    if needing and why_no_gpu() is not None:
        if len(needing) == len(items):
            raise pytest.UsageError(f"these tests need a GPU: {why_no_gpu()}")
        leave_out("gpu", needing, items)
    if os.environ.get("HYPOTHESIS_PROFILE") == "few":
        leave_out("case", beyond_the_sample(items), items)


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for item in items:
        config = item.config
        if "not slow" in config.option.markexpr and item.get_closest_marker("slow"):
            config.stash[LEFT_OUT]["slow"] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash[LEFT_OUT])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Keep what a worker of xdist has counted; all workers collect the same."""
    node.config.stash[LEFT_OUT] = Counter(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    left_out = config.stash[LEFT_OUT]
    if left_out["gpu"]:
        terminalreporter.write_line(
            f"Left out: {left_out['gpu']:,} tests that need a GPU ({why_no_gpu()}); on a machine "
            "with one: make test-gpu"
        )
    skipped = terminalreporter.stats.get("skipped", ())
    missing = count_missing(report.longrepr for report in skipped)
    if missing:
        names = ", ".join(f"{name} ({count:,})" for name, count in sorted(missing.items()))
        terminalreporter.write_line(
            f"Skipped: {sum(missing.values()):,} tests of what is not installed: {names}; "
            "packages: pip install NAME, programs: scripts/install_*.sh"
        )
    if left_out["slow"] or left_out["case"]:
        terminalreporter.write_line(
            f"Left out: {left_out['slow']:,} slow tests and {left_out['case']:,} cases of others; "
            "to run everything: make test-all"
        )
