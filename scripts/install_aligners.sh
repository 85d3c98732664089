#!/usr/bin/env bash
# Installs the aligners that tests/programs/test_tree_programs.py gives our trees to: Clustal Omega, MAFFT and
# MUSCLE 3 from Debian, FAMSA into the virtual environment; and from Debian HMMER, which
# tests/programs/test_format_programs.py gives Stockholm to. What cannot be installed is said and left
# out: its tests are then skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/install_packages.sh
venv="${VENV:-.venv}"

mapfile -t packages < <(missing_of clustalo mafft muscle3)
command -v hmmbuild >/dev/null || packages+=(hmmer)
[ -x "$venv/bin/famsa" ] || packages+=(libdeflate-dev zlib1g-dev)
install_packages "${packages[@]}"
if [ ! -x "$venv/bin/famsa" ]; then
  "$venv/bin/python" scripts/build_famsa.py "$venv/bin/famsa" ||
    echo "install_aligners: could not build FAMSA; its tests are skipped" >&2
fi
exit 0
