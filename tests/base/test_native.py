"""The native library: what is said where it is missing."""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_thresholds import make_pair_thresholds

from pairalign.alignments.problem import Problem
from pairalign.base import native
from pairalign.base.native import declare_all
from pairalign.engines.cpu.cpu_engine import CpuEngine, instruction_sets
from pairalign.engines.cpu.cpu_pair_filter import PairFilter
from pairalign.engines.cpu.strand_filter import StrandFilter
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sets import SequenceSet


def test_it_is_beside_the_package():
    assert Path(native.__file__).parents[1] / "_native.so" == native.PATH
    assert isinstance(native.library, ctypes.CDLL)


@pytest.mark.parametrize("content", [None, b"", b"not a library"])
def test_a_library_that_does_not_load(tmp_path, monkeypatch, content):
    path = tmp_path / "_native.so"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setattr(native, "PATH", path)
    with pytest.raises(ImportError, match=r"_native.so is missing or does not load") as caught:
        native._load()
    assert str(path) in str(caught.value)
    assert "make build" in str(caught.value)


def test_the_command_says_that_the_library_is_missing(tmp_path):
    shutil.copytree(
        native.PATH.parent, tmp_path / "pairalign", ignore=shutil.ignore_patterns("_native.so")
    )
    (tmp_path / "x.fa").write_text(">a\nMKV\n>b\nMKV\n")
    done = subprocess.run(
        [sys.executable, "-m", "pairalign", "align", "x.fa"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("pairalign: error: the native library ")
    assert done.stderr.count("\n") == 1


def test_a_library_of_another_processor(monkeypatch):
    names = native.library.pairalign_compiled_sets().decode()
    assert set(instruction_sets()) <= set(names.split(", "))

    def declare_without_kernels(library: ctypes.CDLL) -> None:
        declare_all(library)
        monkeypatch.setattr(library, "pairalign_instruction_sets", lambda: b"")

    monkeypatch.setattr(native, "declare_all", declare_without_kernels)
    with pytest.raises(ImportError, match=rf"kernels need {names}, which this one lacks"):
        native._load()


READS = SequenceSet.from_strings(["ACGTACGTTGCA" * 3, "ACGTTCGTGCA" * 3], ["a", "b"], alphabet=DNA)
SCORING = make_scoring("dna")
OWNERS: dict[str, Callable[[], Any]] = {
    "pairalign_close": lambda: CpuEngine(Problem(READS, None, SCORING)),
    "pairalign_close_filter": lambda: PairFilter(
        Problem(READS, None, SCORING), make_pair_thresholds("95%"), None, threads=1
    ),
    "pairalign_close_strand_filter": lambda: StrandFilter(READS, 5, 2, 1),
}


@pytest.mark.parametrize("name", OWNERS)
def test_a_signal_as_memory_is_freed_does_not_free_it_twice(monkeypatch, name):
    """What a signal asks for is raised when the native function has returned."""
    owner = OWNERS[name]()
    free, freed = getattr(native.library, name), []

    def free_and_be_interrupted(handle: int) -> None:
        freed.append(handle)
        if len(freed) == 1:
            free(handle)
            raise KeyboardInterrupt

    monkeypatch.setattr(native.library, name, free_and_be_interrupted)
    with pytest.raises(KeyboardInterrupt):
        owner.close()
    owner.close()
    assert len(freed) == 1
