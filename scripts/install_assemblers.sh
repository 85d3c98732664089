#!/usr/bin/env bash
# Installs the programs that tests/programs/test_overlaps_programs.py gives our overlaps to, and the one that
# it compares them with: miniasm, racon and minimap2 from Debian. What cannot be installed is said
# and left out: its tests are then skipped.
set -uo pipefail
. "$(dirname "$0")/install_packages.sh"

mapfile -t packages < <(missing_of miniasm racon minimap2)
install_packages "${packages[@]}"
exit 0
