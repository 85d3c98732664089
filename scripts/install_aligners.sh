#!/usr/bin/env bash
# Installs the aligners that tests/test_tree_programs.py gives our trees to: Clustal Omega, MAFFT and
# MUSCLE 3 from Debian, FAMSA into the virtual environment. What cannot be installed is said and left
# out: its tests are then skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
venv="${VENV:-.venv}"

missing=()
command -v clustalo >/dev/null || missing+=(clustalo)
command -v mafft >/dev/null || missing+=(mafft)
command -v muscle3 >/dev/null || missing+=(muscle3)
[ -x "$venv/bin/famsa" ] || missing+=(libdeflate-dev zlib1g-dev)
if [ ${#missing[@]} -gt 0 ]; then
  run=()
  [ "$(id -u)" = 0 ] || run=(sudo -n)
  "${run[@]}" apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null ||
    echo "install_aligners: could not install ${missing[*]}; their tests are skipped" >&2
fi
if [ ! -x "$venv/bin/famsa" ]; then
  "$venv/bin/python" scripts/build_famsa.py "$venv/bin/famsa" ||
    echo "install_aligners: could not build FAMSA; its tests are skipped" >&2
fi
exit 0
