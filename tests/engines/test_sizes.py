"""Sizes beyond what fits: sequences too long are refused, plans of the longest do not overflow."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from commands import TIMEOUT_SECONDS

from pairalign import CapacityError, make_scoring
from pairalign.jobs.run.align import AlignmentJob
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.sets import SequenceSet

CORE = Path(__file__).resolve().parents[2] / "cpu" / "core"

PLANS = """
#include <initializer_list>
#include "plan.h"
using namespace pairalign;
int main() {
    const Kernel wide = {16, 4, 8, nullptr, nullptr, nullptr};
    LongKernel kernel = {16, 4, 8, 3, 5, nullptr};
    const int32_t half = 1 << 30, most = INT32_MAX;
    const int32_t lengths[] = {1, 100, 1 << 20, half - 1, half, half + 1, most - 1, most};
    for (int32_t rows : lengths)
        for (int32_t columns : lengths)
            for (size_t budget : {size_t{1} << 16, size_t{1} << 30, size_t{1} << 40}) {
                const LongPlan one = plan_long_pair(kernel, rows, columns, true, budget);
                const BatchPlan batch = plan_batch(wide, rows, columns, true, budget);
                const double cells = double(rows) * columns;
                if (one.tile.rows < 1 || one.tile.columns < 1 || batch.block_rows < 1) return 1;
                if (one.cost * 1000 < cells || batch.cost < cells) return 2;
                // All flags of these take more than any budget here.
                if (cells > 1e18 && (one.bytes < 100000 || batch.bytes < 100000)) return 3;
                if (cells > 1e18 && one.tile.rows >= rows && one.tile.columns >= columns) return 4;
            }
    Scheme scheme = {};
    scheme.highest = 1;
    fits_narrow(scheme, INT32_MAX, INT32_MAX);
    return fits_wide(scheme, INT32_MAX, 1) ? 0 : 5;
}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
def test_plans_of_the_longest_sequences(tmp_path):
    """Without gap costs nothing but their lengths limits scores, and so lengths."""
    source, program = tmp_path / "plans.cpp", tmp_path / "plans"
    source.write_text(PLANS)
    flags = ["-std=c++17", "-O1", "-w", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    command = ["g++", *flags, f"-I{CORE}", "-o", program, source, CORE / "plan.cpp"]
    subprocess.run(command, check=True)
    done = subprocess.run([program], capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    assert (done.returncode, done.stderr) == (0, "")


def job(lengths: tuple[int, int], detail: Detail) -> AlignmentJob:
    """Plan a job of sequences that claim to have these lengths."""
    sequences = SequenceSet.from_strings({"short": "MKV", "long one": "MKVL"}, ["short", "long"])
    sequences.lengths = np.array(lengths, np.int32)
    scoring = make_scoring("protein", match=1, mismatch=0, gap_open=0, gap_extend=0)
    return AlignmentJob(sequences, None, scoring, Want(detail))


@pytest.mark.parametrize("detail", Detail)
def test_sequences_that_are_too_long_are_refused(detail):
    most = 2**28 - 1 if detail == Detail.CIGAR else 2**30 - 2**16
    job((3, most), detail)
    with pytest.raises(CapacityError, match=rf"^sequences: record 2 'long' has .*at most {most:,}"):
        job((3, most + 1), detail)
