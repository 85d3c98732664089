#!/usr/bin/env bash
# Try a wheel as a new user would: an empty environment, no compiler on PATH, no source of the package.
# It must align the example set to the bytes of EXPECTED, and pass the tests of what users see.
#
#     scripts/try_wheel.sh dist/pairalign-*x86_64.whl demo/cytochrome_p450.paf
# PYTHONS="python3.10 python3.14t": these make the same bytes.
set -euo pipefail
wheel=$(realpath "$1")
expected=$(realpath "$2")
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap '/bin/rm -rf "$folder"' EXIT
echo "Installing $(basename "$wheel") into an empty environment"
"${PYTHON:-python3}" scripts/make_venv.py "$folder/venv"
for python in ${PYTHONS:-}; do
  "$python" scripts/make_venv.py "$folder/$python"
  "$folder/$python/bin/pip" install --quiet --only-binary :all: "$wheel"
  "$folder/$python/bin/pairalign" align -q examples/cytochrome_p450.fasta -o "$folder/$python.paf"
  cmp "$folder/$python.paf" "$expected"
done
mkdir "$folder/project"
tar -c --exclude=__pycache__ tests examples scripts docs pyproject.toml README.md | tar -x -C "$folder/project"
# What a shell has everywhere, and nothing else.
mkdir "$folder/bin"
for program in bash cat cut sh; do ln -s "$(command -v "$program")" "$folder/bin/"; done
cd "$folder/project"
unset PYTHONPATH
export PATH="$folder/venv/bin:$folder/bin"
if command -v cc c++ gcc g++ clang nvcc make; then echo "on the PATH" >&2 && exit 1; fi
pip="python -m pip install --quiet --disable-pip-version-check --only-binary :all:"
$pip "$wheel"
pairalign devices
pairalign align examples/cytochrome_p450.fasta -o demo.paf
/usr/bin/cmp demo.paf "$expected"
# The first page that a new user reads.
/usr/bin/mkdir "$folder/first"
(cd "$folder/first" && python "$folder/project/scripts/run_page.py" "$folder/project/docs/getting-started.md")
for name in globins.nwk graph.gfa globins.html; do test -s "$folder/first/$name"; done
$pip pytest pytest-xdist hypothesis
HYPOTHESIS_PROFILE=few python -m pytest -q -n auto --dist loadfile -m "not slow and not gpu" \
  tests/engines/test_engine_cpu.py tests/cli/test_cli.py tests/jobs/test_distances.py tests/jobs/test_overlaps.py
