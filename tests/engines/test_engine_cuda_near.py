"""Near pairs on a GPU: those that cores find, with the same values."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from made_thresholds import make_pair_thresholds
from strategies import small_problems
from test_near import family, triples

from pairalign.alignments.problem import Problem as Aligned
from pairalign.engines.cpu.near_pairs import (
    Finder,
    NearProblem,
    pairs_within_drop,
    pairs_within_edits,
)
from pairalign.engines.cuda import cuda_near, cuda_selection
from pairalign.engines.cuda.cuda_near import LONGEST, NearKernel, search
from pairalign.errors import DeviceError
from pairalign.jobs.distances.near import find_on
from pairalign.sequences.sets import SequenceSet


def find_on_gpus(devices: list[Any], **room: int) -> Finder:
    """Return what finds near pairs on some GPUs."""
    return lambda problem, progress: search(devices, NearKernel(problem), progress, **room)


@given(problem=small_problems(), limit=st.integers(0, 150))
@settings(max_examples=examples(100), deadline=None)
def test_drops_are_those_of_cores(device, problem, limit):
    sets, scoring = problem.sets(), replace(problem.scoring, mode="global")
    targets = sets[1] if len(sets) > 1 else None
    fits = []

    def find(near: NearProblem, progress: Any) -> Any:
        fits.append(NearKernel(near).fits)
        return find_on_gpus([device])(near, progress) if fits[0] else iter(())

    found = pairs_within_drop(Aligned(sets[0], targets, scoring), limit, find=find)
    expected = pairs_within_drop(Aligned(sets[0], targets, scoring), limit)
    assert not fits[0] or triples(found) == triples(expected)


@pytest.mark.parametrize("gap_extend", [1, 11])
@pytest.mark.parametrize("limit", [0, 10, 30, 70, 110, 150, 600])
def test_few_diagonals_and_many(device, gap_extend, limit):
    sequences, scoring, expected = family(gap_extend)
    found = pairs_within_drop(Aligned(sequences, None, scoring), limit, find=find_on_gpus([device]))
    assert triples(found) == [one for one in expected if one[2] <= limit]


@given(
    st.lists(st.text("ACDXU", min_size=1, max_size=12), min_size=2, max_size=40),
    st.integers(0, 6),
    st.sampled_from(["one set", "two sets"]),
)
@settings(max_examples=examples(60), deadline=None)
def test_edits_are_those_of_cores(device, records, limit, sets):
    one = SequenceSet.from_strings(records, alphabet="protein")
    targets = None if sets == "one set" else one
    found = pairs_within_edits(one, targets, limit, find=find_on_gpus([device]))
    assert triples(found) == triples(pairs_within_edits(one, targets, limit))


def many(longest: int) -> SequenceSet:
    """More than a block's rows and columns, of all lengths up to one, some near others."""
    rng = np.random.default_rng(longest)
    letters = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
    records = []
    for k in range(180):
        length = longest if k < 3 else int(rng.integers(max(1, longest - 30), longest + 1))
        records.append("".join(rng.choice(letters, length)))
        if k % 3 == 0:
            records.append(records[-1][1:] + "A")
    return SequenceSet.from_strings(records, alphabet="protein")


@pytest.mark.parametrize("longest", [5, 40, LONGEST])
def test_blocks_devices_and_room_do_not_show(device, longest):
    """Pairs that find no room are compared again, in halves."""
    sequences = many(longest)
    expected = pairs_within_edits(sequences, None, 5)
    assert len(expected.rows) >= 60
    for devices, at_once, most in (([device], 1 << 40, 1 << 20), ([device] * 2, 30_000, 1)):
        counted: list[int] = []
        found = pairs_within_edits(
            sequences,
            None,
            5,
            find=find_on_gpus(devices, at_once=at_once, most_found=most),
            progress=counted.append,
        )
        assert triples(found) == triples(expected)
        assert sum(counted) == len(sequences) * (len(sequences) - 1) // 2


def test_thresholds_of_lengths(device):
    sequences, how = many(20), {"thresholds": make_pair_thresholds(max_length_ratio=1.2)}
    expected = pairs_within_edits(sequences, None, 9, **how)
    found = pairs_within_edits(sequences, None, 9, find=find_on_gpus([device]), **how)
    assert triples(found) == triples(expected) != triples(pairs_within_edits(sequences, None, 9))


def test_which_device(device, monkeypatch):
    """Cores take long sequences, and few pairs where no device is named."""
    used: list[int] = []

    def search(devices: Any, *given: Any) -> Any:
        used.append(len(devices))
        return search_gpus(devices, *given)

    search_gpus = cuda_near.search
    monkeypatch.setattr(cuda_near, "search", search)
    monkeypatch.setattr(cuda_selection, "usable_devices", lambda: [device])
    monkeypatch.setattr(cuda_selection, "choose_devices", lambda indices: [device])
    short, long = many(20), many(LONGEST + 1)
    for name, expected in (("cuda", 1), ("cuda:0", 1), ("auto", 0), ("cpu", 0)):
        used.clear()
        near = pairs_within_edits(short, None, 4, find=find_on(name, 1))
        assert triples(near) == triples(pairs_within_edits(short, None, 4))
        pairs_within_edits(long, None, 1, find=find_on(name, 1))
        assert len(used) == expected
    monkeypatch.setattr("pairalign.jobs.distances.near.WORTH_A_GPU", 1)
    pairs_within_edits(short, None, 4, find=find_on("auto", 1))
    assert len(used) == 1
    with pytest.raises(DeviceError, match="on CUDA GPUs"):
        find_on("opencl", 1)
