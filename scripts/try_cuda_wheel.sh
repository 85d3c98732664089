#!/usr/bin/env bash
# Try the wheels of pairalign[gpu] on a machine with an NVIDIA GPU, as if it had no CUDA toolkit and no
# compiler: an empty environment, and a mount namespace in which the toolkit's folders are empty. Needs root.
# What the GPU writes must be what the CPU writes.
#
#     scripts/try_cuda_wheel.sh WHEELS [DEVICE]
#
# WHEELS is a folder with pairalign's wheel, PyCUDA's, and what they need (pip's index is not asked if
# PIP_NO_INDEX=1). DEVICE is `cuda`; with `cpu` the script itself can be tried where no GPU is.
set -euo pipefail
wheels=$(realpath "$1")
device=${2:-cuda}
repository=$(realpath "$(dirname "$0")/..")
folder=$(mktemp -d)
trap '/bin/rm -rf "$folder"' EXIT

unset PYTHONPATH # what is there would not be installed
"${PYTHON:-python3}" -m venv --without-pip "$folder/venv"
"${PYTHON:-python3}" -m pip --python "$folder/venv/bin/python" install --quiet --disable-pip-version-check \
  --only-binary :all: --find-links "$wheels" 'pairalign[gpu]'
mkdir "$folder/bin" "$folder/empty" "$folder/work"
for program in bash cat cmp cut date env sh; do ln -s "$(command -v "$program")" "$folder/bin/"; done
cp "$repository/examples/cytochrome_p450.fasta" "$repository/tests/data/lambda_reads.fasta.gz" "$folder/work"

cat > "$folder/try.sh" <<'INSIDE'
set -euo pipefail
for toolkit in /usr/local/cuda /usr/local/cuda-*; do
  if [ -d "$toolkit" ]; then /bin/mount --bind "$folder/empty" "$(/usr/bin/realpath "$toolkit")"; fi
done
unset CUDA_HOME CUDA_PATH CUDA_ROOT LD_LIBRARY_PATH
export PATH=$folder/venv/bin:$folder/bin HOME=$folder/work PAIRALIGN_CACHE=$folder/cache
for program in nvcc cc c++ gcc g++ clang; do
  if command -v "$program"; then echo "$program is on the PATH" >&2 && exit 1; fi
done
cd "$folder/work"
pairalign devices
compare() {  # NAME COMMAND...: the same file from the CPU and, twice, from the GPU
  local name=$1 begin took
  shift
  "$@" -o "cpu.$name" --device cpu --quiet
  for run in first second; do
    begin=$(date +%s%N)
    "$@" -o "gpu.$name" --device "$device" --quiet
    took=$((($(date +%s%N) - begin) / 1000000))
    cmp "cpu.$name" "gpu.$name"
    echo "$run run: $took ms, the same bytes: $*"
  done
}
for mode in global semiglobal local; do
  compare paf pairalign align cytochrome_p450.fasta --mode "$mode"
done
compare tsv pairalign align cytochrome_p450.fasta --score-only
compare paf pairalign align cytochrome_p450.fasta --free-ends query-start,query-end
compare phy pairalign distance cytochrome_p450.fasta
compare paf pairalign overlap lambda_reads.fasta.gz --preset ont
INSIDE
export folder device
unshare --mount bash "$folder/try.sh"
