"""When the steps of a command begin and end, from its start to the end of its process.

For what a run costs before its first kernel and after its last. Steps are functions of the program,
wrapped as their modules are loaded, so that nothing is loaded earlier than else::

    python scripts/timeline.py --rounds 5 -- align proteins.fa -o proteins.tsv

A line a step: milliseconds from the start of the process to the first call and to the end of the
last, the time of all calls (of all threads), their number, and the thread of the first. With
several rounds the medians, of rounds after the first (which may compile). Kernels and copies are
queued, not waited for: with ``--kernels`` events say when the first and the last kernel ran, and
how busy the device was between.
"""

from __future__ import annotations

import argparse
import atexit
import importlib.abc
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

STEPS = (
    ("pairalign.cli.early_start", "_start_driver", "driver starts, in a thread"),
    ("pairalign.cli.program", "run", "program"),
    ("pairalign.cli.program", "build_parser", "parser"),
    ("pairalign.cli.align", "run_align", "align"),
    ("pairalign.cli.overlaps", "run_overlap", "overlap"),
    ("pairalign.sequences.reading", "_read_input", "FASTA is read and sorted"),
    ("pairalign.cli.align", "plan_alignment", "job is planned"),
    ("pairalign.engines.selection", "open_engines", "engines are opened"),
    ("pairalign.engines.cuda.devices", "_import_driver", "PyCUDA is loaded"),
    ("pairalign.engines.cuda.devices", "find_devices", "devices are found"),
    ("pairalign.engines.cuda.engine", "CudaEngine.memory_budget", "context, memory"),
    ("pairalign.engines.device.engine", "DeviceEngine.__init__", "an engine is opened"),
    ("pairalign.engines.device.engine", "DeviceEngine._upload_sets", "sets are uploaded"),
    ("pairalign.engines.cuda.router", "Router.open", "kernels are opened"),
    ("pairalign.engines.cuda.packed.family", "Packed.open", "packed: residues, scores"),
    ("pairalign.engines.cuda.packed.kernels", "PackedKernels.prepare", "modules are loaded"),
    ("pairalign.engines.cuda.pruned.family", "PrunedPairs.pays", "whether pruning pays"),
    ("pairalign.jobs.run.all_pairs", "AllPairs.split", "pairs are cut into slabs"),
    ("pairalign.jobs.run.schedule", "_Schedule.take", "results are waited for"),
    ("pairalign.engines.device.engine", "DeviceEngine.align", "slabs are aligned"),
    ("pairalign.engines.cuda.packed.plan", "PackedPlanner._batch", "batches are planned"),
    ("pairalign.engines.cuda.packed.tasks", "PackedTask.start", "batches are started"),
    ("pairalign.engines.cuda.packed.tasks", "AlignTask.finish", "alignments are fetched"),
    ("pairalign.engines.cuda.packed.tasks", "PassingTask.finish", "those that pass are fetched"),
    ("pairalign.engines.cuda.buffers", "Slot.arrange", "device memory of batches"),
    ("pairalign.engines.cuda.buffers", "Slot.pinned", "pinned memory of batches"),
    ("pairalign.engines.device.pinned_pool", "PinnedPool.take", "memory of results"),
    ("pairalign.engines.device.pinned_pool", "PinnedPool._pin", "memory of results is pinned"),
    ("pairalign.engines.device.pinned_pool", "PinnedPool._free_idle", "pinned memory is freed"),
    ("pairalign.engines.cuda.packed.kernels", "PackedKernels.launch", "kernels are queued"),
    ("pairalign.formats.writer", "Writer.write", "results are handed to the writer"),
    ("pairalign.formats.writer", "Writer.__exit__", "the writer is closed"),
    ("pairalign.cli.summary", "Summary.add", "summary"),
    ("pairalign.engines.device.engine", "DeviceEngine.close", "engines are closed"),
    ("pairalign.engines.cuda.buffers", "Slot.close", "slots are closed"),
    ("pairalign.engines.cuda.buffers", "Slot.free_arena", "device memory of batches is freed"),
    ("pairalign.engines.cuda.packed.family", "Packed.close", "packed: closed"),
    ("pairalign.engines.cuda.packed.results", "expect_results", "memory is expected"),
    ("pairalign.engines.device.pinned_pool", "PinnedPool._pin_ahead", "memory is pinned ahead"),
)
"""Module, function and title of each step."""

START = "PAIRALIGN_TIMELINE_START"
OUT = "PAIRALIGN_TIMELINE_OUT"

KERNELS = "PAIRALIGN_TIMELINE_KERNELS"

calls: list[tuple[str, float, float, str]] = []
queued: dict[str, list[tuple[Any, Any]]] = {}  # by PCI address: events before and after kernels
reference: dict[str, tuple[Any, float]] = {}  # by PCI address: an event, and when it was recorded


def main() -> None:
    """Measure a command, or be one that is measured."""
    if OUT in os.environ:
        sys.exit(_measured(sys.argv[1:]))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--kernels", action="store_true", help="time kernels by events")
    parser.add_argument("command", nargs="+", help="arguments of pairalign, after --")
    options = parser.parse_args()
    rounds = [_run(options.command, options.kernels) for _ in range(options.rounds)]
    if len(rounds) > 1:
        _show("first", rounds[:1])
    _show("median of the others" if len(rounds) > 1 else "once", rounds[1:] or rounds)


