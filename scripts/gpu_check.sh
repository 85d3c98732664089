#!/usr/bin/env bash
# On a machine with a GPU: the tests that need one, compute-sanitizer on a small set in every mode, and a
# short benchmark. Needs the native library, PyCUDA and pytest in the Python that runs (PYTHON=python3).
#   scripts/gpu_check.sh [FASTA for the benchmark]
set -uo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
failed=0
"$PYTHON" -m pairalign devices
"$PYTHON" -m pytest -q -m gpu || failed=1
# Every fifth sequence of the example: the sanitizer takes a hundred times as long.
small=$(mktemp -d)
trap 'rm -rf "$small"' EXIT
"$PYTHON" - "$small/small.fasta" <<'PYTHON'
import sys
records = open("examples/cytochrome_p450.fasta").read().split(">")[1:]
open(sys.argv[1], "w").write("".join(">" + record for record in records[::5]))
PYTHON
if command -v compute-sanitizer > /dev/null; then
    for tool in memcheck racecheck initcheck; do
        for mode in global semiglobal local; do
            echo "compute-sanitizer --tool $tool, $mode"
            compute-sanitizer --tool "$tool" --error-exitcode 9 "$PYTHON" -m pairalign align \
                "$small/small.fasta" -o "$small/small.paf" --device cuda --mode "$mode" --quiet ||
                failed=1
        done
        while read -r file words; do
            echo "compute-sanitizer --tool $tool, $file"
            compute-sanitizer --tool "$tool" --error-exitcode 9 "$PYTHON" -m pytest -q -m gpu \
                "tests/$file.py" -k "$words" < /dev/null || failed=1
        done << 'TESTS'
engines/test_engine_cuda_posterior memory or order
engines/test_engine_cuda_pair_filter subsequences
engines/test_engine_cuda_near diagonals or room or set-2-20
jobs/test_tcrdist diagonals or room or set-2-20
engines/test_engine_cuda_ties cores or strand
TESTS
    done
fi
"$PYTHON" scripts/benchmark.py posterior --device cuda || failed=1
if [ $# -gt 0 ]; then
    "$PYTHON" scripts/benchmark.py gpu --data "$@" --repeat 3 || failed=1
fi
exit $failed
