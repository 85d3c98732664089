"""Threads, forked and spawned processes and interrupts while `pairalign.align` works."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import pairalign

LETTERS = list("ACDEFGHIKLMNPQRSTVWY")
SECONDS_A_CHILD = 60


def proteins(count: int) -> dict[str, str]:
    rng = np.random.default_rng(4)
    lengths = rng.integers(50, 250, size=count)
    return {f"s{k}": "".join(rng.choice(LETTERS, size=n)) for k, n in enumerate(lengths)}


def digest(count: int) -> list[int]:
    return [one.score for one in pairalign.align(proteins(count), mode="local", threads=2)]


@contextmanager
def others_align() -> Iterator[None]:
    """Threads that align all the time, in engines of their own."""
    ended = threading.Event()
    sequences = proteins(40)

    def work() -> None:
        while not ended.is_set():
            pairalign.align(sequences, threads=2)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def ended(child: int) -> int:
    """The exit code of a child; -1 if it hangs."""
    for _ in range(100 * SECONDS_A_CHILD):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_aligns_while_threads_of_its_parent_do():
    expected = digest(8)
    codes = []
    with others_align():
        for _ in range(30):
            child = os.fork()
            if not child:
                os._exit(0 if digest(8) == expected else 1)
            codes.append(ended(child))
    assert codes == [0] * 30


def test_a_lock_is_not_inherited_held():
    """Whatever the moment: the parent's thread holds it when the process forks."""
    from pairalign.engines.cuda import cuda_devices

    holds, ended_ = threading.Event(), threading.Event()

    def hold() -> None:
        with cuda_devices._lock:
            holds.set()
            ended_.wait(0.2)

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    child = os.fork()
    if not child:
        os._exit(0 if cuda_devices._lock.acquire(timeout=5) else 1)
    code = ended(child)
    ended_.set()
    thread.join()
    assert code == 0


def test_spawned_processes_align_beside_each_other():
    expected = digest(10)
    with others_align(), multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(digest, [10] * 4) == [expected] * 4


INTERRUPTED = """
    import os, signal, sys, threading, time
    sys.path[:0] = {path!r}
    import pairalign
    from test_processes import digest, proteins
    expected = digest(8)
    sequences = proteins(300)
    times = 0
    for delay in [0.01, 0.05, 0.1, 0.2, 0.3, 0.02, 0.15]:
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            pairalign.align(sequences, mode="local")
            for _ in range(500):  # it was done before; another thread may take the signal
                time.sleep(0.01)
        except KeyboardInterrupt:
            times += 1
        timer.join()
        assert digest(8) == expected
    print("interrupted", times, "times,", threading.active_count(), "thread")
"""


@pytest.mark.usefixtures("signals")
def test_an_interrupt_leaves_nothing_behind():
    script = textwrap.dedent(INTERRUPTED).format(path=[os.path.dirname(__file__)])
    found = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=10 * SECONDS_A_CHILD,
        check=False,
    )
    assert found.stdout == "interrupted 7 times, 1 thread\n", found.stderr
