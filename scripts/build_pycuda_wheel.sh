#!/usr/bin/env bash
# Builds a wheel of PyCUDA, which has none on PyPI, and collects the wheels that it and pairalign need, so
# that machines with a driver and neither compiler nor toolkit can run pairalign on their GPUs:
#
#     scripts/build_pycuda_wheel.sh wheels/                     # here: needs g++ and the CUDA toolkit's headers
#     make cuda && make wheel WHEEL_OPTIONS=--cuda              # here: pairalign with compiled kernels
#     pip install --no-index --find-links wheels/ --find-links dist/ 'pairalign[gpu]'      # there
#
# The wheel is for this Python's version, this processor and this glibc or newer, and for drivers that know
# the toolkit's CUDA version. PYTHON and CUDA_HOME choose others than python3 and /usr/local/cuda.
set -euo pipefail
target=${1:?folder for the wheels}
python=${PYTHON:-python3}
cuda=${CUDA_HOME:-/usr/local/cuda}
[ -f "$cuda/include/cuda.h" ] || { echo "build_pycuda_wheel: no $cuda/include/cuda.h; set CUDA_HOME" >&2; exit 1; }
mkdir -p "$target"
export CUDA_ROOT=$cuda PATH="$cuda/bin:$PATH" CPATH="$cuda/include" LIBRARY_PATH="$cuda/lib64/stubs:$cuda/lib64"
"$python" -m pip wheel --quiet --no-binary pycuda --wheel-dir "$target" 'pycuda>=2022.1'
"$python" -m pip wheel --quiet --only-binary :all: --wheel-dir "$target" 'numpy>=1.23' 'biopython>=1.80' 'tqdm>=4.60'
du -h "$target"/*.whl
