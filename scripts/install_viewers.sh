#!/usr/bin/env bash
# Installs the programs that tests/programs/test_clusters_programs.py, tests/formats/test_networks.py and tests/jobs/test_report_browser.py use: vsearch, CD-HIT, mcl,
# and Chromium with its driver, from Debian. What cannot be installed is said and left out: its tests are
# then skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/install_packages.sh

mapfile -t packages < <(missing_of vsearch cd-hit mcl chromium)
command -v chromedriver >/dev/null || packages+=(chromium-driver)
install_packages "${packages[@]}"
exit 0
