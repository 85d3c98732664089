#!/usr/bin/env bash
# Installs the programs that tests/test_overlaps_programs.py gives our overlaps to, and the one that
# it compares them with: miniasm, racon and minimap2 from Debian. What cannot be installed is said
# and left out: its tests are then skipped.
set -uo pipefail

missing=()
for program in miniasm racon minimap2; do
  command -v "$program" >/dev/null || missing+=("$program")
done
if [ ${#missing[@]} -gt 0 ]; then
  run=()
  [ "$(id -u)" = 0 ] || run=(sudo -n)
  "${run[@]}" apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null ||
    echo "install_assemblers: could not install ${missing[*]}; their tests are skipped" >&2
fi
exit 0
