"""The check of native includes sees what it should see."""

import pytest
from check_includes import fault_of, faults


@pytest.mark.parametrize(
    ("source", "target", "fault"),
    [
        ("cpu/align/kernel.h", "cpu/core/batch.h", None),
        ("cpu/align/kernel.h", "cpu/memory.h", None),
        ("cpu/align/kernel.h", "cpu/align/worker.h", None),
        ("cpu/core/state.h", "cpu/pruned/pruner.h", "core/ is not above pruned/"),
        ("cpu/pruned/pair.h", "cpu/align/kernel.h", "pruned/ is not above align/"),
        ("cpu/filters/grams.h", "cpu/records/record.h", "filters/ is not above records/"),
        ("cpu/memory.h", "cpu/core/batch.h", "cpu/ is not above core/"),
        ("cpu/new/new.h", "cpu/memory.h", "'new' is in no layer"),
        ("cpu/bitwise/kernel.h", "cuda/bitwise/strip.cuh", "cpu/ includes nothing of cuda/"),
        ("cuda/bitwise/strip.cuh", "cpu/memory.h", "cuda/ includes nothing of cpu/"),
        ("cuda/bitwise/strip.cuh", "common/bitwise_cell.h", None),
        ("common/bitwise_cell.h", "cpu/memory.h", "common/ includes nothing of cpu/"),
    ],
)
def test_faults(source, target, fault):
    assert fault_of(source, target) == fault


def test_missing_file(tmp_path):
    source = tmp_path / "cpu" / "core" / "batch.h"
    source.parent.mkdir(parents=True)
    source.write_text('#include "gone.h"\n')
    assert list(faults(tmp_path)) == ["cpu/core/batch.h: includes gone.h: there is no such file"]