def _run(command: Sequence[str], kernels: bool) -> dict[str, list[Any]]:
    """Run a command once; return what it wrote of its steps, by title."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        environment = dict(os.environ, **{OUT: out.name, START: str(time.perf_counter())})
        if kernels:
            environment[KERNELS] = "1"
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, __file__, *command], env=environment, capture_output=True, check=False
        )
        ended = time.perf_counter() - started
        if done.returncode:
            sys.exit(done.stderr.decode())
        found: dict[str, list[Any]] = json.load(out)
    left = found["interpreter ends"][0]
    found["interpreter ends"] = [left, ended, ended - left, 1, "MainThread"]
    return found


def _show(title: str, rounds: Sequence[dict[str, list[Any]]]) -> None:
    print(f"{title}: first call, end of the last, all calls in ms; calls; thread of the first")
    lines = []
    for step in dict.fromkeys(name for one in rounds for name in one):
        every = [one[step] for one in rounds if step in one]
        numbers = [1e3 * statistics.median(one[at] for one in every) for at in range(3)]
        lines.append((numbers, every[0][3], every[0][4], step))
    for numbers, count, thread, step in sorted(lines):
        print(*(f"{number:8.1f}" for number in numbers), f"{count:6}", f"{thread:16}", step)
    ends = [1e3 * one["interpreter ends"][1] for one in rounds]
    print("whole:", *(f"{end:.0f}" for end in ends), flush=True)


def _measured(arguments: Sequence[str]) -> int:
    """Be the command; write its steps when the interpreter ends."""
    start = float(os.environ[START])
    begun = time.perf_counter() - start
    calls.append(("interpreter starts", 0.0, begun, "MainThread"))
    sys.meta_path.insert(0, _Wrapping())
    sys.path.insert(0, os.getcwd())
    sys.argv = ["pairalign", *arguments]
    atexit.register(_write, start)
    from pairalign.cli.main import main

    return main()


def _write(start: float) -> None:
    now = time.perf_counter() - start
    found: dict[str, list[Any]] = {}
    for title, begun, ended, thread in sorted(calls, key=lambda call: call[1]):
        known = found.setdefault(title, [begun, ended, 0.0, 0, thread])
        known[1] = max(known[1], ended)
        known[2] += ended - begun
        known[3] += 1
    found["interpreter ends"] = [now, now, 0.0, 1, "MainThread"]
    with open(os.environ[OUT], "w") as file:
        json.dump(found, file)


class _Wrapping(importlib.abc.MetaPathFinder):
    """Wraps the steps of a module once it is loaded."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if not name.startswith(("pairalign.", "pycuda.driver")):
            return None
        rest = [finder for finder in sys.meta_path if finder is not self]
        specs = (finder.find_spec(name, path, target) for finder in rest)
        spec = next((spec for spec in specs if spec is not None), None)
        steps = [step for step in STEPS if step[0] == name]
        if spec is not None and spec.loader is not None and (steps or name == "pycuda.driver"):
            execute = spec.loader.exec_module

            def execute_and_wrap(module: Any) -> None:
                execute(module)
                if name == "pycuda.driver" and KERNELS in os.environ:
                    _watch_kernels(module)
                for _, function, title in steps:
                    _wrap(module, function, title)

            spec.loader.exec_module = execute_and_wrap  # type: ignore[method-assign]
        return spec


def _wrap(module: Any, function: str, title: str) -> None:
    owner = module
    *classes, name = function.split(".")
    for one in classes:
        owner = getattr(owner, one, None)
    inside = None if owner is None else vars(owner).get(name)
    if inside is None:
        return
    if isinstance(inside, staticmethod):
        setattr(owner, name, staticmethod(_timed(inside.__func__, title)))
    else:
        setattr(owner, name, _timed(inside, title))


def _watch_kernels(driver: Any) -> None:
    """Record events around each kernel, in its stream."""
    launch = driver.Function.__call__

    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        stream = kwargs.get("stream")
        device = driver.Context.get_device().pci_bus_id()
        if device not in reference:
            event = driver.Event()
            event.record()
            reference[device] = event, time.perf_counter() - float(os.environ[START])
        before, after = driver.Event(), driver.Event()
        before.record(stream)
        done = launch(self, *args, **kwargs)
        after.record(stream)
        queued.setdefault(device, []).append((before, after))
        return done

    driver.Function.__call__ = watched


def _look_at_kernels(device: Any) -> None:
    """Put the times of a device's kernels among those of steps, once, when all is done."""
    address = device._handle.pci_bus_id()
    if address not in queued:
        return
    with device.current():
        device.driver.Context.synchronize()
        event, at = reference[address]
        ran = [(event.time_till(one), event.time_till(other)) for one, other in queued[address]]
        del queued[address]  # events end while their context is current
    merged = _merged(ran)
    name = device.name
    calls.extend((f"{name} is busy", at + a / 1e3, at + z / 1e3, name) for a, z in merged)
    gaps = [(later[0] - one[1], one[1]) for one, later in pairwise(merged)]
    for place, (gap, begun) in enumerate(sorted(gaps, reverse=True)[:4], start=1):
        ended = at + (begun + gap) / 1e3
        calls.append((f"{name} waits, gap {place}", at + begun / 1e3, ended, name))


def _merged(ran: Sequence[tuple[float, float]]) -> list[list[float]]:
    """Return when something ran: what overlaps is one."""
    merged: list[list[float]] = []
    for begun, ended in sorted(ran):
        if merged and begun <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], ended)
        else:
            merged.append([begun, ended])
    return merged


def _timed(function: Callable[..., Any], title: str) -> Callable[..., Any]:
    start = float(os.environ[START])

    def timed(*args: Any, **kwargs: Any) -> Any:
        begun = time.perf_counter() - start
        if title == "engines are closed" and queued:
            _look_at_kernels(args[0]._device)
        try:
            return function(*args, **kwargs)
        finally:
            ended = time.perf_counter() - start
            calls.append((title, begun, ended, threading.current_thread().name))

    return timed


if __name__ == "__main__":
    main()
