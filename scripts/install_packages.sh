# For the other install_*.sh and .ci/run, which source this.

# install_packages PACKAGE...: installs Debian packages; says so if it cannot, and goes on: the tests
# of what is missing are then skipped.
install_packages() {
  [ $# -gt 0 ] || return 0
  local run=()
  [ "$(id -u)" = 0 ] || run=(sudo -n)
  { [ -n "${LISTS_ARE_NEW:-}" ] || "${run[@]}" apt-get update -qq; } &&
    export LISTS_ARE_NEW=1 &&
    DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -qq -y --no-install-recommends "$@" >/dev/null ||
    echo "$(basename "$0" .sh): could not install $*; their tests are skipped" >&2
}

# missing_of PROGRAM...: prints those that are not there, for packages named as their programs.
missing_of() {
  local program
  for program; do
    command -v "$program" >/dev/null || echo "$program"
  done
}
