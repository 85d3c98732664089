#!/usr/bin/env bash
# Installs the programs that tests/formats/test_other_formats.py, tests/formats/test_sam.py, tests/statistics and
# tests/programs/test_end_gaps_programs.py give our files to, or compare with, and whose files tests/programs/test_verify_programs.py checks, from
# Debian: samtools, MCL, T-Coffee, HH-suite, BLAST+, EMBOSS, FASTA, minimap2, vsearch, DIAMOND, MMseqs2,
# tantan; CD-HIT, and Chromium with its driver for tests/jobs/test_report_browser.py. What cannot be installed is said and left out: its tests are then skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/install_packages.sh

packages=()
for pair in samtools:samtools mcxload:mcl t_coffee:t-coffee hhfilter:hhsuite blastp:ncbi-blast+ needle:emboss \
  ssearch36:fasta3 minimap2:minimap2 vsearch:vsearch diamond:diamond-aligner mmseqs:mmseqs2 tantan:tantan \
  cd-hit:cd-hit chromium:chromium chromedriver:chromium-driver; do
  command -v "${pair%%:*}" > /dev/null || packages+=("${pair##*:}")
done
install_packages "${packages[@]}"
exit 0
