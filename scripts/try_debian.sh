#!/usr/bin/env bash
# Try a wheel as a newcomer would on a fresh Debian: nothing there but Python, and then the wheel and what
# it needs. Runs the commands of docs/getting-started.md. Needs root and debootstrap; takes some minutes.
#
#     scripts/try_debian.sh dist/pairalign-*x86_64.whl [FOLDER]
#
# FOLDER keeps the system for the next time (a new temporary one otherwise).
set -euo pipefail
wheel=$(realpath "$1")
repository=$(realpath "$(dirname "$0")/..")
system=${2:-$(mktemp -d)}
finish() {
  umount "$system/proc" "$system/dev" 2>/dev/null || true
  if [ $# = 1 ]; then /bin/rm -rf --one-file-system "$system"; fi
}
if [ $# -gt 1 ]; then trap finish EXIT; else trap 'finish remove' EXIT; fi

if [ ! -x "$system/usr/bin/python3" ]; then
  debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates "${SUITE:-bookworm}" \
    "$system" "${MIRROR:-http://deb.debian.org/debian}" > /dev/null
fi
mount -t proc proc "$system/proc"
mount --bind /dev "$system/dev"
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
  if [ -f "$file" ]; then cp "$file" "$system$file"; fi
done
home=$system/home/newcomer
/bin/rm -rf "$home"
mkdir -p "$home/work"
cp "$wheel" "$repository/docs/getting-started.md" "$repository/scripts/run_page.py" "$home"
cat > "$home/go.sh" <<'END'
set -euo pipefail
cd /home/newcomer
for program in cc c++ gcc g++ make nvcc git; do
  if command -v "$program"; then echo "$program is there" >&2 && exit 1; fi
done
echo "Debian $(cat /etc/debian_version), $(python3 --version)"
python3 -m venv env
. env/bin/activate
pip install --quiet --disable-pip-version-check "$(echo *.whl)"
cd work
python ../run_page.py ../getting-started.md
for name in globins.nwk graph.gfa globins.html; do test -s "$name"; done
END
mapfile -t pip < <(env | grep -E '^(PIP_[A-Z_]*|https?_proxy|HTTPS?_PROXY)=' || true)
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "${pip[@]}" chroot "$system" bash /home/newcomer/go.sh
