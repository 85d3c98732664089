#!/usr/bin/env bash
# Runs the README's two commands, `make demo` and `make test`, in a bare Debian: git, make, g++ and python3, and
# nothing else; as a user, and the first one as root in a second copy. TESTS chooses the tests that `make test` runs
# there: those of a few commands, for the whole set runs beside this in CI, as root; TESTS=tests runs all. The second
# copy, and the first where this system has compiled with the same compiler, has one instruction set and no
# optimization, which is quick. Needs root and debootstrap; without them it says so and goes on.
#
#     scripts/try_bare.sh [SUITE]
#
# Packages come from where this machine has them: its apt sources and the settings of pip are used as they are.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/install_packages.sh
suite=${1:-bookworm}
if [ "$(id -u)" != 0 ] || [ "$(uname -s)" != Linux ]; then
  echo "try_bare: needs root to make a bare Debian; left out" >&2
  exit 0
fi
mapfile -t missing < <(missing_of debootstrap)
install_packages "${missing[@]}"
if ! command -v debootstrap >/dev/null; then
  echo "try_bare: there is no debootstrap; left out" >&2
  exit 0
fi
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
  sed -nE 's/^(deb|URIs:) *(\[[^]]*\] *)?([a-z]+:[^ ]+).*/\3/p' | head -1 || true)
root=$(mktemp -d "${TMPDIR:-/var/tmp}/pairalign-bare.XXXXXX")
chmod 755 "$root" # a user has to enter it
leave() {
  # The last mounted first, so that nothing of this machine is in the tree when it is removed.
  local place
  for place in $(awk -v root="$root/" 'index($2, root) == 1 { print $2 }' /proc/mounts | tac); do
    umount -l "$place" || return
  done
  rm -rf --one-file-system "$root"
}
trap leave EXIT
if ! debootstrap --variant=minbase --include=git,make,g++,python3,ca-certificates "$suite" "$root" "$mirror" \
  >"$root.log" 2>&1; then
  tail -5 "$root.log" >&2
  echo "try_bare: could not make a bare Debian from $mirror; left out" >&2
  rm -f "$root.log"
  exit 0
fi
rm -f "$root.log"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev" # what is unmounted in the tree stays mounted outside
cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
[ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
# Settings of pip that stand elsewhere, and folders that they name.
mapfile -t settings < <(env | grep -E '^(PIP_|SSL_CERT|REQUESTS_CA|[a-z]+_proxy|[A-Z]+_PROXY)' || true)
while IFS= read -r line; do
  key=${line%%=*} value=${line#*=}
  settings+=("PIP_$(tr 'a-z-' 'A-Z_' <<<"${key##*.}")=$(tr -d "'" <<<"$value")")
done < <(python3 -m pip config list 2>/dev/null | grep -E '^(global|install)\.' || true)
for path in $(grep -oE '(^|[= ]|file://)/[^ ]+' <<<"${settings[*]}" | sed -E 's/^([= ]|file:\/\/)//' | sort -u); do
  path=${path%/simple} # an index has its files beside it
  if [ -d "$path" ]; then
    mkdir -p "$root$path"
    mount --bind "$path" "$root$path"
    mount -o remount,ro,bind "$root$path"
  elif [ -f "$path" ] && ! [ "$path" -ef "$root$path" ]; then
    mkdir -p "$root$(dirname "$path")"
    cp -L "$path" "$root$path"
  fi
done
chroot "$root" useradd --create-home somebody

# try NAME HOME COMMAND: clones the project into HOME and runs COMMAND there as NAME.
try() {
  git clone --quiet . "$root$2/pairalign"
  chroot "$root" chown -R "$1:" "$2/pairalign"
  chroot --userspec="$1" "$root" /usr/bin/env -i HOME="$2" PATH=/usr/local/bin:/usr/bin:/bin:/sbin:/usr/sbin \
    LANG=C.UTF-8 "${settings[@]}" sh -c "cd '$2/pairalign' && $3"
}

tests=${TESTS:-tests/cli/test_cli.py tests/cli/test_start.py}
quick="PAIRALIGN_FLAGS=-O0 $([ "$(uname -m)" != x86_64 ] || echo PAIRALIGN_BUILD_SETS=sse41)"
flags=$(! grep -qsx "VERSION_CODENAME=$suite" /etc/os-release || echo "$quick")
echo "try_bare: make demo and make test ($tests) as a user of a bare Debian $suite"
try somebody /home/somebody "$flags make --silent demo && make --silent test PYTEST_OPTIONS='$tests'"
echo "try_bare: make demo as root"
try root /root "$quick make --silent demo"
